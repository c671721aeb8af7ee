/* Sturm counts on the GPU, one shift per thread: shared by the families tridiag and heev. How they work:
 * tridiag_cuda.cu. */
#pragma once

#include <cuda_runtime.h>

enum { TRIDIAG_GROUP = 32 }; /* entries that a counter takes at a time */

template <typename T> struct alignas(2 * sizeof(T)) tridiag_entry {
    T a, b2; /* a_i and b_(i-1)^2 */
};

template <typename T, bool EXACT> struct tridiag_counter;

/* Quotients: the pivots themselves, by their sign bits (see tridiag_count.h). */
template <typename T> struct tridiag_counter<T, true> {
    T x, d;
    int below;
    __device__ void start(T shift) { x = shift, d = 1, below = 0; }
    __device__ void steps(const tridiag_entry<T> *e)
    {
#pragma unroll 8
        for (int i = 0; i < TRIDIAG_GROUP; i++) {
            d = (e[i].a - x) - e[i].b2 / d;
            below += signbit(d) ? 1 : 0;
        }
    }
    __device__ bool vanished() const { return false; }
};

/* One group's sign changes: the signs, oldest first, and the sign before them. */
__device__ __forceinline__ int tridiag_sign_changes(unsigned signs, unsigned before)
{
    return __popc(signs ^ ((signs >> 1) | (before << 31)));
}

template <> struct tridiag_counter<float, false> {
    float x, p, q; /* p_i and p_(i-1) */
    unsigned last;
    int below;
    __device__ void start(float shift) { x = shift, p = 1, q = 0, last = 0, below = 0; }
    __device__ void steps(const tridiag_entry<float> *e)
    {
        unsigned signs = 0;
#pragma unroll
        for (int i = 0; i < TRIDIAG_GROUP; i += 4) {
            const float4 *pair = reinterpret_cast<const float4 *>(e + i);
            const float4 v = pair[0], w = pair[1];
            const float a[4] = {v.x, v.z, w.x, w.z}, b2[4] = {v.y, v.w, w.y, w.w};
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const float u = b2[k] * q;
                q = p;
                p = __fmaf_rn(a[k] - x, p, -u);
                signs = __funnelshift_l(__float_as_uint(p), signs, 1);
            }
            /* the larger of the two to about 2^60 */
            const int exponent = __float_as_int(fmaxf(fabsf(p), fabsf(q))) & 0x7f800000;
            const float scale = __int_as_float(min((314 << 23) - exponent, 254 << 23));
            p *= scale;
            q *= scale;
        }
        below += tridiag_sign_changes(signs, last);
        last = signs & 1;
    }
    __device__ bool vanished() const { return p == 0 && q == 0; }
};

template <> struct tridiag_counter<double, false> {
    double x, p, q;
    unsigned last;
    int below;
    __device__ void start(double shift) { x = shift, p = 1, q = 0, last = 0, below = 0; }
    __device__ void steps(const tridiag_entry<double> *e)
    {
        unsigned signs = 0;
#pragma unroll
        for (int i = 0; i < TRIDIAG_GROUP; i += 16) {
#pragma unroll
            for (int k = 0; k < 16; k++) {
                const double2 v = *reinterpret_cast<const double2 *>(e + i + k);
                const double u = v.y * q;
                q = p;
                p = __fma_rn(v.x - x, p, -u);
                signs = __funnelshift_l((unsigned)__double2hiint(p), signs, 1);
            }
            const int exponent = max(__double2hiint(p) & 0x7ff00000, __double2hiint(q) & 0x7ff00000);
            const double scale = __hiloint2double(min((2046 << 20) - exponent, 2046 << 20), 0);
            p *= scale;
            q *= scale;
        }
        below += tridiag_sign_changes(signs, last);
        last = signs & 1;
    }
    __device__ bool vanished() const { return p == 0 && q == 0; }
};
