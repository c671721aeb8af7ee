/* A template: the signal method's block function for one instruction set. Define HOT_VARIANT(name), then include. */
#pragma GCC optimize("fp-contract=fast,no-trapping-math")
#include "signal/signal_rule.h"

void HOT_VARIANT(hot_signal_block)(const signal_plan *plan, const float *y, const float *snr, float *scratch,
                                   signal_answer *answer)
{
    signal_data data = {.y = y, .stride = HOT_LANES_F32, .snr = *(const vf *)snr};
    signal_fits fits;
    vf cost[4];
    if (plan->prior.mixed) {
        signal_fit_all(1, &plan->scheme, &plan->grid, &plan->prior, plan->max_fibers, &data, (vf *)scratch, &fits);
        signal_costs_mixed(&plan->scheme, &plan->rule, &plan->prior, plan->max_fibers, plan->averaged, &fits, cost);
    } else {
        signal_fit_all(0, &plan->scheme, &plan->grid, &plan->prior, plan->max_fibers, &data, (vf *)scratch, &fits);
        signal_costs(&plan->rule, &plan->prior, plan->max_fibers, plan->averaged, &fits, cost);
    }
    const signal_fit *of[4] = {&fits.iso, plan->prior.mixed ? &fits.iso : &fits.one, &fits.two, &fits.three};
    for (int lane = 0; lane < HOT_LANES_F32; lane++) {
        int k = 0;
        for (int i = 0; i < 4; i++) {
            answer->cost[i][lane] = cost[i][lane];
            if (cost[i][lane] < cost[k][lane])
                k = i;
        }
        const signal_fit *f = of[k];
        answer->k[lane] = k;
        answer->tau[lane] = f->tau[lane];
        answer->chi[lane] = f->chi[lane];
        for (int i = 0; i < k; i++) {
            answer->w[i][lane] = expf(f->lw[i][lane]);
            for (int d = 0; d < 3; d++)
                answer->v[i][d][lane] = f->v[i][d][lane];
        }
    }
}
