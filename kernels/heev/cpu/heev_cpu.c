/* Hermitian matrices on the CPU: small ones in the lanes of vectors, else a matrix per thread, by LAPACK or by our own
 * code. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/cpu.h"
#include "common/lapack.h"
#include "common/entry.h"
#include "heev/heev.h"
#include "heev_lanes_table.h"

enum { STAGES_FROM = 512 /* rows: smaller matrices take less than 100 ms */ };

/* Doubles of workspace for LAPACK's divide and conquer, or for our own code. */
static size_t workspace_doubles(size_t n) { return 7 * n * n + 24 * n + 32; }

size_t hot_heev_workspace(size_t n) { return (workspace_doubles(n) + 2 * n * n + 4 * n + 8) * sizeof(double); }

/* Whether all numbers of the lower triangle are zero or of a size for which LAPACK's drivers scale nothing. */
static int is_moderate(int f64, size_t n, size_t parts, const void *a)
{
    int moderate = 1;
    for (size_t column = 0; column < n && moderate; column++)
        for (size_t i = parts * column * (n + 1); i < parts * (column + 1) * n; i++) {
            const double x = fabs(f64 ? ((const double *)a)[i] : (double)((const float *)a)[i]);
            moderate &= x == 0 || (f64 ? x > 1e-100 && x < 1e100 : x > 1e-12 && x < 1e12);
        }
    return moderate;
}

/* 1: done, 0: failed, or there is no LAPACK, -1: cancelled. context: NULL = not to be cancelled. */
static int by_lapack(const hot_context *context, int f64, int is_complex, size_t size, int vectors, void *a, void *w,
                     double *workspace)
{
    const hot_lapack *lapack = hot_lapack_get();
    const char *args = vectors ? "V" : "N";
    const int n = (int)size, lwork = 2 * n * n + 6 * n + 2, lreal = 2 * n * n + 5 * n + 2, lint = 5 * n + 3;
    int info = 0, *integers = (int *)(void *)(workspace + workspace_doubles(size));
    double *more = workspace + 4 * size * size + 12 * size + 8; /* behind the complex work */
    if (!lapack)
        return 0;
    if (context && size >= STAGES_FROM && is_moderate(f64, size, is_complex ? 2 : 1, a))
        return hot_heev_stages(context, lapack, f64, is_complex, size, vectors, a, w, workspace, integers);
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

/* Our own code in double precision for any of the four kinds. a and w are the caller's; workspace as above and
 * 2 n^2 + n more. */
static int own(int f64, int is_complex, size_t n, int vectors, void *a, void *w, double *workspace)
{
    double *matrix = workspace + workspace_doubles(n) + 3 * n + 8, *values = matrix + 2 * n * n;
    const size_t parts = is_complex ? 2 : 1;
    for (size_t k = 0; k < n * n; k++)
        for (size_t part = 0; part < 2; part++) {
            size_t at = k * parts + part;
            matrix[2 * k + part] = part >= parts ? 0 : f64 ? ((double *)a)[at] : (double)((float *)a)[at];
        }
    if (!hot_heev_own(n, vectors, matrix, values, workspace))
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

/* The lower triangle of matrix i. The imaginary part of the diagonal is not the caller's word; LAPACK lets it through
 * where it scales. */
static void take(const hot_heev_args *args, size_t i, void *a)
{
    const size_t n = args->n, parts = args->is_complex ? 2 : 1;
    for (size_t column = 0; column < n; column++)
        for (size_t row = column; row < n; row++)
            for (size_t part = 0; part < parts; part++) {
                const size_t from = hot_heev_place(args, i, row, column) * parts + part;
                const size_t to = (column * n + row) * parts + part;
                const int zero = part && row == column, turned = part && args->upper;
                if (args->f64) {
                    const double number = zero ? 0 : ((const double *)args->matrices)[from];
                    ((double *)a)[to] = turned ? -number : number;
                } else {
                    const float number = zero ? 0 : ((const float *)args->matrices)[from];
                    ((float *)a)[to] = turned ? -number : number;
                }
            }
}

/* Matrix i; a and w get the result. */
static int solve_copy(const hot_context *context, const hot_heev_args *args, size_t i, void *a, void *w,
                      double *workspace)
{
    const int vectors = args->vectors != NULL;
    take(args, i, a);
    const int solved = by_lapack(context, args->f64, args->is_complex, args->n, vectors, a, w, workspace);
    if (solved)
        return solved;
    take(args, i, a);
    return own(args->f64, args->is_complex, args->n, vectors, a, w, workspace);
}

int hot_heev_one(int is_complex, size_t n, int vectors, double *a, double *w, void *workspace)
{
    return hot_lapack_get() ? by_lapack(NULL, 1, is_complex, n, vectors, a, w, workspace)
                            : own(1, is_complex, n, vectors, a, w, workspace);
}

static void solve_one(const hot_context *context, const hot_heev_args *args, size_t i, char *a, char *w,
                      double *workspace)
{
    const size_t value = args->f64 ? sizeof(double) : sizeof(float), entry = value * (args->is_complex ? 2 : 1);
    const size_t n = args->n, skipped = n - args->kept;
    const int solved = hot_heev_finite(args, i) ? solve_copy(context, args, i, a, w, workspace) : 0;
    if (solved == 0)
        hot_heev_refuse(args, i);
    if (solved <= 0)
        return;
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

hot_status hot_heev_cpu(hot_context *context, void *argument)
{
    const hot_heev_args *args = argument;
    if (args->n <= HEEV_LANES_ROWS || (args->n <= HEEV_LANES_MANY_ROWS && args->count >= HEEV_LANES_MANY))
        return solve_in_lanes(context, args);
    const size_t n = args->n, limit = args->count < 1024 ? args->count : 1024;
    const int threads = hot_context_threads(context) < (int)limit ? hot_context_threads(context) : (int)limit;
    /* per thread: a matrix, its eigenvalues, workspace; whole cache lines */
    const size_t each = (2 * n * n * sizeof(double) + n * sizeof(double) + hot_heev_workspace(n) + 127) / 64 * 64;
    char *memory = hot_context_alloc(context, (size_t)threads, each);
    hot_status status = memory ? HOT_OK : HOT_ERROR_MEMORY;
    hot_lapack_single_begin();
    /* Between two calls of the progress callback: some tens of milliseconds of work. */
    size_t step = (size_t)threads * (1 + 2000000 / (n * n * n + 1));
    for (size_t begin = 0; begin < args->count && status == HOT_OK; begin += step) {
        const size_t end = args->count - begin < step ? args->count : begin + step;
#pragma omp parallel for schedule(dynamic) num_threads(hot_team(threads))
        for (size_t i = begin; i < end; i++) {
            if (hot_context_cancelled(context))
                continue;
            char *mine = memory + each * (size_t)omp_get_thread_num();
            char *w = mine + 2 * n * n * sizeof(double);
            solve_one(context, args, i, mine, w, (double *)(void *)(w + n * sizeof(double)));
        }
        status = hot_context_progress(context, "finding eigenvectors", (double)end / (double)args->count);
    }
    hot_lapack_single_end();
    hot_context_free(context, memory);
    return status;
}
