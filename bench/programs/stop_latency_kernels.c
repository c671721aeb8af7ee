/* The longest time between two checks for cancellation, as stop_latency.c finds it, of the array kernels alone, by the
 * clock, on any device. On a GPU that is the time of one batch with its copies; the very first call waits for the
 * driver to start, which cannot be interrupted.
 *
 *   bench_stop_latency_kernels [cuda|cpu [VOXELS]]
 *
 * VOXELS scales the matrices, products and tensors of the other families too. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/denoise.h>
#include <hotfiber/directions.h>
#include <hotfiber/heev.h>
#include <hotfiber/signal.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/tridiag.h>

#include "check.h"

static struct {
    pthread_t caller;
    double last, longest;
    unsigned long checks;
} meter;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void look(void)
{
    if (!pthread_equal(pthread_self(), meter.caller))
        return;
    const double t = now();
    meter.longest = fmax(meter.longest, t - meter.last);
    meter.checks++;
    meter.last = now();
}

static int on_stop(void *user)
{
    (void)user;
    look();
    return 0;
}

static int on_progress(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    look();
    return 0;
}

static double begun;
static void start(void)
{
    memset(&meter, 0, sizeof meter);
    meter.caller = pthread_self();
    begun = meter.last = now();
}

static void stop(hot_context *context, const char *what, hot_status status)
{
    look();
    printf("%-44s %8.3f s  %8lu checks  longest %8.2f ms%s%s\n", what, now() - begun, meter.checks, 1e3 * meter.longest,
           status == HOT_OK ? "" : "  ", status == HOT_OK ? "" : hot_context_message(context));
    fflush(stdout);
}

enum { ORDER = 6, UNIQUE = 28, STARTS = 128, VOLUMES = 72, B0 = 8 };

/* The kernels of voxels, at order 6. */
static int time_voxels(hot_context *context, size_t count)
{
    const size_t some = count / 4;
    uint64_t seed = 11;
    float *tensors = malloc(count * UNIQUE * sizeof *tensors), *directions = calloc(count, 9 * sizeof *directions);
    float *signals = malloc(count * VOLUMES * sizeof *signals), starts[3 * STARTS];
    float *lambda = calloc(some, STARTS * sizeof *lambda), *x = calloc(some, 3 * STARTS * sizeof *x);
    float *denoised = malloc(count * VOLUMES * sizeof *denoised);
    uint8_t *found = calloc(count, 1);
    double b[VOLUMES], gradients[3 * VOLUMES], shell_b = 3000, response[5] = {0};
    if (!tensors || !directions || !signals || !lambda || !x || !found || !denoised)
        return 1;
    for (size_t i = 0; i < count * UNIQUE; i++)
        tensors[i] = (float)(check_random(&seed) - 0.3);
    for (int s = 0; s < STARTS; s++) {
        double v[3];
        check_random_unit(&seed, v);
        for (int d = 0; d < 3; d++)
            starts[3 * s + d] = (float)v[d];
    }
    /* one fibre's signal exp(-b (across + (along - across) u^2)), in harmonics by the midpoint rule */
    for (int i = 0; i < 4000; i++) {
        const double u = (i + 0.5) / 4000, value = exp(-3 * (0.2 + 1.5 * u * u));
        double p[9] = {1, u};
        for (int l = 2; l < 9; l++)
            p[l] = ((2 * l - 1) * u * p[l - 1] - (l - 1) * p[l - 2]) / l;
        for (int l = 0; l < 9; l += 2)
            response[l / 2] += sqrt((2 * l + 1) * 3.14159265358979) * value * p[l] / 4000 * 2;
    }
    for (int v = 0; v < VOLUMES; v++) {
        check_random_unit(&seed, gradients + 3 * v);
        b[v] = v < B0 ? 0 : 3000;
    }
    for (size_t i = 0; i < count; i++) {
        double f[2][3];
        check_random_unit(&seed, f[0]);
        check_random_unit(&seed, f[1]);
        for (int v = 0; v < VOLUMES; v++) {
            const double *g = gradients + 3 * v;
            double value = 0;
            for (int k = 0; k < 2; k++) {
                const double u = g[0] * f[k][0] + g[1] * f[k][1] + g[2] * f[k][2];
                value += 500 * exp(-b[v] * 1e-3 * (0.2 + 1.5 * u * u));
            }
            signals[i * VOLUMES + v] = (float)fabs(value + 30 * (check_random(&seed) + check_random(&seed) - 1));
        }
    }
    const hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = VOLUMES, .b = b, .gradients = gradients,
                                      .shells = 1, .shell_b = &shell_b, .response = response, .lmax = 8};
    const hot_signal_options how = {.size = sizeof how, .sigma = 15};
    const hot_signal_result result = {.size = sizeof result, .directions = directions, .found = found};
    const hot_directions_options scan = HOT_DIRECTIONS_OPTIONS_INIT;
    hot_directions_options many = scan;
    many.starts = STARTS;
    const hot_sshopm_options iteration = {.size = sizeof iteration};
    start();
    hot_status status = hot_directions_f32(context, &scan, ORDER, 1000, tensors, UNIQUE, NULL, directions, found);
    stop(context, "the first call, 1000 voxels", status);
    start();
    status = hot_directions_f32(context, &scan, ORDER, count, tensors, UNIQUE, NULL, directions, found);
    stop(context, "directions: scan and refine", status);
    start();
    status = hot_directions_f32(context, &many, ORDER, some, tensors, UNIQUE, NULL, directions, found);
    stop(context, "directions: 128 starts, a quarter of them", status);
    start();
    status = hot_sshopm_f32(context, &iteration, ORDER, 3, some, tensors, UNIQUE, STARTS, starts, lambda, x, NULL,
                            NULL);
    stop(context, "SS-HOPM: 128 starts, a quarter of them", status);
    start();
    status = hot_signal_fibers_f32(context, &how, &scheme, count, signals, NULL, NULL, NULL, &result);
    stop(context, "signal: 72 volumes", status);
    const size_t volume[3] = {50, 50, count / 2500};
    start();
    status = hot_denoise_f32(context, NULL, volume, VOLUMES, signals, NULL, denoised, NULL);
    stop(context, "denoise: 72 volumes", status);
    free(tensors), free(directions), free(signals), free(lambda), free(x), free(found), free(denoised);
    return 0;
}

/* Uniform numbers; NULL without memory. */
static double *uniform(size_t count)
{
    uint64_t state = 7;
    double *x = malloc(count * sizeof *x);
    for (size_t i = 0; x && i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)(state >> 11) * 0x1p-53 - 0.5;
    }
    return x;
}

/* The families of matrices and tensors, each in a shape of many small items and in one of a few large ones. */
static int time_arrays(hot_context *context, double scale)
{
    static const struct { size_t n, count; } heev[] = {{10, 1000000}, {128, 1000}, {512, 24}, {1024, 2}, {4096, 1}};
    static const struct { size_t n, count; } tridiag[] = {{64, 200000}, {30000, 1}};
    static const struct { size_t n, batch; } products[] = {{10, 1000000}, {64, 20000}, {3000, 1}};
    static const struct { size_t side, rank; } cpd[] = {{300, 16}, {600, 40}};
    char name[64];
    for (size_t i = 0; i < sizeof heev / sizeof *heev; i++) {
        const size_t n = heev[i].n, count = (size_t)ceil((double)heev[i].count * scale);
        double *a = uniform(2 * n * n * count), *w = uniform(n * count), *v = uniform(2 * n * n * count);
        if (!a || !w || !v)
            return 1;
        snprintf(name, sizeof name, "heev: %zu x %zu", n, count);
        start();
        stop(context, name, hot_heev_f64(context, NULL, n, count, a, w, v, NULL));
        free(a), free(w), free(v);
    }
    for (size_t i = 0; i < sizeof tridiag / sizeof *tridiag; i++) {
        const size_t n = tridiag[i].n, count = (size_t)ceil((double)tridiag[i].count * scale);
        double *d = uniform(n * count), *e = uniform(n * count), *w = uniform(n * count);
        if (!d || !e || !w)
            return 1;
        snprintf(name, sizeof name, "tridiag: %zu x %zu", n, count);
        start();
        stop(context, name, hot_tridiag_f64(context, NULL, n, count, d, e, n, w, n, NULL));
        free(d), free(e), free(w);
    }
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        for (int gaps = 0; gaps < 2; gaps++) { /* also columns of a wider matrix, which are not rows of a batch */
            const size_t n = products[i].n, batch = (size_t)ceil((double)products[i].batch * scale), width = n + 1;
            const size_t stride[3] = {gaps ? batch * width : n, gaps ? batch : 1, gaps ? 1 : n * n};
            double *a = uniform(batch * n * width), *b = uniform(batch * n * width), *c = uniform(batch * n * width);
            if (!a || !b || !c)
                return 1;
            snprintf(name, sizeof name, "products: %zu x %zu x %zu, %zu%s", n, n, n, batch, gaps ? ", strided" : "");
            start();
            stop(context, name, hot_contract_matrices_f64(context, NULL, n, n, n, batch, 1, a, stride, b, stride, 0, c,
                                                          stride));
            free(a), free(b), free(c);
        }
    for (size_t i = 0; i < sizeof cpd / sizeof *cpd; i++) {
        const size_t side = cpd[i].side, rank = cpd[i].rank;
        const hot_cpd_options how = {.size = sizeof how, .rank = rank, .iterations = 20, .tolerance = HOT_ZERO};
        double *x = uniform(side * side * side), *lambda = uniform(rank), *factors = uniform(3 * side * rank);
        if (!x || !lambda || !factors)
            return 1;
        snprintf(name, sizeof name, "CP decomposition: %zu^3, rank %zu", side, rank);
        start();
        stop(context, name, hot_cpd_f64(context, &how, side, side, side, x, lambda, factors, factors + side * rank,
                                        factors + 2 * side * rank, NULL));
        snprintf(name, sizeof name, "MTTKRP: %zu^3, rank %zu", side, rank);
        start();
        stop(context, name, hot_mttkrp_f64(context, 1, side, side, side, rank, x, NULL, factors + side * rank,
                                           factors + 2 * side * rank, factors));
        free(x), free(lambda), free(factors);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const int cpu = argc > 1 && strcmp(argv[1], "cpu") == 0;
    const size_t count = argc > 2 ? (size_t)atol(argv[2]) : 1000000;
    const hot_context_options settings = {.size = sizeof settings, .device = cpu ? HOT_DEVICE_CPU : HOT_DEVICE_CUDA,
                                          .stop = on_stop, .progress = on_progress};
    hot_context *context = NULL;
    if (hot_context_create(&settings, &context) != HOT_OK)
        return 1;
    printf("%s, %zu voxels\n", cpu ? "CPU" : "GPU", count);
    const int failed = time_arrays(context, (double)count / 1e6) || time_voxels(context, count);
    hot_context_destroy(&context);
    return failed;
}
