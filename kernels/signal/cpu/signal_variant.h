/* A template: the fits of a batch for one instruction set. Define HOT_VARIANT(name), then include. */
#pragma GCC optimize("fp-contract=fast,no-trapping-math")
#include "signal/cpu/signal_batch.h"

void HOT_VARIANT(hot_signal_batch)(const signal_plan *plan, const signal_batch *batch, signal_result *answers,
                                     hot_signal_fit *told)
{
    signal_fit_batch(plan, batch);
    if (told && plan->learned.fan > 0)
        signal_leave_all_fans(plan, batch);
    for (int first = 0; first < batch->voxels; first += HOT_LANES_F32) {
        signal_fits fits;
        signal_read(plan, batch, first, &fits);
        for (int lane = 0; lane < HOT_LANES_F32 && first + lane < batch->voxels; lane++) {
            const int voxel = first + lane;
            signal_take_result(&fits, lane, &answers[voxel / SIGNAL_MAX_LANES], voxel % SIGNAL_MAX_LANES);
            for (int k = 0; told && k < 4; k++)
                signal_export_fit(k, plan->max_fibers, &fits, lane,
                             batch->matrices + voxel * SIGNAL_MATRICES + SIGNAL_MATRIX(k), &told[4 * voxel + k]);
        }
    }
}
