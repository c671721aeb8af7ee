/* hot_fiber_field_find: fibre directions of a tensor field by one of the methods. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/arguments.h"
#include "common/options.h"
#include "common/entry.h"
#include "fractions.h"
#include "method.h"
#include "model/model.h"

/* Below this a peak of a model is noise. The peaks of fod and msmt are volume fractions: .1 is a tenth of the voxel,
 * and what noise and grey matter leave is mostly smaller. The others' values have no natural floor: an adc is a
 * diffusivity, and an odf's peaks grow and shrink with its regularisation; there the threshold relative to the largest
 * peak must do. */
static double amplitude_floor(const char *model)
{
    return strcmp(model, "fod") == 0 || strcmp(model, "msmt") == 0 ? 0.1 : 0;
}

static hot_status resolve(hot_context *context, const hot_tensor_field *tensors, const hot_peaks_options *options,
                          hot_peaks_options *full, const hot_peaks_method **method)
{
    *full = (hot_peaks_options)HOT_PEAKS_OPTIONS_INIT;
    HOT_TRY(hot_options_read(context, "hot_peaks_options", options, full));
    if (!full->method)
        full->method = "maxima";
    const hot_peaks_choice choice = {.peaks = full, .model = tensors->model, .order = tensors->order};
    HOT_TRY(hot_peaks_check(context, &choice, method));
    if (!(*method)->find_in_tensors)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "method",
                                          "%s fits fibres to the signals: hot_fiber_field_signal takes them",
                                          (*method)->name);
    if (full->max_fibers == 0)
        full->max_fibers = 3;
    if (full->starts == 0)
        full->starts = (*method)->starts;
    hot_status status = hot_option_number(context, "threshold", (*method)->threshold, 1, &full->threshold);
    if (status == HOT_OK)
        status = hot_option_number(context, "min_angle", (*method)->min_angle, 90, &full->min_angle);
    if (status == HOT_OK)
        status = hot_option_number(context, "min_amplitude", amplitude_floor(tensors->model), FLT_MAX,
                                   &full->min_amplitude);
    return status == HOT_OK && full->mask ? hot_mask_check(context, full->mask, &tensors->grid) : status;
}

/* Removes directions that are shorter than the floor. */
static void drop_short(hot_context *context, const hot_peaks_options *options, size_t count, float *peaks)
{
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t i = 0; i < count * (size_t)options->max_fibers; i++) {
        float *v = peaks + 3 * i;
        const double length = sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] +
                                   (double)v[2] * (double)v[2]);
        if (!(length >= options->min_amplitude))
            v[0] = v[1] = v[2] = 0;
    }
}

/* How many of the field's simulated voxels get their number of fibres by this method. */
static hot_status count_recovered(hot_context *context, const hot_tensor_field *tensors,
                                  const hot_peaks_method *method, const hot_peaks_options *options,
                                  double recovered[2])
{
    const size_t row = 1 + hot_symtensor_count(tensors->order, 3), width = 3 * (size_t)options->max_fibers;
    size_t right[2] = {0};
    uint8_t *all = hot_context_alloc(context, HOT_SIMULATED, 1);
    float *peaks = hot_context_alloc(context, HOT_SIMULATED, width * sizeof *peaks);
    hot_status status = all && peaks ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK) {
        memset(all, 1, HOT_SIMULATED);
        const hot_peaks_args args = {.model = tensors->model, .order = tensors->order, .count = HOT_SIMULATED,
                                     .stride = row, .rows = tensors->simulated, .mask = all, .peaks = peaks};
        status = method->find_in_tensors(context, options, &args);
    }
    if (status == HOT_OK)
        drop_short(context, options, HOT_SIMULATED, peaks);
    for (size_t n = 0; n < HOT_SIMULATED && status == HOT_OK; n++) {
        size_t found = 0;
        for (const float *v = peaks + n * width; v < peaks + (n + 1) * width; v += 3)
            found += v[0] != 0 || v[1] != 0 || v[2] != 0;
        right[n >= HOT_SIMULATED / 2] += found == 1 + (n >= HOT_SIMULATED / 2);
    }
    for (int k = 0; k < 2; k++)
        recovered[k] = (double)right[k] / (HOT_SIMULATED / 2);
    HOT_FREE(context, peaks, all);
    return status;
}

hot_status hot_peaks_judge(hot_context *context, const hot_tensor_field *tensors, const hot_peaks_options *options)
{
    hot_peaks_options full;
    const hot_peaks_method *method = NULL;
    double recovered[2];
    hot_status status = resolve(context, tensors, options, &full, &method);
    if (status != HOT_OK || !tensors->simulated || tensors->warned || !method->weights || full.max_fibers < 2)
        return status;
    status = count_recovered(context, tensors, method, &full, recovered);
    if (status == HOT_OK)
        hot_recovered_warn(context, method->name, tensors->order, recovered);
    return status;
}

hot_status hot_fiber_field_find(hot_context *context, const hot_tensor_field *tensors, const hot_peaks_options *options,
                                hot_fiber_field **fibers)
{
    HOT_ENTRY(context);
    HOT_CLEAR(fibers);
    HOT_NEED(context, tensors, fibers);
    hot_peaks_options full;
    const hot_peaks_method *method = NULL;
    hot_status status = resolve(context, tensors, options, &full, &method);
    if (status != HOT_OK)
        return status;
    const size_t voxels = hot_grid_voxels(&tensors->grid), row = 1 + hot_symtensor_count(tensors->order, 3);
    const size_t width = 3 * (size_t)full.max_fibers;
    float *peaks = hot_context_alloc(context, voxels, width * sizeof *peaks);
    uint8_t *mask = peaks ? hot_context_alloc(context, voxels, 1) : NULL;
    if (!mask) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t voxel = 0; voxel < voxels; voxel++)
        mask[voxel] = tensors->values[voxel * row] > 0 && (!full.mask || full.mask->bytes[voxel]);
    const hot_peaks_args args = {.model = tensors->model, .order = tensors->order, .count = voxels, .stride = row,
                                 .rows = tensors->values, .mask = mask, .peaks = peaks};
    status = method->find_in_tensors(context, &full, &args);
    if (status != HOT_OK)
        goto cleanup;
    drop_short(context, &full, voxels, peaks);
    status = hot_peaks_judge(context, tensors, options);
    if (status != HOT_OK)
        goto cleanup;
    if (method->weights && strcmp(tensors->model, "fod") == 0 && hot_fractions_hold(tensors->response))
        hot_fractions_bound(context, voxels, full.max_fibers, peaks);
    status = hot_fiber_field_adopt(context, &tensors->grid, full.max_fibers, &peaks, fibers);
    if (status == HOT_OK)
        status = hot_fiber_field_keep_response(*fibers, tensors->response, 0);
    if (status != HOT_OK)
        hot_fiber_field_destroy(fibers);
cleanup:
    HOT_FREE(context, peaks, mask);
    return status;
}
