/* bench_device_calls: what the public calls take on arrays in a GPU's memory (hotfiber/device.h), in milliseconds: on
 * the stream from before the call to after it, and on the host until it returns; medians of 15 after a warm-up. Beside
 * it the call on host arrays. The kernels alone: `test_kernels_checker --bench`. */
#include <algorithm>
#include <chrono>
#include <cuda_runtime.h>
#include <functional>
#include <math.h>
#include <stdio.h>
#include <vector>

#include <hotfiber/device.h>
#include <hotfiber/directions.h>
#include <hotfiber/heev.h>
#include <hotfiber/lowrank.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/tridiag.h>

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

static void measure(const char *name, const std::function<hot_status(bool there)> &call)
{
    enum { TIMES = 15 };
    std::vector<double> on_stream, returned, from_host;
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
    check(hot_context_set_memory(context, HOT_MEMORY_HOST, NULL));
    for (int i = 0; i <= TIMES / 3; i++) {
        const double from = now();
        check(call(false));
        if (i > 0)
            from_host.push_back(1e3 * (now() - from));
    }
    printf("%-48s stream %9.3f ms   call returns after %7.3f ms   host arrays %9.3f ms\n", name, median(on_stream),
           median(returned), median(from_host));
    fflush(stdout);
}

int main(void)
{
    static const struct { size_t n, count; } heev[] = {{32, 1000}, {64, 180}, {128, 180}, {128, 1000}, {256, 180},
                                                       {512, 180}};
    hot_context_options options = {};
    char name[64];
    options.size = sizeof options;
    options.device = HOT_DEVICE_CUDA;
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
        measure(name, [&](bool there) {
            return hot_heev_f64(context, NULL, n, count, a.at(there), w.at(there), v.at(there), NULL);
        });
    }
    for (size_t n = 1024; n <= 4096; n *= 4) {
        both<double> d(n, 1), e(n, 1), w(n);
        snprintf(name, sizeof name, "tridiag %zu, double", n);
        measure(name, [&](bool there) {
            return hot_tridiag_f64(context, NULL, n, 1, d.at(there), e.at(there), n, w.at(there), n, NULL);
        });
    }
    for (int order = 4; order <= 8; order += 2) {
        const size_t terms = hot_symtensor_count(order, 3), count = 1 << 20, starts = 128;
        both<float> tensors(terms * count, 1), directions(9 * count), lambda(count);
        std::vector<float> start(3 * starts);
        for (float &x : start)
            x = (float)(uniform() - .5);
        snprintf(name, sizeof name, "directions, order %d, %zu tensors", order, count);
        measure(name, [&](bool there) {
            return hot_directions_f32(context, NULL, order, count, tensors.at(there), terms, NULL,
                                      directions.at(there), NULL);
        });
        snprintf(name, sizeof name, "lowrank, order %d, %zu tensors", order, count);
        measure(name, [&](bool there) {
            return hot_lowrank_f32(context, NULL, order, count, tensors.at(there), terms, NULL, directions.at(there),
                                   NULL, NULL);
        });
        hot_directions_options many = {};
        many.size = sizeof many;
        many.threshold = many.min_angle = many.min_relative_range = -1;
        many.starts = starts;
        snprintf(name, sizeof name, "directions by 128 starts, order %d, %zu", order, count);
        measure(name, [&](bool there) {
            return hot_directions_f32(context, &many, order, count, tensors.at(there), terms, NULL,
                                      directions.at(there), NULL);
        });
    }
    cudaStreamDestroy(stream);
    hot_context_destroy(&context);
    return 0;
}
