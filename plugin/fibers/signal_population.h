/* What is usual in a data set, learned from a sample of its voxels before the signal method runs on all. */
#ifndef HOT_FIBERS_SIGNAL_POPULATION_H
#define HOT_FIBERS_SIGNAL_POPULATION_H

#include <hotfiber/hotfiber.h>

/* Estimates the priors of the fits by expectation maximisation from fits to `count` voxels. signals: count x
 * scheme->volumes floats; sigma: count floats, > 0, or NULL for how->sigma. least_noise: of the usual noise, over
 * sigma. denoised: the noise is as given, and not learned from what denoising has left of the residuals. *fitted (NULL:
 * not wanted): how many voxels the noise was learned from. Any number of threads gives the same.
 * Errors: those of hot_signal_fibers_f32. */
hot_status hot_signal_learn(hot_context *context, const hot_signal_options *how, const hot_signal_scheme *scheme,
                            size_t count, const float *signals, const float *sigma, double least_noise,
                            int denoised, hot_signal_population *population, size_t *fitted);

/* how->response_sigma, which b=0 volumes tell, by the noise that was learned: in people b=0 volumes differ by more than
 * noise (pulsation, motion), which is no bias of magnitudes. */
double hot_signal_response_sigma(const hot_signal_options *how, const hot_signal_population *population);

#endif
