/* See signal_posterior.h. */
#include "signal_posterior.h"

enum { UNKNOWNS_MOST = 15 };
#define AT(i, j) ((i) * ((i) + 1) / 2 + (j)) /* packed lower triangle, i >= j */

/* 95 % of chi squared with one and with two degrees of freedom. */
static const double chi2_of_1 = 3.8415, chi2_of_2 = 5.9915;
/* Laplace's approximation has the cost's curvature at its least point; farther off a wide posterior is flatter. Where
 * it says that a cone's angle along one of its axes is the first (radians), twice that axis' variance holds 95 %, and
 * less as the third power; that was seen up to the second (docs/decisions/008-signal-cones.md). */
static const double twice_as_wide = 0.22, seen_up_to = 0.314;

static double covariance(const hot_posterior *posterior, int a, int b)
{
    double sum = 0;
    for (int p = a > b ? a : b; p < 4 * posterior->k + 3; p++)
        sum += posterior->root[AT(p, a)] * posterior->root[AT(p, b)];
    return sum;
}

/* The principal variances of a fibre's turns; the angle of the larger one's axis from the first turn. */
static double principal(const hot_posterior *posterior, int fiber, double variance[2])
{
    const int at = 4 * fiber + 2;
    const double a = covariance(posterior, at, at), b = covariance(posterior, at + 1, at + 1);
    const double c = covariance(posterior, at, at + 1), middle = 0.5 * (a + b), half = 0.5 * (a - b);
    const double off = sqrt(half * half + c * c);
    variance[0] = middle + off;
    variance[1] = fmax(middle - off, 0);
    return 0.5 * atan2(c, half);
}

static double angle_of(double variance) { return atan(sqrt(chi2_of_2 * variance)); }

/* How much larger the variance is of which the curvature says a cone of angle `angle` along an axis. */
static double flatter(double angle, double growth)
{
    const double seen = 1 + pow(fmin(angle, seen_up_to) / twice_as_wide, 3);
    return seen * pow((1 + pow(angle / twice_as_wide, 3)) / seen, growth);
}

void hot_posterior_make(const hot_signal_fit *fit, int k, const hot_signal_population *population, double typical,
                        hot_posterior *posterior)
{
    const int n = 4 * k + 3;
    double *L = posterior->root;
    posterior->fit = fit;
    posterior->k = k;
    posterior->typical = typical;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double a = (double)fit->precision[AT(i, j)];
            for (int p = 0; p < j; p++)
                a -= L[AT(i, p)] * L[AT(j, p)];
            L[AT(i, j)] = i == j ? sqrt(fmax(a, 1e-9)) : a / L[AT(j, j)];
        }
    for (int j = 0; j < n; j++) /* its inverse, in its place */
        for (int i = j; i < n; i++) {
            double a = i == j;
            for (int p = j; p < i; p++)
                a -= L[AT(i, p)] * L[AT(p, j)];
            L[AT(i, j)] = a / L[AT(i, i)];
        }
    const double all = population ? population->cone_variance[k] : 1;
    const double growth = population ? population->cone_growth[k] : 1;
    for (int fiber = 0; fiber < k; fiber++) {
        double variance[2], *wider = posterior->wider[fiber], *widen = posterior->widen[fiber];
        const double angle = principal(posterior, fiber, variance), c = cos(angle), s = sin(angle);
        for (int a = 0; a < 2; a++)
            wider[a] = sqrt(all * flatter(angle_of(variance[a]), growth));
        widen[0] = wider[0] * c * c + wider[1] * s * s;
        widen[1] = (wider[0] - wider[1]) * c * s;
        widen[2] = wider[0] * s * s + wider[1] * c * c;
    }
}

int hot_posterior_is_wide(const hot_posterior *posterior, int fiber)
{
    double variance[2];
    principal(posterior, fiber, variance);
    return angle_of(variance[0]) > seen_up_to;
}

void hot_posterior_cone(const hot_posterior *posterior, int fiber, double freedom, hot_cone *cone)
{
    const float (*turn)[3] = posterior->fit->turn[fiber];
    double variance[2];
    const double angle = principal(posterior, fiber, variance), *wider = posterior->wider[fiber];
    const double large = wider[0] * wider[0] * variance[0], small = wider[1] * wider[1] * variance[1];
    /* noise that was estimated: Student's distribution in two dimensions */
    const double radius2 = isfinite(freedom) ? freedom * (pow(0.05, -2 / freedom) - 1) : chi2_of_2;
    for (int d = 0; d < 3; d++) {
        cone->axis[0][d] = cos(angle) * (double)turn[0][d] + sin(angle) * (double)turn[1][d];
        cone->axis[1][d] = -sin(angle) * (double)turn[0][d] + cos(angle) * (double)turn[1][d];
    }
    cone->angle[0] = atan(sqrt(radius2 * large));
    cone->angle[1] = atan(sqrt(radius2 * small));
    /* a circle: two variances' sum of squares is nearly chi squared with `like` degrees of freedom (Satterthwaite) */
    const double squares = large * large + small * small, sum = large + small, like = sum * sum / squares;
    const double limit = chi2_of_1 + (chi2_of_2 - chi2_of_1) * (like - 1);
    cone->half_angle = atan(sqrt(squares / sum * limit * radius2 / chi2_of_2));
}

double hot_posterior_place(const hot_posterior *posterior, int fiber, const hot_cone *cone, const float v[3])
{
    double along = 0;
    for (int d = 0; d < 3; d++)
        along += (double)posterior->fit->v[fiber][d] * (double)v[d];
    return (1 / (along * along) - 1) / pow(tan(cone->half_angle), 2);
}

double hot_posterior_fraction_sd(const hot_posterior *posterior, int fiber)
{
    const double fraction = (double)posterior->fit->weight[fiber] / posterior->typical;
    return fraction * sqrt(covariance(posterior, 4 * fiber, 4 * fiber));
}

void hot_posterior_draw(const hot_posterior *posterior, hot_random *random, double v[3][3], double fraction[3])
{
    const int n = 4 * posterior->k + 3;
    double z[UNKNOWNS_MOST + 1], sum = 0;
    for (int i = 0; i < n; i += 2)
        hot_random_normals(random, &z[i], &z[i + 1]);
    for (int fiber = 0; fiber < posterior->k; fiber++) {
        double moved[4] = {0}, length = 0;
        for (int u = 0; u < 4; u++)
            for (int p = 4 * fiber + u; u != 1 && p < n; p++) /* the width is not asked for */
                moved[u] += posterior->root[AT(p, 4 * fiber + u)] * z[p];
        fraction[fiber] = (double)posterior->fit->weight[fiber] / posterior->typical * exp(moved[0]);
        sum += fraction[fiber];
        const double *widen = posterior->widen[fiber];
        const double a = widen[0] * moved[2] + widen[1] * moved[3], b = widen[1] * moved[2] + widen[2] * moved[3];
        for (int d = 0; d < 3; d++) {
            v[fiber][d] = (double)posterior->fit->v[fiber][d] + a * (double)posterior->fit->turn[fiber][0][d] +
                          b * (double)posterior->fit->turn[fiber][1][d];
            length += v[fiber][d] * v[fiber][d];
        }
        for (int d = 0; d < 3; d++)
            v[fiber][d] /= sqrt(length);
    }
    for (int fiber = 0; fiber < posterior->k && sum > 1; fiber++)
        fraction[fiber] /= sum;
}

int hot_posterior_weigh(const hot_signal_fit fits[4], double p[4])
{
    double best = INFINITY, sum = 0;
    for (int k = 0; k < 4; k++)
        best = fmin(best, (double)fits[k].cost);
    for (int k = 0; k < 4; k++)
        sum += p[k] = exp(0.5 * (best - (double)fits[k].cost));
    for (int k = 0; k < 4; k++)
        p[k] /= sum;
    return fits[0].noise > 0 && isfinite(sum);
}

void hot_posterior_temper(double p[4], int k, const hot_signal_population *population)
{
    const double of = p[k];
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += p[i] = pow(p[i] / of, population->certainty);
    for (int i = 0; i < 4; i++)
        p[i] /= sum;
}
