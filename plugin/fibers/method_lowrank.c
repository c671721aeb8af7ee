/* Method lowrank: the tensor as a sum of one to three rank-1 terms. */
#include "method.h"

static hot_status find(hot_context *context, const hot_peaks_options *options, const hot_peaks_args *args)
{
    const hot_lowrank_options settings = {.size = sizeof settings, .max_rank = options->max_fibers,
                                          .min_weight = options->threshold, .min_angle = options->min_angle};
    return hot_lowrank_f32(context, &settings, args->order, args->count, args->rows + 1, args->stride, args->mask,
                           args->peaks, NULL, NULL);
}

const hot_peaks_method hot_peaks_lowrank = {
    .name = "lowrank",
    .help = "the tensor as a sum of up to 3 rank-1 terms; with fod, splits crossings that the maxima merge",
    .about = "the tensor (order 4, 6 or 8) as a sum of 1 to 3 rank-1 terms; with fod these are the fibres, and "
             "crossings that the maxima merge are split. Order 4 or 6 is best.",
    .find_in_tensors = find,
    .takes = "threshold min_angle min_amplitude basis frame ",
    .max_fibers = 3,
    .weights = 1,
    .order_min = 4,
    .order_max = 8,
    .threshold = 0.2,
    .min_angle = 25,
};
