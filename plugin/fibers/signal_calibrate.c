/* See signal_calibrate.h. -2 ln P(k) = T cost_k + d_k: the likelihood of the drawn voxels' numbers of fibres is convex
 * in T and d. */
#include "signal_calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/linear.h"
#include "signal_drawn.h"

/* Unknowns: T; then d_1 to d_3, of which those in a group are equal (d_0 is 0). */
enum { KMAX = 3, UNKNOWNS = 1 + KMAX, STEPS = 30 };

/* What is known before: T is 1 and d 0, give or take these. */
static const double scale_sd = 0.3, shift_sd = 2;
/* Costs farther from the least than this are as good as impossible. */
static const double cost_most = 200;
static const double least_scale = 0.1;

/* Gradient and Hessian of -ln of the posterior at x. */
static void derive(const hot_drawn *drawn, int scaled, const int group[KMAX + 1], const double x[UNKNOWNS],
                   double gradient[UNKNOWNS], double hessian[UNKNOWNS][UNKNOWNS])
{
    memset(hessian, 0, sizeof(double[UNKNOWNS][UNKNOWNS]));
    for (int i = 0; i < UNKNOWNS; i++) {
        const double inverse = i ? 1 / (shift_sd * shift_sd) : 1 / (scale_sd * scale_sd);
        gradient[i] = inverse * (x[i] - (i == 0));
        hessian[i][i] = inverse;
    }
    for (size_t voxel = 0; voxel < drawn->count; voxel++) {
        const hot_signal_fit *own = drawn->fits + 4 * voxel;
        double p[KMAX + 1], feature[KMAX + 1][UNKNOWNS] = {{0}}, mean[UNKNOWNS] = {0}, least = INFINITY;
        double highest = -INFINITY, sum = 0;
        if (!(own[0].noise > 0))
            continue;
        for (int k = 0; k <= drawn->max_fibers; k++)
            least = fmin(least, (double)own[k].cost);
        for (int k = 0; k <= drawn->max_fibers; k++) {
            feature[k][0] = -0.5 * fmin((double)own[k].cost - least, cost_most);
            if (k > 0)
                feature[k][group[k]] = -0.5;
            p[k] = 0;
            for (int i = 0; i < UNKNOWNS; i++)
                p[k] += x[i] * feature[k][i];
            highest = fmax(highest, p[k]);
        }
        for (int k = 0; k <= drawn->max_fibers; k++)
            sum += p[k] = exp(p[k] - highest);
        for (int k = 0; k <= drawn->max_fibers; k++)
            for (int i = 0; i < UNKNOWNS; i++)
                mean[i] += (p[k] / sum) * feature[k][i];
        for (int i = 0; i < UNKNOWNS; i++) {
            gradient[i] -= feature[drawn->fibers[voxel]][i] - mean[i];
            for (int j = 0; j < UNKNOWNS; j++)
                for (int k = 0; k <= drawn->max_fibers; k++)
                    hessian[i][j] += (p[k] / sum) * (feature[k][i] - mean[i]) * (feature[k][j] - mean[j]);
        }
    }
    for (int i = 1; i < UNKNOWNS && !scaled; i++)
        hessian[0][i] = hessian[i][0] = 0;
    if (!scaled)
        gradient[0] = 0;
}

/* Newton's method, with short steps far off. */
static void fit(const hot_drawn *drawn, int scaled, const int group[KMAX + 1], double x[UNKNOWNS])
{
    memset(x, 0, sizeof(double[UNKNOWNS]));
    x[0] = 1;
    for (int step = 0; step < STEPS; step++) {
        double change[UNKNOWNS], hessian[UNKNOWNS][UNKNOWNS], largest = 0;
        derive(drawn, scaled, group, x, change, hessian);
        hot_cholesky_factor(UNKNOWNS, UNKNOWNS, hessian[0], 0); /* positive definite: the prior's part is */
        hot_cholesky_forward(UNKNOWNS, UNKNOWNS, hessian[0], change);
        hot_cholesky_backward(UNKNOWNS, UNKNOWNS, hessian[0], change);
        for (int i = 0; i < UNKNOWNS; i++)
            largest = fmax(largest, fabs(change[i]));
        for (int i = 0; i < UNKNOWNS; i++)
            x[i] -= change[i] * fmin(1, 1 / fmax(largest, 1e-9));
        if (largest < 1e-6)
            break;
    }
}

/* Shifts may only make more fibres less likely. The other way round the fits have too few fibres because tissue is not
 * as the priors say, and more of them change the priors in the same direction: real data ended with three everywhere
 * (docs/decisions/002-signal-evidence-calibration.md). */
static void fit_rising(const hot_drawn *drawn, int scaled, hot_signal_population *population)
{
    int group[KMAX + 1] = {0, 1, 2, 3}, again = 1;
    double x[UNKNOWNS];
    while (again) {
        fit(drawn, scaled, group, x);
        again = 0;
        for (int k = 2; k <= drawn->max_fibers && !again; k++) {
            again = x[group[k]] < x[group[k - 1]] && group[k] != group[k - 1];
            for (int j = k, old = group[k]; again && j <= KMAX && group[j] == old; j++)
                group[j] = group[k - 1];
        }
    }
    population->evidence_scale = fmax(x[0], least_scale);
    for (int k = 1; k <= KMAX; k++)
        population->evidence_shift[k] = k <= drawn->max_fibers ? x[group[k]] : 0;
}

/* The share of the drawn voxels whose own number of fibres is the likeliest one. */
static double recovered(const hot_drawn *drawn, const hot_signal_population *population)
{
    size_t right = 0, all = 0;
    for (size_t voxel = 0; voxel < drawn->count; voxel++) {
        const hot_signal_fit *own = drawn->fits + 4 * voxel;
        double least = INFINITY;
        int best = 0;
        for (int k = 0; k <= drawn->max_fibers; k++) {
            const double cost = population->evidence_scale * (double)own[k].cost + population->evidence_shift[k];
            if (cost < least)
                least = cost, best = k;
        }
        right += own[0].noise > 0 && best == drawn->fibers[voxel];
        all += own[0].noise > 0;
    }
    return all ? (double)right / (double)all : 1;
}

hot_status hot_signal_calibrate(hot_context *context, const hot_signal_options *how, const hot_signal_scheme *scheme,
                                size_t count, const double *snr, uint64_t seed, int last,
                                hot_signal_population *population)
{
    hot_drawn drawn;
    hot_status status = hot_drawn_make(context, how, scheme, count, &drawn);
    population->evidence_scale = 1;
    memset(population->evidence_shift, 0, sizeof population->evidence_shift);
    if (status == HOT_OK)
        status = hot_drawn_fill(&drawn, population, population, HOT_SIGNAL_MISFIT_SHARE, seed, count, snr, count);
    if (status == HOT_OK) {
        fit_rising(&drawn, last, population);
        population->recovered = recovered(&drawn, population);
    }
    hot_drawn_free(&drawn);
    return status;
}
