/* The signal method's voxels, all in one call or chunk by chunk. */
#include "signal_field.h"

#include <math.h>
#include <string.h>

#include "dwi/gather.h"
#include "signal/signal_source.h"
#include "signal_posterior.h"

enum { TOGETHER = 64 /* voxels that are read at a time */, KMAX = 3 /* fibres of a voxel */ };

static float length_of(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

void hot_signal_keep_used(const hot_signal_finder *f, size_t count, float *signals)
{
    for (size_t n = 0; n < count && f->used < f->volumes; n++)
        for (size_t i = 0; i < f->used; i++) /* to the left, or where it is: nothing is overwritten too early */
            signals[n * f->used + i] = signals[n * f->volumes + f->use[i]];
}

/* A call for all voxels. */
typedef struct at_once {
    const hot_signal_finder *finder;
    const hot_signal_part *part;
    const hot_signal_output *found;
    size_t room; /* voxels whose signals make room for the directions of all others; 0: freed, or not to be */
} at_once;

/* Signals for the kernel's copies; none where the mask has no voxel. */
static void read_signals(void *user, size_t first, size_t count, float *rows)
{
    const hot_signal_finder *f = ((const at_once *)user)->finder;
    first += f->first;
    for (size_t at = 0; at < count; at += TOGETHER) {
        const size_t here = count - at < TOGETHER ? count - at : TOGETHER;
        if (memchr(f->where->bytes + first + at, 1, here))
            hot_dwi_read_range(f->dwi, first + at, here, rows + at * f->volumes);
    }
}

/* Reports fibres. Frees signals once, as soon as that makes room for all remaining directions. */
static void note_used(void *user, size_t end)
{
    at_once *job = user;
    if (job->part->found)
        job->part->found(job->part->user, job->found, job->finder->first + end);
    if (!job->part->used || job->room == 0 || end < job->room)
        return;
    job->part->used(job->part->user, job->finder->first + end);
    job->room = 0;
}

/* Whether one call can fit all voxels while it reads: the signals of a chunk have no other use, are in memory, and all
 * volumes are used. */
static int reads_itself(const hot_signal_finder *f, const hot_signal_part *part, const hot_signal_maps *maps)
{
    return !f->dwi->paged && f->used == f->volumes && part->step == 0 && !part->load &&
           !part->denoised &&
           !(maps && (maps->cone || maps->samples));
}

/* Noise that was given is compared with the signals in the end. */
static int reads_again(const hot_signal_find_options *options) { return options->sigma > 0 || options->sigma_map; }

/* The arrays of the voxels from `first` on. */
static hot_signal_result result_at(const hot_signal_finder *f, const hot_signal_find_options *options,
                                   const hot_signal_output *found, size_t first)
{
    const hot_signal_maps *maps = found->maps;
    hot_signal_result result = {.size = sizeof result,
                                .directions = found->peaks + first * 3 * (size_t)f->how.max_fibers,
                                .flags = found->flags + first};
    result.residual = found->residual ? found->residual + first : NULL;
    if (maps && options->keep_maps) {
        result.probability = maps->probability + 4 * first;
        result.margin = maps->margin ? maps->margin + first : NULL;
        result.width = maps->width ? maps->width + first : NULL;
    }
    return result;
}

static hot_signal_numbers numbers_of(const hot_dwi *dwi)
{
    const int stored = dwi->slope == 1 && dwi->intercept == 0, sample = dwi->sample;
    const hot_signal_numbers narrow = sample == HOT_SAMPLE_U16 ? HOT_SIGNAL_U16 : HOT_SIGNAL_I16;
    return stored && (sample == HOT_SAMPLE_U16 || sample == HOT_SAMPLE_I16) ? narrow : HOT_SIGNAL_ANY;
}

/* All voxels from f->first on in one call. */
static hot_status find_at_once(hot_signal_finder *f, const hot_signal_find_options *options,
                               const hot_signal_output *found, const hot_signal_part *part)
{
    const double signals = (double)(f->volumes * hot_sample_bytes(f->dwi->sample));
    const double directions = 3.0 * sizeof(float) * f->how.max_fibers, voxels = (double)(f->voxels - f->first);
    const size_t room = reads_again(options) ? 0 : (size_t)(voxels * directions / (directions + signals));
    at_once job = {f, part, found, room};
    const hot_signal_source source = {read_signals, room || part->found ? note_used : NULL, &job, numbers_of(f->dwi)};
    const hot_signal_result result = result_at(f, options, found, f->first);
    hot_context_free(f->context, f->signals);
    f->signals = NULL;
    f->how.progress[0] = 0;
    f->how.progress[1] = 1;
    return hot_signal_fibers_from(f->context, &f->how, &f->scheme, f->voxels - f->first, &source,
                                  options->sigma_map ? options->sigma_map + f->first : NULL, NULL,
                                  f->where->bytes + f->first, &result);
}

/* Turns the fibres of a voxel into the directions of as many others, each into the nearest that is left. Their lengths
 * stay. */
static void turn_fibers(int count, float *fibers, const float *others)
{
    int fiber_done[KMAX] = {0}, other_done[KMAX] = {0};
    for (int turned = 0; turned < count; turned++) {
        int fiber = 0, other = 0;
        float nearest = -1, sign = 1, length = 0;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) {
                const float *a = fibers + 3 * i, *b = others + 3 * j;
                const float dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2], a_long = length_of(a), b_long = length_of(b);
                if (fiber_done[i] || other_done[j] || !(fabsf(dot) > nearest * a_long * b_long))
                    continue;
                fiber = i, other = j;
                nearest = fabsf(dot) / (a_long * b_long);
                sign = dot < 0 ? -1.0f : 1.0f;
                length = a_long / b_long;
            }
        fiber_done[fiber] = other_done[other] = 1;
        for (int d = 0; d < 3; d++)
            fibers[3 * fiber + d] = sign * length * others[3 * other + d];
    }
}

static int count_fibers(int max_fibers, const float *fibers)
{
    int count = 0;
    while (count < max_fibers && length_of(fibers + 3 * count) > 0)
        count++;
    return count;
}

/* The directions of the denoised data's fits, where they have as many fibres. */
static hot_status take_directions(hot_signal_finder *f, const hot_signal_part *part, size_t first, size_t count,
                                  const float *sigma, float *directions)
{
    const size_t width = 3 * (size_t)f->how.max_fibers;
    float *others = hot_context_alloc(f->context, count, width * sizeof *others);
    const hot_signal_result result = {.size = sizeof result, .directions = others};
    hot_status status = others ? hot_dwi_read(f->context, part->denoised, first, count, f->signals) : HOT_ERROR_MEMORY;
    if (status == HOT_OK) {
        hot_signal_keep_used(f, count, f->signals);
        status = hot_signal_fibers_f32(f->context, &f->how, &f->scheme, count, f->signals, sigma, NULL,
                                       f->where->bytes + first, &result);
    }
    for (size_t v = 0; v < count && status == HOT_OK; v++) {
        const int fibers = count_fibers(f->how.max_fibers, directions + v * width);
        if (f->where->bytes[first + v] && fibers == count_fibers(f->how.max_fibers, others + v * width))
            turn_fibers(fibers, directions + v * width, others + v * width);
    }
    hot_context_free(f->context, others);
    return status;
}

/* One slab: loaded, or read, fitted and saved. */
static hot_status find_slab(hot_signal_finder *f, const hot_signal_find_options *options,
                            const hot_signal_output *found, const hot_signal_part *part, size_t first, size_t count)
{
    hot_signal_maps *maps = found->maps;
    const hot_signal_result result = result_at(f, options, found, first);
    const float *sigma = options->sigma_map ? options->sigma_map + first : NULL;
    hot_status status = HOT_OK;
    int known = 0;
    if (part->load)
        status = part->load(part->user, found, first, count, &known);
    if (status != HOT_OK || known)
        return status;
    if (first > f->first || f->learned->known)
        status = hot_dwi_read(f->context, f->dwi, first, count, f->signals);
    hot_signal_keep_used(f, count, f->signals);
    if (status == HOT_OK && maps && (maps->cone || maps->samples))
        status = hot_signal_find_posterior(f->context, &f->how, &f->scheme, f->where, first, count, f->signals, sigma,
                                           f->response->typical, &result, maps);
    else if (status == HOT_OK)
        status = hot_signal_fibers_f32(f->context, &f->how, &f->scheme, count, f->signals, sigma, NULL,
                                       f->where->bytes + first, &result);
    if (status == HOT_OK && part->denoised)
        status = take_directions(f, part, first, count, sigma, result.directions);
    if (status == HOT_OK && part->save)
        status = part->save(part->user, found, first, count);
    if (status == HOT_OK && part->used && !reads_again(options))
        part->used(part->user, first + count);
    return status;
}

hot_status hot_signal_find(hot_signal_finder *f, const hot_signal_output *found)
{
    const hot_signal_find_options *options = &f->options;
    const hot_signal_part none = {0}, *part = options->part ? options->part : &none;
    const size_t step = part->step > 0 && part->step < f->chunk ? part->step : f->chunk;
    hot_status status = HOT_OK;
    if (reads_itself(f, part, found->maps)) {
        status = find_at_once(f, options, found, part);
        if (status == HOT_OK && part->found) /* several GPUs tell only that all is done */
            part->found(part->user, found, f->voxels);
        return status == HOT_OK && part->save ? part->save(part->user, found, f->first, f->voxels - f->first) : status;
    }
    for (size_t first = f->first; first < f->voxels && status == HOT_OK; first += step) {
        const size_t count = f->voxels - first < step ? f->voxels - first : step;
        f->how.progress[0] = (double)first / (double)f->voxels;
        f->how.progress[1] = (double)(first + count) / (double)f->voxels;
        status = f->where == f->mask || memchr(f->where->bytes + first, 1, count)
            ? find_slab(f, options, found, part, first, count) : hot_context_check(f->context, "finding fibres");
        if (status == HOT_OK && part->found)
            part->found(part->user, found, first + count);
    }
    return status;
}
