/* hot_backend_run when the GPU fails: with --device auto the CPU does the whole job and prints a note; with --device
 * cuda the caller gets the error. The GPU here is a function of this test that fails on demand, so no GPU is needed. On
 * a machine without one, the real families, made to expect a GPU, fail in CUDA's own calls. */
#include "check.h"

#include "common/backend.h"
#include "common/context_internal.h"
#include <hotfiber/denoise.h>
#include <hotfiber/directions.h>
#include <hotfiber/sshopm.h>

enum { COUNT = 1000 };

/* The job: out[i] = i + 1. The "GPU" fails with `failure` when it has written `good` values, and leaves rubbish
 * behind. */
typedef struct job {
    int out[COUNT];
    size_t good;
    hot_status failure;
    int gpu_calls, cpu_calls;
} job;

static hot_status on_gpu(hot_context *context, void *argument)
{
    job *self = argument;
    self->gpu_calls++;
    for (size_t i = 0; i < COUNT; i++)
        self->out[i] = i < self->good ? (int)i + 1 : -7;
    return self->failure == HOT_OK ? HOT_OK
                                   : hot_context_fail(context, self->failure, "GPU: it broke at %zu", self->good);
}

static hot_status on_cpu(hot_context *context, void *argument)
{
    job *self = argument;
    (void)context;
    self->cpu_calls++;
    for (size_t i = 0; i < COUNT; i++)
        self->out[i] = (int)i + 1;
    return HOT_OK;
}

typedef struct said {
    int warnings, notes;
    char last[200];
} said;

static void hear(void *user, hot_log_level level, const char *line)
{
    said *self = user;
    *(level == HOT_LOG_WARNING ? &self->warnings : &self->notes) += 1;
    snprintf(self->last, sizeof self->last, "%s", line);
    CHECK(strchr(line, '\n') == NULL, "one line: %s", line);
}

static hot_context *make(hot_device device, int gpus, said *log)
{
    const hot_context_options settings = {.size = sizeof settings, .device = device, .device_number = -1, .threads = 1,
                                          .log = hear, .log_user = log};
    hot_context *context = NULL;
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "no context");
    hot_context_override_gpu_count(context, gpus);
    return context;
}

static int complete(const job *self)
{
    for (size_t i = 0; i < COUNT; i++)
        if (self->out[i] != (int)i + 1)
            return 0;
    return 1;
}

static const hot_backends table = {"test", NULL, on_cpu, on_gpu, 0}, no_cuda = {"test", NULL, on_cpu, NULL, 0};

/* Out of memory at the start, and broken in the middle. */
static void check_broken(void)
{
    static const struct { hot_status status; size_t good;
    } cases[] = {
        {HOT_ERROR_MEMORY, 0}, {HOT_ERROR_DEVICE, 0}, {HOT_ERROR_DEVICE, COUNT / 2}, {HOT_ERROR_DEVICE, COUNT}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        said log = {0};
        job work = {.failure = cases[k].status, .good = cases[k].good};
        hot_context *context = make(HOT_DEVICE_AUTO, 1, &log);
        for (int call = 0; call < 3; call++) {
            memset(work.out, 0x55, sizeof work.out);
            CHECK(hot_backend_run(context, &table, &work) == HOT_OK, "case %zu: %s", k, hot_context_message(context));
            CHECK(complete(&work), "case %zu: the result is not complete", k);
        }
        CHECK(work.gpu_calls > 0 && work.cpu_calls == 3, "case %zu: GPU %d times, CPU %d", k, work.gpu_calls,
              work.cpu_calls);
        CHECK(log.warnings == 1 && log.notes == 0, "case %zu: %d warnings, %d notes for three calls", k, log.warnings,
              log.notes);
        CHECK(strstr(log.last, "GPU") && strstr(log.last, "CPU") && strstr(log.last, "it broke"), "case %zu: says '%s'",
              k, log.last);
        CHECK(hot_context_device_used(context) == HOT_DEVICE_CPU, "case %zu: reported as computed by the GPU", k);
        hot_context_destroy(&context);

        /* selected by name: an error, and no other backend is tried */
        said quiet = {0};
        work.cpu_calls = 0;
        context = make(HOT_DEVICE_CUDA, 1, &quiet);
        CHECK(hot_backend_run(context, &table, &work) == cases[k].status, "case %zu: not the GPU's status", k);
        CHECK(strstr(hot_context_message(context), "it broke"), "case %zu: message '%s'", k,
              hot_context_message(context));
        CHECK(work.cpu_calls == 0 && quiet.warnings + quiet.notes == 0, "case %zu: the CPU was used", k);
        hot_context_destroy(&context);
    }
}

static void check_others(void)
{
    said log = {0};
    job work = {.good = COUNT};
    hot_context *context = make(HOT_DEVICE_AUTO, 1, &log);
    CHECK(hot_backend_run(context, &table, &work) == HOT_OK && complete(&work) && work.cpu_calls == 0,
          "a GPU that works");
    CHECK(log.warnings + log.notes == 0 && hot_context_device_used(context) == HOT_DEVICE_CUDA, "says '%s'", log.last);
    /* Cancelled, or a wrong argument: no failure of the GPU's. */
    for (int k = 0; k < 2; k++) {
        work.failure = k ? HOT_ERROR_ARGUMENT : HOT_ERROR_CANCELLED;
        CHECK(hot_backend_run(context, &table, &work) == work.failure && work.cpu_calls == 0 && log.warnings == 0,
              "status %d went to the CPU", (int)work.failure);
    }
    hot_context_destroy(&context);

    memset(&log, 0, sizeof log);
    context = make(HOT_DEVICE_AUTO, 0, &log);
    for (int call = 0; call < 2; call++)
        CHECK(hot_backend_run(context, &table, &work) == HOT_OK && complete(&work), "no GPU");
    CHECK(log.notes == 1 && log.warnings == 0, "no GPU: %d notes, %d warnings for two calls", log.notes, log.warnings);
    hot_context_destroy(&context);

    context = make(HOT_DEVICE_CUDA, 0, &log);
    CHECK(hot_backend_run(context, &table, &work) == HOT_ERROR_DEVICE, "a missing GPU");
    hot_context_destroy(&context);
    context = make(HOT_DEVICE_CUDA, 1, &log);
    CHECK(hot_backend_run(context, &no_cuda, &work) == HOT_ERROR_DEVICE, "a family without CUDA");
    hot_context_destroy(&context);
}

/* Directions and SS-HOPM made to expect a GPU: CUDA's calls fail without a GPU and work with one; the results are the
 * CPU's either way, and complete. */
static void check_families(void)
{
    enum { TENSORS = 300, STARTS = 5 };
    static float tensors[TENSORS * 15], directions[2][TENSORS * 9], by_starts[2][TENSORS * 9];
    static float lambda[2][TENSORS * STARTS];
    uint8_t found[2][TENSORS], found_by_starts[2][TENSORS];
    double wide[STARTS * 3];
    float starts[STARTS * 3];
    uint64_t seed = 3;
    for (size_t i = 0; i < TENSORS * 15; i++)
        tensors[i] = (float)check_random_normal(&seed) + (i % 15 == 0 ? 3 : 0);
    hot_starts_even(STARTS, wide);
    for (size_t i = 0; i < STARTS * 3; i++)
        starts[i] = (float)wide[i];
    memset(found, 77, sizeof found);
    memset(directions, 0x55, sizeof directions);
    memset(found_by_starts, 77, sizeof found_by_starts);
    memset(by_starts, 0x55, sizeof by_starts);
    memset(lambda, 0x55, sizeof lambda);
    const hot_sshopm_options options = {.size = sizeof options, .tolerance = 1e-6};
    const hot_directions_options many = {.size = sizeof many, .starts = 64};
    for (int k = 0; k < 2; k++) {
        said log = {0};
        hot_context *context = make(k ? HOT_DEVICE_AUTO : HOT_DEVICE_CPU, k ? 1 : -1, &log);
        CHECK(hot_directions_f32(context, NULL, 4, TENSORS, tensors, 15, NULL, directions[k], found[k]) == HOT_OK, "%s",
              hot_context_message(context));
        CHECK(hot_directions_f32(context, &many, 4, TENSORS, tensors, 15, NULL, by_starts[k], found_by_starts[k]) ==
                  HOT_OK, "%s", hot_context_message(context));
        CHECK(hot_sshopm_f32(context, &options, 4, 3, TENSORS, tensors, 15, STARTS, starts, lambda[k], NULL, NULL,
                             NULL) == HOT_OK,
              "%s", hot_context_message(context));
        if (k && hot_cuda_count() == 0)
            CHECK(log.warnings + log.notes == 1, "%d warnings and %d notes for three calls, the last '%s'",
                  log.warnings, log.notes, log.last);
        hot_context_destroy(&context);
    }
    size_t apart = 0;
    for (size_t i = 0; i < TENSORS; i++) {
        CHECK(found[1][i] == found[0][i], "tensor %zu: %d directions, %d on the CPU", i, found[1][i], found[0][i]);
        CHECK(found_by_starts[1][i] == found_by_starts[0][i], "tensor %zu by starts: %d directions, %d on the CPU", i,
              found_by_starts[1][i], found_by_starts[0][i]);
        for (size_t d = 0; d < 9; d++) {
            CHECK_NEAR(directions[1][9 * i + d], directions[0][9 * i + d], 1e-3, "direction of tensor %zu", i);
            CHECK_NEAR(by_starts[1][9 * i + d], by_starts[0][9 * i + d], 1e-3, "direction of tensor %zu by starts", i);
        }
        for (size_t s = 0; s < STARTS; s++)
            apart += !(fabsf(lambda[1][i * STARTS + s] - lambda[0][i * STARTS + s]) <= 1e-4f);
    }
    CHECK(apart <= TENSORS * STARTS / 100, "%zu of %d limits are not the CPU's", apart, TENSORS * STARTS);
}

/* Denoising sums over windows in the caller's memory: no contribution of a failed GPU remains there. */
static void check_denoise(void)
{
    enum { VOLUMES = 9, VOXELS = 8 * 7 * 6 };
    const size_t size[3] = {8, 7, 6};
    static float signals[VOXELS * VOLUMES], denoised[2][VOXELS * VOLUMES], noise[2][VOXELS];
    uint64_t seed = 4;
    for (size_t i = 0; i < VOXELS * VOLUMES; i++)
        signals[i] = 100 * (float)(i % VOLUMES) + (float)check_random_normal(&seed);
    for (int k = 0; k < 2; k++) {
        said log = {0};
        hot_context *context = make(k ? HOT_DEVICE_AUTO : HOT_DEVICE_CPU, k ? 1 : -1, &log);
        memset(denoised[k], 0x55, sizeof denoised[k]);
        memset(noise[k], 0x55, sizeof noise[k]);
        CHECK(hot_denoise_f32(context, NULL, size, VOLUMES, signals, NULL, denoised[k], noise[k]) == HOT_OK, "%s",
              hot_context_message(context));
        if (k && hot_cuda_count() == 0)
            CHECK(log.warnings + log.notes == 1, "%d warnings and %d notes, the last '%s'", log.warnings, log.notes,
                  log.last);
        hot_context_destroy(&context);
    }
    for (size_t i = 0; i < VOXELS * VOLUMES; i++)
        CHECK_NEAR(denoised[1][i], denoised[0][i], 1e-2, "signal %zu", i);
    for (size_t i = 0; i < VOXELS; i++)
        CHECK_NEAR(noise[1][i], noise[0][i], 1e-4, "noise of voxel %zu", i);
}

int main(void)
{
    check_broken();
    check_others();
    check_families();
    check_denoise();
    HOT_TEST_END();
}
