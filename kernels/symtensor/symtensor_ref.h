/* The reference: sums over all n^m entries in long double. For tests and the reference backends. */
#pragma once

#include <stddef.h>

/* A x^(m-p) for p = 0, 1, 2: one, n or n^2 values. `magnitude` (may be NULL): the same sum of absolute terms, from
 * which tests take their tolerances. */
void hot_symtensor_contract_ref(int order, int dim, int p, const double *tensor, const long double *x,
                                long double *result, long double *magnitude);

/* The place of an index tuple, in any order, in the packed tensor. */
size_t hot_symtensor_place_ref(int order, int dim, const int *tuple);
