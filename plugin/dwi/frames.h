/* Image axes and world: the frame of FSL's bvec files. */
#pragma once

#include <hotfiber/hotfiber.h>

/* Columns: the unit directions of i, j, k in the world; the orthogonal matrix nearest to them where
 * the grid has shear. */
void hot_grid_image_axes(const hot_grid *grid, double frame[3][3]);

/* The matrix that takes a bvec vector of this grid into world axes of grid->space: the orthogonal matrix nearest to the
 * grid's axes (the axes themselves where they have no shear), x negated where the axes in scanner RAS have a positive
 * determinant (FSL's convention: vectors are in a left-handed image frame). Its transpose goes back. */
void hot_grid_bvec_frame(const hot_grid *grid, double frame[3][3]);

double hot_determinant(const double m[3][3]);
/* Inverse of the transpose (m must not be singular). */
void hot_inverse_transpose(const double m[3][3], double out[3][3]);
