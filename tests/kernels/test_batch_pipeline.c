/* Feeding GPUs from host memory (common/batch_pipeline.h), on machines without one: the file is linked with this CUDA, whose
 * GPUs are memory of the host, whose copies are done at once and whose streams say for a while that they are busy. */
#include "check.h"

#include "common/backend.h"
#include "common/context_internal.h"
#include "common/batch_pipeline.h"
#include "common/cuda_status.h"

/* ---- CUDA ------------------------------------------------------------------------------------------------------- */

enum { SUCCESS = 0, NO_MEMORY = 2, NOT_READY = 600 };

typedef struct stream {
    int busy; /* how often it is still asked in vain */
} stream;

/* Touched by one thread per GPU at once. */
static int gpus = 1;
static long alive, allocations, fail_allocation = -1; /* memory and streams; the allocation that fails */
static __thread int current;

static int get(void **memory, size_t bytes)
{
    if (__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED) == fail_allocation)
        return NO_MEMORY;
    *memory = malloc(bytes);
    memset(*memory, 0xfb, bytes);
    __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED);
    return SUCCESS;
}

static int give_back(void *memory)
{
    __atomic_fetch_sub(&alive, memory != NULL, __ATOMIC_RELAXED);
    free(memory);
    return SUCCESS;
}

#define FAKE int __attribute__((visibility("default")))
FAKE cudaMalloc(void **memory, size_t bytes);
FAKE cudaMalloc(void **memory, size_t bytes) { return get(memory, bytes); }
FAKE cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
FAKE cudaHostAlloc(void **memory, size_t bytes, unsigned flags) { return (void)flags, get(memory, bytes); }
FAKE cudaFree(void *memory);
FAKE cudaFree(void *memory) { return give_back(memory); }
FAKE cudaFreeHost(void *memory);
FAKE cudaFreeHost(void *memory) { return give_back(memory); }
FAKE cudaGetDevice(int *device);
FAKE cudaGetDevice(int *device) { return *device = current, SUCCESS; }
FAKE cudaSetDevice(int device);
FAKE cudaSetDevice(int device) { return current = device, SUCCESS; }
FAKE cudaGetLastError(void);
FAKE cudaGetLastError(void) { return SUCCESS; }
FAKE cudaStreamCreateWithFlags(stream **made, unsigned flags);
FAKE cudaStreamCreateWithFlags(stream **made, unsigned flags)
{
    const int error = cudaHostAlloc((void **)made, sizeof **made, flags);
    if (error == SUCCESS)
        (*made)->busy = 0;
    return error;
}
FAKE cudaStreamDestroy(stream *gone);
FAKE cudaStreamDestroy(stream *gone) { return give_back(gone); }
FAKE cudaStreamSynchronize(stream *waited);
FAKE cudaStreamSynchronize(stream *waited) { return waited->busy = 0, SUCCESS; }
FAKE cudaStreamQuery(stream *asked);
FAKE cudaStreamQuery(stream *asked) { return asked->busy > 0 ? (asked->busy--, NOT_READY) : SUCCESS; }
FAKE cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, stream *in);
FAKE cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, stream *in)
{
    (void)kind;
    memcpy(to, from, bytes);
    in->busy = (int)(bytes % 7);
    return SUCCESS;
}
/* what the compiler calls when such a program starts */
void **__cudaRegisterFatBinary(void *binary);
void **__cudaRegisterFatBinary(void *binary) { return (void)binary, NULL; }
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle);
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

int hot_cuda_count(void) { return gpus; }

hot_status hot_cuda_status(hot_context *context, int error, const char *what)
{
    return error == SUCCESS ? HOT_OK
                            : hot_context_fail(context, error == NO_MEMORY ? HOT_ERROR_MEMORY : HOT_ERROR_DEVICE,
                                               "CUDA, %s: %d", what, error);
}

/* ---- The job ---------------------------------------------------------------------------------------------------- */

/* Rows of five ints of which the last row has four, and bytes; out come three longs and a byte, by way of an array that
 * is on the GPU alone. */
enum { IN = 5, OUT = 3 };
static int launches, fail_launch, begun, ended;

static hot_status begin(hot_context *context, void *user, void **own)
{
    *own = user;
    (void)context;
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    return HOT_OK;
}

static void end(hot_context *context, void *user, void *own)
{
    (void)context;
    CHECK(own == user, "what begin has made");
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}

static hot_status launch(hot_context *context, void *user, void *own, size_t count, void *const *in, void *const *out,
                         void *on)
{
    const int *rows = in[0];
    const uint8_t *bytes = in[1];
    long *result = out[0];
    uint8_t *flag = out[1];
    int *between = out[3];
    (void)user, (void)own, (void)on;
    if (__atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED) == fail_launch)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "told to fail");
    for (size_t i = 0; i < count; i++) {
        between[i] = rows[IN * i];
        result[OUT * i] = 2L * between[i];
        result[OUT * i + 1] = rows[IN * i + 3];
        result[OUT * i + 2] = bytes[i];
        flag[i] = (uint8_t)rows[IN * i + 1];
    }
    return HOT_OK;
}

static int cancel_half_way(void *user, const char *stage, double fraction)
{
    (void)stage;
    return *(int *)user && fraction > 0.4;
}

static void run(hot_context *context, size_t count, size_t chunk, int failing, int *cancels)
{
    int *rows = malloc(count ? (IN * count - 1) * sizeof *rows : 1); /* one that reads beyond is seen by sanitizers */
    uint8_t *bytes = malloc(count + 1), *flags = malloc(count + 1);
    long *results = malloc((OUT * count + 1) * sizeof *results);
    for (size_t i = 0; i + 1 < IN * count; i++)
        rows[i] = (int)((unsigned)i * 2654435761u >> 3);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)i;
    memset(results, 0x55, (OUT * count + 1) * sizeof *results);
    memset(flags, 0x55, count + 1);
    const hot_batch feed = {
        .stage = "testing", .count = count, .chunk = chunk,
        .in = {{rows, IN * sizeof *rows, 4 * sizeof *rows}, {bytes, 1, 1}},
        .out = {{results, OUT * sizeof *results, OUT * sizeof *results}, {flags, 1, 1}, {0},
                {NULL, sizeof *rows, sizeof *rows}},
        .user = &fail_launch, .begin = begin, .launch = launch, .end = end};
    launches = begun = ended = 0;
    fail_launch = failing;
    const hot_status status = hot_batch_run(context, &feed);
    CHECK(begun == ended, "%d began, %d ended", begun, ended);
    if (failing >= 0 && launches > failing)
        CHECK(status == HOT_ERROR_DEVICE && strstr(hot_context_message(context), "told to fail"), "status %d: '%s'",
              (int)status, hot_context_message(context));
    else if (*cancels)
        CHECK(status == HOT_ERROR_CANCELLED, "status %d, not cancelled", (int)status);
    else if (fail_allocation >= 0 && allocations > fail_allocation)
        CHECK(status == HOT_ERROR_MEMORY, "status %d, not out of memory", (int)status);
    else
        CHECK(status == HOT_OK, "%zu by %zu: %s", count, chunk, hot_context_message(context));
    size_t wrong = 0;
    for (size_t i = 0; i < count && status == HOT_OK; i++)
        wrong += results[OUT * i] != 2L * rows[IN * i] || results[OUT * i + 1] != rows[IN * i + 3] ||
                 results[OUT * i + 2] != bytes[i] || flags[i] != (uint8_t)rows[IN * i + 1];
    CHECK(wrong == 0, "%zu of %zu are wrong, by %zu, %d GPUs, %d threads", wrong, count, chunk, gpus,
          hot_context_threads(context));
    CHECK(results[OUT * count] == 0x5555555555555555 && flags[count] == 0x55, "written beyond the end");
    free(rows);
    free(bytes);
    free(flags);
    free(results);
}

int main(void)
{
    static const size_t counts[] = {0, 1, 2, 999, 1000, 1001, 40000, 123457}, chunks[] = {100, 1000, 4096};
    for (int threads = 1; threads <= 7; threads += 2)
        for (gpus = 1; gpus <= 3; gpus++) {
            int cancels = 0;
            const hot_context_options options = {.size = sizeof options, .threads = threads, .device_number = -1,
                                                 .progress = cancel_half_way, .progress_user = &cancels};
            hot_context *context = NULL;
            if (hot_context_create(&options, &context) != HOT_OK)
                return 2;
            for (size_t k = 0; k < sizeof chunks / sizeof chunks[0]; k++)
                for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
                    if (counts[i] > 400 * chunks[k])
                        continue;
                    run(context, counts[i], chunks[k], -1, &cancels);
                    const long before = allocations; /* the second time it has everything already */
                    run(context, counts[i], chunks[k], -1, &cancels);
                    CHECK(allocations == before, "%ld further allocations", allocations - before);
                    for (int failing = 0; failing < 40; failing += 13)
                        run(context, counts[i], chunks[k], failing, &cancels);
                }
            cancels = 1;
            run(context, 40000, 1000, -1, &cancels);
            cancels = 0;
            hot_context_destroy(&context);
            CHECK(alive == 0, "%ld things are left", alive);
            for (long failing = 0; failing < 60; failing += 7) { /* memory runs short, and then suffices */
                if (hot_context_create(&options, &context) != HOT_OK)
                    return 2;
                allocations = 0;
                fail_allocation = failing;
                run(context, 40000, 1000, -1, &cancels);
                fail_allocation = -1;
                run(context, 40000, 1000, -1, &cancels);
                hot_context_destroy(&context);
                CHECK(alive == 0, "%ld things are left", alive);
            }
        }
    HOT_TEST_END();
}
