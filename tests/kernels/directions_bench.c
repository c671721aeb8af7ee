/* Benchmarks of directions: by scan and by many starts, one GPU, several, and the CPU. */
#include "directions_cases.h"

#include "common/backend.h"
#include "common/context_internal.h"
#include "bench/kernels/directions_measure.h"

/* Whether --only selects a benchmark, or for its part "NAME, order N". */
static int wanted_order(const check_run *run, const char *name, int order)
{
    char what[40];
    snprintf(what, sizeof what, "%s, order %d", name, order);
    return check_wanted(run, what);
}

/* The kernels alone, data on the GPU. */
static void time_device(check_run *run, const hot_directions_options *options, int order, size_t count,
                        const float *tensors, size_t stride, float *directions, uint8_t *found, const char *kind)
{
    hot_directions_args plan;
    double milliseconds;
    char what[80];
    if (!check_call(run, hot_directions_resolve(run->context, options, order, count, tensors, stride, NULL, directions,
                                                found, &plan)) ||
        !check_call(run, hot_directions_cuda_time(run->context, &plan, 21, &milliseconds)))
        return;
    snprintf(what, sizeof what, "order %d, %s, on the device", order, kind);
    check_report(run, what, 1e-3 * milliseconds, (double)count, "");
}

static double time_call(check_run *run, const hot_directions_options *options, int order, size_t count,
                        const float *tensors, size_t stride, float *directions, uint8_t *found)
{
    double best = INFINITY;
    const double begin = check_now();
    do {
        const double start = check_now();
        if (!check_call(run, hot_directions_f32(run->context, options, order, count, tensors, stride, NULL, directions,
                                                found)))
            break;
        best = fmin(best, check_now() - start);
    } while (check_now() - begin < run->seconds);
    return best;
}

static const hot_directions_options unshifted = {.size = sizeof unshifted, .starts = 128, .shift = HOT_SHIFT_NONE};
static const hot_directions_options adaptive = {.size = sizeof adaptive, .starts = 128, .shift = HOT_SHIFT_ADAPTIVE};

enum { MILLIONS = 1 << 24 };

/* Each of `gpus` takes its share, already there: the longest time of any, all at work at once. */
static double time_shares(check_run *run, const hot_directions_options *options, int gpus, int order,
                          const float *tensors, size_t stride, float *directions, uint8_t *found)
{
    const size_t share = MILLIONS / (size_t)gpus;
    double longest = 0;
#pragma omp parallel for num_threads(gpus) schedule(static, 1) reduction(max : longest)
    for (int g = 0; g < gpus; g++) {
        const size_t from = share * (size_t)g;
        const hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CUDA, .device_number = g};
        hot_context *context = NULL;
        hot_directions_args plan;
        double milliseconds = INFINITY;
        if (hot_context_create(&settings, &context) == HOT_OK && hot_cuda_select(context, g) == HOT_OK &&
            hot_directions_resolve(context, options, order, share, tensors + from * stride, stride, NULL,
                                   directions + from * 9, found + from, &plan) == HOT_OK)
            hot_directions_cuda_time(context, &plan, 3, &milliseconds);
        hot_context_destroy(&context);
        longest = fmax(longest, 1e-3 * milliseconds);
    }
    if (!isfinite(longest))
        check_fail(run, 0, "order %d: %d GPUs could not be timed", order, gpus);
    return longest;
}

/* 16 million tensors on one GPU and on more of them, from host memory and back, and with each GPU's share already
 * there: how they divide the work. Results must be the same to the last bit. */
static void bench_gpus(check_run *run, int order, const hot_directions_options *options, const char *name,
                       const float *tensors, float *const out[2], uint8_t *const found[2])
{
    const size_t stride = hot_symtensor_count(order, 3), row = 9;
    const int most = hot_cuda_count();
    double one = 0, one_there = 0;
    for (int gpus = 1; gpus <= most; gpus *= 2) {
        const hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CUDA, .device_number = -1};
        const int which = gpus > 1;
        check_run own = *run;
        char what[96], note[64];
        if (hot_context_create(&settings, &own.context) != HOT_OK)
            return;
        hot_context_override_gpu_count(own.context, gpus);
#pragma omp parallel for
        for (size_t i = 0; i < MILLIONS; i++)
            memset(out[which] + i * row, 0x55, row * sizeof(float));
        own.seconds = 0;
        const double first = time_call(&own, options, order, MILLIONS, tensors, stride, out[which], found[which]);
        own.seconds = run->seconds;
        const double best = time_call(&own, options, order, MILLIONS, tensors, stride, out[which], found[which]);
        size_t differ = 0;
#pragma omp parallel for reduction(+ : differ)
        for (size_t i = 0; i < MILLIONS; i++)
            differ += memcmp(out[0] + i * row, out[which] + i * row, row * sizeof(float)) != 0 ||
                      found[0][i] != found[which][i];
        if (differ)
            check_fail(run, 0, "order %d, %s: %zu tensors differ on %d GPUs", order, name, differ, gpus);
        const double there = time_shares(run, options, gpus, order, tensors, stride, out[1], found[1]);
        one = gpus == 1 ? best : one;
        one_there = gpus == 1 ? there : one_there;
        snprintf(what, sizeof what, "order %d, %s, %d GPUs, from the host", order, name, gpus);
        snprintf(note, sizeof note, "%.2f x; first call %.1f ms", one / best, 1e3 * first);
        check_report(run, what, best, MILLIONS, note);
        snprintf(what, sizeof what, "order %d, %s, %d GPUs, data there", order, name, gpus);
        snprintf(note, sizeof note, "%.2f x", one_there / there);
        check_report(run, what, there, MILLIONS, note);
        hot_context_destroy(&own.context);
    }
}

/* The tensors are a few, repeated: what a tensor costs does not depend on that. */
static void bench_all_gpus(check_run *run)
{
    enum { MADE = 1 << 16, MOST = 45 };
    float *tensors = malloc((size_t)MILLIONS * MOST * sizeof *tensors);
    float *out[2] = {malloc((size_t)MILLIONS * 9 * sizeof **out), malloc((size_t)MILLIONS * 9 * sizeof **out)};
    uint8_t *found[2] = {malloc(MILLIONS), malloc(MILLIONS)};
    check_call(run, hot_cuda_init(run->context, -1)); /* starting the driver is not counted */
    for (int order = 4; order <= 8; order += 2) {
        if (!wanted_order(run, "GPUs", order))
            continue;
        const form_basis basis = form_basis_make(order);
        float *some = malloc(MADE * basis.terms * sizeof *some);
        for (size_t i = 0; i < MADE; i++) {
            double tensor[FORM_TERMS] = {0};
            form_crossing(&basis, i, 0.03, &run->seed, tensor);
            for (size_t k = 0; k < basis.terms; k++)
                some[i * basis.terms + k] = (float)tensor[k];
        }
#pragma omp parallel for
        for (size_t i = 0; i < MILLIONS; i++)
            memcpy(tensors + i * basis.terms, some + i % MADE * basis.terms, basis.terms * sizeof *some);
        free(some);
        bench_gpus(run, order, &usual, "scan", tensors, out, found);
        bench_gpus(run, order, &unshifted, "128 starts", tensors, out, found);
    }
    free(tensors);
    for (int k = 0; k < 2; k++) {
        FREE(out[k], found[k]);
    }
}

void bench_directions(check_run *run)
{
    if (run->cuda && (run->only ? strncmp(run->only, "GPUs", 4) == 0 : hot_cuda_count() > 1))
        bench_all_gpus(run);
    const size_t count = run->cuda ? 1 << 20 : 1 << 15;
    static const struct {
        const hot_directions_options *options;
        const char *name;
        int kind;
        size_t cpu_part; /* of the tensors, on the CPU */
    } jobs[] = {{&usual, "crossings, 3 % noise", 0, 1},          {&usual, "pure noise", 1, 1},
                {&usual, "isotropic", 2, 1},                     {&unshifted, "128 starts, crossings", 0, 16},
                {&unshifted, "128 starts, pure noise", 1, 16},   {&adaptive, "128 starts, adaptive", 0, 16},
                {&adaptive, "128 starts, adaptive, noise", 1, 16}};
    for (int order = 4; order <= 8; order += 2) {
        if (!wanted_order(run, "one GPU", order))
            continue;
        const form_basis basis = form_basis_make(order);
        float *rows = malloc(count * basis.terms * sizeof *rows), *out = malloc(count * 9 * sizeof *out);
        uint8_t *found = malloc(count);
        for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
            const size_t items = run->cuda ? count : count / jobs[j].cpu_part;
#pragma omp parallel for
            for (size_t i = 0; i < items; i++) {
                double tensor[FORM_TERMS] = {0};
                uint64_t seed = run->first_seed + i;
                if (jobs[j].kind == 0)
                    form_crossing(&basis, i, 0.03, &seed, tensor);
                else if (jobs[j].kind == 1)
                    form_add_noise(&basis, 1, &seed, tensor);
                else
                    form_add_sphere(&basis, 1, tensor);
                for (size_t k = 0; k < basis.terms; k++)
                    rows[i * basis.terms + k] = (float)tensor[k];
            }
            if (run->cuda)
                time_device(run, jobs[j].options, order, items, rows, basis.terms, out, found, jobs[j].name);
            char what[80];
            snprintf(what, sizeof what, "order %d, %s, %d threads", order, jobs[j].name,
                     hot_context_threads(run->context));
            check_report(run, what, time_call(run, jobs[j].options, order, items, rows, basis.terms, out, found),
                         (double)items, "");
        }
        FREE(rows, out, found);
    }
}
