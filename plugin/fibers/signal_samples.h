/* What is told of the posterior in every voxel: cones and deviations of the fibres found, and samples. */
#ifndef HOT_FIBERS_SIGNAL_SAMPLES_H
#define HOT_FIBERS_SIGNAL_SAMPLES_H

#include "core/samples.h"

/* How many samples of the posterior may be asked for. HOT_ERROR_ARGUMENT. */
hot_status hot_signal_find_check(hot_context *context, const hot_signal_find_options *options);

/* The memory of *maps for what is known beside directions. */
hot_status hot_signal_maps_make(hot_context *context, size_t voxels, hot_signal_maps *maps);
/* The memory of *maps for what is told of the posterior, and its end. */
hot_status hot_signal_posterior_make(hot_context *context, const hot_mask *mask,
                                     const hot_signal_find_options *options, int max_fibers, hot_signal_maps *maps);
void hot_signal_posterior_free(hot_context *context, hot_signal_maps *maps);

/* hot_signal_fibers_f32 for voxels first ... first + count - 1 of the mask's grid, and what the fits say of the
 * posterior into *maps. typical: the weight of the average single fibre, whose fraction is 1. The arrays of `result`
 * begin at `first`, all may be NULL but directions, which are not divided by `typical`, and flags. */
hot_status hot_signal_find_posterior(hot_context *context, const hot_signal_options *how,
                                     const hot_signal_scheme *scheme, const hot_mask *mask, size_t first, size_t count,
                                     const float *signals, const float *sigma, double typical,
                                     const hot_signal_result *result, hot_signal_maps *maps);

/* Probabilities and margins, as the fits tell them, by the population's certainty. */
void hot_signal_maps_temper(hot_context *context, const hot_mask *mask, const hot_signal_population *population,
                            hot_signal_maps *maps);

#endif
