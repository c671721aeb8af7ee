/* The fits in one voxel (or HOT_LANES_F32 of them): start search, fits of 0 to 3 fibres, the
 * noise of the voxel, the fits again with that. */
#pragma once

#include "signal_search.h"
#include "signal_evidence.h"

/* A fit ends when a step promises to lower its cost by less than this (1 is a factor of e^(1/2) in probability): every
 * start; the first fits, which are only to tell the voxel's noise and where the last ones begin; these, whose costs are
 * compared. First fits three times looser leave twice as many first directions more than a degree off in mixtures
 * (docs/decisions/011-signal-fit-schedule.md). */
#define SIGNAL_TOLERANCE_START 3e-3f
#define SIGNAL_TOLERANCE_FIRST 1e-3f
#define SIGNAL_TOLERANCE_LAST 3e-4f

/* Steps of the fits of none and of one fibre, of every start of more and of the best one, and of all with the voxel's
 * own noise. With much signal over the noise the isotropic parts and the widths make up for each other, and steps are
 * short there; elsewhere few are needed. */
#define LM_MAX_ITER_K0 12
#define LM_MAX_ITER_K1 16
#define LM_MAX_ITER_START 3
#define LM_MAX_ITER_BEST 30
#define LM_MAX_ITER_REFIT 12

/* Where a voxel's fits are among its slots: of none, of one, the three starts of two and of three; and where the
 * matrices of its fits begin, packed ones of `SIGNAL_PACKED_OF` numbers. */
#define SIGNAL_SLOT(k) ((k) == 0 ? 0 : (k) == 1 ? 1 : (k) == 2 ? 2 : 5)
#define SIGNAL_PACKED_OF(k) (SIGNAL_UNKNOWNS(k) * (SIGNAL_UNKNOWNS(k) + 1) / 2)
#define SIGNAL_MATRIX(k) ((k) == 0 ? 0 : (k) == 1 ? 6 : (k) == 2 ? 34 : 100)

typedef struct signal_fits {
    signal_fit fit[4];
    vf cost[4];
    vf noise; /* of the voxel, over the one given */
} signal_fits;

/* Where the fits begin: directions of the grid for one fibre, and for two and three of each class of separations. */
typedef struct signal_start_points {
    vi one, first[SEPARATION_BINS], second[SEPARATION_BINS], third[SEPARATION_BINS];
} signal_start_points;

/* b: SIGNAL_GRID vectors of scratch. */
HOT_FN void signal_find_start_points(const signal_plan *plan, const signal_data *data, vf *b,
                                     signal_start_points *places)
{
    const signal_grid *grid = &plan->grid;
    signal_filter(&plan->scheme, grid, data, b);
    vf best = vset(-1e30f);
    vi at = vseti(0);
    for (int d = 0; d < SIGNAL_GRID; d++) {
        vf gain = vmax(b[d], vset(0)) * b[d] / grid->gram[d * (SIGNAL_GRID + 1)];
        vm better = gain > best;
        best = vsel(better, gain, best);
        at = vseli(better, vseti(d), at);
    }
    places->one = at;
    for (int c = 0; c < SEPARATION_BINS; c++) {
        vf w[3];
        places->first[c] = places->second[c] = places->third[c] = at;
        if (plan->max_fibers > 1)
            signal_best_pair(grid, c, b, &places->first[c], &places->second[c], w);
        if (plan->max_fibers > 2)
            signal_best_third(grid, b, 1, places->first[c], places->second[c], &places->third[c], w);
    }
}

/* The fibres that a fit does not have: no number is left open, though nobody uses these. */
HOT_FN void signal_no_more_fibers(const int k, signal_fit *f)
{
    HOT_UNROLL
    for (int i = k; i < 3; i++) {
        for (int d = 0; d < 3; d++)
            f->v[i][d] = vset(0);
        f->lw[i] = f->tau[i] = vset(0);
    }
}

/* The start of k fibres, of two and three the one of class c. */
HOT_FN void signal_start(const int k, const signal_plan *plan, const signal_start_points *places, int c, signal_fit *f)
{
    const signal_learned *p = &plan->learned;
    const float iso = k ? fmaxf(p->iso, 0.05f) : 0.7f, water = k ? fmaxf(p->water[1], 0.02f) : 0.3f;
    for (int i = 0; i < k; i++) {
        signal_direction(&plan->grid, k == 1   ? places->one
                                      : i == 0 ? places->first[c]
                                      : i == 1 ? places->second[c]
                                               : places->third[c], f->v[i]);
        f->lw[i] = vset(logf(fmaxf(0.95f - p->iso - p->water[1], 0.1f) / (float)k));
        f->tau[i] = vset(p->width);
    }
    f->iso = vset(iso);
    f->water = vset(water);
    f->ld = vset(p->ld[k > 0]);
    f->q = f->chi = f->fan = f->fan_told = vset(0);
    signal_no_more_fibers(k, f);
}

/* The voxel's variance over the one of the fits: what these leave over, on average over k, drawn to the usual noise. */
HOT_FN vf signal_own_noise(const signal_plan *plan, const signal_fits *fits)
{
    const float rows = (float)plan->scheme.volumes + 1, own = plan->learned.freedom;
    vf best = fits->cost[0], sum = vset(0), chi = vset(0), freedom = vset(0);
    for (int k = 1; k < 4; k++)
        best = vmin(best, fits->cost[k]);
    for (int k = 0; k <= plan->max_fibers; k++) {
        vf p = vexp(0.5f * (best - fits->cost[k]));
        sum += p;
        chi += p * fits->fit[k].chi;
        freedom += p * fmaxf(rows - plan->learned.told[k], 0.25f * rows);
    }
    return (own + chi / sum) / (own + freedom / sum);
}

/* A signal as the fits take it: on the pedestal of Gaussian noise, with the bias that a magnitude has there. */
HOT_FN vf signal_gaussian_offset(const signal_scheme *s, vf scaled)
{
    if (s->pedestal > 0) {
        scaled = vmax(scaled + s->pedestal, vset(0));
        scaled = vsqrt(scaled * scaled + 1);
    }
    return scaled;
}

/* The data in units of a noise: raw in units of the noise given. y: room for the volumes. */
HOT_FN void signal_scale(const signal_plan *plan, const vf *raw, vf snr, vf noise, vf *y, signal_data *data)
{
    const signal_scheme *s = &plan->scheme;
    const vf inverse = 1 / noise;
    for (int j = 0; j < s->volumes; j++)
        y[j] = signal_gaussian_offset(s, raw[j] * inverse);
    data->y0 = signal_gaussian_offset(s, snr * inverse);
    data->weight0 = plan->learned.b0_volumes;
    data->y = (const float *)y;
    data->stride = HOT_LANES_F32;
    data->snr = snr * inverse;
}

/* The exported fit of a lane: that of the most probable number of fibres, as lane `to` of the result. */
HOT_FN void signal_take_result(const signal_fits *fits, int lane, signal_result *answer, int to)
{
    int k = 0;
    for (int i = 0; i < 4; i++) {
        answer->cost[i][to] = vlane(fits->cost[i], lane);
        if (vlane(fits->cost[i], lane) < vlane(fits->cost[k], lane))
            k = i;
    }
    const signal_fit *f = &fits->fit[k];
    const float noise = vlane(fits->noise, lane);
    answer->k[to] = k;
    answer->tau[to] = k > 0 ? vlane(f->tau[0], lane) : 0;
    answer->chi[to] = vlane(f->chi, lane) * noise * noise;
    for (int i = 0; i < k; i++) {
        answer->w[i][to] = expf(vlane(f->lw[i], lane));
        for (int d = 0; d < 3; d++)
            answer->v[i][d][to] = vlane(f->v[i][d], lane);
    }
}
