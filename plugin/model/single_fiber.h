/* Signs of a single fibre in a voxel: the two highest peaks of a fod on a grid of directions, and the principal axis of
 * a diffusion tensor. */
#pragma once

#include "model.h"

/* Directions on half a sphere, about 8 degrees apart. At most NEAR of them are within 20 degrees of one (18 in the
 * mean). Orders up to 4: 15 unique values. */
enum { HOT_PEAK_DIRECTIONS = 300, HOT_PEAK_NEAR = 32, HOT_PEAK_TERMS = 15 };

typedef struct hot_peak_grid {
    int order;
    double directions[HOT_PEAK_DIRECTIONS][3];
    unsigned short near[HOT_PEAK_DIRECTIONS][HOT_PEAK_NEAR]; /* within 20 degrees of each, from itself outwards;
                                                                filled up with itself */
    double monomials[HOT_PEAK_TERMS * HOT_PEAK_DIRECTIONS];  /* [term][direction]: A u^m is their sum with the tensor */
} hot_peak_grid;

/* The grid for tensors of an order up to 4. */
hot_status hot_peak_grid_make(int order, hot_peak_grid *grid);
/* p1 (1 - p2 / p1)^2 with p1 and p2 the highest and second highest peak; *highest: where p1 is on the grid. */
double hot_peak_merit(const hot_peak_grid *grid, const float *tensor, size_t *highest);
/* How many maxima a tensor of any order has on the grid's directions, of at least `share` of the highest and at least
 * `floor`, 20 degrees apart. */
size_t hot_peak_count(const hot_peak_grid *grid, int order, const float *tensor, double share, double floor);
/* Climbs from x to the top of its peak: x <- A x^(m-1) + alpha x, normalised; any order of a model. */
void hot_peak_climb(int order, const float *tensor, double x[3]);
/* The principal axis of an order-2 tensor (xx xy xz yy yz zz); returns the fractional anisotropy, or 0 when it is not
 * positive definite. */
double hot_tensor_principal_axis(const float *tensor, double axis[3]);
