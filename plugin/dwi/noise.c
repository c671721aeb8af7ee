/* The noise, from the spread between b=0 volumes. */
#include <math.h>
#include <stdlib.h>

#include "core/fields.h"

enum { CHUNK = 2048 };

/* The value that would stand at `place` if `values` were sorted: the part that holds it is halved, more or less, again
 * and again. Moves the values. */
static float at_place(float *values, size_t count, size_t place)
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
    const size_t voxels = hot_grid_voxels(&dwi->grid), volumes = dwi->volumes;
    size_t several = 0, used = 0;
    for (size_t v = 0; v < volumes; v++)
        several += dwi->has_b0 && dwi->shell_of[v] == 0;
    *sigma = *snr = NAN;
    *repeats = several;
    hot_status status = hot_mask_check(context, mask, &dwi->grid);
    if (status != HOT_OK)
        return status;
    if (several < 2 || mask->inside == 0)
        return HOT_OK;
    double total = 0;
    float *signals = hot_context_alloc(context, CHUNK * volumes, sizeof *signals);
    float *variance = hot_context_alloc(context, mask->inside, sizeof *variance);
    status = signals && variance ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t first = 0; first < voxels && status == HOT_OK; first += CHUNK) {
        size_t count = voxels - first < CHUNK ? voxels - first : CHUNK;
        status = hot_dwi_read(context, dwi, first, count, signals);
        for (size_t n = 0; n < count && status == HOT_OK; n++) {
            if (!mask->bytes[first + n])
                continue;
            double sum = 0, spread = 0;
            for (size_t v = 0; v < volumes; v++)
                if (dwi->shell_of[v] == 0)
                    sum += signals[n * volumes + v];
            double mean = sum / (double)several;
            for (size_t v = 0; v < volumes; v++)
                if (dwi->shell_of[v] == 0)
                    spread += (signals[n * volumes + v] - mean) * (signals[n * volumes + v] - mean);
            if (!isfinite(spread) || !(mean > 0))
                continue;
            variance[used++] = (float)(spread / (double)(several - 1));
            total += mean;
        }
        if (status == HOT_OK)
            status = hot_context_progress(context, "estimating the noise", (double)first / (double)voxels);
    }
    if (status == HOT_OK && used) {
        /* The median: voxels at edges, where motion and pulsation spread the volumes, do not count. */
        *sigma = sqrt(at_place(variance, used, used / 2) / chi_square_median(several - 1));
        *snr = *sigma > 0 ? total / (double)used / *sigma : INFINITY;
    }
    hot_context_free(context, signals);
    hot_context_free(context, variance);
    return status;
}
