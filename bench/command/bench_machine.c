/* hotfiber bench machine: peak arithmetic and memory bandwidth of this machine, which the other benchmarks compare
 * with.
 */
#include "bench.h"
#include "common/entry.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Chains of dependent FMAs: enough of them at once to fill two units of latency 4. */
enum { CHAINS = 12, STEPS = 1 << 15 };

typedef double (*fma_loop)(int steps);

/* Each loop makes steps * CHAINS vector FMAs and returns something that depends on all of them. */
#define FMA_LOOP(NAME, TARGET, VECTOR, SET, FMA, ADD, STORE, ELEMENT, LANES) \
    TARGET static double NAME(int steps)                                     \
    {                                                                        \
        VECTOR sum[CHAINS], factor = SET(.999f), term = SET(.001f);          \
        for (int c = 0; c < CHAINS; c++)                                     \
            sum[c] = SET((ELEMENT)(c + 1));                                  \
        for (int s = 0; s < steps; s++) {                                    \
            _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++)        \
                sum[c] = FMA(sum[c], factor, term);                          \
        }                                                                    \
        for (int c = 1; c < CHAINS; c++)                                     \
            sum[0] = ADD(sum[0], sum[c]);                                    \
        ELEMENT lanes[LANES];                                                \
        STORE(lanes, sum[0]);                                                \
        return (double)lanes[0];                                             \
    }

#if defined(__x86_64__)
#define AVX512 __attribute__((target("avx512f")))
#define AVX2 __attribute__((target("avx2,fma")))
FMA_LOOP(fma_f32_avx512, AVX512, __m512, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_add_ps, _mm512_storeu_ps, float, 16)
FMA_LOOP(fma_f64_avx512, AVX512, __m512d, _mm512_set1_pd, _mm512_fmadd_pd, _mm512_add_pd, _mm512_storeu_pd, double, 8)
FMA_LOOP(fma_f32_avx2, AVX2, __m256, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_add_ps, _mm256_storeu_ps, float, 8)
FMA_LOOP(fma_f64_avx2, AVX2, __m256d, _mm256_set1_pd, _mm256_fmadd_pd, _mm256_add_pd, _mm256_storeu_pd, double, 4)
#endif
#define SCALAR_SET(x) (x)
#define SCALAR_FMA(a, b, c) ((a) * (b) + (c))
#define SCALAR_ADD(a, b) ((a) + (b))
#define SCALAR_STORE(to, x) ((to)[0] = (x))
FMA_LOOP(fma_f32_plain, , float, SCALAR_SET, SCALAR_FMA, SCALAR_ADD, SCALAR_STORE, float, 1)
FMA_LOOP(fma_f64_plain, , double, SCALAR_SET, SCALAR_FMA, SCALAR_ADD, SCALAR_STORE, double, 1)

static fma_loop choose_loop(int precision, int *lanes)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        *lanes = precision == 32 ? 16 : 8;
        return precision == 32 ? fma_f32_avx512 : fma_f64_avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        *lanes = precision == 32 ? 8 : 4;
        return precision == 32 ? fma_f32_avx2 : fma_f64_avx2;
    }
#endif
    *lanes = 1;
    return precision == 32 ? fma_f32_plain : fma_f64_plain;
}

/* The best of several tries of some milliseconds: a peak is what the machine can do, not what it does on average. */
static double measure_peak(int precision, int threads)
{
    int lanes;
    fma_loop loop = choose_loop(precision, &lanes);
    volatile double sink = 0;
    double best = 0;
    for (int attempt = 0; attempt < 20; attempt++) {
        double total = 0, begin = bench_now();
#pragma omp parallel for num_threads(hot_team(threads)) reduction(+ : total)
        for (int t = 0; t < threads; t++)
            for (int again = 0; again < 16; again++)
                total += loop(STEPS);
        double rate = 2.0 * lanes * CHAINS * STEPS * 16 * threads / (bench_now() - begin);
        sink += total;
        if (rate > best)
            best = rate;
    }
    (void)sink; /* computed all the same */
    return best;
}

/* Measured once for a number of threads. */
static double known_peak(int precision, int threads)
{
    static double known[2];
    static int for_threads[2];
    const int which = precision == 64;
    if (for_threads[which] != threads)
        known[which] = measure_peak(precision, threads), for_threads[which] = threads;
    return known[which];
}

double bench_peak_f32(int threads) { return known_peak(32, threads); }
double bench_peak_f64(int threads) { return known_peak(64, threads); }

double bench_copy_bandwidth(int threads)
{
    static double known;
    static int for_threads;
    const size_t bytes = (size_t)256 << 20, part = bytes / (size_t)threads;
    if (for_threads == threads)
        return known;
    char *from = malloc(bytes), *to = malloc(bytes);
    known = 0;
    for (int attempt = 0; from && to && attempt < 6; attempt++) {
        double begin = bench_now();
#pragma omp parallel for num_threads(hot_team(threads))
        for (int t = 0; t < threads; t++) {
            if (attempt == 0) /* pages are touched by the thread that uses them */
                memset(from + part * (size_t)t, 1, part);
            memcpy(to + part * (size_t)t, from + part * (size_t)t, part);
        }
        double rate = 2.0 * (double)(part * (size_t)threads) / (bench_now() - begin);
        if (attempt > 0 && rate > known)
            known = rate;
    }
    free(from);
    free(to);
    for_threads = threads;
    return known;
}

const char *bench_processor(void)
{
    static char name[128];
    if (name[0])
        return name;
    snprintf(name, sizeof name, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            colon += strspn(colon, ": \t");
            colon[strcspn(colon, "\n")] = '\0';
            snprintf(name, sizeof name, "%.120s", colon);
            break;
        }
    }
    if (file)
        fclose(file);
    return name;
}

static hot_status run_machine(hot_context *context, const bench_options *options, bench_report *report)
{
    (void)options;
    int threads = hot_context_threads(context);
    bench_note(bench_add(report, "FMA, single precision", "cpu"), "GFLOP/s", 1e-9 * bench_peak_f32(threads));
    bench_note(bench_add(report, "FMA, double precision", "cpu"), "GFLOP/s", 1e-9 * bench_peak_f64(threads));
    bench_note(bench_add(report, "copy of 256 MiB, read + write", "cpu"), "GB/s", 1e-9 * bench_copy_bandwidth(threads));
    return HOT_OK;
}

const bench_entry bench_machine = {"machine", "peak arithmetic and memory bandwidth of this machine",
                                   run_machine};
