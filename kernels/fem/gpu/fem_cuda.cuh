/* Mass operators on the GPU. Template by inclusion: FEM_T, FEM_BANKS (how many of its values are in different banks),
 * FEM(name). The action: fem_folded.cuh or fem_planes.cuh for what they are made for, else fem_lines.cuh; assembly:
 * fem_assembly.cuh; and kernels for any size. */
#include <algorithm>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include "common/cuda_status.h"
#include "common/hopper.cuh"
#include "common/shared_memory.cuh"
#include "contract/gpu/contract_cuda.h"
#include "fem_cuda.h"

namespace {

template <int N, int DIM> struct power { static constexpr int OF = DIM == 2 ? N * N : N * N * N; };

template <int P, int Q> struct basis_values { FEM_T b[P][Q]; }; /* b[i][k] = phi_i(q_k) */

/* One line to the points, or back: P -> Q with b, Q -> P with its transpose. */
template <int P, int Q>
__device__ __forceinline__ void to_points(const basis_values<P, Q> &basis, const FEM_T (&in)[P], FEM_T (&out)[Q])
{
#pragma unroll
    for (int k = 0; k < Q; k++) {
        FEM_T sum = basis.b[0][k] * in[0];
#pragma unroll
        for (int i = 1; i < P; i++)
            sum += basis.b[i][k] * in[i];
        out[k] = sum;
    }
}
template <int P, int Q>
__device__ __forceinline__ void to_dofs(const basis_values<P, Q> &basis, const FEM_T (&in)[Q], FEM_T (&out)[P])
{
#pragma unroll
    for (int i = 0; i < P; i++) {
        FEM_T sum = basis.b[i][0] * in[0];
#pragma unroll
        for (int k = 1; k < Q; k++)
            sum += basis.b[i][k] * in[k];
        out[i] = sum;
    }
}

#include "fem_lines.cuh"
#include "fem_planes.cuh"
#include "fem_folded.cuh"
#include "fem_assembly.cuh"

/* ---- Any size ---------------------------------------------------------------------------------------------------- */

struct any_basis { FEM_T b[HOT_FEM_POINTS * HOT_FEM_POINTS]; };

/* A block per element; axis by axis between two arrays in shared memory, a thread per value. */
__device__ void along_axis(const FEM_T *in, FEM_T *out, int before, int from, int to, int after, const FEM_T *m,
                           int m_to, int m_from)
{
    for (int x = threadIdx.x; x < before * to * after; x += blockDim.x) {
        const int b = x % before, t = x / before % to, a = x / before / to;
        FEM_T sum = 0;
        for (int f = 0; f < from; f++)
            sum += m[t * m_to + f * m_from] * in[b + before * (f + from * a)];
        out[x] = sum;
    }
    __syncthreads();
}

__global__ void any_action(const any_basis basis, int dim, int p, int q, size_t elements, const FEM_T *d,
                           const FEM_T *v, FEM_T *u)
{
    extern __shared__ __align__(128) unsigned char bytes[];
    const int side = max(p, q), cube = dim == 2 ? side * side : side * side * side;
    const int dofs = dim == 2 ? p * p : p * p * p, points = dim == 2 ? q * q : q * q * q, last = dim == 2 ? 1 : p;
    FEM_T *x = (FEM_T *)bytes, *y = x + cube, *const b = y + cube;
    for (int i = threadIdx.x; i < p * q; i += blockDim.x)
        b[i] = basis.b[i];
    for (size_t e = blockIdx.x; e < elements; e += gridDim.x) {
        __syncthreads();
        for (int i = threadIdx.x; i < dofs; i += blockDim.x)
            x[i] = v[e * dofs + i];
        __syncthreads();
        along_axis(x, y, 1, p, q, p * last, b, 1, q);
        along_axis(y, x, q, p, q, last, b, 1, q);
        if (dim == 3) {
            along_axis(x, y, q * q, p, q, 1, b, 1, q);
            FEM_T *const swap = x;
            x = y, y = swap;
        }
        for (int k = threadIdx.x; k < points; k += blockDim.x)
            x[k] *= d[e * points + k];
        __syncthreads();
        if (dim == 3) {
            along_axis(x, y, q * q, q, p, 1, b, q, 1);
            FEM_T *const swap = x;
            x = y, y = swap;
        }
        along_axis(x, y, q, q, p, last, b, q, 1);
        along_axis(y, x, 1, q, p, p * last, b, q, 1);
        for (int i = threadIdx.x; i < dofs; i += blockDim.x)
            u[e * dofs + i] = x[i];
    }
}

/* A thread per entry of the matrix. */
__global__ void any_assembly(const any_basis basis, int dim, int p, int q, size_t elements, const FEM_T *d, FEM_T *m)
{
    const int dofs = dim == 2 ? p * p : p * p * p, points = dim == 2 ? q * q : q * q * q;
    const size_t values = elements * dofs * dofs;
    for (size_t x = (size_t)blockIdx.x * blockDim.x + threadIdx.x; x < values; x += (size_t)gridDim.x * blockDim.x) {
        const int i = (int)(x % dofs), j = (int)(x / dofs % dofs);
        const FEM_T *const here = d + x / dofs / dofs * points;
        const FEM_T *const bi[3] = {basis.b + q * (i % p), basis.b + q * (i / p % p), basis.b + q * (i / p / p % p)};
        const FEM_T *const bj[3] = {basis.b + q * (j % p), basis.b + q * (j / p % p), basis.b + q * (j / p / p % p)};
        FEM_T sum = 0;
        for (int k3 = 0; k3 < (dim == 3 ? q : 1); k3++) {
            FEM_T plane = 0;
            for (int k2 = 0; k2 < q; k2++) {
                FEM_T line = 0;
                for (int k1 = 0; k1 < q; k1++)
                    line += bi[0][k1] * bj[0][k1] * here[k1 + q * (k2 + q * k3)];
                plane += bi[1][k2] * bj[1][k2] * line;
            }
            sum += dim == 3 ? bi[2][k3] * bj[2][k3] * plane : plane;
        }
        m[x] = sum;
    }
}

/* ---- Launching --------------------------------------------------------------------------------------------------- */

/* The blocks of a grid: `wanted`, but not more than `rounds` times those that the GPU holds at once. Allows the kernel
 * its shared memory. */
template <typename SHAPE>
hot_status set_grid(hot_context *context, const void *kernel, size_t wanted, int rounds, unsigned *blocks)
{
    int device = 0, processors = 1, fitting = 1;
    const hot_status status =
        hot_cuda_status(context, raise_shared_memory(kernel, SHAPE::BYTES), "shared memory");
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, kernel, SHAPE::THREADS, SHAPE::BYTES);
    *blocks = (unsigned)std::min<size_t>(wanted, (size_t)rounds * processors * std::max(fitting, 1));
    return status;
}

/* Launches a kernel whose blocks are teams of threads, each with E elements at a time. */
template <typename SHAPE, typename BASIS>
hot_status launch_teams(hot_context *context, const hot_fem_args *args, const BASIS &basis,
                        void (*kernel)(const BASIS, size_t, const FEM_T *, const FEM_T *, FEM_T *), cudaStream_t stream)
{
    const size_t chunks = (args->elements + SHAPE::E - 1) / SHAPE::E;
    unsigned blocks;
    const hot_status status =
        set_grid<SHAPE>(context, (const void *)kernel, (chunks + SHAPE::TEAMS - 1) / SHAPE::TEAMS, 1, &blocks);
    if (status == HOT_OK)
        kernel<<<blocks, SHAPE::THREADS, SHAPE::BYTES, stream>>>(basis, args->elements, (const FEM_T *)args->d,
                                                                 (const FEM_T *)args->v, (FEM_T *)args->out);
    return status;
}

/* The basis for folded_kernel; false when it is not symmetric to the last bit. */
template <int N> bool fold(const basis_values<N, N> &basis, folded_values<N> *folded)
{
    constexpr int H = N / 2, M = (N + 1) / 2;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            if (!(basis.b[i][k] == basis.b[N - 1 - i][N - 1 - k]))
                return false;
    for (int i = 0; i < M; i++)
        for (int k = 0; k < M; k++)
            folded->even[i][k] = i < H ? (basis.b[i][k] + basis.b[i][N - 1 - k]) / 2 : basis.b[i][k];
    for (int i = 0; i < H; i++)
        for (int k = 0; k < H; k++)
            folded->odd[i][k] = (basis.b[i][k] - basis.b[i][N - 1 - k]) / 2;
    return true;
}

template <int DIM, int P, int Q> hot_status launch(hot_context *context, const hot_fem_args *args, cudaStream_t stream)
{
    basis_values<P, Q> basis;
    hot_status status = HOT_OK;
    unsigned blocks;
    for (int i = 0; i < P; i++)
        for (int k = 0; k < Q; k++)
            basis.b[i][k] = ((const FEM_T *)args->basis)[k + Q * i];
    if (args->assemble) {
        using shape = assembly_shape<DIM, P, Q>;
        const size_t groups = (args->elements * shape::LASTS + shape::SLOTS - 1) / shape::SLOTS;
        status = set_grid<shape>(context, (const void *)assembly_kernel<DIM, P, Q>, groups, 4, &blocks);
        if (status == HOT_OK)
            assembly_kernel<DIM, P, Q><<<blocks, shape::THREADS, shape::BYTES, stream>>>(
                basis, args->elements, (const FEM_T *)args->d, (FEM_T *)args->out);
        return status;
    }
    if constexpr (DIM == 3 && P == Q && P >= FOLDED_FIRST && P <= FOLDED_LAST) {
        folded_values<P> folded;
        if (hot_bulk_available() && (P % 2 || ((size_t)args->v | (size_t)args->out) % 16 == 0) && fold(basis, &folded))
            return launch_teams<folded_shape<P>>(context, args, folded, folded_kernel<P>, stream);
    }
    if constexpr (DIM == 3 && P == Q && P >= PLANES_FIRST && P <= PLANES_LAST)
        if (((size_t)args->v | (size_t)args->d | (size_t)args->out) % (sizeof(FEM_T) * plane_shape<P>::WIDE) == 0)
            return launch_teams<plane_shape<P>>(context, args, basis, planes_kernel<P>, stream);
    using shape = action_shape<DIM, P, Q>;
    status = set_grid<shape>(context, (const void *)action_kernel<DIM, P, Q>,
                             (args->elements + shape::E - 1) / shape::E, 1, &blocks);
    if (status == HOT_OK)
        action_kernel<DIM, P, Q><<<blocks, shape::THREADS, shape::BYTES, stream>>>(
            basis, args->elements, (const FEM_T *)args->d, (const FEM_T *)args->v, (FEM_T *)args->out);
    return status;
}

hot_status launch_any(hot_context *context, const hot_fem_args *args, cudaStream_t stream)
{
    const int p = (int)args->dofs, q = (int)args->points, side = std::max(p, q), dim = args->dim;
    any_basis basis;
    for (int i = 0; i < p * q; i++)
        basis.b[i] = ((const FEM_T *)args->basis)[i];
    if (args->assemble) {
        const size_t dofs = hot_fem_power(args->dofs, dim), values = args->elements * dofs * dofs;
        any_assembly<<<(unsigned)std::min<size_t>((values + 255) / 256, 1u << 30), 256, 0, stream>>>(
            basis, dim, p, q, args->elements, (const FEM_T *)args->d, (FEM_T *)args->out);
        return HOT_OK;
    }
    const size_t bytes = sizeof(FEM_T) * (2 * hot_fem_power((size_t)side, dim) + (size_t)(p * q));
    hot_status status =
        hot_cuda_status(context, raise_shared_memory((const void *)any_action, bytes), "shared memory");
    if (status == HOT_OK)
        any_action<<<(unsigned)std::min<size_t>(args->elements, 1u << 20), 256, bytes, stream>>>(
            basis, dim, p, q, args->elements, (const FEM_T *)args->d, (const FEM_T *)args->v, (FEM_T *)args->out);
    return status;
}

typedef hot_status launch_function(hot_context *context, const hot_fem_args *args, cudaStream_t stream);
#define FEM_ENTRY(DIM, P) {launch<DIM, P, P>, launch<DIM, P, P + 1>}
#define FEM_ENTRIES(DIM) {FEM_ENTRY(DIM, 2), FEM_ENTRY(DIM, 3), FEM_ENTRY(DIM, 4), FEM_ENTRY(DIM, 5), \
                          FEM_ENTRY(DIM, 6), FEM_ENTRY(DIM, 7), FEM_ENTRY(DIM, 8), FEM_ENTRY(DIM, 9)}
launch_function *const launches[2][8][2] = {FEM_ENTRIES(2), FEM_ENTRIES(3)};
#undef FEM_ENTRY
#undef FEM_ENTRIES

} // namespace

extern "C" hot_status FEM(launch)(hot_context *context, const hot_fem_args *args, void *stream)
{
    const bool own =
        args->dofs >= 2 && args->dofs <= 9 && (args->points == args->dofs || args->points == args->dofs + 1);
    launch_function *function = own ? launches[args->dim - 2][args->dofs - 2][args->points - args->dofs] : launch_any;
    hot_status status = function(context, args, (cudaStream_t)stream);
    return status != HOT_OK ? status : hot_cuda_status(context, cudaGetLastError(), "starting finite elements");
}
