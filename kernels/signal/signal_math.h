/* Common code of the fits and the start search: data, the moments of a Rician magnitude, rotations of a direction, a
 * small linear system. Compiled for each CPU variant and by nvcc. */
#pragma once

#include "signal_plan.h"
#include "common/simd.h"

/* A function that is called, not inlined. */
#ifdef __CUDACC__
#define SIGNAL_CALLED static __host__ __device__ __noinline__
#else
#define SIGNAL_CALLED static __attribute__((noinline, unused))
#endif

/* The voxels' data. */
typedef struct signal_data {
    const float *y;  /* signals in units of the noise, on the pedestal: volume j at y + j * stride */
    size_t stride;
    vf snr;          /* S0 over the noise */
    vf y0;           /* the mean of the b=0 volumes, as y */
    float weight0;   /* how many these are */
} signal_data;

HOT_FN vf signal_signal(const signal_data *data, int volume)
{
    return *(const vf *)(data->y + (size_t)volume * data->stride);
}

/* Mean and variance of a Rician magnitude with underlying signal t (sigma = 1), with derivatives. The mean square is
 * exactly t^2 + 2; the square of the mean is t^2 + 1 + (pi/2 - 1) h(t^2) with h from 1 to 0, for which this rational
 * function is within 5e-3 (the mean within 8e-4). */
HOT_FN void signal_rician(vf t, vf *mean, vf *mean_t, vf *variance, vf *variance_t)
{
    const float c = 0.570796327f;
    vf x = t * t;
    vf rden = vrcp(1 + x * (0.42645009f + x * 0.11427747f));
    vf h = (1 + 0.07506814f * x) * rden;
    vf h_x = (0.07506814f - h * (0.42645009f + 0.22855494f * x)) * rden;
    vf square = x + 1 + c * h, inverse = vrsqrt(square);
    *mean = square * inverse;
    *mean_t = t * (1 + c * h_x) * inverse;
    *variance = 1 - c * h;
    *variance_t = -2 * c * t * h_x;
}

/* Two unit vectors that span the tangent plane of v are, with s the sign of v_z and a = -1 / (s + v_z),
 *   e1 = x + s v_x (a (v_x, v_y, 0) - z),   e2 = y + s v_y (a (v_x, v_y, 0) - z).
 * Returns a, and s v_x and s v_y. */
HOT_FN vf signal_across(const vf v[3], vf *along_x, vf *along_y)
{
    vf s = vcopysign(vset(1), v[2]);
    *along_x = s * v[0];
    *along_y = s * v[1];
    return -1 / (s + v[2]);
}

HOT_FN void signal_tangents(const vf v[3], vf e1[3], vf e2[3])
{
    vf along_x, along_y, a = signal_across(v, &along_x, &along_y);
    e1[0] = 1 + along_x * v[0] * a;
    e1[1] = e2[0] = along_x * v[1] * a;
    e1[2] = -along_x;
    e2[1] = 1 + along_y * v[1] * a;
    e2[2] = -along_y;
}

#define SIGNAL_AT(i, j) ((i) * ((i) + 1) / 2 + (j)) /* packed lower triangle, i >= j */

/* Solves (H + dampings diag H) step = -G by Cholesky, with pivots of at least `least`; returns ln det of the factored
 * matrix. */
HOT_FN vf signal_solve(const int n, const vf *H, const vf *G, const vf *dampings, const float least, vf *step)
{
    vf L[SIGNAL_PACKED], inverse[SIGNAL_MAX_PARAMS], logdet = vset(0);
    HOT_UNROLL
    for (int i = 0; i < n; i++) {
        vf b = -G[i];
        HOT_UNROLL
        for (int j = 0; j <= i; j++) {
            vf a = H[SIGNAL_AT(i, j)];
            if (i == j)
                a += dampings[i] * a + 1e-6f;
            HOT_UNROLL
            for (int p = 0; p < j; p++)
                a -= L[SIGNAL_AT(i, p)] * L[SIGNAL_AT(j, p)];
            if (i == j) {
                a = vmax(a, vset(least));
                logdet += vlog(a);
                inverse[i] = vrsqrt(a);
            } else {
                L[SIGNAL_AT(i, j)] = a * inverse[j];
            }
        }
        HOT_UNROLL
        for (int p = 0; p < i; p++)
            b -= L[SIGNAL_AT(i, p)] * step[p];
        step[i] = b * inverse[i];
    }
    HOT_UNROLL
    for (int i = n - 1; i >= 0; i--) {
        vf b = step[i];
        HOT_UNROLL
        for (int p = i + 1; p < n; p++)
            b -= L[SIGNAL_AT(p, i)] * step[p];
        step[i] = b * inverse[i];
    }
    return logdet;
}
