/* Method lowrank: the tensor as a sum of one to three rank-1 terms. */
#include "method.h"

static hot_status find(hot_context *context, const hot_tensor_field *tensors, const hot_peaks_options *options,
                       const hot_peaks_job *job)
{
    const size_t order = (size_t)tensors->order, row = 1 + (order + 1) * (order + 2) / 2;
    hot_lowrank_options how = {.size = sizeof how, .max_rank = options->max_fibers, .min_weight = options->threshold,
                               .min_angle = options->min_angle};
    if (tensors->order == 2)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "--method lowrank needs tensors of order 4, 6 or 8, these have 2");
    return hot_lowrank_f32(context, &how, tensors->order, job->count, job->rows + 1, row, job->mask, job->peaks, NULL,
                           NULL);
}

const hot_peaks_method hot_peaks_lowrank = {
    .name = "lowrank",
    .help = "the tensor (fod) as a sum of up to 3 rank-1 terms: splits crossings that the maxima merge",
    .threshold = 0.2,
    .min_angle = 25,
    .find = find,
};
