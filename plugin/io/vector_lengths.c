#include "vector_lengths.h"

#include <math.h>

#include "dwi/dwi_private.h"
#include "dwi/gather.h"

enum { SAMPLE = 400 };
/* Unit vectors may be rounded; b-values of one shell may differ by this much. */
static const double rounding = 0.01, one_shell = 0.05;
/* The residual of the right reading is at most this fraction of the other's; else the signals do not decide. */
static const double clearly = 0.8;

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

/* The root-mean-square residual of a tensor fitted to the logs of the volumes' mean signals, relative to b=0, with b
 * multiplied by the squared lengths (coded) or not. NaN if the volumes do not determine the tensor. */
static hot_status fit_decay(hot_context *context, const hot_dwi *dwi, const double *mean, double nominal, int coded,
                            double *rest)
{
    enum { TENSOR = 6 };
    double b0 = 0, sum = 0, tensor[TENSOR] = {0};
    size_t without = 0, n = 0;
    double *design = hot_context_alloc(context, dwi->volumes, TENSOR * sizeof *design);
    double *inverse = hot_context_alloc(context, dwi->volumes, TENSOR * sizeof *inverse);
    double *y = hot_context_alloc(context, dwi->volumes, sizeof *y);
    hot_status status = design && inverse && y ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK; v++)
        if (dwi->b[v] <= HOT_B0_ALONE) {
            b0 += mean[v];
            without++;
        }
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK; v++) {
        const double *g = dwi->gradients + 3 * v, share = coded ? dwi->b[v] / nominal : 1;
        if (!(mean[v] > 0) || dwi->b[v] <= HOT_B0_ALONE)
            continue;
        const double row[TENSOR] = {g[0] * g[0], g[1] * g[1], g[2] * g[2], g[0] * g[1], g[0] * g[2], g[1] * g[2]};
        for (int t = 0; t < TENSOR; t++)
            design[n * TENSOR + (size_t)t] = share * row[t];
        y[n++] = log(mean[v] * (double)without / b0);
    }
    *rest = NAN;
    if (status == HOT_OK && without > 0 && b0 > 0 && n > 2 * TENSOR) {
        static const double ridge[TENSOR] = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9}; /* directions in a plane will do */
        status = hot_fit_pseudo_inverse(context, n, TENSOR, design, ridge, inverse, NULL);
        for (size_t v = 0; v < n && status == HOT_OK; v++)
            for (int t = 0; t < TENSOR; t++)
                tensor[t] += inverse[(size_t)t * n + v] * y[v];
        for (size_t v = 0; v < n && status == HOT_OK; v++) {
            double left = y[v];
            for (int t = 0; t < TENSOR; t++)
                left -= design[v * TENSOR + (size_t)t] * tensor[t];
            sum += left * left;
        }
        *rest = sqrt(sum / (double)n);
    }
    HOT_FREE(context, y, inverse, design);
    return status;
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
    hot_status status = signals ? hot_dwi_read_list(context, dwi, voxel, count, signals) : HOT_ERROR_MEMORY;
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
    double coded = NAN, alike = NAN;
    double *mean = hot_context_alloc(context, dwi->volumes, sizeof *mean);
    hot_status status = mean ? mean_signals(context, dwi, mean) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = fit_decay(context, dwi, mean, nominal, 1, &coded);
    if (status == HOT_OK)
        status = fit_decay(context, dwi, mean, nominal, 0, &alike);
    if (status != HOT_OK || coded < clearly * alike)
        goto cleanup;
    if (alike < clearly * coded) {
        for (size_t v = 0; v < dwi->volumes; v++)
            dwi->b[v] = dwi->b[v] > HOT_B0_ALONE ? nominal : dwi->b[v];
        status = hot_dwi_complete(context, dwi);
        hot_context_log(context, HOT_LOG_WARNING, "'%s': the signals do not fall with the squared lengths of the "
                        "vectors: the b-values are left at %.6g, and only the vectors' directions are used", name,
                        nominal);
    } else {
        hot_context_log(context, HOT_LOG_WARNING, "'%s': the signals do not tell whether the lengths of the vectors "
                        "code b-values, as is assumed; if they do not, make them vectors of length 1", name);
    }
cleanup:
    hot_context_free(context, mean);
    return status;
}
