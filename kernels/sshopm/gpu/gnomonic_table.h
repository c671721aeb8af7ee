/* The frame of the gnomonic projection, and the matrix that takes a packed tensor to its polynomials
 * (gnomonic_step.cuh). */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The rotation: rows are the projection's axes in the caller's frame. */
extern const double hot_gnomonic_frame[3][3];

/* How many coefficients the three polynomials of an order have together: 3 m (m + 1) / 2. */
size_t hot_gnomonic_terms(int order);

/* matrix[i * terms + j]: coefficient j (polynomial x, then y, then z) += matrix_ij * tensor_i; unique x terms. */
void hot_gnomonic_matrix(int order, float *matrix);

enum { HOT_GNOMONIC_POINTS = 32 }; /* where the shift is measured (gnomonic_step.cuh): a warp's lanes */

/* The shift's constants: the packed tensor of the form (x.x)^(m/2), and the points, unit, x y z each. */
void hot_gnomonic_shift_table(int order, float *sphere, float *points);

#ifdef __cplusplus
}
#endif
