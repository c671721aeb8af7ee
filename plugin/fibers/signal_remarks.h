/* What the signal method says about what it learned, and about its voxels and its noise once all are fitted. */
#ifndef HOT_FIBERS_SIGNAL_REMARKS_H
#define HOT_FIBERS_SIGNAL_REMARKS_H

#include "signal_part.h"

/* A warning where the noise that was given is far from what the data show. least: the noise that data without noise are
 * taken to have. flags, residual: voxels; the residuals, in units of the noise given, are moved. */
hot_status hot_signal_compare_noise(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                    const hot_signal_find_options *options, double least, const uint8_t *flags,
                                    float *residual);

/* Notes what was learned, and where the data hardly tell the model: too few voxels to learn from, or numbers of fibres
 * that are often not found again in voxels simulated from what was learned. typical: the response's. */
void hot_signal_tell_learned(hot_context *context, const hot_signal_learned *learned, double typical);

/* Says how many voxels cannot be used and why, and how many are nothing but noise: these have an answer, no fibre.
 * Returns how many cannot be used. */
size_t hot_signal_tell_flagged(hot_context *context, const hot_mask *mask, const uint8_t *flags);

#endif
