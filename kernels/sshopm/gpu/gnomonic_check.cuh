/* Some steps in the gnomonic projection, and the check of where they lead: of the kernels that iterate every start to
 * convergence. One start per thread. The rules are those of convergence.h, with the limits below. */
#ifndef HOT_SSHOPM_GNOMONIC_CHECK_CUH
#define HOT_SSHOPM_GNOMONIC_CHECK_CUH

#include "gnomonic_item.cuh"

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
