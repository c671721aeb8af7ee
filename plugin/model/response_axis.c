/* One fibre fitted to the signals themselves: the direction v and weight w for which w R(v) comes nearest. */
#include <math.h>

#include "model.h"

enum { LMAX_MAX = 16, STEPS = 6 };

/* R(c) = sum_l a_l P_l(c) and its derivative by c; P'_(k+1) = P'_(k-1) + (2k + 1) P_k. */
static double response_slope(int lmax, const double *r, double c, double *slope)
{
    double before = 1, now = c, slope_before = 0, slope_now = 1; /* P_0, P_1 */
    double value = r[0] * sqrt(1 / (4 * M_PI));
    *slope = 0;
    for (int k = 1; k < lmax; k++) {
        const double next = ((2 * k + 1) * c * now - k * before) / (k + 1);
        const double slope_next = slope_before + (2 * k + 1) * now;
        before = now, now = next;
        slope_before = slope_now, slope_now = slope_next;
        if (k % 2 == 1) {
            const double unit = sqrt((2 * k + 3) / (4 * M_PI));
            value += r[(k + 1) / 2] * unit * now;
            *slope += r[(k + 1) / 2] * unit * slope_now;
        }
    }
    return value;
}

double hot_response_fit_axis(const hot_response *response, const hot_dwi *dwi, const int *row, const float *signals,
                             double s0, double axis[3], double *weight)
{
    const size_t volumes = hot_dwi_volumes(dwi);
    const double *gradients = hot_dwi_gradients(dwi);
    const double unit = row[0] >= 0 ? hot_response_value(response, (size_t)row[0], 0) : s0;
    const int *shell_of;
    double misfit = 0;
    hot_dwi_shells(dwi, NULL, &shell_of);
    for (int step = 0; step <= STEPS; step++) {
        /* sums over the measurements of y, R and the derivatives of R along two tangents */
        double across[2][3], yr = 0, rr = 0, yy = 0, jr[2] = {0}, jy[2] = {0}, jj[3] = {0};
        const int least = fabs(axis[0]) < fabs(axis[1]) ? (fabs(axis[0]) < fabs(axis[2]) ? 0 : 2)
                                                        : (fabs(axis[1]) < fabs(axis[2]) ? 1 : 2);
        double length = 0;
        for (int d = 0; d < 3; d++) {
            across[0][d] = (d == least) - axis[least] * axis[d];
            length += across[0][d] * across[0][d];
        }
        for (int d = 0; d < 3; d++)
            across[0][d] /= sqrt(length);
        for (int d = 0; d < 3; d++)
            across[1][d] = axis[(d + 1) % 3] * across[0][(d + 2) % 3] - axis[(d + 2) % 3] * across[0][(d + 1) % 3];
        size_t count = 0;
        for (size_t v = 0; v < volumes; v++) {
            const int shell = shell_of[v];
            const double *g = gradients + 3 * v;
            if (shell == 0 || row[shell] < 0)
                continue;
            const double c = g[0] * axis[0] + g[1] * axis[1] + g[2] * axis[2], y = (double)signals[v] / s0;
            double slope;
            const double r =
                response_slope(response->lmax, hot_response_row(response, (size_t)row[shell], NULL), c, &slope) / unit;
            double j[2];
            for (int a = 0; a < 2; a++)
                j[a] = slope / unit * (g[0] * across[a][0] + g[1] * across[a][1] + g[2] * across[a][2]);
            yy += y * y, yr += y * r, rr += r * r;
            for (int a = 0; a < 2; a++)
                jr[a] += j[a] * r, jy[a] += j[a] * y;
            jj[0] += j[0] * j[0], jj[1] += j[0] * j[1], jj[2] += j[1] * j[1];
            count++;
        }
        *weight = rr > 0 ? yr / rr : 0;
        misfit = count ? fmax(0, yy - *weight * yr) / (double)count : 0;
        if (step == STEPS || !(*weight > 0))
            break;
        /* Gauss-Newton for the turn (w eliminated): J^T J without its part along R */
        const double a = jj[0] - jr[0] * jr[0] / rr, b = jj[1] - jr[0] * jr[1] / rr, d = jj[2] - jr[1] * jr[1] / rr;
        const double p = jy[0] - *weight * jr[0], q = jy[1] - *weight * jr[1], determinant = a * d - b * b;
        if (!(determinant > 1e-12 * (a + d) * (a + d)))
            break;
        double turn[2] = {(d * p - b * q) / determinant / *weight, (a * q - b * p) / determinant / *weight};
        const double far = hypot(turn[0], turn[1]), most = .2;
        for (int k = 0; k < 2 && far > most; k++)
            turn[k] *= most / far;
        length = 0;
        for (int k = 0; k < 3; k++) {
            axis[k] += turn[0] * across[0][k] + turn[1] * across[1][k];
            length += axis[k] * axis[k];
        }
        for (int k = 0; k < 3; k++)
            axis[k] /= sqrt(length);
        if (far < 1e-7)
            break;
    }
    return misfit;
}
