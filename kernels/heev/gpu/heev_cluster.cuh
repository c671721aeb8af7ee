/* Householder's reduction of matrices of up to 512 rows, too large for the registers of one block, down to what fits
 * there: a matrix stays in the registers and the shared memory of a cluster of blocks, and is read from device memory
 * once. Per reflector each block goes over what it holds once: A -= v w^H + w v^H on the tensor cores, and with the
 * same elements A x for the next column x.
 *
 * Rows and columns are dealt in tiles of 16 to K = 1, 2 or 4 groups of at most 128. A block holds the rectangle of two
 * groups, rows of one and columns of the other, or the triangles of two groups, side by side: all blocks hold about as
 * much, and each needs only its two groups' part of every vector. A block sends its part of A x to the K blocks that
 * share the group: all of them add up the same numbers in the same order. With 256 and 128 rows left a matrix goes to
 * fewer blocks, and more matrices are worked on at a time. */
#pragma once

#include "heev_reduce_common.cuh"
#include "heev_cluster_part.cuh"

/* ---- The cluster ------------------------------------------------------------------------------------------------- */

__device__ __forceinline__ unsigned cluster_rank()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ __forceinline__ void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/* A place in shared memory, in another block of the cluster. */
__device__ __forceinline__ unsigned cluster_place(const void *mine, unsigned rank)
{
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there)
        : "r"((unsigned)__cvta_generic_to_shared(mine)), "r"(rank));
    return there;
}
/* Writes there, and counts the bytes on the barrier there. ALONE: the cluster is one block, which waits otherwise. */
template <bool ALONE>
__device__ __forceinline__ void cluster_send(double *to, unsigned rank, double value, const unsigned long long *barrier)
{
    if constexpr (ALONE)
        *to = value;
    else
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(
                         cluster_place(to, rank)),
                     "d"(value), "r"(cluster_place(barrier, rank))
                     : "memory");
}
template <bool ALONE>
__device__ __forceinline__ void cluster_send(number<false> *to, unsigned rank, number<false> value,
                                             const unsigned long long *barrier)
{
    cluster_send<ALONE>(&to->re, rank, value.re, barrier);
}
template <bool ALONE>
__device__ __forceinline__ void cluster_send(number<true> *to, unsigned rank, number<true> value,
                                             const unsigned long long *barrier)
{
    if constexpr (ALONE)
        *to = value;
    else
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [%0], {%1, %2}, [%3];" ::"r"(
                         cluster_place(to, rank)),
                     "d"(value.re), "d"(value.i), "r"(cluster_place(barrier, rank))
                     : "memory");
}
/* How many bytes will come, by one thread per phase; and waiting for them. */
__device__ __forceinline__ void cluster_expect(unsigned long long *barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(barrier)),
                 "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void cluster_await(unsigned long long *barrier, int parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"((unsigned)__cvta_generic_to_shared(barrier)),
                 "r"(parity)
                 : "memory");
}

/* ---- The reduction ----------------------------------------------------------------------------------------------- */

/* Which two groups a block has: the first blocks rectangles, true, the others triangles. */
template <int K> __device__ __forceinline__ bool heev_cluster_role(int rank, int group[2])
{
    constexpr int RECTANGLES = heev_cluster_size(K) - (K + 1) / 2;
    group[0] = K == 4 ? (rank < 3 ? 0 : rank < 5 ? 1 : 2) : 0;
    group[1] = K == 4 ? (rank < 3 ? rank + 1 : rank < 5 ? rank - 1 : 3) : 1;
    if (rank < RECTANGLES)
        return true;
    group[0] = 2 * (rank - RECTANGLES);
    group[1] = group[0] + 1;
    return false;
}
/* The block that has two groups' rectangle, or a group's triangle. */
template <int K> __device__ __forceinline__ int heev_cluster_block(int group, int other)
{
    if (group == other)
        return heev_cluster_size(K) - (K + 1) / 2 + group / 2;
    const int low = min(group, other), high = max(group, other);
    return K == 4 ? low * (7 - low) / 2 + high - low - 1 : 0;
}

/* Makes ready for messages: when it returns every block has begun. */
template <bool C, int K> __device__ __forceinline__ void heev_cluster_init()
{
    heev_cluster_memory<C, K> &memory = heev_cluster_memory<C, K>::own();
    if (threadIdx.x == 0) {
        const unsigned at[2] = {(unsigned)__cvta_generic_to_shared(&memory.column_here),
                                (unsigned)__cvta_generic_to_shared(&memory.product_here)};
        for (int k = 0; k < 2; k++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at[k]) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_arrive();
    cluster_wait();
}

/* The largest over the cluster. */
template <bool C, int K> __device__ __forceinline__ double heev_cluster_max(double value, int rank)
{
    constexpr int BLOCKS = heev_cluster_size(K);
    heev_cluster_memory<C, K> &memory = heev_cluster_memory<C, K>::own();
    value = block_max(value, memory.form);
    if (K == 1)
        return value;
    if (threadIdx.x < BLOCKS)
        asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(cluster_place(&memory.largest[rank], threadIdx.x)),
                     "d"(value)
                     : "memory");
    cluster_arrive();
    cluster_wait();
    value = memory.largest[0];
#pragma unroll
    for (int k = 1; k < BLOCKS; k++)
        value = fmax(value, memory.largest[k]);
    return value;
}

/* Element (high, low) of the lower triangle, low <= high: of the caller's matrices in the caller's precision, rows and
 * columns from the end, or of a reduction's remainder, which stores half of the diagonal. */
template <bool C> struct heev_source {
    const void *from;
    ptrdiff_t origin, per_high, per_low;
    double diagonal;
    bool f64;
    __device__ heev_source(const heev_plan &plan, const void *matrices, size_t matrix)
        : from(matrices ? matrices : plan.reflectors), diagonal(matrices ? 1 : 2), f64(plan.f64 || !matrices)
    {
        const ptrdiff_t n = plan.n, ld = plan.ld;
        origin = matrices ? (ptrdiff_t)matrix * n * n + (n - 1) * (n + 1) : (ptrdiff_t)matrix * ld * ld;
        per_high = matrices ? -n : ld;
        per_low = matrices ? -1 : 1;
    }
    __device__ __forceinline__ number<C> at(int high, int low) const
    {
        const ptrdiff_t place = origin + high * per_high + low * per_low;
        number<C> value;
        if (f64)
            value = ((const number<C> *)from)[place];
        else if constexpr (C) {
            const float2 pair = ((const float2 *)from)[place];
            value = number<C>::make(pair.x, pair.y);
        } else
            value.re = ((const float *)from)[place];
        return high == low ? number<C>::make(diagonal * value.re, 0) : value;
    }
};

/* Reduces the matrix, or (`matrices` NULL) its remaining `size` rows, down to `tail` rows, a multiple of 16, which it
 * leaves where the panels would: in the lower triangle of plan.reflectors, with half of the diagonal.
 *
 * Thread q * HEEV_GROUP + l has element l of group q of each vector. Two messages per reflector: the column's norm and
 * end, from one warp of each block as soon as the column is known, which come during the pass; and A x, after it. No
 * block overwrites what another has not read: a block sends A x when it has every block's norm, and a block's norm is
 * sent when all of its threads have used the last A x. When it leaves, nothing more is sent to it. */
template <bool C, int K, bool RECTANGLE>
__device__ __forceinline__ void heev_cluster_reduce(const heev_plan &plan, const void *matrices, int size, int tail,
                                                    size_t matrix, int rank, int group0, int group1)
{
    typedef number<C> num;
    constexpr int BLOCKS = heev_cluster_size(K), WARPS = BLOCKS * 8; /* of the cluster */
    constexpr int OTHER_CLERK = 7, CLERK = K == 1 ? OTHER_CLERK : 3; /* warps with the least to do */
    const int n = plan.n, ld = plan.ld, tid = threadIdx.x, lane = tid % 32;
    const int warp = __shfl_sync(~0u, tid / 32, 0); /* the same in all lanes, and known to be */
    const num zero = num::make(0, 0);
    heev_cluster_memory<C, K> &memory = heev_cluster_memory<C, K>::own();
    num *reflectors = (num *)plan.reflectors + matrix * ld * ld, *tau = (num *)plan.tau + matrix * ld;
    const int far = 1 << 20; /* the start of a missing group */
    heev_cluster_part<C, K, RECTANGLE> part = {warp / 4, warp % 4, 16 * group0, K == 1 ? far : 16 * group1,
                                               RECTANGLE && group0 / 2 == group1 / 2};
    const heev_source<C> source(plan, matrices, matrix);
    double largest = 0;
    auto element = [&](int r, int c) {
        const num value = max(r, c) < size ? source.at(max(r, c), min(r, c)) : zero;
        const double x = fabs(value.re), y = fabs(value.im());
        largest = isfinite(x) && isfinite(y) ? fmax(largest, fmax(x, y)) : INFINITY;
        return num::make(value.re, r > c ? -value.im() : value.im());
    };
    const int g = lane / 4, j = lane % 4;
    heev_fragment<C> kept[4][HEEV_KEPT];
    part.each(kept, [&](heev_fragment<C> &tile, int row, int column) {
#pragma unroll
        for (int e = 0; e < 4; e++)
            tile.set(e, element(row + g + 8 * (e / 2), column + 2 * j + e % 2));
    });
    const int q = tid / HEEV_GROUP, l = tid % HEEV_GROUP, mine = q ? group1 : group0;
    const int c = part.start(q, 0) + l / 16 * 16 * K + l % 16;
    /* the same element in the K blocks that have this group: there as which of their two, and from which of the K */
    const int order = RECTANGLE ? (q ? group0 : group1) : mine;
    auto there = [&](int other, int *of) { /* the block, and as which of its groups */
        *of = other == mine ? (K == 1 ? 0 : mine % 2) : mine > other;
        return (unsigned)heev_cluster_block<K>(mine, other);
    };
    num x = element(c, size - 1);
    if (matrices) {
        int exponent;
        largest = heev_cluster_max<C, K>(largest, rank);
        if (!heev_find_scale(plan, matrix, largest, tid == 0 && rank == 0, &exponent))
            return;
        const double scale = ldexp(1.0, -exponent / 2), rest = ldexp(1.0, -exponent - -exponent / 2);
        part.each(kept, [&](heev_fragment<C> &tile, int, int) {
#pragma unroll
            for (int k = 0; k < (C ? 8 : 4); k++)
                tile.part[k / 4][k % 4] = tile.part[k / 4][k % 4] * scale * rest;
        });
        x = num::make(x.re * scale * rest, x.im() * scale * rest);
    }
    memory.wv[q][l][0] = memory.wv[q][l][1] = zero;
    memory.x[q][l] = c < size - 1 ? x : zero;
    __syncthreads();
    for (int i = size - 1;; i--) {
        const int phase = (size - 1 - i) % 2, tile = (i - 1) / 16, home = tile % K; /* of column i - 1 */
        const int within = tile / K * 16 + (i - 1) % 16;
        const int corner0 = group0 == home ? within : -16, corner1 = group1 == home && K > 1 ? within : -16;
        if (warp == CLERK && i >= tail) { /* the norm of the column, each element of which K blocks have, and its end */
            const int end = corner0 >= 0 ? corner0 : corner1 >= 0 ? HEEV_GROUP + corner1 : -1;
            const num *const both = &memory.x[0][0];
            double re = 0, im = 0;
#pragma unroll
            for (int m = 0; m < 2 * HEEV_GROUP / 32; m++) {
                const num value = lane + 32 * m != end ? both[lane + 32 * m] : zero;
                re += value.re * value.re;
                im += value.im() * value.im();
            }
            const double norm = heev_warp_sum_mma(re + im);
            if (lane < BLOCKS) {
                cluster_send<K == 1>(&memory.norm[phase][rank], lane, norm, &memory.column_here);
                if (!RECTANGLE && end >= 0)
                    cluster_send<K == 1>(&memory.alpha[phase], lane, both[end], &memory.column_here);
            }
        }
        part.pass(kept, i);
        if (i < tail)
            break;
        part.take_column(kept, corner0, corner1);
        if (c == i && !RECTANGLE)
            plan.d[matrix * n + i] = x.re;
        if (warp == OTHER_CLERK) {
            if (K > 1 && lane == 0) {
                auto before_i = [&](int group) { /* elements of a group before i */
                    return (i / 16 + K - 1 - group) / K * 16 + (i / 16 % K == group ? i % 16 : 0);
                };
                const int elements = before_i(group0) + (K > 1 ? before_i(group1) : 0);
                cluster_expect(&memory.column_here, (int)(BLOCKS * sizeof(double) + sizeof(num)));
                cluster_expect(&memory.product_here, (int)((elements * (K + 1) + K) * sizeof(num) +
                                                           (WARPS + 1) * sizeof(double)));
            }
            if constexpr (K > 1)
                cluster_await(&memory.column_here, phase); /* everybody has read what came with the last reflector */
            else
                __syncwarp();
            const double rest = heev_warp_sum_mma(lane < BLOCKS ? memory.norm[phase][lane] : 0) * (1.0 / K);
            double beta;
            num t, scale;
            heev_reflection(rest, memory.alpha[phase], &beta, &t, &scale);
            if (lane == 0) {
                memory.beta = beta;
                memory.tau = t;
                memory.scale = scale;
                if (rank == BLOCKS - 1) {
                    plan.e[matrix * n + i] = beta;
                    tau[i] = t;
                }
            }
        }
        __syncthreads();
        const num some = c < i ? part.product(q, l) : zero;
        /* of column i - 1 a rectangle holds the opposite group's part, a triangle its own group's; a tile on the second
         * group's diagonal is stored with the diagonal tiles */
        const bool diagonal = q == 1 && corner1 >= 0 && l / 16 == corner1 / 16;
        const bool has = c < i && (diagonal ? part.folds : ((q == 0) != RECTANGLE ? corner0 : corner1) >= 0);
        num some_after = zero;
        if (has) {
            const double im = memory.after[q][C][l];
            some_after = num::make(memory.after[q][0][l], part.by_row(q) ? -im : im);
        }
        if (c < i)
#pragma unroll
            for (int other = 0; other < K; other++) {
                int of;
                const unsigned to = there(other, &of);
                cluster_send<K == 1>(&memory.product[of][order][l], to, some, &memory.product_here);
                if (has)
                    cluster_send<K == 1>(&memory.next[of][l], to, some_after, &memory.product_here);
            }
        if (c == i - 1)
#pragma unroll
            for (int to = 0; to < BLOCKS; to++) {
                cluster_send<K == 1>(&memory.corner_product[order], to, some, &memory.product_here);
                if (has)
                    cluster_send<K == 1>(&memory.corner, to, some_after.re, &memory.product_here);
            }
        double form = heev_warp_sum_mma(c < i ? x.re * some.re + x.im() * some.im() : 0);
        if (lane < BLOCKS)
            cluster_send<K == 1>(&memory.form[rank * 8 + warp], lane, form, &memory.product_here);
        const double beta = memory.beta;
        const num t = memory.tau, scale = memory.scale;
        const num u = c < i - 1 ? times(x, scale) : c == i - 1 ? num::make(1, 0) : zero;
        if (!RECTANGLE && c < ld && plan.vectors)
            reflectors[(size_t)i * ld + c] = u;
        if (rank == BLOCKS - 1 && plan.vectors)
            for (int beyond = K * HEEV_GROUP + tid; beyond < ld; beyond += HEEV_CLUSTER_THREADS)
                reflectors[(size_t)i * ld + beyond] = zero;
        if constexpr (K > 1)
            cluster_await(&memory.product_here, phase);
        else
            __syncthreads();
        form = lane < WARPS ? memory.form[lane] : 0;
        if (WARPS > 32)
            form += memory.form[32 + lane];
        form = heev_warp_sum_mma(form);
        num product = memory.product[q][0][l], end_product = memory.corner_product[0];
#pragma unroll
        for (int from = 1; from < K; from++) {
            product = plus(product, memory.product[q][from][l]);
            end_product = plus(end_product, memory.corner_product[from]);
        }
        const num after = memory.next[q][l];
        const double end = memory.corner;
        /* u = (x - beta) scale; w = tau A u - tau / 2 (w^H u) u with w^H u = conj(tau) times the real u^H A u */
        auto of_u = [&](num p, num b) {
            return times(num::make(p.re - beta * b.re, p.im() - beta * b.im()), scale);
        };
        const double real = (scale.re * scale.re + scale.im() * scale.im()) *
                            (form - 2 * beta * end_product.re + beta * beta * end);
        const double half = -0.5 * (t.re * t.re + t.im() * t.im()) * real;
        const num last = plus(times(t, of_u(end_product, num::make(end, 0))), num::make(half, 0));
        num w = zero, next = zero;
        if (c < i) {
            w = add(times(t, of_u(product, after)), num::make(half, 0), u);
            next = minus_conj(minus_conj(after, u, last), w, num::make(1, 0));
        }
        memory.wv[q][l][0] = w;
        memory.wv[q][l][1] = u;
        x = next;
        memory.x[q][l] = c < i - 1 ? x : zero;
        __syncthreads();
    }
    part.each(kept, [&](heev_fragment<C> &tile, int row, int column) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int r = row + g + 8 * (e / 2), s = column + 2 * j + e % 2;
            const num value = tile.at(e);
            if (r < tail && s < tail && (r >= s || row / 16 != column / 16))
                reflectors[(size_t)max(r, s) * ld + min(r, s)] =
                    r == s ? num::make(.5 * value.re, 0) : num::make(value.re, r < s ? value.im() : -value.im());
        }
    });
}

template <bool C, int K>
__global__ void __launch_bounds__(HEEV_CLUSTER_THREADS, 1)
    heev_cluster(const __grid_constant__ heev_plan plan, const void *matrices, int size, int tail)
{
#if __CUDA_ARCH__ >= 900
    const int rank = (int)cluster_rank();
    const size_t matrix = blockIdx.x / heev_cluster_size(K);
    int group[2];
    const bool rectangle = heev_cluster_role<K>(rank, group);
    heev_cluster_init<C, K>();
    if (!matrices && plan.state[matrix] != HEEV_FINE)
        return;
    if constexpr (K > 1)
        if (rectangle) {
            heev_cluster_reduce<C, K, true>(plan, matrices, size, tail, matrix, rank, group[0], group[1]);
            return;
        }
    heev_cluster_reduce<C, K, false>(plan, matrices, size, tail, matrix, rank, group[0], group[1]);
#endif
}
