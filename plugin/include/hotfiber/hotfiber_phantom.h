/* Data with known fibres, and the score of directions against them. Included by hotfiber.h. */
/* First of all, so that this header, too, can be included alone. */
#include <hotfiber/hotfiber.h>

#ifndef HOTFIBER_PHANTOM_H
#define HOTFIBER_PHANTOM_H

/* The most fibres a phantom's voxel has; the truth has 3 * HOT_PHANTOM_FIBERS values per voxel. */
enum { HOT_PHANTOM_FIBERS = 3 };

typedef enum hot_phantom_layout {
    /* a row (axis 1) per condition, a slice (axis 2) per SNR, every voxel rotated at random */
    HOT_PHANTOM_CONDITIONS = 0,
    /* a small volume of straight, curved and crossing bundles in grey matter, CSF and air */
    HOT_PHANTOM_BUNDLES,
    /* a volume in which every voxel draws one of the conditions, by its share, and is rotated at random */
    HOT_PHANTOM_MIXTURE
} hot_phantom_layout;

/* The compartments of a fibre. d: `axial`; v: its intra-axonal fraction. Dispersed fibres have many orientations: by
 * Watson's distribution except in HOT_TISSUE_ZEPPELIN. */
typedef enum hot_phantom_tissue {
    /* one axially symmetric tensor: `axial` and `radial` */
    HOT_TISSUE_ZEPPELIN = 0,
    /* v a stick (d along, 0 across), 1 - v a ball of diffusivity d, which is not part of the fibre: the true volume
     * fraction is the stick's (Behrens et al. 2003) */
    HOT_TISSUE_BALL_STICK,
    /* v a stick, 1 - v a zeppelin of d along and `radial` across; without `radial` (1 - v) d, the tortuosity of Szafer
     * et al. (1995). Both are dispersed */
    HOT_TISSUE_STICK_ZEPPELIN,
    /* v dispersed sticks, 1 - v one tensor: the mean of that zeppelin over the orientations (Zhang et al. 2012) */
    HOT_TISSUE_NODDI
} hot_phantom_tissue;

/* Values per voxel of hot_phantom_tissue_map: of three fibres the true fraction, the dispersion (degrees) and the
 * intra-axonal fraction; grey matter, free water, and the noise's standard deviation. */
enum { HOT_PHANTOM_MAP = 12 };

/* The contents of the voxels of one row. A range with equal ends is that value in every voxel. */
typedef struct hot_phantom_condition {
    int fibers;              /* 0 ... 3 */
    double angle[2];         /* 2 or 3 fibres: range of the angle between every two of them, degrees */
    double fraction[2];      /* 2 or 3 fibres: range of the first fibre's share of the fibres' volume; the others have
                                equal shares of the rest */
    /* no fibre: diffusivities, mm^2/s; even voxels of the row have the first, odd the second */
    double isotropic[2];
} hot_phantom_condition;

/* Options of a phantom. Zero (or NULL) is the default of every field. The seed is the context's. */
typedef struct hot_phantom_options {
    size_t size;             /* sizeof(hot_phantom_options) */
    hot_phantom_layout layout;
    const hot_phantom_condition *conditions; /* rows; NULL = hot_phantom_default_conditions */
    size_t condition_count;
    size_t voxels;           /* per row and slice; 0 = 200 */
    size_t volume[3];        /* bundles, mixture: sizes in voxels; 0 = 40 40 12 */
    const double *snr;       /* S0 / sigma, one slice each; 0 or infinite = no noise; NULL = {30}. Layouts without
                                rows: the first */
    size_t snr_count;
    const double *shell_b;   /* b-values of the shells, s/mm^2; NULL = {3000} */
    size_t shells;
    size_t directions;       /* per shell; 0 = 64 */
    size_t b0;               /* b=0 volumes, first in the file; 0 = 8 */
    const double *scheme_b;  /* a scheme of one's own instead: scheme_volumes b-values */
    const double *scheme_gradients; /* and scheme_volumes x 3 directions in world axes */
    size_t scheme_volumes;
    int scheme_image_axes;   /* 1: the directions are FSL's bvec, in image axes */
    double s0;               /* signal at b=0; 0 = 1000 */
    double axial, radial;    /* diffusivities of a fibre, mm^2/s; 0 = 1.7e-3 and .2e-3 */
    double vary;             /* relative standard deviation of each fibre's two diffusivities (cut at 3 of them) */
    double csf[2];           /* range of the free water's volume fraction in voxels with fibres (D = 3e-3 mm^2/s) */
    double dispersion[2];    /* range of the orientation dispersion s, degrees: a fibre's parts are tilted from its
                                direction by normal angles of this standard deviation about each of two axes; other
                                tissues than HOT_TISSUE_ZEPPELIN: Watson's distribution of concentration 1 / (2 s^2),
                                which is the same for small s */
    int oblique;             /* oblique voxel grid in LPS with unequal spacings, instead of RAS axes and 2 mm */
    int gaussian;            /* 1: Gaussian noise, S + n1, which may be negative, instead of that of magnitudes; whole
                                samples (hot_phantom_save_options.integers) are cut at 0 */
    hot_phantom_tissue tissue;
    double intra[2];         /* range of a fibre's intra-axonal volume fraction; 0 = .4-.7. Not HOT_TISSUE_ZEPPELIN */
    double grey[2];          /* range of grey matter's volume fraction in voxels with fibres (D = .8e-3 mm^2/s) */
    double weight[2];        /* range of the fibres' weights, which are drawn and divided by their sum; 0 = by the
                                conditions' fractions */
    const double *share;     /* mixture: how often each condition occurs, condition_count numbers; NULL = equally */
    double noise_slope;      /* the noise's standard deviation rises linearly along the first axis, from 1 - this to
                                1 + this times that of the SNR */
} hot_phantom_options;
#define HOT_PHANTOM_OPTIONS_INIT HOT_SIZED(hot_phantom_options)

typedef struct hot_phantom hot_phantom;

/* single, 30-40, 45-55 and 60-90 degrees (first fraction .5-.7), three fibres (60-90 degrees apart, first fraction
 * 1/3-.45), isotropic (half grey matter D = .8e-3, half CSF D = 3e-3). Static storage; *count = 6. */
HOT_API const hot_phantom_condition *hot_phantom_default_conditions(size_t *count);

/* Makes the data and their truth. Signals: S = S0 (sum_i f_i <exp(-b g^T D_i g)> + f_iso exp(-b D_iso)), the mean <>
 * over the dispersed orientations, D_i axially symmetric (for other tissues: the sum over the fibre's compartments).
 * Voxels of a mixture without fibres are grey matter, CSF (a quarter each) or both in any proportion. With noise
 * sqrt((S + n1)^2 + n2^2), n normal with sigma = S0 / SNR (Gudbjartsson and Patz 1995). The same options and seed give
 * the same numbers for any number of threads.
 * `options` may be NULL. Owner: the caller, until hot_phantom_destroy.
 * Errors: HOT_ERROR_ARGUMENT (an invalid range or size, named in the message), HOT_ERROR_MEMORY. */
HOT_API hot_status hot_phantom_create(hot_context *context, const hot_phantom_options *options, hot_phantom **phantom);
HOT_API void hot_phantom_destroy(hot_phantom **phantom);

/* The data, owned by the phantom. */
HOT_API const hot_dwi *hot_phantom_dwi(const hot_phantom *phantom);
/* The true directions, three per voxel at most, of length volume fraction. Owned by the phantom. */
HOT_API const hot_fiber_field *hot_phantom_truth(const hot_phantom *phantom);
/* HOT_PHANTOM_MAP values per voxel, voxel by voxel in the order of the data: the rest of its truth, its fibres in
 * the order of the truth. Owned by the phantom. */
HOT_API const float *hot_phantom_tissue_map(const hot_phantom *phantom);
/* The standard deviation of the noise in slice k (the mean, where it varies along the first axis). */
HOT_API double hot_phantom_sigma(const hot_phantom *phantom, size_t slice);

/* How a phantom is written. */
typedef struct hot_phantom_save_options {
    size_t size;        /* sizeof(hot_phantom_save_options) */
    int integers;       /* unsigned 16-bit samples, rounded, cut at 65535 (choose s0 accordingly), instead of floats */
    int compress;       /* gzip */
    int turned_frame;   /* a measurement frame that is not the identity; the gradients in the file are relative to it */
} hot_phantom_save_options;
#define HOT_PHANTOM_SAVE_OPTIONS_INIT HOT_SIZED(hot_phantom_save_options)

/* Writes the data as NRRD ("-" = standard output), or as NIfTI with .bval and .bvec by its name (then always float).
 * Key/values say how the phantom was made. `options` may be NULL. */
HOT_API hot_status hot_phantom_save(hot_context *context, const hot_phantom *phantom,
                                    const hot_phantom_save_options *options, const char *path);
/* Writes the truth in the layout of directions (9 floats per voxel): NRRD with the same key/values, or NIfTI by its
 * name (9 volumes, scanner RAS). */
HOT_API hot_status hot_phantom_save_truth(hot_context *context, const hot_phantom *phantom, const char *path);
/* Writes hot_phantom_tissue_map as NRRD (values first) or, by its name, NIfTI with as many volumes. */
HOT_API hot_status hot_phantom_save_tissue(hot_context *context, const hot_phantom *phantom, const char *path);

/* `count` unit directions that repel each other and each other's mirror images like charges (Jones 1999): a well
 * spread scheme for one shell, the same on every call; schemes of different `number` are rotated against each other.
 * directions: count x 3. Errors: HOT_ERROR_MEMORY. */
HOT_API hot_status hot_scheme_directions(hot_context *context, size_t count, unsigned number, double *directions);

/* ---- Scores ----------------------------------------------------------------------------------------------- */

/* How directions did in one group of voxels. */
typedef struct hot_score_group {
    const char *table;   /* "condition", "fibres", "angle", "fraction", "angle and fraction" or "all" */
    char name[40];       /* "single", "30-40", ... */
    size_t voxels;
    size_t right_count;  /* voxels with the right number of fibres */
    size_t over, under;  /* voxels with too many, too few */
    size_t solved;       /* voxels with the right number, each within the tolerance */
    double plus, minus;  /* fibres too many and too few per voxel of the group (n+, n-) */
    size_t matched;      /* pairs of a true and a found fibre */
    double error_mean, error_median, error_95; /* angles between them, degrees; NaN when there is no pair */
} hot_score_group;

typedef struct hot_score_options {
    size_t size;         /* sizeof(hot_score_options) */
    /* found directions shorter than this fraction of the voxel's longest do not count; 0 = all do */
    double threshold;
    int max_fibers;      /* only so many of the longest count; 0 = all (at most 8) */
    double tolerance;    /* degrees; 0 = 15 */
    const uint8_t *mask; /* a byte per voxel, 0 = leave out; NULL = all voxels count */
    int slice;           /* score one slice of axis 2: 1 + its index; 0 = all */
} hot_score_options;
#define HOT_SCORE_OPTIONS_INIT HOT_SIZED(hot_score_options)

typedef struct hot_score hot_score;

/* Compares directions with the truth, voxel by voxel (matched by index; sizes must agree; the frames of both are
 * brought to scanner RAS first). True and found fibres are paired so that the sum of the angles, up to sign, is least.
 * Conditions: single, 30-40, 45-55, 60-90 (crossings of two), three, isotropic (none), other (other angles, more than
 * three); a boundary counts with .05 degrees of tolerance. Angles: crossings of two by the nearest 10 degrees.
 * Fractions: the longer true fibre's share of both, to the nearest tenth. Empty groups are left out.
 * `options` may be NULL. Owner: the caller, until hot_score_destroy.
 * Errors: HOT_ERROR_DATA (sizes differ), HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY. */
HOT_API hot_status hot_score_create(hot_context *context, const hot_fiber_field *found, const hot_fiber_field *truth,
                                    const hot_score_options *options, hot_score **score);
HOT_API void hot_score_destroy(hot_score **score);
/* The groups, table by table, count of them in *count; owned by the score. */
HOT_API const hot_score_group *hot_score_groups(const hot_score *score, size_t *count);
/* The mean share of solved voxels over the conditions single, 30-40, 45-55, 60-90 and three, and (may be NULL) how many
 * of these five have voxels; NaN when none has. */
HOT_API double hot_score_mean(const hot_score *score, int *groups);

#endif
