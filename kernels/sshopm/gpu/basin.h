/* The basin test: where a start of SS-HOPM without a shift converges to is known long before it is there. Around every
 * maximum m lies a cone that the iteration maps into itself, each point nearer to m: a part of m's basin of attraction.
 * A start that enters it converges to m, and its result is m's, found once.
 *
 * How wide the cone is is measured: steps are made from points around m, in eight directions at distances found by
 * bisection. The cone ends where they do not all come nearer any more, and before half the way to the next maximum
 * known. Nearer by how much depends on how fast the iteration converges at m at all: by (1 - rho) / 10, with rho the
 * larger eigenvalue of the step's derivative at m, |(m - 1) tau / lambda| (Kolda, Mayo 2011), taken from the eight
 * stretches close to m. Sampling is no proof: of a million starts on fibre-like, crossing and noisy tensors of orders
 * 4, 6 and 8, 23 to 137 did not converge to the maximum that they had been given to (test_basin).
 *
 * A start that never enters a cone (of a maximum not listed, a minimum below zero, in a cycle) goes on until it has
 * converged by itself or is seen to cycle (convergence.h). So the list of maxima need not be complete.
 *
 * A template, after gnomonic.h and convergence.h of the same order: HOT_ORDER, HOT_BASIN(name), and HOT_GNOMONIC(name)
 * and the macros of convergence.h; without HOT_ORDER, what all orders share. Compiled as C11, for a reference that
 * needs no GPU, and by nvcc. Points and maxima are in the projection's frame. */

#ifndef HOT_SSHOPM_BASIN_COMMON
#define HOT_SSHOPM_BASIN_COMMON

#include <math.h>

#include "common/portable.h"

enum {
    HOT_BASIN_DIRECTIONS = 8, /* around a maximum */
    HOT_BASIN_BISECTIONS = 4,
    HOT_BASIN_DISTANCES = 15
};
#define HOT_BASIN_CLOSE 0.03f /* the distance (tangent of the angle) at which the derivative is taken */
#define HOT_BASIN_MARGIN 0.1f /* a step brings a point nearer by this part of 1 - rho at least */
#define HOT_BASIN_INNER 0.97f /* of the widest distance that passed */
#define HOT_BASIN_NARROW 0.3f /* times 1 - rho: the cone where even the first distance fails */

/* Distance number k: the tangents of .04 .08 .13 .19 .26 .34 .42 .5 .58 .67 .76 .85 .95 1.05 1.17 radians. */
HOT_FN float hot_basin_distance(int k)
{
    const float tangents[HOT_BASIN_DISTANCES] = {0.0400213f, 0.0801711f, 0.1307373f, 0.1923198f, 0.2660215f,
                                                 0.3537369f, 0.4465725f, 0.5463025f, 0.6551684f, 0.7922542f,
                                                 0.9504515f, 1.1383330f, 1.3983830f, 1.7433150f, 2.3599810f};
    return tangents[k];
}

enum hot_basin_state { HOT_BASIN_GOES_ON, HOT_BASIN_CONVERGED, HOT_BASIN_CYCLES };
#endif

#ifdef HOT_ORDER
/* Direction number k around m (unit): d in the tangent plane, and the factors of its stretch in the sums below. The
 * plane's axes: Duff et al., Building an Orthonormal Basis, Revisited (JCGT 2017). */
HOT_FN void HOT_BASIN(tangent_direction)(const float *m, int k, float *d, float *cosine, float *sine)
{
    const float half = 0.70710678f, sign = m[2] < 0 ? -1.0f : 1.0f;
    const float a = -HOT_GNOMONIC_RECIPROCAL(sign + m[2]), b = m[0] * m[1] * a;
    const float first = k % 4 == 2 ? 0.0f : (k + 1) % 8 < 3 ? 1.0f : -1.0f;
    const float second = k % 4 == 0 ? 0.0f : k < 4 ? 1.0f : -1.0f;
    const float x = k % 2 ? first * half : first, y = k % 2 ? second * half : second;
    d[0] = x * (1 + sign * m[0] * m[0] * a) + y * b;
    d[1] = x * sign * b + y * (sign + m[1] * m[1] * a);
    d[2] = -x * sign * m[0] - y * m[1];
    *cosine = k % 2 ? 0.0f : k % 4 ? -1.0f : 1.0f;
    *sine = k % 2 ? (k % 4 == 1 ? 1.0f : -1.0f) : 0.0f;
}

/* The larger eigenvalue of the step's derivative from its squared stretches in the eight directions: their sum, and
 * their sums times cos 2 phi and sin 2 phi. NaN stays. */
HOT_FN float HOT_BASIN(rho)(float sum, float cosines, float sines)
{
    return HOT_GNOMONIC_SQRT((sum + 2 * HOT_GNOMONIC_SQRT(fmaf(cosines, cosines, sines * sines))) *
                             (1.0f / HOT_BASIN_DIRECTIONS));
}

/* The tangent of half the angle between two maxima, from the cosine of the angle: their cones end before it. */
HOT_FN float HOT_BASIN(halfway)(float cosine)
{
    return HOT_GNOMONIC_SQRT((1.0f - cosine) * HOT_GNOMONIC_RECIPROCAL(1.0f + cosine));
}

/* The squared cosine of a cone's half angle from its tangent; 2, which no point reaches, for none. */
HOT_FN float HOT_BASIN(cosine2)(float tangent)
{
    return tangent > 0 ? HOT_GNOMONIC_RECIPROCAL(fmaf(tangent, tangent, 1.0f)) : 2.0f;
}

/* The squared factor by which a step changes a point's distance (tangent) from m, at the distance t along the tangent
 * vector d (unit). NaN where the projection fails: no comparison with it holds. */
HOT_FN float HOT_BASIN(stretch2)(const float *c, const float *m, const float *d, float t)
{
    const int part = HOT_ORDER * (HOT_ORDER + 1) / 2;
    const float inverse = HOT_GNOMONIC_RECIPROCAL(fmaf(t, d[2], m[2]));
    const float u = fmaf(t, d[0], m[0]) * inverse, v = fmaf(t, d[1], m[1]) * inverse;
    const float gx = HOT_GNOMONIC(polynomial)(c, u, v), gy = HOT_GNOMONIC(polynomial)(c + part, u, v);
    const float gz = HOT_GNOMONIC(polynomial)(c + 2 * part, u, v);
    const float along = fmaf(gx, m[0], fmaf(gy, m[1], gz * m[2])), scaled = HOT_GNOMONIC_RECIPROCAL(along);
    /* what is left of the image without its part along m */
    const float px = fmaf(gx, scaled, -m[0]), py = fmaf(gy, scaled, -m[1]), pz = fmaf(gz, scaled, -m[2]);
    const float over = HOT_GNOMONIC_RECIPROCAL(t);
    return fmaf(px, px, fmaf(py, py, pz * pz)) * over * over;
}

/* Whether (u, v), q = 1 + u^2 + v^2, lies in the cone about m. */
HOT_FN int HOT_BASIN(inside)(float u, float v, float q, float mx, float my, float mz, float cosine2)
{
    const float dot = fmaf(u, mx, fmaf(v, my, mz));
    return dot * dot >= cosine2 * q;
}

/* Two steps from (u, v), and whether the iteration ends there; `steps` is how many have been made with them, limit2 the
 * square of the residual asked for. A start that goes on may have been taken ahead. The first two steps are not judged:
 * on the GPU some starts make them elsewhere. */
HOT_FN enum hot_basin_state HOT_BASIN(iterate)(const float *c, float *u, float *v, int steps, float limit2)
{
    const hot_cycle_limits limits = {
        /* returns */ 8,           /* drifts */ 4 * HOT_ORDER, /* grows */ 0,
        /* large */ 8 * HOT_ORDER, /* large_turn2 */ 1e-2f,    /* medium */ 64, /* any */ 96};
    const int part = HOT_ORDER * (HOT_ORDER + 1) / 2;
    const float u0 = *u, v0 = *v, inverse = HOT_GNOMONIC_RECIPROCAL(HOT_GNOMONIC(polynomial)(c + 2 * part, u0, v0));
    const float u1 = HOT_GNOMONIC(polynomial)(c, u0, v0) * inverse;
    const float v1 = HOT_GNOMONIC(polynomial)(c + part, u0, v0) * inverse;
    const float gz = HOT_GNOMONIC(polynomial)(c + 2 * part, u1, v1), again = HOT_GNOMONIC_RECIPROCAL(gz);
    const float u2 = HOT_GNOMONIC(polynomial)(c, u1, v1) * again;
    const float v2 = HOT_GNOMONIC(polynomial)(c + part, u1, v1) * again;
    const hot_motion m = HOT_GNOMONIC(motion)(u0, v0, u1, v1, u2, v2, gz);
    const int open = ((m.residual2 > limit2) & (m.turn2 > HOT_MOTION_RESOLUTION2)) | (steps <= 2);
    const int cycles = hot_motion_cycles(&m, steps, limits);
    const float by = hot_motion_extrapolation(&m, open & !cycles & (steps > 2), 1);
    *u = fmaf(by, m.du, u2);
    *v = fmaf(by, m.dv, v2);
    return !open ? HOT_BASIN_CONVERGED : cycles ? HOT_BASIN_CYCLES : HOT_BASIN_GOES_ON;
}
#endif
