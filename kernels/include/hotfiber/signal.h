/* Fibres from diffusion-weighted signals: S_j / S0 ~ sum_i w_i R(g_j . v_i), with R the response of a single fibre, w_i
 * volume fractions and v_i directions. The number of fibres is chosen by the Bayesian evidence. R turned to v is an
 * order-m form in v, and the fits use the values of that form at the gradients. */
#ifndef HOTFIBER_SIGNAL_H
#define HOTFIBER_SIGNAL_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the signals were measured, and what one fibre looks like. */
typedef struct hot_signal_scheme {
    size_t size;             /* sizeof(hot_signal_scheme) */
    size_t volumes;
    const double *b;         /* volumes, s/mm^2; b <= 50 is a b=0 volume */
    const double *gradients; /* volumes x 3, unit; not looked at where b <= 50 */
    size_t shells;           /* of the response, 1 to 16, without b=0 */
    const double *shell_b;   /* shells; each volume belongs to the nearest, which must be within 15 % or 100 s/mm^2 */
    const double *response;  /* shells x (lmax / 2 + 1) zonal SH coefficients (R(theta) = sum_l r_l Y_l0(theta)) of the
                                signal of one fibre of volume fraction 1, relative to its b=0 signal */
    int lmax;                /* even, 2 to 16; degrees above 8 are not used */
} hot_signal_scheme;

typedef enum hot_select {
    HOT_SELECT_MAP = 0,  /* the number of fibres whose best fit costs least */
    HOT_SELECT_AVERAGED  /* the most probable number, all distinct fits of it counted together */
} hot_select;

/* How much the voxels' single fibres differ from the response. */
typedef enum hot_contrast {
    HOT_CONTRAST_AUTO = 0, /* left to who calls; here the same as ALIKE */
    HOT_CONTRAST_ALIKE,    /* in noise and weight, hardly in width */
    HOT_CONTRAST_DISPERSED, /* and in width: directions spread by 0 to 15 degrees */
    HOT_CONTRAST_VARIED    /* they hold more or less of something isotropic besides: it is part of every fit */
} hot_contrast;

typedef struct hot_signal_options {
    size_t size;          /* sizeof(hot_signal_options) */
    int max_fibers;       /* 1 to 3; 0 = 3 */
    int order;            /* 4, 6 or 8: degrees of the response above it are not used; 0 = 8 */
    hot_select select;
    double sigma;         /* standard deviation of the noise in the signals' unit, > 0; not looked at when each voxel
                             has its own */
    double response_sigma; /* the noise in the data that the response was averaged from, relative to their b=0 signal:
                             the mean of a magnitude is above the signal, and this takes it off again; 0 = clean
                             response */
    double progress[2];   /* of the caller's whole work, where this call begins and ends; 0 0 = 0 1 */
    double tau_sd;        /* prior standard deviation of the response's width, rad^2; 0 = 0.015, varied: 0.02 */
    double weight_sd;     /* prior standard deviation of ln w about its mean over its voxel's; 0 = 0.4, varied: 0.8 */
    hot_contrast contrast;
    double response_tau;  /* rad^2, 0 to 0.05: the response given is wider than a fibre by this, as one averaged from
                             dispersed fibres is; it is narrowed */
} hot_signal_options;

/* Why a voxel has no answer (bits). */
enum {
    HOT_VOXEL_NOT_FINITE = 1, /* NaN or Inf */
    HOT_VOXEL_NO_B0 = 2,      /* b=0 signal zero or negative */
    HOT_VOXEL_NEGATIVE = 4,   /* a negative signal */
    HOT_VOXEL_CLIPPED = 8,    /* a diffusion-weighted signal at the ceiling of the b=0 ones, or a quarter of them 0 */
    HOT_VOXEL_NOISE = 16      /* b=0 signal below three standard deviations of the noise */
};

/* Where results go; every pointer but `directions` may be NULL. */
typedef struct hot_signal_result {
    size_t size;          /* sizeof(hot_signal_result) */
    float *directions;    /* count x 3 * max_fibers: x1 y1 z1 x2 ..., length = volume fraction, largest first, absent =
                             0, one hemisphere (z > 0, then y > 0, then x > 0) */
    uint8_t *found;       /* count: number of fibres */
    float *probability;   /* count x 4: of 0, 1, 2, 3 fibres */
    float *margin;        /* count: log10 of the odds of the chosen number against the next best */
    float *residual;      /* count: root mean square residual of the chosen fit in units of sigma: near 1 if it fits */
    float *width;         /* count: tau of the chosen fit, rad^2 */
    uint8_t *flags;       /* count: HOT_VOXEL_ bits; flagged voxels have 0 everywhere else */
    double *device_seconds; /* one number: the time the GPU's kernels took, without copies, is added to it */
} hot_signal_result;

/* signals: count x volumes floats, any unit. sigma: count floats, > 0, or NULL for options->sigma. s0: count floats,
 * the b=0 signals, or NULL: the mean of the b=0 volumes. mask: count bytes, voxels with 0 are not computed (outputs 0);
 * NULL. Multiplying signals, sigma and s0 by one number changes nothing beyond rounding.
 * Owner: the caller owns everything. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (no b=0 volume and no s0, a shell
 * without response), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. The same answer for any number of
 * threads. Method: for k = 0 ... 3 a penalised maximum-likelihood fit through the Rician mean and variance, from
 * several starts found by an exhaustive search on a grid; then the Laplace approximation of each k's evidence. */
HOT_API hot_status hot_signal_fibers_f32(hot_context *context, const hot_signal_options *options,
                                         const hot_signal_scheme *scheme, size_t count, const float *signals,
                                         const float *sigma, const float *s0, const uint8_t *mask,
                                         const hot_signal_result *result);

#ifdef __cplusplus
}
#endif
#endif
