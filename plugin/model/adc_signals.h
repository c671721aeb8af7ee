/* The adc fit of voxels with signals that have no logarithm. */
#pragma once

#include "model.h"

/* In voxels with a signal of at most 0 (s0 > 0): least squares of the signals themselves, from the tensors in `values`
 * (count x (1 + terms)), which it replaces. Other voxels do not change. */
hot_status hot_adc_fit_signals(const hot_plan *plan, size_t count, const float *signals, const float *s0,
                               float *values);
