/* Mass operators on the GPU. Template by inclusion: FEM_T, FEM_BANKS (values of it that lie in different banks), FEM(name).
 *
 * Action: a block keeps a few elements in shared memory and passes over them axis by axis, a thread per line of values,
 * which it holds in registers; the basis is a kernel argument, so that its values are operands of the multiplications.
 * Strides in shared memory are padded so that neighbouring threads meet different banks whichever axis they run along.
 * The next elements are on their way meanwhile; elements so large that few fit are better off with more blocks instead.
 *
 * Assembly: writing the matrix is what takes time. A block works on (element, j3) pairs: sums over the last axes are
 * shared, the last sum, over axis 1, is done per row i of the matrix by one thread, column by column. */
#include <algorithm>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include "../common/cuda_status.h"
#include "contract_cuda.h"

namespace {

constexpr int odd(int n) { return n | 1; }

/* The smallest stride of at least `size` with this remainder by the banks. */
constexpr int padded(int size, int rest)
{
    return size + (rest % FEM_BANKS - size % FEM_BANKS + FEM_BANKS) % FEM_BANKS;
}
/* In 2-D, with one exchange through shared memory, that must not cost much: memory that holds nothing keeps elements from
 * being on their way. */
constexpr int lightly_padded(int size, int rest) { return 4 * (padded(size, rest) - size) <= size ? padded(size, rest) : odd(size); }

template <int P, int Q> struct basis_values { FEM_T b[P][Q]; }; /* b[i][k] = phi_i(q_k) */

/* One line to the points, or back: P -> Q with b, Q -> P with its transpose. */
template <int P, int Q> __device__ __forceinline__ void to_points(const basis_values<P, Q> &basis, const FEM_T (&in)[P], FEM_T (&out)[Q])
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
template <int P, int Q> __device__ __forceinline__ void to_dofs(const basis_values<P, Q> &basis, const FEM_T (&in)[Q], FEM_T (&out)[P])
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

/* Where things lie in shared memory, per element. */
template <int DIM, int P, int Q> struct places;

template <int P, int Q> struct places<2, P, Q> {
    static constexpr int LINES = Q;                              /* threads per element */
    static constexpr int V = lightly_padded(P * P, P);                   /* v, then u: i1 + P i2 */
    static constexpr int D_ROW = odd(Q), D = Q * odd(Q);         /* k1 + D_ROW k2 */
    static constexpr int W_ROW = odd(P), W = Q * odd(P);         /* i1 + W_ROW k2 */
    static constexpr int WORK = W;
    static __device__ int v_at(int x) { return x; }
    static __device__ int d_at(int x) { return x % Q + x / Q * D_ROW; }
};

template <int P, int Q> struct places<3, P, Q> {
    static constexpr int LINES = Q * Q;
    static constexpr int V = padded(P * P * P, P * P);
    static constexpr int D_PLANE = padded(Q * Q, Q), D = Q * D_PLANE; /* k1 + Q k2 + D_PLANE k3 */
    static constexpr int W_I1 = padded(P * Q, 1);                     /* first work array: k3 + Q i2 + W_I1 i1 */
    static constexpr int X_K3 = odd(Q), X_I2 = padded(Q * X_K3, 1);   /* second: k1 + X_K3 k3 + X_I2 i2 */
    static constexpr int FIRST = P * W_I1, WORK = FIRST + P * X_I2;
    static __device__ int v_at(int x) { return x; }
    static __device__ int d_at(int x) { return x % (Q * Q) + x / (Q * Q) * D_PLANE; }
};

/* 2-D: axis 2 to the points, axis 1 there and back around D, axis 2 back. One element's thread `line`. */
template <int P, int Q>
__device__ __forceinline__ void pass(const basis_values<P, Q> &basis, FEM_T *v, const FEM_T *d, FEM_T *w, int line, bool here,
                                     places<2, P, Q>)
{
    using at = places<2, P, Q>;
    FEM_T p[P], q[Q];
    if (here && line < P) {
#pragma unroll
        for (int i = 0; i < P; i++)
            p[i] = v[line + P * i];
        to_points(basis, p, q);
#pragma unroll
        for (int k = 0; k < Q; k++)
            w[line + at::W_ROW * k] = q[k];
    }
    __syncthreads();
    if (here) {
#pragma unroll
        for (int i = 0; i < P; i++)
            p[i] = w[i + at::W_ROW * line];
        to_points(basis, p, q);
#pragma unroll
        for (int k = 0; k < Q; k++)
            q[k] *= d[k + at::D_ROW * line];
        to_dofs(basis, q, p);
#pragma unroll
        for (int i = 0; i < P; i++)
            w[i + at::W_ROW * line] = p[i];
    }
    __syncthreads();
    if (here && line < P) {
#pragma unroll
        for (int k = 0; k < Q; k++)
            q[k] = w[line + at::W_ROW * k];
        to_dofs(basis, q, p);
#pragma unroll
        for (int i = 0; i < P; i++)
            v[line + P * i] = p[i];
    }
}

/* 3-D: axes 3 and 1 to the points, axis 2 there and back around D, axes 1 and 3 back. */
template <int P, int Q>
__device__ __forceinline__ void pass(const basis_values<P, Q> &basis, FEM_T *v, const FEM_T *d, FEM_T *w, int line, bool here,
                                     places<3, P, Q>)
{
    using at = places<3, P, Q>;
    FEM_T p[P], q[Q];
    FEM_T *const x = w + at::FIRST;
    const bool outer = here && line < P * P, middle = here && line < P * Q;
    const int i1 = line % P, i2 = line / P;   /* of the lines along axis 3 */
    const int k3 = line % Q, m2 = line / Q;   /* of those along axis 1: k3, i2 */
    if (outer) {
#pragma unroll
        for (int i = 0; i < P; i++)
            p[i] = v[line + P * P * i];
        to_points(basis, p, q);
#pragma unroll
        for (int k = 0; k < Q; k++)
            w[k + Q * i2 + at::W_I1 * i1] = q[k];
    }
    __syncthreads();
    if (middle) {
#pragma unroll
        for (int i = 0; i < P; i++)
            p[i] = w[k3 + Q * m2 + at::W_I1 * i];
        to_points(basis, p, q);
#pragma unroll
        for (int k = 0; k < Q; k++)
            x[k + at::X_K3 * k3 + at::X_I2 * m2] = q[k];
    }
    __syncthreads();
    if (here) { /* k1 = line % Q, k3 = line / Q */
        FEM_T *const mine = x + line % Q + at::X_K3 * (line / Q);
        const FEM_T *const there = d + line % Q + at::D_PLANE * (line / Q);
#pragma unroll
        for (int i = 0; i < P; i++)
            p[i] = mine[at::X_I2 * i];
        to_points(basis, p, q);
#pragma unroll
        for (int k = 0; k < Q; k++)
            q[k] *= there[Q * k];
        to_dofs(basis, q, p);
#pragma unroll
        for (int i = 0; i < P; i++)
            mine[at::X_I2 * i] = p[i];
    }
    __syncthreads();
    if (middle) {
#pragma unroll
        for (int k = 0; k < Q; k++)
            q[k] = x[k + at::X_K3 * k3 + at::X_I2 * m2];
        to_dofs(basis, q, p);
#pragma unroll
        for (int i = 0; i < P; i++)
            w[k3 + Q * m2 + at::W_I1 * i] = p[i];
    }
    __syncthreads();
    if (outer) {
#pragma unroll
        for (int k = 0; k < Q; k++)
            q[k] = w[k + Q * i2 + at::W_I1 * i1];
        to_dofs(basis, q, p);
#pragma unroll
        for (int i = 0; i < P; i++)
            v[line + P * P * i] = p[i];
    }
}

template <int N, int DIM> struct power { static constexpr int OF = DIM == 2 ? N * N : N * N * N; };

template <int DIM, int P, int Q> constexpr int stages_of()
{
    using at = places<DIM, P, Q>;
    return (2 * (at::V + at::D) + at::WORK) * (int)sizeof(FEM_T) > 16384 ? 1 : 2; /* measured: both ways */
}

/* Elements per block: about 192 threads, and at most 48 KiB of shared memory. */
template <int DIM, int P, int Q> constexpr int elements_per_block()
{
    using at = places<DIM, P, Q>;
    const int by_threads = (192 + at::LINES / 2) / at::LINES;
    const int bytes = (stages_of<DIM, P, Q>() * (at::V + at::D) + at::WORK) * (int)sizeof(FEM_T);
    const int by_memory = 49152 / bytes, both = by_threads < by_memory ? by_threads : by_memory;
    return both < 1 ? 1 : both;
}

template <int DIM, int P, int Q> struct action_shape {
    using at = places<DIM, P, Q>;
    static constexpr int E = elements_per_block<DIM, P, Q>(), THREADS = (E * at::LINES + 31) / 32 * 32;
    static constexpr int STAGES = stages_of<DIM, P, Q>();
    static constexpr size_t BYTES = sizeof(FEM_T) * E * (STAGES * (at::V + at::D) + at::WORK);
};

template <int DIM, int P, int Q>
__global__ void __launch_bounds__(action_shape<DIM, P, Q>::THREADS)
action_kernel(const basis_values<P, Q> basis, size_t elements, const FEM_T *__restrict__ d, const FEM_T *__restrict__ v,
              FEM_T *__restrict__ u)
{
    using at = places<DIM, P, Q>;
    constexpr int E = action_shape<DIM, P, Q>::E, THREADS = action_shape<DIM, P, Q>::THREADS;
    constexpr int DOFS = power<P, DIM>::OF, POINTS = power<Q, DIM>::OF;
    extern __shared__ __align__(16) unsigned char bytes[];
    constexpr int STAGES = action_shape<DIM, P, Q>::STAGES, STAGE = E * (at::V + at::D);
    FEM_T *const stage = (FEM_T *)bytes, *const work = stage + STAGES * STAGE;
    const size_t chunks = (elements + E - 1) / E;
    const int line = threadIdx.x % at::LINES, mine = threadIdx.x / at::LINES;
    const auto load = [&](size_t chunk, FEM_T *to) {
        const int count = chunk < chunks ? (int)min((size_t)E, elements - chunk * E) : 0;
        for (int x = threadIdx.x; x < count * DOFS; x += THREADS)
            __pipeline_memcpy_async(to + x / DOFS * at::V + at::v_at(x % DOFS), v + chunk * E * DOFS + x, sizeof(FEM_T));
        to += E * at::V;
        for (int x = threadIdx.x; x < count * POINTS; x += THREADS)
            __pipeline_memcpy_async(to + x / POINTS * at::D + at::d_at(x % POINTS), d + chunk * E * POINTS + x, sizeof(FEM_T));
        __pipeline_commit();
    };
    int now = 0;
    if (STAGES == 2)
        load(blockIdx.x, stage);
    for (size_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x, now ^= STAGES - 1) {
        load(STAGES == 2 ? chunk + gridDim.x : chunk, stage + (now ^ (STAGES - 1)) * STAGE);
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        FEM_T *const here = stage + now * STAGE;
        const int count = (int)min((size_t)E, elements - chunk * E);
        pass(basis, here + mine * at::V, here + E * at::V + mine * at::D, work + mine * at::WORK, line, mine < count, at());
        __syncthreads();
        for (int x = threadIdx.x; x < count * DOFS; x += THREADS)
            u[chunk * E * DOFS + x] = here[x / DOFS * at::V + at::v_at(x % DOFS)];
        __syncthreads();
    }
}

/* ---- Assembly ------------------------------------------------------------------------------------------------------ */

/* A slot is an element and, in 3-D, a j3; a block works on SLOTS of them at a time, a thread per row i of the matrix. */
template <int DIM, int P> struct assembly_shape {
    static constexpr int ROWS = power<P, DIM>::OF, SLOTS = ROWS >= 128 ? 1 : (128 + ROWS - 1) / ROWS;
    static constexpr int THREADS = (SLOTS * ROWS + 31) / 32 * 32;
};

template <int DIM, int P, int Q>
__global__ void __launch_bounds__(assembly_shape<DIM, P>::THREADS)
assembly_kernel(const basis_values<P, Q> basis, size_t elements, const FEM_T *__restrict__ d, FEM_T *__restrict__ m)
{
    constexpr int ROWS = power<P, DIM>::OF, POINTS = power<Q, DIM>::OF, SLOTS = assembly_shape<DIM, P>::SLOTS;
    constexpr int THREADS = assembly_shape<DIM, P>::THREADS, LASTS = DIM == 3 ? P : 1;
    constexpr int SLAB = Q * Q * LASTS, SECOND = Q * P * LASTS; /* (k1, k2, i3) and (k1, i2, i3) */
    __shared__ FEM_T slab[SLOTS][SLAB], second[SLOTS][SECOND], values[P][Q];
    const int slot = threadIdx.x / ROWS, row = threadIdx.x % ROWS;
    const size_t slots = elements * LASTS;
#pragma unroll
    for (int x = 0; x < P * Q; x++) /* a kernel argument has no address: its values are taken one by one */
        if (threadIdx.x == x)
            values[x / Q][x % Q] = basis.b[x / Q][x % Q];
    __syncthreads();
    FEM_T along[Q]; /* phi_i1 at the points of axis 1 */
#pragma unroll
    for (int k = 0; k < Q; k++)
        along[k] = values[row % P][k];
    for (size_t first = (size_t)blockIdx.x * SLOTS; first < slots; first += (size_t)gridDim.x * SLOTS) {
        const int count = (int)min((size_t)SLOTS, slots - first);
        for (int x = threadIdx.x; x < count * SLAB; x += THREADS) {
            const int s = x / SLAB, y = x % SLAB;
            const size_t element = (first + s) / LASTS;
            if (DIM == 2) {
                slab[s][y] = d[element * POINTS + y];
            } else {
                const int i3 = y / (Q * Q), j3 = (int)((first + s) % LASTS);
                const FEM_T *const from = d + element * POINTS + y % (Q * Q);
                FEM_T sum = 0;
#pragma unroll
                for (int k = 0; k < Q; k++)
                    sum += values[i3][k] * values[j3][k] * from[Q * Q * k];
                slab[s][y] = sum;
            }
        }
        __syncthreads();
        for (int j2 = 0; j2 < P; j2++) {
            for (int x = threadIdx.x; x < count * SECOND; x += THREADS) {
                const int s = x / SECOND, y = x % SECOND, k1 = y % Q, i2 = y / Q % P, i3 = y / (Q * P);
                FEM_T sum = 0;
#pragma unroll
                for (int k = 0; k < Q; k++)
                    sum += values[i2][k] * values[j2][k] * slab[s][k1 + Q * (k + Q * i3)];
                second[s][y] = sum;
            }
            __syncthreads();
            if (slot < count) {
                const size_t element = (first + slot) / LASTS;
                const int j3 = (int)((first + slot) % LASTS);
                FEM_T *to = m + (element * ROWS + P * (j2 + P * j3)) * ROWS + row;
                FEM_T factor[Q];
#pragma unroll
                for (int k = 0; k < Q; k++)
                    factor[k] = along[k] * second[slot][k + Q * (row / P)];
#pragma unroll
                for (int j1 = 0; j1 < P; j1++) {
                    FEM_T sum = factor[0] * basis.b[j1][0];
#pragma unroll
                    for (int k = 1; k < Q; k++)
                        sum += factor[k] * basis.b[j1][k];
                    to[(size_t)j1 * ROWS] = sum;
                }
            }
            __syncthreads();
        }
    }
}

/* ---- Any size ------------------------------------------------------------------------------------------------------ */

struct any_basis { FEM_T b[HOT_FEM_POINTS * HOT_FEM_POINTS]; };

/* A block per element; axis by axis between two arrays in shared memory, a thread per value. */
__device__ void along_axis(const FEM_T *in, FEM_T *out, int before, int from, int to, int after, const FEM_T *m, int m_to, int m_from)
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

__global__ void any_action(const any_basis basis, int dim, int p, int q, size_t elements, const FEM_T *d, const FEM_T *v, FEM_T *u)
{
    extern __shared__ __align__(16) unsigned char bytes[];
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

/* ---- Launching ----------------------------------------------------------------------------------------------------- */

int resident(const void *kernel, int threads, size_t bytes)
{
    int device = 0, processors = 1, fitting = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, kernel, threads, bytes);
    return processors * std::max(fitting, 1);
}

template <int DIM, int P, int Q> hot_status launch(hot_context *context, const hot_fem_call *call, cudaStream_t stream)
{
    const hot_fem_job *job = &call->job;
    basis_values<P, Q> basis;
    for (int i = 0; i < P; i++)
        for (int k = 0; k < Q; k++)
            basis.b[i][k] = ((const FEM_T *)job->basis)[k + Q * i];
    if (call->assemble) {
        using shape = assembly_shape<DIM, P>;
        const size_t groups = (job->elements * (DIM == 3 ? P : 1) + shape::SLOTS - 1) / shape::SLOTS;
        const size_t blocks = std::min<size_t>(groups, 4 * (size_t)resident((const void *)assembly_kernel<DIM, P, Q>, shape::THREADS, 0));
        assembly_kernel<DIM, P, Q><<<(unsigned)blocks, shape::THREADS, 0, stream>>>(basis, job->elements, (const FEM_T *)job->d,
                                                                                  (FEM_T *)job->out);
        return HOT_OK;
    }
    using shape = action_shape<DIM, P, Q>;
    const void *kernel = (const void *)action_kernel<DIM, P, Q>;
    hot_status status = hot_cuda_status(context, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                                      (int)shape::BYTES), "shared memory");
    if (status != HOT_OK)
        return status;
    const size_t chunks = (job->elements + shape::E - 1) / shape::E;
    const size_t blocks = std::min<size_t>(chunks, resident(kernel, shape::THREADS, shape::BYTES));
    action_kernel<DIM, P, Q><<<(unsigned)blocks, shape::THREADS, shape::BYTES, stream>>>(
        basis, job->elements, (const FEM_T *)job->d, (const FEM_T *)job->v, (FEM_T *)job->out);
    return HOT_OK;
}

hot_status launch_any(hot_context *context, const hot_fem_call *call, cudaStream_t stream)
{
    const hot_fem_job *job = &call->job;
    const int p = (int)job->dofs, q = (int)job->points, side = std::max(p, q), dim = job->dim;
    any_basis basis;
    for (int i = 0; i < p * q; i++)
        basis.b[i] = ((const FEM_T *)job->basis)[i];
    if (call->assemble) {
        const size_t dofs = hot_fem_power(job->dofs, dim), values = job->elements * dofs * dofs;
        any_assembly<<<(unsigned)std::min<size_t>((values + 255) / 256, 1u << 30), 256, 0, stream>>>(
            basis, dim, p, q, job->elements, (const FEM_T *)job->d, (FEM_T *)job->out);
        return HOT_OK;
    }
    const size_t bytes = sizeof(FEM_T) * (2 * hot_fem_power((size_t)side, dim) + (size_t)(p * q));
    hot_status status = hot_cuda_status(context, cudaFuncSetAttribute((const void *)any_action,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "shared memory");
    if (status == HOT_OK)
        any_action<<<(unsigned)std::min<size_t>(job->elements, 1u << 20), 256, bytes, stream>>>(
            basis, dim, p, q, job->elements, (const FEM_T *)job->d, (const FEM_T *)job->v, (FEM_T *)job->out);
    return status;
}

typedef hot_status launch_function(hot_context *context, const hot_fem_call *call, cudaStream_t stream);
#define FEM_ENTRY(DIM, P) {launch<DIM, P, P>, launch<DIM, P, P + 1>}
#define FEM_ENTRIES(DIM) {FEM_ENTRY(DIM, 2), FEM_ENTRY(DIM, 3), FEM_ENTRY(DIM, 4), FEM_ENTRY(DIM, 5), \
                          FEM_ENTRY(DIM, 6), FEM_ENTRY(DIM, 7), FEM_ENTRY(DIM, 8), FEM_ENTRY(DIM, 9)}
launch_function *const launches[2][8][2] = {FEM_ENTRIES(2), FEM_ENTRIES(3)};
#undef FEM_ENTRY
#undef FEM_ENTRIES

} // namespace

extern "C" hot_status FEM(launch)(hot_context *context, const hot_fem_call *call, void *stream)
{
    const hot_fem_job *job = &call->job;
    const bool own = job->dofs >= 2 && job->dofs <= 9 && (job->points == job->dofs || job->points == job->dofs + 1);
    launch_function *function = own ? launches[job->dim - 2][job->dofs - 2][job->points - job->dofs] : launch_any;
    hot_status status = function(context, call, (cudaStream_t)stream);
    return status != HOT_OK ? status : hot_cuda_status(context, cudaGetLastError(), "starting finite elements");
}
