/* The fast SS-HOPM step of the GPU, and when an iteration ends. For three dimensions, even orders, float, without a
 * shift or with one shift for each tensor.
 *
 * The gnomonic projection: x = (u, v, 1) up to its length. The step x <- A x^(m-1) (Kolda, Mayo 2011, with alpha = 0)
 * becomes
 *
 *   u <- g_x(u, v) / g_z(u, v),    v <- g_y(u, v) / g_z(u, v)
 *
 * with three polynomials of degree m - 1: by Horner's rule 27 fused multiply-adds for m = 4, one reciprocal, two
 * products. No root, no normalisation, half the operations of shared monomials (form3.h). All starts of a tensor use
 * one projection. Its frame is turned by one fixed rotation (gnomonic_table.h), so that no direction that data prefer
 * (an axis, a plane of symmetry) is on its horizon. A point near the horizon only has a large u or v; starts that
 * overflow are iterated again without the projection.
 *
 * One shift for all starts of a tensor replaces the adaptive shift of every step (Kolda, Mayo 2014): SS-HOPM with the
 * shift alpha on A is SS-HOPM without one on A + alpha E, E the tensor of (x.x)^(m/2). The step is sure to climb where
 * the form of A + alpha E is convex, which takes alpha = -(m - 1) l, l the least eigenvalue of A x^(m-2) anywhere on
 * the sphere (Kolda, Mayo 2011). Half of that makes every maximum above zero attract: there the eigenvalues of the
 * step's derivative are ((m - 1) t + alpha) / (lambda + alpha), t those of A x^(m-2) across x, and
 * l <= t <= lambda / (m - 1). Starts then converge in fewer steps, and, measured, to the same maxima. l is taken from
 * points spread over the sphere, which miss the least of all by little.
 *
 * Convergence, cycles and extrapolation are judged from an iteration's last three points in the projection. Without a
 * shift a start may iterate for ever: in a cycle of two points (the last point is the last but one's predecessor again,
 * or drifts away from it in line, each step having turned over and grown), or in a longer one, where after steps that
 * together are more than a right angle it still makes large ones. No branches: what one lane of a warp does, all wait
 * for. Comparisons with NaN (a lost start) are all false.
 *
 * Also compiled by the host's C++ compiler, for tests. */
#pragma once

#include <math.h>

#include "common/approximate.cuh"
#include "common/portable.h"
#include "sshopm/sshopm_args.h"
#include "sshopm/sshopm_step.cuh"
#include "symtensor/form3.cuh"

/* Squared tangent of a step's angle: below this, float cannot tell whether the iteration still moves. */
#define HOT_MOTION_RESOLUTION2 1e-13f

/* Derived from three successive points x0, x1, x2. */
typedef struct hot_motion {
    float du, dv;    /* the last displacement, x2 - x1, in the projection */
    float length2;   /* its squared length */
    float across2;   /* the square of its part across the displacement before */
    float rate;      /* its part along the displacement before, over that one: the ratio of a geometric series */
    float back2;     /* squared distance of x2 from x0 */
    float turn2;     /* squared tangent of the angle by which the last step turned x: residual over lambda */
    float residual2; /* squared residual |A x^(m-1) - lambda x| at x1 */
} hot_motion;

/* Numbers of steps after which a start is taken to go round for ever if it ... */
typedef struct hot_cycle_limits {
    int returns; /* is back at the last point but one */
    int drifts;  /* turns over, and leaves the last point but one slowly */
    int grows;   /* turns over in line, and its steps grow */
    int large;   /* makes steps with turn2 > large_turn2 */
    float large_turn2;
    int medium; /* makes steps with turn2 > HOT_CYCLE_MEDIUM_TURN2 */
} hot_cycle_limits;
#define HOT_CYCLE_TURN2 1e-8f /* smaller steps are no cycle: slow convergence looks alike */
#define HOT_CYCLE_MEDIUM_TURN2 1e-4f
#define HOT_CYCLE_RETURNS 1e-6f /* of the last displacement's squared length */
#define HOT_CYCLE_DRIFTS 1e-3f

HOT_FN int hot_motion_cycles(const hot_motion *m, int steps, hot_cycle_limits limits)
{
    return ((m->turn2 > HOT_CYCLE_TURN2) &
            (((steps >= limits.returns) & (m->back2 <= HOT_CYCLE_RETURNS * m->length2)) |
             ((steps >= limits.drifts) & (m->rate < -1.0f) & (m->back2 <= HOT_CYCLE_DRIFTS * m->length2)) |
             ((steps >= limits.grows) & (m->rate < -1.0f) &
              (m->across2 <= HOT_CYCLE_DRIFTS * m->length2)))) |
           ((steps >= limits.large) & (m->turn2 > limits.large_turn2)) |
           ((steps >= limits.medium) & (m->turn2 > HOT_CYCLE_MEDIUM_TURN2));
}

/* By how many of its last displacements a start that continues may be extrapolated; 0: none. Where the last two are in
 * line and shrink, to the sum of the geometric series that they begin (Aitken), though no farther than .1 (.05 when
 * `careful`), nor than the noise in the rate allows; where the steps alternate and are large, only when they are well
 * in line. Where they do not shrink, a start moves away from a saddle, or through the narrow place where a maximum and
 * a saddle have almost met: some displacements on. Only true steps decide that a start has converged. */
HOT_FN float hot_motion_extrapolation(const hot_motion *m, int goes_on, int careful)
{
    const float rate = m->rate, turn2 = m->turn2;
    const int grows = (rate >= 0.9999f) & (rate < 3.0f) & (m->across2 <= 1e-3f * m->length2);
    const int converges = (fabsf(rate) > 0.05f) & (rate > (turn2 < 1e-6f ? -1.005f : -1.0f)) & (rate < 0.9999f) &
                          (m->across2 <= 0.01f * m->length2) & (turn2 > 1e-12f) &
                          ((rate > 0) | (turn2 < 1e-3f) | ((turn2 < 0.1f) & (m->across2 <= 1e-3f * m->length2)));
    float by = grows ? 16.0f : rate * approximate_reciprocal(1.0f - rate);
    by = fminf(by, fminf((grows | careful ? 0.05f : 0.1f) * approximate_rsqrt(turn2), 1e13f * turn2));
    return goes_on & (grows | converges) ? by : 0.0f;
}

#define GNOMONIC_SHIFT_PART 0.6f /* of the shift that makes the form convex: more than half, for the points */

/* The sizes of an order, and its polynomials: gnomonic<ORDER>::polynomial(c, u, v) and so on. */
template <int ORDER> struct gnomonic {
    static constexpr int UNIQUE = (ORDER + 1) * (ORDER + 2) / 2; /* values of a packed tensor */
    static constexpr int PART = ORDER * (ORDER + 1) / 2;         /* coefficients of one of the three polynomials */
    static constexpr int TERMS = 3 * PART;
    static constexpr int PADDED = (TERMS + 3) / 4 * 4;
    /* float4s of a tensor in shared memory. Odd: lanes with different tensors meet in fewer banks. */
    static constexpr int QUADS = PADDED / 4 + (PADDED / 4 + 1) % 2;

    /* One of the three polynomials: c in lexicographic order (rows by falling power of u, in each row of v). */
    HOT_FN float polynomial(const float *c, float u, float v)
    {
        float g = c[0];
        HOT_UNROLL
        for (int s = 1; s < ORDER; s++) {
            float row = c[s * (s + 1) / 2];
            HOT_UNROLL
            for (int t = 1; t <= s; t++)
                row = fmaf(row, v, c[s * (s + 1) / 2 + t]);
            g = fmaf(g, u, row);
        }
        return g;
    }

    /* lambda = form / |p|^m, with |p|^2 = 1 / inverse2. */
    HOT_FN float normalise(float form, float inverse2)
    {
        HOT_UNROLL
        for (int k = 0; k < ORDER / 2; k++)
            form *= inverse2;
        return form;
    }

    /* Of the points (u0, v0), (u1, v1), (u2, v2); g_z(u1, v1) is known from the last step. With p = (u, v, 1) that
     * step's residual is g_z |p1 cross p2| / |p1|^m, its lambda g_z (p1.p2) / |p1|^m: p1.p2 is far from |p1|^2 where a
     * start crosses the horizon. */
    HOT_FN hot_motion motion(float u0, float v0, float u1, float v1, float u2, float v2, float gz)
    {
        hot_motion m;
        const float du = u2 - u1, dv = v2 - v1, eu = u1 - u0, ev = v1 - v0;
        const float inverse2 = approximate_reciprocal(fmaf(u1, u1, fmaf(v1, v1, 1.0f)));
        const float twist = u1 * dv - v1 * du;
        m.du = du;
        m.dv = dv;
        m.length2 = fmaf(du, du, dv * dv);
        const float cross2 = fmaf(twist, twist, m.length2), scale = normalise(gz, inverse2);
        const float inverse_dot = approximate_reciprocal(fmaf(u1, u2, fmaf(v1, v2, 1.0f)));
        m.turn2 = cross2 * inverse_dot * inverse_dot;
        m.residual2 = cross2 * scale * scale;
        const float along = fmaf(du, eu, dv * ev);
        m.rate = along * approximate_reciprocal(fmaf(eu, eu, ev * ev));
        m.across2 = m.length2 - m.rate * along;
        m.back2 = fmaf(du + eu, du + eu, (dv + ev) * (dv + ev));
        return m;
    }

    /* The shift that this point (a unit vector) needs; the largest over all points is the tensor's shift. */
    HOT_FN float shift(const float *tensor, float x, float y, float z)
    {
        float h[6];
        hot_form3<float, ORDER>::hessian(tensor, x, y, z, h);
        return -GNOMONIC_SHIFT_PART * (ORDER - 1) * sshopm_step3<ORDER>::min_eigenvalue(h);
    }
};

/* SS-HOPM's step x <- A x^(m-1) from (u, v); gz is the last component there. With the polynomials in this order the
 * compiler's loop around it is shortest: of those measured the fastest and the slowest are 2 % apart. */
template <int ORDER> HOT_FN void gnomonic_step(const float *c, float *u, float *v, float *gz)
{
    *gz = gnomonic<ORDER>::polynomial(c + 2 * gnomonic<ORDER>::PART, *u, *v);
    const float gy = gnomonic<ORDER>::polynomial(c + gnomonic<ORDER>::PART, *u, *v),
                gx = gnomonic<ORDER>::polynomial(c, *u, *v);
    const float inverse = approximate_reciprocal(*gz);
    *v = gy * inverse;
    *u = gx * inverse;
}

#ifdef __CUDACC__
enum {
    GNOMONIC_FIRST_STEPS = 10,    /* before the first check: few starts have converged sooner */
    GNOMONIC_STEPS_PER_CHECK = 4, /* from then on */
    GNOMONIC_SLOW_STEPS = 32,     /* a start that takes longer is extrapolated with both of its rates, */
    GNOMONIC_CAREFUL_STEPS = 40,  /* and from here on less far */
    GNOMONIC_CALM_STEPS = 80,     /* with a shift: and from here on at every fourth check alone */
    GNOMONIC_SHIFTED_STEPS = 400  /* with a shift: a start that takes more is iterated without the projection */
};

/* The maximum number of steps of a start here; and where it has ended: after too many steps at infinity, which
 * gnomonic_finish treats as lost. */
template <bool SHIFTED> static __device__ __forceinline__ int gnomonic_most_steps(const hot_sshopm_args &args)
{
    return SHIFTED ? min(args.max_iterations, (int)GNOMONIC_SHIFTED_STEPS) : args.max_iterations;
}
template <bool SHIFTED> static __device__ __forceinline__ float2 gnomonic_end(float2 at, int steps)
{
    return SHIFTED && steps >= GNOMONIC_SHIFTED_STEPS ? make_float2(INFINITY, 0) : at;
}

template <int ORDER> static __device__ __forceinline__ hot_cycle_limits gnomonic_cycle_limits()
{
    return {/* returns */ 16, /* drifts */ 6 * ORDER, /* grows */ 12 * ORDER, /* large */ 12 * ORDER,
            /* large_turn2 */ 0.04f, /* medium */ 18 * ORDER};
}

/* The check after a step to *to, made with gz, from the three points x: whether the iteration ends there. If not, the
 * start may be taken ahead. Without branches, but for the slow starts.
 *
 * Where steps are small because the start is slow, the way that is left is checked too. A slow start's last three
 * displacements obey d = a e + b f, whatever its two rates of convergence (the eigenvalues of the step's derivative):
 * it is taken to the sum of what would follow, if rounding leaves the two rates apart.
 *
 * With a shift (SHIFTED) steps alone never go round for ever: a start that is still not there has been taken astray
 * again and again, and is left in peace for some steps. */
template <int ORDER, bool SHIFTED>
static __device__ __forceinline__ int gnomonic_check(const float2 *x, float gz, float2 *to, float limit2, int steps,
                                                     int most, int is_first)
{
    const float u = to->x, v = to->y;
    const hot_motion m = gnomonic<ORDER>::motion(x[1].x, x[1].y, x[2].x, x[2].y, u, v, gz);
    int open = (m.residual2 > limit2) & (m.turn2 > HOT_MOTION_RESOLUTION2) & (steps < most);
    if (!is_first) {
        const float rest = 1.0f - m.rate;
        open |= (fabsf(rest) < 0.1f) & (m.turn2 > fmaxf(1e-11f, 1e-6f * rest * rest)) & (steps < most);
        open &= SHIFTED || !hot_motion_cycles(&m, steps, gnomonic_cycle_limits<ORDER>());
    }
    const int free = open & !(SHIFTED && steps >= GNOMONIC_CALM_STEPS && (steps & 12) != 0);
    const float by = hot_motion_extrapolation(&m, free, steps >= GNOMONIC_CAREFUL_STEPS);
    float to_u = by * m.du, to_v = by * m.dv;
    if (!is_first && steps >= GNOMONIC_SLOW_STEPS && m.turn2 < 1e-2f) {
        const float du = m.du, dv = m.dv, eu = x[2].x - x[1].x, ev = x[2].y - x[1].y;
        const float fu = x[1].x - x[0].x, fv = x[1].y - x[0].y, area = fu * ev - fv * eu;
        const float inverse = approximate_reciprocal(area);
        const float a = (fu * dv - fv * du) * inverse, b = (du * ev - dv * eu) * inverse;
        const float noise = 6e-6f * (fabsf(u) + fabsf(v)) * (fabsf(fu) + fabsf(fv) + fabsf(eu) + fabsf(ev));
        const float sum = approximate_reciprocal(1.0f - a - b), by_d = (a + b) * sum, by_e = b * sum;
        const float lu = fmaf(by_d, du, by_e * eu), lv = fmaf(by_d, dv, by_e * ev), lt = u * lv - v * lu;
        const float part = fminf(1.0f, (steps < GNOMONIC_CAREFUL_STEPS ? 0.1f : 0.05f) * fmaf(u, u, fmaf(v, v, 1.0f)) *
                                           approximate_rsqrt(fmaf(lt, lt, fmaf(lu, lu, lv * lv))));
        if (free & (fabsf(area) > noise) & (fabsf(b) < 1.0f) & (fabsf(a) < 1.0f - b)) { /* both rates are below 1 */
            to_u = part * lu;
            to_v = part * lv;
        }
    }
    to->x = u + to_u;
    to->y = v + to_v;
    return !open;
}

/* `count` steps (two or more) from *at, and whether the iteration ends there; if not, the start may have been taken
 * ahead. *steps grows to the number of steps made so far. */
template <int ORDER, bool SHIFTED>
static __device__ __forceinline__ int gnomonic_iterate(const float *c, float2 *at, int count, float limit2, int *steps,
                                                       int most, int is_first)
{
    float2 x[3];
    float gz;
#pragma unroll 1
    for (int k = 3; k < count; k++)
        gnomonic_step<ORDER>(c, &at->x, &at->y, &gz);
    x[0] = *at;
    if (count > 2)
        gnomonic_step<ORDER>(c, &at->x, &at->y, &gz);
    x[1] = *at;
    gnomonic_step<ORDER>(c, &at->x, &at->y, &gz);
    x[2] = *at;
    gnomonic_step<ORDER>(c, &at->x, &at->y, &gz);
    *steps += max(count, 2);
    return gnomonic_check<ORDER, SHIFTED>(x, gz, at, limit2, *steps, most, is_first);
}
#endif
