/* The fits of HOT_CONTRAST_LEARNED in one voxel (or HOT_LANES_F32 of them): start search, fits of 0 to 3 fibres, the
 * noise of the voxel, the fits again with that. */
#ifndef HOT_SIGNAL_LEARNED_BLOCK_H
#define HOT_SIGNAL_LEARNED_BLOCK_H

#include "cpu/signal_block.h"
#include "learned_step.h"

/* Steps of the best start, and of the fits with the voxel's own noise. With much signal over the noise the isotropic
 * parts and the widths make up for each other, and steps are short there; elsewhere few are needed. */
#define LEARNED_FINISH 30
#define LEARNED_AGAIN 12

typedef struct learned_fits {
    learned_fit fit[4];
    vf cost[4];
    vf H[4][LEARNED_PACKED];
    vf noise; /* of the voxel, over the one given */
} learned_fits;

HOT_FN void learned_start(const int k, const signal_learned *p, learned_fit *f)
{
    const float iso = k ? fmaxf(p->iso, 0.05f) : 0.7f, water = k ? fmaxf(p->water[1], 0.02f) : 0.3f;
    for (int i = 0; i < k; i++) {
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
HOT_FN void learned_search(const signal_plan *plan, const learned_data *data, vf *b, learned_fits *fits)
{
    const signal_scheme *s = &plan->scheme;
    const signal_grid *grid = &plan->grid;
    const signal_learned *p = &plan->learned;
    signal_filter(s, grid, &data->signal, b);
    learned_start(0, p, &fits->fit[0]);
    learned_fit_0(s, p, data, 12, SIGNAL_TOLERANCE_LAST, &fits->fit[0], fits->H[0]);

    vf best = vset(-1e30f);
    vi at = vseti(0);
    for (int d = 0; d < SIGNAL_GRID; d++) {
        vf gain = vmax(b[d], vset(0)) * b[d] / grid->gram[d * (SIGNAL_GRID + 1)];
        vm better = gain > best;
        best = vsel(better, gain, best);
        at = vseli(better, vseti(d), at);
    }
    learned_start(1, p, &fits->fit[1]);
    signal_direction(grid, at, fits->fit[1].v[0]);
    learned_fit_1(s, p, data, 16, SIGNAL_TOLERANCE_LAST, &fits->fit[1], fits->H[1]);
    if (plan->max_fibers < 2)
        return;
    vi first[SIGNAL_CLASSES], second[SIGNAL_CLASSES];
    for (int c = 0; c < SIGNAL_CLASSES; c++) {
        learned_fit f;
        vf w[2];
        signal_best_pair(grid, c, b, &first[c], &second[c], w);
        learned_start(2, p, &f);
        signal_direction(grid, first[c], f.v[0]);
        signal_direction(grid, second[c], f.v[1]);
        learned_fit_2(s, p, data, SIGNAL_TRY, SIGNAL_TOLERANCE, &f, fits->H[2]);
        learned_keep(2, c == 0, &f, &fits->fit[2]);
    }
    learned_fit_2(s, p, data, LEARNED_FINISH, SIGNAL_TOLERANCE_LAST, &fits->fit[2], fits->H[2]);
    if (plan->max_fibers < 3)
        return;
    for (int c = 0; c < SIGNAL_CLASSES; c++) {
        learned_fit f;
        vi third;
        vf w[3];
        signal_best_third(grid, b, first[c], second[c], &third, w);
        learned_start(3, p, &f);
        signal_direction(grid, first[c], f.v[0]);
        signal_direction(grid, second[c], f.v[1]);
        signal_direction(grid, third, f.v[2]);
        learned_fit_3(s, p, data, SIGNAL_TRY, SIGNAL_TOLERANCE, &f, fits->H[3]);
        learned_keep(3, c == 0, &f, &fits->fit[3]);
    }
    learned_fit_3(s, p, data, LEARNED_FINISH, SIGNAL_TOLERANCE_LAST, &fits->fit[3], fits->H[3]);
}

/* -2 ln P(k) of all k, up to a constant. H becomes the matrix whose determinant is in it. */
HOT_FN void learned_weigh(const signal_plan *plan, const learned_data *data, learned_fits *fits)
{
    const signal_scheme *s = &plan->scheme;
    const signal_learned *p = &plan->learned;
    fits->cost[2] = fits->cost[3] = vset(1e30f);
    fits->cost[0] = learned_evidence(0, s, p, data, &fits->fit[0], fits->H[0]);
    fits->cost[1] = learned_evidence(1, s, p, data, &fits->fit[1], fits->H[1]);
    if (plan->max_fibers > 1)
        fits->cost[2] = learned_evidence(2, s, p, data, &fits->fit[2], fits->H[2]);
    if (plan->max_fibers > 2)
        fits->cost[3] = learned_evidence(3, s, p, data, &fits->fit[3], fits->H[3]);
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
        freedom += p * fmaxf(rows - LEARNED_UNKNOWNS(k), 0.25f * rows);
    }
    return (own + chi / sum) / (own + freedom / sum);
}

/* The data in units of a noise: raw in units of the noise given, in the order of the scheme and then y0. */
HOT_FN void learned_scale(const signal_scheme *s, const vf *raw, vf snr, vf noise, vf *y, learned_data *data)
{
    const vf inverse = 1 / noise;
    for (int j = 0; j <= s->volumes; j++) {
        vf scaled = (j < s->volumes ? raw[j] : snr) * inverse;
        if (s->pedestal > 0) {
            scaled = vmax(scaled + s->pedestal, vset(0));
            scaled = vsqrt(scaled * scaled + 1);
        }
        if (j < s->volumes)
            y[j] = scaled;
        else
            data->y0 = scaled;
    }
    data->signal = (signal_data){.y = (const float *)y, .stride = HOT_LANES_F32, .snr = snr * inverse};
}

/* raw: volumes vectors, signals in units of the noise given; scratch: SIGNAL_GRID + volumes vectors. */
HOT_FN void learned_fit_all(const signal_plan *plan, const vf *raw, vf snr, vf *scratch, learned_fits *fits)
{
    const signal_scheme *s = &plan->scheme;
    const signal_learned *p = &plan->learned;
    learned_data data = {.weight0 = p->b0_volumes};
    fits->noise = vset(p->noise);
    learned_scale(s, raw, snr, fits->noise, scratch + SIGNAL_GRID, &data);
    learned_search(plan, &data, scratch, fits);
    learned_weigh(plan, &data, fits);
    fits->noise *= vsqrt(learned_own_noise(plan, fits));
    learned_scale(s, raw, snr, fits->noise, scratch + SIGNAL_GRID, &data);
    learned_fit_0(s, p, &data, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST, &fits->fit[0], fits->H[0]);
    learned_fit_1(s, p, &data, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST, &fits->fit[1], fits->H[1]);
    if (plan->max_fibers > 1)
        learned_fit_2(s, p, &data, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST, &fits->fit[2], fits->H[2]);
    if (plan->max_fibers > 2)
        learned_fit_3(s, p, &data, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST, &fits->fit[3], fits->H[3]);
    learned_weigh(plan, &data, fits);
}

#endif
