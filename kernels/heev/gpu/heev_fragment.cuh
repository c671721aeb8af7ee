/* Tiles of 16 x 8 elements over a warp, updated on the tensor cores and multiplied with a column. */
#pragma once

#include "heev_number.cuh"

/* 16 x 8 elements over a warp, as heev_product has its c: with g = lane / 4 and j = lane % 4 a lane holds (g, 2j)
 * (g, 2j + 1) (g + 8, 2j) (g + 8, 2j + 1). In shared memory: pairs of each part, over the lanes. */
template <bool C> struct heev_fragment {
    double part[C ? 2 : 1][4];
    __device__ __forceinline__ number<C> at(int e) const { return number<C>::make(part[0][e], C ? part[C][e] : 0); }
    __device__ __forceinline__ void set(int e, number<C> value)
    {
        part[0][e] = value.re;
        if constexpr (C)
            part[1][e] = value.im();
    }
    __device__ __forceinline__ void load(const double2 (*place)[32])
    {
#pragma unroll
        for (int k = 0; k < (C ? 4 : 2); k++) {
            const double2 pair = place[k][threadIdx.x % 32];
            part[k / 2][k % 2 * 2] = pair.x;
            part[k / 2][k % 2 * 2 + 1] = pair.y;
        }
    }
    __device__ __forceinline__ void store(double2 (*place)[32]) const
    {
#pragma unroll
        for (int k = 0; k < (C ? 4 : 2); k++)
            place[k][threadIdx.x % 32] = make_double2(part[k / 2][k % 2 * 2], part[k / 2][k % 2 * 2 + 1]);
    }
};

/* c += a (16 x 4) b (4 x 8), laid out as heev_product's. */
__device__ __forceinline__ void heev_product4(double c[4], const double a[2], double b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(b));
#endif
}

/* A lane's factors for its rows g and g + 8 of a tile: -v w^H - w v^H is `left` times (w.re, w.im, v.re, v.im) of the
 * columns, for the real and for the imaginary part; and x. */
template <bool C> struct heev_rows {
    double left[C ? 2 : 1][2];
    number<C> x[2];
    __device__ __forceinline__ void load(const number<C> (*wv)[2], const number<C> *from, int row)
    {
        const int g = threadIdx.x % 32 / 4, j = threadIdx.x % 4;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const double *pair = &wv[row + g + 8 * h][0].re;
            if constexpr (C) {
                left[0][h] = -pair[(j + 2) % 4];
                left[1][h] = j % 2 ? pair[3 - j] : -pair[3 - j];
            } else
                left[0][h] = j < 2 ? -pair[1 - j] : 0;
            x[h] = from[row + g + 8 * h];
        }
    }
};
template <bool C> struct heev_columns {
    double right;
    number<C> x[2];
    __device__ __forceinline__ void load(const number<C> (*wv)[2], const number<C> *from, int column)
    {
        const int g = threadIdx.x % 32 / 4, j = threadIdx.x % 4;
        right = C || j < 2 ? (&wv[column + g][0].re)[j] : 0;
        x[0] = from[column + 2 * j];
        x[1] = from[column + 2 * j + 1];
    }
};

/* The update, and the tile's part of the rows of A x and of its columns. */
template <bool C>
__device__ __forceinline__ void heev_fragment_step(heev_fragment<C> &a, const heev_rows<C> &rows,
                                                   const heev_columns<C> &columns, number<C> down[2],
                                                   number<C> across[2])
{
    heev_product4(a.part[0], rows.left[0], columns.right);
    if constexpr (C)
        heev_product4(a.part[1], rows.left[1], columns.right);
#pragma unroll
    for (int e = 0; e < 4; e++) {
        down[e / 2] = add(down[e / 2], a.at(e), columns.x[e % 2]);
        across[e % 2] = add_conj(across[e % 2], a.at(e), rows.x[e / 2]);
    }
}

/* Sums of rows g and g + 8 over the lanes of a row: the product with columns of ones is one. */
template <bool C> __device__ __forceinline__ void heev_flush_rows(number<C> *to, const number<C> sum[2])
{
    const int g = threadIdx.x % 32 / 4;
    const double re[2] = {sum[0].re, sum[1].re}, im[2] = {sum[0].im(), sum[1].im()};
    double c[4] = {};
    heev_product4(c, re, g == 0);
    if (C)
        heev_product4(c, im, g == 1);
    if (threadIdx.x % 4 == 0) {
        to[g] = number<C>::make(c[0], c[1]);
        to[g + 8] = number<C>::make(c[2], c[3]);
    }
}
/* The sum over the warp, in every lane. */
__device__ __forceinline__ double heev_warp_sum_mma(double value)
{
    const double ones[2] = {1, 1};
    double c[4] = {}, sum[4] = {};
    heev_product4(c, ones, value); /* of four lanes each */
    const double pairs[2] = {c[0] + c[1], 0};
    heev_product4(sum, pairs, 1);
    return sum[0];
}
/* Sums of columns 2j and 2j + 1 over the lanes of a column. */
template <bool C> __device__ __forceinline__ void heev_flush_columns(number<C> *to, const number<C> sum[2])
{
    const int lane = threadIdx.x % 32, second = lane / 16, odd = lane / 8 % 2;
    const number<C> mine = plus(second ? sum[1] : sum[0], shuffled(second ? sum[0] : sum[1], 16));
    double part = (C && odd ? mine.im() : mine.re) + __shfl_xor_sync(~0u, C && !odd ? mine.im() : mine.re, 8);
    part += __shfl_xor_sync(~0u, part, 4);
    if (lane % 8 < 4 && (C || !odd))
        (&to[2 * (lane % 4) + second].re)[C ? odd : 0] = part;
}
