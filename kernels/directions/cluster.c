/* From the maxima of a form to directions, and order 2, where there is but one. */
#include "directions/plan.h"

#include <math.h>

/* The half sphere that stands for the whole: z > 0, then y > 0, then x > 0. */
static int in_other_half(const float v[3])
{
    if (v[2] != 0)
        return v[2] < 0;
    if (v[1] != 0)
        return v[1] < 0;
    return v[0] < 0;
}

int hot_directions_cluster(const hot_directions_plan *plan, hot_maximum *maxima, int count, float *directions)
{
    int found = 0;
    /* Selection: the kept ones are few, and gather at the front of the array. */
    for (int from = 0; from < count && found < plan->keep; from++) {
        int best = from;
        for (int i = from + 1; i < count; i++)
            if (maxima[i].value > maxima[best].value)
                best = i;
        const hot_maximum m = maxima[best];
        maxima[best] = maxima[from];
        if (!(m.value > 0) || (found > 0 && m.value < plan->threshold * maxima[0].value))
            break;
        int apart = 1;
        for (int i = 0; i < found && apart; i++) {
            const float cosine = m.x * maxima[i].x + m.y * maxima[i].y + m.z * maxima[i].z;
            apart = cosine * cosine <= plan->apart;
        }
        maxima[from] = maxima[found]; /* a dropped one, or itself */
        if (apart)
            maxima[found++] = m;
    }
    for (int i = 0; i < found; i++) {
        const hot_maximum *m = maxima + i;
        float *out = directions + 3 * i;
        out[0] = m->x * m->value;
        out[1] = m->y * m->value;
        out[2] = m->z * m->value;
        /* of the product, which may have vanished where the factor had not */
        const float sign = in_other_half(out) ? -1.0f : 1.0f;
        for (int d = 0; d < 3; d++)
            out[d] = sign * out[d] + 0.0f; /* + 0: no -0 */
    }
    for (int i = 3 * found; i < 3 * plan->keep; i++)
        directions[i] = 0;
    return found;
}

/* One rotation in the plane (p, q) that makes a[p][q] zero. */
static void rotate(double a[3][3], double v[3][3], int p, int q)
{
    if (a[p][q] == 0)
        return;
    const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        const double kp = a[k][p], kq = a[k][q];
        a[k][p] = c * kp - s * kq;
        a[k][q] = s * kp + c * kq;
    }
    for (int k = 0; k < 3; k++) {
        const double pk = a[p][k], qk = a[q][k];
        a[p][k] = c * pk - s * qk;
        a[q][k] = s * pk + c * qk;
    }
    for (int k = 0; k < 3; k++) {
        const double kp = v[k][p], kq = v[k][q];
        v[k][p] = c * kp - s * kq;
        v[k][q] = s * kp + c * kq;
    }
    a[p][q] = a[q][p] = 0;
}

int hot_directions_line(const hot_directions_plan *plan, const float *tensor, float *directions)
{
    for (int i = 0; i < 3 * plan->keep; i++)
        directions[i] = 0;
    double a[3][3], v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, largest = 0;
    for (int i = 0, k = 0; i < 3; i++)
        for (int j = i; j < 3; j++, k++) {
            a[i][j] = a[j][i] = (double)tensor[k];
            if (!isfinite(tensor[k]))
                return HOT_DIRECTIONS_INVALID;
            largest = fmax(largest, fabs(a[i][j]));
        }
    if (largest == 0)
        return 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] /= largest;
    for (int sweep = 0; sweep < 12 && fabs(a[0][1]) + fabs(a[0][2]) + fabs(a[1][2]) > 1e-18; sweep++) {
        rotate(a, v, 0, 1);
        rotate(a, v, 0, 2);
        rotate(a, v, 1, 2);
    }
    int top = 0, bottom = 0;
    for (int i = 1; i < 3; i++) {
        top = a[i][i] > a[top][top] ? i : top;
        bottom = a[i][i] < a[bottom][bottom] ? i : bottom;
    }
    const double high = a[top][top], low = a[bottom][bottom];
    if (high <= (double)HOT_DIRECTIONS_ZERO || high - low < (double)plan->min_relief * fabs(high))
        return 0;
    hot_maximum m = {(float)(high * largest), (float)v[0][top], (float)v[1][top], (float)v[2][top]};
    return hot_directions_cluster(plan, &m, 1, directions);
}
