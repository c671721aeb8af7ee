/* hot_directions_f32: arguments, and which backend runs. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/entry.h"
#include "common/options.h"
#include "directions_args.h"

hot_status hot_directions_resolve(hot_context *context, const hot_directions_options *options, int order, size_t count,
                                  const float *tensors, size_t stride, const uint8_t *mask, float *directions,
                                  uint8_t *found, hot_directions_args *args)
{
    hot_directions_options given = {.size = sizeof given};
    hot_status status = hot_options_read(context, "hot_directions_options", options, &given);
    if (status != HOT_OK)
        return status;
    if (order < 2 || order > HOT_DIRECTIONS_ORDER_MAX || order % 2 != 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "directions need a tensor of order 2, 4, 6, 8, 10 or 12, not %d", order);
    if (given.starts > 0 && order > HOT_DIRECTIONS_STARTS_ORDER_MAX)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "many starts take tensors of order 2, 4, 6 or 8, not %d",
                                order);
    if (given.max_directions < 0 || given.max_directions > HOT_DIRECTIONS_MAX)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "max_directions", "1 to %d directions per "
                                          "tensor are possible, not %d", HOT_DIRECTIONS_MAX, given.max_directions);
    double threshold = given.threshold, angle = given.min_angle, range = given.min_relative_range;
    status = hot_option_number(context, "threshold", 0.25, 1, &threshold);
    if (status == HOT_OK)
        status = hot_option_number(context, "min_angle", 15, 90, &angle);
    if (status == HOT_OK)
        status = hot_option_number(context, "min_relative_range", 1e-4, 1 - DBL_EPSILON, &range);
    if (status == HOT_OK)
        status = hot_option_choice(context, "shift", (int)given.shift, HOT_SHIFT_NONE + 1);
    if (status != HOT_OK)
        return status;
    if (given.shift == HOT_SHIFT_FIXED && !(given.alpha >= 0 && isfinite(given.alpha)))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "alpha", "maxima need a shift of at least 0, "
                                          "not %g", given.alpha);
    const size_t terms = hot_symtensor_count(order, 3);
    if (stride < terms)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a tensor of order %d has %zu values; a stride of %zu is "
                                "too small", order, terms, stride);
    const int keep = given.max_directions ? given.max_directions : 3;
    if (count > SIZE_MAX / sizeof(float) / stride || count > SIZE_MAX / sizeof(float) / 3 / (size_t)keep)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "%zu tensors are more than memory can hold", count);
    if (count && (!tensors || !directions))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "no memory given for %s",
                                tensors ? "directions" : "tensors");
    const double cosine = cos(fmax(angle, HOT_DIRECTIONS_SAME) * (3.14159265358979323846 / 180));
    *args = (hot_directions_args){.order = order,
                                  .keep = keep,
                                  .threshold = (float)threshold,
                                  .min_relative_range = (float)range,
                                  .apart = (float)(cosine * cosine),
                                  .starts = given.starts,
                                  .shift = given.shift,
                                  .alpha = given.alpha,
                                  .count = count,
                                  .stride = stride,
                                  .tensors = tensors,
                                  .mask = mask,
                                  .directions = directions,
                                  .found = found};
    return HOT_OK;
}

hot_status hot_directions_f32(hot_context *context, const hot_directions_options *options, int order, size_t count,
                              const float *tensors, size_t stride, const uint8_t *mask, float *directions,
                              uint8_t *found)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (count > 0)
        HOT_NEED(context, tensors, directions);
    hot_directions_args args;
    hot_status status = hot_directions_resolve(context, options, order, count, tensors, stride, mask, directions, found,
                                               &args);
    if (status != HOT_OK)
        return status;
    static const hot_backends scan = {"directions", hot_directions_ref, hot_directions_cpu,
                                      HOT_CUDA_BACKEND(hot_directions_cuda), 1};
    static const hot_backends starts = {"directions", hot_directions_starts, hot_directions_starts,
                                        HOT_CUDA_BACKEND(hot_directions_starts_cuda), 1};
    return hot_backend_run(context, args.starts > 0 && order > 2 ? &starts : &scan, &args);
}
