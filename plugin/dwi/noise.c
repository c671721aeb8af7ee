/* The noise, from the spread between b=0 volumes. */
#include <math.h>
#include <stdlib.h>

#include "summary.h"

/* By quickselect (Hoare 1961). */
float hot_sorted_at(float *values, size_t count, size_t place)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        const float pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) { /* what is below the pivot to the left, what is above to the right */
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            const float swap = values[i];
            values[i++] = values[j];
            values[j--] = swap;
        }
        if (place <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[place];
}

/* The median of chi-square over its degrees of freedom (exact for 1 and 2, else Wilson and Hilferty's cube). */
static double chi_square_median(size_t freedom)
{
    double k = (double)freedom, cube = 1 - 2 / (9 * k);
    return freedom == 1 ? 0.454936423 : freedom == 2 ? 0.693147181 : cube * cube * cube;
}

hot_status hot_dwi_noise(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, double *sigma, double *snr,
                         size_t *repeats)
{
    const size_t voxels = hot_grid_voxels(&dwi->grid);
    const hot_dwi_summary *summary;
    hot_dwi_summary *made = NULL;
    size_t used = 0;
    double total = 0;
    float *variance = NULL;
    *sigma = *snr = NAN;
    *repeats = 0;
    for (size_t v = 0; v < dwi->volumes; v++)
        *repeats += dwi->has_b0 && dwi->shell_of[v] == 0;
    hot_status status = hot_mask_check(context, mask, &dwi->grid);
    if (status != HOT_OK || *repeats < 2 || mask->inside == 0)
        return status;
    status = hot_dwi_summary_get(context, dwi, &summary, &made);
    if (status != HOT_OK)
        return status;
    variance = hot_context_alloc(context, mask->inside, sizeof *variance);
    if (!variance) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t n = 0; n < voxels; n++)
        if (mask->bytes[n] && !isnan(summary->variance[n]) && summary->mean[n] > 0) {
            variance[used++] = summary->variance[n];
            total += summary->mean[n];
        }
    if (used) {
        /* The median: voxels at edges, where motion and pulsation spread the volumes, do not count. */
        *sigma = sqrt(hot_sorted_at(variance, used, used / 2) / chi_square_median(*repeats - 1));
        *snr = *sigma > 0 ? total / (double)used / *sigma : INFINITY;
    }
cleanup:
    hot_context_free(context, variance);
    hot_dwi_summary_free(&made);
    return status;
}
