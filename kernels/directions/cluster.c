/* From the maxima of a form to directions; and order 2, which has one. */
#include "cluster.h"

#include <math.h>

int hot_directions_cluster(const hot_directions_args *args, hot_maximum *maxima, int count, float *directions)
{
    return hot_cluster(args->keep, args->threshold, args->apart, maxima, count, directions);
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

int hot_directions_line(const hot_directions_args *args, const float *tensor, float *directions)
{
    for (int i = 0; i < 3 * args->keep; i++)
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
    if (high <= (double)HOT_DIRECTIONS_ZERO || high - low < (double)args->min_relative_range * fabs(high))
        return 0;
    hot_maximum m = {(float)(high * largest), (float)v[0][top], (float)v[1][top], (float)v[2][top]};
    return hot_directions_cluster(args, &m, 1, directions);
}
