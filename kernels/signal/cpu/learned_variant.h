/* A template: the block function of HOT_CONTRAST_LEARNED for one instruction set. Define HOT_VARIANT(name), then
 * include. */
#pragma GCC optimize("fp-contract=fast,no-trapping-math")
#include "signal/learned_detail.h"

void HOT_VARIANT(hot_signal_learned)(const signal_plan *plan, const float *y, const float *snr, float *scratch,
                                     signal_answer *answer, learned_detail *detail)
{
    learned_fits fits;
    vf H[4][LEARNED_PACKED];
    learned_fit_all(plan, (const vf *)y, *(const vf *)snr, (vf *)scratch, &fits, H);
    for (int lane = 0; lane < HOT_LANES_F32; lane++) {
        learned_answer(&fits, lane, answer, lane);
        for (int k = 0; detail && k < 4; k++) {
            learned_tell(k, plan->max_fibers, &fits, lane, &detail->fit[lane][k]);
            for (int a = 0; k <= plan->max_fibers && a < LEARNED_UNKNOWNS(k) * (LEARNED_UNKNOWNS(k) + 1) / 2; a++)
                detail->fit[lane][k].precision[a] = H[k][a][lane];
        }
    }
}
