/* The promises of heev.h for matrices that threads share: bits, memory, cancelling, magnitudes. */
#include <math.h>

#include <hotfiber/heev.h>

#include "threads.h"

enum { N = 530 };

static hot_status call(hot_context *context, int f64, int is_complex, size_t n, size_t count, const void *a, void *w,
                       void *v)
{
    if (f64)
        return is_complex ? hot_heev_f64(context, NULL, n, count, a, w, v, NULL)
                          : hot_syev_f64(context, NULL, n, count, a, w, v, NULL);
    return is_complex ? hot_heev_f32(context, NULL, n, count, a, w, v, NULL)
                      : hot_syev_f32(context, NULL, n, count, a, w, v, NULL);
}

/* Random numbers; only a triangle of them is read, and no imaginary part of a diagonal. */
static void *make(int f64, size_t numbers)
{
    uint64_t state = 11;
    char *a = malloc(numbers * (f64 ? sizeof(double) : sizeof(float)));
    for (size_t k = 0; k < numbers; k++) {
        const double x = check_random_normal(&state);
        if (f64)
            ((double *)(void *)a)[k] = x;
        else
            ((float *)(void *)a)[k] = (float)x;
    }
    return a;
}

/* ---- Bits ------------------------------------------------------------------------------------------------------- */

static struct {
    int f64, is_complex;
    size_t count;
    void *a;
} job;

static hot_status run_job(hot_context *context, void *out)
{
    const size_t values = job.count * N * (job.f64 ? sizeof(double) : sizeof(float));
    return call(context, job.f64, job.is_complex, N, job.count, job.a, out, (char *)out + values);
}

static void test_bits(void)
{
    for (int type = 0; type < 4; type++) {
        job.f64 = type / 2, job.is_complex = type % 2;
        job.count = type == 3 ? 2 : 1; /* with three threads fewer matrices than threads, with one not */
        const size_t real = job.f64 ? sizeof(double) : sizeof(float), parts = job.is_complex ? 2 : 1;
        job.a = make(job.f64, job.count * N * N * parts);
        check_threads("large matrices", run_job, job.count * N * real * (1 + N * parts));
        free(job.a);
    }
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

static size_t bytes_held, most_bytes;

static void *measured_allocate(void *user, size_t bytes)
{
    size_t *memory = malloc(bytes + 64); /* allocators align */
    (void)user;
    if (!memory)
        return NULL;
    memory[0] = bytes;
    bytes_held += bytes;
    most_bytes = bytes_held > most_bytes ? bytes_held : most_bytes;
    return (char *)memory + 64;
}

static void measured_release(void *user, void *memory)
{
    (void)user;
    if (!memory)
        return;
    size_t *begin = (size_t *)(void *)((char *)memory - 64);
    bytes_held -= begin[0];
    free(begin);
}

static size_t memory_of(int threads, int f64, int is_complex, size_t n, size_t count, const void *a, void *w, void *v)
{
    const hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = threads,
                                         .allocate = measured_allocate, .release = measured_release};
    hot_context *context = NULL;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "a context");
    const size_t before = most_bytes = bytes_held;
    CHECK(call(context, f64, is_complex, n, count, a, w, v) == HOT_OK, "%s", hot_context_message(context));
    hot_context_destroy(&context);
    return most_bytes - before;
}

static void test_memory(void)
{
    enum { LARGE = 700, SMALL = 500, COUNT = 2 };
    for (int type = 0; type < 4; type++) {
        const int f64 = type / 2, is_complex = type % 2;
        const size_t parts = is_complex ? 2 : 1, matrix = (size_t)LARGE * LARGE * parts * (f64 ? 8 : 4);
        void *a = make(f64, COUNT * LARGE * LARGE * parts);
        double *w = malloc(COUNT * LARGE * sizeof *w);
        void *v = malloc(COUNT * matrix);
        const double allowed = is_complex ? 2.5 : 3.5; /* vectors of length n besides */
        const size_t one = memory_of(1, f64, is_complex, LARGE, COUNT, a, w, v);
        const size_t shared = memory_of(3, f64, is_complex, LARGE, COUNT, a, w, v);
        const size_t both = memory_of(2, f64, is_complex, LARGE, COUNT, a, w, v);
        CHECK((double)one <= allowed * (double)matrix, "type %d: %.2f matrices", type, (double)one / (double)matrix);
        CHECK((double)shared <= (allowed + .5) * (double)matrix, "type %d: %.2f matrices for three threads", type,
              (double)shared / (double)matrix);
        CHECK((double)both <= 2 * allowed * (double)matrix && both > one, "type %d: %.2f matrices for two", type,
              (double)both / (double)matrix);
        const size_t small = memory_of(1, f64, is_complex, SMALL, 1, a, w, v);
        CHECK(small < 13 * sizeof(double) * SMALL * SMALL, "%.2f n^2 numbers", (double)small / 8 / SMALL / SMALL);
        free(a), free(w), free(v);
    }
}

/* ---- Cancelling ------------------------------------------------------------------------------------------------- */

static long checks, cancel_after;

static int stop(void *user)
{
    (void)user;
    return __atomic_add_fetch(&checks, 1, __ATOMIC_RELAXED) > __atomic_load_n(&cancel_after, __ATOMIC_RELAXED);
}

static hot_status cancelled(const double *a, double *w, double *v, long after)
{
    const hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = 2, .stop = stop,
                                         .allocate = counted_allocate, .release = counted_release};
    hot_context *context = NULL;
    checks = 0, cancel_after = after;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "a context");
    const hot_status status = call(context, 1, 0, N, 1, a, w, v);
    hot_context_destroy(&context);
    return status;
}

/* A call is asked in every stage, and ends wherever the answer is yes: in the reduction (a check per panel), divide and
 * conquer (per root and per block of columns), back-transformation (per block). */
static void test_cancelling(void)
{
    double *a = make(1, N * N), *w = malloc(N * sizeof *w), *v = malloc(N * N * sizeof *v);
    CHECK(cancelled(a, w, v, 1000000) == HOT_OK, "not cancelled");
    const long all = checks;
    CHECK(all > 1000, "%ld checks", all); /* 530 roots, five levels ... */
    CHECK(cancelled(a, w, NULL, 1000000) == HOT_OK && checks > (N - 128) / 32, "%ld checks without vectors", checks);
    for (long after = 0; after < all; after += after < 40 ? 10 : all / 10)
        CHECK(cancelled(a, w, v, after) == HOT_ERROR_CANCELLED, "cancelled after %ld of %ld checks", after, all);
    CHECK(cancelled(a, w, v, all - 3) == HOT_ERROR_CANCELLED, "cancelled in the back-transformation");
    free(a), free(w), free(v);
}

/* ---- Magnitudes ------------------------------------------------------------------------------------------------- */

static void test_magnitudes(hot_context *context)
{
    double *a = make(1, N * N), *b = malloc(N * N * sizeof *b), *w = malloc(2 * N * sizeof *w);
    double *v = malloc(N * N * sizeof *v);
    static const int powers[] = {1010, -990};
    CHECK(call(context, 1, 0, N, 1, a, w, v) == HOT_OK, "%s", hot_context_message(context));
    const double norm = fmax(-w[0], w[N - 1]);
    for (int p = 0; p < 2; p++) { /* near 1e304 and 1e-298 */
        for (size_t k = 0; k < N * N; k++)
            b[k] = ldexp(a[k], powers[p]);
        CHECK(call(context, 1, 0, N, 1, b, w + N, v) == HOT_OK, "%s", hot_context_message(context));
        for (int k = 0; k < N; k++)
            CHECK(fabs(ldexp(w[N + k], -powers[p]) - w[k]) <= 1e-13 * norm, "2^%d: eigenvalue %d is %g, not %g",
                  powers[p], k, ldexp(w[N + k], -powers[p]), w[k]);
    }
    free(a), free(b), free(w), free(v);
}

int main(void)
{
    hot_context *context = context_of(2);
    test_bits();
    test_memory();
    test_cancelling();
    test_magnitudes(context);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
