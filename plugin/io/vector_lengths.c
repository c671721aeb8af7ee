#include "vector_lengths.h"

#include <math.h>

#include "dwi/dwi_private.h"
#include "dwi/gather.h"

enum { SAMPLE = 400 };
/* Unit vectors may be rounded; b-values of one shell may differ by this much. */
static const double rounding = 0.01, one_shell = 0.05;
/* Standard errors between the two readings of the lengths, to tell them apart. */
static const double clearly = 3;

static double squared_length(const double *g) { return g[0] * g[0] + g[1] * g[1] + g[2] * g[2]; }

void hot_vector_lengths(hot_context *context, hot_dwi *dwi, const char *name, double limit)
{
    double farthest = 0, longest = 0, least = INFINITY, largest = 0;
    size_t longest_at = 0;
    for (size_t v = 0; v < dwi->volumes; v++) {
        const double squared = squared_length(dwi->gradients + 3 * v);
        if (!(dwi->b[v] > 0 && squared > 0 && isfinite(squared)))
            continue;
        farthest = fmax(farthest, fabs(log(squared)));
        if (squared > longest) {
            longest = squared;
            longest_at = v;
        }
        if (dwi->b[v] > HOT_B0_ALONE) {
            least = fmin(least, dwi->b[v]);
            largest = fmax(largest, dwi->b[v]);
        }
    }
    if (!(farthest > limit))
        return;
    const int told = farthest > rounding;
    if (longest > 1 + rounding) {
        if (told)
            hot_context_log(context, HOT_LOG_NOTE, "'%s': the vector of volume %zu (counted from 0) has length %.4g; "
                            "vectors longer than 1 say nothing about b, so that only their directions are used", name,
                            longest_at, sqrt(longest));
        return;
    }
    if (largest > (1 + one_shell) * least) {
        if (told)
            hot_context_log(context, HOT_LOG_NOTE, "'%s': vectors are not of length 1, but the b-values differ already "
                            "(%.6g to %.6g): only the vectors' directions are used", name, least, largest);
        return;
    }
    for (size_t v = 0; v < dwi->volumes; v++) {
        const double squared = squared_length(dwi->gradients + 3 * v);
        if (squared > 0 || dwi->b[v] > HOT_B0_ALONE) /* some write a nominal b for b=0 volumes too */
            dwi->b[v] *= squared;
    }
    if (!told)
        return;
    dwi->length_coded_b = largest;
    hot_context_log(context, HOT_LOG_NOTE, "'%s': vectors are not of length 1 and all b-values are alike (%.6g): they "
                    "are multiplied by the squared lengths", name, largest);
}

/* The slope of the log of the volumes' mean signals over the share of the nominal b: as fitted, its standard error, and
 * as the mean of the b=0 volumes lets expect. Returns 0 where they tell nothing. */
static int fit_decay(const hot_dwi *dwi, const double *mean, double nominal, double *slope, double *error,
                     double *expected)
{
    double b0 = 0, n = 0, x = 0, y = 0, xx = 0, xy = 0, rest = 0;
    size_t without = 0;
    for (size_t v = 0; v < dwi->volumes; v++) {
        const double share = dwi->b[v] / nominal;
        if (!(mean[v] > 0) || dwi->b[v] <= HOT_B0_ALONE) {
            b0 += mean[v];
            without++;
            continue;
        }
        n++;
        x += share;
        y += log(mean[v]);
    }
    if (without == 0 || n < 6 || !(b0 > 0))
        return 0;
    x /= n;
    y /= n;
    for (int pass = 0; pass < 2; pass++)
        for (size_t v = 0; v < dwi->volumes; v++) {
            const double dx = dwi->b[v] / nominal - x;
            if (!(mean[v] > 0) || dwi->b[v] <= HOT_B0_ALONE)
                continue;
            const double dy = log(mean[v]) - y;
            xx += pass == 0 ? dx * dx : 0;
            xy += pass == 0 ? dx * dy : 0;
            rest += pass == 1 ? (dy - xy / xx * dx) * (dy - xy / xx * dx) : 0;
        }
    *slope = xy / xx;
    *error = sqrt(rest / (n - 2) / xx);
    *expected = (y - log(b0 / (double)without)) / x;
    return xx > 0 && *expected < 0 && isfinite(*error);
}

/* The volumes' mean signals over the brighter half of SAMPLE voxels spread over the data. */
static hot_status mean_signals(hot_context *context, const hot_dwi *dwi, double *mean)
{
    const size_t voxels = hot_grid_voxels(&dwi->grid), count = voxels < SAMPLE ? voxels : SAMPLE;
    float *signals = hot_context_alloc(context, count, dwi->volumes * sizeof *signals), brightness[SAMPLE] = {0};
    size_t voxel[SAMPLE];
    double threshold = 0;
    for (size_t n = 0; n < count; n++)
        voxel[n] = (size_t)((double)voxels / (double)count * (double)n);
    hot_status status = signals ? hot_dwi_gather(context, dwi, voxel, count, signals) : HOT_ERROR_MEMORY;
    for (size_t n = 0; n < count && status == HOT_OK; n++) {
        for (size_t v = 0; v < dwi->volumes; v++)
            brightness[n] += signals[n * dwi->volumes + v];
        threshold += isfinite(brightness[n]) ? (double)brightness[n] / (double)count : 0;
    }
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK; v++) {
        mean[v] = 0;
        for (size_t n = 0; n < count; n++)
            if (isfinite(brightness[n]) && (double)brightness[n] >= threshold)
                mean[v] += (double)signals[n * dwi->volumes + v];
    }
    hot_context_free(context, signals);
    return status;
}

hot_status hot_vector_lengths_confirm(hot_context *context, hot_dwi *dwi, const char *name)
{
    const double nominal = dwi->length_coded_b;
    double slope = 0, error = 0, expected = 0;
    double *mean = hot_context_alloc(context, dwi->volumes, sizeof *mean);
    hot_status status = mean ? mean_signals(context, dwi, mean) : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    const int tells = fit_decay(dwi, mean, nominal, &slope, &error, &expected) && -expected > 2 * clearly * error;
    if (!tells) {
        hot_context_log(context, HOT_LOG_WARNING, "'%s': the signals do not tell whether the lengths of the vectors "
                        "code b-values, as is assumed; if they do not, make them vectors of length 1", name);
    } else if (slope > expected / 2) {
        for (size_t v = 0; v < dwi->volumes; v++)
            dwi->b[v] = dwi->b[v] > HOT_B0_ALONE ? nominal : dwi->b[v];
        status = hot_dwi_complete(context, dwi);
        hot_context_log(context, HOT_LOG_WARNING, "'%s': the signals do not fall with the squared lengths of the "
                        "vectors: the b-values are left at %.6g, and only the vectors' directions are used", name,
                        nominal);
    }
cleanup:
    hot_context_free(context, mean);
    return status;
}
