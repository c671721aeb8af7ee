/* Constants of a data set: gradients by shell, the response as polynomials, the tables of the start search, and the
 * constants of the priors. Plain structs and one block of floats, so that they can be copied to a device. */
#pragma once

#include <hotfiber/signal.h>

#include "signal_source.h"

HOT_C_BEGIN

enum {
    SIGNAL_TERMS = 5,       /* even degrees 0 to 8 of the response */
    SIGNAL_MAX_SHELLS = 16,
    SIGNAL_GRID = 120,      /* directions of the start search; a multiple of 4 */
    SEPARATION_BINS = 3      /* of pairs, by their separation */
};

typedef struct signal_scheme {
    int volumes, shells;
    int first[SIGNAL_MAX_SHELLS + 1]; /* volumes of shell s: first[s] ... first[s + 1] - 1 */
    float b[SIGNAL_MAX_SHELLS];       /* in 1000 s/mm^2 */
    /* [shell][l / 2][p]: coefficient of u^(2p) in the part of degree l */
    float zonal[SIGNAL_MAX_SHELLS][SIGNAL_TERMS][SIGNAL_TERMS];
    const float *g; /* volumes x 3 */
    /* Gaussian noise: an offset added to signals and model, in units of sigma; Rician: 0. A magnitude this far above
     * the noise has Gaussian noise, so the arithmetic of magnitudes serves for both. */
    float pedestal;
} signal_scheme;

/* Harmonics of degree 4. */
enum { SIGNAL_MISFIT = 9 };

/* Two fibres whose directions' |cosine| is above the first cost as much as its excess in units of 1 / the second says:
 * some 25 degrees are the least. */
#define SIGNAL_NEAR 0.8660254f
#define SIGNAL_NEAR_INVERSE (1 / 0.03f)
#define SIGNAL_LN_UNIT (-6.907755278982137) /* ln of 1e-3 mm^2/s, in which the fits have diffusivities */
/* Unknowns of a fit of three fibres; elements of its packed matrix. */
enum { SIGNAL_MAX_PARAMS = 15, SIGNAL_PACKED = SIGNAL_MAX_PARAMS * (SIGNAL_MAX_PARAMS + 1) / 2 };
/* Amplitudes of three fibres' fans; unknowns with them. */
enum { SIGNAL_MODES = 6, SIGNAL_FANNED = SIGNAL_MAX_PARAMS + SIGNAL_MODES };

/* hot_signal_priors as the fits need it: means, 1 / deviations, and -2 ln of what does not depend on a voxel. */
typedef struct signal_learned {
    float width, width_inv, iso, iso_inv, spread_inv;
    float water[2], water_inv[2];    /* without and with fibres */
    float ld[2], ld_inv[2];          /* ln of the diffusivity in 1e-3 mm^2/s, likewise */
    float constant[4];               /* of 0 to 3 fibres */
    float near[2][HOT_SEPARATIONS];  /* of 2 and 3 fibres: -2 ln of how much more often than by chance */
    float scale, shift[4];           /* of the evidence */
    float told[4];                   /* unknowns that the data tell, of 0 to 3 fibres */
    float noise, freedom;            /* relative to the given noise; its degrees of freedom */
    float fan, fan_inv;              /* of the fans' amplitudes: deviation, 0 = none, and 1 / deviation */
    float b0_volumes;
    /* Misfit (signal_misfit.c): MISFIT functions per shell, at each volume; their variances, relative to S0. */
    const float *misfit;             /* [volume][function] */
    float misfit_variance[SIGNAL_MAX_SHELLS][SIGNAL_MISFIT];
} signal_learned;

/* Fills it but for the misfit. */
void hot_signal_fill_learned(const hot_signal_priors *population, size_t b0_volumes, signal_learned *learned);
/* Fills the misfit, for which functions: volumes x SIGNAL_MISFIT is the memory. */
void hot_signal_fill_misfit(const signal_scheme *scheme, float *functions, signal_learned *learned);

/* The start search: a grid on the half sphere and, for each pair on it, the inverse of its 2 x 2 Gram matrix. */
typedef struct signal_grid {
    const float *v;                            /* SIGNAL_GRID x 3 */
    const float *gram;                         /* SIGNAL_GRID x SIGNAL_GRID: inner products of the response turned to
                                                  v_d and v_e */
    const float *filter;                       /* SIGNAL_GRID x volumes: the response turned to v_d */
    int pairs[SEPARATION_BINS];                 /* how many of each class */
    const int *pair_at[SEPARATION_BINS];        /* pairs x 2: which directions */
    const float *pair_inverse[SEPARATION_BINS]; /* pairs x 3: elements 11, 22, 12 of the inverse */
} signal_grid;

/* SIGNAL_GRID x 3: even on the half sphere, a Fibonacci lattice. */
void hot_signal_fill_directions(float *v);
/* Fills pairs, pair_at and pair_inverse from v and gram. */
void hot_signal_fill_pairs(signal_grid *grid);

typedef struct signal_plan {
    signal_scheme scheme;
    signal_grid grid;
    signal_learned learned;
    int max_fibers;
    float ceiling;  /* samples that reach it are clipped; infinite: none are */
    size_t all_volumes, b0_volumes; /* of the data: diffusion-weighted and b=0 */
    size_t *order;  /* all_volumes: first the diffusion-weighted ones as the scheme has them, then the b=0 ones */
    float *block;   /* what the pointers above point into */
    size_t block_size;
} signal_plan;

/* One pair of weights in the start search is drawn towards equality by this much (a ridge on their difference). */
#define SIGNAL_RIDGE 0.04f

/* At SIGNAL_PEDESTAL standard deviations a magnitude's deviation is 1 within 1e-4, its bias the same within .003 over
 * all signals; floats resolve 1e-5 there. */
#define SIGNAL_PEDESTAL 64

/* Makes the plan from checked options; every pointer in it is freed by hot_signal_plan_free.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA, HOT_ERROR_MEMORY. */
hot_status hot_signal_plan_make(hot_context *context, const hot_signal_options *options,
                                 const hot_signal_scheme *scheme, int has_s0, signal_plan *plan);
void hot_signal_plan_free(hot_context *context, signal_plan *plan);

/* The arguments of hot_signal_fibers_f32 for a backend. */
typedef struct hot_signal_args {
    const signal_plan *plan;
    const hot_signal_options *options;
    const hot_signal_scheme *scheme;
    size_t count;
    const float *signals, *sigma, *s0;
    const uint8_t *mask;
    const hot_signal_result *result;
    const hot_signal_source *source; /* NULL: `signals` is there */
    size_t done; /* with a source that was told of used voxels: so many are done and must not be read again */
} hot_signal_args;

/* Reports how much of a job is done, 0 to 1. */
hot_status hot_signal_progress(hot_context *context, const hot_signal_args *args, double done);

/* The results of a few voxels, a lane each. */
enum { SIGNAL_MAX_LANES = 16 };
typedef struct signal_result {
    float v[3][3][SIGNAL_MAX_LANES], w[3][SIGNAL_MAX_LANES]; /* of the chosen number of fibres */
    float cost[4][SIGNAL_MAX_LANES];                     /* -2 ln P(k), up to a constant; 1e30: not possible */
    float tau[SIGNAL_MAX_LANES], chi[SIGNAL_MAX_LANES];
    int k[SIGNAL_MAX_LANES];
} signal_result;

/* A batch of voxels and the memory of its fits (cpu/signal_batch.h). */
enum { SIGNAL_FIT_FLOATS = 22, SIGNAL_SLOTS = 8, SIGNAL_MATRICES = 220 };
enum { SIGNAL_LANEFULS = 16 }; /* voxels of a batch, per lane */
typedef struct signal_batch {
    int voxels;
    float *raw, *snr;     /* voxels x volumes in units of sigma, not lifted; S0 / sigma */
    float *scaled, *noise; /* as the fits take them; over the one given */
    float *fits, *matrices, *cost; /* of each voxel SIGNAL_SLOTS fits, SIGNAL_MATRICES numbers, 4 costs */
    float *columns;       /* SIGNAL_GRID + volumes vectors, aligned to 64 bytes */
} signal_batch;
/* answers: one for SIGNAL_MAX_LANES voxels; told: voxels x 4, NULL: not wanted. */
typedef void hot_signal_batch_fn(const signal_plan *plan, const signal_batch *batch, signal_result *answers,
                                   hot_signal_fit *told);
hot_signal_batch_fn hot_signal_batch_baseline, hot_signal_batch_avx2, hot_signal_batch_avx512;

hot_status hot_signal_fibers_cpu(hot_context *context, void *args);
hot_status hot_signal_fibers_cuda(hot_context *context, void *args);

HOT_C_END
