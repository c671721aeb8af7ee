/* Exports of all fits: hot_signal_fit and the posterior's variances. */
#pragma once

#include "signal_block.h"

/* The posterior's variances: of the inverse precision, by the inverse of its Cholesky factor. */
HOT_FN void signal_variances(int k, hot_signal_fit *fit)
{
    const int n = SIGNAL_UNKNOWNS(k), last = 4 * k;
    double L[SIGNAL_PACKED], all = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double a = (double)fit->precision[SIGNAL_AT(i, j)];
            for (int p = 0; p < j; p++)
                a -= L[SIGNAL_AT(i, p)] * L[SIGNAL_AT(j, p)];
            L[SIGNAL_AT(i, j)] = i == j ? sqrt(fmax(a, 1e-9)) : a / L[SIGNAL_AT(j, j)];
        }
    for (int j = 0; j < n; j++) /* L^-1 in its place, column by column */
        for (int i = j; i < n; i++) {
            double a = i == j ? 1 : 0;
            for (int p = j; p < i; p++)
                a -= L[SIGNAL_AT(i, p)] * L[SIGNAL_AT(p, j)];
            L[SIGNAL_AT(i, j)] = a / L[SIGNAL_AT(i, i)];
        }
    for (int i = 0; i < n; i++) {
        double own = 0;
        for (int p = i; p < n; p++)
            own += L[SIGNAL_AT(p, i)] * L[SIGNAL_AT(p, i)];
        if (i == last)
            fit->isotropic_variance = (float)own;
        else if (i == last + 1)
            fit->water_variance = (float)own;
        else if (i == last + 2)
            fit->ln_diffusivity_variance = (float)own;
        else if (i % 4 == 1)
            fit->width_variance[i / 4] = (float)own;
        else if (i % 4 == 0)
            fit->spread_variance += (float)own;
    }
    for (int p = 0; p < n; p++) { /* less the variance of k times their mean over k */
        double sum = 0;
        for (int i = 0; i < k && 4 * i <= p; i++)
            sum += L[SIGNAL_AT(p, 4 * i)];
        all += sum * sum;
    }
    if (k > 0)
        fit->spread_variance -= (float)(all / k);
}

/* The fit of k fibres of a lane, and what its matrix says. */
HOT_FN void signal_export_fit(int k, int max_fibers, const signal_fits *fits, int lane, const float *matrix,
                         hot_signal_fit *to)
{
    const signal_fit *f = &fits->fit[k];
    memset(to, 0, sizeof *to);
    to->cost = vlane(fits->cost[k], lane);
    to->noise = vlane(fits->noise, lane);
    if (k > max_fibers)
        return;
    to->chi = vlane(f->chi, lane);
    to->fan = vlane(f->fan, lane);
    to->fan_told = vlane(f->fan_told, lane);
    to->isotropic = vlane(f->iso, lane);
    to->water = vlane(f->water, lane);
    to->ln_diffusivity = vlane(f->ld, lane) + (float)SIGNAL_LN_UNIT;
    for (int i = 0; i < k; i++) {
        to->weight[i] = expf(vlane(f->lw[i], lane));
        to->width[i] = vlane(f->tau[i], lane);
        vf turn[2][3];
        signal_tangents(f->v[i], turn[0], turn[1]);
        for (int d = 0; d < 3; d++) {
            to->v[i][d] = vlane(f->v[i][d], lane);
            to->turn[i][0][d] = vlane(turn[0][d], lane);
            to->turn[i][1][d] = vlane(turn[1][d], lane);
        }
    }
    for (int i = 0; i < SIGNAL_PACKED_OF(k); i++)
        to->precision[i] = matrix[i];
    signal_variances(k, to);
}
