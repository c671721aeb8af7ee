/* Hermitian matrices on the CPU: small ones in the lanes of vectors, else a matrix per thread, by LAPACK or by our own
 * code. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "common/lapack.h"
#include "common/entry.h"
#include "heev/heev.h"
#include "heev_lanes_table.h"

/* Doubles of workspace for LAPACK's divide and conquer, or for our own code. */
static size_t workspace_doubles(size_t n) { return 7 * n * n + 24 * n + 32; }

size_t hot_heev_workspace(size_t n) { return (workspace_doubles(n) + 2 * n * n + 6 * n + 8) * sizeof(double); }

/* 0: failed, or there is no LAPACK. */
static int by_lapack(int f64, int is_complex, size_t size, int vectors, void *a, void *w,
                     double *workspace)
{
    const hot_lapack *lapack = hot_lapack_get();
    const char *args = vectors ? "V" : "N";
    const hot_lapack_int n = (hot_lapack_int)size, lwork = 2 * n * n + 6 * n + 2, lreal = 2 * n * n + 5 * n + 2;
    const hot_lapack_int lint = 5 * n + 3;
    hot_lapack_int info = 0, *integers = (hot_lapack_int *)(void *)(workspace + workspace_doubles(size));
    double *more = workspace + 4 * size * size + 12 * size + 8; /* behind the complex work */
    if (!lapack)
        return 0;
    hot_lapack_enter();
    if (is_complex && f64)
        lapack->zheevd(args, "L", &n, a, &n, w, workspace, &lwork, more, &lreal, integers, &lint, &info);
    else if (is_complex)
        lapack->cheevd(args, "L", &n, a, &n, w, workspace, &lwork, (float *)(void *)more, &lreal, integers, &lint,
                &info);
    else if (f64)
        lapack->dsyevd(args, "L", &n, a, &n, w, workspace, &lwork, integers, &lint, &info);
    else
        lapack->ssyevd(args, "L", &n, a, &n, w, (float *)(void *)workspace, &lwork, integers, &lint, &info);
    hot_lapack_leave();
    return info == 0;
}

/* Our own code in double precision for any of the four kinds. a and w are the caller's; workspace: that of hot_heev_own
 * and 2 n^2 + n more. */
static int own(const hot_context *context, int f64, int is_complex, size_t n, int vectors, void *a, void *w,
               double *workspace)
{
    double *matrix = workspace + hot_heev_own_doubles(n), *values = matrix + 2 * n * n;
    const size_t parts = is_complex ? 2 : 1;
    for (size_t k = 0; k < n * n; k++)
        for (size_t part = 0; part < 2; part++) {
            size_t at = k * parts + part;
            matrix[2 * k + part] = part >= parts ? 0 : f64 ? ((double *)a)[at] : (double)((float *)a)[at];
        }
    if (!hot_heev_own(context, n, vectors, matrix, values, workspace))
        return 0;
    for (size_t k = 0; k < n; k++) {
        if (f64)
            ((double *)w)[k] = values[k];
        else
            ((float *)w)[k] = (float)values[k];
    }
    for (size_t k = 0; vectors && k < n * n; k++)
        for (size_t part = 0; part < parts; part++) {
            if (f64)
                ((double *)a)[k * parts + part] = matrix[2 * k + part];
            else
                ((float *)a)[k * parts + part] = (float)matrix[2 * k + part];
        }
    return 1;
}

/* The lower triangle of matrix i, of which that one is read. */
static void copy_lower(const hot_heev_args *args, size_t i, char *a)
{
    const size_t n = args->n, real = args->f64 ? sizeof(double) : sizeof(float);
    const size_t number = (args->is_complex ? 2 : 1) * real;
    const char *from = (const char *)args->matrices + i * n * n * number;
    for (size_t column = 0; column < n; column++) {
        const size_t diagonal = column * (n + 1) * number;
        memcpy(a + diagonal, from + diagonal, (n - column) * number);
        if (args->is_complex)
            memset(a + diagonal + real, 0, real);
    }
}

/* The lower triangle of matrix i. The imaginary part of the diagonal is not the caller's word; LAPACK lets it through
 * where it scales. */
static void take(const hot_heev_args *args, size_t i, void *a)
{
    const size_t n = args->n, parts = args->is_complex ? 2 : 1;
    if (!args->upper) {
        copy_lower(args, i, a);
        return;
    }
    for (size_t column = 0; column < n; column++)
        for (size_t row = column; row < n; row++)
            for (size_t part = 0; part < parts; part++) {
                const size_t from = hot_heev_place(args, i, row, column) * parts + part;
                const size_t to = (column * n + row) * parts + part;
                const int zero = part && row == column;
                if (args->f64) {
                    const double number = zero ? 0 : ((const double *)args->matrices)[from];
                    ((double *)a)[to] = part ? -number : number;
                } else {
                    const float number = zero ? 0 : ((const float *)args->matrices)[from];
                    ((float *)a)[to] = part ? -number : number;
                }
            }
}

/* Matrix i; a and w get the result. */
static int solve_copy(const hot_context *context, const hot_heev_args *args, size_t i, void *a, void *w,
                      double *workspace)
{
    const int vectors = args->vectors != NULL;
    take(args, i, a);
    if (by_lapack(args->f64, args->is_complex, args->n, vectors, a, w, workspace))
        return 1;
    take(args, i, a);
    return own(context, args->f64, args->is_complex, args->n, vectors, a, w, workspace);
}

int hot_heev_one(int is_complex, size_t n, int vectors, double *a, double *w, void *workspace)
{
    return hot_lapack_get() ? by_lapack(1, is_complex, n, vectors, a, w, workspace)
                            : own(NULL, 1, is_complex, n, vectors, a, w, workspace);
}

static void solve_one(const hot_context *context, const hot_heev_args *args, size_t i, char *a, char *w,
                      double *workspace)
{
    const size_t value = args->f64 ? sizeof(double) : sizeof(float), entry = value * (args->is_complex ? 2 : 1);
    const size_t n = args->n, skipped = n - args->kept;
    const int solved = hot_heev_finite(args, i) ? solve_copy(context, args, i, a, w, workspace) : 0;
    if (!solved) {
        hot_heev_refuse(args, i);
        return;
    }
    memcpy((char *)args->values + i * args->kept * value, w + skipped * value, args->kept * value);
    if (args->vectors)
        memcpy((char *)args->vectors + i * args->kept * n * entry, a + skipped * n * entry, args->kept * n * entry);
}

/* Small matrices, one in each lane of a vector; the few for which that does not converge one by one. */
static hot_status solve_in_lanes(hot_context *context, const hot_heev_args *args)
{
    const hot_heev_lanes *variant = HOT_CPU_VARIANT(context, &hot_heev_lanes);
    const size_t lanes = (size_t)(args->f64 ? variant->lanes_f64 : variant->lanes_f32), n = args->n;
    const size_t groups = (args->count + lanes - 1) / lanes, size = args->f64 ? sizeof(double) : sizeof(float);
    const size_t vectors = hot_heev_lanes_vectors(n, args->is_complex ? 2 : 1) * lanes * size;
    const size_t each = (vectors + (2 * n * n + n) * sizeof(double) + hot_heev_workspace(n) + 127) / 64 * 64;
    const int threads = hot_context_threads(context) < (int)(groups < 1024 ? groups : 1024)
                            ? hot_context_threads(context) : (int)(groups < 1024 ? groups : 1024);
    char *memory = hot_context_alloc(context, (size_t)threads + 1, each);
    hot_status status = memory ? HOT_OK : HOT_ERROR_MEMORY;
    char *lines = memory ? memory + (64 - (uintptr_t)memory % 64) : NULL; /* vectors are aligned */
    hot_lapack_single_begin();
    const size_t step = (size_t)threads * (8 + 4000000 / (n * n * n + 100) / lanes);
    for (size_t begin = 0; begin < groups && status == HOT_OK; begin += step) {
        const size_t end = groups - begin < step ? groups : begin + step;
#pragma omp parallel for schedule(dynamic, 8) num_threads(hot_team(end - begin > 8 ? threads : 1))
        for (size_t group = begin; group < end; group++) {
            char *mine = lines + each * (size_t)omp_get_thread_num(), *a = mine + vectors;
            char *w = a + 2 * n * n * sizeof(double);
            const size_t first = group * lanes;
            uint8_t failed[HEEV_LANES_MAX] = {0};
            if (hot_context_cancelled(context))
                continue;
            variant->solve[args->is_complex != 0][args->f64 != 0](args, first, mine, failed);
            for (size_t i = first; i < first + lanes && i < args->count; i++) {
                if (failed[i - first] == 2)
                    hot_heev_refuse(args, i);
                else if (failed[i - first])
                    solve_one(context, args, i, a, w, (double *)(void *)(w + n * sizeof(double)));
            }
        }
        status = hot_context_progress(context, "finding eigenvectors", (double)end / (double)groups);
    }
    hot_lapack_single_end();
    hot_context_free(context, memory);
    return status;
}

/* Scales matrix i, in `a`, to numbers whose squares are numbers; returns the power of two that it was divided by. */
static int scale_down(const hot_heev_args *args, void *a)
{
    const size_t n = args->n, parts = args->is_complex ? 2 : 1;
    double largest = 0;
    int exponent = 0;
    for (size_t column = 0; column < n; column++)
        for (size_t at = parts * column * (n + 1); at < parts * (column + 1) * n; at++)
            largest = fmax(largest, fabs(args->f64 ? ((double *)a)[at] : (double)((float *)a)[at]));
    frexp(largest, &exponent);
    if (abs(exponent) <= (args->f64 ? 200 : 20))
        return 0;
    for (size_t column = 0; column < n; column++)
        for (size_t at = parts * column * (n + 1); at < parts * (column + 1) * n; at++) {
            if (args->f64)
                ((double *)a)[at] = ldexp(((double *)a)[at], -exponent);
            else
                ((float *)a)[at] = ldexpf(((float *)a)[at], -exponent);
        }
    return exponent;
}

/* Matrix i by pieces of LAPACK. a, w: its copy, its eigenvalues. */
static void solve_large(hot_context *context, const hot_heev_args *args, size_t i, int threads, char *a, void *w,
                        void *memory)
{
    const size_t real = args->f64 ? sizeof(double) : sizeof(float), skipped = args->n - args->kept;
    const size_t vectors = args->kept * args->n * real * (args->is_complex ? 2 : 1);
    if (!hot_heev_finite(args, i)) {
        hot_heev_refuse(args, i);
        return;
    }
    take(args, i, a);
    const int exponent = scale_down(args, a);
    const int solved = hot_heev_large(context, args, threads, a, w,
                                      args->vectors ? (char *)args->vectors + i * vectors : NULL, memory);
    if (!solved)
        hot_heev_refuse(args, i);
    for (size_t k = 0; solved == 1 && k < args->kept; k++) {
        if (args->f64)
            ((double *)args->values)[i * args->kept + k] = ldexp(((double *)w)[skipped + k], exponent);
        else
            ((float *)args->values)[i * args->kept + k] = ldexpf(((float *)w)[skipped + k], exponent);
    }
}

hot_status hot_heev_cpu(hot_context *context, void *argument)
{
    const hot_heev_args *args = argument;
    if (args->n <= HEEV_LANES_ROWS || (args->n <= HEEV_LANES_MANY_ROWS && args->count >= HEEV_LANES_MANY))
        return solve_in_lanes(context, args);
    const size_t n = args->n, entry = (args->is_complex ? 2 : 1) * (args->f64 ? sizeof(double) : sizeof(float));
    /* Large matrices are solved one after the other by all threads where they are fewer than these. */
    const int all = hot_context_threads(context), large = n >= HOT_HEEV_LARGE && hot_lapack_get() != NULL;
    const int threads = args->count < (size_t)all ? (int)args->count : all;
    const int teams = large && args->count < (size_t)all ? 1 : threads, inner = large && teams == 1 ? all : 1;
    /* per team: a matrix, its eigenvalues, workspace; whole cache lines */
    const size_t matrix = (n * n * entry + 63) / 64 * 64, values = (n * sizeof(double) + 63) / 64 * 64;
    const size_t workspace = large ? hot_heev_large_bytes(args, inner)
        : n >= HOT_HEEV_LARGE      ? (hot_heev_own_doubles(n) + 2 * n * n + n) * sizeof(double)
                                   : hot_heev_workspace(n);
    const size_t each = matrix + values + (workspace + 63) / 64 * 64;
    char *memory = hot_context_alloc(context, (size_t)teams, each);
    hot_status status = memory ? HOT_OK : HOT_ERROR_MEMORY;
    hot_lapack_single_begin();
    /* Between two calls of the progress callback: some tens of milliseconds of work. */
    const size_t step = (size_t)teams * (1 + 2000000 / (n * n * n + 1));
    for (size_t begin = 0; begin < args->count && status == HOT_OK; begin += step) {
        const size_t end = args->count - begin < step ? args->count : begin + step;
#pragma omp parallel for schedule(dynamic) num_threads(hot_team(teams)) if (teams > 1)
        for (size_t i = begin; i < end; i++) {
            if (hot_context_cancelled(context))
                continue;
            char *mine = memory + each * (size_t)(teams > 1 ? omp_get_thread_num() : 0), *work = mine + matrix + values;
            if (large)
                solve_large(context, args, i, inner, mine, mine + matrix, work);
            else
                solve_one(context, args, i, mine, mine + matrix, (double *)(void *)work);
        }
        status = hot_context_progress(context, "finding eigenvectors", (double)end / (double)args->count);
    }
    hot_lapack_single_end();
    hot_context_free(context, memory);
    return status;
}
