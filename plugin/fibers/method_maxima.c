/* Directions as the local maxima of the tensor's form: A x^m = max on the sphere. */
#include "method.h"

static hot_status find(hot_context *context, const hot_tensor_field *tensors, const hot_peaks_options *options,
                       const hot_peaks_job *job)
{
    const size_t row = 1 + hot_symtensor_count(tensors->order, 3);
    const hot_directions_options settings = {.size = sizeof settings,
                                             .max_directions = options->max_fibers,
                                             .threshold = options->threshold,
                                             .min_angle = options->min_angle,
                                             .min_relative_range = -1,
                                             .starts = options->starts,
                                             .shift = options->shift,
                                             .alpha = options->alpha};
    return hot_directions_f32(context, &settings, tensors->order, job->count, job->rows + 1, row, job->mask,
                              job->peaks, NULL);
}

const hot_peaks_method hot_peaks_maxima = {
    .name = "maxima",
    .help = "local maxima of the tensor's form (SS-HOPM); for adc at crossings these lie between the fibres",
    .threshold = 0.25,
    .min_angle = 15,
    .find = find,
};
