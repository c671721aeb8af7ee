/* The signal method on a data set: response, noise, repeated volumes, chunks of voxels to the kernel. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/arguments.h"
#include "common/options.h"
#include "common/entry.h"
#include "core/fields.h"
#include "dwi/gather.h"
#include "dwi/scheme.h"
#include "dwi/summary.h"
#include "fractions.h"
#include "method.h"
#include "model/model.h"
#include "signal_find.h"
#include "signal_population.h"
#include "signal_remarks.h"
#include "signal_samples.h"

/* Floats of signal per chunk: enough for a GPU, little beside the data. */
enum { CHUNK_FLOATS = 1 << 24, SHELLS_MAX = 64, SAMPLE = 2000, LEAST_DIRECTIONS = 12 };

/* Of the b=0 signal: what is estimated as the noise is at least this. Data without noise would otherwise be asked to be
 * sums of responses to the last digit, and what is isotropic would be as many fibres as it takes. */
static const double least_noise = 0.004;
/* Residuals that grow beyond the first of these are not noise (too few volumes, or nothing like the response); then it
 * is taken to be the second, a usual one. */
static const double most_noise = 0.25, usual_noise = 0.05;
/* Of the diffusion-weighted samples: as many that are not above 0 are worth a word. */
static const double many_zeros = 0.02;

/* Volumes that repeat an earlier one bit by bit (same gradient, same signals in all voxels looked at) add nothing
 * and would count that measurement twice. inside: the mask of the voxels read. */
static void drop_repeats(hot_signal_finder *f, const uint8_t *inside, const float *signals, size_t count)
{
    const int *shell_of;
    size_t kept = 0;
    hot_dwi_shells(f->dwi, NULL, &shell_of);
    for (size_t i = 0; i < f->used; i++) {
        const size_t v = f->use[i];
        const double *g = hot_dwi_gradients(f->dwi) + 3 * v;
        int repeats = 0;
        for (size_t k = 0; k < kept && !repeats; k++) {
            const size_t w = f->use[k];
            const double *h = hot_dwi_gradients(f->dwi) + 3 * w;
            if (shell_of[w] != shell_of[v] ||
                fabs(g[0] * h[0] + g[1] * h[1] + g[2] * h[2]) < 0.999999 * (shell_of[v] > 0))
                continue;
            repeats = 1;
            size_t seen = 0;
            for (size_t n = 0; n < count && repeats; n++) {
                const float x = signals[n * f->volumes + v], y = signals[n * f->volumes + w];
                if (!inside[n])
                    continue;
                repeats = x == y;
                seen += x != 0;
            }
            repeats = repeats && seen > 0;
        }
        if (!repeats)
            f->use[kept++] = v;
    }
    /* data without noise have equal b=0 volumes; they stay */
    size_t weighted_before = 0, weighted_after = 0, back = 0;
    for (size_t v = 0; v < f->volumes; v++)
        weighted_before += shell_of[v] > 0;
    for (size_t i = 0; i < kept; i++)
        weighted_after += shell_of[f->use[i]] > 0;
    if (kept < f->used && weighted_after == weighted_before) {
        for (size_t v = 0; v < f->volumes; v++)
            f->use[back++] = v;
        kept = back;
    }
    f->used = kept;
}

/* The volumes whose shell the response knows, and the response in units of its b=0 signal. */
static hot_status match_response(hot_signal_finder *f, double unit_without)
{
    const double *shell_b;
    const int *shell_of;
    int row[SHELLS_MAX];
    const size_t shells = hot_dwi_shells(f->dwi, &shell_b, &shell_of);
    const int degree = hot_response_lmax(f->response), lmax = degree < HOT_SIGNAL_LMAX ? degree : HOT_SIGNAL_LMAX;
    if (shells > SHELLS_MAX)
        return hot_context_fail(f->context, HOT_ERROR_DATA, "the data have %zu shells; at most %d are supported",
                                shells, SHELLS_MAX);
    hot_status status = hot_response_match(f->context, f->response, f->dwi, row);
    if (status != HOT_OK)
        return status;
    double unit = row[0] >= 0 ? hot_response_value(f->response, (size_t)row[0], 0) : unit_without;
    if (!(unit > 0))
        return hot_context_fail(f->context, HOT_ERROR_DATA, "the response's b=0 signal is %g; it must be positive",
                                unit);
    if (row[0] < 0)
        hot_context_log(f->context, HOT_LOG_NOTE,
                        "the response has no row for b=0: it is taken to belong to the mean b=0 signal of the mask, %g",
                        unit);
    size_t n = 0;
    for (size_t s = 1; s < shells; s++) {
        if (row[s] < 0) {
            hot_context_log(f->context, HOT_LOG_NOTE, "the shell b=%.0f has no row in the response and is not used",
                            shell_b[s]);
            continue;
        }
        if (n == HOT_SIGNAL_LMAX)
            return hot_context_fail(f->context, HOT_ERROR_DATA, "more than %d shells", HOT_SIGNAL_LMAX);
        const double *from = hot_response_row(f->response, (size_t)row[s], NULL);
        f->shell_b[n] = shell_b[s];
        for (int l = 0; l <= lmax / 2; l++)
            f->rows[n * (size_t)(lmax / 2 + 1) + (size_t)l] = from[l] / unit;
        n++;
    }
    if (n == 0)
        return hot_context_fail(f->context, HOT_ERROR_DATA, "no shell of the data has a row in the response");
    size_t kept = 0;
    for (size_t i = 0; i < f->used; i++) {
        const int shell = shell_of[f->use[i]];
        if (shell == 0 || row[shell] >= 0) {
            f->b[kept] = shell_b[shell];
            memcpy(f->gradients + 3 * kept, hot_dwi_gradients(f->dwi) + 3 * f->use[i], 3 * sizeof *f->gradients);
            f->use[kept++] = f->use[i];
        }
    }
    f->used = kept;
    f->scheme = (hot_signal_scheme){.size = sizeof f->scheme, .volumes = kept, .b = f->b, .gradients = f->gradients,
                                    .shells = n, .shell_b = f->shell_b, .response = f->rows, .lmax = lmax};
    return HOT_OK;
}

/* The used volumes of up to SAMPLE voxels spread over the mask, and their noise where it is a map's. */
static hot_status take_sample(hot_signal_finder *f, const float *sigma_map, float *sample, float *sigma, size_t *count)
{
    size_t voxel[SAMPLE];
    *count = hot_mask_sample(f->mask, SAMPLE, voxel);
    hot_status status = hot_dwi_gather(f->context, f->dwi, voxel, *count, sample);
    if (status != HOT_OK)
        return status;
    for (size_t i = 0; i < *count; i++) {
        float *signals = sample + i * f->volumes;
        for (size_t v = 0; v < f->volumes; v++)
            if ((double)signals[v] >= f->learned->ceiling)
                signals[f->use[0]] = NAN; /* clipped: nothing is learned from it */
        sigma[i] = sigma_map ? sigma_map[voxel[i]] : 0;
    }
    hot_signal_keep_used(f, *count, sample);
    return HOT_OK;
}

/* The noise model, where it is to be judged, and its line in the log. */
static hot_status judge_noise(hot_signal_finder *f, hot_noise_model asked)
{
    hot_signal_learned *learned = f->learned;
    f->how.noise_model = asked;
    if (asked != HOT_NOISE_AUTO)
        return HOT_OK;
    hot_status status = learned->known ? HOT_OK : hot_dwi_noise_model(f->context, f->dwi, f->mask,
                                                                      &learned->noise_model, &learned->share);
    f->how.noise_model = learned->noise_model;
    if (status == HOT_OK && f->how.noise_model == HOT_NOISE_GAUSSIAN)
        hot_context_log(f->context, HOT_LOG_NOTE,
                        "%.2g %% of the diffusion-weighted samples are negative or 0: the noise is taken to be "
                        "Gaussian, not that of magnitudes (Rician)", 100 * learned->share);
    else if (status == HOT_OK && learned->share >= many_zeros)
        hot_context_log(f->context, HOT_LOG_NOTE,
                        "%.2g %% of the diffusion-weighted samples are negative or 0, which noise does not explain; "
                        "where motion correction or lost slices left zeros fibres are wrong", 100 * learned->share);
    return status;
}

/* With hardly more directions than a fibre has unknowns, any noise is a sum of two fibres: one is all that can be told.
 */
static hot_status limit_fibers(hot_signal_finder *f)
{
    int supports;
    size_t distinct;
    hot_status status = hot_scheme_of_volumes(f->context, f->dwi, f->used, f->use, 4, &distinct, &supports);
    if (status == HOT_OK && distinct < LEAST_DIRECTIONS && f->how.max_fibers > 1) {
        hot_context_log(f->context, HOT_LOG_NOTE,
                        "%zu gradient directions do not tell how many fibres there are: at most one per voxel, which "
                        "stands for one or more; %d directions tell more", distinct, LEAST_DIRECTIONS);
        f->how.max_fibers = 1;
    }
    return status;
}

/* What is usual in the data, and its line in the log. */
static hot_status learn_population(hot_signal_finder *f, const float *sigma_map, double least, int denoised)
{
    hot_context *context = f->context;
    hot_signal_learned *learned = f->learned;
    float *sample = NULL, *sigma = NULL;
    hot_status status = HOT_OK;
    if (!learned->known) {
        sample = hot_context_alloc(context, SAMPLE * f->volumes, sizeof *sample);
        sigma = hot_context_alloc(context, SAMPLE, sizeof *sigma);
        status = sample && sigma ? take_sample(f, sigma_map, sample, sigma, &learned->sampled) : HOT_ERROR_MEMORY;
        if (status == HOT_OK)
            status = hot_signal_learn(context, &f->how, &f->scheme, learned->sampled, sample, sigma_map ? sigma : NULL,
                                      least, denoised, &learned->population, NULL);
    }
    const hot_signal_population *p = &learned->population;
    if (status == HOT_OK)
        hot_signal_tell_learned(context, learned, f->response->typical);
    f->how.population = p;
    f->how.response_sigma = hot_signal_response_sigma(&f->how, p);
    hot_context_free(context, sigma);
    hot_context_free(context, sample);
    return status;
}

/* The noise from what the fits to a sample of voxels leave over, learned from a guess with the priors. Infinite: they
 * tell none. */
static hot_status noise_from_residuals(hot_signal_finder *f, double bright, double *sigma)
{
    hot_context *context = f->context;
    size_t count = 0, fitted = 0;
    hot_signal_population learned;
    hot_signal_options how = f->how;
    float *sample = hot_context_alloc(context, SAMPLE * f->volumes, sizeof *sample);
    float *unused = hot_context_alloc(context, SAMPLE, sizeof *unused);
    hot_status status = sample && unused ? take_sample(f, NULL, sample, unused, &count) : HOT_ERROR_MEMORY;
    how.sigma = usual_noise * bright;
    if (status == HOT_OK)
        status = hot_signal_learn(context, &how, &f->scheme, count, sample, NULL, least_noise / usual_noise, 0,
                                  &learned, &fitted);
    if (status == HOT_OK && fitted == 0)
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "the noise cannot be estimated: no voxel of the mask can be fitted; give --sigma");
    if (status == HOT_OK)
        *sigma = how.sigma * learned.noise <= most_noise * bright ? how.sigma * learned.noise : INFINITY;
    hot_context_free(context, unused);
    hot_context_free(context, sample);
    return status;
}

/* The noise where it was not given, and what is to be said of it. */
static hot_status learn_noise(hot_signal_finder *f, double *sigma)
{
    hot_context *context = f->context;
    hot_signal_learned *learned = f->learned;
    const double bright = learned->bright;
    hot_status status = HOT_OK;
    double snr;
    size_t repeats;
    if (!learned->known) {
        status = hot_dwi_noise(context, f->dwi, f->mask, &learned->sigma, &snr, &repeats);
        learned->from_residuals = status == HOT_OK && !(learned->sigma > 1e-6 * bright) && bright > 0;
        if (learned->from_residuals)
            status = noise_from_residuals(f, bright, &learned->sigma);
        if (status != HOT_OK)
            return status;
    }
    *sigma = learned->sigma;
    if (learned->from_residuals && !(*sigma <= most_noise * bright)) {
        size_t weighted = 0;
        for (size_t i = 0; i < f->used; i++)
            weighted += f->b[i] > 50;
        *sigma = usual_noise * bright;
        hot_context_log(context, HOT_LOG_NOTE,
                        "the noise cannot be told from %zu diffusion-weighted volumes and one b=0: taken to be %g, %g "
                        "of the b=0 signal (--sigma)", weighted, *sigma, usual_noise);
    } else if (learned->from_residuals) {
        hot_context_log(context, HOT_LOG_NOTE,
                        "the b=0 volumes do not show the noise: %g, from the residuals of the fits", *sigma);
    }
    const double given = *sigma, least = least_noise * bright;
    *sigma = fmax(given, least);
    if (given < least)
        hot_context_log(context, HOT_LOG_NOTE, "noise of %g is taken to be %g, %g of the b=0 signal: fibres are never "
                        "closer to the response", given, least, least_noise);
    if (!(*sigma > 0))
        *sigma = 1; /* nothing in the mask has a signal: every voxel will be flagged */
    return HOT_OK;
}

/* Mean b=0 signal of the mask's voxels among those read, but for damaged ones. */
static double mean_b0(const hot_signal_finder *f, const uint8_t *inside, const float *signals, size_t count)
{
    const int *shell_of;
    double sum = 0;
    size_t n = 0, first = 0, end = f->volumes; /* of the b=0 volumes, which are few and often together */
    hot_dwi_shells(f->dwi, NULL, &shell_of);
    while (first < end && shell_of[first] != 0)
        first++;
    while (end > first && shell_of[end - 1] != 0)
        end--;
    const double limit = hot_b0_limit(signals + first, f->volumes, inside, count);
    for (size_t i = 0; i < count; i++)
        for (size_t v = first; inside[i] && v < end; v++) {
            const double s = (double)signals[i * f->volumes + v];
            if (shell_of[v] == 0 && s > 0 && s <= limit) {
                sum += s;
                n++;
            }
        }
    return n ? sum / (double)n : 0;
}

/* Which volumes are used and how bright they are, from the first chunk of the mask. */
static hot_status learn_volumes(hot_signal_finder *f)
{
    hot_signal_learned *learned = f->learned;
    if (learned->known) {
        memcpy(f->use, learned->use, learned->used * sizeof *f->use);
        f->used = learned->used;
    } else {
        const uint8_t *inside = f->mask->bytes + f->first;
        learned->use = hot_context_alloc(f->context, f->volumes, sizeof *learned->use);
        hot_status status = learned->use ? hot_dwi_read(f->context, f->dwi, f->first, f->chunk, f->signals)
                                         : HOT_ERROR_MEMORY;
        if (status != HOT_OK)
            return status;
        for (f->used = 0; f->used < f->volumes; f->used++)
            f->use[f->used] = f->used;
        learned->bright = mean_b0(f, inside, f->signals, f->chunk);
        drop_repeats(f, inside, f->signals, f->chunk);
        memcpy(learned->use, f->use, f->used * sizeof *f->use);
        learned->used = f->used;
    }
    if (f->used < f->volumes)
        hot_context_log(f->context, HOT_LOG_WARNING, "%zu of %zu volumes repeat another bit by bit and are not used",
                        f->volumes - f->used, f->volumes);
    return HOT_OK;
}

void hot_signal_learned_free(hot_context *context, hot_signal_learned *learned)
{
    hot_context_free(context, learned->use);
    memset(learned, 0, sizeof *learned);
}

hot_status hot_fiber_field_signal(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                  const hot_response *response, const hot_signal_find_options *given,
                                  hot_signal_maps *maps, hot_fiber_field **fibers)
{
    HOT_ENTRY(context);
    if (fibers)
        *fibers = NULL;
    if (maps)
        *maps = (hot_signal_maps){.context = context};
    HOT_NEED(context, dwi, fibers);
    if (!mask)
        HOT_RETURN_WITH_ALL(context, &dwi->grid, hot_fiber_field_signal(context, dwi, all, response, given, maps,
                                                                        fibers));
    hot_signal_find_options options = {.size = sizeof options};
    hot_status status = HOT_OK;
    hot_response *estimated = NULL;
    float *peaks = NULL;
    uint8_t *flags = NULL;
    float *residual = NULL; /* where the noise was given */
    size_t flagged = 0;
    double sigma = 0;
    hot_signal_learned here = {0};
    hot_signal_finder f = {.context = context, .dwi = dwi, .mask = mask, .where = mask, .response = response,
                .volumes = dwi->volumes};
    status = hot_options_read(context, "hot_signal_find_options", given, &options);
    if (status != HOT_OK)
        return status;
    if (!dwi->has_b0)
        return hot_context_fail(context, HOT_ERROR_DATA, "'%s' has no b=0 volume (b of at most 50 s/mm^2): the signal "
                                "method's volume fractions are relative to the signal without diffusion weighting",
                                hot_dwi_name(dwi));
    status = hot_signal_find_check(context, &options);
    if (status == HOT_OK)
        status = hot_mask_check(context, mask, &dwi->grid);
    if (status != HOT_OK)
        return status;
    const hot_signal_part *part = options.part;
    if (part && part->where)
        f.where = part->where;
    f.voxels = hot_grid_voxels(&dwi->grid);
    f.how = (hot_signal_options){.size = sizeof f.how, .max_fibers = options.max_fibers ? options.max_fibers : 3,
                                 .order = options.order};
    f.chunk = CHUNK_FLOATS / f.volumes + 1;
    f.chunk = f.chunk < f.voxels ? f.chunk : f.voxels;
    f.signals = hot_context_alloc(context, f.chunk * f.volumes, sizeof *f.signals);
    f.use = hot_context_alloc(context, f.volumes, sizeof *f.use);
    f.b = hot_context_alloc(context, f.volumes, sizeof *f.b);
    f.gradients = hot_context_alloc(context, f.volumes, 3 * sizeof *f.gradients);
    flags = hot_context_calloc(context, f.voxels, 1);
    if (options.sigma > 0 || options.sigma_map)
        residual = hot_context_calloc(context, f.voxels, sizeof *residual);
    if (!f.signals || !f.use || !f.b || !f.gradients || !flags ||
        (!residual && (options.sigma > 0 || options.sigma_map))) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    if (maps && options.keep_maps)
        status = hot_signal_maps_make(context, f.voxels, maps);
    if (status == HOT_OK && !f.response) {
        status = hot_response_estimate(context, dwi, mask, 8, &estimated, NULL);
        f.response = estimated;
    }
    /* what is learned from some voxels is learned from where the mask begins */
    while (f.first + f.chunk < f.voxels && !mask->bytes[f.first])
        f.first++;
    f.learned = part && part->learned ? part->learned : &here;
    if (status == HOT_OK)
        status = f.learned->known ? HOT_OK : hot_dwi_ceiling(context, dwi, &f.learned->ceiling);
    if (status == HOT_OK)
        status = learn_volumes(&f);
    const double bright = f.learned->bright;
    if (status == HOT_OK)
        status = match_response(&f, bright);
    if (status == HOT_OK)
        status = judge_noise(&f, options.noise_model);
    if (status == HOT_OK)
        status = limit_fibers(&f);
    if (status != HOT_OK)
        goto cleanup;
    if (maps)
        status = hot_signal_posterior_make(context, mask, &options, f.how.max_fibers, maps);
    if (status != HOT_OK)
        goto cleanup;
    peaks = hot_context_calloc(context, f.voxels, 3 * (size_t)f.how.max_fibers * sizeof *peaks);
    if (!peaks) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    sigma = options.sigma;
    if (sigma == 0 && !options.sigma_map)
        status = learn_noise(&f, &sigma);
    f.how.sigma = options.sigma_map ? 1 : sigma;
    /* the response's own voxels are brighter and less noisy than others: by the usual noise its bias is overrated */
    if (!options.clean_response && !options.denoised && !(options.sigma > 0) && f.response->noise > 0)
        f.how.response_sigma = fmin(f.response->noise, 0.5);
    else if (!options.clean_response && !options.sigma_map && bright > 0)
        f.how.response_sigma = fmin(sigma / bright, 0.5);
    if (status == HOT_OK)
        status = learn_population(&f, options.sigma_map, options.sigma_map ? 0 : least_noise * bright / sigma,
                                  options.denoised);
    if (status == HOT_OK && part && part->only_learn) {
        maps->sigma = options.sigma_map ? NAN : sigma;
        goto cleanup;
    }
    f.how.ceiling = isfinite(f.learned->ceiling) ? f.learned->ceiling : 0;
    hot_signal_found found = {.max_fibers = f.how.max_fibers, .peaks = peaks, .flags = flags, .maps = maps,
                              .residual = residual || !maps ? residual : maps->residual};
    if (status == HOT_OK)
        status = part && part->recall ? part->recall(part->user, &found)
                                      : hot_signal_find(&f, &options, &found);
    if (status == HOT_OK && residual && maps && options.keep_maps)
        memcpy(maps->residual, residual, f.voxels * sizeof *residual);
    if (status == HOT_OK && part && part->keep)
        status = part->keep(part->user, &found);
    if (status == HOT_OK && maps && options.keep_maps)
        hot_signal_maps_temper(context, f.where, &f.learned->population, maps);
    if (status == HOT_OK && residual && f.where == mask)
        status = hot_signal_compare_noise(context, dwi, mask, &options, least_noise * bright, flags, residual);
    if (status == HOT_OK) {
        hot_fractions_of_typical(context, f.voxels, f.how.max_fibers, f.response->typical, peaks);
        hot_fractions_bound(context, f.voxels, f.how.max_fibers, peaks);
        status = hot_fiber_field_adopt(context, &dwi->grid, f.how.max_fibers, &peaks, fibers);
    }
    if (status == HOT_OK)
        status = hot_fiber_field_keep_response(*fibers, f.response, 1);
    if (status == HOT_OK)
        flagged = hot_signal_tell_flagged(context, mask, flags);
    if (status == HOT_OK && maps) {
        if (options.keep_maps)
            memcpy(maps->flags, flags, f.voxels);
        maps->grid = dwi->grid;
        maps->noise_model = f.how.noise_model;
        maps->population = f.learned->population;
        maps->sigma = options.sigma_map ? NAN : sigma;
        maps->voxels = mask->inside;
        maps->flagged = flagged;
    }
cleanup:
    if (status != HOT_OK) {
        hot_signal_maps_free(maps);
        hot_fiber_field_destroy(fibers);
    }
    hot_response_destroy(&estimated);
    hot_signal_learned_free(context, &here);
    hot_context_free(context, residual);
    hot_context_free(context, flags);
    hot_context_free(context, peaks);
    hot_context_free(context, f.gradients);
    hot_context_free(context, f.b);
    hot_context_free(context, f.use);
    hot_context_free(context, f.signals);
    return status;
}

const hot_peaks_method hot_peaks_signal = {
    .name = "signal",
    .help = "0 to 3 fibres fitted to the signals; how many there are is chosen by their probability",
    .about = "0 to 3 fibres are fitted to the signals themselves, and how many there are is chosen by their "
             "probability; the most accurate. It needs the data (--dwi) and no tensors: with -i, the voxels that have "
             "one are computed, without it those of --mask or of the mask estimated from the b=0 images.",
    .find_in_signals = hot_fiber_field_signal,
    .takes = "sigma noise_model dwi bval bvec grad response diffusivities order probability margin "
             "flags cone cone_axes fraction_sd isotropic free_water noise_sd samples ",
    .model = "fod",
    .default_of = "fod ",
    .max_fibers = 3,
    .directions = LEAST_DIRECTIONS,
};
