/* The fits of HOT_CONTRAST_LEARNED for a batch of voxels, many more than a vector has lanes. A lane takes the next fit
 * each time that its own has ended, so that all have a step to do although some fits take three and some thirty; which
 * fits are side by side does not change what comes out. What is known of a voxel is kept as plain numbers, and goes
 * into the vectors and out of them lane by lane. */
#ifndef HOT_SIGNAL_LEARNED_BATCH_H
#define HOT_SIGNAL_LEARNED_BATCH_H

#include "signal/learned_detail.h"
#include "signal/signal_voxel.h"

enum { LEARNED_FLOATS = sizeof(learned_fit) / sizeof(vf) };
_Static_assert((int)LEARNED_FLOATS == (int)LEARNED_FIT_FLOATS, "a fit is as many floats as the memory has room for");

/* Numbers of a vector's lanes: a vector's memory is that of its numbers. */
HOT_FN void learned_into_lane(const float *from, int count, vf *to, int lane)
{
    for (int i = 0; i < count; i++)
        ((float *)to)[i * HOT_LANES_F32 + lane] = from[i];
}
HOT_FN void learned_out_of_lane(const vf *from, int lane, int count, float *to)
{
    for (int i = 0; i < count; i++)
        to[i] = ((const float *)from)[i * HOT_LANES_F32 + lane];
}

/* The voxel of a lane where lanes are voxels first, first + 1 ...; those behind the last repeat it. */
HOT_FN int learned_voxel(const learned_batch *batch, int first, int lane)
{
    return first + lane < batch->voxels ? first + lane : batch->voxels - 1;
}

/* `count` numbers of each voxel as vectors, and back. */
HOT_FN void learned_gather(const learned_batch *batch, const float *rows, size_t stride, int count, int first, vf *to)
{
    for (int lane = 0; lane < HOT_LANES_F32; lane++)
        learned_into_lane(rows + (size_t)learned_voxel(batch, first, lane) * stride, count, to, lane);
}
HOT_FN void learned_scatter(const learned_batch *batch, const vf *from, int count, int first, size_t stride,
                            float *rows)
{
    for (int lane = 0; lane < HOT_LANES_F32 && first + lane < batch->voxels; lane++)
        learned_out_of_lane(from, lane, count, rows + (size_t)(first + lane) * stride);
}

/* The signals in units of a noise. */
HOT_FN void learned_rescale(const signal_plan *plan, const learned_batch *batch, int first, vf noise,
                            learned_data *data)
{
    const size_t volumes = (size_t)plan->scheme.volumes;
    vf snr, *columns = (vf *)batch->columns;
    learned_gather(batch, batch->snr, 1, 1, first, &snr);
    learned_gather(batch, batch->raw, volumes, plan->scheme.volumes, first, columns);
    learned_scale(plan, columns, snr, noise, columns, data);
    learned_scatter(batch, columns, plan->scheme.volumes, first, volumes, batch->scaled);
    learned_scatter(batch, &noise, 1, first, 1, batch->noise);
}

/* All starts. */
SIGNAL_CALLED void learned_begin(const signal_plan *plan, const learned_batch *batch, int first)
{
    const size_t stride = LEARNED_SLOTS * LEARNED_FLOATS;
    learned_data data;
    learned_places places;
    learned_fit f;
    memset(&f, 0, sizeof f);
    learned_rescale(plan, batch, first, vset(plan->learned.noise), &data);
    learned_find_places(plan, &data, (vf *)batch->columns + plan->scheme.volumes, &places);
#define LEARNED_BEGIN(k, c)                                                                                            \
    learned_start(k, plan, &places, c, &f);                                                                            \
    learned_scatter(batch, (const vf *)&f, LEARNED_FLOATS, first, stride,                                              \
                    batch->fits + (LEARNED_SLOT(k) + c) * LEARNED_FLOATS)
    LEARNED_BEGIN(0, 0);
    LEARNED_BEGIN(1, 0);
    for (int c = 0; c < SIGNAL_CLASSES; c++) {
        LEARNED_BEGIN(2, c);
        LEARNED_BEGIN(3, c);
    }
#undef LEARNED_BEGIN
}

/* The fits of k fibres of all voxels, `starts` of each or (best) the best of three: up to `iterations` damped steps
 * from where they are, in place, and the matrix of the cost at the end, priors and all. A fit ends when its cost no
 * longer falls by more than `tolerance`. */
HOT_FN void learned_descend(const int k, const signal_plan *plan, const learned_batch *batch, int starts, int best,
                            int iterations, float tolerance)
{
    const int n = LEARNED_UNKNOWNS(k), packed = LEARNED_PACKED_OF(k), volumes = plan->scheme.volumes;
    const int jobs = batch->voxels * starts;
    vf H[LEARNED_PACKED], G[LEARNED_MOST], H2[LEARNED_PACKED], G2[LEARNED_MOST], step[LEARNED_MOST];
    vf dampings[LEARNED_MOST], damping = vset(0);
    vi taken = vseti(0), ended = vseti(-1), idle = vseti(0); /* taken: steps; -1: the fit begins */
    learned_fit f, trial;
    learned_data data;
    int job[HOT_LANES_F32], next = 0;
    memset(&f, 0, sizeof f); /* idle lanes compute, too, with whatever numbers */
    memset(&trial, 0, sizeof trial);
    memset(H, 0, sizeof H);
    memset(G, 0, sizeof G);
    memset(job, 0, sizeof job);
    data.signal.y = batch->columns;
    data.signal.stride = HOT_LANES_F32;
    data.signal.snr = data.y0 = vset(1);
    data.weight0 = plan->learned.b0_volumes;
    for (int j = 0; j < volumes; j++)
        ((vf *)batch->columns)[j] = vset(1);
    for (;;) {
        for (int lane = 0; vany(ended) && lane < HOT_LANES_F32; lane++) {
            if (!ended[lane])
                continue;
            ended[lane] = 0;
            if (next == jobs) {
                idle[lane] = -1;
                continue;
            }
            const int voxel = next / starts;
            const float *slots = batch->fits + (voxel * LEARNED_SLOTS + LEARNED_SLOT(k)) * LEARNED_FLOATS;
            const float *from = slots + next % starts * LEARNED_FLOATS;
            const int q = (int)((float *)&f.q - (float *)&f) / HOT_LANES_F32;
            for (int c = 1; best && c < SIGNAL_CLASSES; c++)
                from = slots[c * LEARNED_FLOATS + q] < from[q] ? slots + c * LEARNED_FLOATS : from;
            learned_into_lane(from, LEARNED_FLOATS, (vf *)&trial, lane);
            learned_into_lane(batch->scaled + (size_t)voxel * (size_t)volumes, volumes, (vf *)batch->columns, lane);
            data.signal.snr[lane] = batch->snr[voxel] / batch->noise[voxel];
            job[lane] = next++;
            taken[lane] = -1;
        }
        if (!vany(vnot(idle)))
            break;
        data.y0 = learned_lift(&plan->scheme, data.signal.snr);
        learned_evaluate(k, &plan->scheme, &plan->learned, &data, &trial, H2, G2);
        const vm begins = taken < 0;
        const vf fall = f.q - trial.q;
        const vm better = begins | (fall > 0.0f);
        learned_choose(k, better, &trial, &f);
        for (int i = 0; i < packed; i++)
            H[i] = vsel(better, H2[i], H[i]);
        for (int i = 0; i < n; i++)
            G[i] = vsel(better, G2[i], G[i]);
        damping = vsel(begins, vset(0.01f), vclamp(damping * vsel(better, vset(0.2f), vset(8)), 1e-5f, 1e5f));
        vm active = begins | (fall > tolerance) | ((fall <= 0.0f) & (damping < 1e3f));
        taken += 1;
        active = active & (taken < iterations);
        learned_dampings(k, &f, G, damping, dampings);
        learned_solve(n, H, G, dampings, step);
        vf promise = vset(0);
        HOT_UNROLL
        for (int i = 0; i < n; i++)
            promise -= step[i] * G[i];
        active = active & (promise > tolerance);
        learned_move(k, &f, step, &trial);
        ended = vnot(active) & vnot(idle);
        for (int lane = 0; vany(ended) && lane < HOT_LANES_F32; lane++) {
            if (!ended[lane])
                continue;
            const int voxel = job[lane] / starts, slot = voxel * LEARNED_SLOTS + LEARNED_SLOT(k) + job[lane] % starts;
            learned_out_of_lane((const vf *)&f, lane, LEARNED_FLOATS, batch->fits + slot * LEARNED_FLOATS);
            if (starts == 1)
                learned_out_of_lane(H, lane, packed, batch->matrices + voxel * LEARNED_MATRICES + LEARNED_MATRIX(k));
        }
    }
}

/* -2 ln P(k) of a vector of voxels, up to a constant. Its diagonal is that of the matrix whose determinant is in it. */
HOT_FN void learned_weigh(const int k, const signal_plan *plan, const learned_batch *batch, int first,
                          const learned_data *data)
{
    vf H[LEARNED_PACKED];
    learned_fit f;
    learned_gather(batch, batch->fits + LEARNED_SLOT(k) * LEARNED_FLOATS, LEARNED_SLOTS * LEARNED_FLOATS,
                   LEARNED_FLOATS, first, (vf *)&f);
    learned_gather(batch, batch->matrices + LEARNED_MATRIX(k), LEARNED_MATRICES, LEARNED_PACKED_OF(k), first, H);
    const vf cost = learned_evidence(k, &plan->scheme, &plan->learned, data, &f, H);
    learned_scatter(batch, H, LEARNED_PACKED_OF(k), first, LEARNED_MATRICES, batch->matrices + LEARNED_MATRIX(k));
    learned_scatter(batch, &cost, 1, first, 4, batch->cost + k);
}

#define LEARNED_OF(k)                                                                                                  \
    SIGNAL_CALLED void learned_descend_##k(const signal_plan *plan, const learned_batch *batch, int starts, int best,  \
                                           int iterations, float tolerance)                                            \
    {                                                                                                                  \
        learned_descend(k, plan, batch, starts, best, iterations, tolerance);                                          \
    }                                                                                                                  \
    SIGNAL_CALLED void learned_weigh_##k(const signal_plan *plan, const learned_batch *batch, int first,               \
                                         const learned_data *data)                                                     \
    {                                                                                                                  \
        learned_weigh(k, plan, batch, first, data);                                                                    \
    }
LEARNED_OF(0)
LEARNED_OF(1)
LEARNED_OF(2)
LEARNED_OF(3)

HOT_FN void learned_weigh_all(const signal_plan *plan, const learned_batch *batch, int first)
{
    vf noise;
    learned_data data;
    learned_gather(batch, batch->noise, 1, 1, first, &noise);
    learned_gather(batch, batch->snr, 1, 1, first, &data.signal.snr);
    learned_gather(batch, batch->scaled, (size_t)plan->scheme.volumes, plan->scheme.volumes, first,
                   (vf *)batch->columns);
    data.signal.y = batch->columns;
    data.signal.stride = HOT_LANES_F32;
    data.signal.snr /= noise;
    data.y0 = learned_lift(&plan->scheme, data.signal.snr);
    data.weight0 = plan->learned.b0_volumes;
    learned_weigh_0(plan, batch, first, &data);
    learned_weigh_1(plan, batch, first, &data);
    if (plan->max_fibers > 1)
        learned_weigh_2(plan, batch, first, &data);
    if (plan->max_fibers > 2)
        learned_weigh_3(plan, batch, first, &data);
}

HOT_FN void learned_read(const signal_plan *plan, const learned_batch *batch, int first, learned_fits *fits)
{
    for (int k = 0; k < 4; k++) {
        learned_gather(batch, batch->fits + LEARNED_SLOT(k) * LEARNED_FLOATS, LEARNED_SLOTS * LEARNED_FLOATS,
                       LEARNED_FLOATS, first, (vf *)&fits->fit[k]);
        learned_gather(batch, batch->cost + k, 4, 1, first, &fits->cost[k]);
        if (k > plan->max_fibers)
            fits->cost[k] = vset(1e30f);
    }
    learned_gather(batch, batch->noise, 1, 1, first, &fits->noise);
}

HOT_FN void learned_fit_batch(const signal_plan *plan, const learned_batch *batch)
{
    learned_fits fits;
    learned_data data;
    for (int first = 0; first < batch->voxels; first += HOT_LANES_F32)
        learned_begin(plan, batch, first);
    learned_descend_0(plan, batch, 1, 0, LEARNED_NONE, SIGNAL_TOLERANCE_LAST);
    learned_descend_1(plan, batch, 1, 0, LEARNED_ONE, SIGNAL_TOLERANCE_LAST);
    if (plan->max_fibers > 1) {
        learned_descend_2(plan, batch, SIGNAL_CLASSES, 0, LEARNED_TRY, SIGNAL_TOLERANCE);
        learned_descend_2(plan, batch, 1, 1, LEARNED_FINISH, SIGNAL_TOLERANCE_LAST);
    }
    if (plan->max_fibers > 2) {
        learned_descend_3(plan, batch, SIGNAL_CLASSES, 0, LEARNED_TRY, SIGNAL_TOLERANCE);
        learned_descend_3(plan, batch, 1, 1, LEARNED_FINISH, SIGNAL_TOLERANCE_LAST);
    }
    for (int first = 0; first < batch->voxels; first += HOT_LANES_F32) {
        learned_weigh_all(plan, batch, first);
        learned_read(plan, batch, first, &fits);
        learned_rescale(plan, batch, first, fits.noise * vsqrt(learned_own_noise(plan, &fits)), &data);
    }
    learned_descend_0(plan, batch, 1, 0, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST);
    learned_descend_1(plan, batch, 1, 0, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST);
    if (plan->max_fibers > 1)
        learned_descend_2(plan, batch, 1, 0, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST);
    if (plan->max_fibers > 2)
        learned_descend_3(plan, batch, 1, 0, LEARNED_AGAIN, SIGNAL_TOLERANCE_LAST);
    for (int first = 0; first < batch->voxels; first += HOT_LANES_F32)
        learned_weigh_all(plan, batch, first);
}

#endif
