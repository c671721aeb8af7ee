/* How far the approximate evidence of each number of fibres can be trusted: measured on voxels drawn from what was
 * learned. Laplace's integral overrates numbers whose unknowns the data hardly tell (few directions, much
 * noise). */
#ifndef HOT_FIBERS_SIGNAL_CALIBRATE_H
#define HOT_FIBERS_SIGNAL_CALIBRATE_H

#include <hotfiber/hotfiber.h>

/* Sets population->evidence_scale and evidence_shift by logistic regression on `count` drawn voxels, and `recovered` to
 * the share of them that gets its own number with these. how: of the fits; its population is not used. snr: count, S0
 * over the noise given to the fits. last: whether the scale is fitted, too (else it is 1). Any number of threads gives
 * the same. Errors: those of hot_signal_fibers_f32. */
hot_status hot_signal_calibrate(hot_context *context, const hot_signal_options *how, const hot_signal_scheme *scheme,
                                size_t count, const double *snr, uint64_t seed, int last,
                                hot_signal_population *population);

#endif
