/* The time of products C = A B + beta C of many small matrices compared with libxsmm, in one run on one thread. Without
 * shapes: the squares of 1 to 32 and some rectangles. The two are called in turn, so that other work on the machine
 * affects both; best and median times per product are shown, and the distribution of the ratios at the end. First both
 * results are compared with sums in double; status 1 if one is wrong, or a call failed.
 *
 *   bench_contract_xsmm [--cold] [--f32] [--avx2] [--seconds=S] [--beta=0|1] [--shapes=N] [--seed=N] [--quiet]
 *                       [M N K ...]
 *
 * --cold: 100,000 products; else as many as 1 MiB holds. --shapes: N random shapes instead; of every 10 six have m, n
 * and k in 1 ... 32, two k up to 128, and two are of finite elements, (p + 1) x q x (p + 1) and q x (p + 1) x (p + 1).
 * --quiet: only the distribution, and shapes with a ratio below .97. */
#include <libxsmm.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/context_internal.h"
#include "common/cpu.h"
#include "common/compare.h"
#include "common/timing.h"
#include <hotfiber/contract.h>

enum { MOST = 20000, MAX_SHAPES = 10000 };

typedef struct job {
    int f64;
    size_t m, n, k, batch;
    double beta;
    void *a, *b, *c;
    hot_context *context;
    libxsmm_dmmfunction d;
    libxsmm_smmfunction s;
} job;

static int failed; /* something that was measured is not right */

static void ours(const job *j)
{
    const size_t m = j->m, n = j->n, k = j->k, a[3] = {k, 1, m * k}, b[3] = {n, 1, k * n}, c[3] = {n, 1, m * n};
    const hot_status status =
        j->f64 ? hot_contract_matrices_f64(j->context, NULL, m, n, k, j->batch, 1, j->a, a, j->b, b, j->beta, j->c, c)
               : hot_contract_matrices_f32(j->context, NULL, m, n, k, j->batch, 1, j->a, a, j->b, b, (float)j->beta,
                                           j->c, c);
    if (status != HOT_OK && !failed++)
        printf("  FAILED: %s\n", hot_context_message(j->context));
}

/* Its matrices lie by columns: C^T = B^T A^T. */
static void theirs(const job *j)
{
    const size_t mk = j->m * j->k, kn = j->k * j->n, mn = j->m * j->n;
    for (size_t i = 0; i < j->batch && j->f64; i++)
        j->d((const double *)j->b + i * kn, (const double *)j->a + i * mk, (double *)j->c + i * mn);
    for (size_t i = 0; i < j->batch && !j->f64; i++)
        j->s((const float *)j->b + i * kn, (const float *)j->a + i * mk, (float *)j->c + i * mn);
}

/* Values that stay small however often C = A B + C is done: A and B lie around 0. */
static void *values(size_t count, int f64)
{
    static unsigned seed = 1;
    void *made = aligned_alloc(64, (count * (f64 ? 8 : 4) + 63) / 64 * 64 + 64);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        const double value = ((seed >> 8) % 2001 / 1000. - 1) * 1e-3;
        if (f64)
            ((double *)made)[i] = value;
        else
            ((float *)made)[i] = (float)value;
    }
    return made;
}

static double at(const job *j, const void *values, size_t i)
{
    return j->f64 ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

/* Both do the same product, which is compared with sums in double. */
static void compare_products(job *j)
{
    const size_t count = j->batch * j->m * j->n, bytes = count * (j->f64 ? 8 : 4);
    void *before = malloc(bytes), *mine = malloc(bytes);
    double worst[2] = {0, 0};
    if (!before || !mine) {
        failed++;
    } else {
        memcpy(before, j->c, bytes);
        ours(j);
        memcpy(mine, j->c, bytes);
        memcpy(j->c, before, bytes);
        theirs(j);
        for (size_t i = 0; i < count; i++) {
            const size_t which = i / (j->m * j->n), row = i / j->n % j->m, column = i % j->n;
            double sum = j->beta * at(j, before, i), size = fabs(sum);
            for (size_t k = 0; k < j->k; k++) {
                const double term = at(j, j->a, (which * j->m + row) * j->k + k) *
                                    at(j, j->b, (which * j->k + k) * j->n + column);
                sum += term;
                size += fabs(term);
            }
            const double bound = size * (double)(j->k + 2) * (j->f64 ? 0x1p-52 : 0x1p-23) + 1e-300;
            worst[0] = fmax(worst[0], fabs(at(j, mine, i) - sum) / bound);
            worst[1] = fmax(worst[1], fabs(at(j, j->c, i) - sum) / bound);
        }
    }
    for (int who = 0; who < 2; who++)
        if (!(worst[who] <= 1) && ++failed)
            printf("  WRONG: %zu x %zu x %zu by %s: off by %.1f times what rounding can do\n", j->m, j->n, j->k,
                   who ? "libxsmm" : "hotfiber", worst[who]);
    free(before);
    free(mine);
}

/* libxsmm's best time over ours, or 0. */
static double measure(job *j, int cold, int quiet, double seconds)
{
    static double times[2][MOST];
    const size_t each = j->m * j->k + j->k * j->n + j->m * j->n, bytes = each * (j->f64 ? 8 : 4);
    const libxsmm_blasint m = (libxsmm_blasint)j->n, n = (libxsmm_blasint)j->m, k = (libxsmm_blasint)j->k;
    j->batch = cold ? 100000 : (1 << 20) / bytes + 1;
    j->a = values(j->batch * j->m * j->k, j->f64);
    j->b = values(j->batch * j->k * j->n, j->f64);
    j->c = values(j->batch * j->m * j->n, j->f64);
    const double alpha = 1, beta = j->beta;
    const float alpha_f = 1, beta_f = (float)j->beta;
    if (j->f64)
        j->d = libxsmm_dmmdispatch(m, n, k, NULL, NULL, NULL, &alpha, &beta, NULL, NULL);
    else
        j->s = libxsmm_smmdispatch(m, n, k, NULL, NULL, NULL, &alpha_f, &beta_f, NULL, NULL);
    if (j->f64 ? !j->d : !j->s) {
        printf("  %zu x %zu x %zu: libxsmm makes no kernel\n", j->m, j->n, j->k);
        return 0;
    }
    compare_products(j);
    int count = 0, repeats = 1;
    for (double begin = seconds_now(); !cold && seconds_now() - begin < 1e-4; repeats++) /* at least 100 us at a time */
        ours(j);
    ours(j), theirs(j);
    for (double begin = seconds_now(); count < MOST && (count < 5 || seconds_now() - begin < seconds); count++)
        for (int who = 0; who < 2; who++) {
            const double before = seconds_now();
            for (int r = 0; r < repeats; r++)
                (who ? theirs : ours)(j);
            times[who][count] = (seconds_now() - before) / repeats / (double)j->batch;
        }
    for (int who = 0; who < 2; who++)
        qsort(times[who], (size_t)count, sizeof(double), hot_ascending_f64);
    const double ratio = times[1][0] / times[0][0];
    if (!quiet || ratio < .97)
        printf("  f%d %2zu x %2zu x %2zu: ours %8.2f ns (median %8.2f), libxsmm %8.2f (%8.2f): ratio %.2f (%.2f)%s\n",
               j->f64 ? 64 : 32, j->m, j->n, j->k, 1e9 * times[0][0], 1e9 * times[0][count / 2], 1e9 * times[1][0],
               1e9 * times[1][count / 2], ratio, times[1][count / 2] / times[0][count / 2],
               times[1][0] < times[0][0] && times[1][count / 2] < times[0][count / 2] ? " <" : "");
    fflush(stdout);
    free(j->a);
    free(j->b);
    free(j->c);
    return ratio;
}

static size_t draw(unsigned *seed, size_t most)
{
    *seed = *seed * 1664525u + 1013904223u;
    return 1 + (*seed >> 8) % most;
}

static void draw_shape(unsigned *seed, int number, job *j)
{
    j->m = draw(seed, 32), j->n = draw(seed, 32), j->k = draw(seed, number % 10 < 6 ? 32 : 128);
    if (number % 10 >= 8) {
        const size_t functions = 1 + draw(seed, 8), points = functions * functions;
        j->k = functions;
        j->m = number % 10 == 8 ? functions : points;
        j->n = number % 10 == 8 ? points : functions;
    }
}

int main(int argc, char **argv)
{
    static const size_t rectangles[][3] = {{4, 8, 3},   {8, 4, 16},  {16, 8, 4},   {5, 13, 7},  {13, 5, 7},
                                           {9, 27, 9},  {27, 9, 9},  {32, 16, 8},  {8, 32, 16}, {6, 6, 64},
                                           {3, 32, 3},  {32, 3, 3},  {1, 16, 16},  {16, 1, 16}};
    hot_context_options settings = {.size = sizeof settings, .threads = 1, .device = HOT_DEVICE_CPU};
    job j = {.f64 = 1, .beta = 1};
    static double ratios[MAX_SHAPES];
    int cold = 0, avx2 = 0, quiet = 0, shapes = 0, count = 0, drawn = 0;
    unsigned seed = 1;
    double seconds = .05;
    if (hot_context_create(&settings, &j.context) != HOT_OK)
        return 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cold") == 0)
            cold = 1;
        else if (strcmp(argv[i], "--f32") == 0)
            j.f64 = 0;
        else if (strcmp(argv[i], "--avx2") == 0)
            avx2 = 1;
        else if (strncmp(argv[i], "--seconds=", 10) == 0)
            seconds = atof(argv[i] + 10);
        else if (strncmp(argv[i], "--beta=", 7) == 0)
            j.beta = atof(argv[i] + 7);
        else if (strncmp(argv[i], "--shapes=", 9) == 0)
            drawn = atoi(argv[i] + 9) < MAX_SHAPES ? atoi(argv[i] + 9) : MAX_SHAPES;
        else if (strncmp(argv[i], "--seed=", 7) == 0)
            seed = (unsigned)atoi(argv[i] + 7);
        else if (strcmp(argv[i], "--quiet") == 0)
            quiet = 1;
        else
            break;
        shapes = i;
    }
    libxsmm_init();
    if (avx2) {
        libxsmm_set_target_arch("hsw");
        hot_context_set_cpu_limit(j.context, HOT_CPU_AVX2);
    }
    printf("libxsmm %s for %s\n", LIBXSMM_VERSION, libxsmm_get_target_arch());
    for (int i = 0; i < drawn; i++) {
        draw_shape(&seed, i, &j);
        ratios[count++] = measure(&j, cold, quiet, seconds);
    }
    const int usual = shapes + 1 >= argc && !drawn;
    for (int i = shapes + 1; i + 2 < argc && count < MAX_SHAPES; i += 3) {
        j.m = (size_t)atoi(argv[i]), j.n = (size_t)atoi(argv[i + 1]), j.k = (size_t)atoi(argv[i + 2]);
        ratios[count++] = measure(&j, cold, quiet, seconds);
    }
    for (size_t n = 1; n <= 32 && usual; n++) {
        j.m = j.n = j.k = n;
        ratios[count++] = measure(&j, cold, quiet, seconds);
    }
    for (size_t r = 0; r < sizeof rectangles / sizeof rectangles[0] && usual; r++) {
        j.m = rectangles[r][0], j.n = rectangles[r][1], j.k = rectangles[r][2];
        ratios[count++] = measure(&j, cold, quiet, seconds);
    }
    qsort(ratios, (size_t)count, sizeof(double), hot_ascending_f64);
    int below = 0;
    while (below < count && ratios[below] < .97)
        below++;
    if (count)
        printf("  %d shapes: libxsmm's time over ours least %.2f, 5 %% %.2f, 10 %% %.2f, median %.2f, most %.2f; %d "
               "below .97\n", count, ratios[0], ratios[count / 20], ratios[count / 10], ratios[count / 2],
               ratios[count - 1], below);
    hot_context_destroy(&j.context);
    return failed > 0;
}
