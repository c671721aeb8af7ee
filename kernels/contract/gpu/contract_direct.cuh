/* Batched products of small dense items, which the bandwidth and latency of memory limit: a thread per 16 bytes of each
 * operand, all loaded at once; A and B are exchanged through shared memory, C stays in registers. Blocks are many and
 * short, so that some read while others write. Included by contract_bulk.cuh. */

/* Items of a block: 128 threads at most, each with UNITS units of 16 bytes of every operand, and whole units alone. */
template <int N, int UNITS> struct direct_shape {
    static constexpr int WIDE = 16 / (int)sizeof(BULK_T), EACH = N * N;
    static constexpr int STEP = EACH % WIDE == 0 ? 1
        : EACH * 2 % WIDE == 0                   ? 2
                                                 : 4; /* items to a whole number of units */
    static constexpr int ITEMS = 128 * UNITS * WIDE / EACH / STEP * STEP;
    static constexpr int TOTAL = ITEMS * EACH / WIDE;                                /* units */
    static constexpr int BLOCK = ((TOTAL + UNITS - 1) / UNITS + 31) / 32 * 32;
    /* A warp's units are whole items: no thread waits for those of another. */
    static constexpr bool APART = 32 * WIDE % EACH == 0;
};

template <int N, int UNITS> __global__ void __launch_bounds__(direct_shape<N, UNITS>::BLOCK)
    direct_kernel(const bulk_arguments p)
{
    using shape = direct_shape<N, UNITS>;
    constexpr int WIDE = shape::WIDE, EACH = shape::EACH;
    struct alignas(16) unit { BULK_T v[WIDE]; };
    __shared__ unit left[shape::TOTAL], right[shape::TOTAL];
    const size_t first = (size_t)blockIdx.x * shape::ITEMS, values = (p.items - first) * EACH;
    const unit *const a = (const unit *)(p.a + first * EACH), *const b = (const unit *)(p.b + first * EACH);
    BULK_T *const c = p.c + first * EACH;
    unit mine[UNITS];
    if (values >= shape::TOTAL * WIDE) {
        unit x[UNITS], y[UNITS];
#pragma unroll
        for (int u = 0; u < UNITS; u++) {
            const int at = threadIdx.x + u * shape::BLOCK;
            if (at < shape::TOTAL) {
                x[u] = a[at], y[u] = b[at];
                if (p.beta != 0)
                    mine[u] = ((const unit *)c)[at];
            }
        }
#pragma unroll
        for (int u = 0; u < UNITS; u++) {
            const int at = threadIdx.x + u * shape::BLOCK;
            if (at < shape::TOTAL)
                left[at] = x[u], right[at] = y[u];
        }
    } else { /* the last block */
#pragma unroll
        for (int u = 0; u < UNITS; u++)
#pragma unroll
            for (int v = 0; v < WIDE; v++) {
                const int at = threadIdx.x + u * shape::BLOCK, value = at * WIDE + v;
                if (at < shape::TOTAL) {
                    left[at].v[v] = value < values ? ((const BULK_T *)a)[value] : (BULK_T)0;
                    right[at].v[v] = value < values ? ((const BULK_T *)b)[value] : (BULK_T)0;
                    if (p.beta != 0 && value < values)
                        mine[u].v[v] = c[value];
                }
            }
    }
    if (shape::APART)
        __syncwarp();
    else
        __syncthreads();
    const BULK_T *const rows = (const BULK_T *)left, *const columns = (const BULK_T *)right;
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
        const int at = threadIdx.x + u * shape::BLOCK;
        if (at >= shape::TOTAL)
            break;
#pragma unroll
        for (int v = 0; v < WIDE; v++) {
            const int value = at * WIDE + v, item = value / EACH, row = value % EACH / N, column = value % N;
            BULK_T sum = 0;
#pragma unroll
            for (int s = 0; s < N; s++)
                sum += rows[(item * N + row) * N + s] * columns[(item * N + s) * N + column];
            mine[u].v[v] = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * mine[u].v[v];
        }
        if (values >= shape::TOTAL * WIDE)
            ((unit *)c)[at] = mine[u];
        else
#pragma unroll
            for (int v = 0; v < WIDE; v++)
                if (at * WIDE + v < values)
                    c[at * WIDE + v] = mine[u].v[v];
    }
}
