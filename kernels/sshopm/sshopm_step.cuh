/* The adaptive shift of sshopm_step.h as a C++ template, in three dimensions and single precision, with the GPU's
 * approximate functions: sshopm_step3<ORDER>::adaptive_shift(h, margin) and min_eigenvalue(h). */
#pragma once

#include "common/approximate.cuh"
#include "symtensor/form3.cuh"

template <int ORDER> struct sshopm_step3 {
#define HOT_ORDER ORDER
#define HOT_DIM 3
#define HOT_SCALAR float
#define HOT_REAL float
#define HOT_COEF float
#define HOT_MAX(a, b) fmaxf(a, b)
#define HOT_SQRT(a) approximate_sqrt(a)
#define HOT_DIVIDE(a, b) ((a) * approximate_reciprocal(b))
#define HOT_FORM(name) hot_form3<float, ORDER>::name
#define HOT_STEP(name) name
#include "sshopm/sshopm_step.h"
#undef HOT_ORDER
#undef HOT_DIM
#undef HOT_SCALAR
#undef HOT_REAL
#undef HOT_COEF
#undef HOT_MAX
#undef HOT_SQRT
#undef HOT_DIVIDE
#undef HOT_FORM
#undef HOT_STEP
};
