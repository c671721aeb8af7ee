/* Whether an iteration of SS-HOPM without a shift has converged, is in a cycle, or can be extrapolated: from its last
 * three points in the gnomonic projection (gnomonic.h). Used by gnomonic_check.cuh.
 *
 * Without a shift a start may iterate for ever: in a cycle of two points (the last point is the last but one's
 * predecessor again, or drifts away from it in line, each step having turned over and grown), or in a longer one, where
 * after steps that together are more than a right angle it still makes large ones.
 *
 * A template after gnomonic.h of the same order, HOT_ORDER and HOT_GNOMONIC(name); without HOT_ORDER, what all orders
 * share. Before the first include:
 *
 *   HOT_GNOMONIC_RECIPROCAL(a) HOT_GNOMONIC_RSQRT(a)
 *
 * No branches: what one lane of a warp does, all wait for. Comparisons with NaN (a lost start) are all false. */
#ifndef HOT_SSHOPM_CONVERGENCE_COMMON
#define HOT_SSHOPM_CONVERGENCE_COMMON

#include <math.h>

#include "common/portable.h"

/* Squared sine of a step's angle: below this, float cannot tell whether the iteration still moves. */
#define HOT_MOTION_RESOLUTION2 1e-13f

/* Derived from three successive points x0, x1, x2. */
typedef struct hot_motion {
    float du, dv;    /* the last displacement, x2 - x1, in the projection */
    float length2;   /* its squared length */
    float across2;   /* the square of its part across the displacement before */
    float rate;      /* its part along the displacement before, over that one: the ratio of a geometric series */
    float back2;     /* squared distance of x2 from x0 */
    float turn2;     /* squared sine of the angle by which the last step turned x: residual over lambda */
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
    float by = grows ? 16.0f : rate * HOT_GNOMONIC_RECIPROCAL(1.0f - rate);
    by = fminf(by, fminf((grows | careful ? 0.05f : 0.1f) * HOT_GNOMONIC_RSQRT(turn2), 1e13f * turn2));
    return goes_on & (grows | converges) ? by : 0.0f;
}
#endif

#ifdef HOT_ORDER
/* lambda = form / |p|^m, with |p|^2 = 1 / inverse2. */
HOT_FN float HOT_GNOMONIC(normalise)(float form, float inverse2)
{
    HOT_UNROLL
    for (int k = 0; k < HOT_ORDER / 2; k++)
        form *= inverse2;
    return form;
}

/* Of the points (u0, v0), (u1, v1), (u2, v2); g_z(u1, v1) is known from the last step. The step turned x by |x1 cross
 * x2| / |x1|^2, which is the residual over lambda. */
HOT_FN hot_motion HOT_GNOMONIC(motion)(float u0, float v0, float u1, float v1, float u2, float v2, float gz)
{
    hot_motion m;
    const float du = u2 - u1, dv = v2 - v1, eu = u1 - u0, ev = v1 - v0;
    const float inverse2 = HOT_GNOMONIC_RECIPROCAL(fmaf(u1, u1, fmaf(v1, v1, 1.0f)));
    const float twist = u1 * dv - v1 * du;
    m.du = du;
    m.dv = dv;
    m.length2 = fmaf(du, du, dv * dv);
    const float lambda = HOT_GNOMONIC(normalise)(gz * fmaf(u1, u2, fmaf(v1, v2, 1.0f)), inverse2);
    m.turn2 = fmaf(twist, twist, m.length2) * inverse2 * inverse2;
    m.residual2 = m.turn2 * lambda * lambda;
    const float along = fmaf(du, eu, dv * ev);
    m.rate = along * HOT_GNOMONIC_RECIPROCAL(fmaf(eu, eu, ev * ev));
    m.across2 = m.length2 - m.rate * along;
    m.back2 = fmaf(du + eu, du + eu, (dv + ev) * (dv + ev));
    return m;
}
#endif
