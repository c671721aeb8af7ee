/* One voxel (or HOT_LANES_F32 of them): start search, then the fits of 0 to 3 fibres. */
#ifndef HOT_SIGNAL_BLOCK_H
#define HOT_SIGNAL_BLOCK_H

#include "signal/signal_step.h"

/* A fit ends when a step promises to lower its cost by less than this (1 is a factor of e^(1/2) in probability); the
 * second is for fits that are the answer. */
#define SIGNAL_TOLERANCE 3e-3f
#define SIGNAL_TOLERANCE_LAST 3e-4f

/* Steps that every start is given, and those of the best start after that. */
#define SIGNAL_TRY 7
#define SIGNAL_FINISH 12

/* What is isotropic makes one fibre alone as wide as can be, and from there its weight would not shrink: the fit of a
 * fibre and something isotropic starts no wider than this. */
#define SIGNAL_ISO_TAU 0.03f

/* All fits of a voxel. */
typedef struct signal_fits {
    vf isotropic;        /* the isotropic part of the first shell's signal in the fit iso, in S0 */
    signal_fit one, iso, two, three;
    vf logdet[4];        /* of one, iso, two, three: ln det of the Fisher matrix */
    vf more[4];          /* likewise: how much the other optima of that k lower -2 ln of the evidence */
} signal_fits;

/* b[at] of each lane */
HOT_FN vf signal_pick(const vf *b, vi at)
{
#ifdef __CUDACC__
    return b[at];
#else
    vf r;
    for (int i = 0; i < HOT_LANES_F32; i++)
        r[i] = b[at[i]][i];
    return r;
#endif
}

HOT_FN void signal_direction(const signal_grid *grid, vi at, vf v[3])
{
    for (int d = 0; d < 3; d++)
        v[d] = vgather(grid->v + d, 3 * at);
}

/* Matched filter of the grid's directions: b_d = sum_j R_j(v_d) y_j, with the magnitude's bias and the
 * pedestal taken off y. */
HOT_FN void signal_filter(const signal_scheme *s, const signal_grid *grid, const signal_data *data, vf *b)
{
    const int n = s->volumes;
    for (int d = 0; d < SIGNAL_GRID; d += 4) {
        const float *row = grid->filter + (size_t)d * n;
        vf a0 = vset(0), a1 = vset(0), a2 = vset(0), a3 = vset(0);
        for (int j = 0; j < n; j++) {
            vf y = signal_signal(data, j);
            y = vsqrt(vmax(y * y - 1, vset(0))) - s->pedestal;
            a0 += row[j] * y;
            a1 += row[n + j] * y;
            a2 += row[2 * n + j] * y;
            a3 += row[3 * n + j] * y;
        }
        b[d] = a0;
        b[d + 1] = a1;
        b[d + 2] = a2;
        b[d + 3] = a3;
    }
}

/* The best pair of grid directions of one class of separations, with its weights. */
HOT_FN void signal_best_pair(const signal_grid *grid, int separation, const vf *b, vi *first, vi *second, vf w[2])
{
    const int *at = grid->pair_at[separation];
    const float *inverse = grid->pair_inverse[separation];
    vf best = vset(-1e30f);
    vi where = vseti(0);
    w[0] = w[1] = vset(1);
    for (int p = 0; p < grid->pairs[separation]; p++) {
        vf b1 = b[at[2 * p]], b2 = b[at[2 * p + 1]];
        vf w1 = inverse[3 * p] * b1 + inverse[3 * p + 2] * b2;
        vf w2 = inverse[3 * p + 2] * b1 + inverse[3 * p + 1] * b2;
        vf gain = w1 * b1 + w2 * b2;
        vm better = (gain > best) & (w1 > 0.0f) & (w2 > 0.0f);
        best = vsel(better, gain, best);
        where = vseli(better, vseti(p), where);
        w[0] = vsel(better, w1, w[0]);
        w[1] = vsel(better, w2, w[1]);
    }
#ifdef __CUDACC__
    *first = at[2 * where];
    *second = at[2 * where + 1];
#else
    for (int i = 0; i < HOT_LANES_F32; i++) {
        (*first)[i] = at[2 * where[i]];
        (*second)[i] = at[2 * where[i] + 1];
    }
#endif
}

/* The third direction that goes best with a pair, and the weights of the three. */
HOT_FN void signal_best_third(const signal_grid *grid, const vf *b, vi first, vi second, vi *third, vf w[3])
{
    const float r = SIGNAL_RIDGE * 2 / 3, s = SIGNAL_RIDGE / 3;
    vf g11 = vgather(grid->gram, first * (SIGNAL_GRID + 1)) + r;
    vf g22 = vgather(grid->gram, second * (SIGNAL_GRID + 1)) + r;
    vf g12 = vgather(grid->gram, first * SIGNAL_GRID + second) - s;
    vf b1 = signal_pick(b, first), b2 = signal_pick(b, second);
    vf idet = 1 / (g11 * g22 - g12 * g12);
    vf i11 = g22 * idet, i22 = g11 * idet, i12 = -g12 * idet;
    vf p1 = i11 * b1 + i12 * b2, p2 = i12 * b1 + i22 * b2;
    vf best = vset(-1e30f);
    *third = vseti(0);
    w[0] = p1;
    w[1] = p2;
    w[2] = vset(0.1f);
    for (int d = 0; d < SIGNAL_GRID; d++) {
        const float own = grid->gram[d * (SIGNAL_GRID + 1)];
        vf c1 = vgather(grid->gram + d * SIGNAL_GRID, first) - s,
           c2 = vgather(grid->gram + d * SIGNAL_GRID, second) - s;
        vf x1 = i11 * c1 + i12 * c2, x2 = i12 * c1 + i22 * c2;
        vf rest = own + r - c1 * x1 - c2 * x2;
        vf over = b[d] - b1 * x1 - b2 * x2;
        vf w3 = over * vrcp(rest);
        vf w1 = p1 - w3 * x1, w2 = p2 - w3 * x2;
        vf gain = w3 * over;
        vm better = (gain > best) & (w3 > 0.0f) & (w1 > 0.0f) & (w2 > 0.0f) & (rest > 0.05f * own);
        best = vsel(better, gain, best);
        *third = vseli(better, vseti(d), *third);
        w[0] = vsel(better, w1, w[0]);
        w[1] = vsel(better, w2, w[1]);
        w[2] = vsel(better, w3, w[2]);
    }
}

HOT_FN void signal_start(const signal_data *data, const int k, const vf *w, signal_fit *f)
{
    for (int i = 0; i < k; i++)
        f->lw[i] = vlog(vclamp(w[i] / data->snr, 0.02f, 2));
    f->tau = f->lc = f->d = f->q = f->chi = vset(0);
}

/* Keeps the better of two fits of k fibres; cost[c] are the costs of all of them. */
HOT_FN void signal_keep(const int k, int first_one, const signal_fit *f, vf logdet, signal_fit *best, vf *best_logdet)
{
    if (first_one) { /* there is nothing to compare with yet */
        for (int i = 0; i < k; i++) {
            for (int d = 0; d < 3; d++)
                best->v[i][d] = f->v[i][d];
            best->lw[i] = f->lw[i];
        }
        best->tau = f->tau, best->lc = f->lc, best->d = f->d, best->q = f->q, best->chi = f->chi;
        *best_logdet = logdet;
        return;
    }
    vm better = f->q < best->q;
    signal_choose(k, better, f, best);
    *best_logdet = vsel(better, logdet, *best_logdet);
}

/* -2 ln of how much more the evidence is for the optima beside the best. Costs within .3 of the best are the best
 * again. */
HOT_FN vf signal_more(const vf *cost, vf best)
{
    vf sum = vset(1);
    for (int c = 0; c < SIGNAL_CLASSES; c++)
        sum += vsel(cost[c] > best + 0.3f, vexp(0.5f * (best - cost[c])), vset(0));
    return -2 * vlog(sum);
}

HOT_FN void signal_fit_all(const int mixed, const signal_scheme *s, const signal_grid *grid, const signal_prior *prior,
                           int max_fibers, const signal_data *data, vf *b, signal_fits *fits)
{
    signal_filter(s, grid, data, b);

    /* One fibre, from the best direction of the grid. */
    vf best = vset(-1e30f);
    vi at = vseti(0);
    for (int d = 0; d < SIGNAL_GRID; d++) {
        vf gain = vmax(b[d], vset(0)) * b[d] / grid->gram[d * (SIGNAL_GRID + 1)];
        vm better = gain > best;
        best = vsel(better, gain, best);
        at = vseli(better, vseti(d), at);
    }
    signal_direction(grid, at, fits->one.v[0]);
    vf w1 = vset(0.7f) * data->snr;
    signal_start(data, 1, &w1, &fits->one);
    fits->logdet[0] = signal_descend(1, 0, s, prior, data, 12, SIGNAL_TOLERANCE_LAST, &fits->one);

    /* One fibre and something isotropic: what a voxel without fibres looks like. */
    fits->iso = fits->one;
    fits->iso.lw[0] = fits->one.lw[0] - 0.7f;
    fits->iso.tau = vmin(fits->one.tau, vset(SIGNAL_ISO_TAU));
    fits->iso.lc = vset(-1 - s->b[0]);
    fits->iso.d = vset(1);
    fits->logdet[1] = signal_descend(1, 2, s, prior, data, 12, SIGNAL_TOLERANCE_LAST, &fits->iso);
    fits->isotropic = vexp(fits->iso.lc);

    fits->more[0] = fits->more[1] = fits->more[2] = fits->more[3] = vset(0);
    if (max_fibers < 2)
        return;
    vi first[SIGNAL_CLASSES], second[SIGNAL_CLASSES];
    vf cost[SIGNAL_CLASSES];
    for (int c = 0; c < SIGNAL_CLASSES; c++) {
        signal_fit f;
        vf w[2];
        signal_best_pair(grid, c, b, &first[c], &second[c], w);
        signal_direction(grid, first[c], f.v[0]);
        signal_direction(grid, second[c], f.v[1]);
        signal_start(data, 2, w, &f);
        f.lc = fits->iso.lc;
        f.d = fits->iso.d;
        vf logdet = signal_descend(2, mixed, s, prior, data, SIGNAL_TRY, SIGNAL_TOLERANCE, &f);
        cost[c] = f.q;
        signal_keep(2, c == 0, &f, logdet, &fits->two, &fits->logdet[2]);
    }
    fits->logdet[2] = signal_descend(2, mixed, s, prior, data, SIGNAL_FINISH, SIGNAL_TOLERANCE_LAST, &fits->two);
    fits->more[2] = signal_more(cost, fits->two.q);
    if (max_fibers < 3)
        return;
    for (int c = 0; c < SIGNAL_CLASSES; c++) {
        signal_fit f;
        vi third;
        vf w[3];
        signal_best_third(grid, b, first[c], second[c], &third, w);
        signal_direction(grid, first[c], f.v[0]);
        signal_direction(grid, second[c], f.v[1]);
        signal_direction(grid, third, f.v[2]);
        signal_start(data, 3, w, &f);
        f.lc = fits->iso.lc - 0.7f; /* one fibre leaves more to it */
        f.d = fits->iso.d;
        vf logdet = signal_descend(3, mixed, s, prior, data, SIGNAL_TRY, SIGNAL_TOLERANCE, &f);
        cost[c] = f.q;
        signal_keep(3, c == 0, &f, logdet, &fits->three, &fits->logdet[3]);
    }
    fits->logdet[3] = signal_descend(3, mixed, s, prior, data, SIGNAL_FINISH, SIGNAL_TOLERANCE_LAST, &fits->three);
    fits->more[3] = signal_more(cost, fits->three.q);
}

#endif
