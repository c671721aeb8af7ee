/* adc's positivity: the nearest fit that is nowhere negative. */
#pragma once

#include "model.h"

/* Fits those voxels of `values` (count x (1 + terms), s0 > 0) again whose form is negative in one of 512 directions,
 * with the constraint that it is not, in the norm of the model's least squares. */
hot_status hot_model_make_positive(const hot_plan *plan, size_t count, const float *s0, float *values);
