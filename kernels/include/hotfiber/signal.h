/* Fibres from diffusion-weighted signals: S_j / S0 ~ sum_i w_i R(g_j . v_i; tau_i) + what is isotropic, with R the
 * response of a single fibre, w_i volume fractions, v_i directions and tau_i widths. The number of fibres is chosen by
 * the Bayesian evidence, with priors that say what is usual in a data set. R turned to v is an order-m form in v, and
 * the fits use the values of that form at the gradients. */
#ifndef HOTFIBER_SIGNAL_H
#define HOTFIBER_SIGNAL_H

#include <hotfiber/context.h>

HOT_C_BEGIN

/* The acquisition, and the response of a single fibre. */
typedef struct hot_signal_scheme {
    size_t size;             /* sizeof(hot_signal_scheme) */
    size_t volumes;
    const double *b;         /* volumes: b-values in s/mm^2; b <= 50 is a b=0 volume */
    const double *gradients; /* volumes x 3: unit gradient directions; ignored where b <= 50 */
    size_t shells;           /* of the response, without b=0; 1 to 16 */
    const double *shell_b;   /* shells, s/mm^2. A volume belongs to the nearest shell, which must be within 15 % or 100
                                s/mm^2 of its b-value */
    const double *response;  /* shells x (lmax / 2 + 1): zonal SH coefficients, R(theta) = sum_l r_l Y_l0(theta), of the
                                signal of a single fibre with volume fraction 1, relative to its b=0 signal */
    int lmax;                /* of the response, even, 2 to 16; degrees above 8 are not used */
} hot_signal_scheme;
#define HOT_SIGNAL_SCHEME_INIT HOT_SIZED(hot_signal_scheme)

/* Priors of the voxel model (empirical Bayes; the pipeline learns them): each {mean, sd} pair is a normal prior. Every
 * voxel has 0 to 3 fibres, each with its own width, and two isotropic compartments, free water (3e-3 mm^2/s) and one
 * with the voxel's own diffusivity; all relative to the b=0 signal. Isotropic fractions may be slightly negative:
 * noise. */
enum { HOT_SEPARATIONS = 6 };
/* The misfit's amplitude relative to the response's part of degree 4 (kernels/signal/signal_misfit.c). */
#define HOT_SIGNAL_MISFIT_SHARE 0.25
typedef struct hot_signal_priors {
    size_t size;               /* sizeof(hot_signal_priors) */
    double width[2];           /* of a fibre: how much wider than the response, rad^2 */
    double isotropic[2], water[2]; /* in voxels with fibres; uniform without */
    double ln_diffusivity[2];      /* of the isotropic part beside fibres: of its ln in mm^2/s */
    double ln_diffusivity_none[2]; /* the same without fibres */
    double spread;             /* standard deviation of ln w about its mean over the fibres of a voxel */
    double share[4];           /* of the voxels: those with 0, 1, 2, 3 fibres */
    double near[2][HOT_SEPARATIONS]; /* of 2 and of 3 fibres: how much more often than of uniform directions the
                                        smallest separation is 25-35, 35-45, 45-55, 55-65, 65-75, 75-90 degrees */
    double told[4];            /* of the 4 k + 3 unknowns of k = 0 to 3 fibres (with fans 6 k + 3), how many the data
                                  tell; the priors tell the rest, and take no degree of freedom from the residuals */
    double evidence_scale, evidence_shift[4]; /* -2 ln P(k) is Laplace's approximation times the first, plus the second
                                                 (its own: 1 and 0) */
    double noise;              /* the usual noise of a voxel, over the sigma given to the call */
    double noise_freedom;      /* how sure that is, in degrees of freedom of a chi squared distribution; a voxel's own
                                  residuals count with theirs. 1e6: sigma is as given */
    double cone_variance[4];   /* of fits of k fibres: the variance of directions over what the fits' curvature says.
                                  Not used by the fits */
    double recovered;          /* of voxels simulated from all this, the share that got its own number of fibres; 1
                                  where none were. Not used by the fits */
    double fan;                /* how much fibres fan out in a plane, or have unequal diffusivities across them:
                                  deviation of the two amplitudes, of a mean of 0, that change a fibre's signal by
                                  (d2/da2 - d2/db2) / 2 and d2/dadb, a and b its turns, rad^2. Fans of deviation s
                                  in their planes: s^2 / sqrt(8). At most 1; 0 = none. Only the evidence has it */
    double certainty;          /* P(0) to P(3) are the fits' probabilities to this power, normalised: the most probable
                                  number does not change. Not used by the fits */
    double cone_growth[4];     /* of wide cones of fits of k fibres: how fast their variance grows over what the fits'
                                  curvature says, 0 to 1, as a power of how it does in narrow ones. Not used by the
                                  fits */
} hot_signal_priors;

/* One fit: the estimates of a voxel for one number of fibres, and their variances. */
enum { HOT_SIGNAL_PRECISION = 120 };
typedef struct hot_signal_fit {
    float cost;                /* -2 ln P(k), up to a constant; 1e30: not possible */
    float chi;                 /* sum of squared residuals in units of `noise`; of what fans leave over, if there are
                                  some */
    float noise;               /* standard deviation used in this voxel, over the sigma given; 0: it is flagged */
    float v[3][3], weight[3], width[3], isotropic, water, ln_diffusivity;
    float width_variance[3], spread_variance, isotropic_variance, water_variance, ln_diffusivity_variance;
                               /* of the posterior; of the weights: of the sum of squares of ln w about its mean */
    float turn[3][2][3];       /* two unit vectors across v, in which turns are counted: v + a turn[0] + b turn[1] */
    /* The inverse of the posterior's covariance (Laplace; fans integrated out), of 4 k + 3 unknowns: for each fibre ln
     * of the weight, width, turns a and b; then isotropic, water, ln_diffusivity. A packed lower triangle: element
     * (i, j) at i (i + 1) / 2 + j */
    float precision[HOT_SIGNAL_PRECISION];
    float fan;                 /* sum of the squares of the fans' 2 k amplitudes, rad^4; 0: none, or without fans */
    float fan_told;            /* of these amplitudes, how many the data tell rather than the prior */
} hot_signal_fit;

/* How noise changes a signal. */
typedef enum hot_noise_model {
    HOT_NOISE_AUTO = 0, /* here the same as HOT_NOISE_RICIAN; the pipeline judges it by the data's negative samples */
    HOT_NOISE_RICIAN,   /* magnitudes: biased upwards where the signal is low, never negative */
    HOT_NOISE_GAUSSIAN  /* no bias, the same deviation everywhere: data of which a noise floor was subtracted, or the
                           real part of complex data */
} hot_noise_model;

typedef struct hot_signal_options {
    size_t size;          /* sizeof(hot_signal_options) */
    int max_fibers;       /* largest number of fibres per voxel, 1 to 3; 0 = 3 */
    int order;            /* 4, 6 or 8: degrees of the response above it are not used; 0 = 8 */
    double sigma;         /* standard deviation of the noise, in the unit of the signals, > 0; ignored if the call gets
                             one per voxel */
    double response_sigma; /* standard deviation of the noise in the data from which the response was averaged, relative
                             to their b=0 signal. The mean of a magnitude signal is biased upwards by noise; the bias
                             is removed from the response. 0 = the response has none. Not used with
                             HOT_NOISE_GAUSSIAN, which has no bias */
    double progress[2];   /* the fractions, 0 to 1, that are reported when this call starts and when it is done, if it
                             is one part of a longer computation; 0 0 = 0 and 1 */
    hot_noise_model noise_model;
    const hot_signal_priors *population; /* NULL = that of hot_signal_priors_default */
    double ceiling;       /* samples at or above this value are clipped, and their voxel is not fitted; in the unit of
                             the signals; 0 = none are */
} hot_signal_options;
#define HOT_SIGNAL_OPTIONS_INIT HOT_SIZED(hot_signal_options)

/* Why a voxel was not fitted (bits). Single signals that are zero or negative are data like any others. */
enum {
    HOT_VOXEL_NOT_FINITE = 1, /* NaN or Inf */
    HOT_VOXEL_NO_B0 = 2,      /* b=0 signal zero or negative */
    HOT_VOXEL_CLIPPED = 8,    /* a sample reaches hot_signal_options.ceiling, all diffusion-weighted ones are 0, or all
                                 samples are the same */
    HOT_VOXEL_NOISE = 16      /* b=0 signal below three standard deviations of the noise */
};

/* The output arrays, owned by the caller; every pointer but `directions` may be NULL. */
typedef struct hot_signal_result {
    size_t size;          /* sizeof(hot_signal_result) */
    float *directions;    /* count x (3 max_fibers): x1 y1 z1 x2 ..., by descending length, which is the volume
                             fraction; 0 for absent fibres. Of x and -x the one with z > 0 is given (z = 0: y > 0; y =
                             0 too: x > 0) */
    uint8_t *found;       /* count: number of fibres */
    float *probability;   /* count x 4: of 0, 1, 2, 3 fibres */
    float *margin;        /* count: log10 of the odds of the chosen number against the second most probable one */
    float *residual;      /* count: root mean square residual of the chosen fit, in units of sigma; near 1 for a good
                             fit */
    float *width;         /* count: the width tau of one fibre of the chosen fit, rad^2; 0 without fibres */
    uint8_t *flags;       /* count: HOT_VOXEL_ bits; the other outputs of a flagged voxel are 0 */
    double *device_seconds; /* one number, to which the GPU's time in kernels (without copies) is added */
    hot_signal_fit *fits; /* count x 4, of 0, 1, 2, 3 fibres */
} hot_signal_result;
#define HOT_SIGNAL_RESULT_INIT HOT_SIZED(hot_signal_result)

/* Wide priors that are a start for learning what is usual in a data set. Cannot fail. */
HOT_API void hot_signal_priors_default(hot_signal_priors *population);

/* Estimates number, directions and volume fractions of the fibres of each voxel.
 *
 * options   NULL = defaults; sigma has none, so that `sigma` must then be given per voxel.
 * scheme    acquisition and response.
 * signals   count x volumes, row-major (the volumes of a voxel are contiguous), any unit; zero and
 *           negative signals are data.
 * sigma     count, > 0: standard deviation of the noise in each voxel, in the same unit; NULL = options->sigma.
 * s0        count: b=0 signals in the same unit; NULL = the mean of the b=0 volumes.
 * mask      count bytes; voxels with 0 are not computed, and their outputs are 0. NULL = all are computed.
 * result    the output arrays.
 *
 * Results do not depend on the common unit of signals, sigma and s0 beyond rounding, nor on the number of threads. The
 * caller owns all arrays.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (neither b=0 volumes nor s0; a volume too far from every shell),
 * HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED.
 * Method: for k = 0 ... 3 fibres, a penalised maximum-likelihood fit with the mean and variance of Rician noise (or of
 * Gaussian noise: options->noise_model), from several starts that an exhaustive search on a grid finds; the noise of
 * the voxel from what the fits leave over, drawn to the usual one, and the fits again with that; then the Laplace
 * approximation of the evidence of each k, in which a part of the residuals may be misfit or (population->fan) fans
 * rather than noise. */
HOT_API hot_status hot_signal_fibers_f32(hot_context *context, const hot_signal_options *options,
                                         const hot_signal_scheme *scheme, size_t count, const float *signals,
                                         const float *sigma, const float *s0, const uint8_t *mask,
                                         const hot_signal_result *result);

HOT_C_END
#endif
