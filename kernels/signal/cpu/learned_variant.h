/* A template: the block function of HOT_CONTRAST_LEARNED for one instruction set. Define HOT_VARIANT(name), then
 * include. */
#pragma GCC optimize("fp-contract=fast,no-trapping-math")
#include "signal/learned_block.h"

void HOT_VARIANT(hot_signal_learned)(const signal_plan *plan, const float *y, const float *snr, float *scratch,
                                     signal_answer *answer, learned_detail *detail)
{
    learned_fits fits;
    learned_fit_all(plan, (const vf *)y, *(const vf *)snr, (vf *)scratch, &fits);
    for (int lane = 0; lane < HOT_LANES_F32; lane++) {
        int k = 0;
        for (int i = 0; i < 4; i++) {
            answer->cost[i][lane] = fits.cost[i][lane];
            if (fits.cost[i][lane] < fits.cost[k][lane])
                k = i;
        }
        const learned_fit *f = &fits.fit[k];
        answer->k[lane] = k;
        answer->tau[lane] = k > 0 ? f->tau[0][lane] : 0;
        answer->chi[lane] = f->chi[lane] * fits.noise[lane] * fits.noise[lane];
        for (int i = 0; i < k; i++) {
            answer->w[i][lane] = expf(f->lw[i][lane]);
            for (int d = 0; d < 3; d++)
                answer->v[i][d][lane] = f->v[i][d][lane];
        }
        for (int i = 0; detail && i <= plan->max_fibers; i++) {
            const int n = LEARNED_UNKNOWNS(i);
            hot_signal_fit *to = &detail->fit[lane][i];
            f = &fits.fit[i];
            *to = (hot_signal_fit){.cost = fits.cost[i][lane], .chi = f->chi[lane], .noise = fits.noise[lane],
                                   .isotropic = f->iso[lane], .water = f->water[lane],
                                   .ln_diffusivity = f->ld[lane]};
            for (int fiber = 0; fiber < i; fiber++) {
                to->weight[fiber] = expf(f->lw[fiber][lane]);
                to->width[fiber] = f->tau[fiber][lane];
                for (int d = 0; d < 3; d++)
                    to->v[fiber][d] = f->v[fiber][d][lane];
            }
            for (int a = 0; a < n * (n + 1) / 2; a++)
                detail->H[lane][i][a] = fits.H[i][a][lane];
        }
    }
}
