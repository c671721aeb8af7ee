/* Batched products of dense items, which memory bandwidth limits. Persistent blocks each keep a few chunks of items in
 * flight through Hopper's bulk copy engine: one thread starts the copies of three contiguous pieces, all wait on a
 * barrier in shared memory. C is updated in place in shared memory and copied back the same way, so that every transfer
 * is of whole lines whatever the size of an item. Template by inclusion: BULK_T, BULK_TENSOR_CORES (whether they
 * multiply it without loss), BULK(name). */
#include <cuda_runtime.h>

#include "common/backend.h"
#include "common/cuda_status.h"
#include "common/hopper.cuh"
#include "common/shared_memory.cuh"
#include "contract_cuda.h"

namespace {

enum { BULK_SIZES = 32, TENSOR_SIZES = 7 }; /* the last: from where on tensor cores take square items */

/* Threads of a block at most: large items need the registers. */
constexpr int max_threads(int n) { return n > 16 ? 256 : 512; }
__host__ __device__ constexpr bool on_tensor_cores(int n) { return BULK_TENSOR_CORES && n >= TENSOR_SIZES; }
/* Where a warp takes an item in blocks: values of large items that lie so that they are read one by one from shared
 * memory, which is what then takes the time, are each used for several rows and columns. */
__host__ __device__ constexpr bool in_blocks(int n) { return !BULK_TENSOR_CORES && n > 16 && n % 4; }
/* Warps of an item that warps take; few of the largest fit, and two hide more latency. */
__host__ __device__ constexpr int warps_of(int n) { return in_blocks(n) && n > 28 ? 2 : 1; }
/* Rows per thread otherwise: one thread per column of C up to 16, two up to 24, four above: large items are so few that
 * they need the threads. */
__host__ __device__ constexpr int rows_of(int n) { return n <= 16 ? n : n <= 24 ? (n + 1) / 2 : (n + 3) / 4; }

struct bulk_arguments {
    const BULK_T *a, *b;
    BULK_T *c;
    size_t items;
    BULK_T alpha, beta;
    unsigned m, n, k, a_row, a_sum, b_sum, b_column;
    unsigned per_chunk, stages;
};

/* A chunk has the same offset from lines of 128 bytes in shared memory as in device memory: otherwise the engine is
 * slower. */
__device__ __forceinline__ unsigned padded_values(unsigned values)
{
    return (unsigned)(hot_bulk_padded(values * sizeof(BULK_T)) / sizeof(BULK_T));
}
__device__ __forceinline__ unsigned shift_of(const BULK_T *p)
{
    return (unsigned)((size_t)p % HOT_BULK_LINE / sizeof(BULK_T));
}

/* A chunk of `count` values per operand into shared memory, by one thread. The engine moves 16 bytes at a time: the
 * thread copies the rest of the last chunk itself, before it arrives at the barrier. */
__device__ __forceinline__ void load_piece(BULK_T *to, const BULK_T *from, unsigned count)
{
    const unsigned whole = count * sizeof(BULK_T) / 16 * 16 / sizeof(BULK_T);
    for (unsigned i = whole; i < count; i++)
        to[i] = from[i];
}

/* One column of up to R rows of C: lanes run along columns, so that B is read in a row and A is the same for a row's
 * lanes. N: the compiled size of square items. */
template <int N, int R>
__device__ __forceinline__ void square_columns(const bulk_arguments &p, const BULK_T *a, const BULK_T *b, BULK_T *c)
{
    constexpr int GROUPS = (N + R - 1) / R;
    constexpr int V = N * sizeof(BULK_T) % 16 == 0 ? 16 / sizeof(BULK_T)
        : N * sizeof(BULK_T) % 8 == 0              ? 8 / sizeof(BULK_T)
                                                   : 1;
    struct alignas(V * sizeof(BULK_T)) run { BULK_T v[V]; };
    const unsigned column = threadIdx.x % N, group = threadIdx.x / N, row = group % GROUPS * R, item = group / GROUPS;
    if (item >= p.per_chunk)
        return;
    a += item * N * N, b += item * N * N + column, c += item * N * N + column;
    BULK_T sum[R];
#pragma unroll
    for (int i = 0; i < R; i++)
        sum[i] = 0;
#pragma unroll(N <= 16 ? N / V : 16 / V)
    for (int s = 0; s < N; s += V) {
        BULK_T factor[V];
#pragma unroll
        for (int v = 0; v < V; v++)
            factor[v] = b[(s + v) * N];
#pragma unroll
        for (int i = 0; i < R; i++) {
            const int here = N % R == 0 || (int)row + i < N ? (int)row + i : N - 1;
            const run line = *(const run *)(a + here * N + s);
#pragma unroll
            for (int v = 0; v < V; v++)
                sum[i] += line.v[v] * factor[v];
        }
    }
#pragma unroll
    for (int i = 0; i < R; i++)
        if (N % R == 0 || (int)row + i < N) {
            BULK_T *to = c + (row + i) * N;
            *to = p.beta == 0 ? p.alpha * sum[i] : p.alpha * sum[i] + p.beta * *to;
        }
}

/* One or two warps per item: groups of eight lanes share the rows, the lanes of a group have every eighth column.
 * Results behind the last row or column are computed from whatever memory holds there, and not stored. */
template <int N>
__device__ __forceinline__ void square_blocks(const bulk_arguments &p, const BULK_T *a, const BULK_T *b, BULK_T *c)
{
    constexpr int THREADS = 32 * warps_of(N), GROUPS = THREADS / 8;
    constexpr int ROWS = (N + GROUPS - 1) / GROUPS, COLUMNS = (N + 7) / 8;
    const int column = threadIdx.x % 8, row = threadIdx.x % THREADS / 8 * ROWS;
    for (unsigned item = threadIdx.x / THREADS; item < p.per_chunk; item += blockDim.x / THREADS) {
        const BULK_T *left[ROWS], *const right = b + item * N * N + column;
        BULK_T sum[ROWS][COLUMNS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            left[i] = a + (item * N + (row + i < N ? row + i : N - 1)) * N;
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                sum[i][j] = 0;
        }
#pragma unroll 4
        for (int s = 0; s < N; s++) {
            BULK_T factor[COLUMNS];
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                factor[j] = right[s * N + (8 * j + 8 <= N || column + 8 * j < N ? 8 * j : 0)];
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                const BULK_T value = left[i][s];
#pragma unroll
                for (int j = 0; j < COLUMNS; j++)
                    sum[i][j] += value * factor[j];
            }
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                if (row + i < N && column + 8 * j < N) {
                    BULK_T *const to = c + (item * N + row + i) * N + column + 8 * j;
                    *to = p.beta == 0 ? p.alpha * sum[i][j] : p.alpha * sum[i][j] + p.beta * *to;
                }
    }
}

/* The same for any sizes and strides within the item. */
__device__ __forceinline__ void any_columns(const bulk_arguments &p, const BULK_T *a, const BULK_T *b, BULK_T *c)
{
    constexpr int R = 4;
    const unsigned groups = (p.m + R - 1) / R, units = p.per_chunk * groups * p.n;
    for (unsigned unit = threadIdx.x; unit < units; unit += blockDim.x) {
        const unsigned column = unit % p.n, group = unit / p.n, row = group % groups * R, item = group / groups;
        const BULK_T *left = a + item * (p.m * p.k), *right = b + item * (p.k * p.n) + column * p.b_column;
        BULK_T *to = c + item * (p.m * p.n) + row * p.n + column;
        unsigned place[R];
        BULK_T sum[R];
#pragma unroll
        for (int i = 0; i < R; i++) {
            place[i] = (row + i < p.m ? row + i : p.m - 1) * p.a_row;
            sum[i] = 0;
        }
#pragma unroll 4
        for (unsigned s = 0; s < p.k; s++) {
            const BULK_T factor = right[s * p.b_sum];
#pragma unroll
            for (int i = 0; i < R; i++)
                sum[i] += left[place[i] + s * p.a_sum] * factor;
        }
#pragma unroll
        for (int i = 0; i < R; i++)
            if (row + i < p.m)
                to[i * p.n] = p.beta == 0 ? p.alpha * sum[i] : p.alpha * sum[i] + p.beta * to[i * p.n];
    }
}

#if BULK_TENSOR_CORES
#include "contract_mma.cuh"
#else
template <int N>
__device__ __forceinline__ void square_tiles(const bulk_arguments &, const BULK_T *, const BULK_T *, BULK_T *)
{
}
#endif
#include "contract_direct.cuh"

template <int N> __global__ void __launch_bounds__(max_threads(N)) bulk_kernel(const bulk_arguments p)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char memory[];
    const unsigned m = N ? N : p.m, n = N ? N : p.n, k = N ? N : p.k;
    const unsigned sizes[3] = {p.per_chunk * m * k, p.per_chunk * k * n, p.per_chunk * m * n}; /* values per operand */
    const unsigned padded[3] = {padded_values(sizes[0]), padded_values(sizes[1]), padded_values(sizes[2])},
                   stage_values = padded[0] + padded[1] + padded[2];
    BULK_T *const stages = (BULK_T *)(memory + HOT_BULK_LINE);
    const unsigned barriers = shared_address(memory);
    const size_t chunks = (p.items + p.per_chunk - 1) / p.per_chunk;
    const auto items_of = [&](size_t chunk) {
        const size_t left = p.items - chunk * p.per_chunk;
        return left < p.per_chunk ? (unsigned)left : p.per_chunk;
    };
    const auto load = [&](unsigned stage, size_t chunk) {
        const unsigned items = items_of(chunk), barrier = barriers + 8 * stage;
        const unsigned counts[3] = {items * m * k, items * k * n, p.beta == 0 ? 0 : items * m * n};
        const BULK_T *const from[3] = {p.a + chunk * sizes[0], p.b + chunk * sizes[1], p.c + chunk * sizes[2]};
        BULK_T *to = stages + stage * stage_values;
        unsigned bytes = 0;
        for (int o = 0; o < 3; to += padded[o], o++) {
            load_piece(to + shift_of(from[o]), from[o], counts[o]);
            bytes += counts[o] * sizeof(BULK_T) / 16 * 16;
        }
        barrier_expect(barrier, bytes);
        to = stages + stage * stage_values;
        for (int o = 0; o < 3; to += padded[o], o++)
            if (counts[o] * sizeof(BULK_T) >= 16)
                bulk_load(shared_address(to + shift_of(from[o])), from[o], counts[o] * sizeof(BULK_T) / 16 * 16,
                          barrier);
    };
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < p.stages; s++)
            barrier_init(barriers + 8 * s, 1);
        barrier_init_fence();
        for (unsigned s = 0; s < p.stages && blockIdx.x + (size_t)s * gridDim.x < chunks; s++)
            load(s, blockIdx.x + (size_t)s * gridDim.x);
    }
    __syncthreads();
    unsigned stage = 0, phase = 0, before = 0;
    for (size_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
        BULK_T *const here = stages + stage * stage_values, *const a = here + shift_of(p.a + chunk * sizes[0]);
        BULK_T *const b = here + padded[0] + shift_of(p.b + chunk * sizes[1]);
        BULK_T *const c = here + padded[0] + padded[1] + shift_of(p.c + chunk * sizes[2]);
        barrier_spin(barriers + 8 * stage, phase);
        /* Items behind the last compute on whatever memory holds there and are not stored. */
        if constexpr (N > 0 && on_tensor_cores(N))
            square_tiles<(N > 0 ? N : 1)>(p, a, b, c);
        else if constexpr (N > 0 && in_blocks(N))
            square_blocks<(N > 0 ? N : 1)>(p, a, b, c);
        else if constexpr (N > 0)
            square_columns<(N > 0 ? N : 1), (N > 0 ? rows_of(N) : 1)>(p, a, b, c);
        else
            any_columns(p, a, b, c);
        bulk_fence();
        __syncthreads();
        if (threadIdx.x == 0) {
            /* The C of the chunk before this one has been written by now: the next chunk takes its place. */
            const size_t next = chunk + (size_t)(p.stages - 1) * gridDim.x;
            if (chunk != blockIdx.x && next < chunks) {
                bulk_wait_read();
                load(before, next);
            }
            const unsigned count = items_of(chunk) * m * n, whole = count * sizeof(BULK_T) / 16 * 16 / sizeof(BULK_T);
            BULK_T *to = p.c + chunk * sizes[2];
            if (whole)
                bulk_store(to, shared_address(c), whole * sizeof(BULK_T));
            bulk_commit();
            for (unsigned i = whole; i < count; i++)
                to[i] = c[i];
        }
        before = stage;
        stage = stage + 1 == p.stages ? 0 : stage + 1;
        phase ^= stage == 0;
    }
    if (threadIdx.x == 0) /* shared memory must outlive its last readers */
        bulk_wait_read();
#endif
}

typedef void bulk_function(const bulk_arguments);
bulk_function *const functions[BULK_SIZES + 1] = {
    bulk_kernel<0>,  bulk_kernel<1>,  bulk_kernel<2>,  bulk_kernel<3>,  bulk_kernel<4>,  bulk_kernel<5>,
    bulk_kernel<6>,  bulk_kernel<7>,  bulk_kernel<8>,  bulk_kernel<9>,  bulk_kernel<10>, bulk_kernel<11>,
    bulk_kernel<12>, bulk_kernel<13>, bulk_kernel<14>, bulk_kernel<15>, bulk_kernel<16>, bulk_kernel<17>,
    bulk_kernel<18>, bulk_kernel<19>, bulk_kernel<20>, bulk_kernel<21>, bulk_kernel<22>, bulk_kernel<23>,
    bulk_kernel<24>, bulk_kernel<25>, bulk_kernel<26>, bulk_kernel<27>, bulk_kernel<28>, bulk_kernel<29>,
    bulk_kernel<30>, bulk_kernel<31>, bulk_kernel<32>};

struct direct_entry {
    bulk_function *function;
    int items, threads;
};
#define DIRECT_ENTRY(N, UNITS) {direct_kernel<N, UNITS>, direct_shape<N, UNITS>::ITEMS, direct_shape<N, UNITS>::BLOCK}
#define DIRECT_ENTRIES(N) {DIRECT_ENTRY(N, 1), DIRECT_ENTRY(N, 2)}
const direct_entry directs[HOT_DIRECT_SIZE][2] = {DIRECT_ENTRIES(1), DIRECT_ENTRIES(2), DIRECT_ENTRIES(3),
                                                  DIRECT_ENTRIES(4), DIRECT_ENTRIES(5), DIRECT_ENTRIES(6),
                                                  DIRECT_ENTRIES(7), DIRECT_ENTRIES(8)};
#undef DIRECT_ENTRIES
#undef DIRECT_ENTRY

bulk_arguments arguments(const hot_bulk_args *args)
{
    const bulk_arguments p = {(const BULK_T *)args->a,
                              (const BULK_T *)args->b,
                              (BULK_T *)args->c,
                              args->items,
                              (BULK_T)args->alpha,
                              (BULK_T)args->beta,
                              args->m,
                              args->n,
                              args->k,
                              args->a_row,
                              args->a_sum,
                              args->b_sum,
                              args->b_column,
                              (unsigned)args->per_chunk,
                              (unsigned)args->stages};
    return p;
}

/* The size of square items in rows that the kernels were compiled for, else 0. */
unsigned square_size(const hot_bulk_args *args)
{
    const bool square = args->m == args->n && args->n == args->k && args->n <= BULK_SIZES && args->a_sum == 1 &&
                        args->a_row == args->k && args->b_column == 1 && args->b_sum == args->n;
    return square ? args->n : 0;
}

/* Threads of a block, 0 when the args does not fit one. */
unsigned threads_of(const hot_bulk_args *args)
{
    const int n = (int)square_size(args);
    const size_t most = (size_t)max_threads(n), items = args->per_chunk > 0 ? (size_t)args->per_chunk : 0;
    const bool warps = on_tensor_cores(n) || in_blocks(n);
    size_t threads = n == 0 ? items * ((args->m + 3) / 4) * args->n : warps ? items * 32 * warps_of(n)
                                                                 : items * ((n + rows_of(n) - 1) / rows_of(n)) * n;
    if ((n == 0 || warps) && threads > most) /* these loop over items */
        threads = n == 0 ? 256 : most;
    threads = (threads + 31) / 32 * 32;
    return threads > most || args->stages < 2 || args->stages > 16 ||
            hot_bulk_bytes(args, sizeof(BULK_T)) > HOT_BULK_MEMORY
        ? 0
        : (unsigned)threads;
}

} // namespace

extern "C" int BULK(fits)(const hot_bulk_args *args) { return threads_of(args) != 0; }

extern "C" hot_status BULK(launch)(hot_context *context, const hot_bulk_args *args, void *stream)
{
    bulk_function *function = functions[square_size(args)];
    const size_t bytes = hot_bulk_bytes(args, sizeof(BULK_T));
    const unsigned threads = threads_of(args);
    int device = 0, processors = 1, fitting = 1;
    if (threads == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "this variant does not fit a block");
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    hot_status status = hot_cuda_status(context, raise_shared_memory((const void *)function, bytes), "shared memory");
    if (status == HOT_OK)
        status = hot_cuda_status(context,
                                 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, function, (int)threads, bytes),
                                 "the occupancy");
    if (status != HOT_OK)
        return status;
    if (args->blocks > 0 && args->blocks < fitting)
        fitting = args->blocks;
    const size_t chunks = (args->items + args->per_chunk - 1) / args->per_chunk, most = (size_t)processors * fitting;
    function<<<(unsigned)(chunks < most ? chunks : most), threads, bytes, (cudaStream_t)stream>>>(arguments(args));
    return hot_cuda_status(context, cudaGetLastError(), "starting a contraction");
}

extern "C" hot_status BULK(direct)(hot_context *context, const hot_bulk_args *args, int units, void *stream)
{
    const unsigned n = square_size(args);
    if (n == 0 || n > HOT_DIRECT_SIZE || units < 1 || units > 2)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "this variant does not fit a block");
    const direct_entry *entry = &directs[n - 1][units - 1];
    const size_t blocks = (args->items + entry->items - 1) / entry->items;
    entry->function<<<(unsigned)blocks, entry->threads, 0, (cudaStream_t)stream>>>(arguments(args));
    return hot_cuda_status(context, cudaGetLastError(), "starting a contraction");
}
