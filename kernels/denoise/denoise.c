/* The public functions of the denoise family: options filled in, sums made ready, results finished. */
#include "denoise.h"

#include <string.h>

#include "common/backend.h"
#include "common/context_internal.h"

static const hot_backends backends = {"denoise", hot_denoise_ref, hot_denoise_cpu,
                                     HOT_CUDA_BACKEND(hot_denoise_cuda)};

void hot_denoise_window(const hot_denoise_options *options, const size_t size[3], size_t volumes, size_t window[3],
                        size_t step[3])
{
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

int dn_wanted(const dn_job *job, const size_t corner[3])
{
    if (!job->mask)
        return 1;
    for (size_t k = corner[2]; k < corner[2] + job->window[2]; k++)
        for (size_t j = corner[1]; j < corner[1] + job->window[1]; j++)
            for (size_t i = corner[0]; i < corner[0] + job->window[0]; i++)
                if (job->mask[(k * job->size[1] + j) * job->size[0] + i])
                    return 1;
    return 0;
}

static hot_status take_options(hot_context *context, const hot_denoise_options *options, dn_job *job)
{
    hot_denoise_options *mine = &job->options;
    *mine = (hot_denoise_options){.size = sizeof *mine};
    if (options && options->size != sizeof *mine)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "denoise: options->size is %zu, not %zu", options->size,
                                sizeof *mine);
    if (options)
        *mine = *options;
    for (int d = 0; d < 3; d++) {
        if (job->size[d] == 0 || job->size[d] > INT32_MAX)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "denoise: a volume of %zu x %zu x %zu voxels",
                                    job->size[0], job->size[1], job->size[2]);
        if ((mine->window[d] == 0) != (mine->window[0] == 0) || (mine->step[d] == 0) != (mine->step[0] == 0))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "denoise: a window of %zu x %zu x %zu voxels every "
                                    "%zu, %zu, %zu", mine->window[0], mine->window[1], mine->window[2], mine->step[0],
                                    mine->step[1], mine->step[2]);
    }
    if (mine->estimator != HOT_NOISE_EXP1 && mine->estimator != HOT_NOISE_EXP2)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "denoise: there is no estimator %d", (int)mine->estimator);
    if (mine->slices == 0) {
        mine->slices = mine->end = job->size[2];
        mine->first = mine->begin = 0;
    }
    if (mine->first + job->size[2] > mine->slices || mine->begin < mine->first || mine->begin >= mine->end ||
        mine->end > mine->first + job->size[2])
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "denoise: slices %zu to %zu of %zu are wanted, and %zu from %zu on are here",
                                mine->begin, mine->end, mine->slices, job->size[2], mine->first);
    const size_t whole[3] = {job->size[0], job->size[1], mine->slices};
    hot_denoise_window(mine, whole, job->volumes, job->window, job->step);
    const size_t low = mine->begin < job->window[2] - 1 ? 0 : mine->begin - (job->window[2] - 1);
    const size_t high = mine->end + job->window[2] - 1 < mine->slices ? mine->end + job->window[2] - 1 : mine->slices;
    if (mine->first > low || mine->first + job->size[2] < high)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "denoise: slices %zu to %zu with windows of %zu need slices %zu to %zu",
                                mine->begin, mine->end, job->window[2], low, high);
    if (job->volumes < 2)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "denoise: one volume alone says nothing of its noise; at least 2 are "
                                "needed");
    job->voxels = job->window[0] * job->window[1] * job->window[2];
    job->columns = job->volumes < job->voxels ? job->volumes : job->voxels;
    job->rows = job->volumes < job->voxels ? job->voxels : job->volumes;
    if (job->columns < 2 || job->columns > HOT_DENOISE_MAX)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "denoise: %zu volumes in windows of %zu voxels; the smaller of the two goes from 2 to "
                                "%d",
                                job->volumes, job->voxels, HOT_DENOISE_MAX);
    return HOT_OK;
}

/* Which windows along j and k; only those along k that touch what is written. */
static void choose_places(dn_job *job)
{
    const hot_denoise_options *o = &job->options;
    job->places[0] = dn_places(job->size[1], job->window[1], job->step[1]);
    size_t all = dn_places(o->slices, job->window[2], job->step[2]), first = 0, last = all;
    while (dn_place(first, o->slices, job->window[2], job->step[2]) + job->window[2] <= o->begin)
        first++;
    while (dn_place(last - 1, o->slices, job->window[2], job->step[2]) >= o->end)
        last--;
    job->place0 = first;
    job->places[1] = last - first;
}

static void find_usable(dn_job *job, int threads)
{
    const size_t voxels = job->size[0] * job->size[1] * job->size[2];
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t v = 0; v < voxels; v++) {
        const float *s = job->signals + v * job->width;
        float sum = 0; /* 0 times a finite number, and NaN else */
        for (size_t k = 0; k < job->width; k++)
            sum += 0 * s[k];
        job->usable[v] = sum == 0;
    }
}

/* Sums become means; what no window has touched stays as it came. */
static void finish(const dn_job *job, int threads)
{
    const size_t plane = job->size[0] * job->size[1], skipped = (job->options.begin - job->options.first) * plane;
    const size_t voxels = (job->options.end - job->options.begin) * plane;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t v = 0; v < voxels; v++) {
        const size_t from = v + skipped;
        const int inside = !job->mask || job->mask[from];
        float *out = job->denoised + v * job->width;
        if (!inside || !job->usable[from] || !(job->windows[v] > 0)) {
            memcpy(out, job->signals + from * job->width, job->width * sizeof *out);
        } else {
            const float share = 1 / job->windows[v];
            for (size_t k = 0; k < job->width; k++)
                out[k] *= share;
        }
        if (job->noise)
            job->noise[v] = !inside ? 0 : job->variances[v] > 0 ? sqrtf(job->variance[v] / job->variances[v]) : NAN;
    }
}

hot_status dn_begin(hot_context *context, dn_job *job)
{
    const size_t written = job->size[0] * job->size[1] * (job->options.end - job->options.begin);
    job->usable = hot_context_alloc(context, job->size[0] * job->size[1] * job->size[2], 1);
    job->windows = hot_context_calloc(context, written, sizeof *job->windows);
    job->variance = hot_context_calloc(context, written, sizeof *job->variance);
    job->variances = hot_context_calloc(context, written, sizeof *job->variances);
    if (!job->usable || !job->windows || !job->variance || !job->variances)
        return HOT_ERROR_MEMORY;
    find_usable(job, hot_context_threads(context));
    memset(job->denoised, 0, written * job->width * sizeof *job->denoised);
    return HOT_OK;
}

hot_status dn_end(hot_context *context, dn_job *job, hot_status status)
{
    if (status == HOT_OK)
        finish(job, hot_context_threads(context));
    hot_context_free(context, job->usable);
    hot_context_free(context, job->windows);
    hot_context_free(context, job->variance);
    hot_context_free(context, job->variances);
    return status;
}

hot_status hot_denoise_f32(hot_context *context, const hot_denoise_options *options, const size_t size[3],
                           size_t volumes, const float *signals, const uint8_t *mask, float *denoised, float *noise)
{
    if (!context)
        return HOT_ERROR_ARGUMENT;
    if (!size || !signals || !denoised)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "denoise: size, signals and the result are needed");
    dn_job job = {.size = {size[0], size[1], size[2]}, .volumes = volumes, .signals = signals, .mask = mask,
                  .denoised = denoised, .noise = noise};
    hot_status status = take_options(context, options, &job);
    if (status != HOT_OK)
        return status;
    job.width = volumes * (job.options.is_complex ? 2 : 1);
    choose_places(&job);
    return hot_backend_run(context, &backends, &job);
}
