/* Lengths of directions as volume fractions: those of the methods that give a voxel as a sum of fibres (signal,
 * lowrank). The maxima of a form have heights, which need not add up to anything. */
#ifndef HOT_FIBERS_FRACTIONS_H
#define HOT_FIBERS_FRACTIONS_H

#include "core/fields.h"

/* Whether weights relative to this response are volume fractions: it has a row for b=0, or nothing is known of it
 * (NULL). */
int hot_fractions_hold(const hot_response *response);

/* Weights relative to a response as fractions relative to the average single fibre, which has `typical` of it. */
void hot_fractions_of_typical(hot_context *context, size_t voxels, int max_fibers, double typical, float *peaks);

/* A voxel's fractions add up to at most 1: where they add up to more, all are divided by their sum. That happens where
 * the signals keep more of the b=0 signal than the response's, which is that of the typical single fibre: denser or
 * less dispersed fibres (sums up to about 1.2), and dark voxels, where the noise floor is large beside the b=0 signal
 * (sums of 2 and more). Directions and their number stay as they are. peaks: voxels x 3 * max_fibers. */
void hot_fractions_bound(hot_context *context, size_t voxels, int max_fibers, float *peaks);

#endif
