/* The arithmetic of directions/step.h on the GPU, one form per thread: directions_form<ORDER>::newton and so on. */
#pragma once

#include "common/approximate.cuh"
#include "common/portable.h"

#define HOT_V float
#define HOT_MASK bool
#define HOT_SET(x) (x)
#define HOT_FMA(a, b, c) fmaf(a, b, c)
#define HOT_MAX(a, b) fmaxf(a, b)
#define HOT_LT(a, b) ((a) < (b))
#define HOT_GE(a, b) ((a) >= (b))
#define HOT_AND(m, n) ((m) && (n))
#define HOT_NOT(m) (!(m))
#define HOT_SELECT(m, a, b) ((m) ? (a) : (b))
#define HOT_SELECT_MASK(m, a, b) ((m) ? (a) : (b))
/* Newton's method corrects what is approximate. */
#define HOT_INVERSE(a) approximate_reciprocal(a)
#define HOT_SQRT(a) approximate_sqrt(a)
#include "directions/step.h" /* what all orders share */

template <int ORDER> struct directions_form {
#define HOT_ORDER ORDER
#define HOT_STEP(name) name
#include "directions/step.h"
#undef HOT_ORDER
#undef HOT_STEP
};

#undef HOT_V
#undef HOT_MASK
#undef HOT_SET
#undef HOT_FMA
#undef HOT_MAX
#undef HOT_LT
#undef HOT_GE
#undef HOT_AND
#undef HOT_NOT
#undef HOT_SELECT
#undef HOT_SELECT_MASK
#undef HOT_INVERSE
#undef HOT_SQRT
