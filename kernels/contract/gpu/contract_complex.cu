/* Complex contractions on arrays in the GPU's memory: see contract_complex.h. */
#include <cuda_runtime.h>

#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "common/flow.h"
#include "contract/contract_complex.h"

namespace {

enum { THREADS = 256, MOST_BLOCKS = 1 << 20 };

unsigned blocks_of(size_t count)
{
    const size_t blocks = (count + THREADS - 1) / THREADS;
    return (unsigned)(blocks < (size_t)MOST_BLOCKS ? blocks : (size_t)MOST_BLOCKS);
}

__global__ void expand(const __grid_constant__ hot_complex_args args, size_t count)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (size_t)gridDim.x * THREADS)
        if (args.f64)
            hot_complex_expand_f64(&args, i);
        else
            hot_complex_expand_f32(&args, i);
}

struct factor {
    double value[2];
};

__global__ void scale(const __grid_constant__ hot_contract_plan plan, factor beta, size_t count)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (size_t)gridDim.x * THREADS)
        if (plan.f64)
            hot_complex_scale_f64(&plan, beta.value, i);
        else
            hot_complex_scale_f32(&plan, beta.value, i);
}

} // namespace

extern "C" hot_status hot_complex_expand_cuda(hot_context *context, hot_complex_args *args, const char *name,
                                              size_t count, void **expanded)
{
    void *stream;
    hot_context_memory(context, &stream);
    hot_status status = hot_device_check(context, name, args->b);
    if (status == HOT_OK && count > SIZE_MAX / 64)
        status = hot_context_fail(context, HOT_ERROR_MEMORY, "no memory for %zu complex values of an operand", count);
    if (status == HOT_OK)
        status = hot_device_alloc(context, 4 * count * (args->f64 ? sizeof(double) : sizeof(float)), expanded,
                                  "working memory");
    if (status != HOT_OK)
        return status;
    args->expanded = *expanded;
    expand<<<blocks_of(count), THREADS, 0, (cudaStream_t)stream>>>(*args, count);
    return hot_cuda_status(context, cudaGetLastError(), "complex operands");
}

extern "C" hot_status hot_complex_scale_cuda(hot_context *context, const hot_contract_plan *plan, const double beta[2],
                                             size_t count)
{
    void *stream;
    hot_context_memory(context, &stream);
    HOT_TRY(hot_device_check(context, "operand C", plan->c));
    scale<<<blocks_of(count), THREADS, 0, (cudaStream_t)stream>>>(*plan, factor{{beta[0], beta[1]}}, count);
    return hot_cuda_status(context, cudaGetLastError(), "complex result");
}
