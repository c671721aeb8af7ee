/* The voxel fits of the gradient check: diffusion tensors along the image's axes. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "check.h"
#include "common/entry.h"
#include "common/linear.h"
#include "frames.h"
#include "gather.h"

enum { BATCH = 2048, COLUMNS_MAX = 7 };

/* The design of ln S = ln S0 - b g^T D g in b / 1000: a constant, the five deviatoric elements, and the mean
 * diffusivity where b-values differ (else it is one with the constant). Rows: volumes. */
static size_t make_design(const hot_dwi *dwi, double *design)
{
    double axes[3][3], least = INFINITY, largest = 0;
    hot_grid_image_axes(&dwi->grid, axes);
    for (size_t v = 0; v < dwi->volumes; v++) {
        least = fmin(least, dwi->b[v]);
        largest = fmax(largest, dwi->b[v]);
    }
    const size_t columns = largest - least > 0.2 * largest ? 7 : 6;
    for (size_t v = 0; v < dwi->volumes; v++) {
        const double *world = dwi->gradients + 3 * v, b = dwi->b[v] / 1000;
        double g[3], *row = design + v * columns;
        for (int c = 0; c < 3; c++)
            g[c] = axes[0][c] * world[0] + axes[1][c] * world[1] + axes[2][c] * world[2];
        row[0] = 1;
        row[1] = -b * (g[0] * g[0] - g[2] * g[2]);
        row[2] = -b * (g[1] * g[1] - g[2] * g[2]);
        row[3] = -2 * b * g[0] * g[1];
        row[4] = -2 * b * g[0] * g[2];
        row[5] = -2 * b * g[1] * g[2];
        if (columns == 7)
            row[6] = -b;
    }
    return columns;
}

/* Logarithms of the signals, and squared signals as weights (an error of sigma in S is one of sigma / S in ln S); a
 * sample that has no logarithm weighs nothing. */
static void take_logarithms(size_t volumes, float *signals, float *weights)
{
    float largest = 0;
    for (size_t v = 0; v < volumes; v++)
        largest = signals[v] > largest && isfinite(signals[v]) ? signals[v] : largest;
    for (size_t v = 0; v < volumes; v++) {
        const float ratio = signals[v] / largest;
        const int usable = isfinite(ratio) && ratio > 1e-3f;
        weights[v] = usable ? ratio * ratio : 0;
        signals[v] = usable ? logf(signals[v]) : 0;
    }
}

static void describe(const float *fit, size_t columns, hot_check_voxel *about)
{
    const double mean = columns == 7 ? fit[6] : 0.8; /* um^2/ms; tissue's where it cannot be known */
    const double xx = fit[1], yy = fit[2], zz = -xx - yy, root = sqrt(2);
    double matrix[9] = {xx, fit[3], fit[4], fit[3], yy, fit[5], fit[4], fit[5], zz};
    double value[3], vector[9], spread = 0, square = 0;
    memset(about, 0, sizeof *about);
    if (!(mean > 0.05 && mean < 5)) /* no tissue, and no water */
        return;
    for (int i = 0; i < 3; i++) {
        about->tensor[i] = (float)(matrix[4 * i] / mean);
        about->tensor[3 + i] = (float)(root * fit[3 + i] / mean);
    }
    hot_symmetric_eigen(3, matrix, value, vector);
    for (int i = 0; i < 3; i++) {
        spread += value[i] * value[i];
        square += (value[i] + mean) * (value[i] + mean);
        about->axis[i] = (float)vector[6 + i];
    }
    about->anisotropy = (float)fmin(1, sqrt(1.5 * spread / square));
    about->log_s0 = fit[0];
}

/* Whether these volumes determine the tensor, well enough to be of use. */
static hot_status is_determined(hot_context *context, size_t volumes, size_t columns, const double *design,
                                int *determined)
{
    double condition = INFINITY, *inverse = hot_context_alloc(context, columns, volumes * sizeof *inverse);
    hot_status status = inverse ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK && volumes >= columns)
        status = hot_fit_pseudo_inverse(context, volumes, columns, design, NULL, inverse, &condition);
    hot_context_free(context, inverse);
    *determined = status == HOT_OK && condition < 100;
    return status == HOT_ERROR_DATA ? HOT_OK : status; /* not of full rank: an answer, not a failure */
}

hot_status hot_check_fit(hot_context *context, const hot_dwi *dwi, const size_t *voxel, size_t count,
                         hot_check_voxel *about, int *determined)
{
    const size_t volumes = dwi->volumes;
    double *design = hot_context_alloc(context, volumes, COLUMNS_MAX * sizeof *design);
    float *signals = hot_context_alloc(context, BATCH, volumes * sizeof *signals);
    float *weights = hot_context_alloc(context, BATCH, volumes * sizeof *weights);
    float *fits = hot_context_alloc(context, BATCH, COLUMNS_MAX * sizeof *fits);
    hot_status status = design && signals && weights && fits ? HOT_OK : HOT_ERROR_MEMORY;
    const size_t columns = status == HOT_OK ? make_design(dwi, design) : 0;
    *determined = 0;
    if (status == HOT_OK)
        status = is_determined(context, volumes, columns, design, determined);
    for (size_t first = 0; first < count && status == HOT_OK && *determined; first += BATCH) {
        const size_t n = count - first < BATCH ? count - first : BATCH;
        status = hot_dwi_read_list(context, dwi, voxel + first, n, signals);
        if (status != HOT_OK)
            break;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
        for (size_t i = 0; i < n; i++)
            take_logarithms(volumes, signals + i * volumes, weights + i * volumes);
        status = hot_fit_weighted_f32(context, volumes, columns, design, n, signals, weights, fits, columns, NULL);
        if (status != HOT_OK)
            break;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
        for (size_t i = 0; i < n; i++)
            describe(fits + i * columns, columns, about + first + i);
        status = hot_context_check(context, "checking the gradient table");
    }
    HOT_FREE(context, fits, weights, signals, design);
    return status;
}
