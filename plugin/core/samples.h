/* Samples of a posterior: who makes them and who writes them share this. */
#pragma once

#include "core/fields.h"

/* A fibre in a sample: the angles of its direction in FSL's axes and its volume fraction, each in 65535ths of its
 * range (pi, 2 pi, 1). Fraction 0: it is not there. */
typedef struct hot_sampled_fiber {
    uint16_t theta, phi, fraction;
} hot_sampled_fiber;

struct hot_signal_samples {
    int samples, fibers;       /* of a voxel; fibres of a sample */
    size_t voxels, *place;     /* of the mask; of each voxel of the grid its place among them */
    hot_sampled_fiber *values; /* voxels x samples x fibers */
};
