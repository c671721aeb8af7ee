/* Tensors given in another frame than the world: rotated on reading. */
#pragma once

#include <hotfiber/hotfiber.h>

/* The matrix (terms x terms, row-major) that turns a packed tensor of `order` by a frame, as below. */
hot_status hot_tensor_frame_matrix(hot_context *context, int order, const double frame[3][3], double *matrix);

/* Turns count packed tensors of `order` (rows of `stride` floats that begin with a confidence, which stays) by the
 * measurement frame: every index by the matrix, whose columns are the frame's vectors; A'(x) = A(frame^T x). */
hot_status hot_tensor_frame_apply(hot_context *context, int order, const double frame[3][3], size_t count,
                                  float *values, size_t stride);
