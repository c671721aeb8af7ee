/* Products of small double tiles on the tensor cores. */
#pragma once

#include "heev_number.cuh"

/* c (8 x 8) += a (8 x 4) b (4 x 8), a warp together. Lane l holds a(l / 4, l % 4), b(l % 4, l / 4) and
 * c(l / 4, l % 4 * 2 + 0 and 1). */
__device__ __forceinline__ void mma_8x8x4(double c[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
}

/* c (16 x 8) += a (16 x 8) b (8 x 8), a warp together. With g = lane / 4 and j = lane % 4 a lane holds
 *   c: (g, 2j) (g, 2j + 1) (g + 8, 2j) (g + 8, 2j + 1)
 *   a: (g, j) (g + 8, j) (g, j + 4) (g + 8, j + 4)     b: (j, g) (j + 4, g)
 * The inner index may be taken in any order that a and b share: with 2j for j and 2j + 1 for j + 4 a product's c is the
 * a of the next one, its second and third elements exchanged. */
__device__ __forceinline__ void heev_product(double c[4], const double a[4], double b0, double b1)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b0), "d"(b1));
#else
    for (int half = 0; half < 2; half++) {
        mma_8x8x4(c + 2 * half, a[half], b0);
        mma_8x8x4(c + 2 * half, a[half + 2], b1);
    }
#endif
}

/* The same of numbers kept as real and imaginary parts. CONJUGATE: of b. */
template <bool C, bool CONJUGATE = false>
__device__ __forceinline__ void heev_product(double c[C ? 2 : 1][4], const double a[C ? 2 : 1][4], number<C> b0,
                                             number<C> b1)
{
    heev_product(c[0], a[0], b0.re, b1.re);
    if constexpr (C) {
        const double sign = CONJUGATE ? -1 : 1;
        heev_product(c[1], a[1], b0.re, b1.re);
        heev_product(c[0], a[1], -sign * b0.im(), -sign * b1.im());
        heev_product(c[1], a[0], sign * b0.im(), sign * b1.im());
    }
}
