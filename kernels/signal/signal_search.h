/* Where fits begin: matched filters of the directions of a grid, and the best pairs and triples of these. One voxel, or
 * HOT_LANES_F32 of them. */
#pragma once

#include "signal/signal_math.h"

/* b[at * stride] of each lane */
HOT_FN vf signal_pick(const vf *b, const int stride, vi at)
{
#ifdef __CUDACC__
    return b[at * stride];
#else
    vf r;
    for (int i = 0; i < HOT_LANES_F32; i++)
        r[i] = b[at[i] * stride][i];
    return r;
#endif
}

HOT_FN void signal_direction(const signal_grid *grid, vi at, vf v[3])
{
    for (int d = 0; d < 3; d++)
        v[d] = vgather(grid->v + d, 3 * at);
}

/* A signal without the magnitude's bias and the pedestal. */
HOT_FN vf signal_lower(const signal_scheme *s, vf y) { return vsqrt(vmax(y * y - 1, vset(0))) - s->pedestal; }

/* Matched filter of the grid's directions: b_d = sum_j R_j(v_d) y_j. */
HOT_FN void signal_filter(const signal_scheme *s, const signal_grid *grid, const signal_data *data, vf *b)
{
    const int n = s->volumes;
    for (int d = 0; d < SIGNAL_GRID; d += 4) {
        const float *row = grid->filter + (size_t)d * n;
        vf a0 = vset(0), a1 = vset(0), a2 = vset(0), a3 = vset(0);
        for (int j = 0; j < n; j++) {
            vf y = signal_lower(s, signal_signal(data, j));
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

/* The weights of a pair, of whose Gram matrix elements 11, 22 and 12 of the inverse are given, and what they explain;
 * returns whether this is more than `best`. */
HOT_FN vm signal_pair(const float inverse[3], vf b1, vf b2, vf best, vf *w1, vf *w2, vf *gain)
{
    *w1 = inverse[0] * b1 + inverse[2] * b2;
    *w2 = inverse[2] * b1 + inverse[1] * b2;
    *gain = *w1 * b1 + *w2 * b2;
    return (*gain > best) & (*w1 > 0.0f) & (*w2 > 0.0f);
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
        vf w1, w2, gain;
        vm better = signal_pair(inverse + 3 * p, b1, b2, best, &w1, &w2, &gain);
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

/* The third direction that goes best with a pair, and the weights of the three. The filter of direction d is at
 * b[d * stride]. */
HOT_FN void signal_best_third(const signal_grid *grid, const vf *b, const int stride, vi first, vi second, vi *third,
                              vf w[3])
{
    const float r = SIGNAL_RIDGE * 2 / 3, s = SIGNAL_RIDGE / 3;
    vf g11 = vgather(grid->gram, first * (SIGNAL_GRID + 1)) + r;
    vf g22 = vgather(grid->gram, second * (SIGNAL_GRID + 1)) + r;
    vf g12 = vgather(grid->gram, first * SIGNAL_GRID + second) - s;
    vf b1 = signal_pick(b, stride, first), b2 = signal_pick(b, stride, second);
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
        vf over = b[d * stride] - b1 * x1 - b2 * x2;
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
