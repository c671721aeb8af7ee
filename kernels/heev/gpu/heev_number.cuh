/* Real and complex numbers by one name in the kernels of the heev family. */
#pragma once

#include <cuda_runtime.h>
#include <math.h>

template <bool C> struct alignas(C ? 16 : 8) number;

template <> struct alignas(8) number<false> {
    double re;
    static __device__ number make(double re, double) { return {re}; }
    __device__ double im() const { return 0; }
};
template <> struct alignas(16) number<true> {
    double re, i;
    static __device__ number make(double re, double im) { return {re, im}; }
    __device__ double im() const { return i; }
};

/* sum + a b, sum + conj(a) b, sum - a conj(b) */
__device__ __forceinline__ number<false> add(number<false> s, number<false> a, number<false> b)
{
    return {fma(a.re, b.re, s.re)};
}
__device__ __forceinline__ number<true> add(number<true> s, number<true> a, number<true> b)
{
    return {fma(-a.i, b.i, fma(a.re, b.re, s.re)), fma(a.i, b.re, fma(a.re, b.i, s.i))};
}
__device__ __forceinline__ number<false> add_conj(number<false> s, number<false> a, number<false> b)
{
    return add(s, a, b);
}
__device__ __forceinline__ number<true> add_conj(number<true> s, number<true> a, number<true> b)
{
    return {fma(a.i, b.i, fma(a.re, b.re, s.re)), fma(-a.i, b.re, fma(a.re, b.i, s.i))};
}
__device__ __forceinline__ number<false> minus_conj(number<false> s, number<false> a, number<false> b)
{
    return {fma(-a.re, b.re, s.re)};
}
__device__ __forceinline__ number<true> minus_conj(number<true> s, number<true> a, number<true> b)
{
    return {fma(-a.i, b.i, fma(-a.re, b.re, s.re)), fma(-a.i, b.re, fma(a.re, b.i, s.i))};
}
template <bool C> __device__ __forceinline__ number<C> minus(number<C> s, number<C> a, number<C> b)
{
    return add(s, number<C>::make(-a.re, -a.im()), b);
}
template <bool C> __device__ __forceinline__ number<C> times(number<C> a, number<C> b)
{
    return add(number<C>::make(0, 0), a, b);
}
template <bool C> __device__ __forceinline__ number<C> plus(number<C> a, number<C> b)
{
    return number<C>::make(a.re + b.re, a.im() + b.im());
}
template <bool C> __device__ __forceinline__ number<C> shuffled(number<C> a, int offset)
{
    return number<C>::make(__shfl_xor_sync(~0u, a.re, offset), C ? __shfl_xor_sync(~0u, a.im(), offset) : 0);
}

/* From device memory; not CACHED: read once, and not worth a place in L1. */
template <bool CACHED> __device__ __forceinline__ number<false> heev_fetch(const number<false> *from)
{
    return CACHED ? *from : number<false>::make(__ldcs(&from->re), 0);
}
template <bool CACHED> __device__ __forceinline__ number<true> heev_fetch(const number<true> *from)
{
    if (CACHED)
        return *from;
    const double2 pair = __ldcs(reinterpret_cast<const double2 *>(from));
    return number<true>::make(pair.x, pair.y);
}

/* The sum over a row of threads of each of ROWS <= ACROSS values; thread c of a row ends with that of value c / (ACROSS
 * / ROWS). */
template <bool C, int ACROSS, int ROWS> __device__ __forceinline__ number<C> heev_sum_across(number<C> value[ROWS])
{
    int offset = ACROSS / 2;
#pragma unroll
    for (int kept = ROWS / 2; kept; kept /= 2, offset /= 2) {
        const bool upper = threadIdx.x & offset;
#pragma unroll
        for (int k = 0; k < kept; k++)
            value[k] = plus(upper ? value[k + kept] : value[k], shuffled(upper ? value[k] : value[k + kept], offset));
    }
#pragma unroll
    for (; offset; offset /= 2)
        value[0] = plus(value[0], shuffled(value[0], offset));
    return value[0];
}
