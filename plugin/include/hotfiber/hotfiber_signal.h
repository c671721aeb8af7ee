/* Fibres straight from the signals: rank-k in signal space. Included by hotfiber.h. */
/* First of all, so that this header, too, can be included alone. */
#include <hotfiber/hotfiber.h>

#ifndef HOTFIBER_HOTFIBER_SIGNAL_H
#define HOTFIBER_HOTFIBER_SIGNAL_H

typedef struct hot_signal_find_options {
    size_t size;           /* sizeof(hot_signal_find_options) */
    int max_fibers;        /* 1 to 3; 0 = 3 */
    int order;             /* degrees of the response used: 4, 6 or 8; 0 = 8 */
    double sigma;          /* the noise's standard deviation in the data's unit; 0 = from the spread of the b=0 volumes,
                              with fewer than two of them from the fits' residuals */
    const float *sigma_map; /* one value per voxel of the grid instead; NULL = none */
    int clean_response;    /* 1: the response was not made from noisy data (diffusivities, a simulation) */
    int keep_maps;         /* 1: fill the arrays of *maps */
    hot_noise_model noise_model; /* HOT_NOISE_AUTO = judged by hot_dwi_noise_model; a log line says when Gaussian */
    int denoised;          /* 1: the data were denoised and sigma or sigma_map is the noise that they had before */
    int keep_cones;        /* 1: fill cone, cone_axes, fraction_sd, isotropic, free_water and noise_sd of *maps, too */
    int samples;           /* this many samples of the posterior, 0 to 1000, into maps->samples */
    const struct hot_signal_part *part; /* for runs in parts (hot_run_options.part); NULL = all of the mask */
} hot_signal_find_options;
#define HOT_SIGNAL_FIND_OPTIONS_INIT HOT_SIZED(hot_signal_find_options)

/* Samples of the posterior of all voxels: hot_signal_samples_save. */
typedef struct hot_signal_samples hot_signal_samples;

/* Results other than the directions; every array has an item per voxel of the grid, 0 outside the mask (all NULL
 * without keep_maps). */
typedef struct hot_signal_maps {
    hot_context *context;  /* that has filled it; NULL: nothing is there */
    hot_grid grid;
    double sigma;          /* the noise used (NaN with a map) */
    size_t voxels, flagged; /* in the mask; among them those that cannot be used: every flag but HOT_VOXEL_NOISE */
    float *probability;    /* 4 per voxel: of 0, 1, 2, 3 fibres */
    float *margin;         /* log10 of the odds of the chosen number against the next best */
    float *residual;       /* root mean square residual in units of sigma */
    float *width;          /* tau, rad^2: how much wider than the response the fibres are */
    uint8_t *flags;        /* HOT_VOXEL_ bits */
    hot_noise_model noise_model; /* as used */
    hot_signal_priors population; /* the learned priors */
    int max_fibers;
    float *cone;           /* max_fibers per voxel: half angle, degrees, of the cone about each fibre that holds its
                              direction with 95 %; NaN where there is no fibre */
    float *cone_axes;      /* 6 max_fibers per voxel: the semi-axes of the ellipse that does, the larger first: vectors
                              across the fibre whose lengths are half angles in degrees */
    float *fraction_sd;    /* max_fibers per voxel: standard deviation of each fibre's volume fraction; NaN
                              where there is no fibre */
    float *isotropic, *free_water; /* volume fractions of the isotropic compartment, without free water, and
                              of free water; with the fibres' they add to 1. One shell does not separate the
                              two */
    float *noise_sd;       /* the voxel's own standard deviation of the noise, in the unit of the signals */
    hot_signal_samples *samples; /* NULL unless requested */
} hot_signal_maps;

/* Fits 0 to 3 fibres to the signals of every voxel of the mask and chooses how many there are (see
 * hotfiber/signal.h), with priors that are learned from a sample of the voxels; at most one fibre, with a note, with
 * fewer than 12 directions. Lengths are volume fractions: relative to the typical single fibre if the response was
 * estimated, else to the response. A given noise far from the data's gives a warning.
 * response: with a row for the shells of the data, and one for b=0 (without, weights are relative to the mean b=0
 * signal of the mask); NULL = estimated from the data. A volume that repeats another bit by bit counts once.
 * maps (may be NULL): filled, its arrays when options->keep_maps; free with hot_signal_maps_free.
 * Owner of *fibers: the caller. Errors: HOT_ERROR_DATA (no b=0 volume, response without a shell, a mask of other
 * sizes), HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. Any number of threads gives the
 * same result. */
HOT_API hot_status hot_fiber_field_signal(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                          const hot_response *response, const hot_signal_find_options *options,
                                          hot_signal_maps *maps, hot_fiber_field **fibers);
HOT_API void hot_signal_maps_free(hot_signal_maps *maps);

/* Writes one map (name: "probability", "margin", "residual", "width", "flags", "cone", "cone_axes", "fraction_sd",
 * "isotropic", "free_water", "noise_sd") as NRRD, or NIfTI or MIF by the path's name. */
HOT_API hot_status hot_signal_map_save(hot_context *context, const hot_signal_maps *maps, const char *name,
                                       const char *path);

/* Writes the samples as FSL's bedpostx leaves them, into a folder that is made: merged_th1samples.nii.gz and so on,
 * mean_*, dyads*, and the mask as nodif_brain_mask.nii.gz. Angles and vectors are in the axes of FSL's bvecs files.
 * Errors: HOT_ERROR_ARGUMENT (no samples), HOT_ERROR_FILE, HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_signal_samples_save(hot_context *context, const hot_signal_maps *maps, const hot_mask *mask,
                                           const char *folder);

/* A map of the noise's standard deviation (NRRD, NIfTI or MIF, any scalar type, one value per voxel) for
 * hot_signal_find_options.sigma_map, put into the grid's order of voxels as a mask is (hot_mask_load); voxels whose
 * value is not positive, and those outside of the map, get no fibre. Free with hot_context_free.
 * Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_DATA (elsewhere, other sizes), HOT_ERROR_MEMORY. */
HOT_API hot_status hot_noise_map_load(hot_context *context, const char *path, const hot_grid *grid, float **map);

#endif
