/* Tridiagonal eigenvalues on the CPU: LAPACK for all of them, multisection for parts and without LAPACK. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/context_internal.h"
#include "common/entry.h"
#include "common/lapack.h"
#include "tridiag.h"
#include "tridiag_bound.h"

static const hot_tridiag_variant *choose_variant(const hot_context *context)
{
    return HOT_CPU_VARIANT(context, &hot_tridiag_variant);
}

/* Scales matrix i, finds Gerschgorin's interval (empty for a zero matrix) and the tolerances. workspace: 2 n
 * doubles and 2 n floats. */
static void prepare(const hot_tridiag_args *args, size_t i, double *workspace, hot_tridiag_matrix *matrix)
{
    const size_t n = args->n;
    const hot_tridiag_options *options = &args->options;
    double largest = 0;
    for (size_t k = 0; k < n; k++) {
        largest = fmax(largest, fabs(hot_tridiag_a(args, i, k)));
        if (k + 1 < n)
            largest = fmax(largest, fabs(hot_tridiag_b(args, i, k)));
    }
    *matrix = (hot_tridiag_matrix){.n = n, .a = workspace, .b2 = workspace + n};
    if (!(largest > 0))
        return;
    frexp(largest, &matrix->exponent);
    matrix->low = INFINITY;
    matrix->high = -INFINITY;
    double before = 0;
    for (size_t k = 0; k < n; k++) {
        double a = ldexp(hot_tridiag_a(args, i, k), -matrix->exponent);
        double b = k + 1 < n ? fabs(ldexp(hot_tridiag_b(args, i, k), -matrix->exponent)) : 0;
        matrix->a[k] = a;
        matrix->b2[k] = fmax(b * b, DBL_MIN);
        matrix->low = fmin(matrix->low, a - b - before);
        matrix->high = fmax(matrix->high, a + b + before);
        before = b;
    }
    /* Rounding of the counts must not push an eigenvalue out; with relative accuracy zero is kept within reach. */
    const double epsilon = args->f64 ? DBL_EPSILON : (double)FLT_EPSILON;
    const double norm = fmax(fabs(matrix->low), fabs(matrix->high)),
                 margin = 16 * epsilon * norm + (args->f64 ? DBL_MIN : (double)FLT_MIN);
    matrix->low -= margin;
    matrix->high += margin;
    matrix->relative = options->relative > 0 ? fmax(options->relative, 4 * epsilon) : 0;
    matrix->absolute = ldexp(options->absolute, -matrix->exponent);
    if (!(options->relative > 0))
        matrix->absolute = fmax(matrix->absolute, epsilon * norm);
    if (!args->f64 && !(options->relative > 0)) {
        float *single = (float *)(void *)(workspace + 2 * n);
        matrix->a32 = single;
        matrix->b2_32 = single + n;
        for (size_t k = 0; k < n; k++) {
            single[k] = (float)matrix->a[k];
            single[n + k] = fmaxf((float)matrix->b2[k], FLT_MIN);
        }
    }
}

/* Counts at `used` shifts; the rest of the lanes repeats the last. Shifts are rounded to the precision counted in. */
static void count_at(const hot_tridiag_variant *variant, const hot_tridiag_matrix *matrix, int used, double *shifts,
                     int64_t *counts)
{
    if (matrix->a32) {
        float narrow[HOT_TRIDIAG_SHIFTS_MAX];
        for (int s = 0; s < variant->shifts_f32; s++) {
            narrow[s] = (float)shifts[s < used ? s : used - 1];
            if (s < used)
                shifts[s] = (double)narrow[s];
        }
        variant->count_f32(matrix, narrow, counts);
    } else {
        for (int s = used; s < variant->shifts_f64; s++)
            shifts[s] = shifts[used - 1];
        variant->count_f64(matrix, shifts, counts);
    }
}

static int settled(const hot_tridiag_matrix *matrix, double low, double high)
{
    double tolerance = fmax(matrix->absolute, matrix->relative * fmin(fabs(low), fabs(high)));
    /* Nothing between them in the precision counted in: nothing more can be known. */
    double middle = low + (high - low) / 2;
    if (matrix->a32)
        middle = (double)(float)middle;
    return high - low <= tolerance || !(middle > low && middle < high);
}

/* Brackets of `many` eigenvalues from number `first` on. Those that share an interval share the points in it. */
typedef struct brackets {
    const hot_tridiag_matrix *matrix;
    size_t first;
    int many;
    double low[HOT_TRIDIAG_SHIFTS_MAX], high[HOT_TRIDIAG_SHIFTS_MAX];
} brackets;

/* The first bracket after j that is another interval. */
static int next_interval(const brackets *b, int j)
{
    int next = j + 1;
    while (next < b->many && b->low[next] == b->low[j] && b->high[next] == b->high[j])
        next++;
    return next;
}

/* `each` points for every open eigenvalue. Returns how many there are. */
static int place_points(const brackets *b, int each, double *x)
{
    int used = 0;
    for (int j = 0, next; j < b->many; j = next) {
        next = next_interval(b, j);
        if (settled(b->matrix, b->low[j], b->high[j]))
            continue;
        const int points = each * (next - j);
        for (int p = 1; p <= points; p++)
            x[used++] = b->low[j] + (b->high[j] - b->low[j]) * p / (points + 1);
    }
    return used;
}

/* Narrows the brackets by the counts at the points. Returns how many are open still. */
static int narrow(brackets *b, int each, const double *x, const int64_t *counts)
{
    int used = 0, open = 0;
    for (int j = 0, next; j < b->many; j = next) {
        const double from = b->low[j], to = b->high[j];
        next = next_interval(b, j);
        if (settled(b->matrix, from, to))
            continue;
        const int end = used + each * (next - j);
        int at = used;
        for (int e = j; e < next; e++) {
            while (at < end && counts[at] <= (int64_t)b->first + e)
                at++;
            if (at > used)
                b->low[e] = fmax(from, x[at - 1]);
            if (at < end)
                b->high[e] = fmin(to, x[at]);
        }
        for (int e = j; e < next; e++)
            open += !settled(b->matrix, b->low[e], b->high[e]);
        used = end;
    }
    return open;
}

/* Eigenvalues first ... first + many - 1 (many <= the shifts of a count) by multisection. */
static void solve_some(const hot_tridiag_variant *variant, const hot_tridiag_matrix *matrix, size_t first, int many,
                       double *values)
{
    const int shifts = matrix->a32 ? variant->shifts_f32 : variant->shifts_f64;
    brackets b = {.matrix = matrix, .first = first, .many = many};
    double x[HOT_TRIDIAG_SHIFTS_MAX];
    int64_t counts[HOT_TRIDIAG_SHIFTS_MAX];
    int open = 0;
    for (int j = 0; j < many; j++) {
        b.low[j] = matrix->a32 ? (double)(float)matrix->low : matrix->low;
        b.high[j] = matrix->a32 ? (double)(float)matrix->high : matrix->high;
        open += !settled(matrix, b.low[j], b.high[j]);
    }
    while (open > 0 && !(matrix->context && hot_context_cancelled(matrix->context))) {
        const int each = shifts / open; /* points per open eigenvalue, at least 1 */
        count_at(variant, matrix, place_points(&b, each, x), x, counts);
        open = narrow(&b, each, x, counts);
    }
    for (int j = 0; j < many; j++)
        values[j] = b.low[j] + (b.high[j] - b.low[j]) / 2;
}

static void store(const hot_tridiag_args *args, const hot_tridiag_matrix *matrix, size_t at, double value)
{
    const int bounded = args->options.range == HOT_TRIDIAG_VALUE;
    const double low = bounded ? args->options.low : -INFINITY, high = bounded ? args->options.high : INFINITY;
    value = ldexp(value, matrix->exponent);
    if (args->f64)
        ((double *)args->values)[at] = tridiag_within(value, low, high);
    else
        ((float *)args->values)[at] = tridiag_within_f32((float)value, low, high);
}

/* Which eigenvalues of matrix i are wanted: from *first, *many of them. */
static void choose_range(const hot_tridiag_args *args, size_t i, size_t *first, size_t *many)
{
    const hot_tridiag_options *options = &args->options;
    *first = options->range == HOT_TRIDIAG_INDEX ? options->first : 0;
    *many = options->range == HOT_TRIDIAG_INDEX ? options->last + 1 - options->first : args->n;
    if (options->range == HOT_TRIDIAG_VALUE) {
        const size_t row = i * args->stride * (args->f64 ? sizeof(double) : sizeof(float));
        const hot_tridiag_given given = {args->n, args->f64, (const char *)args->diagonal + row,
                                         args->n > 1 ? (const char *)args->off + row : NULL};
        const int64_t from = tridiag_below(&given, options->low), to = tridiag_below(&given, options->high);
        *first = (size_t)from;
        *many = to > from ? (size_t)(to - from) : 0;
    }
}

/* A group of `size` eigenvalues; the groups' borders do not depend on the threads. */
static void solve_group(const hot_tridiag_args *args, const hot_tridiag_variant *variant,
                        const hot_tridiag_matrix *matrix, size_t i, size_t first, size_t many, size_t group,
                        size_t size)
{
    double values[HOT_TRIDIAG_SHIFTS_MAX];
    size_t from = group * size, to = from + size < many ? from + size : many;
    solve_some(variant, matrix, first + from, (int)(to - from), values);
    for (size_t k = from; k < to; k++)
        store(args, matrix, i * args->width + k, values[k - from]);
}

/* All eigenvalues by LAPACK; 0 when it has none to offer, or gave up. workspace: n values. Not of large matrices: it
 * cannot be cancelled (3 s for 16,000 rows), and counting by two threads is faster. */
static int solve_lapack(const hot_tridiag_args *args, size_t i, void *workspace)
{
    enum { MOST = 2000 };
    hot_lapack_int n = (hot_lapack_int)args->n, info = 0;
    const size_t value = args->f64 ? sizeof(double) : sizeof(float);
    char *out = (char *)args->values + i * args->width * value;
    if (args->n > MOST || args->options.range != HOT_TRIDIAG_ALL || args->options.relative > 0)
        return 0;
    const hot_lapack *lapack = hot_lapack_get();
    if (!lapack)
        return 0;
    memcpy(out, (const char *)args->diagonal + i * args->stride * value, args->n * value);
    if (args->n > 1)
        memcpy(workspace, (const char *)args->off + i * args->stride * value, (args->n - 1) * value);
    if (args->f64)
        lapack->dsterf(&n, (double *)(void *)out, workspace, &info);
    else
        lapack->ssterf(&n, (float *)(void *)out, workspace, &info);
    return info == 0;
}

static void solve_zero(const hot_tridiag_args *args, size_t i)
{
    const hot_tridiag_options *options = &args->options;
    size_t many = options->range == HOT_TRIDIAG_INDEX ? options->last + 1 - options->first : args->n;
    if (options->range == HOT_TRIDIAG_VALUE && !(options->low <= 0 && options->high > 0))
        many = 0;
    for (size_t k = 0; k < many; k++) {
        if (args->f64)
            ((double *)args->values)[i * args->width + k] = 0;
        else
            ((float *)args->values)[i * args->width + k] = 0;
    }
    args->found[i] = (int64_t)many;
    hot_tridiag_blank(args, i, many);
}

/* A cancelled call leaves matrices, and groups of eigenvalues, that it has not begun. */
static void solve_matrix(const hot_context *context, const hot_tridiag_args *args, const hot_tridiag_variant *variant,
                         size_t i, double *workspace, int inner)
{
    hot_tridiag_matrix matrix;
    size_t first = 0, many = args->n;
    if (hot_context_cancelled(context))
        return;
    if (!hot_tridiag_finite(args, i)) {
        args->found[i] = -1;
        hot_tridiag_blank(args, i, 0);
        return;
    }
    if (!solve_lapack(args, i, workspace)) {
        prepare(args, i, workspace, &matrix);
        matrix.context = args->n > 10000 ? context : NULL;
        if (!(matrix.low < matrix.high)) { /* the zero matrix: no scale to count at */
            solve_zero(args, i);
            return;
        }
        choose_range(args, i, &first, &many);
        const size_t size = (size_t)(matrix.a32 ? variant->shifts_f32 : variant->shifts_f64);
        const size_t groups = (many + size - 1) / size;
#pragma omp parallel for schedule(dynamic) num_threads(hot_team(groups > 1 ? inner : 1))
        for (size_t group = 0; group < groups; group++)
            if (!hot_context_cancelled(context))
                solve_group(args, variant, &matrix, i, first, many, group, size);
        hot_tridiag_ascend(args, i, many);
    }
    args->found[i] = (int64_t)many;
    hot_tridiag_blank(args, i, many);
}

hot_status hot_tridiag_cpu(hot_context *context, void *argument)
{
    const hot_tridiag_args *args = argument;
    const hot_tridiag_variant *variant = choose_variant(context);
    const int threads = hot_context_threads(context);
    /* Many matrices: a thread for each. Few: the threads share one. */
    const int across = args->count >= (size_t)threads;
    const size_t each = 3 * args->n + 8, step = across ? 16 * (size_t)threads : 1;
    hot_status status = HOT_OK;
    double *workspace = hot_context_alloc(context, each * (size_t)(across ? threads : 1), sizeof *workspace);
    if (!workspace)
        return HOT_ERROR_MEMORY;
    for (size_t begin = 0; begin < args->count && status == HOT_OK; begin += step) {
        size_t end = args->count - begin < step ? args->count : begin + step;
        if (across) {
#pragma omp parallel for schedule(dynamic) num_threads(hot_team(threads))
            for (size_t i = begin; i < end; i++)
                solve_matrix(context, args, variant, i, workspace + each * (size_t)omp_get_thread_num(), 1);
        } else {
            solve_matrix(context, args, variant, begin, workspace, threads);
        }
        status = hot_context_progress(context, "finding eigenvalues", (double)end / (double)args->count);
    }
    hot_context_free(context, workspace);
    return status;
}
