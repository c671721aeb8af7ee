/* The time of MTTKRP on one CPU thread compared with this build's BLAS: a matrix product with one factor, then the sum
 * with the other in plain loops. Cubes, of rank a tenth of the side. The two are run in turn; the best processor times
 * are shown. Status 1 when a call failed or the results differ by more than rounding can do.
 *
 *   bench_cpd_openblas [--seconds=S] [SIDE ...] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/context_internal.h"
#include "common/lapack.h"
#include <hotfiber/cpd.h>

__attribute__((weak)) void openblas_set_num_threads(int threads);

/* sums: n x n x rank; mode 1 sums over the second index, 2 and 3 over the first. */
#define PEER(NAME, TYPE, GEMM)                                                                                         \
    static void NAME(int mode, int n, int rank, const TYPE *x, TYPE *const factor[3], TYPE *sums, TYPE *out)           \
    {                                                                                                                  \
        const TYPE one = 1, zero = 0;                                                                                  \
        const hot_lapack_int side = n, rows = n * n, columns = rank;                                                   \
        if (mode == 3)                                                                                                 \
            GEMM("T", "N", &rows, &columns, &side, &one, x, &side, factor[0], &side, &zero, sums, &rows);              \
        else                                                                                                           \
            GEMM("N", "N", &rows, &columns, &side, &one, x, &rows, factor[2], &side, &zero, sums, &rows);              \
        const TYPE *other = factor[mode == 2 ? 0 : 1];                                                                 \
        memset(out, 0, (size_t)n * (size_t)rank * sizeof *out);                                                        \
        for (int r = 0; r < rank; r++)                                                                                 \
            for (int j = 0; j < n; j++) {                                                                              \
                const TYPE *row = sums + (size_t)n * (size_t)(j + n * r), *f = other + (size_t)n * (size_t)r;          \
                TYPE *to = out + (size_t)n * (size_t)r, sum = 0;                                                       \
                if (mode == 1) {                                                                                       \
                    for (int i = 0; i < n; i++) to[i] += row[i] * f[j];                                                \
                    continue;                                                                                          \
                }                                                                                                      \
                _Pragma("omp simd reduction(+ : sum)") for (int i = 0; i < n; i++) sum += row[i] * f[i];               \
                to[j] = sum;                                                                                           \
            }                                                                                                          \
    }
PEER(peer_f64, double, dgemm_)
PEER(peer_f32, float, sgemm_)

static int failed; /* a call, or the comparison of a result */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *values(size_t count, int f64)
{
    static unsigned seed = 1;
    void *made = aligned_alloc(64, (count * (f64 ? 8 : 4) + 63) / 64 * 64);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        const double value = (seed >> 8) % 2001 / 1000. - 1;
        if (f64)
            ((double *)made)[i] = value;
        else
            ((float *)made)[i] = (float)value;
    }
    return made;
}

/* Kept: the tensor's own product, where the search for values that are not finite was done once. */
static void measure(hot_context *context, int f64, int side, double seconds)
{
    const size_t n = (size_t)side, rank = n / 10 ? n / 10 : 1, bytes = f64 ? 8 : 4;
    void *x = values(n * n * n, f64), *sums = values(n * n * rank, f64), *factor[3], *out[3];
    hot_mttkrp_tensor *kept = NULL;
    for (int o = 0; o < 3; o++)
        factor[o] = values(n * rank, f64);
    for (int o = 0; o < 3; o++)
        out[o] = values(n * rank, f64);
    if ((f64 ? hot_mttkrp_tensor_create_f64(context, n, n, n, x, &kept)
             : hot_mttkrp_tensor_create_f32(context, HOT_CPD_FULL, n, n, n, x, &kept)) != HOT_OK)
        failed++;
    for (int mode = 1; mode <= 3 && kept; mode++) {
        double best[3] = {1e9, 1e9, 1e9}, worst = 0, largest = 0;
        hot_status status = HOT_OK;
        int rounds = 0;
        for (double begin = now(); rounds < 3 || now() - begin < seconds; rounds++)
            for (int who = 0; who < 3; who++) {
                const double before = now();
                if (who == 0 && f64)
                    status |= hot_mttkrp_f64(context, mode, n, n, n, rank, x, factor[0], factor[1], factor[2], out[0]);
                else if (who == 0)
                    status |= hot_mttkrp_f32(context, HOT_CPD_FULL, mode, n, n, n, rank, x, factor[0], factor[1],
                                             factor[2], out[0]);
                else if (who == 1 && f64)
                    status |= hot_mttkrp_tensor_product_f64(context, kept, mode, rank, factor[0], factor[1],
                                                            factor[2], out[2]);
                else if (who == 1)
                    status |= hot_mttkrp_tensor_product_f32(context, kept, mode, rank, factor[0], factor[1],
                                                            factor[2], out[2]);
                else if (f64)
                    peer_f64(mode, side, (int)rank, x, (double *const *)(void *)factor, sums, out[1]);
                else
                    peer_f32(mode, side, (int)rank, x, (float *const *)(void *)factor, sums, out[1]);
                const double took = now() - before;
                best[who] = took < best[who] ? took : best[who];
            }
        for (size_t i = 0; i < n * rank; i++)
            for (int who = 0; who < 3; who += 2) {
                const double p = f64 ? ((double *)out[who])[i] : (double)((float *)out[who])[i],
                             q = f64 ? ((double *)out[1])[i] : (double)((float *)out[1])[i];
                worst = fabs(p - q) <= worst ? worst : fabs(p - q); /* also where p is no number */
                largest = fmax(largest, fabs(q));
            }
        if (status != HOT_OK)
            printf("  FAILED: %s\n", hot_context_message(context));
        failed += status != HOT_OK || !(worst <= largest * (f64 ? 1e-12 : 1e-4));
        printf("  f%zu %d^3, rank %zu, mode %d: ours %8.3f ms, kept %8.3f, BLAS %8.3f: ratio %.2f, kept %.2f "
               "(differ by %.0e)\n", 8 * bytes, side, rank, mode, 1e3 * best[0], 1e3 * best[1], 1e3 * best[2],
               best[2] / best[0], best[2] / best[1], worst / largest);
        fflush(stdout);
    }
    hot_mttkrp_tensor_destroy(&kept);
    for (int o = 0; o < 3; o++)
        free(factor[o]);
    for (int o = 0; o < 3; o++)
        free(out[o]);
    free(x);
    free(sums);
}

int main(int argc, char **argv)
{
    static const int sides[] = {100, 200, 400};
    hot_context_options settings = {.size = sizeof settings, .threads = 1, .device = HOT_DEVICE_CPU};
    hot_context *context = NULL;
    double seconds = 1;
    int first = 1;
    if (hot_context_create(&settings, &context) != HOT_OK)
        return 1;
    if (argc > 1 && strncmp(argv[1], "--seconds=", 10) == 0)
        seconds = atof(argv[first++] + 10);
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    for (int f64 = 1; f64 >= 0; f64--) {
        for (int i = first; i < argc; i++)
            measure(context, f64, atoi(argv[i]), seconds);
        for (size_t s = 0; s < sizeof sides / sizeof sides[0] && first == argc; s++)
            measure(context, f64, sides[s], seconds);
    }
    hot_context_destroy(&context);
    return failed > 0;
}
