/* The fits for a batch of voxels, many more than a vector has lanes. A lane takes the next fit when its own has ended,
 * so that all lanes are busy although some fits take three steps and some thirty; results do not depend on the lanes.
 * The state of a voxel is stored as scalars and gathered into vectors lane by lane. */
#pragma once

#include "signal/signal_detail.h"
#include "signal/signal_voxel.h"

enum { SIGNAL_FLOATS = sizeof(signal_fit) / sizeof(vf) };
_Static_assert((int)SIGNAL_FLOATS == (int)SIGNAL_FIT_FLOATS, "a fit is as many floats as the memory has room for");

/* Numbers of a vector's lanes: a vector's memory is that of its numbers. */
HOT_FN void signal_into_lane(const float *from, int count, vf *to, int lane)
{
    for (int i = 0; i < count; i++)
        ((float *)to)[i * HOT_LANES_F32 + lane] = from[i];
}
HOT_FN void signal_out_of_lane(const vf *from, int lane, int count, float *to)
{
    for (int i = 0; i < count; i++)
        to[i] = ((const float *)from)[i * HOT_LANES_F32 + lane];
}

/* The voxel of a lane where lanes are voxels first, first + 1 ...; those behind the last repeat it. */
HOT_FN int signal_lane_voxel(const signal_batch *batch, int first, int lane)
{
    return first + lane < batch->voxels ? first + lane : batch->voxels - 1;
}

/* `count` numbers of each voxel as vectors, and back. */
HOT_FN void signal_gather(const signal_batch *batch, const float *rows, size_t stride, int count, int first, vf *to)
{
    for (int lane = 0; lane < HOT_LANES_F32; lane++)
        signal_into_lane(rows + (size_t)signal_lane_voxel(batch, first, lane) * stride, count, to, lane);
}
HOT_FN void signal_scatter(const signal_batch *batch, const vf *from, int count, int first, size_t stride,
                            float *rows)
{
    for (int lane = 0; lane < HOT_LANES_F32 && first + lane < batch->voxels; lane++)
        signal_out_of_lane(from, lane, count, rows + (size_t)(first + lane) * stride);
}

/* The signals in units of a noise. */
HOT_FN void signal_rescale(const signal_plan *plan, const signal_batch *batch, int first, vf noise,
                            signal_data *data)
{
    const size_t volumes = (size_t)plan->scheme.volumes;
    vf snr, *columns = (vf *)batch->columns;
    signal_gather(batch, batch->snr, 1, 1, first, &snr);
    signal_gather(batch, batch->raw, volumes, plan->scheme.volumes, first, columns);
    signal_scale(plan, columns, snr, noise, columns, data);
    signal_scatter(batch, columns, plan->scheme.volumes, first, volumes, batch->scaled);
    signal_scatter(batch, &noise, 1, first, 1, batch->noise);
}

/* All starts. */
SIGNAL_CALLED void signal_begin(const signal_plan *plan, const signal_batch *batch, int first)
{
    const size_t stride = SIGNAL_SLOTS * SIGNAL_FLOATS;
    signal_data data;
    signal_start_points places;
    signal_fit f;
    memset(&f, 0, sizeof f);
    signal_rescale(plan, batch, first, vset(plan->learned.noise), &data);
    signal_find_start_points(plan, &data, (vf *)batch->columns + plan->scheme.volumes, &places);
#define SIGNAL_BEGIN(k, c)                                                                                             \
    signal_start(k, plan, &places, c, &f);                                                                             \
    signal_scatter(batch, (const vf *)&f, SIGNAL_FLOATS, first, stride,                                                \
                    batch->fits + (SIGNAL_SLOT(k) + c) * SIGNAL_FLOATS)
    SIGNAL_BEGIN(0, 0);
    SIGNAL_BEGIN(1, 0);
    for (int c = 0; c < SEPARATION_BINS; c++) {
        SIGNAL_BEGIN(2, c);
        SIGNAL_BEGIN(3, c);
    }
#undef SIGNAL_BEGIN
}

/* The fits of k fibres of all voxels, `starts` of each or (best) the best of three: up to `iterations` damped steps
 * from where they are, in place, and the matrix of the cost at the end, priors and all. A fit ends when its cost no
 * longer falls by more than `tolerance`. */
HOT_FN void signal_levenberg_marquardt(const int k, const signal_plan *plan, const signal_batch *batch, int starts,
                                       int best,
                            int iterations, float tolerance)
{
    const int n = SIGNAL_UNKNOWNS(k), packed = SIGNAL_PACKED_OF(k), volumes = plan->scheme.volumes;
    const int jobs = batch->voxels * starts;
    vf H[SIGNAL_PACKED], G[SIGNAL_MAX_PARAMS], H2[SIGNAL_PACKED], G2[SIGNAL_MAX_PARAMS], step[SIGNAL_MAX_PARAMS];
    vf dampings[SIGNAL_MAX_PARAMS], damping = vset(0);
    vi taken = vseti(0), ended = vseti(-1), idle = vseti(0); /* taken: steps; -1: the fit begins */
    signal_fit f, trial;
    signal_data data;
    int job[HOT_LANES_F32], next = 0;
    memset(&f, 0, sizeof f); /* idle lanes compute, too, with whatever numbers */
    memset(&trial, 0, sizeof trial);
    memset(H, 0, sizeof H);
    memset(G, 0, sizeof G);
    memset(job, 0, sizeof job);
    data.y = batch->columns;
    data.stride = HOT_LANES_F32;
    data.snr = data.y0 = vset(1);
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
            const float *slots = batch->fits + (voxel * SIGNAL_SLOTS + SIGNAL_SLOT(k)) * SIGNAL_FLOATS;
            const float *from = slots + next % starts * SIGNAL_FLOATS;
            const int q = (int)((float *)&f.q - (float *)&f) / HOT_LANES_F32;
            for (int c = 1; best && c < SEPARATION_BINS; c++)
                from = slots[c * SIGNAL_FLOATS + q] < from[q] ? slots + c * SIGNAL_FLOATS : from;
            signal_into_lane(from, SIGNAL_FLOATS, (vf *)&trial, lane);
            signal_into_lane(batch->scaled + (size_t)voxel * (size_t)volumes, volumes, (vf *)batch->columns, lane);
            data.snr[lane] = batch->snr[voxel] / batch->noise[voxel];
            job[lane] = next++;
            taken[lane] = -1;
        }
        if (!vany(vnot(idle)))
            break;
        data.y0 = signal_gaussian_offset(&plan->scheme, data.snr);
        signal_evaluate(k, &plan->scheme, &plan->learned, &data, &trial, H2, G2);
        const vm begins = taken < 0;
        const vf fall = f.q - trial.q;
        const vm better = begins | (fall > 0.0f);
        signal_choose(k, better, &trial, &f);
        for (int i = 0; i < packed; i++)
            H[i] = vsel(better, H2[i], H[i]);
        for (int i = 0; i < n; i++)
            G[i] = vsel(better, G2[i], G[i]);
        damping = vsel(begins, vset(0.01f), vclamp(damping * vsel(better, vset(0.2f), vset(8)), 1e-5f, 1e5f));
        vm active = begins | (fall > tolerance) | ((fall <= 0.0f) & (damping < 1e3f));
        taken += 1;
        active = active & (taken < iterations);
        signal_dampings(k, &f, G, damping, dampings);
        signal_solve(n, H, G, dampings, SIGNAL_PIVOT, step);
        vf promise = vset(0);
        HOT_UNROLL
        for (int i = 0; i < n; i++)
            promise -= step[i] * G[i];
        active = active & (promise > tolerance);
        signal_move(k, &f, step, &trial);
        ended = vnot(active) & vnot(idle);
        for (int lane = 0; vany(ended) && lane < HOT_LANES_F32; lane++) {
            if (!ended[lane])
                continue;
            const int voxel = job[lane] / starts, slot = voxel * SIGNAL_SLOTS + SIGNAL_SLOT(k) + job[lane] % starts;
            signal_out_of_lane((const vf *)&f, lane, SIGNAL_FLOATS, batch->fits + slot * SIGNAL_FLOATS);
            if (starts == 1)
                signal_out_of_lane(H, lane, packed, batch->matrices + voxel * SIGNAL_MATRICES + SIGNAL_MATRIX(k));
        }
    }
}

/* The fits of k fibres of a vector of voxels, and their matrices. */
HOT_FN void signal_gather_fit(const int k, const signal_batch *batch, int first, signal_fit *f, vf *H)
{
    signal_gather(batch, batch->fits + SIGNAL_SLOT(k) * SIGNAL_FLOATS, SIGNAL_SLOTS * SIGNAL_FLOATS, SIGNAL_FLOATS,
                   first, (vf *)f);
    signal_gather(batch, batch->matrices + SIGNAL_MATRIX(k), SIGNAL_MATRICES, SIGNAL_PACKED_OF(k), first, H);
}

/* -2 ln P(k) of a vector of voxels,
    up to a constant. Its diagonal is that of the matrix whose determinant is in it. */
HOT_FN void signal_log_evidence(const int k, const int fans, const signal_plan *plan, const signal_batch *batch,
                                int first,
                          const signal_data *data)
{
    vf H[SIGNAL_PACKED];
    signal_fit f;
    signal_gather_fit(k, batch, first, &f, H);
    const vf cost = signal_evidence(k, fans, &plan->scheme, &plan->learned, data, &f, H);
    if (fans) /* else chi does not change, and fan and fan_told are 0 from the start */
        signal_scatter(batch, (const vf *)&f, SIGNAL_FLOATS, first, SIGNAL_SLOTS * SIGNAL_FLOATS,
                        batch->fits + SIGNAL_SLOT(k) * SIGNAL_FLOATS);
    signal_scatter(batch, H, SIGNAL_PACKED_OF(k), first, SIGNAL_MATRICES, batch->matrices + SIGNAL_MATRIX(k));
    signal_scatter(batch, &cost, 1, first, 4, batch->cost + k);
}

/* The matrices of a vector of voxels without the fans' amplitudes. */
HOT_FN void signal_leave_fans(const int k, const signal_plan *plan, const signal_batch *batch, int first,
                               const signal_data *data)
{
    vf H[SIGNAL_PACKED];
    signal_fit f;
    signal_gather_fit(k, batch, first, &f, H);
    signal_fan_marginal(k, &plan->scheme, &plan->learned, data, &f, H);
    signal_scatter(batch, H, SIGNAL_PACKED_OF(k), first, SIGNAL_MATRICES, batch->matrices + SIGNAL_MATRIX(k));
}

#define SIGNAL_OF(k)                                                                                                   \
    SIGNAL_CALLED void signal_levenberg_marquardt_##k(const signal_plan *plan, const signal_batch *batch,              \
                                                      int starts, int best,                                            \
                                           int iterations, float tolerance)                                            \
    {                                                                                                                  \
        signal_levenberg_marquardt(k, plan, batch, starts, best, iterations, tolerance);                               \
    }                                                                                                                  \
    SIGNAL_CALLED void signal_log_evidence_##k(const signal_plan *plan, const signal_batch *batch, int first,          \
                                         const signal_data *data)                                                      \
    {                                                                                                                  \
        signal_log_evidence(k, 0, plan, batch, first, data);                                                           \
    }                                                                                                                  \
    SIGNAL_CALLED void signal_log_evidence_fans_##k(const signal_plan *plan, const signal_batch *batch, int first,     \
                                              const signal_data *data)                                                 \
    {                                                                                                                  \
        signal_log_evidence(k, (k) > 0, plan, batch, first, data);                                                     \
    }                                                                                                                  \
    SIGNAL_CALLED void signal_leave_fans_##k(const signal_plan *plan, const signal_batch *batch, int first,            \
                                              const signal_data *data)                                                 \
    {                                                                                                                  \
        signal_leave_fans(k, plan, batch, first, data);                                                                \
    }
SIGNAL_OF(0)
SIGNAL_OF(1)
SIGNAL_OF(2)
SIGNAL_OF(3)

/* The signals of a vector of voxels in the last fit. */
HOT_FN void signal_gather_data(const signal_plan *plan, const signal_batch *batch, int first, signal_data *data)
{
    vf noise;
    signal_gather(batch, batch->noise, 1, 1, first, &noise);
    signal_gather(batch, batch->snr, 1, 1, first, &data->snr);
    signal_gather(batch, batch->scaled, (size_t)plan->scheme.volumes, plan->scheme.volumes, first,
                   (vf *)batch->columns);
    data->y = batch->columns;
    data->stride = HOT_LANES_F32;
    data->snr /= noise;
    data->y0 = signal_gaussian_offset(&plan->scheme, data->snr);
    data->weight0 = plan->learned.b0_volumes;
}

HOT_FN void signal_log_evidence_all(const signal_plan *plan, const signal_batch *batch, int first)
{
    const int fans = plan->learned.fan > 0;
    signal_data data;
    signal_gather_data(plan, batch, first, &data);
    signal_log_evidence_0(plan, batch, first, &data);
    (fans ? signal_log_evidence_fans_1 : signal_log_evidence_1)(plan, batch, first, &data);
    if (plan->max_fibers > 1)
        (fans ? signal_log_evidence_fans_2 : signal_log_evidence_2)(plan, batch, first, &data);
    if (plan->max_fibers > 2)
        (fans ? signal_log_evidence_fans_3 : signal_log_evidence_3)(plan, batch, first, &data);
}

/* Exports the fits. */
HOT_FN void signal_leave_all_fans(const signal_plan *plan, const signal_batch *batch)
{
    signal_data data;
    for (int first = 0; first < batch->voxels; first += HOT_LANES_F32) {
        signal_gather_data(plan, batch, first, &data);
        signal_leave_fans_1(plan, batch, first, &data);
        if (plan->max_fibers > 1)
            signal_leave_fans_2(plan, batch, first, &data);
        if (plan->max_fibers > 2)
            signal_leave_fans_3(plan, batch, first, &data);
    }
}

HOT_FN void signal_read(const signal_plan *plan, const signal_batch *batch, int first, signal_fits *fits)
{
    for (int k = 0; k < 4; k++) {
        signal_gather(batch, batch->fits + SIGNAL_SLOT(k) * SIGNAL_FLOATS, SIGNAL_SLOTS * SIGNAL_FLOATS,
                       SIGNAL_FLOATS, first, (vf *)&fits->fit[k]);
        signal_gather(batch, batch->cost + k, 4, 1, first, &fits->cost[k]);
        if (k > plan->max_fibers)
            fits->cost[k] = vset(1e30f);
    }
    signal_gather(batch, batch->noise, 1, 1, first, &fits->noise);
}

HOT_FN void signal_fit_batch(const signal_plan *plan, const signal_batch *batch)
{
    signal_fits fits;
    signal_data data;
    for (int first = 0; first < batch->voxels; first += HOT_LANES_F32)
        signal_begin(plan, batch, first);
    signal_levenberg_marquardt_0(plan, batch, 1, 0, LM_MAX_ITER_K0, SIGNAL_TOLERANCE_FIRST);
    signal_levenberg_marquardt_1(plan, batch, 1, 0, LM_MAX_ITER_K1, SIGNAL_TOLERANCE_FIRST);
    if (plan->max_fibers > 1) {
        signal_levenberg_marquardt_2(plan, batch, SEPARATION_BINS, 0, LM_MAX_ITER_START, SIGNAL_TOLERANCE_START);
        signal_levenberg_marquardt_2(plan, batch, 1, 1, LM_MAX_ITER_BEST, SIGNAL_TOLERANCE_FIRST);
    }
    if (plan->max_fibers > 2) {
        signal_levenberg_marquardt_3(plan, batch, SEPARATION_BINS, 0, LM_MAX_ITER_START, SIGNAL_TOLERANCE_START);
        signal_levenberg_marquardt_3(plan, batch, 1, 1, LM_MAX_ITER_BEST, SIGNAL_TOLERANCE_FIRST);
    }
    for (int first = 0; first < batch->voxels; first += HOT_LANES_F32) {
        signal_log_evidence_all(plan, batch, first);
        signal_read(plan, batch, first, &fits);
        signal_rescale(plan, batch, first, fits.noise * vsqrt(signal_own_noise(plan, &fits)), &data);
    }
    signal_levenberg_marquardt_0(plan, batch, 1, 0, LM_MAX_ITER_REFIT, SIGNAL_TOLERANCE_LAST);
    signal_levenberg_marquardt_1(plan, batch, 1, 0, LM_MAX_ITER_REFIT, SIGNAL_TOLERANCE_LAST);
    if (plan->max_fibers > 1)
        signal_levenberg_marquardt_2(plan, batch, 1, 0, LM_MAX_ITER_REFIT, SIGNAL_TOLERANCE_LAST);
    if (plan->max_fibers > 2)
        signal_levenberg_marquardt_3(plan, batch, 1, 0, LM_MAX_ITER_REFIT, SIGNAL_TOLERANCE_LAST);
    for (int first = 0; first < batch->voxels; first += HOT_LANES_F32)
        signal_log_evidence_all(plan, batch, first);
}
