/* Lengths of directions as volume fractions: those of the methods that give a voxel as a sum of fibres (signal,
 * lowrank). The maxima of a form have heights, which need not add up to anything. */
#pragma once

#include "core/fields.h"

/* Whether weights relative to this response are volume fractions: it has a row for b=0, or is unknown (NULL). */
int hot_fractions_hold(const hot_response *response);

/* Weights relative to a response as fractions relative to the average single fibre, which has `typical` of it. */
void hot_fractions_of_typical(hot_context *context, size_t voxels, int max_fibers, double typical, float *peaks);

/* Scales a voxel's fractions to a sum of at most 1. Larger sums occur if signals decay less than the response, which is
 * that of the typical single fibre: denser or less dispersed fibres (sums up to about 1.2), and dark voxels, whose
 * noise floor is large compared with the b=0 signal (sums of 2 and more). Directions and their number do not change.
 * peaks: voxels x 3 * max_fibers. */
void hot_fractions_bound(hot_context *context, size_t voxels, int max_fibers, float *peaks);
