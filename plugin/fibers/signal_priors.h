/* Priors of the voxel model (empirical Bayes): learned from a sample of voxels by expectation maximisation, and
 * calibrated on simulated ones. */
#pragma once

#include <hotfiber/hotfiber.h>

/* Estimates the priors of the fits by expectation maximisation from fits to `count` voxels. signals: count x
 * scheme->volumes floats; sigma: count floats, > 0, or NULL for how->sigma. min_noise: of the usual noise, over
 * sigma. denoised: the noise is as given, and not learned from what denoising has left of the residuals. *fitted (NULL:
 * not wanted): how many voxels the noise was learned from. Any number of threads gives the same.
 * Errors: those of hot_signal_fibers_f32. */
hot_status hot_signal_learn(hot_context *context, const hot_signal_options *how, const hot_signal_scheme *scheme,
                            size_t count, const float *signals, const float *sigma, double min_noise,
                            int denoised, hot_signal_priors *population, size_t *fitted);

/* Limits how->response_sigma, estimated from the b=0 volumes, to the learned noise: in vivo, b=0 volumes also differ by
 * pulsation and motion, which do not bias magnitudes. */
double hot_signal_response_sigma(const hot_signal_options *how, const hot_signal_priors *population);

/* ---- Calibration on simulated voxels (signal_calibration.c) ---- */

/* Sets population->evidence_scale and evidence_shift by logistic regression on `count` drawn voxels, and `recovered` to
 * the share of them that gets its own number with these. how: of the fits; its population is not used. snr: count, S0
 * over the noise given to the fits. last: whether the scale is fitted, too (else it is 1). Any number of threads gives
 * the same. Errors: those of hot_signal_fibers_f32. */
hot_status hot_signal_calibrate_evidence(hot_context *context, const hot_signal_options *how,
                                         const hot_signal_scheme *scheme, size_t count, const double *snr,
                                         uint64_t seed, int last, hot_signal_priors *population);

/* Sets population->certainty, cone_variance and cone_growth, which do not affect the fits. how: of the fits; its
 * population is not used. fits: count x 4, of the data with these priors. snr: of `known` voxels, S0 over the noise
 * given to the fits. Any number of threads gives the same. Errors: those of hot_signal_fibers_f32. */
hot_status hot_signal_calibrate_posterior(hot_context *context, const hot_signal_options *how,
                                          const hot_signal_scheme *scheme, size_t count, const hot_signal_fit *fits,
                                          size_t known, const double *snr, uint64_t seed,
                                          hot_signal_priors *population);
