/* Arrays in a GPU's memory (hotfiber/device.h), beyond what the checker compares: calls return before the GPU computes,
 * take nothing more from the driver once they have run, can be captured into a graph, run on several streams and
 * contexts at once; arrays at the wrong place are named. 77 (skipped) without a GPU. */
#include <algorithm>
#include <cuda_runtime.h>
#include <pthread.h>
#include <vector>

#include <hotfiber/cpd.h>
#include <hotfiber/denoise.h>
#include <hotfiber/device.h>
#include <hotfiber/directions.h>
#include <hotfiber/fit.h>
#include <hotfiber/heev.h>
#include <hotfiber/lowrank.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/tridiag.h>

#include "check.h"
#include "common/backend.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"

enum { N = 24, MATRICES = 300, ORDER = 6, TERMS = 28, TENSORS = 5000, STARTS = 64, SIZE = 200, ROWS = 40,
       FITTED = 10, RANK = 6 };

static const size_t cube[3] = {50, 50, 56}, box[3] = {60, 60, 96}; /* as many values as tensors and matrices have */

/* Arrays of the calls below, all on the GPU. */
struct problem {
    double *matrices, *values, *vectors, *diagonal, *off, *eigenvalues;
    float *tensors, *directions, *terms, *lambda, *weights, *fitted, *denoised, *noise;
    uint8_t *flags;
    int64_t *found;
    float *cp; /* lambda, and the factors of all modes: the result of TF32 is what plain floats start from */
    double *fits, *products;
    hot_cpd_report *report;
};

/* Few iterations: a driver queues about a thousand launches; who launches more behind a held stream waits for ever. */
enum { CP = RANK * (1 + 50 + 50 + 56), ITERATIONS = 3 };

static std::vector<float> starts;
static std::vector<double> design;

static double *get(size_t count) /* doubles, poisoned */
{
    void *memory = NULL;
    CHECK(cudaMalloc(&memory, count * sizeof(double)) == cudaSuccess, "no memory");
    cudaMemset(memory, 0x5b, count * sizeof(double));
    return (double *)memory;
}

static problem make_problem(void)
{
    problem p = {};
    p.matrices = get(2 * N * N * MATRICES), p.values = get(N * MATRICES), p.vectors = get(2 * N * N * MATRICES);
    p.diagonal = get(SIZE * ROWS), p.off = get(SIZE * ROWS), p.eigenvalues = get(SIZE * ROWS);
    p.tensors = (float *)get(TERMS * TENSORS), p.directions = (float *)get(9 * TENSORS);
    p.terms = (float *)get(9 * TENSORS), p.lambda = (float *)get((size_t)STARTS * TENSORS);
    p.weights = (float *)get(TERMS * TENSORS), p.fitted = (float *)get(FITTED * TENSORS);
    p.denoised = (float *)get(TERMS * TENSORS), p.noise = (float *)get(TENSORS);
    p.flags = (uint8_t *)get(MATRICES), p.found = (int64_t *)get(ROWS);
    p.cp = (float *)get(CP), p.fits = get(ITERATIONS), p.products = get(RANK * (60 + 60 + 96));
    p.report = (hot_cpd_report *)get(2 * sizeof(hot_cpd_report));
    return p;
}

static void free_problem(problem *p)
{
    void *const all[] = {p->matrices, p->values, p->vectors, p->diagonal, p->off, p->eigenvalues, p->tensors,
                         p->directions, p->terms, p->lambda, p->weights, p->fitted, p->denoised, p->noise,
                         p->flags, p->found, p->cp, p->fits, p->products, p->report};
    for (void *memory : all)
        cudaFree(memory);
}

/* New random inputs. */
static void fill(const problem *p, uint64_t seed)
{
    std::vector<double> wide(2 * N * N * MATRICES);
    std::vector<float> narrow(TERMS * TENSORS);
    for (double &x : wide)
        x = check_random_normal(&seed);
    for (float &x : narrow)
        x = (float)check_random_normal(&seed);
    cudaMemcpy(p->matrices, wide.data(), wide.size() * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(p->diagonal, wide.data(), SIZE * ROWS * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(p->off, wide.data() + SIZE * ROWS, SIZE * ROWS * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(p->tensors, narrow.data(), narrow.size() * sizeof(float), cudaMemcpyHostToDevice);
    for (float &x : narrow)
        x = fabsf(x);
    cudaMemcpy(p->weights, narrow.data(), narrow.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
}

/* Two decompositions and, in double, a product for each mode. */
static hot_status call_cpd(hot_context *context, const problem *p)
{
    hot_status status = HOT_OK;
    for (int which = 0; which < 2 && status == HOT_OK; which++) {
        hot_cpd_options options = {};
        float *const lambda = p->cp, *const a = lambda + RANK, *const b = a + RANK * cube[0], *c = b + RANK * cube[1];
        options.size = sizeof options, options.rank = RANK, options.iterations = ITERATIONS;
        options.tolerance = HOT_ZERO;
        options.start = which ? HOT_CPD_GIVEN : HOT_CPD_RANDOM, options.fits = p->fits;
        options.arithmetic = which ? HOT_CPD_FULL : HOT_CPD_TF32;
        status = hot_cpd_f32(context, &options, cube[0], cube[1], cube[2], p->tensors, lambda, a, b, c,
                             p->report + which);
    }
    for (int mode = 1; mode <= 3 && status == HOT_OK; mode++)
        status = hot_mttkrp_f64(context, mode, box[0], box[1], box[2], RANK, p->matrices, p->matrices, p->diagonal,
                                p->off, p->products + (mode - 1) * RANK * 60);
    return status;
}

/* One call of each of nine families. */
static hot_status call_all(hot_context *context, const problem *p)
{
    const size_t volume[3] = {20, 10, 25}; /* as many voxels as there are tensors */
    hot_sshopm_options options = {};
    options.size = sizeof options;
    options.max_iterations = 100;
    hot_status status = hot_heev_f64(context, NULL, N, MATRICES, p->matrices, p->values, p->vectors, p->flags);
    if (status == HOT_OK)
        status = hot_tridiag_f64(context, NULL, SIZE, ROWS, p->diagonal, p->off, SIZE, p->eigenvalues, SIZE, p->found);
    if (status == HOT_OK)
        status = hot_directions_f32(context, NULL, ORDER, TENSORS, p->tensors, TERMS, NULL, p->directions, NULL);
    if (status == HOT_OK)
        status = hot_lowrank_f32(context, NULL, ORDER, TENSORS, p->tensors, TERMS, NULL, p->terms, NULL, NULL);
    if (status == HOT_OK)
        status = hot_denoise_f32(context, NULL, volume, TERMS, p->tensors, NULL, p->denoised, p->noise);
    if (status == HOT_OK)
        status = hot_fit_weighted_f32(context, TERMS, FITTED, design.data(), TENSORS, p->tensors, p->weights,
                                      p->fitted, FITTED, NULL);
    if (status == HOT_OK)
        status = hot_sshopm_f32(context, &options, ORDER, 3, TENSORS, p->tensors, TERMS, STARTS, starts.data(),
                                p->lambda, NULL, NULL, NULL);
    return status == HOT_OK ? call_cpd(context, p) : status;
}

/* Everything written, on the host. */
static std::vector<unsigned char> results(const problem *p)
{
    const struct { const void *from; size_t bytes; } all[] = {
        {p->values, N * MATRICES * 8}, {p->vectors, 2 * N * N * MATRICES * 8}, {p->flags, MATRICES},
        {p->eigenvalues, SIZE * ROWS * 8}, {p->found, ROWS * 8}, {p->directions, 9 * TENSORS * 4},
        {p->terms, 9 * TENSORS * 4}, {p->lambda, (size_t)STARTS * TENSORS * 4},
        {p->fitted, FITTED * TENSORS * 4}, {p->denoised, TERMS * TENSORS * 4}, {p->noise, TENSORS * 4},
        {p->cp, CP * 4}, {p->fits, ITERATIONS * 8}, {p->products, RANK * (60 + 60 + 96) * 8},
        {p->report, 2 * sizeof(hot_cpd_report)}};
    std::vector<unsigned char> bytes;
    for (const auto &one : all) {
        const size_t at = bytes.size();
        bytes.resize(at + one.bytes);
        cudaMemcpy(bytes.data() + at, one.from, one.bytes, cudaMemcpyDeviceToHost);
    }
    return bytes;
}

static hot_context *make_context(cudaStream_t stream)
{
    hot_context_options options = {};
    hot_context *context = NULL;
    options.size = sizeof options;
    options.device = HOT_DEVICE_CUDA;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "no context");
    CHECK(hot_context_set_memory(context, HOT_MEMORY_DEVICE, stream) == HOT_OK, "%s", hot_context_message(context));
    return context;
}

/* Holds a stream until the host sets *go. */
__global__ void hold(volatile int *go)
{
    while (!*go) {}
}

/* Calls return while the stream is held: who waits for the GPU never ends. */
static void test_queued(const problem *p)
{
    cudaStream_t stream;
    int *go, *go_there;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaHostAlloc((void **)&go, sizeof *go, cudaHostAllocMapped);
    cudaHostGetDevicePointer((void **)&go_there, go, 0);
    hot_context *context = make_context(stream);
    fill(p, 1);
    CHECK(call_all(context, p) == HOT_OK && hot_context_wait(context) == HOT_OK, "%s", hot_context_message(context));
    const std::vector<unsigned char> first = results(p);
    *go = 0;
    hold<<<1, 1, 0, stream>>>(go_there);
    for (int times = 0; times < 3; times++)
        CHECK(call_all(context, p) == HOT_OK, "%s", hot_context_message(context));
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady, "the stream was not held");
    *go = 1;
    CHECK(hot_context_wait(context) == HOT_OK, "%s", hot_context_message(context));
    CHECK(results(p) == first, "results change");
    hot_context_destroy(&context);
    cudaFreeHost(go);
    cudaStreamDestroy(stream);
}

/* In steady state the context takes nothing more from the driver, whatever other programs do. */
static void test_memory(const problem *p)
{
    hot_context *context = make_context(NULL);
    size_t before = 0;
    for (int times = 0; times < 40; times++) {
        CHECK(call_all(context, p) == HOT_OK && hot_context_wait(context) == HOT_OK, "%s",
              hot_context_message(context));
        before = times == 3 ? hot_device_reserved(context) : before;
    }
    CHECK(before > 0 && hot_device_reserved(context) == before, "more than %zu bytes are taken", before);
    hot_context_destroy(&context);
}

/* Captured once, launched on other data. */
static void test_graph(const problem *p)
{
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    hot_context *context = make_context(stream);
    fill(p, 2);
    CHECK(call_all(context, p) == HOT_OK && hot_context_wait(context) == HOT_OK, "%s", hot_context_message(context));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess, "cannot capture");
    CHECK(call_all(context, p) == HOT_OK, "%s", hot_context_message(context));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "the capture failed");
    CHECK(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess, "no graph");
    for (uint64_t seed = 3; seed < 6; seed++) {
        fill(p, seed);
        CHECK(call_all(context, p) == HOT_OK && hot_context_wait(context) == HOT_OK, "%s",
              hot_context_message(context));
        const std::vector<unsigned char> called = results(p);
        cudaMemset(p->vectors, 0x77, 2 * N * N * MATRICES * sizeof(double));
        cudaMemset(p->directions, 0x77, 9 * TENSORS * sizeof(float));
        cudaDeviceSynchronize();
        CHECK(cudaGraphLaunch(ready, stream) == cudaSuccess && cudaStreamSynchronize(stream) == cudaSuccess, "launch");
        CHECK(results(p) == called, "the graph's results differ, seed %d", (int)seed);
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    hot_context_destroy(&context);
    cudaStreamDestroy(stream);
}

/* A kept tensor, queued behind a held stream, on two streams in turn, and captured. */
static void test_kept(const problem *p)
{
    enum { VALUES = RANK * 96 };
    cudaStream_t streams[2];
    int *go, *go_there;
    hot_mttkrp_tensor *tensor = NULL;
    std::vector<double> first(VALUES), again(VALUES);
    for (cudaStream_t &stream : streams)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaHostAlloc((void **)&go, sizeof *go, cudaHostAllocMapped);
    cudaHostGetDevicePointer((void **)&go_there, go, 0);
    fill(p, 8);
    hot_context *context = make_context(streams[0]);
    double *const out[3] = {get(VALUES), get(VALUES), get(VALUES)};
    const auto multiply = [&](int mode, double *to) {
        CHECK(hot_mttkrp_tensor_product_f64(context, tensor, mode, RANK, p->matrices, p->diagonal, p->off, to) ==
                  HOT_OK, "%s", hot_context_message(context));
    };
    CHECK(hot_mttkrp_tensor_create_f64(context, box[0], box[1], box[2], p->matrices, &tensor) == HOT_OK, "%s",
          hot_context_message(context));
    multiply(1, out[2]); /* both modes' kernels are loaded before a stream is held: loading waits for the GPU */
    multiply(3, out[0]);
    CHECK(hot_context_wait(context) == HOT_OK, "%s", hot_context_message(context));
    cudaMemcpy(first.data(), out[0], VALUES * sizeof(double), cudaMemcpyDeviceToHost);
    *go = 0;
    hold<<<1, 1, 0, streams[0]>>>(go_there);
    multiply(3, out[1]);
    CHECK(cudaStreamQuery(streams[0]) == cudaErrorNotReady, "the stream was not held");
    CHECK(hot_context_set_memory(context, HOT_MEMORY_DEVICE, streams[1]) == HOT_OK, "%s",
          hot_context_message(context));
    multiply(1, out[2]); /* behind it, as both have the tensor's working memory */
    multiply(3, out[2]);
    CHECK(cudaStreamQuery(streams[1]) == cudaErrorNotReady, "a product did not wait for the one before");
    *go = 1;
    cudaDeviceSynchronize();
    for (int which = 1; which < 3; which++) {
        cudaMemcpy(again.data(), out[which], VALUES * sizeof(double), cudaMemcpyDeviceToHost);
        CHECK(again == first, "product %d is another", which);
        cudaMemset(out[which], 0x77, VALUES * sizeof(double));
    }
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    CHECK(cudaStreamBeginCapture(streams[1], cudaStreamCaptureModeThreadLocal) == cudaSuccess, "cannot capture");
    multiply(3, out[1]);
    CHECK(cudaStreamEndCapture(streams[1], &graph) == cudaSuccess, "the capture failed");
    CHECK(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess, "no graph");
    CHECK(cudaGraphLaunch(ready, streams[1]) == cudaSuccess && cudaStreamSynchronize(streams[1]) == cudaSuccess,
          "launch");
    cudaMemcpy(again.data(), out[1], VALUES * sizeof(double), cudaMemcpyDeviceToHost);
    CHECK(again == first, "the graph's product is another");
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    hot_mttkrp_tensor_destroy(&tensor);
    hot_context_destroy(&context);
    for (double *memory : out)
        cudaFree(memory);
    cudaFreeHost(go);
    for (cudaStream_t stream : streams)
        cudaStreamDestroy(stream);
}

/* Decompositions: zeros, NaN, and what waits while a stream is captured. */
static void test_decompositions(const problem *p)
{
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    hot_cpd_options options = {};
    hot_cpd_report report;
    std::vector<float> lambda(RANK);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    hot_context *context = make_context(stream);
    float *const a = p->cp + RANK, *const b = a + RANK * cube[0], *const c = b + RANK * cube[1];
    options.size = sizeof options, options.rank = RANK, options.iterations = 3;
    const auto decompose = [&](double tolerance) {
        options.tolerance = tolerance;
        const hot_status status = hot_cpd_f32(context, &options, cube[0], cube[1], cube[2], p->tensors, p->cp, a, b, c,
                                              p->report);
        return status == HOT_OK ? hot_context_wait(context) : status;
    };
    const auto look = [&] {
        cudaMemcpy(&report, p->report, sizeof report, cudaMemcpyDeviceToHost);
        cudaMemcpy(lambda.data(), p->cp, RANK * sizeof(float), cudaMemcpyDeviceToHost);
    };
    fill(p, 12);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess, "cannot capture");
    options.tolerance = 1e-6;
    CHECK(hot_cpd_f32(context, &options, cube[0], cube[1], cube[2], p->tensors, p->cp, a, b, c, NULL) ==
                  HOT_ERROR_ARGUMENT && strstr(hot_context_message(context), "capture"), "%s",
          hot_context_message(context));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "the capture failed");
    cudaGraphDestroy(graph);
    cudaMemset(p->tensors, 0, sizeof(float) * cube[0] * cube[1] * cube[2]);
    cudaDeviceSynchronize();
    for (double tolerance : {double(HOT_ZERO), 1e-6}) {
        CHECK(decompose(tolerance) == HOT_OK, "%s", hot_context_message(context));
        look();
        CHECK(report.fit == 1 && report.norm == 0 && report.nulls == RANK && report.converged == 1 && lambda[0] == 0,
              "zeros: fit %g, norm %g, %d nulls, lambda %g", report.fit, report.norm, report.nulls, (double)lambda[0]);
    }
    cudaMemset(p->tensors + 77, 0xff, sizeof(float)); /* NaN */
    cudaDeviceSynchronize();
    CHECK(decompose(HOT_ZERO) == HOT_OK, "%s", hot_context_message(context));
    look();
    CHECK(isnan(report.fit) && isnan(lambda[RANK - 1]), "NaN: fit %g, lambda %g", report.fit, (double)lambda[0]);
    CHECK(decompose(1e-6) == HOT_ERROR_DATA, "NaN was taken");
    hot_context_destroy(&context);
    cudaStreamDestroy(stream);
}

struct worker {
    uint64_t seed;
    std::vector<unsigned char> got;
    int bad;
    char what[256]; /* the last thing that was */
};

static void *work(void *user)
{
    worker *self = (worker *)user;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    problem p = make_problem();
    hot_context *context = make_context(stream);
    fill(&p, self->seed);
    for (int times = 0; times < 10; times++) {
        if (call_all(context, &p) != HOT_OK || hot_context_wait(context) != HOT_OK) {
            self->bad++;
            snprintf(self->what, sizeof self->what, "call %d: %s", times, hot_context_message(context));
        }
        const std::vector<unsigned char> got = results(&p);
        if (times > 0 && got != self->got) {
            self->bad++;
            snprintf(self->what, sizeof self->what, "call %d: byte %zu of the results changed", times,
                     (size_t)(std::mismatch(got.begin(), got.end(), self->got.begin()).first - got.begin()));
        }
        self->got = got;
    }
    hot_context_destroy(&context);
    free_problem(&p);
    cudaStreamDestroy(stream);
    return NULL;
}

/* Four contexts in four threads, each on its stream, give what each gives alone. */
static void test_threads(void)
{
    enum { THREADS = 4 };
    worker together[THREADS], alone = {};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        together[i] = {(uint64_t)(10 + i), {}, 0, ""};
        CHECK(pthread_create(&threads[i], NULL, work, &together[i]) == 0, "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(together[i].bad == 0, "thread %d: %d times; %s", i, together[i].bad, together[i].what);
        alone = {(uint64_t)(10 + i), {}, 0, ""};
        work(&alone);
        CHECK(alone.got == together[i].got, "thread %d: other results than alone", i);
    }
}

/* Arrays that lie elsewhere are named, and calls that accept no GPU arrays report it. */
static void test_places(const problem *p)
{
    hot_context *context = make_context(NULL);
    std::vector<double> host(2 * N * N * MATRICES, 1);
    std::vector<float> tensors(TERMS, 1), directions(9, 0);
    CHECK(hot_heev_f64(context, NULL, N, 1, host.data(), p->values, p->vectors, p->flags) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "matrices is in the host's memory"), "%s",
          hot_context_message(context));
    CHECK(hot_heev_f64(context, NULL, N, 1, p->matrices, host.data(), p->vectors, p->flags) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "values"), "%s", hot_context_message(context));
    CHECK(hot_tridiag_f64(context, NULL, SIZE, 1, p->diagonal, p->off, SIZE, p->eigenvalues, SIZE,
                          (int64_t *)host.data()) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "found"), "%s", hot_context_message(context));
    CHECK(hot_directions_f32(context, NULL, 2, 1, p->tensors, 6, NULL, p->directions, NULL) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "order 2"), "%s", hot_context_message(context));
    CHECK(hot_fit_linear_f32(context, 1, 1, host.data(), 1, tensors.data(), 1, p->directions, 1) ==
                  HOT_ERROR_ARGUMENT && strstr(hot_context_message(context), "input is in the host's memory"), "%s",
          hot_context_message(context));
    CHECK(hot_fit_weighted_f32(context, 1, 1, host.data(), 1, p->tensors, tensors.data(), p->directions, 1, NULL) ==
                  HOT_ERROR_ARGUMENT && strstr(hot_context_message(context), "weight is in the host's memory"), "%s",
          hot_context_message(context));
    const size_t volume[3] = {5, 5, 5};
    CHECK(hot_denoise_f32(context, NULL, volume, 4, p->tensors, NULL, tensors.data(), NULL) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "denoised is in the host's memory"), "%s",
          hot_context_message(context));
    CHECK(hot_context_set_memory(context, HOT_MEMORY_HOST, NULL) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_directions_f32(context, NULL, 4, 1, p->tensors, 15, NULL, directions.data(), NULL) ==
                  HOT_ERROR_ARGUMENT && strstr(hot_context_message(context), "tensors is in the memory of GPU 0"), "%s",
          hot_context_message(context));
    CHECK(hot_directions_f32(context, NULL, 4, 1, tensors.data(), 15, NULL, directions.data(), NULL) == HOT_OK, "%s",
          hot_context_message(context));
    hot_context_destroy(&context);
    hot_context_options options = {};
    options.size = sizeof options;
    options.device = HOT_DEVICE_CPU;
    hot_context_create(&options, &context);
    CHECK(hot_context_set_memory(context, HOT_MEMORY_DEVICE, NULL) == HOT_ERROR_ARGUMENT, "on the CPU");
    hot_context_destroy(&context);
    options.device = HOT_DEVICE_AUTO;
    options.device_number = -1;
    hot_context_create(&options, &context);
    CHECK(hot_context_set_memory(context, HOT_MEMORY_DEVICE, NULL) == HOT_ERROR_ARGUMENT, "on all GPUs");
    hot_context_destroy(&context);
}

/* Large arrays of the host to the GPU and back, sizes that are no multiple of anything; 0xa5 around them stays. */
static void test_copies(void)
{
    hot_context *context = NULL;
    hot_context_options options = {};
    options.size = sizeof options;
    options.device = HOT_DEVICE_CUDA;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "no context");
    const size_t sizes[] = {1, 70001, (32 << 20) - 1, (32 << 20) + 5, (100 << 20) + 12345};
    for (size_t bytes : sizes) {
        std::vector<unsigned char> from(bytes), to(bytes + 2, 0xa5);
        for (size_t i = 0; i < bytes; i++)
            from[i] = (unsigned char)(i * 2654435761u >> 13);
        void *device = NULL;
        CHECK(cudaMalloc(&device, bytes) == cudaSuccess, "no memory");
        CHECK(hot_cuda_copy(context, device, from.data(), bytes, "copying there") == HOT_OK, "%zu bytes there", bytes);
        CHECK(hot_cuda_copy(context, to.data() + 1, device, bytes, "copying back") == HOT_OK, "%zu bytes back", bytes);
        CHECK(memcmp(to.data() + 1, from.data(), bytes) == 0, "%zu bytes are not the same", bytes);
        CHECK(to[0] == 0xa5 && to[bytes + 1] == 0xa5, "%zu bytes: more was written", bytes);
        cudaFree(device);
    }
    hot_context_destroy(&context);
}

/* ---- Short of memory --------------------------------------------------------------------------------------------- */

struct log_lines {
    int warnings;
    char last[256];
};

static void hear(void *user, hot_log_level level, const char *line)
{
    log_lines *self = (log_lines *)user;
    self->warnings += level == HOT_LOG_WARNING;
    snprintf(self->last, sizeof self->last, "%s", line);
}

struct two_results {
    std::vector<float> directions;
    std::vector<double> eigen; /* values, vectors */
};

/* Calls on host arrays by this device; what they give. */
static two_results call_from_host(hot_device device, log_lines *lines)
{
    enum { COUNT = 120000, SMALL = 2000 };
    hot_context_options options = {};
    hot_context *context = NULL;
    static std::vector<float> tensors;
    static std::vector<double> matrices;
    uint64_t seed = 31;
    if (tensors.empty()) {
        tensors.resize((size_t)COUNT * TERMS), matrices.resize(2 * N * N * SMALL);
        for (float &x : tensors)
            x = (float)check_random_normal(&seed);
        for (double &x : matrices)
            x = check_random_normal(&seed);
    }
    two_results got = {std::vector<float>(9 * COUNT), std::vector<double>((N + 2 * N * N) * SMALL)};
    options.size = sizeof options, options.device = device, options.log = hear, options.log_user = lines;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "no context");
    CHECK(hot_directions_f32(context, NULL, ORDER, COUNT, tensors.data(), TERMS, NULL, got.directions.data(), NULL) ==
              HOT_OK, "%s", hot_context_message(context));
    double *const values = got.eigen.data();
    CHECK(hot_heev_f64(context, NULL, N, SMALL, matrices.data(), values, values + N * SMALL, NULL) == HOT_OK, "%s",
          hot_context_message(context));
    hot_context_destroy(&context);
    return got;
}

/* With less and less of the GPU's memory left: the GPU's results, bit by bit, in smaller pieces; or the CPU's, with a
 * note. */
static void test_short_memory(void)
{
    log_lines lines = {};
    const two_results by_gpu = call_from_host(HOT_DEVICE_CUDA, &lines), by_cpu = call_from_host(HOT_DEVICE_CPU, &lines);
    CHECK(by_gpu.directions != by_cpu.directions && by_gpu.eigen != by_cpu.eigen,
          "nothing tells the GPU's results from the CPU's");
    int on_gpu = 0, on_cpu = 0;
    for (size_t left : {(size_t)256 << 20, (size_t)64 << 20, (size_t)16 << 20, (size_t)0}) {
        std::vector<void *> taken;
        size_t available = 0, total = 0;
        cudaMemGetInfo(&available, &total);
        for (size_t piece = available > left ? available - left : 0; piece >= 1 << 20;) {
            void *memory = NULL;
            if (cudaMalloc(&memory, piece) == cudaSuccess) {
                taken.push_back(memory);
                cudaMemGetInfo(&available, &total);
                piece = available > left ? std::min(piece, available - left) : 0;
            } else {
                cudaGetLastError();
                piece /= 2;
            }
        }
        lines = {};
        const two_results got = call_from_host(HOT_DEVICE_AUTO, &lines);
        for (void *memory : taken)
            cudaFree(memory);
        const bool fell_back = got.directions != by_gpu.directions || got.eigen != by_gpu.eigen;
        on_gpu += !fell_back, on_cpu += fell_back;
        CHECK(got.directions == by_gpu.directions || got.directions == by_cpu.directions, "directions are neither's");
        CHECK(got.eigen == by_gpu.eigen || got.eigen == by_cpu.eigen, "eigenvectors are neither's");
        printf("%zu MB left: by the %s, %d lines: %s\n", left >> 20, fell_back ? "CPU" : "GPU", lines.warnings,
               lines.last);
        if (lines.warnings == 0)
            CHECK(!fell_back, "%zu MB left: other results than the GPU's", left >> 20);
        else
            CHECK(lines.warnings == 1 && strstr(lines.last, "the CPU does"), "%d lines, last '%s'", lines.warnings,
                  lines.last);
    }
    CHECK(on_gpu > 0 && on_cpu > 0, "256 MB are not enough, or no memory at all is");
}

/* "memory": only the test that takes all of the GPU's memory, which no other program can use then. */
int main(int argc, char **argv)
{
    if (hot_cuda_count() == 0) {
        printf("no GPU here\n");
        return 77;
    }
    uint64_t seed = 9;
    for (int i = 0; i < STARTS; i++) {
        double x[3];
        check_random_unit(&seed, x);
        starts.insert(starts.end(), x, x + 3);
    }
    for (int i = 0; i < TERMS * FITTED; i++)
        design.push_back(check_random_normal(&seed));
    problem p = make_problem();
    const bool memory = argc > 1 && strcmp(argv[1], "memory") == 0;
    memory ? test_short_memory() : test_queued(&p);
    if (memory)
        HOT_TEST_END();
    test_memory(&p);
    test_graph(&p);
    test_kept(&p);
    test_decompositions(&p);
    test_threads();
    test_places(&p);
    test_copies();
    free_problem(&p);
    HOT_TEST_END();
}
