/* The noise: its deviation from the spread between b=0 volumes, its model from the data's negative samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "common/arguments.h"
#include "gather.h"
#include "common/entry.h"
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

enum { BINS = 1 << 13 };

/* The leading bits of a number, such that the larger number never has the smaller ones. */
static unsigned bin_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits >> 31 ? ~bits : bits | 0x80000000u) / (0x100000000u / BINS);
}

/* hot_sorted_at of values that stay where they are: all threads count how many have which leading bits; those that
 * share the wanted one's are sorted. -1 without memory. */
static double select_value(hot_context *context, const float *values, size_t count, size_t place)
{
    size_t (*mine)[BINS], *all, before = 0, bin = 0, same = 0;
    const int threads = hot_context_threads(context);
    double value = -1;
    mine = hot_context_calloc(context, (size_t)threads + 1, sizeof *mine);
    if (!mine)
        return value;
    all = mine[threads];
#pragma omp parallel num_threads(hot_team(threads))
    {
        size_t *counts = mine[omp_get_thread_num()];
#pragma omp for schedule(static)
        for (size_t n = 0; n < count; n++)
            counts[bin_of(values[n])]++;
#pragma omp for schedule(static)
        for (size_t b = 0; b < BINS; b++)
            for (int t = 0; t < threads; t++)
                all[b] += mine[t][b];
    }
    while (before + all[bin] <= place)
        before += all[bin++];
    float *chosen = hot_context_alloc(context, all[bin], sizeof *chosen);
    if (chosen) {
        for (size_t n = 0; n < count; n++)
            if (bin_of(values[n]) == bin)
                chosen[same++] = values[n];
        value = (double)hot_sorted_at(chosen, same, place - before);
    }
    HOT_FREE(context, chosen, mine);
    return value;
}

double hot_b0_limit(const float *values, size_t step, const uint8_t *inside, size_t count)
{
    enum { MOST = 2000 };
    float some[MOST];
    size_t all = 0, kept = 0, seen = 0;
    for (size_t n = 0; n < count; n++)
        all += inside[n] != 0;
    for (size_t n = 0, apart = all / MOST + 1; n < count; n++)
        if (inside[n] && seen++ % apart == 0 && values[n * step] > 0 && isfinite(values[n * step]))
            some[kept++] = values[n * step];
    return kept ? 10 * (double)hot_sorted_at(some, kept, kept * 19 / 20) : INFINITY;
}

/* Exact for 1 and 2, else Wilson and Hilferty's cube. */
double hot_chi_square_median(size_t freedom)
{
    double k = (double)freedom, cube = 1 - 2 / (9 * k);
    return freedom == 1 ? 0.454936423 : freedom == 2 ? 0.693147181 : cube * cube * cube;
}

/* The deviations of the voxels inside that have one and are not damaged, in their order; *total: the sum of their b=0
 * signals. */
static hot_status take_deviations(hot_context *context, const hot_dwi_summary *summary, const hot_mask *mask,
                                  float *deviation, size_t *count, double *total)
{
    enum { BLOCK = 1 << 16 };
    const size_t voxels = hot_grid_voxels(&mask->grid), blocks = (voxels + BLOCK - 1) / BLOCK;
    const double limit = hot_b0_limit(summary->mean, 1, mask->bytes, voxels);
    size_t *place = hot_context_calloc(context, blocks + 1, sizeof *place);
    double *sums = hot_context_calloc(context, blocks, sizeof *sums);
    *count = 0;
    *total = 0;
    for (int pass = 0; pass < 2 && place && sums; pass++) { /* how many there are in each block; then where to */
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
        for (size_t block = 0; block < blocks; block++) {
            const size_t first = block * BLOCK, end = voxels - first < BLOCK ? voxels : first + BLOCK;
            size_t at = place[block];
            for (size_t n = first; n < end; n++)
                if (mask->bytes[n] && !isnan(summary->deviation[n]) && summary->mean[n] > 0 &&
                    (double)summary->mean[n] <= limit) {
                    if (pass == 1)
                        deviation[at] = summary->deviation[n];
                    at++;
                    sums[block] += pass == 1 ? (double)summary->mean[n] : 0;
                }
            if (pass == 0)
                place[block] = at;
        }
        for (size_t block = 0; block < blocks; block++) {
            const size_t here = place[block];
            *total += sums[block];
            if (pass == 0) {
                place[block] = *count;
                *count += here;
            }
        }
    }
    const hot_status status = place && sums ? HOT_OK : HOT_ERROR_MEMORY;
    HOT_FREE(context, place, sums);
    return status;
}

hot_status hot_dwi_noise(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, double *sigma, double *snr,
                         size_t *repeats)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, sigma, snr, repeats);
    if (!mask)
        HOT_RETURN_WITH_ALL(context, &dwi->grid, hot_dwi_noise(context, dwi, all, sigma, snr, repeats));
    const hot_dwi_summary *summary;
    hot_dwi_summary *made = NULL;
    size_t used = 0;
    double total = 0;
    float *deviation = NULL;
    *sigma = *snr = NAN;
    *repeats = 0;
    for (size_t v = 0; v < dwi->volumes; v++)
        *repeats += dwi->has_b0 && dwi->shell_of[v] == 0;
    hot_status status = hot_mask_check(context, mask, &dwi->grid);
    if (status != HOT_OK || *repeats < 2 || mask->inside == 0)
        return status;
    HOT_TRY(hot_dwi_summary_get(context, dwi, &summary, &made));
    deviation = hot_context_alloc(context, mask->inside, sizeof *deviation);
    status = deviation ? take_deviations(context, summary, mask, deviation, &used, &total) : HOT_ERROR_MEMORY;
    if (status == HOT_OK && used) {
        /* The median: voxels at edges, where motion and pulsation spread the volumes, do not count. */
        const double median = select_value(context, deviation, used, used / 2);
        *sigma = median / sqrt(hot_chi_square_median(*repeats - 1));
        *snr = *sigma > 0 ? total / (double)used / *sigma : INFINITY;
        status = median < 0 ? HOT_ERROR_MEMORY : HOT_OK;
    }
    hot_context_free(context, deviation);
    hot_dwi_summary_free(&made);
    return status;
}

/* Gaussian noise makes samples negative wherever the signal is low, with about as many small positive samples.
 * Interpolation of magnitudes makes some negative samples too (.07 and .18 % in two scans in vivo), but few compared
 * with the positive ones of that size. Zeros may be clipped negatives if they are many and there are small positive
 * samples: noise with mean 0 has two samples between 0 and its standard deviation for three below 0, and more with a
 * higher mean. Other zeros are voxels that motion correction could not fill. */
static const double min_share = .005, min_of_small = .1, min_zeros = .02, least_beside_zeros = .333;

/* Writes the magnitudes of the diffusion-weighted samples that are not positive to low[]; *all: the number of
 * samples. */
static size_t take_low(const hot_dwi *dwi, size_t count, const float *signals, float *low, size_t *all)
{
    size_t found = 0;
    *all = 0;
    for (size_t n = 0; n < count; n++) {
        const float *s = signals + n * dwi->volumes;
        double mean = 0, test = 0;
        for (size_t v = 0; v < dwi->volumes; v++) {
            test += s[v] - s[v];
            mean += dwi->shell_of[v] == 0 ? (double)s[v] : 0;
        }
        if (!(test == 0) || !(mean > 0))
            continue; /* not usable, whatever the noise */
        for (size_t v = 0; v < dwi->volumes; v++) {
            *all += dwi->shell_of[v] > 0;
            if (dwi->shell_of[v] > 0 && s[v] <= 0)
                low[found++] = -s[v];
        }
    }
    return found;
}

/* Diffusion-weighted samples above 0 and up to `bound`. */
static size_t count_small(const hot_dwi *dwi, size_t count, const float *signals, double bound)
{
    size_t small = 0;
    for (size_t n = 0; n < count; n++)
        for (size_t v = 0; v < dwi->volumes; v++) {
            const float s = signals[n * dwi->volumes + v];
            small += dwi->shell_of[v] > 0 && s > 0 && (double)s <= bound;
        }
    return small;
}

hot_status hot_dwi_noise_model(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, hot_noise_model *model,
                               double *share)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, model, share);
    if (!mask)
        HOT_RETURN_WITH_ALL(context, &dwi->grid, hot_dwi_noise_model(context, dwi, all, model, share));
    enum { SAMPLE = 2000 };
    size_t voxel[SAMPLE], all = 0, repeats;
    double sigma, snr;
    *model = HOT_NOISE_RICIAN;
    *share = 0;
    hot_status status = hot_mask_check(context, mask, &dwi->grid);
    if (status != HOT_OK || !dwi->has_b0)
        return status;
    const size_t count = hot_mask_sample(mask, SAMPLE, voxel);
    float *signals = hot_context_alloc(context, SAMPLE, dwi->volumes * sizeof *signals);
    float *low = hot_context_alloc(context, SAMPLE, dwi->volumes * sizeof *low);
    status = signals && low ? hot_dwi_read_list(context, dwi, voxel, count, signals) : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    const size_t found = take_low(dwi, count, signals, low, &all);
    if (found == 0)
        goto cleanup;
    const double bound = (double)hot_sorted_at(low, found, found * 9 / 10);
    *share = (double)found / (double)all;
    if (bound > 0 && *share >= min_share &&
        (double)found >= min_of_small * (double)(found + count_small(dwi, count, signals, bound)))
        *model = HOT_NOISE_GAUSSIAN;
    if (!(bound > 0) && *share >= min_zeros) {
        status = hot_dwi_noise(context, dwi, mask, &sigma, &snr, &repeats); /* NaN: nothing tells it */
        if (!(sigma > 0) || (double)count_small(dwi, count, signals, sigma) >= least_beside_zeros * (double)found)
            *model = HOT_NOISE_GAUSSIAN;
    }
cleanup:
    HOT_FREE(context, low, signals);
    return status;
}
