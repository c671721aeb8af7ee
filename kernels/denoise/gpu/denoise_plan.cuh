/* The data of the denoise family's kernels: a slab of the volume on the device, and a batch of its windows. */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "heev/gpu/heev_number.cuh"

/* The samples of a window are `rows` x `n` numbers: of the volumes and the window's voxels, n is the smaller. The
 * projection of a window's samples is sum_s weight_s(voxel) pattern_s(volume): one of the two is the eigenvectors
 * (the basis), the other the samples' products with them. */
struct denoise_plan {
    int size[3], window[3], step[3]; /* size: voxels in memory */
    int places[2];                   /* windows along i and j */
    int slices, first;               /* of the whole volume; which of them is the first in memory */
    int begin, end;                  /* slices in memory that are written */
    int volumes, parts, voxels, n, rows, veraart;
    bool over_volumes;               /* n counts volumes */
    const float *signals;
    const uint8_t *usable, *mask;    /* per voxel in memory; mask may be NULL */
    /* of slices begin ... end - 1: sums over windows */
    float *sums, *variance;
    int *windows, *variances;
    /* The batch: `count` windows, whole rows of them along i, from row `row` (place along k times places[1], plus
     * place along j). */
    int row, count;
    /* per window */
    double *gram;        /* packed lower triangle; then the reflectors */
    double *tau, *d, *e; /* n numbers, n, n; d and e after the rank is selected: of the matrix scaled by its norm */
    double *lambda;      /* n: the largest first, of the scaled matrix; only those of the signal */
    int *signal;         /* how many; n: nothing is known to be noise; DENOISE_UNWANTED */
    float *level;        /* the noise's variance */
    float *patterns;     /* n x stride numbers */
    float *weights;      /* voxels x pitch(signal) numbers */
    int stride;
    int *list;           /* how many windows want the complete eigensolver; which they are */
};

enum { DENOISE_UNWANTED = -1 };

static inline __host__ __device__ int denoise_pitch(int signal) { return (signal + 3) / 4 * 4; }
static inline __host__ __device__ int denoise_corner_of(int place, int size, int window, int step)
{
    return (long long)place * step < size - window ? place * step : size - window;
}

/* 1 / x of a normal number, to the last place or nearly, in a fifth of a division's instructions. */
__device__ __forceinline__ double denoise_inverse(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y = fma(fma(-x, y, 1.0), y, y);
    y = fma(fma(-x, y, 1.0), y, y);
    return y;
}

struct denoise_corner {
    int i, j, k; /* in memory */
};
__device__ __forceinline__ denoise_corner denoise_corner_at(const denoise_plan &plan, int w)
{
    const int row = plan.row + w / plan.places[0];
    return {denoise_corner_of(w % plan.places[0], plan.size[0], plan.window[0], plan.step[0]),
            denoise_corner_of(row % plan.places[1], plan.size[1], plan.window[1], plan.step[1]),
            denoise_corner_of(row / plan.places[1], plan.slices, plan.window[2], plan.step[2]) - plan.first};
}

/* The voxel in memory that is the window's voxel number `at`. */
__device__ __forceinline__ int denoise_voxel(const denoise_plan &plan, const denoise_corner &corner, int at)
{
    const int i = at % plan.window[0], row = at / plan.window[0], j = row % plan.window[1], k = row / plan.window[1];
    return ((corner.k + k) * plan.size[1] + corner.j + j) * plan.size[0] + corner.i + i;
}

/* Whether the window holds a voxel that is wanted; by all threads of the block. */
__device__ __forceinline__ bool denoise_wanted(const denoise_plan &plan, const denoise_corner &corner)
{
    if (!plan.mask)
        return true;
    int found = 0;
    for (int at = threadIdx.x; at < plan.voxels && !found; at += blockDim.x)
        found = plan.mask[denoise_voxel(plan, corner, at)];
    return __syncthreads_or(found) != 0;
}

/* An eigenvector's place: component s, at column `at` of the samples. */
template <typename E>
__device__ __forceinline__ E *denoise_basis(const denoise_plan &plan, size_t w, int signal, int s, int at)
{
    return plan.over_volumes
               ? (E *)plan.patterns + (w * plan.n + s) * plan.stride + at
               : (E *)plan.weights + w * plan.voxels * denoise_pitch(plan.n) + (size_t)at * denoise_pitch(signal) + s;
}

/* A number of signals: float, or float2 when they are complex. */
template <bool C> struct denoise_number;
template <> struct denoise_number<false> { typedef float type; };
template <> struct denoise_number<true> { typedef float2 type; };
__device__ __forceinline__ float denoise_zero(float) { return 0; }
__device__ __forceinline__ float2 denoise_zero(float2) { return make_float2(0, 0); }
__device__ __forceinline__ float denoise_plus(float a, float b) { return a + b; }
__device__ __forceinline__ float2 denoise_plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
/* sum + a b; sum + conj(a) b */
__device__ __forceinline__ float denoise_add(float sum, float a, float b) { return fmaf(a, b, sum); }
__device__ __forceinline__ float2 denoise_add(float2 sum, float2 a, float2 b)
{
    return make_float2(fmaf(-a.y, b.y, fmaf(a.x, b.x, sum.x)), fmaf(a.y, b.x, fmaf(a.x, b.y, sum.y)));
}
__device__ __forceinline__ float denoise_add_conj(float sum, float a, float b) { return fmaf(a, b, sum); }
__device__ __forceinline__ float2 denoise_add_conj(float2 sum, float2 a, float2 b)
{
    return make_float2(fmaf(a.y, b.y, fmaf(a.x, b.x, sum.x)), fmaf(-a.y, b.x, fmaf(a.x, b.y, sum.y)));
}
__device__ __forceinline__ void denoise_store(float *to, number<false> from) { *to = (float)from.re; }
__device__ __forceinline__ void denoise_store(float2 *to, number<true> from)
{
    *to = make_float2((float)from.re, (float)from.i);
}
__device__ __forceinline__ number<false> denoise_load(float from) { return {(double)from}; }
__device__ __forceinline__ number<true> denoise_load(float2 from) { return {(double)from.x, (double)from.y}; }
