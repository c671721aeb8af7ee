/* The diffusion tensor as everybody fits it: order 2, ln S0 and D together by weighted least squares, from the b-values
 * at which the logarithm of the signal is nearly straight. */

#include "common/arguments.h"
#include "dwi/scheme.h"
#include "common/entry.h"
#include "dwi/select.h"
#include "model.h"

/* Tolerance of a shell's b-values: 1545 belongs to the shell of b=1500. */
static const double slack = 1.05;

hot_status hot_diffusion_tensor_fit(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, double b_max,
                                    hot_tensor_field **field)
{
    HOT_ENTRY(context);
    HOT_CLEAR(field);
    HOT_NEED(context, dwi, field);
    const double *shell_b;
    const int *shell_of;
    const size_t shells = hot_dwi_shells(dwi, &shell_b, &shell_of);
    size_t last = 0, count = 0;
    int supports = 0;
    size_t *volume = hot_context_alloc(context, dwi->volumes, sizeof *volume);
    double *gradients = hot_context_alloc(context, dwi->volumes, 3 * sizeof *gradients);
    hot_dwi *view = NULL;
    hot_status status = volume && gradients ? HOT_OK : HOT_ERROR_MEMORY;
    /* The shells up to b_max; more of them, the lowest first, until they determine a tensor. */
    while (last + 1 < shells && shell_b[last + 1] <= slack * b_max)
        last++;
    for (; status == HOT_OK && !supports && last < shells; last++) {
        size_t weighted = 0;
        count = 0;
        for (size_t v = 0; v < dwi->volumes; v++)
            if (shell_of[v] <= (int)last) {
                volume[count++] = v;
                for (int d = 0; shell_b[shell_of[v]] > 50 && d < 3; d++)
                    gradients[3 * weighted + (size_t)d] = dwi->gradients[3 * v + (size_t)d];
                weighted += shell_b[shell_of[v]] > 50;
            }
        status = hot_scheme_supports(context, weighted, gradients, 2, &supports);
        if (supports)
            break;
    }
    if (status == HOT_OK && supports && last + 1 < shells)
        hot_context_log(context, HOT_LOG_NOTE, "FA and MD are from b=%.0f and below (%zu of %zu volumes)",
                        shell_b[last], count, dwi->volumes);
    else if (status == HOT_OK && supports && shell_b[last] > slack * b_max)
        hot_context_log(context, HOT_LOG_NOTE,
                        "FA and MD are from b=%.0f, for want of directions at b=%.0f and below: MD comes out lower",
                        shell_b[last], b_max);
    if (status == HOT_OK)
        status = hot_dwi_select(context, dwi, count, volume, &view);
    const hot_fit_options options = {.size = sizeof options, .model = "adc", .order = 2, .estimate_s0 = 1};
    if (status == HOT_OK) /* which says what is missing where no shell is enough */
        status = hot_tensor_field_fit(context, view, mask, &options, field);
    hot_dwi_destroy(&view);
    HOT_FREE(context, gradients, volume);
    return status;
}
