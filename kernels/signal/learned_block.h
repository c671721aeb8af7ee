/* The fits of HOT_CONTRAST_LEARNED in one voxel (or HOT_LANES_F32 of them): start search, fits of 0 to 3 fibres, the
 * noise of the voxel, the fits again with that. */
#ifndef HOT_SIGNAL_LEARNED_BLOCK_H
#define HOT_SIGNAL_LEARNED_BLOCK_H

#include "cpu/signal_block.h"
#include "learned_step.h"

/* Steps of the fits of none and of one fibre, of the best start of more, and of all with the voxel's own noise. With
 * much signal over the noise the isotropic parts and the widths make up for each other, and steps are short there;
 * elsewhere few are needed. */
#define LEARNED_NONE 12
#define LEARNED_ONE 16
#define LEARNED_FINISH 30
#define LEARNED_AGAIN 12

typedef struct learned_fits {
    learned_fit fit[4];
    vf cost[4];
    vf noise; /* of the voxel, over the one given */
} learned_fits;

/* Where the fits begin: directions of the grid for one fibre, and for two and three of each class of separations. */
typedef struct learned_places {
    vi one, first[SIGNAL_CLASSES], second[SIGNAL_CLASSES], third[SIGNAL_CLASSES];
} learned_places;

/* b: SIGNAL_GRID vectors of scratch. */
HOT_FN void learned_find_places(const signal_plan *plan, const learned_data *data, vf *b, learned_places *places)
{
    const signal_grid *grid = &plan->grid;
    signal_filter(&plan->scheme, grid, &data->signal, b);
    vf best = vset(-1e30f);
    vi at = vseti(0);
    for (int d = 0; d < SIGNAL_GRID; d++) {
        vf gain = vmax(b[d], vset(0)) * b[d] / grid->gram[d * (SIGNAL_GRID + 1)];
        vm better = gain > best;
        best = vsel(better, gain, best);
        at = vseli(better, vseti(d), at);
    }
    places->one = at;
    for (int c = 0; c < SIGNAL_CLASSES; c++) {
        vf w[3];
        places->first[c] = places->second[c] = places->third[c] = at;
        if (plan->max_fibers > 1)
            signal_best_pair(grid, c, b, &places->first[c], &places->second[c], w);
        if (plan->max_fibers > 2)
            signal_best_third(grid, b, places->first[c], places->second[c], &places->third[c], w);
    }
}

/* The start of k fibres, of two and three the one of class c. */
HOT_FN void learned_start(const int k, const signal_plan *plan, const learned_places *places, int c, learned_fit *f)
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
    f->q = f->chi = vset(0);
}

#define LEARNED_FIT(k)                                                                                                 \
    SIGNAL_CALLED void learned_fit_##k(const signal_scheme *s, const signal_learned *p, const learned_data *data,      \
                                       int iterations, float tolerance, learned_fit *f, vf *H)                         \
    {                                                                                                                  \
        learned_descend(k, s, p, data, iterations, tolerance, f, H);                                                   \
    }
LEARNED_FIT(0)
LEARNED_FIT(1)
LEARNED_FIT(2)
LEARNED_FIT(3)

/* Of two fits of k fibres the better one; the first has nothing to be compared with. */
HOT_FN void learned_keep(const int k, int is_first, const learned_fit *f, learned_fit *best)
{
    if (is_first)
        *best = *f;
    else
        learned_choose(k, f->q < best->q, f, best);
}

/* All k from their starts. b: SIGNAL_GRID vectors of scratch. */
HOT_FN void learned_search(const signal_plan *plan, const learned_data *data, vf *b, learned_fits *fits,
                           vf H[4][LEARNED_PACKED])
{
    const signal_scheme *s = &plan->scheme;
    const signal_learned *p = &plan->learned;
    learned_places places;
    learned_find_places(plan, data, b, &places);
    learned_start(0, plan, &places, 0, &fits->fit[0]);
    learned_fit_0(s, p, data, LEARNED_NONE, SIGNAL_TOLERANCE_LAST, &fits->fit[0], H[0]);
    learned_start(1, plan, &places, 0, &fits->fit[1]);
    learned_fit_1(s, p, data, LEARNED_ONE, SIGNAL_TOLERANCE_LAST, &fits->fit[1], H[1]);
    if (plan->max_fibers < 2)
        return;
    for (int c = 0; c < SIGNAL_CLASSES; c++) {
        learned_fit f;
        learned_start(2, plan, &places, c, &f);
        learned_fit_2(s, p, data, SIGNAL_TRY, SIGNAL_TOLERANCE, &f, H[2]);
        learned_keep(2, c == 0, &f, &fits->fit[2]);
    }
    learned_fit_2(s, p, data, LEARNED_FINISH, SIGNAL_TOLERANCE_LAST, &fits->fit[2], H[2]);
    if (plan->max_fibers < 3)
        return;
    for (int c = 0; c < SIGNAL_CLASSES; c++) {
        learned_fit f;
        learned_start(3, plan, &places, c, &f);
        learned_fit_3(s, p, data, SIGNAL_TRY, SIGNAL_TOLERANCE, &f, H[3]);
        learned_keep(3, c == 0, &f, &fits->fit[3]);
    }
    learned_fit_3(s, p, data, LEARNED_FINISH, SIGNAL_TOLERANCE_LAST, &fits->fit[3], H[3]);
}

/* -2 ln P(k) of all k, up to a constant. H becomes the matrix whose determinant is in it. */
HOT_FN void learned_weigh(const signal_plan *plan, const learned_data *data, learned_fits *fits,
                          vf H[4][LEARNED_PACKED])
{
    const signal_scheme *s = &plan->scheme;
    const signal_learned *p = &plan->learned;
    fits->cost[2] = fits->cost[3] = vset(1e30f);
    fits->cost[0] = learned_evidence(0, s, p, data, &fits->fit[0], H[0]);
    fits->cost[1] = learned_evidence(1, s, p, data, &fits->fit[1], H[1]);
    if (plan->max_fibers > 1)
        fits->cost[2] = learned_evidence(2, s, p, data, &fits->fit[2], H[2]);
    if (plan->max_fibers > 2)
        fits->cost[3] = learned_evidence(3, s, p, data, &fits->fit[3], H[3]);
}

/* The voxel's variance over the one of the fits: what these leave over, on average over k, drawn to the usual noise. */
HOT_FN vf learned_own_noise(const signal_plan *plan, const learned_fits *fits)
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

/* A signal as the fits take it, on the pedestal of Gaussian noise (signal_lift). */
HOT_FN vf learned_lift(const signal_scheme *s, vf scaled)
{
    if (s->pedestal > 0) {
        scaled = vmax(scaled + s->pedestal, vset(0));
        scaled = vsqrt(scaled * scaled + 1);
    }
    return scaled;
}

/* The data in units of a noise: raw in units of the noise given. y: room for the volumes. */
HOT_FN void learned_scale(const signal_plan *plan, const vf *raw, vf snr, vf noise, vf *y, learned_data *data)
{
    const signal_scheme *s = &plan->scheme;
    const vf inverse = 1 / noise;
    for (int j = 0; j < s->volumes; j++)
        y[j] = learned_lift(s, raw[j] * inverse);
    data->y0 = learned_lift(s, snr * inverse);
    data->weight0 = plan->learned.b0_volumes;
    data->signal.y = (const float *)y;
    data->signal.stride = HOT_LANES_F32;
    data->signal.snr = snr * inverse;
}

/* raw: volumes vectors, signals in units of the noise given; scratch: SIGNAL_GRID + volumes vectors. */
HOT_FN void learned_fit_all(const signal_plan *plan, const vf *raw, vf snr, vf *scratch, learned_fits *fits,
                            vf H[4][LEARNED_PACKED])
{
    const signal_scheme *s = &plan->scheme;
    const signal_learned *p = &plan->learned;
    learned_data data;
    fits->noise = vset(p->noise);
    learned_scale(plan, raw, snr, fits->noise, scratch + SIGNAL_GRID, &data);
    learned_search(plan, &data, scratch, fits, H);
    learned_weigh(plan, &data, fits, H);
    fits->noise *= vsqrt(learned_own_noise(plan, fits));
    learned_scale(plan, raw, snr, fits->noise, scratch + SIGNAL_GRID, &data);
    learned_fit_0(s, p, &data, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST, &fits->fit[0], H[0]);
    learned_fit_1(s, p, &data, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST, &fits->fit[1], H[1]);
    if (plan->max_fibers > 1)
        learned_fit_2(s, p, &data, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST, &fits->fit[2], H[2]);
    if (plan->max_fibers > 2)
        learned_fit_3(s, p, &data, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST, &fits->fit[3], H[3]);
    learned_weigh(plan, &data, fits, H);
}

/* What is told of a lane: the fit of the most probable number of fibres, as lane `to` of the answer. */
HOT_FN void learned_answer(const learned_fits *fits, int lane, signal_answer *answer, int to)
{
    int k = 0;
    for (int i = 0; i < 4; i++) {
        answer->cost[i][to] = vlane(fits->cost[i], lane);
        if (vlane(fits->cost[i], lane) < vlane(fits->cost[k], lane))
            k = i;
    }
    const learned_fit *f = &fits->fit[k];
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

#endif
