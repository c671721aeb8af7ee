/* See peaks_signal.h. */
#include "peaks_signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fields.h"
#include "core/grid_match.h"
#include "dwi/empty.h"
#include "io/common/output.h"
#include "io/dwi_load.h"

static const char *const map_names[CLI_SIGNAL_MAPS] = {"probability", "margin", "residual", "width", "flags", "cone",
                                                      "cone_axes", "fraction_sd", "isotropic", "free_water",
                                                      "noise_sd"};

/* Voxels with a tensor, as a mask; the field's response when it has one. */
static hot_status read_tensors(hot_context *context, const char *path, const hot_dwi *dwi, hot_mask **mask,
                               hot_tensor_field **tensors)
{
    hot_status status = hot_tensor_field_load(context, path, tensors);
    if (status == HOT_OK)
        status = hot_mask_full(context, hot_dwi_grid(dwi), mask);
    if (status != HOT_OK)
        return status;
    size_t *index = NULL;
    status = hot_grid_match(context, "tensors", path, &(*tensors)->grid, "the data", hot_dwi_grid(dwi), &index);
    if (status != HOT_OK)
        return status;
    const size_t order = (size_t)(*tensors)->order, row = 1 + (order + 1) * (order + 2) / 2;
    (*mask)->inside = 0;
    for (size_t voxel = 0; voxel < hot_grid_voxels(hot_dwi_grid(dwi)); voxel++) {
        const size_t at = index ? index[voxel] : voxel;
        (*mask)->bytes[voxel] = at != HOT_OUTSIDE && (*tensors)->values[at * row] > 0;
        (*mask)->inside += (*mask)->bytes[voxel];
    }
    hot_context_free(context, index);
    return HOT_OK;
}

/* No output may be an input, or another output. */
static hot_status check_outputs(hot_context *context, const cli_peaks_signal_options *o)
{
    const char *inputs[] = {o->dwi, o->bval, o->bvec, o->response, o->mask, o->tensors, o->sigma};
    hot_status status = HOT_OK;
    for (int m = -1; m < CLI_SIGNAL_MAPS && status == HOT_OK; m++) {
        const char *output = m < 0 ? o->output : o->map[m];
        for (size_t i = 0; output && i < sizeof inputs / sizeof inputs[0] && status == HOT_OK; i++)
            if (inputs[i])
                status = hot_output_check_distinct(context, inputs[i], output);
        for (int n = -1; output && n < m && status == HOT_OK; n++) {
            const char *other = n < 0 ? o->output : o->map[n];
            if (other && strcmp(other, output) == 0)
                status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "two outputs would go to '%s'", output);
        }
    }
    return status;
}

static hot_status read_sigma(hot_context *context, const char *text, const hot_grid *grid,
                             hot_signal_find_options *find, float **map)
{
    char *end;
    if (!text)
        return HOT_OK;
    find->sigma = strtod(text, &end);
    if (end != text && *end == '\0') {
        if (!(find->sigma > 0) || isinf(find->sigma))
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "sigma",
                                              "the noise's standard deviation, above 0, or a file, not '%s'", text);
        return HOT_OK;
    }
    find->sigma = 0;
    hot_status status = hot_noise_map_load(context, text, grid, map);
    find->sigma_map = *map;
    return status;
}

/* Restricts a mask to another one. */
static void intersect(hot_mask *inside, const hot_mask *mask)
{
    inside->inside = 0;
    for (size_t voxel = 0; voxel < hot_grid_voxels(&inside->grid); voxel++) {
        inside->bytes[voxel] &= mask->bytes[voxel];
        inside->inside += inside->bytes[voxel];
    }
}

/* *mask: the tensors' voxels, those of --mask, or both's common ones; the estimated mask without either. */
static hot_status read_mask(hot_context *context, const cli_peaks_signal_options *o, const hot_dwi *dwi,
                            hot_tensor_field **tensors, hot_mask **mask)
{
    hot_mask *given = NULL;
    hot_status status = o->tensors ? read_tensors(context, o->tensors, dwi, mask, tensors) : HOT_OK;
    if (status == HOT_OK && o->mask)
        status = hot_mask_load(context, o->mask, hot_dwi_grid(dwi), &given);
    if (status == HOT_OK && !o->mask && !o->tensors)
        status = hot_mask_estimate(context, dwi, mask);
    if (status == HOT_OK && given && *mask)
        intersect(given, *mask);
    if (given)
        hot_mask_destroy(mask);
    *mask = given ? given : *mask;
    return status;
}

hot_status cli_peaks_signal(hot_context *context, const hot_peaks_method *method, const cli_peaks_signal_options *o)
{
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    hot_tensor_field *tensors = NULL;
    hot_response *response = NULL;
    hot_fiber_field *fibers = NULL;
    hot_signal_maps maps = {0};
    float *sigma_map = NULL;
    hot_signal_find_options find = o->find;
    for (int m = 0; m < CLI_SIGNAL_MAPS; m++)
        *(m < CLI_SIGNAL_CONES ? &find.keep_maps : &find.keep_cones) |= o->map[m] != NULL;
    hot_status status = check_outputs(context, o);
    if (status == HOT_OK)
        status = hot_dwi_load_within(context, o->dwi, o->bval, o->bvec, o->memory, o->output, &dwi);
    if (status == HOT_OK)
        status = hot_dwi_drop_empty(context, dwi);
    if (status == HOT_OK)
        status = read_mask(context, o, dwi, &tensors, &mask);
    if (status != HOT_OK)
        goto cleanup;
    if (o->response) {
        status = hot_response_load(context, o->response, &response);
        if (status == HOT_OK)
            status = hot_response_check(context, response, NULL);
    }
    if (status == HOT_OK && o->axial > 0)
        status = hot_response_tensor(context, dwi, o->axial, o->radial, 1, 0, &response);
    if (status == HOT_OK)
        status = read_sigma(context, o->sigma, hot_dwi_grid(dwi), &find, &sigma_map);
    const hot_response *used = response ? response : tensors ? tensors->response : NULL;
    if (status == HOT_OK)
        status = method->find_in_signals(context, dwi, mask, used, &find, &maps, &fibers);
    for (int m = 0; m < CLI_SIGNAL_MAPS && status == HOT_OK; m++)
        if (o->map[m])
            status = hot_signal_map_save(context, &maps, map_names[m], o->map[m]);
    if (status == HOT_OK)
        status = hot_fiber_field_save(context, fibers, o->output);
cleanup:
    hot_signal_maps_free(&maps);
    hot_context_free(context, sigma_map);
    hot_fiber_field_destroy(&fibers);
    hot_response_destroy(&response);
    hot_tensor_field_destroy(&tensors);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    return status;
}
