/* See contract_measure.h. Calls are captured in one graph, so that launches cost nothing, and use several
 * sets of data in turn, together more than the second-level cache holds, so that no call finds its data there. */
#include <algorithm>
#include <cuda_runtime.h>
#include <functional>
#include <stdio.h>
#include <string.h>

#include "common/backend.h"
#include "common/cublas.h"
#include "common/cuda_status.h"
#include "common/flow.h"
#include "cuda_timing.h"
#include "contract/gpu/contract_cuda.h"
#include "fem/gpu/fem_cuda.h"
#include "contract_measure.h"

namespace {

enum { SETS = 64 };

template <typename T> __global__ void fill_kernel(T *values, size_t count, unsigned seed)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        unsigned x = (unsigned)i * 2654435761u + seed;
        x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
        values[i] = (T)((int)(x % 2000001u) - 1000000) * (T)1e-6;
    }
}

/* Moves bytes and nothing else: reads of n_in units of 16 bytes, writes of n_out. */
__global__ void __launch_bounds__(512)
    move_kernel(const int4 *__restrict__ in, size_t n_in, int4 *__restrict__ out, size_t n_out)
{
    const size_t step = (size_t)gridDim.x * blockDim.x, at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    int4 sum = make_int4(0, 0, 0, 0);
    size_t i = at, j = at;
    const size_t reads = (n_in + step - 1) / step, writes = (n_out + step - 1) / step;
    size_t done = 0;
    for (size_t r = 0; r < reads; r += 4) {
        int4 x[4];
#pragma unroll
        for (int u = 0; u < 4; u++, i += step)
            x[u] = i < n_in ? __ldcs(in + i) : make_int4(0, 0, 0, 0);
#pragma unroll
        for (int u = 0; u < 4; u++)
            sum.x ^= x[u].x, sum.y ^= x[u].y, sum.z ^= x[u].z, sum.w ^= x[u].w;
        for (; done < writes && done * reads < (r + 4) * writes; done++, j += step)
            if (j < n_out)
                __stcs(out + j, sum);
    }
    for (; done < writes; done++, j += step)
        if (j < n_out)
            __stcs(out + j, sum);
    if (n_out == 0 && sum.x == 12345)
        out[0] = sum;
}

/* The time of one launch; launches use the sets in turn. */
hot_status measure(hot_context *context, size_t sets,
                   const std::function<hot_status(size_t set, cudaStream_t stream)> &launch, double seconds,
                   double *median, double *fastest)
{
    const size_t calls = std::max<size_t>(sets, 4);
    cudaStream_t stream = NULL;
    hot_status status = hot_cuda_status(context, cudaStreamCreate(&stream), "stream");
    if (status != HOT_OK)
        return status;
    status = hot_cuda_time(context, stream, 1, [&] {
        hot_status launched = HOT_OK;
        for (size_t c = 0; c < calls && launched == HOT_OK; c++)
            launched = launch(c % sets, stream);
        return launched;
    }, seconds, median, fastest, NULL);
    *median /= (double)calls;
    *fastest /= (double)calls;
    cudaStreamDestroy(stream);
    return status;
}

/* Device memory of several sets, each of so many bytes in whole units of 256. */
struct arena {
    char *memory = NULL;
    size_t each = 0, sets = 0;
    ~arena() { cudaFree(memory); }
    hot_status make(hot_context *context, size_t bytes, bool f64)
    {
        size_t free_bytes = 0, total = 0;
        each = (bytes + 255) / 256 * 256;
        cudaMemGetInfo(&free_bytes, &total);
        sets = std::max<size_t>(1, std::min<size_t>(SETS, ((size_t)400 << 20) / each)); /* eight times the cache */
        if (sets * each > free_bytes)
            return hot_context_fail(context, HOT_ERROR_MEMORY, "the GPU does not have %zu bytes free", sets * each);
        hot_status status = hot_cuda_status(context, cudaMalloc((void **)&memory, sets * each), "memory");
        if (status != HOT_OK)
            return status;
        if (f64)
            fill_kernel<double><<<2048, 256>>>((double *)memory, sets * each / 8, 1);
        else
            fill_kernel<float><<<2048, 256>>>((float *)memory, sets * each / 4, 1);
        return hot_cuda_status(context, cudaDeviceSynchronize(), "random data");
    }
    char *set(size_t s) const { return memory + s * each; }
};

hot_status measure_floor(hot_context *context, const arena &data, size_t in_bytes, size_t out_bytes, double seconds,
                         double *floor)
{
    double fastest = 0, best = 0;
    hot_status status = HOT_OK;
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    for (int per = 2; per <= 4 && status == HOT_OK; per++) { /* the best of a few grids */
        double median = 0;
        const size_t units = std::max(in_bytes, out_bytes) / 16, enough = (units + 511) / 512;
        const unsigned blocks = (unsigned)std::max<size_t>(1, std::min<size_t>(enough, (size_t)processors * per));
        status = measure(
            context, data.sets,
            [&](size_t s, cudaStream_t stream) {
                move_kernel<<<blocks, 512, 0, stream>>>((const int4 *)data.set(s), in_bytes / 16,
                                                        (int4 *)(data.set(s) + in_bytes / 16 * 16), out_bytes / 16);
                return hot_cuda_status(context, cudaGetLastError(), "moving");
            },
            seconds / 3, &median, &fastest);
        best = best == 0 || median < best ? median : best;
    }
    *floor = best;
    return status;
}

hot_status ready(hot_context *context)
{
    if (hot_cuda_count() == 0)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found");
    return hot_cuda_select(context, hot_context_device_number(context));
}

hot_contract_plan square_plan(hot_context *context, bool f64, size_t n, size_t batch, char *memory)
{
    hot_contract_plan plan;
    const size_t bytes = n * n * batch * (f64 ? 8 : 4), step = (bytes + 15) / 16 * 16;
    memset(&plan, 0, sizeof plan);
    plan.f64 = f64, plan.alpha = 1, plan.beta = .5;
    plan.a = memory, plan.b = memory + step, plan.c = memory + 2 * step;
    hot_group_add(&plan.row, n, n, 0, n);
    hot_group_add(&plan.column, n, 0, 1, 1);
    hot_group_add(&plan.sum, n, 1, n, 0);
    hot_group_add(&plan.item, batch, n * n, n * n, n * n);
    hot_contract_plan_finish(context, &plan);
    return plan;
}

} // namespace

extern "C" hot_status hot_contract_bench(hot_context *context, int f64, size_t n, size_t batch, int tune,
                                         double seconds, hot_contract_figure *figure)
{
    enum { MOST = 32 };
    hot_contract_choice choices[MOST];
    const size_t bytes = n * n * batch * (f64 ? 8 : 4),
                 variants = tune ? hot_contract_cuda_variants(f64, n, n, n, choices, MOST) : 0;
    arena data;
    memset(figure, 0, sizeof *figure);
    hot_status status = ready(context);
    if (status == HOT_OK)
        status = data.make(context, 3 * ((bytes + 15) / 16 * 16) + bytes, f64 != 0);
    if (status == HOT_OK)
        status = measure_floor(context, data, 3 * bytes, bytes, seconds / 4, &figure->floor);
    figure->bytes = 4. * (double)bytes;
    for (size_t v = 0; v < std::max<size_t>(variants, 1) && status == HOT_OK; v++) {
        double median = 0, fastest = 0;
        const hot_contract_choice *choice = variants ? &choices[v] : NULL;
        if (variants > 1 && strcmp(choice->variant, "bulk") != 0 && n > 4)
            continue; /* never near */
        status = measure(context, data.sets, [&](size_t s, cudaStream_t stream) {
            const hot_contract_plan plan = square_plan(context, f64 != 0, n, batch, data.set(s));
            return hot_contract_launch(context, &plan, choice, stream);
        }, seconds / (double)std::max<size_t>(variants, 1), &median, &fastest);
        if (status == HOT_ERROR_ARGUMENT && variants) { /* does not fit */
            status = HOT_OK;
            continue;
        }
        if (status == HOT_OK && (figure->seconds == 0 || median < figure->seconds)) {
            figure->seconds = median, figure->fastest = fastest;
            if (choice)
                figure->choice = *choice;
        }
    }
    return status;
}

extern "C" hot_status hot_contract_bench_cublas(hot_context *context, int f64, size_t n, size_t batch, double seconds,
                                                hot_contract_figure *figure)
{
    const size_t bytes = n * n * batch * (f64 ? 8 : 4);
    arena data;
    hot_cublas *cublas = NULL;
    memset(figure, 0, sizeof *figure);
    snprintf(figure->choice.variant, sizeof figure->choice.variant, "cublas");
    figure->bytes = 4. * (double)bytes;
    hot_status status = ready(context);
    if (status == HOT_OK)
        status = data.make(context, 3 * ((bytes + 15) / 16 * 16), f64 != 0);
    cudaStream_t last = NULL;
    if (status == HOT_OK)
        status = measure(context, data.sets, [&](size_t s, cudaStream_t stream) {
            if (stream != last) { /* one handle per stream of the measurement */
                hot_cublas_destroy(context, &cublas);
                HOT_TRY(hot_cublas_create(context, stream, &cublas));
                last = stream;
            }
            const hot_contract_plan plan = square_plan(context, f64 != 0, n, batch, data.set(s));
            return hot_cublas_multiply(context, cublas, f64 ? HOT_CUBLAS_F64 : HOT_CUBLAS_F32, 0, 0, n, n, n, 1, plan.b,
                                       n, n * n, plan.a, n, n * n, .5, plan.c, n, n * n, batch);
        }, seconds, &figure->seconds, &figure->fastest);
    hot_cublas_destroy(context, &cublas);
    return status;
}

extern "C" hot_status hot_fem_bench(hot_context *context, int f64, int dim, size_t dofs, size_t points, int assemble,
                                    size_t megabytes, double seconds, size_t *elements, hot_contract_figure *figure)
{
    const size_t size = f64 ? 8 : 4, nd = hot_fem_power(dofs, dim), nq = hot_fem_power(points, dim);
    const size_t d_each = nq * size, v_each = assemble ? 0 : nd * size, out_each = (assemble ? nd * nd : nd) * size;
    const size_t count = std::max<size_t>(((megabytes << 20) / (d_each + v_each + out_each)) / 4 * 4, 4);
    double basis[HOT_FEM_POINTS * HOT_FEM_POINTS];
    float narrow[HOT_FEM_POINTS * HOT_FEM_POINTS];
    arena data;
    hot_fem_args args;
    memset(figure, 0, sizeof *figure);
    memset(&args, 0, sizeof args);
    *elements = count;
    figure->bytes = (double)(count * (d_each + v_each + out_each));
    hot_status status = ready(context);
    if (status == HOT_OK)
        status = hot_fem_basis(context, dofs, points, basis, NULL);
    for (size_t i = 0; i < dofs * points && status == HOT_OK; i++)
        narrow[i] = (float)basis[i];
    if (status == HOT_OK)
        status = data.make(context, count * (d_each + v_each + out_each), f64 != 0);
    if (status == HOT_OK)
        status = measure_floor(context, data, count * (d_each + v_each), count * out_each, seconds / 2, &figure->floor);
    args.assemble = assemble;
    args.f64 = f64, args.dim = dim, args.dofs = dofs, args.points = points, args.elements = count;
    args.basis = f64 ? (const void *)basis : narrow;
    if (status == HOT_OK)
        status = measure(context, data.sets, [&](size_t s, cudaStream_t stream) {
            args.d = data.set(s);
            args.v = data.set(s) + count * d_each;
            args.out = data.set(s) + count * (d_each + v_each);
            return hot_fem_launch(context, &args, stream);
        }, seconds, &figure->seconds, &figure->fastest);
    return status;
}
