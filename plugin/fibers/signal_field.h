/* The signal method on a data set: its state, the hooks that save and load results for a run, and its log. */
#pragma once

#include <hotfiber/signal.h>

#include "core/fields.h"

/* Arrays over the whole grid, 0 where nothing was found; those that are not wanted are NULL. */
typedef struct hot_signal_output {
    int max_fibers;
    float *peaks, *residual; /* 3 max_fibers and 1 per voxel */
    uint8_t *flags;
    hot_signal_maps *maps;   /* its arrays */
} hot_signal_output;

/* The model, learned from the voxels of the whole mask before any is computed. */
typedef struct hot_signal_learned {
    int known;             /* 1: all of this was learned before, and nothing is */
    double bright;         /* mean b=0 signal */
    size_t used, *use;     /* volumes that repeat no other; context memory */
    hot_noise_model noise_model; /* chosen by the share of samples that are not positive, unless it was given */
    double share;
    double sigma;          /* the estimate, unless it was given, */
    int from_residuals;    /* 0: in the b=0 volumes */
    double ceiling;        /* samples that reach it are clipped; infinite: none are */
    size_t sampled;        /* voxels that the population is of */
    hot_signal_priors population;
} hot_signal_learned;
void hot_signal_learned_free(hot_context *context, hot_signal_learned *learned);

typedef struct hot_signal_part {
    const hot_mask *where; /* the voxels to find in, among those of the mask; NULL = all */
    hot_signal_learned *learned; /* filled unless it is known; the caller's. NULL = not wanted */
    int only_learn;        /* 1: nothing is found; of the maps, sigma is set */
    /* Called for each slab of voxels first ... first + count - 1. load: fills the arrays if the slab was computed
     * before (*known); save: stores new results. NULL = neither. step: voxels of a slab; 0 = the default. */
    hot_status (*load)(void *user, const hot_signal_output *found, size_t first, size_t count, int *known);
    hot_status (*save)(void *user, const hot_signal_output *found, size_t first, size_t count);
    size_t step;
    int fades;             /* 1: of the posterior the cones, unless more is wanted: pictures fade fibres by them */
    int only_probability;  /* 1: of the maps of hot_signal_maps_make no others */
    /* The same data, denoised: directions are those of its fits where they have as many fibres. All else, and the
     * number of fibres, is from the data as they came: denoising leaves noise that looks like neighbours' fibres, and
     * how much is not known. NULL = none. */
    const hot_dwi *denoised;
    /* Called when all voxels before `end` are computed: nothing reads their signals any more. NULL = not wanted. */
    void (*used)(void *user, size_t end);
    /* Called when all voxels before `end` have their fibres, whose lengths are still relative to the response. NULL =
     * not wanted. */
    void (*found)(void *user, const hot_signal_output *found, size_t end);
    void *user;
} hot_signal_part;

enum { HOT_SIGNAL_LMAX = 16 };

/* The state of a call of the method. */
typedef struct hot_signal_finder {
    hot_context *context;
    const hot_dwi *dwi;
    const hot_mask *mask, *where;    /* the voxels to learn from, and those to compute */
    const hot_response *response;
    hot_response *estimated;         /* where none was given */
    hot_signal_find_options options;
    hot_signal_maps *maps;           /* NULL = not wanted */
    hot_fiber_field **fibers;
    double sigma;                    /* noise, unless it is a map */
    float *peaks, *residual;         /* results; residual: where the noise was given */
    uint8_t *flags;
    size_t voxels, volumes;          /* of the data */
    size_t used, *use;               /* volumes that enter, in the data's order */
    double *b, *gradients;           /* of those */
    double shell_b[HOT_SIGNAL_LMAX + 1], rows[HOT_SIGNAL_LMAX * (HOT_SIGNAL_LMAX / 2 + 1)];
    hot_signal_scheme scheme;
    hot_signal_options how;
    hot_signal_learned *learned;     /* from the data, here or before */
    size_t chunk, first;             /* voxels of a chunk; where the first chunk begins: where the mask does */
    float *signals;                  /* chunk x volumes */
} hot_signal_finder;

/* Of signals of all volumes, leaves those of the used ones, side by side. */
void hot_signal_keep_used(const hot_signal_finder *f, size_t count, float *signals);

/* All voxels from f->first on; learning may have left the first chunk in f->signals. */
hot_status hot_signal_find(hot_signal_finder *f, const hot_signal_output *found);

/* ---- Log (signal_log.c) ---- */

/* Warns if the given noise is far from the data's. least: the noise assumed for noise-free data. flags, residual:
 * voxels; the residuals, in units of the given noise, are reordered. */
hot_status hot_signal_log_noise(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                    const hot_signal_find_options *options, double least, const uint8_t *flags,
                                    float *residual);

/* Logs the priors, and warnings if the data hardly determine them: too few voxels, or numbers of fibres that are often
 * not recovered in simulated voxels. typical: the response's. */
void hot_signal_log_priors(hot_context *context, const hot_signal_learned *learned, double typical);

/* Says how many voxels cannot be used and why, and how many are nothing but noise: these have an answer, no fibre.
 * Returns how many cannot be used. */
size_t hot_signal_log_flagged(hot_context *context, const hot_mask *mask, const uint8_t *flags);
