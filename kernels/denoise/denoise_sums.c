/* The sums over windows of the backends: allocated and cleared before, turned into means after. */
#include "denoise.h"

#include <math.h>
#include <string.h>

#include "common/entry.h"
#include "common/free.h"

int hot_denoise_wanted(const denoise_args *args, const size_t corner[3])
{
    if (!args->mask)
        return 1;
    for (size_t k = corner[2]; k < corner[2] + args->window[2]; k++)
        for (size_t j = corner[1]; j < corner[1] + args->window[1]; j++)
            for (size_t i = corner[0]; i < corner[0] + args->window[0]; i++)
                if (args->mask[(k * args->size[1] + j) * args->size[0] + i])
                    return 1;
    return 0;
}

static void find_usable(denoise_args *args, int threads)
{
    const size_t voxels = args->size[0] * args->size[1] * args->size[2];
#pragma omp parallel for num_threads(hot_team(threads)) schedule(static)
    for (size_t v = 0; v < voxels; v++) {
        const float *s = args->signals + v * args->width;
        float sum = 0; /* 0 times a finite number, and NaN else */
        for (size_t k = 0; k < args->width; k++)
            sum += 0 * s[k];
        args->usable[v] = sum == 0;
    }
}

/* Sums become means; what no window has touched stays as it came. */
static void finish(const denoise_args *args, int threads)
{
    const size_t plane = args->size[0] * args->size[1], skipped = (args->options.begin - args->options.first) * plane;
    const size_t voxels = (args->options.end - args->options.begin) * plane;
#pragma omp parallel for num_threads(hot_team(threads)) schedule(static)
    for (size_t v = 0; v < voxels; v++) {
        const size_t from = v + skipped;
        const int inside = !args->mask || args->mask[from];
        float *out = args->denoised + v * args->width;
        if (!inside || !args->usable[from] || !(args->windows[v] > 0)) {
            memcpy(out, args->signals + from * args->width, args->width * sizeof *out);
        } else {
            const float share = 1 / args->windows[v];
            for (size_t k = 0; k < args->width; k++)
                out[k] *= share;
        }
        if (args->noise)
            args->noise[v] = !inside                  ? 0
                             : args->variances[v] > 0 ? (float)sqrt(args->variance[v] / (double)args->variances[v])
                                                      : NAN;
    }
}

hot_status hot_denoise_begin(hot_context *context, denoise_args *args)
{
    const size_t written = args->size[0] * args->size[1] * (args->options.end - args->options.begin);
    args->usable = hot_context_alloc(context, args->size[0] * args->size[1] * args->size[2], 1);
    args->windows = hot_context_calloc(context, written, sizeof *args->windows);
    args->variance = hot_context_calloc(context, written, sizeof *args->variance);
    args->variances = hot_context_calloc(context, written, sizeof *args->variances);
    if (!args->usable || !args->windows || !args->variance || !args->variances)
        return HOT_ERROR_MEMORY;
    find_usable(args, hot_context_threads(context));
    memset(args->denoised, 0, written * args->width * sizeof *args->denoised);
    return HOT_OK;
}

hot_status hot_denoise_end(hot_context *context, denoise_args *args, hot_status status)
{
    if (status == HOT_OK)
        finish(args, hot_context_threads(context));
    HOT_FREE(context, args->usable, args->windows, args->variance, args->variances);
    return status;
}
