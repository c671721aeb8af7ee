/* The unrolled forms of form3.h for CUDA code: hot_form3<T, ORDER>::gradient(a, x, y, z, g) and so on, for any even or
 * odd order >= 2 in three dimensions. */
#pragma once

#include "common/portable.h"

template <typename T, int ORDER> struct hot_form3 {
#define HOT_ORDER ORDER
#define HOT_SCALAR T
#define HOT_REAL T
#define HOT_COEF T
#define HOT_FORM(name) name
#include "symtensor/form3.h"
#undef HOT_ORDER
#undef HOT_SCALAR
#undef HOT_REAL
#undef HOT_COEF
#undef HOT_FORM
};
