/* The public functions of the denoise family: bounds, and which backend. */
#include "denoise.h"

#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "common/entry.h"
#include "common/options.h"

static const hot_backends backends = {"denoise", hot_denoise_ref, hot_denoise_cpu,
                                     HOT_CUDA_BACKEND(hot_denoise_cuda), 1};

void hot_denoise_window(const hot_denoise_options *options, const size_t size[3], size_t volumes, size_t window[3],
                        size_t step[3])
{
    HOT_ENTRY(NULL);
    if (!size || !window || !step)
        return;
    const int given = options && (options->window[0] || options->window[1] || options->window[2]);
    const int stepped = options && (options->step[0] || options->step[1] || options->step[2]);
    size_t side = 3;
    while (side * side * side < volumes)
        side += 2;
    for (int d = 0; d < 3; d++) {
        window[d] = given ? options->window[d] : side;
        window[d] = window[d] < size[d] ? window[d] : size[d];
        step[d] = stepped ? options->step[d] : window[d] > 2 ? 2 : 1;
        step[d] = step[d] < window[d] ? step[d] : window[d];
    }
}

static hot_status take_options(hot_context *context, const hot_denoise_options *options, denoise_args *args)
{
    hot_denoise_options *mine = &args->options;
    *mine = (hot_denoise_options){.size = sizeof *mine};
    HOT_TRY(hot_options_read(context, "hot_denoise_options", options, mine));
    for (int d = 0; d < 3; d++) {
        if (args->size[d] == 0 || args->size[d] > INT32_MAX)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "denoise: a volume of %zu x %zu x %zu voxels",
                                    args->size[0], args->size[1], args->size[2]);
        if ((mine->window[d] == 0) != (mine->window[0] == 0) || (mine->step[d] == 0) != (mine->step[0] == 0))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "denoise: a window of %zu x %zu x %zu voxels every "
                                    "%zu, %zu, %zu", mine->window[0], mine->window[1], mine->window[2], mine->step[0],
                                    mine->step[1], mine->step[2]);
    }
    if (mine->estimator != HOT_DENOISE_EXP1 && mine->estimator != HOT_DENOISE_EXP2)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "estimator", "there is no estimator %d",
                                          (int)mine->estimator);
    HOT_TRY(hot_option_choice(context, "is_complex", mine->is_complex, 2));
    if (mine->slices == 0) {
        mine->slices = mine->end = args->size[2];
        mine->first = mine->begin = 0;
    }
    if (mine->first + args->size[2] > mine->slices || mine->begin < mine->first || mine->begin >= mine->end ||
        mine->end > mine->first + args->size[2])
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "denoise: slices %zu to %zu of %zu are wanted, and %zu from %zu on are here",
                                mine->begin, mine->end, mine->slices, args->size[2], mine->first);
    const size_t whole[3] = {args->size[0], args->size[1], mine->slices};
    hot_denoise_window(mine, whole, args->volumes, args->window, args->step);
    const size_t low = mine->begin < args->window[2] - 1 ? 0 : mine->begin - (args->window[2] - 1);
    const size_t high = mine->end + args->window[2] - 1 < mine->slices ? mine->end + args->window[2] - 1 : mine->slices;
    if (mine->first > low || mine->first + args->size[2] < high)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "denoise: slices %zu to %zu with windows of %zu need slices %zu to %zu",
                                mine->begin, mine->end, args->window[2], low, high);
    if (args->volumes < 2)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "denoise: the noise of a single volume cannot be estimated; at least 2 are "
                                "needed");
    args->voxels = args->window[0] * args->window[1] * args->window[2];
    args->columns = args->volumes < args->voxels ? args->volumes : args->voxels;
    args->rows = args->volumes < args->voxels ? args->voxels : args->volumes;
    if (args->columns < 2 || args->columns > HOT_DENOISE_MAX)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "denoise: %zu volumes in windows of %zu voxels; the smaller of the two goes from 2 to "
                                "%d",
                                args->volumes, args->voxels, HOT_DENOISE_MAX);
    return HOT_OK;
}

/* Which windows along j and k; along k only those that touch an output slice. */
static void choose_places(denoise_args *args)
{
    const hot_denoise_options *o = &args->options;
    args->places[0] = denoise_places(args->size[1], args->window[1], args->step[1]);
    size_t all = denoise_places(o->slices, args->window[2], args->step[2]), first = 0, last = all;
    while (denoise_place(first, o->slices, args->window[2], args->step[2]) + args->window[2] <= o->begin)
        first++;
    while (denoise_place(last - 1, o->slices, args->window[2], args->step[2]) >= o->end)
        last--;
    args->place0 = first;
    args->places[1] = last - first;
}

hot_status hot_denoise_f32(hot_context *context, const hot_denoise_options *options, const size_t size[3],
                           size_t volumes, const float *signals, const uint8_t *mask, float *denoised, float *noise)
{
    HOT_ENTRY(context);
    HOT_NEED(context, size, signals, denoised);
    if (!size || !signals || !denoised)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "denoise: size, signals and the result are needed");
    denoise_args args = {.size = {size[0], size[1], size[2]}, .volumes = volumes, .signals = signals, .mask = mask,
                  .denoised = denoised, .noise = noise};
    HOT_TRY(take_options(context, options, &args));
    args.width = volumes * (args.options.is_complex ? 2 : 1);
    choose_places(&args);
    return hot_backend_run(context, &backends, &args);
}
