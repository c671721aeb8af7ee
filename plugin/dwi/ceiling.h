/* The value at which a data set's samples were clipped, from its histogram. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* largest: the largest sample of each voxel, 0 without samples; the call reorders them. weighted: whether a
 * diffusion-weighted one is as large. type_limit: the largest number
 * that the file's type holds, scaled as the samples are; infinite for floating-point types.
 * Returns the value at and above which samples are clipped, or infinity. reached: voxels that reach it. */
double hot_ceiling_find(float *largest, const uint8_t *weighted, size_t voxels, double type_limit, size_t *reached);
