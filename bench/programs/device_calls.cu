/* bench_device_calls: what the public calls take on arrays in a GPU's memory (hotfiber/device.h), in milliseconds: on
 * the stream from before the call to after it, and on the host until it returns; medians of 15 after a warm-up. Beside
 * it the call on pageable host arrays, copies of the same bytes from and to pinned memory at once, and how many times
 * the longer of that and the stream's time the call on host arrays takes. The kernels alone: `test_kernels_checker
 * --bench`. With an argument only calls whose name holds it. */
#include <algorithm>
#include <chrono>
#include <cuda_runtime.h>
#include <functional>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <vector>

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/denoise.h>
#include <hotfiber/device.h>
#include <hotfiber/directions.h>
#include <hotfiber/fit.h>
#include <hotfiber/heev.h>
#include <hotfiber/lowrank.h>
#include <hotfiber/signal.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/tridiag.h>

#include "common/context_internal.h"

static uint64_t state = 5;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static double now(void)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static const char *only; /* NULL = all */
static hot_context *context;
static cudaStream_t stream;

template <typename T> struct both { /* an array on the host and on the GPU */
    std::vector<T> host;
    T *device;
    explicit both(size_t count, double scale = 0) : host(count), device(NULL)
    {
        for (T &x : host)
            x = (T)(scale * (uniform() - .5));
        if (cudaMalloc((void **)&device, count * sizeof(T)) != cudaSuccess)
            exit(1);
        cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~both() { cudaFree(device); }
    T *at(bool there) { return there ? device : host.data(); }
};

static void check(hot_status status)
{
    if (status == HOT_OK)
        return;
    fprintf(stderr, "%s\n", hot_context_message(context));
    exit(1);
}

/* Milliseconds of copies from and to pinned memory at the same time. */
static double copy_time(size_t in, size_t out)
{
    enum { TIMES = 7 };
    std::vector<double> times;
    void *host[2] = {NULL, NULL}, *device[2] = {NULL, NULL};
    const size_t bytes[2] = {in, out};
    cudaStream_t streams[2];
    for (int way = 0; way < 2; way++) {
        cudaStreamCreateWithFlags(&streams[way], cudaStreamNonBlocking);
        if (cudaMallocHost(&host[way], bytes[way]) != cudaSuccess ||
            cudaMalloc(&device[way], bytes[way]) != cudaSuccess)
            exit(1);
    }
    for (int i = 0; i <= TIMES; i++) {
        const double from = now();
        cudaMemcpyAsync(device[0], host[0], in, cudaMemcpyHostToDevice, streams[0]);
        cudaMemcpyAsync(host[1], device[1], out, cudaMemcpyDeviceToHost, streams[1]);
        cudaDeviceSynchronize();
        if (i > 0)
            times.push_back(1e3 * (now() - from));
    }
    for (int way = 0; way < 2; way++) {
        cudaStreamDestroy(streams[way]);
        cudaFreeHost(host[way]);
        cudaFree(device[way]);
    }
    return median(times);
}

typedef std::function<hot_status(bool there)> job;

static double first_from_host; /* milliseconds of the first call on host arrays */

static double from_host(const job &call)
{
    enum { TIMES = 5 };
    std::vector<double> times;
    check(hot_context_set_memory(context, HOT_MEMORY_HOST, NULL));
    for (int i = 0; i <= TIMES; i++) {
        const double from = now();
        check(call(false));
        const double took = 1e3 * (now() - from);
        if (i > 0)
            times.push_back(took);
        else
            first_from_host = took;
    }
    return median(times);
}

/* The call on host arrays with one GPU, two ... all of the machine's: in turns, best of three. */
static void measure_gpus(const char *name, const job &call)
{
    enum { MOST = 8, ROUNDS = 3 };
    hot_context *const usual = context;
    double best[MOST + 1] = {0};
    int devices = 0;
    if ((only && !strstr(name, only)) || cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2)
        return;
    devices = std::min(devices, (int)MOST);
    for (int round = 0; round < ROUNDS; round++)
        for (int gpus = 1; gpus <= devices; gpus++) {
            hot_context_options options = {};
            options.size = sizeof options, options.device = HOT_DEVICE_CUDA, options.device_number = -1;
            check(hot_context_create(&options, &context));
            hot_context_override_gpu_count(context, gpus);
            const double took = from_host(call);
            best[gpus] = round == 0 ? took : std::min(best[gpus], took);
            hot_context_destroy(&context);
        }
    context = usual;
    for (int gpus = 1; gpus <= devices; gpus++)
        printf("%s, %d GPUs: %8.3f ms, %.2f x\n", name, gpus, best[gpus], best[1] / best[gpus]);
    fflush(stdout);
}

/* in, out: bytes that the call on host arrays copies. */
static void measure(const char *name, size_t in, size_t out, const job &call)
{
    enum { TIMES = 15 };
    std::vector<double> on_stream, returned;
    if (only && !strstr(name, only))
        return;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    check(hot_context_set_memory(context, HOT_MEMORY_DEVICE, stream));
    for (int i = 0; i <= TIMES; i++) {
        float ms = 0;
        cudaEventRecord(begin, stream);
        const double from = now();
        check(call(true));
        const double until = now();
        cudaEventRecord(end, stream);
        check(hot_context_wait(context));
        cudaEventElapsedTime(&ms, begin, end);
        if (i > 0) {
            on_stream.push_back((double)ms);
            returned.push_back(1e3 * (until - from));
        }
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    const double host = from_host(call), copies = copy_time(in, out), kernels = median(on_stream);
    printf("%-44s stream %8.3f ms, returns after %6.3f; host arrays %8.3f (first %8.3f), pinned copies %8.3f: %.2f x\n",
           name, kernels, median(returned), host, first_from_host, copies, host / std::max(copies, kernels));
    fflush(stdout);
}

static void measure_batches(void)
{
    char name[64];
    const size_t n = 64, count = 100000, side = 10, batch = 1000000, stride[3] = {side, 1, side * side};
    both<double> d(n * count, 1), e(n * count, 1), w(n * count);
    snprintf(name, sizeof name, "tridiag %zu x %zu, double", n, count);
    measure(name, 16 * n * count, 8 * n * count, [&](bool there) {
        return hot_tridiag_f64(context, NULL, n, count, d.at(there), e.at(there), n, w.at(there), n, NULL);
    });
    const size_t volumes = 64, terms = 28;
    both<double> matrix(terms * volumes, 1);
    both<float> in(volumes * batch, 1), out(terms * batch);
    snprintf(name, sizeof name, "fit %zu x %zu, %zu, float", terms, volumes, batch);
    measure(name, 4 * volumes * batch, 4 * terms * batch, [&](bool there) {
        return hot_fit_linear_f32(context, terms, volumes, matrix.host.data(), batch, in.at(there), volumes,
                                  out.at(there), terms);
    });
    both<float> weight(volumes * (batch / 5)), fitted(terms * (batch / 5));
    for (float &x : weight.host)
        x = (float)(.1 + uniform());
    cudaMemcpy(weight.device, weight.host.data(), weight.host.size() * sizeof(float), cudaMemcpyHostToDevice);
    snprintf(name, sizeof name, "weighted fit %zu x %zu, %zu, float", terms, volumes, batch / 5);
    measure(name, 8 * volumes * (batch / 5), 4 * terms * (batch / 5), [&](bool there) {
        return hot_fit_weighted_f32(context, volumes, terms, matrix.host.data(), batch / 5, in.at(there),
                                    weight.at(there), fitted.at(there), terms, NULL);
    });
    const size_t volume[3] = {100, 100, 60}, voxels = 100 * 100 * 60;
    both<float> noisy(volumes * voxels, 1), denoised(volumes * voxels);
    measure("denoising, 100 x 100 x 60 x 64, noise", 4 * volumes * voxels, 4 * volumes * voxels, [&](bool there) {
        return hot_denoise_f32(context, NULL, volume, volumes, noisy.at(there), NULL, denoised.at(there), NULL);
    });
    both<double> a(side * side * batch, 1), b(side * side * batch, 1), c(side * side * batch);
    snprintf(name, sizeof name, "products %zu x %zu, %zu, double", side, side, batch);
    measure(name, 16 * side * side * batch, 8 * side * side * batch, [&](bool there) {
        return hot_contract_matrices_f64(context, NULL, side, side, side, batch, 1, a.at(there), stride, b.at(there),
                                         stride, 0, c.at(there), stride);
    });
}

/* One iteration is mostly the copy; of many each takes a tenth of what ten take, in BENCHMARKS.md's table. */
static void measure_cpd(void)
{
    char name[64];
    for (size_t side = 400; side <= 800; side *= 2) {
        const size_t rank = 16;
        both<float> x(side * side * side, 1), lambda(rank), a(side * rank), b(side * rank), c(side * rank);
        for (int which = 0; which < 3; which++) {
            hot_cpd_options options = {};
            options.size = sizeof options, options.rank = rank, options.tolerance = HOT_ZERO;
            options.iterations = which == 0 ? 1 : 20;
            options.arithmetic = which == 2 ? HOT_CPD_TF32 : HOT_CPD_FULL;
            snprintf(name, sizeof name, "CP, %zu^3, rank %zu, %d iterations%s", side, rank, options.iterations,
                     which == 2 ? ", TF32" : "");
            measure(name, 4 * side * side * side, 4, [&](bool there) {
                return hot_cpd_f32(context, &options, side, side, side, x.at(there), lambda.at(there), a.at(there),
                                   b.at(there), c.at(there), NULL);
            });
        }
        snprintf(name, sizeof name, "MTTKRP, %zu^3, rank %zu, TF32", side, rank);
        measure(name, 4 * side * side * side, 4 * side * rank, [&](bool there) {
            return hot_mttkrp_f32(context, HOT_CPD_TF32, 3, side, side, side, rank, x.at(there), a.at(there),
                                  b.at(there), NULL, c.at(there));
        });
    }
}

struct caller { /* a thread with its context and arrays */
    bool there;
    int times;
    hot_context *own;
    cudaStream_t on;
    both<double> *a, *w, *v;
};

enum { SIDE = 128, MATRICES = 180 };

static void *make_calls(void *user)
{
    caller *self = (caller *)user;
    for (int i = 0; i < self->times; i++)
        if (hot_heev_f64(self->own, NULL, SIDE, MATRICES, self->a->at(self->there), self->w->at(self->there),
                         self->v->at(self->there), NULL) != HOT_OK || hot_context_wait(self->own) != HOT_OK)
            fprintf(stderr, "%s\n", hot_context_message(self->own));
    return NULL;
}

/* Four contexts in four threads on one GPU compared with the same calls in sequence. */
static void measure_contexts(void)
{
    enum { THREADS = 4, TIMES = 20 };
    caller callers[THREADS];
    pthread_t threads[THREADS];
    for (caller &one : callers) {
        hot_context_options options = {};
        options.size = sizeof options, options.device = HOT_DEVICE_CUDA;
        check(hot_context_create(&options, &one.own));
        cudaStreamCreateWithFlags(&one.on, cudaStreamNonBlocking);
        one.a = new both<double>(2 * SIDE * SIDE * MATRICES, 1), one.w = new both<double>(SIDE * MATRICES);
        one.v = new both<double>(2 * SIDE * SIDE * MATRICES);
    }
    for (int there = 1; there >= 0; there--) {
        std::vector<double> took[2];
        for (caller &one : callers) {
            check(hot_context_set_memory(one.own, there ? HOT_MEMORY_DEVICE : HOT_MEMORY_HOST, one.on));
            one.there = there, one.times = 2;
            make_calls(&one); /* the first calls */
            one.times = TIMES;
        }
        for (int round = 0; round < 3; round++) {
            double from = now();
            for (caller &one : callers)
                make_calls(&one);
            took[0].push_back(now() - from);
            from = now();
            for (int i = 0; i < THREADS; i++)
                if (pthread_create(&threads[i], NULL, make_calls, &callers[i]) != 0)
                    exit(1);
            for (pthread_t thread : threads)
                pthread_join(thread, NULL);
            took[1].push_back(now() - from);
        }
        printf("contexts: %d x heev %d x %d, arrays of the %s: one after the other %8.3f ms, in four threads %8.3f\n",
               THREADS * TIMES, (int)SIDE, (int)MATRICES, there ? "GPU" : "host", 1e3 * median(took[0]),
               1e3 * median(took[1]));
    }
    for (caller &one : callers) {
        hot_context_destroy(&one.own);
        cudaStreamDestroy(one.on);
        delete one.a;
        delete one.w;
        delete one.v;
    }
}

/* Single fibres with noise. */
static void measure_signal(size_t count, bool gpus)
{
    enum { VOLUMES = 72, B0 = 8 };
    char name[64];
    double b[VOLUMES], gradients[3 * VOLUMES], shell_b = 3000, response[5] = {2.3, -1.6, .75, -.27, .08};
    for (int v = 0; v < VOLUMES; v++) {
        const double z = 1 - (2. * v + 1) / VOLUMES, angle = 2.39996322972865332 * v, radius = sqrt(1 - z * z);
        b[v] = v < B0 ? 0 : shell_b;
        gradients[3 * v] = radius * cos(angle), gradients[3 * v + 1] = radius * sin(angle), gradients[3 * v + 2] = z;
    }
    both<float> signals(count * VOLUMES), directions(9 * count);
    both<uint8_t> found(count);
    for (size_t i = 0; i < count; i++) {
        const double f[3] = {uniform() - .5, uniform() - .5, uniform() - .5};
        const double length = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) + 1e-9;
        for (int v = 0; v < VOLUMES; v++) {
            const double u =
                (f[0] * gradients[3 * v] + f[1] * gradients[3 * v + 1] + f[2] * gradients[3 * v + 2]) / length;
            signals.host[i * VOLUMES + v] =
                (float)(1000 * exp(-1e-3 * b[v] * (.2 + 1.5 * u * u)) + 100 * (uniform() - .5) + 60);
        }
    }
    cudaMemcpy(signals.device, signals.host.data(), count * VOLUMES * sizeof(float), cudaMemcpyHostToDevice);
    hot_signal_scheme scheme = {};
    scheme.size = sizeof scheme, scheme.volumes = VOLUMES, scheme.b = b, scheme.gradients = gradients;
    scheme.shells = 1, scheme.shell_b = &shell_b, scheme.response = response, scheme.lmax = 8;
    hot_signal_options options = {};
    options.size = sizeof options, options.sigma = 30;
    hot_signal_result result = {};
    result.size = sizeof result;
    const job call = [&](bool there) {
        result.directions = directions.at(there), result.found = found.at(there);
        return hot_signal_fibers_f32(context, &options, &scheme, count, signals.at(there), NULL, NULL, NULL, &result);
    };
    snprintf(name, sizeof name, "signal, %zu voxels of %d", count, (int)VOLUMES);
    if (gpus)
        measure_gpus(name, call);
    else
        measure(name, 4 * VOLUMES * count, 37 * count, call);
}

int main(int argc, char **argv)
{
    static const struct { size_t n, count; } heev[] = {{32, 1000}, {64, 180}, {128, 180}, {128, 1000}, {256, 180},
                                                       {512, 180}};
    hot_context_options options = {};
    char name[64];
    options.size = sizeof options;
    options.device = HOT_DEVICE_CUDA;
    only = argc > 1 ? argv[1] : NULL;
    if (hot_context_create(&options, &context) != HOT_OK ||
        hot_context_set_memory(context, HOT_MEMORY_DEVICE, NULL) != HOT_OK) {
        printf("no GPU here\n");
        return 77;
    }
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (const auto &job : heev) {
        const size_t n = job.n, count = job.count;
        both<double> a(2 * n * n * count, 1), w(n * count), v(2 * n * n * count);
        snprintf(name, sizeof name, "heev %zu x %zu, complex double", n, count);
        measure(name, 16 * n * n * count, 16 * n * n * count + 8 * n * count, [&](bool there) {
            return hot_heev_f64(context, NULL, n, count, a.at(there), w.at(there), v.at(there), NULL);
        });
    }
    for (size_t n = 1024; n <= 4096; n *= 4) {
        both<double> d(n, 1), e(n, 1), w(n);
        snprintf(name, sizeof name, "tridiag %zu, double", n);
        measure(name, 16 * n, 8 * n, [&](bool there) {
            return hot_tridiag_f64(context, NULL, n, 1, d.at(there), e.at(there), n, w.at(there), n, NULL);
        });
    }
    measure_batches();
    if (!only || strstr("CP, MTTKRP", only))
        measure_cpd();
    measure_signal(1000000, false);
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 1) {
        const size_t n = 128, count = 4000;
        both<double> a(2 * n * n * count, 1), w(n * count), v(2 * n * n * count);
        snprintf(name, sizeof name, "heev %zu x %zu, complex double", n, count);
        measure_gpus(name, [&](bool there) {
            return hot_heev_f64(context, NULL, n, count, a.at(there), w.at(there), v.at(there), NULL);
        });
        measure_signal(4000000, true);
    }
    if (!only || strstr("contexts", only))
        measure_contexts();
    for (int order = 4; order <= 8; order += 2) {
        const size_t terms = hot_symtensor_count(order, 3), count = 1 << 20, starts = 128;
        both<float> tensors(terms * count, 1), directions(9 * count), lambda(count);
        std::vector<float> start(3 * starts);
        for (float &x : start)
            x = (float)(uniform() - .5);
        snprintf(name, sizeof name, "directions, order %d, %zu tensors", order, count);
        const size_t in = 4 * terms * count, out = 36 * count;
        measure(name, in, out, [&](bool there) {
            return hot_directions_f32(context, NULL, order, count, tensors.at(there), terms, NULL,
                                      directions.at(there), NULL);
        });
        snprintf(name, sizeof name, "lowrank, order %d, %zu tensors", order, count);
        measure(name, in, out, [&](bool there) {
            return hot_lowrank_f32(context, NULL, order, count, tensors.at(there), terms, NULL, directions.at(there),
                                   NULL, NULL);
        });
        hot_directions_options many = {};
        many.size = sizeof many;
        many.starts = starts;
        snprintf(name, sizeof name, "directions by 128 starts, order %d, %zu", order, count);
        measure(name, in, out, [&](bool there) {
            return hot_directions_f32(context, &many, order, count, tensors.at(there), terms, NULL,
                                      directions.at(there), NULL);
        });
    }
    cudaStreamDestroy(stream);
    hot_context_destroy(&context);
    return 0;
}
