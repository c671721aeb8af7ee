/* A template: the tensors' block function for one instruction set. Define HOT_VARIANT(name), then include. */
#pragma GCC optimize("fp-contract=fast,no-trapping-math")
#include "lowrank_exact.h"

void HOT_VARIANT(hot_lowrank)(const lowrank_plan *plan, const float *tensor, float *scratch, lowrank_answer *answer)
{
    lowrank_terms best;
    vi chosen;
    if (plan->order == 4)
        lowrank_find_best(plan, 4, (const vf *)tensor, (vf *)scratch, &best, &chosen);
    else if (plan->order == 6)
        lowrank_find_best(plan, 6, (const vf *)tensor, (vf *)scratch, &best, &chosen);
    else
        lowrank_find_best(plan, 8, (const vf *)tensor, (vf *)scratch, &best, &chosen);
    for (int lane = 0; lane < HOT_LANES_F32; lane++) {
        answer->k[lane] = chosen[lane];
        answer->residual[lane] = sqrtf(best.e[lane]);
        for (int i = 0; i < 3; i++) {
            answer->w[i][lane] = best.w[i][lane];
            for (int d = 0; d < 3; d++)
                answer->v[i][d][lane] = best.v[i][d][lane];
        }
    }
}
