/* See packed_tensor.h. */
#include <algorithm>
#include <cuda_runtime.h>
#include <stdint.h>
#include <string.h>

#include "common/cuda_status.h"
#include "cpd_memory.h"
#include "packed_tensor.h"
#include "half_scale.cuh"
#include "cpd/hopper/fragment_product.h"

namespace {

__global__ void __launch_bounds__(512) largest_kernel(const float *x, size_t count, unsigned *most)
{
    unsigned here = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        const unsigned bits = __float_as_uint(x[i]) & 0x7fffffff;
        here = bits < 0x7f800000 ? max(here, bits) : here; /* NaN and Inf do not set the scale */
    }
    here = __reduce_max_sync(0xffffffff, here);
    if (threadIdx.x % 32 == 0)
        atomicMax(most, here);
}

__device__ __forceinline__ void put_halves(float x, float factor, __half *to, int i)
{
    to[i] = __float2half_rn(x * factor);
}
__device__ __forceinline__ void put_halves(float4 x, float factor, __half *to, int i)
{
    const __half2 low = __floats2half2_rn(x.x * factor, x.y * factor),
                  high = __floats2half2_rn(x.z * factor, x.w * factor);
    ((uint2 *)to)[i] = make_uint2(*(const unsigned *)&low, *(const unsigned *)&high);
}

__global__ void scale_kernel(const unsigned *most, float *scale) { *scale = half_scale(*most); }

/* x (rows of n, in fours of them: n / 4) as halves, rows ld apart. A warp per row. */
template <typename FOUR>
__global__ void __launch_bounds__(256) halve_kernel(const FOUR *x, size_t rows, int n, size_t ld, const float *scale,
                                                    __half *halves)
{
    const float factor = *scale;
    const size_t step = (size_t)gridDim.x * 8;
    for (size_t row = (size_t)blockIdx.x * 8 + threadIdx.x / 32; row < rows; row += step) {
        const FOUR *const from = x + row * n;
        __half *const to = halves + row * ld;
#pragma unroll 4
        for (int i = threadIdx.x % 32; i < n; i += 32)
            put_halves(from[i], factor, to, i);
    }
}

/* The halves of a mode's product in order (fragment_product.h): a thread per 16 bytes. */
__global__ void __launch_bounds__(256)
    fragment_kernel(const __half *halves, hot_cpd_fragment_layout order, size_t count, uint4 *to)
{
    for (size_t at = (size_t)blockIdx.x * 256 + threadIdx.x; at < count; at += (size_t)gridDim.x * 256) {
        const int g = at % 32 / 4, t = at % 4, step = (int)(at / 32 % order.steps);
        const int tile = (int)(at / 32 / order.steps % order.tiles);
        const size_t out = at / 32 / order.steps / order.tiles;
        __half values[8];
        for (int e = 0; e < 8; e++) { /* (g, 4t), (g, 4t + 1), (g + 8, the same); then 4t + 2 and 4t + 3 */
            const int row = 16 * tile + g + e / 2 % 2 * 8, p = 16 * step + 4 * t + e / 4 * 2 + e % 2;
            values[e] = row < order.rows && p < order.inner
                            ? halves[out * order.stride_out + row * order.stride_row + p * order.stride_inner]
                            : __half(0.f);
        }
        to[at] = *(const uint4 *)values;
    }
}

} // namespace

hot_status hot_cpd_packed_tensor_round(hot_context *context, const hot_cpd_packed_tensor *packed, void *stream_pointer)
{
    const size_t *n = packed->n, rows = n[1] * n[2];
    cudaStream_t stream = (cudaStream_t)stream_pointer;
    if (!packed->halves)
        return HOT_OK;
    if (n[0] % 4 == 0)
        halve_kernel<<<2048, 256, 0, stream>>>((const float4 *)packed->x, rows, (int)n[0] / 4, packed->ld,
                                               packed->scale, packed->halves);
    else
        halve_kernel<<<2048, 256, 0, stream>>>(packed->x, rows, (int)n[0], packed->ld, packed->scale, packed->halves);
    return hot_cpd_launched(context, "rounding the tensor");
}

static int is_kept(const hot_cpd_packed_tensor *packed) { return packed->use == CPD_PRODUCTS; }

/* Memory that is short is no error: *fits becomes 0. */
static hot_status allocate(hot_context *context, const hot_cpd_packed_tensor *packed, size_t bytes, void *where,
                           int *fits)
{
    const hot_status status = hot_cpd_get(context, is_kept(packed), bytes, where, "memory for products");
    *fits = status != HOT_ERROR_MEMORY;
    return *fits ? status : HOT_OK;
}

hot_status hot_cpd_packed_tensor_align(hot_context *context, hot_cpd_packed_tensor *packed, void *stream, int *fits)
{
    enum { LINE = 128 / sizeof(float) };
    const size_t *n = packed->n, rows = n[1] * n[2], each = n[0] * sizeof(float);
    *fits = 1;
    if (packed->halves || packed->aligned || n[0] % LINE == 0)
        return HOT_OK;
    packed->ld = (n[0] + LINE - 1) / LINE * LINE;
    hot_status status = allocate(context, packed, packed->ld * rows * sizeof(float), &packed->aligned, fits);
    if (status == HOT_OK && *fits)
        status = hot_cuda_status(context,
                                 cudaMemcpy2DAsync(packed->aligned, packed->ld * sizeof(float), packed->x, each, each,
                                                   rows, cudaMemcpyDeviceToDevice, (cudaStream_t)stream),
                                 "copying the tensor");
    return status;
}

/* cuTensorMapEncodeTiled, from the installed driver. */
void *hot_cpd_find_encode(void)
{
    void *found = NULL;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    if (error != cudaSuccess)
        cudaGetLastError();
    return error == cudaSuccess && result == cudaDriverEntryPointSuccess ? found : NULL;
}

hot_status hot_cpd_packed_tensor_create(hot_context *context, const float *x, const size_t n[3], int split,
                                        hot_cpd_use use, void *stream_pointer, hot_cpd_packed_tensor **out)
{
    int device = 0, major = 0, minor = 0, fits = 1;
    cudaStream_t stream = (cudaStream_t)stream_pointer;
    *out = NULL;
    hot_status status = hot_cuda_status(context, cudaGetDevice(&device), "device");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                                 "device");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
                                 "device");
    if (status != HOT_OK || major != 9 || minor != 0 || (uintptr_t)x % 16 || !hot_cpd_find_encode())
        return status;
    hot_cpd_packed_tensor *packed = (hot_cpd_packed_tensor *)hot_context_calloc(context, 1, sizeof *packed);
    if (!packed)
        return HOT_ERROR_MEMORY;
    memcpy(packed->n, n, sizeof packed->n);
    packed->x = x, packed->split = split, packed->use = use, packed->ld = n[0];
    status = hot_cpd_get(context, is_kept(packed), 2 * sizeof(float), &packed->scale, "memory for products");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemsetAsync(packed->scale, 0, 2 * sizeof(float), stream), "memory");
    if (status == HOT_OK) {
        largest_kernel<<<1024, 512, 0, stream>>>(x, n[0] * n[1] * n[2], (unsigned *)packed->scale + 1);
        scale_kernel<<<1, 1, 0, stream>>>((const unsigned *)packed->scale + 1, packed->scale);
        status = hot_cpd_launched(context, "the tensor's largest value");
    }
    if (status == HOT_OK && use != CPD_ONE_PRODUCT && !split) {
        packed->ld = (n[0] + 63) / 64 * 64; /* whole lines of memory */
        status = allocate(context, packed, packed->ld * n[1] * n[2] * sizeof(__half), &packed->halves, &fits);
        if (status == HOT_OK && fits)
            status = hot_cpd_packed_tensor_round(context, packed, stream);
    }
    if (status == HOT_OK && use == CPD_PRODUCTS && split)
        status = hot_cpd_packed_tensor_align(context, packed, stream, &fits);
    if (status == HOT_OK && fits)
        *out = packed;
    else
        hot_cpd_packed_tensor_destroy(context, &packed);
    return status;
}

hot_status hot_cpd_packed_tensor_fragments(hot_context *context, hot_cpd_packed_tensor *packed, int mode, void *stream)
{
    const hot_cpd_fragment_layout order = hot_cpd_fragment_layout_of(packed->n, packed->ld, mode);
    const size_t count = packed->n[mode] * order.tiles * order.steps * 32;
    int fits;
    if (packed->fragments[mode] || !packed->halves)
        return HOT_OK;
    hot_status status = allocate(context, packed, count * 16, &packed->fragments[mode], &fits);
    if (status == HOT_OK && fits) {
        fragment_kernel<<<2048, 256, 0, (cudaStream_t)stream>>>(packed->halves, order, count,
                                                                (uint4 *)packed->fragments[mode]);
        status = hot_cpd_launched(context, "ordering the tensor");
        if (status == HOT_OK) /* kernels that read it wait for nothing */
            status = hot_cuda_status(context, cudaStreamSynchronize((cudaStream_t)stream), "ordering the tensor");
    }
    return status;
}

void hot_cpd_packed_tensor_destroy(hot_context *context, hot_cpd_packed_tensor **packed)
{
    if (!*packed)
        return;
    const int kept = is_kept(*packed);
    hot_cpd_give(context, kept, (*packed)->aligned);
    hot_cpd_give(context, kept, (*packed)->halves);
    for (int m = 0; m < 3; m++)
        hot_cpd_give(context, kept, (*packed)->fragments[m]);
    hot_cpd_give(context, kept, (*packed)->scale);
    hot_context_free(context, *packed);
    *packed = NULL;
}
