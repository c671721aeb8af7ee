/* The batch pipeline (common/batch_pipeline.h) on machines without a GPU: it is linked with the substitute for CUDA
 * below, whose GPUs are host memory, whose copies are done at once and whose streams say for a while that they are
 * busy. */
#include "check.h"

#include "common/arena.h"
#include "common/backend.h"
#include "common/batch_pipeline.h"
#include "common/context_internal.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"

/* ---- CUDA ------------------------------------------------------------------------------------------------------- */

enum { SUCCESS = 0, NO_MEMORY = 2, NOT_READY = 600, BROKEN = 719, GPUS = 3 };

typedef struct stream {
    int busy; /* so many queries say that it is not ready */
} stream;

/* Used by one thread per GPU at once. */
static int gpus = 1, never_ready, broken_gpu = -1; /* streams are never ready; the GPU that fails when it is queried */
static long alive, allocations, fail_allocation = -1; /* memory and streams; the allocation that fails */
static long busy_streams;
static __thread int current;

static void set_busy(stream *changed, int busy)
{
    __atomic_fetch_add(&busy_streams, (busy > 0) - (changed->busy > 0), __ATOMIC_RELAXED);
    changed->busy = busy;
}

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
FAKE cudaHostRegister(void *memory, size_t bytes, unsigned flags); /* so that all comes from cudaHostAlloc */
FAKE cudaHostRegister(void *memory, size_t bytes, unsigned flags)
{
    return (void)memory, (void)bytes, (void)flags, BROKEN;
}
FAKE cudaHostUnregister(void *memory);
FAKE cudaHostUnregister(void *memory) { return (void)memory, BROKEN; }
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
FAKE cudaStreamSynchronize(stream *waited) { return set_busy(waited, 0), SUCCESS; }
FAKE cudaStreamQuery(stream *asked);
FAKE cudaStreamQuery(stream *asked)
{
    if (current == broken_gpu)
        return BROKEN;
    if (asked->busy == 0)
        return SUCCESS;
    if (!never_ready)
        set_busy(asked, asked->busy - 1);
    return NOT_READY;
}
FAKE cudaMemGetInfo(size_t *available, size_t *total);
FAKE cudaMemGetInfo(size_t *available, size_t *total) { return *available = *total = 12 << 20, SUCCESS; }
FAKE cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, stream *in);
FAKE cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, stream *in)
{
    (void)kind;
    memcpy(to, from, bytes);
    set_busy(in, never_ready ? 1 : (int)(bytes % 7));
    return SUCCESS;
}
FAKE cudaMemcpy2DAsync(void *to, size_t pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                       int kind, stream *in);
FAKE cudaMemcpy2DAsync(void *to, size_t pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                       int kind, stream *in)
{
    (void)kind, (void)in;
    for (size_t row = 0; row < height; row++)
        memcpy((char *)to + row * pitch, (const char *)from + row * from_pitch, width);
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

/* common/device_memory.cu: one array is where it should not be, all others are right. */
enum { BUDGET = 1 << 20 };
static uint8_t elsewhere[16];

hot_status hot_device_alloc(hot_context *context, size_t bytes, void **device, const char *what)
{
    *device = NULL;
    return hot_cuda_status(context, get(device, bytes), what);
}
void hot_device_release(hot_context *context, void *device) { (void)context, give_back(device); }
size_t hot_device_budget(const hot_context *context) { return (void)context, BUDGET; }
hot_status hot_device_check(hot_context *context, const char *name, const void *array)
{
    return array != elsewhere ? HOT_OK : hot_context_fail(context, HOT_ERROR_ARGUMENT, "%s is elsewhere", name);
}

/* ---- A batch ---------------------------------------------------------------------------------------------------- */

/* In: rows of four ints at a distance of five, and bytes. Out: rows of three longs at a distance of four, and more
 * arrays of a byte each than a family has, by way of scratch memory. */
enum { IN = 4, IN_STRIDE = 5, OUT = 3, OUT_STRIDE = 4, FLAGS = HOT_BATCH_ARRAYS - 1 };

typedef struct batch_test {
    size_t count, chunk, more_scratch;
    int fail_launch, fail_begin;         /* the launch and the begin that fail, by number; -1: none */
    int launches, begun, ended;
    stream *streams[GPUS][HOT_BATCH_SLOTS]; /* of the slots */
    int used[GPUS];                      /* launches on each GPU */
    const long *results;                 /* of the caller */
    size_t done;                         /* items whose results are reported as complete */
} batch_test;

static void note_done(void *user, size_t items)
{
    batch_test *test = user;
    size_t missing = 0;
    CHECK(items > test->done && items <= test->count, "%zu items are done after %zu", items, test->done);
    for (size_t i = test->done; i < items && i < test->count; i++)
        missing += test->results[OUT_STRIDE * i + 2] != (long)i;
    CHECK(missing == 0, "%zu results of %zu items are not there", missing, items);
    test->done = items;
}

static hot_status begin(hot_context *context, void *user, void **workspace)
{
    batch_test *test = user;
    if (__atomic_fetch_add(&test->begun, 1, __ATOMIC_RELAXED) == test->fail_begin) {
        __atomic_fetch_sub(&test->begun, 1, __ATOMIC_RELAXED);
        return hot_context_fail(context, HOT_ERROR_DEVICE, "told to fail");
    }
    *workspace = &test->used[current];
    return HOT_OK;
}

static void end(hot_context *context, void *user, void *workspace)
{
    batch_test *test = user;
    (void)context;
    CHECK(workspace == &test->used[current], "the workspace of begin");
    __atomic_fetch_add(&test->ended, 1, __ATOMIC_RELAXED);
}

/* Overwrites scratch memory at the start of a launch. */
static void divide_scratch(size_t count, hot_arena *arena, int **first, uint8_t **second)
{
    *first = hot_arena_alloc(arena, count * sizeof **first);
    *second = hot_arena_alloc(arena, count);
}

static hot_status launch(hot_context *context, void *user, void *workspace, const hot_batch_chunk *chunk)
{
    batch_test *test = user;
    const int *rows = chunk->in[0];
    const uint8_t *bytes = chunk->in[1];
    long *result = chunk->out[0];
    hot_arena arena = {chunk->scratch, 0};
    int *between;
    uint8_t *copies;
    ++*(int *)workspace;
    if (__atomic_fetch_add(&test->launches, 1, __ATOMIC_RELAXED) == test->fail_launch)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "told to fail");
    stream **of_slot = &test->streams[current][chunk->slot];
    CHECK(*of_slot == NULL || *of_slot == chunk->stream, "a slot has one stream");
    *of_slot = chunk->stream;
    CHECK(chunk->first % test->chunk == 0 && chunk->count > 0 && chunk->first + chunk->count <= test->count &&
              (chunk->count == test->chunk || chunk->first + chunk->count == test->count),
          "%zu items from %zu on", chunk->count, chunk->first);
    CHECK(!chunk->in[2] && !chunk->in[HOT_BATCH_ARRAYS - 1], "arrays that there are not");
    for (int k = 0; k < HOT_BATCH_ARRAYS; k++)
        CHECK((uintptr_t)chunk->out[k] % 16 == 0 && chunk->out[k], "output %d", k); /* as malloc aligns */
    divide_scratch(chunk->count, &arena, &between, &copies);
    for (size_t i = 0; i < chunk->count; i++) {
        between[i] = rows[IN * i];
        copies[i] = bytes[i];
    }
    for (size_t i = 0; i < chunk->count; i++) {
        result[OUT * i] = 2L * between[i];
        result[OUT * i + 1] = rows[IN * i + 3];
        result[OUT * i + 2] = (long)(chunk->first + i);
        for (int k = 0; k < FLAGS; k++)
            ((uint8_t *)chunk->out[1 + k])[i] = (uint8_t)(copies[i] + k);
    }
    return HOT_OK;
}

/* ---- The caller ------------------------------------------------------------------------------------------------- */

typedef struct test_caller {
    double cancel_at;      /* progress from which on the call is to stop; above 1: never */
    int cancel_after;      /* or so many reports; 0: never */
    int reports;
    double last, from, to; /* the fraction of the last report; bounds of all */
} test_caller;

static int on_progress(void *user, const char *stage, double fraction)
{
    test_caller *self = user;
    CHECK(strcmp(stage, "testing") == 0 && fraction >= self->from && fraction <= self->to, "%s: %g", stage, fraction);
    CHECK(fraction >= self->last, "progress goes back from %g to %g", self->last, fraction);
    self->last = fraction;
    self->reports++;
    return fraction > self->cancel_at || (self->cancel_after && self->reports >= self->cancel_after);
}

static hot_context *make_context(int threads, test_caller *caller)
{
    const hot_context_options options = {.size = sizeof options, .threads = threads, .device_number = -1,
                                         .progress = on_progress, .progress_user = caller};
    hot_context *context = NULL;
    *caller = (test_caller){.cancel_at = 2, .to = 1};
    if (hot_context_create(&options, &context) != HOT_OK)
        exit(2);
    return context;
}

static void end_context(hot_context **context)
{
    hot_context_destroy(context);
    CHECK(alive == 0, "%ld things are left", alive);
}

/* One call; whether its results are right is checked where it says that it succeeded. */
static hot_status run(hot_context *context, test_caller *caller, batch_test *test)
{
    const size_t count = test->count;
    /* exactly as long as they must be: a sanitizer sees who reads on */
    int *rows = malloc(count ? (IN_STRIDE * (count - 1) + IN) * sizeof *rows : 1);
    uint8_t *bytes = malloc(count + 1), *flags = malloc(FLAGS * (count + 1)), *work;
    long *results = malloc((OUT_STRIDE * count + 1) * sizeof *results), untouched;
    size_t wrong = 0;
    int *scratch;
    hot_arena arena = {NULL, 0};
    for (size_t i = 0; count && i < IN_STRIDE * (count - 1) + IN; i++)
        rows[i] = (int)((unsigned)i * 2654435761u >> 3);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)i;
    memset(&untouched, 0x55, sizeof untouched);
    memset(results, 0x55, (OUT_STRIDE * count + 1) * sizeof *results);
    memset(flags, 0x55, FLAGS * (count + 1));
    divide_scratch(test->chunk, &arena, &scratch, &work);
    hot_batch batch = {
        .stage = "testing", .progress = {caller->from, caller->to}, .count = count, .chunk = test->chunk,
        .in = {hot_batch_strided("rows", rows, IN * sizeof *rows, IN_STRIDE * sizeof *rows),
               hot_batch_rows("bytes", bytes, 1)},
        .out = {hot_batch_strided("results", results, OUT * sizeof *results, OUT_STRIDE * sizeof *results)},
        .scratch = arena.used + test->more_scratch, .user = test, .begin = begin, .launch = launch, .end = end,
        .done = note_done};
    for (int k = 0; k < FLAGS; k++)
        batch.out[1 + k] = hot_batch_rows("flags", flags + (size_t)k * (count + 1), 1);
    test->launches = test->begun = test->ended = 0;
    test->results = results;
    test->done = 0;
    caller->last = caller->from;
    caller->reports = 0;
    memset(test->streams, 0, sizeof test->streams);
    memset(test->used, 0, sizeof test->used);
    const hot_status status = hot_batch_run(context, &batch);
    CHECK(test->begun == test->ended, "%d began, %d ended", test->begun, test->ended);
    CHECK(status != HOT_OK || test->done == count || test->done == 0, "%zu of %zu items are done", test->done, count);
    CHECK(status != HOT_OK || gpus > 1 || test->done == count || hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE,
          "%zu of %zu items are done", test->done, count);
    CHECK(busy_streams == 0, "%ld streams are still busy", busy_streams);
    CHECK(status != HOT_OK || count == 0 || caller->last == caller->to ||
              hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE, "%g of the work reported", caller->last);
    for (size_t i = 0; i < count && status == HOT_OK; i++) {
        const long *result = results + OUT_STRIDE * i;
        wrong += result[0] != 2L * rows[IN_STRIDE * i] || result[1] != rows[IN_STRIDE * i + 3] ||
                 result[2] != (long)i;
        for (int k = 0; k < FLAGS; k++)
            wrong += flags[(size_t)k * (count + 1) + i] != (uint8_t)(bytes[i] + k);
    }
    CHECK(wrong == 0, "%zu of %zu are wrong, by %zu, %d GPUs, %d threads", wrong, count, test->chunk, gpus,
          hot_context_threads(context));
    for (size_t i = 0; i < count; i++)
        wrong += results[OUT_STRIDE * i + OUT] != untouched;
    for (int k = 0; k < FLAGS; k++)
        wrong += flags[(size_t)k * (count + 1) + count] != 0x55;
    CHECK(wrong == 0, "written between rows or beyond the end: %zu", wrong);
    FREE(rows, bytes, flags, results);
    return status;
}

static batch_test items(size_t count, size_t chunk)
{
    return (batch_test){.count = count, .chunk = chunk, .fail_launch = -1, .fail_begin = -1};
}

/* ---- The checks ------------------------------------------------------------------------------------------------- */

static void check_sizes(int threads)
{
    static const size_t counts[] = {0, 1, 2, 999, 1000, 1001, 60001}, chunks[] = {100, 1000, 4096};
    test_caller caller;
    hot_context *context = make_context(threads, &caller);
    for (size_t k = 0; k < sizeof chunks / sizeof chunks[0]; k++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            if (counts[i] > 200 * chunks[k])
                continue;
            batch_test test = items(counts[i], chunks[k]);
            CHECK(run(context, &caller, &test) == HOT_OK, "%s", hot_context_message(context));
            const long before = allocations; /* the second time it has everything already */
            CHECK(run(context, &caller, &test) == HOT_OK, "%s", hot_context_message(context));
            CHECK(allocations == before, "%ld further allocations", allocations - before);
            for (int failing = 0; failing < 40; failing += 13) {
                test.fail_launch = failing;
                const hot_status status = run(context, &caller, &test);
                if (test.launches > failing)
                    CHECK(status == HOT_ERROR_DEVICE && strstr(hot_context_message(context), "told to fail"),
                          "status %d: '%s'", (int)status, hot_context_message(context));
                else
                    CHECK(status == HOT_OK, "%s", hot_context_message(context));
            }
        }
    caller.from = 0.25, caller.to = 0.5;
    batch_test test = items(40000, 1000);
    CHECK(run(context, &caller, &test) == HOT_OK, "%s", hot_context_message(context));
    end_context(&context);
}

/* A batch of one chunk needs one slot, its further streams, and one GPU. */
static void check_small(void)
{
    test_caller caller;
    hot_context *context = make_context(2, &caller);
    batch_test test = items(50, 100);
    allocations = 0;
    CHECK(run(context, &caller, &test) == HOT_OK, "%s", hot_context_message(context));
    CHECK(allocations == 3 + HOT_BATCH_BESIDE, "a stream, the further streams, and two buffers, not %ld", allocations);
    CHECK(test.begun == 1, "%d GPUs", test.begun);
    hot_context_destroy(&context);
}

/* A large device buffer is not kept, the rest of the slot is. */
static void check_kept(void)
{
    test_caller caller;
    hot_context *context = make_context(2, &caller);
    batch_test small = items(100, 100), large = items(100, 100);
    large.more_scratch = 260 << 20;
    CHECK(run(context, &caller, &large) == HOT_OK, "%s", hot_context_message(context));
    const long before = alive;
    CHECK(run(context, &caller, &small) == HOT_OK, "%s", hot_context_message(context));
    CHECK(alive == before + 1, "%ld, then %ld things: only the device buffer is new", before, alive);
    end_context(&context);
}

static void check_cancelling(int threads)
{
    test_caller caller;
    hot_context *context = make_context(threads, &caller);
    batch_test test = items(40000, 1000);
    caller.cancel_at = 0.4;
    CHECK(run(context, &caller, &test) == HOT_ERROR_CANCELLED, "not cancelled");
    CHECK(strstr(hot_context_message(context), "cancelled while testing"), "'%s'", hot_context_message(context));
    CHECK(gpus > 1 || test.launches < 40, "%d launches of 40", test.launches); /* the others may be quick */
    hot_context_destroy(&context);

    /* While the GPU never finishes (until its streams are synchronised): the caller can cancel while it waits. */
    context = make_context(threads, &caller);
    never_ready = 1;
    caller.cancel_after = gpus * HOT_BATCH_SLOTS + 3; /* more than there are publications */
    CHECK(run(context, &caller, &test) == HOT_ERROR_CANCELLED, "not cancelled");
    CHECK(test.launches > 0 && test.launches <= gpus * HOT_BATCH_SLOTS, "%d launches", test.launches);
    never_ready = 0;
    hot_context_destroy(&context);

    /* From another thread, before the call. */
    context = make_context(threads, &caller);
    hot_context_cancel(context);
    CHECK(run(context, &caller, &test) == HOT_ERROR_CANCELLED, "not cancelled");
    end_context(&context);
}

/* Memory that runs short and then suffices; a GPU that fails, a table that cannot be made. */
static void check_errors(int threads)
{
    test_caller caller;
    for (long failing = 0; failing < 60; failing += 7) {
        hot_context *context = make_context(threads, &caller);
        batch_test test = items(40000, 1000);
        allocations = 0;
        fail_allocation = failing;
        const hot_status status = run(context, &caller, &test);
        CHECK(status == (allocations > failing ? HOT_ERROR_MEMORY : HOT_OK), "status %d: '%s'", (int)status,
              hot_context_message(context));
        fail_allocation = -1;
        CHECK(run(context, &caller, &test) == HOT_OK, "%s", hot_context_message(context));
        end_context(&context);
    }
    hot_context *whole = make_context(threads, &caller);
    batch_test all = items(60001, 1000);
    CHECK(run(whole, &caller, &all) == HOT_OK, "%s", hot_context_message(whole));
    hot_context_destroy(&whole);
    const int serving = all.begun; /* a GPU has a thread: one without OpenMP */
    for (int failing = 0; failing < gpus && failing < serving; failing++) {
        hot_context *context = make_context(threads, &caller);
        batch_test test = items(60001, 1000);
        broken_gpu = failing;
        const hot_status status = run(context, &caller, &test);
        if (test.used[failing] > 0)
            CHECK(status == HOT_ERROR_DEVICE && strstr(hot_context_message(context), "719"), "status %d: '%s'",
                  (int)status, hot_context_message(context));
        broken_gpu = -1;
        test.fail_begin = failing;
        CHECK(run(context, &caller, &test) == HOT_ERROR_DEVICE, "a begin that fails");
        test.fail_begin = -1;
        CHECK(run(context, &caller, &test) == HOT_OK, "%s", hot_context_message(context));
        end_context(&context);
    }
}

static void check_fit(void)
{
    test_caller caller;
    hot_context *context = make_context(1, &caller);
    hot_batch batch = {.count = 1 << 20, .in = {{.row = 48}}, .out = {{.row = 16}}};
    CHECK(hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 0) == (8 << 20) / 64 / 8,
          "%zu by memory: a twelfth of it for each slot", hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 0));
    CHECK(hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 960) == (1 << 20) / 1024, "%zu with scratch",
          hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 960));
    CHECK(hot_batch_fit(context, &batch, 4096, 0) == 4096 / 64, "%zu by bytes",
          hot_batch_fit(context, &batch, 4096, 0));
    CHECK(hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 1 << 30) == 1, "at least one");
    batch.count = 5;
    CHECK(hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 0) == 5, "no more than there are");
    hot_context_destroy(&context);
}

/* Arrays that are on the GPU already: one chunk after the other on the caller's stream, rows with gaps and arrays at
 * odd places copied. */
static void check_device(void)
{
    static const size_t counts[] = {1, 999, 1000, 60001}, chunks[] = {100, 1000, 70000};
    test_caller caller;
    hot_context *context = make_context(3, &caller);
    stream theirs = {0};
    hot_context_note_memory(context, HOT_MEMORY_DEVICE, &theirs);
    for (size_t k = 0; k < sizeof chunks / sizeof chunks[0]; k++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            batch_test test = items(counts[i], chunks[k]);
            const int parts = (int)((counts[i] + chunks[k] - 1) / chunks[k]);
            CHECK(run(context, &caller, &test) == HOT_OK, "%s", hot_context_message(context));
            CHECK(test.launches == parts && test.begun == 1 && test.streams[current][0] == &theirs,
                  "%d launches, %d begun", test.launches, test.begun);
            test.fail_launch = parts - 1;
            CHECK(run(context, &caller, &test) == HOT_ERROR_DEVICE && alive == 0, "a launch fails, %ld left", alive);
            test.fail_launch = -1;
            test.fail_begin = 0;
            CHECK(run(context, &caller, &test) == HOT_ERROR_DEVICE && alive == 0, "begin fails, %ld are left", alive);
            fail_allocation = allocations;
            test.fail_begin = -1;
            CHECK(run(context, &caller, &test) == HOT_ERROR_MEMORY && alive == 0, "no memory, %ld are left", alive);
            fail_allocation = -1;
        }
    hot_batch batch = {.count = 1 << 20, .in = {{.row = 48, .stride = 48}}, .out = {{.row = 16, .stride = 16}}};
    CHECK(hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 0) == batch.count, "all at once");
    CHECK(hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 100) == BUDGET / 100, "by working memory");
    batch.in[0].stride = 60;
    CHECK(hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 100) == BUDGET / 148, "rows with gaps are working memory");
    const hot_batch wrong = {.count = 4, .chunk = 4, .in = {hot_batch_rows("the odd one", elsewhere, 1)}};
    CHECK(hot_batch_run(context, &wrong) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "the odd one"), "%s", hot_context_message(context));
    hot_context_note_memory(context, HOT_MEMORY_HOST, NULL);
    CHECK(hot_batch_run(context, &wrong) == HOT_ERROR_ARGUMENT, "an array that is elsewhere, from the host");
    hot_context_destroy(&context);
}

int main(void)
{
    for (int threads = 1; threads <= 7; threads += 3)
        for (gpus = 1; gpus <= GPUS; gpus++) {
            check_sizes(threads);
            check_cancelling(threads);
            check_errors(threads);
        }
    check_small();
    check_kept();
    check_fit();
    gpus = 1;
    check_device();
    HOT_TEST_END();
}
