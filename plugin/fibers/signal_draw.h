/* Voxels drawn from what was learned of a data set, whose numbers of fibres are known. */
#ifndef HOT_FIBERS_SIGNAL_DRAW_H
#define HOT_FIBERS_SIGNAL_DRAW_H

#include <hotfiber/signal.h>

/* Draws `count` voxels of 0 to max_fibers fibres, each from a random stream of its own under `seed`. misfit: the share
 * of what no fit follows (HOT_SIGNAL_MISFIT_SHARE). snr: count, S0 over the noise given to the fits; signals (out):
 * count x scheme->volumes in units of that noise; fibers (out): count numbers of fibres; directions (out): count x 9,
 * those of the fibres; scratch: threads x scheme->volumes numbers. Any number of threads draws the same. */
void hot_signal_draw(const hot_signal_population *population, const hot_signal_scheme *scheme,
                     hot_noise_model noise_model, int max_fibers, double misfit, uint64_t seed, size_t count,
                     const double *snr, int threads, double *scratch, float *signals, uint8_t *fibers,
                     float *directions);

#endif
