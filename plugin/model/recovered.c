/* Do the tensors of a fit tell one fibre from two? Voxels of one fibre, and of two that cross at 60 to 90 degrees, are
 * simulated with the data's gradients and noise and fitted as the data are. Whether the directions determine the order
 * is not enough: they may do so with coefficients that are mostly noise, and every voxel then has three maxima. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/entry.h"
#include "core/random.h"
#include "dwi/gather.h"
#include "dwi/summary.h"
#include "single_fiber.h"

enum { STREAM = 71, SAMPLES = 1000, SHELLS_MAX = 256 };

/* Diffusivities of a fibre, mm^2/s, for models without a response: those of white matter in vivo. */
static const double axial = 1.7e-3, radial = .3e-3;
/* Defaults of the method maxima, and the floor of fod and msmt (fibers/find.c). */
static const double threshold = .25, min_amplitude = .1;


/* ---- Noise ----------------------------------------------------------------------------------------------------- */

static hot_status find_residuals(const hot_plan *plan, const hot_mask *mask, float *variance, size_t *count)
{
    hot_context *context = plan->context;
    const size_t volumes = plan->volumes, used = plan->used_count, width = hot_plan_width(plan);
    size_t voxel[SAMPLES];
    float *signals = hot_context_alloc(context, SAMPLES, volumes * sizeof *signals);
    float *work = hot_context_alloc(context, SAMPLES, (used + 1) * sizeof *work);
    float *fits = hot_context_alloc(context, SAMPLES, width * sizeof *fits);
    const size_t taken = hot_mask_sample(mask, SAMPLES, voxel);
    hot_status status = signals && work && fits ? hot_dwi_read_list(context, plan->dwi, voxel, taken, signals)
                                                : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_plan_fit(plan, taken, signals, work, fits);
    *count = 0;
    for (size_t v = 0; v < taken && status == HOT_OK; v++) {
        const float *d = fits + v * width + 1;
        double squares = 0;
        if (!(fits[v * width] > 0))
            continue;
        for (size_t i = 0; i < used; i++) {
            const double *g = plan->gradients + 3 * i;
            const double along = (double)d[0] * g[0] * g[0] + (double)d[3] * g[1] * g[1] + (double)d[5] * g[2] * g[2] +
                2 * ((double)d[1] * g[0] * g[1] + (double)d[2] * g[0] * g[2] + (double)d[4] * g[1] * g[2]);
            /* work begins with the b=0 signals: hot_plan_fit */
            const double rest = (double)signals[v * volumes + plan->used[i]] / (double)work[v] -
                                exp(-plan->b[i] * along);
            squares += rest * rest;
        }
        variance[(*count)++] = (float)(squares / (double)(used - plan->terms));
    }
    HOT_FREE(context, fits, work, signals);
    return status;
}

hot_status hot_plan_tensor_residual(const hot_plan *plan, const hot_mask *mask, double *noise)
{
    hot_context *context = plan->context;
    const hot_fit_options options = {.size = sizeof options, .model = "adc", .order = 2, .weighted = 1};
    hot_plan *tensor = NULL;
    size_t count = 0;
    *noise = 0;
    hot_status status = hot_plan_make(context, plan->dwi, &options, NULL, 0, &tensor);
    float *variance = status == HOT_OK ? hot_context_alloc(context, SAMPLES, sizeof *variance) : NULL;
    if (status == HOT_OK && !variance)
        status = HOT_ERROR_MEMORY;
    if (status == HOT_OK && tensor->used_count > tensor->terms)
        status = find_residuals(tensor, mask, variance, &count);
    if (count > 0)
        *noise = sqrt((double)hot_sorted_at(variance, count, count / 2) /
                      hot_chi_square_median(tensor->used_count - tensor->terms));
    hot_context_free(context, variance);
    hot_plan_free(&tensor);
    return status;
}

/* ---- Simulated voxels ------------------------------------------------------------------------------------------ */

/* Of the signals over the b=0 signal: what the fit was regularised for, else by the b=0 volumes, else by the tensors.
 * 0: none, or not known. */
static hot_status find_noise(const hot_plan *plan, const hot_mask *mask, double *noise)
{
    double sigma, snr;
    size_t repeats;
    *noise = plan->noise;
    if (plan->noise > 0)
        return HOT_OK;
    hot_status status = hot_dwi_noise(plan->context, plan->dwi, mask, &sigma, &snr, &repeats);
    if (status == HOT_OK && sigma > 0 && snr > 0)
        *noise = 1 / snr;
    else if (status == HOT_OK && repeats < 2)
        status = hot_plan_tensor_residual(plan, mask, noise);
    return status;
}

static double fiber_signal(const hot_plan *plan, const int *row, size_t volume, double cosine)
{
    const int shell = plan->dwi->shell_of[volume];
    if (!plan->response)
        return exp(-plan->dwi->b[volume] * (radial + (axial - radial) * cosine * cosine));
    return row[shell] < 0 ? 1 : hot_response_value(plan->response, (size_t)row[shell], cosine); /* 1: not used */
}

/* The second half of the voxels has two fibres, 60 to 90 degrees apart: closer ones have one maximum at any order. */
static void draw_signals(const hot_plan *plan, const int *row, double noise, size_t n, float *signals)
{
    hot_random random = hot_random_start(1, STREAM, n);
    const int fibers = n < HOT_SIMULATED / 2 ? 1 : 2;
    double turn[3][3], a, b;
    hot_random_rotation(&random, turn);
    const double angle = hot_random_between(&random, (const double[2]){M_PI / 3, M_PI / 2});
    for (int d = 0; d < 3; d++)
        turn[1][d] = cos(angle) * turn[0][d] + sin(angle) * turn[1][d];
    for (size_t v = 0; v < plan->volumes; v++) {
        const double *g = plan->dwi->gradients + 3 * v;
        double sum = 0;
        for (int k = 0; k < fibers; k++)
            sum += fiber_signal(plan, row, v, g[0] * turn[k][0] + g[1] * turn[k][1] + g[2] * turn[k][2]);
        hot_random_normals(&random, &a, &b);
        signals[v] = (float)hypot(sum / fibers + noise * a, noise * b);
    }
}

/* The tensors of simulated voxels: HOT_SIMULATED x (1 + terms). */
static hot_status simulate(const hot_plan *plan, const int *row, double noise, float *rows)
{
    hot_context *context = plan->context;
    const size_t volumes = plan->volumes, width = hot_plan_width(plan);
    float *signals = hot_context_alloc(context, HOT_SIMULATED, volumes * sizeof *signals);
    float *work = hot_context_alloc(context, HOT_SIMULATED, (plan->used_count + 1) * sizeof *work);
    float *fits = hot_context_alloc(context, HOT_SIMULATED, width * sizeof *fits);
    hot_status status = signals && work && fits ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t n = 0; n < HOT_SIMULATED && status == HOT_OK; n++)
        draw_signals(plan, row, noise, n, signals + n * volumes);
    if (status == HOT_OK)
        status = hot_plan_fit(plan, HOT_SIMULATED, signals, work, fits);
    for (size_t n = 0; n < HOT_SIMULATED && status == HOT_OK; n++)
        memcpy(rows + n * (1 + plan->terms), fits + n * width, (1 + plan->terms) * sizeof *rows);
    HOT_FREE(context, fits, work, signals);
    return status;
}

/* How many of the simulated voxels have as many maxima as fibres. */
static hot_status count_maxima(hot_context *context, hot_tensor_field *field)
{
    const size_t width = 1 + hot_model_terms(field->order);
    const double floor = strcmp(field->model, "fod") == 0 || strcmp(field->model, "msmt") == 0 ? min_amplitude : 0;
    size_t right[2] = {0};
    hot_peak_grid *grid = hot_context_alloc(context, 1, sizeof *grid);
    hot_status status = grid ? hot_peak_grid_make(2, grid) : HOT_ERROR_MEMORY;
    for (size_t n = 0; n < HOT_SIMULATED && status == HOT_OK; n++) {
        const size_t fibers = n < HOT_SIMULATED / 2 ? 1 : 2;
        right[fibers - 1] += hot_peak_count(grid, field->order, field->simulated + n * width + 1, threshold, floor) ==
                             fibers;
    }
    for (int k = 0; k < 2; k++)
        field->recovered[k] = (double)right[k] / (HOT_SIMULATED / 2);
    field->judged = status == HOT_OK;
    hot_context_free(context, grid);
    return status;
}

hot_status hot_plan_recover(const hot_plan *plan, const hot_mask *mask, hot_tensor_field *field)
{
    hot_context *context = plan->context;
    double noise = 0;
    int row[SHELLS_MAX];
    hot_status status = HOT_OK;
    if (plan->order < 4 || plan->dwi->shells > SHELLS_MAX)
        return HOT_OK;
    if (plan->response)
        status = hot_response_match(context, plan->response, plan->dwi, row);
    if (status != HOT_OK || (plan->response && row[0] < 0)) /* the second: its units are not the data's */
        return status;
    status = find_noise(plan, mask, &noise);
    if (status != HOT_OK || !(noise > 0))
        return status;
    noise *= plan->response ? hot_response_value(plan->response, (size_t)row[0], 0) : 1;
    field->simulated = hot_context_alloc(context, HOT_SIMULATED, (1 + plan->terms) * sizeof *field->simulated);
    status = field->simulated ? simulate(plan, row, noise, field->simulated) : HOT_ERROR_MEMORY;
    return status == HOT_OK ? count_maxima(context, field) : status;
}
