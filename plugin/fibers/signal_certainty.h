/* How sure the answers are: P(k) and cones, measured on voxels drawn from a population that is matched to
 * what the data show. Priors that are learned where data tell little are off, and what is drawn from them does not say
 * so. */
#ifndef HOT_FIBERS_SIGNAL_CERTAINTY_H
#define HOT_FIBERS_SIGNAL_CERTAINTY_H

#include <hotfiber/hotfiber.h>

/* Sets population->certainty, cone_variance and cone_growth; what is found does not depend on them. how: of the fits;
 * its population is not used. fits: count x 4, of the data with these priors. snr: of `known` voxels, S0 over the noise
 * given to the fits. Any number of threads gives the same. Errors: those of hot_signal_fibers_f32. */
hot_status hot_signal_certify(hot_context *context, const hot_signal_options *how, const hot_signal_scheme *scheme,
                              size_t count, const hot_signal_fit *fits, size_t known, const double *snr,
                              uint64_t seed, hot_signal_population *population);

#endif
