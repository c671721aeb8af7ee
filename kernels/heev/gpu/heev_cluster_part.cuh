/* A cluster block's part of a matrix that is reduced, and the pass over it. */
#pragma once

#include "heev_fragment.cuh"

enum {
    HEEV_GROUP = 128,
    HEEV_CLUSTER_THREADS = 2 * HEEV_GROUP, /* one for each element of two groups' vectors; 2 x 4 warps for the tiles */
    HEEV_KEPT = 2                          /* of a warp's 4 columns of 4 tiles, so many stay in registers */
};

/* Blocks of a cluster: the pairs of groups, and the triangles two by two. */
static constexpr __host__ __device__ int heev_cluster_size(int groups) { return groups == 4 ? 8 : groups; }

template <bool C, int K> struct heev_cluster_memory {
    double2 tiles[8 * 4 * (4 - HEEV_KEPT)][C ? 4 : 2][32]; /* of each warp, the columns beyond HEEV_KEPT */
    double2 folded[16][C ? 4 : 2][32];                     /* the second group's on the diagonal */
    number<C> wv[2][HEEV_GROUP][2];                        /* w and v */
    number<C> x[2][HEEV_GROUP];
    /* of A x: from the warps across and down, and from `folded` */
    number<C> rows[2][4][HEEV_GROUP], columns[2][2][HEEV_GROUP], more[HEEV_GROUP];
    double after[2][C ? 2 : 1][HEEV_GROUP]; /* of column i - 1: parts of what each group has */
    /* what other blocks send: product to norm with every reflector, norm and alpha alternately to two places */
    number<C> product[2][K][HEEV_GROUP], next[2][HEEV_GROUP];
    number<C> corner_product[K], alpha[2];
    double corner, form[64], norm[2][8], largest[8];
    unsigned long long column_here, product_here; /* mbarriers */
    /* the reflection */
    number<C> tau, scale;
    double beta;

    /* The block's own: found by name, so that the compiler knows where it lies. */
    static __device__ __forceinline__ heev_cluster_memory &own()
    {
        extern __shared__ double2 heev_memory[];
        return *reinterpret_cast<heev_cluster_memory *>(heev_memory);
    }
};

/* A block has 8 x 16 tiles, warp (down, across) of 2 x 4 those in row down + 2 p and column across + 4 k, p and k < 4.
 * RECTANGLE: rows of group 0, columns of group 1. Else the tiles left of the diagonal, and on it, are group 0's, those
 * right of it group 1's, whose tiles on the diagonal are with a rectangle (`folds`): of them a warp has the two in row
 * down + 2 across.
 *
 * Tiles are worked on two at a time, for the sake of the pipeline, and some when they are no longer needed: nothing
 * changes there, as w, v and x are zero. */
template <bool C, int K, bool RECTANGLE> struct heev_cluster_part {
    typedef heev_fragment<C> fragment;
    int down, across, first0, first1; /* first: place in the matrix of the groups' tiles */
    bool folds;                       /* a rectangle with the diagonal tiles of its second group */

    static __device__ __forceinline__ heev_cluster_memory<C, K> &memory() { return heev_cluster_memory<C, K>::own(); }
    __device__ __forceinline__ int start(int group, int row16) const
    {
        return (group ? first1 : first0) + 16 * K * row16;
    }
    __device__ __forceinline__ int start8(int group, int column8) const
    {
        return start(group, column8 / 2) + 8 * (column8 % 2);
    }
    __device__ __forceinline__ double2 (*stored(int p, int k) const)[32]
    {
        return memory().tiles[(p * (4 - HEEV_KEPT) + k - HEEV_KEPT) * 8 + 4 * down + across];
    }
    __device__ __forceinline__ double2 (*fold(int z) const)[32] { return memory().folded[2 * (4 * down + across) + z]; }
    /* Of tile (p, p) among triangles: negative to the right of the diagonal, 0 on it, positive to its left. */
    __device__ __forceinline__ int side() const { return down - across / 2; }
    __device__ __forceinline__ int row_group(int p, int k) const
    {
        return RECTANGLE ? 0 : p < k || (p == k && side() < 0);
    }
    __device__ __forceinline__ int column_group(int p, int k) const { return RECTANGLE ? 1 : row_group(p, k); }
    __device__ __forceinline__ fragment tile(const fragment kept[4][HEEV_KEPT], int p, int k) const
    {
        fragment copy;
        if (k < HEEV_KEPT)
            copy = kept[p][k < HEEV_KEPT ? k : 0];
        else
            copy.load(stored(p, k));
        return copy;
    }

    /* Calls take(tile, row, column) for every tile: its elements' places in the matrix begin there. */
    template <typename TAKE> __device__ __forceinline__ void each(fragment kept[4][HEEV_KEPT], TAKE take) const
    {
#pragma unroll
        for (int p = 0; p < 4; p++)
#pragma unroll
            for (int k = 0; k < 4; k++) {
                fragment copy = tile(kept, p, k);
                take(copy, start(row_group(p, k), down + 2 * p), start8(column_group(p, k), across + 4 * k));
                if (k < HEEV_KEPT)
                    kept[p][k < HEEV_KEPT ? k : 0] = copy;
                else
                    copy.store(stored(p, k));
            }
        if (RECTANGLE && folds)
#pragma unroll
            for (int z = 0; z < 2; z++) {
                fragment copy;
                copy.load(fold(z));
                take(copy, start(1, down + 2 * across), start(1, down + 2 * across) + 8 * z);
                copy.store(fold(z));
            }
    }

    /* COUNT tiles of row p from column k on. */
    template <int COUNT>
    __device__ __forceinline__ void steps(fragment kept[4][HEEV_KEPT], int p, int k, int group,
                                          const heev_rows<C> &rows, number<C> sum[2], number<C> across_sum[][2]) const
    {
        heev_columns<C> columns[COUNT];
        fragment loaded[COUNT];
#pragma unroll
        for (int m = 0; m < COUNT; m++) {
            columns[m].load(memory().wv[group], memory().x[group], 8 * (across + 4 * (k + m)));
            if (k + m >= HEEV_KEPT)
                loaded[m].load(stored(p, k + m));
        }
#pragma unroll
        for (int m = 0; m < COUNT; m++) {
            if (k + m < HEEV_KEPT)
                heev_fragment_step<C>(kept[p][k + m < HEEV_KEPT ? k + m : 0], rows, columns[m], sum, across_sum[m]);
            else
                heev_fragment_step<C>(loaded[m], rows, columns[m], sum, across_sum[m]);
        }
#pragma unroll
        for (int m = 0; m < COUNT; m++)
            if (k + m >= HEEV_KEPT)
                loaded[m].store(stored(p, k + m));
    }

    /* The second group's tiles on the diagonal, all of each at once. */
    __device__ __forceinline__ void step_folded(int i) const
    {
        const int t = down + 2 * across;
        const number<C> zero = number<C>::make(0, 0);
        number<C> sum[2] = {zero, zero}, nothing[2] = {zero, zero};
        heev_rows<C> rows;
        heev_columns<C> columns[2];
        fragment loaded[2];
        if (start(1, t) >= i)
            return;
        rows.load(memory().wv[1], memory().x[1], 16 * t);
#pragma unroll
        for (int z = 0; z < 2; z++) {
            columns[z].load(memory().wv[1], memory().x[1], 16 * t + 8 * z);
            loaded[z].load(fold(z));
        }
#pragma unroll
        for (int z = 0; z < 2; z++)
            heev_fragment_step<C>(loaded[z], rows, columns[z], sum, nothing);
#pragma unroll
        for (int z = 0; z < 2; z++)
            loaded[z].store(fold(z));
        heev_flush_rows<C>(memory().more + 16 * t, sum);
    }

    /* One pass for the columns before i. */
    __device__ __forceinline__ void pass(fragment kept[4][HEEV_KEPT], int i) const
    {
        const number<C> zero = number<C>::make(0, 0);
        number<C> across_sum[4][2];
        heev_rows<C> rows;
#pragma unroll
        for (int k = 0; k < 4; k++)
            across_sum[k][0] = across_sum[k][1] = zero;
        if constexpr (RECTANGLE) {
#pragma unroll
            for (int p = 0; p < 4; p++) {
                number<C> sum[2] = {zero, zero};
                if (start(0, down + 2 * p) >= i)
                    break;
                rows.load(memory().wv[0], memory().x[0], 16 * (down + 2 * p));
                steps<2>(kept, p, 0, 1, rows, sum, across_sum);
                if (start8(1, across + 12) < i)
                    steps<2>(kept, p, 2, 1, rows, sum, across_sum + 2);
                else if (start8(1, across + 8) < i)
                    steps<1>(kept, p, 2, 1, rows, sum, across_sum + 2);
                heev_flush_rows<C>(memory().rows[0][across] + 16 * (down + 2 * p), sum);
            }
            if (folds)
                step_folded(i);
        } else {
            if (K > 1) { /* right of the diagonal */
#pragma unroll
                for (int p = 0; p < 4; p++) {
                    number<C> sum[2] = {zero, zero};
                    if (start(1, down + 2 * p) >= i)
                        break;
                    rows.load(memory().wv[1], memory().x[1], 16 * (down + 2 * p));
                    if (side() < 0)
                        steps<1>(kept, p, p, 1, rows, sum, across_sum + p);
                    if (p == 0 && start8(1, across + 4) < i)
                        steps<1>(kept, p, 1, 1, rows, sum, across_sum + 1);
                    if (p < 2 && start8(1, across + 12) < i)
                        steps<2>(kept, p, 2, 1, rows, sum, across_sum + 2);
                    else if (p < 2 && start8(1, across + 8) < i)
                        steps<1>(kept, p, 2, 1, rows, sum, across_sum + 2);
                    if (p == 2 && start8(1, across + 12) < i)
                        steps<1>(kept, p, 3, 1, rows, sum, across_sum + 3);
                    heev_flush_rows<C>(memory().rows[1][across] + 16 * (down + 2 * p), sum);
                }
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    heev_flush_columns<C>(memory().columns[1][down] + 8 * (across + 4 * k), across_sum[k]);
                    across_sum[k][0] = across_sum[k][1] = zero;
                }
            }
#pragma unroll
            for (int p = 0; p < 4; p++) { /* to its left, and on it */
                number<C> sum[2] = {zero, zero};
                if (start(0, down + 2 * p) >= i)
                    break;
                rows.load(memory().wv[0], memory().x[0], 16 * (down + 2 * p));
                if (p == 1)
                    steps<1>(kept, p, 0, 0, rows, sum, across_sum);
                if (p > 1)
                    steps<2>(kept, p, 0, 0, rows, sum, across_sum);
                if (p == 3)
                    steps<1>(kept, p, 2, 0, rows, sum, across_sum + 2);
                if (side() >= 0) {
                    steps<1>(kept, p, p, 0, rows, sum, across_sum + p);
                    if (side() == 0) /* all of it is there */
                        across_sum[p][0] = across_sum[p][1] = zero;
                }
                heev_flush_rows<C>(memory().rows[0][across] + 16 * (down + 2 * p), sum);
            }
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            heev_flush_columns<C>(memory().columns[RECTANGLE ? 1 : 0][down] + 8 * (across + 4 * k), across_sum[k]);
    }

    /* Copies the block's part of column i - 1 to `after`; conjugated if it comes from row i - 1 (by_row). corner: its
     * index in each group, or -16 if the group has no part. */
    __device__ __forceinline__ void take_column(const fragment kept[4][HEEV_KEPT], int corner0, int corner1) const
    {
        constexpr int PARTS = C ? 2 : 1;
        const int g = threadIdx.x % 32 / 4, j = threadIdx.x % 4;
        auto row = [&](const fragment &tile, int at, int group, int place) {
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                const double *const pair = tile.part[part];
                *reinterpret_cast<double2 *>(&memory().after[group][part][place + 2 * j]) =
                    at % 16 < 8 ? make_double2(pair[0], pair[1]) : make_double2(pair[2], pair[3]);
            }
        };
        if (corner0 >= 0 && corner0 / 16 % 2 == down)
#pragma unroll
            for (int p = 0; p < 4; p++)
                if (corner0 >> 4 == down + 2 * p)
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        if (row_group(p, k) == 0 && g == corner0 % 8)
                            row(tile(kept, p, k), corner0, RECTANGLE, 8 * (across + 4 * k));
        if (corner1 >= 0 && corner1 / 8 % 4 == across)
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (corner1 >> 3 == across + 4 * k)
#pragma unroll
                    for (int p = 0; p < 4; p++)
                        if (column_group(p, k) == 1 && j == corner1 % 8 / 2) {
                            const fragment copy = tile(kept, p, k);
#pragma unroll
                            for (int part = 0; part < PARTS; part++)
#pragma unroll
                                for (int h = 0; h < 2; h++)
                                    memory().after[!RECTANGLE][part][16 * (down + 2 * p) + g + 8 * h] =
                                        corner1 % 2 ? copy.part[part][2 * h + 1] : copy.part[part][2 * h];
                        }
        if (RECTANGLE && folds && corner1 >> 4 == down + 2 * across && g == corner1 % 8)
#pragma unroll
            for (int z = 0; z < 2; z++) {
                fragment copy;
                copy.load(fold(z));
                row(copy, corner1, 1, corner1 / 16 * 16 + 8 * z);
            }
    }

    static __device__ __forceinline__ bool by_row(int group) { return (group == 1) == RECTANGLE; }

    /* The warps' sum of A x, element l of a group. */
    __device__ __forceinline__ number<C> product(int group, int l) const
    {
        number<C> sum = number<C>::make(0, 0);
        if (!RECTANGLE || group == 0)
#pragma unroll
            for (int k = 0; k < 4; k++)
                sum = plus(sum, memory().rows[group][k][l]);
        if (!RECTANGLE || group == 1)
#pragma unroll
            for (int k = 0; k < 2; k++)
                sum = plus(sum, memory().columns[group][k][l]);
        if (RECTANGLE && folds && group == 1)
            sum = plus(sum, memory().more[l]);
        return sum;
    }
};
