/* hot_directions_f32: arguments, and which backend runs. */
#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "common/backend.h"
#include "common/entry.h"
#include "common/options.h"
#include "directions_args.h"

hot_status hot_directions_resolve(hot_context *context, const hot_directions_options *options, int order, size_t count,
                                  const float *tensors, size_t stride, const uint8_t *mask, float *directions,
                                  uint8_t *found, hot_directions_args *args)
{
    hot_directions_options given = {.size = sizeof given, .threshold = -1, .min_angle = -1, .min_relative_range = -1};
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
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "1 to %d directions per tensor are possible, not %d",
                                HOT_DIRECTIONS_MAX, given.max_directions);
    const double threshold = given.threshold < 0 ? 0.25 : given.threshold;
    const double angle = given.min_angle < 0 ? 15 : given.min_angle;
    const double range = given.min_relative_range < 0 ? 1e-4 : given.min_relative_range;
    if (!(threshold <= 1))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the threshold is a fraction, 0 to 1, not %g", threshold);
    if (!(angle <= 90))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the smallest angle is 0 to 90 degrees, not %g", angle);
    if (!(range < 1))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the smallest relative range is below 1, not %g", range);
    if (given.shift == HOT_SHIFT_FIXED && !(given.alpha >= 0))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "maxima need a shift of at least 0, not %g", given.alpha);
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
                                  .basin = given.basin,
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
