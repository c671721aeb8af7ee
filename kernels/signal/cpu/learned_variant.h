/* A template: the functions of HOT_CONTRAST_LEARNED for one instruction set. Define HOT_VARIANT(name), then include. */
#pragma GCC optimize("fp-contract=fast,no-trapping-math")
#include "signal/cpu/learned_batch.h"

void HOT_VARIANT(hot_signal_learned)(const signal_plan *plan, const learned_batch *batch, signal_answer *answers,
                                     hot_signal_fit *told)
{
    learned_fit_batch(plan, batch);
    for (int first = 0; first < batch->voxels; first += HOT_LANES_F32) {
        learned_fits fits;
        learned_read(plan, batch, first, &fits);
        for (int lane = 0; lane < HOT_LANES_F32 && first + lane < batch->voxels; lane++) {
            const int voxel = first + lane;
            learned_answer(&fits, lane, &answers[voxel / SIGNAL_MAX_LANES], voxel % SIGNAL_MAX_LANES);
            for (int k = 0; told && k < 4; k++)
                learned_tell(k, plan->max_fibers, &fits, lane,
                             batch->matrices + voxel * LEARNED_MATRICES + LEARNED_MATRIX(k), &told[4 * voxel + k]);
        }
    }
}
