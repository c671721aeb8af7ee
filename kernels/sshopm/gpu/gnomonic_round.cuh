/* A few steps in the chart and a look at where they lead: a part of the kernels that iterate every start. A template
 * per order, after gnomonic_item.cuh. */

/* What the last four points say (the last one *to; the step to it was made with gz): whether that is the end. If not,
 * the start may be taken ahead. Without branches, but for the slow starts: what one lane does, all wait for.
 *
 * The last step turned x by |x3 cross x4| / |x3|^2, and that is residual over lambda; where it is small because the
 * start is slow, the way that is left is looked at too. Without a shift a start may go on for ever: in a cycle of two
 * points (x4 is x2 again, or leaves it in line, the step having turned over and grown), or in longer ones, where after
 * steps that together are more than a right angle it still makes large ones.
 *
 * Ahead: where the last displacements are in line, to the sum of their geometric series (Aitken); where they grow, away
 * from a saddle or through the narrow place where a maximum and a saddle have almost met. A slow start's last three
 * displacements obey d = a e + b f, whatever the two rates of convergence: to the sum of what would follow, if rounding
 * leaves the two rates apart. The start goes on being iterated from there, and only true steps decide that it has
 * converged. */
static __device__ __forceinline__ int HOT_CHART(look)(const float2 *x, float gz, float2 *to, float limit2, int steps,
                                                      int most, int is_first)
{
    const float u = to->x, v = to->y;
    const float du = u - x[2].x, dv = v - x[2].y, eu = x[2].x - x[1].x, ev = x[2].y - x[1].y;
    const float inverse2 = chart_reciprocal(fmaf(x[2].x, x[2].x, fmaf(x[2].y, x[2].y, 1.0f)));
    const float twist = x[2].x * dv - x[2].y * du, n2 = fmaf(du, du, dv * dv);
    const float lambda = HOT_CHART(normalised)(gz * fmaf(x[2].x, u, fmaf(x[2].y, v, 1.0f)), inverse2);
    const float turn2 = fmaf(twist, twist, n2) * inverse2 * inverse2;
    const float along = fmaf(du, eu, dv * ev), rate = along * chart_reciprocal(fmaf(eu, eu, ev * ev));
    const float off = n2 - rate * along, rest = 1.0f - rate; /* off: the part across the line, squared */
    /* Neither converged, nor as near as float can tell, nor (a comparison with NaN) lost, which the end sees to. */
    int open = (turn2 * lambda * lambda > limit2) & (turn2 > 1e-13f) & (steps < most);
    if (!is_first) {
        const float back = fmaf(du + eu, du + eu, (dv + ev) * (dv + ev));
        open |= (fabsf(rest) < 0.1f) & (turn2 > fmaxf(1e-11f, 1e-6f * rest * rest)) & (steps < most);
        open &= !((turn2 > 1e-8f) & (((steps >= CHART_CYCLE) & (back <= 1e-6f * n2)) |
                                     ((steps >= CHART_AWAY * HOT_ORDER) & (rate < -1.0f) & (back <= 1e-3f * n2)) |
                                     ((steps >= CHART_LARGE * HOT_ORDER) & (rate < -1.0f) & (off <= 1e-3f * n2))));
        open &= !(((steps >= CHART_LARGE * HOT_ORDER) & (turn2 > 0.04f)) |
                  ((steps >= CHART_ENOUGH * HOT_ORDER) & (turn2 > 1e-4f)));
    }
    const int grows = (rate >= 0.9999f) & (rate < 3.0f) & (off <= 1e-3f * n2);
    /* As a series, but no farther than .1, nor than the noise in the rate allows; where the steps alternate and are
     * large, only when they are well in line. */
    const int converges = (fabsf(rate) > 0.05f) & (rate > (turn2 < 1e-6f ? -1.005f : -1.0f)) & (rate < 0.9999f) &
                          (off <= 0.01f * n2) & (turn2 > 1e-12f) &
                          ((rate > 0) | (turn2 < 1e-3f) | ((turn2 < 0.1f) & (off <= 1e-3f * n2)));
    float by = grows ? 16.0f : rate * chart_reciprocal(rest);
    by = fminf(by, fminf((grows | (steps >= CHART_CAREFUL) ? 0.05f : 0.1f) * chart_rsqrt(turn2), 1e13f * turn2));
    by = open & (grows | converges) ? by : 0.0f;
    float to_u = by * du, to_v = by * dv;
    if (!is_first && steps >= CHART_SLOW && turn2 < 1e-2f) {
        const float fu = x[1].x - x[0].x, fv = x[1].y - x[0].y, area = fu * ev - fv * eu;
        const float inverse = chart_reciprocal(area);
        const float a = (fu * dv - fv * du) * inverse, b = (du * ev - dv * eu) * inverse;
        const float noise = 6e-6f * (fabsf(u) + fabsf(v)) * (fabsf(fu) + fabsf(fv) + fabsf(eu) + fabsf(ev));
        const float sum = chart_reciprocal(1.0f - a - b), by_d = (a + b) * sum, by_e = b * sum;
        const float lu = fmaf(by_d, du, by_e * eu), lv = fmaf(by_d, dv, by_e * ev), lt = u * lv - v * lu;
        const float part = fminf(1.0f, (steps < CHART_CAREFUL ? 0.1f : 0.05f) * fmaf(u, u, fmaf(v, v, 1.0f)) *
                                           chart_rsqrt(fmaf(lt, lt, fmaf(lu, lu, lv * lv))));
        if (open & (fabsf(area) > noise) & (fabsf(b) < 1.0f) & (fabsf(a) < 1.0f - b)) { /* both rates are below 1 */
            to_u = part * lu;
            to_v = part * lv;
        }
    }
    to->x = u + to_u;
    to->y = v + to_v;
    return !open;
}

/* `count` steps (two or more) from *at, and whether that is the end; if not, the start may have been taken ahead.
 * `steps` is how many have been made with them. */
static __device__ __forceinline__ int HOT_CHART(round)(const float *c, float2 *at, int count, float limit2, int *steps,
                                                       int most, int is_first)
{
    float2 x[3];
    float gz;
#pragma unroll 1
    for (int k = 3; k < count; k++)
        HOT_CHART(step)(c, &at->x, &at->y, &gz);
    x[0] = *at;
    if (count > 2)
        HOT_CHART(step)(c, &at->x, &at->y, &gz);
    x[1] = *at;
    HOT_CHART(step)(c, &at->x, &at->y, &gz);
    x[2] = *at;
    HOT_CHART(step)(c, &at->x, &at->y, &gz);
    *steps += max(count, 2);
    return HOT_CHART(look)(x, gz, at, limit2, *steps, most, is_first);
}
