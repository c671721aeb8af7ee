/* The signal method on a data set: response, noise, repeated volumes, chunks of voxels to the kernel. */
#include <math.h>
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
#include "signal_field.h"
#include "signal_posterior.h"
#include "signal_priors.h"

/* Floats of signal per chunk: enough for a GPU, little compared with the data. */
enum { CHUNK_FLOATS = 1 << 24, SHELLS_MAX = 64, SAMPLE = 2000, MIN_DIRECTIONS = 12 };

/* Lower bound of the estimated noise, relative to the b=0 signal. Noise-free data would otherwise have to match sums of
 * responses to the last digit, and isotropic signal would become many fibres. */
static const double min_noise = 0.004;
/* Residuals that grow beyond the first of these are not noise (too few volumes, or nothing like the response); then it
 * is taken to be the second, a usual one. */
static const double max_noise = 0.25, typical_noise = 0.05;
/* From this share of diffusion-weighted samples at or below 0 on, a note is printed. */
static const double many_zeros = 0.02;

static int noise_is_given(const hot_signal_finder *f) { return f->options.sigma > 0 || f->options.sigma_map; }

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
static hot_status match_response(hot_signal_finder *f)
{
    const double *shell_b;
    const int *shell_of;
    int row[SHELLS_MAX];
    const size_t shells = hot_dwi_shells(f->dwi, &shell_b, &shell_of);
    const int degree = hot_response_lmax(f->response), lmax = degree < HOT_SIGNAL_LMAX ? degree : HOT_SIGNAL_LMAX;
    if (shells > SHELLS_MAX)
        return hot_context_fail(f->context, HOT_ERROR_DATA, "the data have %zu shells; at most %d are supported",
                                shells, SHELLS_MAX);
    HOT_TRY(hot_response_match(f->context, f->response, f->dwi, row));
    double unit = row[0] >= 0 ? hot_response_value(f->response, (size_t)row[0], 0) : f->learned->bright;
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
    HOT_TRY(hot_dwi_read_list(f->context, f->dwi, voxel, *count, sample));
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

/* Chooses the noise model if it is automatic, and logs it. */
static hot_status judge_noise(hot_signal_finder *f)
{
    const hot_noise_model asked = f->options.noise_model;
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

/* With hardly more directions than a fibre has unknowns, any noise is a sum of two fibres: only one can be found. */
static hot_status limit_fibers(hot_signal_finder *f)
{
    int supports;
    size_t distinct;
    hot_status status = hot_scheme_of_volumes(f->context, f->dwi, f->used, f->use, 4, &distinct, &supports);
    if (status == HOT_OK && distinct < MIN_DIRECTIONS && f->how.max_fibers > 1) {
        hot_context_log(f->context, HOT_LOG_NOTE,
                        "%zu gradient directions do not tell how many fibres there are: at most one per voxel, which "
                        "stands for one or more; %d directions tell more", distinct, MIN_DIRECTIONS);
        f->how.max_fibers = 1;
    }
    return status;
}

/* The priors of the data, and their line in the log. */
static hot_status learn_priors(hot_signal_finder *f)
{
    const float *sigma_map = f->options.sigma_map;
    const double min = sigma_map ? 0 : min_noise * f->learned->bright / f->sigma; /* over the noise given */
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
                                      min, f->options.denoised, &learned->population, NULL);
    }
    const hot_signal_priors *p = &learned->population;
    if (status == HOT_OK)
        hot_signal_log_priors(context, learned, f->response->typical);
    f->how.population = p;
    f->how.response_sigma = hot_signal_response_sigma(&f->how, p);
    HOT_FREE(context, sigma, sample);
    return status;
}

/* The noise by the residuals of the fits to a sample of voxels, learned together with the priors from a first guess.
 * Infinite: undetermined. */
static hot_status noise_from_residuals(hot_signal_finder *f, double bright, double *sigma)
{
    hot_context *context = f->context;
    size_t count = 0, fitted = 0;
    hot_signal_priors learned;
    hot_signal_options how = f->how;
    float *sample = hot_context_alloc(context, SAMPLE * f->volumes, sizeof *sample);
    float *unused = hot_context_alloc(context, SAMPLE, sizeof *unused);
    hot_status status = sample && unused ? take_sample(f, NULL, sample, unused, &count) : HOT_ERROR_MEMORY;
    how.sigma = typical_noise * bright;
    if (status == HOT_OK)
        status = hot_signal_learn(context, &how, &f->scheme, count, sample, NULL, min_noise / typical_noise, 0,
                                  &learned, &fitted);
    if (status == HOT_OK && fitted == 0)
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "the noise cannot be estimated: no voxel of the mask can be fitted; give --sigma");
    if (status == HOT_OK)
        *sigma = how.sigma * learned.noise <= max_noise * bright ? how.sigma * learned.noise : INFINITY;
    HOT_FREE(context, unused, sample);
    return status;
}

/* Estimates the noise if it was not given, and logs it. */
static hot_status estimate_noise(hot_signal_finder *f, double *sigma)
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
    if (learned->from_residuals && !(*sigma <= max_noise * bright)) {
        size_t weighted = 0;
        for (size_t i = 0; i < f->used; i++)
            weighted += f->b[i] > 50;
        *sigma = typical_noise * bright;
        hot_context_log(context, HOT_LOG_NOTE,
                        "the noise cannot be told from %zu diffusion-weighted volumes and one b=0: taken to be %g, %g "
                        "of the b=0 signal (--sigma)", weighted, *sigma, typical_noise);
    } else if (learned->from_residuals) {
        hot_context_log(context, HOT_LOG_NOTE,
                        "the b=0 volumes do not show the noise: %g, from the residuals of the fits", *sigma);
    }
    const double given = *sigma, least = min_noise * bright;
    *sigma = fmax(given, least);
    if (given < least)
        hot_context_log(context, HOT_LOG_NOTE, "noise of %g is taken to be %g, %g of the b=0 signal: fibres are never "
                        "closer to the response", given, least, min_noise);
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

/* Which volumes are used and how bright they are, from where the mask begins. */
static hot_status learn_volumes(hot_signal_finder *f)
{
    hot_signal_learned *learned = f->learned;
    while (f->first + f->chunk < f->voxels && !f->mask->bytes[f->first])
        f->first++;
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

/* ---- Stages ---- */

static hot_status check_inputs(hot_signal_finder *f)
{
    if (!f->dwi->has_b0)
        return hot_context_fail(f->context, HOT_ERROR_DATA, "'%s' has no b=0 volume (b of at most 50 s/mm^2): the "
                                "signal method's volume fractions are relative to the signal without diffusion "
                                "weighting", hot_dwi_name(f->dwi));
    hot_status status = hot_signal_find_check(f->context, &f->options);
    return status == HOT_OK ? hot_mask_check(f->context, f->mask, &f->dwi->grid) : status;
}

static hot_status allocate(hot_signal_finder *f)
{
    hot_context *context = f->context;
    f->chunk = CHUNK_FLOATS / f->volumes + 1;
    f->chunk = f->chunk < f->voxels ? f->chunk : f->voxels;
    f->signals = hot_context_alloc(context, f->chunk * f->volumes, sizeof *f->signals);
    f->use = hot_context_alloc(context, f->volumes, sizeof *f->use);
    f->b = hot_context_alloc(context, f->volumes, sizeof *f->b);
    f->gradients = hot_context_alloc(context, f->volumes, 3 * sizeof *f->gradients);
    f->flags = hot_context_calloc(context, f->voxels, 1);
    f->residual = noise_is_given(f) ? hot_context_calloc(context, f->voxels, sizeof *f->residual) : NULL;
    if (!f->signals || !f->use || !f->b || !f->gradients || !f->flags || (noise_is_given(f) && !f->residual))
        return HOT_ERROR_MEMORY;
    const hot_signal_part *part = f->options.part;
    return f->maps && f->options.keep_maps
        ? hot_signal_maps_make(context, f->voxels, part && part->only_probability, f->maps) : HOT_OK;
}

static hot_status find_response(hot_signal_finder *f)
{
    if (f->response)
        return HOT_OK;
    const hot_status status = hot_response_estimate(f->context, f->dwi, f->mask, 8, &f->estimated, NULL);
    f->response = f->estimated;
    return status;
}

static hot_status find_ceiling(hot_signal_finder *f)
{
    return f->learned->known ? HOT_OK : hot_dwi_ceiling(f->context, f->dwi, &f->learned->ceiling);
}

static hot_status allocate_results(hot_signal_finder *f)
{
    hot_status status = f->maps ? hot_signal_posterior_make(f->context, f->mask, &f->options, f->how.max_fibers,
                                                            f->maps)
                                : HOT_OK;
    if (status != HOT_OK)
        return status;
    f->peaks = hot_context_calloc(f->context, f->voxels, 3 * (size_t)f->how.max_fibers * sizeof *f->peaks);
    return f->peaks ? HOT_OK : HOT_ERROR_MEMORY;
}

static hot_status learn_noise(hot_signal_finder *f)
{
    const hot_signal_find_options *o = &f->options;
    const double bright = f->learned->bright;
    const hot_status status = noise_is_given(f) ? HOT_OK : estimate_noise(f, &f->sigma);
    f->how.sigma = o->sigma_map ? 1 : f->sigma;
    /* the response's own voxels are brighter and less noisy than others: by the usual noise its bias is overrated */
    if (!o->clean_response && !o->denoised && !(o->sigma > 0) && f->response->noise > 0)
        f->how.response_sigma = fmin(f->response->noise, 0.5);
    else if (!o->clean_response && !o->sigma_map && bright > 0)
        f->how.response_sigma = fmin(f->sigma / bright, 0.5);
    return status;
}

static hot_status fit_voxels(hot_signal_finder *f)
{
    hot_signal_maps *maps = f->maps && f->options.keep_maps ? f->maps : NULL;
    const hot_signal_output found = {.max_fibers = f->how.max_fibers, .peaks = f->peaks, .flags = f->flags,
                                     .maps = f->maps,
                                     .residual = f->residual || !f->maps ? f->residual : f->maps->residual};
    f->how.ceiling = isfinite(f->learned->ceiling) ? f->learned->ceiling : 0;
    const hot_status status = hot_signal_find(f, &found);
    if (status != HOT_OK || !maps)
        return status;
    if (f->residual && maps->residual)
        memcpy(maps->residual, f->residual, f->voxels * sizeof *f->residual);
    hot_signal_maps_temper(f->context, f->where, &f->learned->population, maps);
    return HOT_OK;
}

static hot_status compare_noise(hot_signal_finder *f)
{
    if (!f->residual || f->where != f->mask)
        return HOT_OK;
    return hot_signal_log_noise(f->context, f->dwi, f->mask, &f->options, min_noise * f->learned->bright, f->flags,
                                f->residual);
}

static hot_status make_fibers(hot_signal_finder *f)
{
    hot_fractions_of_typical(f->context, f->voxels, f->how.max_fibers, f->response->typical, f->peaks);
    hot_fractions_bound(f->context, f->voxels, f->how.max_fibers, f->peaks);
    hot_status status = hot_fiber_field_adopt(f->context, &f->dwi->grid, f->how.max_fibers, &f->peaks, f->fibers);
    return status == HOT_OK ? hot_fiber_field_keep_response(*f->fibers, f->response, 1) : status;
}

static hot_status fill_maps(hot_signal_finder *f)
{
    hot_signal_maps *maps = f->maps;
    const size_t flagged = hot_signal_log_flagged(f->context, f->mask, f->flags);
    if (!maps)
        return HOT_OK;
    if (maps->flags)
        memcpy(maps->flags, f->flags, f->voxels);
    maps->grid = f->dwi->grid;
    maps->noise_model = f->how.noise_model;
    maps->population = f->learned->population;
    maps->voxels = f->mask->inside;
    maps->flagged = flagged;
    return HOT_OK;
}

/* The method. It first learns from the whole mask; a call that only learns ends then. */
static const struct {
    hot_status (*run)(hot_signal_finder *f);
    int finds;
} stages[] = {
    {check_inputs, 0}, {allocate, 0}, {find_response, 0}, {find_ceiling, 0}, {learn_volumes, 0}, {match_response, 0},
    {judge_noise, 0}, {limit_fibers, 0}, {allocate_results, 0}, {learn_noise, 0}, {learn_priors, 0},
    {fit_voxels, 1}, {compare_noise, 1}, {make_fibers, 1}, {fill_maps, 1},
};

static void free_finder(hot_signal_finder *f, hot_signal_learned *here)
{
    hot_context *context = f->context;
    hot_response_destroy(&f->estimated);
    hot_signal_learned_free(context, here);
    void *const memory[] = {f->residual, f->flags, f->peaks, f->gradients, f->b, f->use, f->signals};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        hot_context_free(context, memory[i]);
}

hot_status hot_fiber_field_signal(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                  const hot_response *response, const hot_signal_find_options *given,
                                  hot_signal_maps *maps, hot_fiber_field **fibers)
{
    HOT_ENTRY(context);
    HOT_CLEAR(fibers);
    if (maps)
        *maps = (hot_signal_maps){.context = context};
    HOT_NEED(context, dwi, fibers);
    if (!mask)
        HOT_RETURN_WITH_ALL(context, &dwi->grid, hot_fiber_field_signal(context, dwi, all, response, given, maps,
                                                                        fibers));
    hot_signal_learned here = {0};
    hot_signal_finder f = {.context = context, .dwi = dwi, .mask = mask, .where = mask, .response = response,
                           .volumes = dwi->volumes, .voxels = hot_grid_voxels(&dwi->grid), .maps = maps,
                           .fibers = fibers, .learned = &here, .options.size = sizeof f.options};
    hot_status status = hot_options_read(context, "hot_signal_find_options", given, &f.options);
    const hot_signal_part *part = f.options.part;
    const int only_learns = part && part->only_learn;
    if (part && part->where)
        f.where = part->where;
    if (part && part->learned)
        f.learned = part->learned;
    f.how = (hot_signal_options){.size = sizeof f.how, .order = f.options.order,
                                 .max_fibers = f.options.max_fibers ? f.options.max_fibers : 3};
    f.sigma = f.options.sigma;
    for (size_t i = 0; i < sizeof stages / sizeof *stages && status == HOT_OK; i++)
        if (!stages[i].finds || !only_learns)
            status = stages[i].run(&f);
    if (status == HOT_OK && maps)
        maps->sigma = f.options.sigma_map ? NAN : f.sigma;
    if (status != HOT_OK) {
        hot_signal_maps_free(maps);
        hot_fiber_field_destroy(fibers);
    }
    free_finder(&f, &here);
    return status;
}

const hot_peaks_method hot_peaks_signal = {
    .name = "signal",
    .help = "0 to 3 fibres fitted to the signals; how many there are is chosen by their probability",
    .about = "0 to 3 fibres are fitted to the signals themselves, and how many there are is chosen by their "
             "probability; the most accurate on phantoms. It needs the data (--dwi) and no tensors: with -i, the "
             "voxels that have one are computed, without it those of --mask or of the mask estimated from the b=0 "
             "images.",
    .find_in_signals = hot_fiber_field_signal,
    .takes = "sigma noise_model dwi bval bvec grad response diffusivities order probability margin "
             "flags cone cone_axes fraction_sd isotropic free_water noise_sd samples ",
    .model = "fod",
    .default_of = "fod ",
    .max_fibers = 3,
    .directions = MIN_DIRECTIONS,
};
