/* Capture: where a start of SS-HOPM without a shift ends is known long before it is there. Around every maximum m lies
 * a cone that the iteration maps into itself, each point nearer to m; a start that enters it converges to m, and its
 * result is m's, found once.
 *
 * How wide the cone is is measured: steps are made from points around m, in eight directions at distances found by
 * bisection, and the cone ends where all of them still come nearer, and before half the way to the next maximum known.
 * Nearer by how much depends on how fast the iteration converges at m at all: by (1 - rho) / 10, with rho the larger
 * eigenvalue of the step's derivative at m, |(m - 1) tau / lambda|, taken from the eight stretches close to m. Sampling
 * is no proof: of a million starts on fibre-like, crossing and noisy tensors of orders 4, 6 and 8, 23 to 137 did not
 * converge to the maximum that they had been given to (test_capture).
 * A start that never enters a cone (a maximum not listed, a minimum below zero, a cycle) goes on until it has converged
 * by itself or is seen to cycle. So the list of maxima need not be complete.
 *
 * A template, after gnomonic.h of the same order: HOT_ORDER, HOT_CHART(name), HOT_CHART_RECIPROCAL(a),
 * HOT_CHART_SQRT(a), HOT_CHART_RSQRT(a); without HOT_ORDER, what all orders share. Compiled as C11, for a reference
 * that needs no GPU, and by nvcc. Points and maxima are in the chart's frame. */

#ifndef HOT_SSHOPM_CAPTURE_COMMON
#define HOT_SSHOPM_CAPTURE_COMMON

#include <math.h>

#include "common/portable.h"

enum {
    HOT_CAPTURE_WAYS = 8,      /* directions around a maximum */
    HOT_CAPTURE_BISECTIONS = 4,
    HOT_CAPTURE_DISTANCES = 15,
    HOT_CAPTURE_CYCLE = 8,     /* steps after which a return to the last point but one is a cycle */
    HOT_CAPTURE_AWAY = 4,      /* times the order: and after which what leaves it slowly has left it for a cycle */
    HOT_CAPTURE_LARGE = 8,     /* times the order: steps after which a start that still turns by more than .1 goes
                                  round for ever */
    HOT_CAPTURE_ENOUGH = 64,   /* and by more than .01 */
    HOT_CAPTURE_LAST = 96      /* and one that turns by less is too slow */
};
#define HOT_CAPTURE_CLOSE 0.03f  /* the distance (tangent of the angle) at which the derivative is taken */
#define HOT_CAPTURE_MARGIN 0.1f  /* a step brings a point nearer by this part of 1 - rho at least */
#define HOT_CAPTURE_INNER 0.97f  /* of the widest distance that passed */
#define HOT_CAPTURE_NARROW 0.3f  /* times 1 - rho: the cone where even the first distance fails */

/* The distance number k: tangents of .04 .08 .13 .19 .26 .34 .42 .5 .58 .67 .76 .85 .95 1.05 1.17 radians. */
HOT_FN float hot_capture_distance(int k)
{
    const float tangents[HOT_CAPTURE_DISTANCES] = {0.0400213f, 0.0801711f, 0.1307373f, 0.1923198f, 0.2660215f,
                                                   0.3537369f, 0.4465725f, 0.5463025f, 0.6551684f, 0.7922542f,
                                                   0.9504515f, 1.1383330f, 1.3983830f, 1.7433150f, 2.3599810f};
    return tangents[k];
}

enum hot_capture_state { HOT_CAPTURE_GOES_ON, HOT_CAPTURE_CONVERGED, HOT_CAPTURE_CYCLES };
#endif

#ifdef HOT_ORDER
/* The direction number k around m (unit): d in the tangent plane, and the factors of its stretch in the sums below. The
 * plane's axes by Duff and others (Building an orthonormal basis, revisited, 2017). */
HOT_FN void HOT_CHART(way)(const float *m, int k, float *d, float *cosine, float *sine)
{
    const float half = 0.70710678f, sign = m[2] < 0 ? -1.0f : 1.0f;
    const float a = -HOT_CHART_RECIPROCAL(sign + m[2]), b = m[0] * m[1] * a;
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
HOT_FN float HOT_CHART(rho)(float sum, float cosines, float sines)
{
    return HOT_CHART_SQRT((sum + 2 * HOT_CHART_SQRT(fmaf(cosines, cosines, sines * sines))) *
                          (1.0f / HOT_CAPTURE_WAYS));
}

/* The tangent of half the angle between two maxima, from the cosine of the angle: their cones end before it. */
HOT_FN float HOT_CHART(halfway)(float cosine)
{
    return HOT_CHART_SQRT((1.0f - cosine) * HOT_CHART_RECIPROCAL(1.0f + cosine));
}

/* The squared cosine of a cone's half angle from its tangent; 2, which no point reaches, for none. */
HOT_FN float HOT_CHART(cosine2)(float tangent)
{
    return tangent > 0 ? HOT_CHART_RECIPROCAL(fmaf(tangent, tangent, 1.0f)) : 2.0f;
}


/* The squared factor by which a step changes a point's distance (tangent) from m, at the distance t along the tangent
 * vector d (unit). NaN where the chart fails: no comparison with it holds. */
HOT_FN float HOT_CHART(stretch2)(const float *c, const float *m, const float *d, float t)
{
    const int part = HOT_ORDER * (HOT_ORDER + 1) / 2;
    const float inverse = HOT_CHART_RECIPROCAL(fmaf(t, d[2], m[2]));
    const float u = fmaf(t, d[0], m[0]) * inverse, v = fmaf(t, d[1], m[1]) * inverse;
    const float gx = HOT_CHART(polynomial)(c, u, v), gy = HOT_CHART(polynomial)(c + part, u, v);
    const float gz = HOT_CHART(polynomial)(c + 2 * part, u, v);
    const float along = fmaf(gx, m[0], fmaf(gy, m[1], gz * m[2])), scaled = HOT_CHART_RECIPROCAL(along);
    /* what is left of the image without its part along m */
    const float px = fmaf(gx, scaled, -m[0]), py = fmaf(gy, scaled, -m[1]), pz = fmaf(gz, scaled, -m[2]);
    const float over = HOT_CHART_RECIPROCAL(t);
    return fmaf(px, px, fmaf(py, py, pz * pz)) * over * over;
}

/* Whether (u, v), q = 1 + u^2 + v^2, lies in the cone about m. */
HOT_FN int HOT_CHART(within)(float u, float v, float q, float mx, float my, float mz, float cosine2)
{
    const float dot = fmaf(u, mx, fmaf(v, my, mz));
    return dot * dot >= cosine2 * q;
}

/* Two steps from (u, v), and what they say; `steps` is how many have been made with them, limit2 the square of the
 * residual asked for. A start that goes on may have been taken ahead, to the sum of the geometric series that its last
 * two displacements begin (Aitken). */
HOT_FN enum hot_capture_state HOT_CHART(round)(const float *c, float *u, float *v, int steps, float limit2)
{
    const int part = HOT_ORDER * (HOT_ORDER + 1) / 2;
    const float u0 = *u, v0 = *v, inverse = HOT_CHART_RECIPROCAL(HOT_CHART(polynomial)(c + 2 * part, u0, v0));
    const float u1 = HOT_CHART(polynomial)(c, u0, v0) * inverse, v1 = HOT_CHART(polynomial)(c + part, u0, v0) * inverse;
    const float gz = HOT_CHART(polynomial)(c + 2 * part, u1, v1), again = HOT_CHART_RECIPROCAL(gz);
    const float u2 = HOT_CHART(polynomial)(c, u1, v1) * again, v2 = HOT_CHART(polynomial)(c + part, u1, v1) * again;
    const float du = u2 - u1, dv = v2 - v1, eu = u1 - u0, ev = v1 - v0;
    /* The second step turned x by |x1 cross x2| / |x1|^2, and that is residual over lambda. */
    const float inverse2 = HOT_CHART_RECIPROCAL(fmaf(u1, u1, fmaf(v1, v1, 1.0f))), twist = u1 * dv - v1 * du;
    const float n2 = fmaf(du, du, dv * dv), turn2 = fmaf(twist, twist, n2) * inverse2 * inverse2;
    float lambda = gz * fmaf(u1, u2, fmaf(v1, v2, 1.0f));
    HOT_UNROLL
    for (int k = 0; k < HOT_ORDER / 2; k++)
        lambda *= inverse2;
    const float back = fmaf(du + eu, du + eu, (dv + ev) * (dv + ev));
    const float along = fmaf(du, eu, dv * ev), rate = along * HOT_CHART_RECIPROCAL(fmaf(eu, eu, ev * ev));
    const float off = n2 - rate * along; /* the part of the last displacement across the one before, squared */
    /* Neither converged, nor as near as float can tell, nor (a comparison with NaN) lost, which the end sees to. The
     * first two steps are not judged: on the GPU some starts make them elsewhere. No branches: what one lane there
     * does, all wait for. */
    const int open = ((turn2 * lambda * lambda > limit2) & (turn2 > 1e-13f)) | (steps <= 2);
    const int cycles =
        ((turn2 > 1e-8f) & (((steps >= HOT_CAPTURE_CYCLE) & (back <= 1e-6f * n2)) |
                            ((steps >= HOT_CAPTURE_AWAY * HOT_ORDER) & (rate < -1.0f) & (back <= 1e-3f * n2)))) |
        ((steps >= HOT_CAPTURE_LARGE * HOT_ORDER) & (turn2 > 1e-2f)) |
        ((steps >= HOT_CAPTURE_ENOUGH) & (turn2 > 1e-4f)) | (steps >= HOT_CAPTURE_LAST);
    /* In line and not getting slower: away from a saddle, or through the narrow place where a maximum and a saddle have
     * almost met. */
    const int grows = (rate >= 0.9999f) & (rate < 3.0f) & (off <= 1e-3f * n2);
    /* In line, and a series that converges: its sum, but no farther than .05, nor than the noise in the rate allows;
     * where the steps alternate and are large, only when they are well in line. */
    const int converges = (fabsf(rate) > 0.05f) & (rate > (turn2 < 1e-6f ? -1.005f : -1.0f)) & (rate < 0.9999f) &
                          (off <= 0.01f * n2) & (turn2 > 1e-12f) &
                          ((rate > 0) | (turn2 < 1e-3f) | ((turn2 < 0.1f) & (off <= 1e-3f * n2)));
    float rest = grows ? 16.0f : rate * HOT_CHART_RECIPROCAL(1.0f - rate);
    rest = fminf(rest, fminf(0.05f * HOT_CHART_RSQRT(turn2), 1e13f * turn2));
    rest = open & !cycles & (steps > 2) & (grows | converges) ? rest : 0.0f;
    *u = fmaf(rest, du, u2);
    *v = fmaf(rest, dv, v2);
    return !open ? HOT_CAPTURE_CONVERGED : cycles ? HOT_CAPTURE_CYCLES : HOT_CAPTURE_GOES_ON;
}
#endif
