/* Symmetric tensors of order m and dimension n, packed: one value per index class, lexicographic
 * (xxxx xxxy xxxz xxyy ...), not multiplied by the multiplicity. (Ballard, Kolda, Plantenga 2011, section III.) */
#ifndef HOTFIBER_SYMTENSOR_H
#define HOTFIBER_SYMTENSOR_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds of the general routines; a larger order or dimension is HOT_ERROR_ARGUMENT (count: 0). */
enum { HOT_ORDER_MAX = 16, HOT_DIM_MAX = 16 };

/* How many unique values: C(order + dim - 1, order), property 1 of the paper. 0 when order or dim is out of bounds
 * or the count does not fit size_t. Any thread. */
HOT_API size_t hot_symtensor_count(int order, int dim);

/* The exponents of each unique value's monomial: exponents[i * dim + d] = how often index d stands in class i.
 * `exponents` holds hot_symtensor_count(order, dim) * dim values. */
HOT_API hot_status hot_symtensor_exponents(int order, int dim, int *exponents);

/* The multiplicity m! / (k1! ... kn!) of each unique value; `multiplicity` holds hot_symtensor_count values. */
HOT_API hot_status hot_symtensor_multiplicity(int order, int dim, double *multiplicity);

/* A x^m of one packed tensor; x has dim values and any length. Any thread. NaN out of bounds. */
HOT_API double hot_symtensor_value_f64(int order, int dim, const double *tensor, const double *x);

/* A x^(m-1) into gradient[dim] (the paper's vector; the derivative of A x^m divided by m); returns A x^m.
 * Any thread. Fills with NaN out of bounds. */
HOT_API double hot_symtensor_gradient_f64(int order, int dim, const double *tensor, const double *x, double *gradient);

/* A x^(m-2) into hessian[dim * dim] (symmetric). order >= 2. Any thread. */
HOT_API void hot_symtensor_hessian_f64(int order, int dim, const double *tensor, const double *x, double *hessian);

/* For many points: values[p] = A x_p^m with the unrolled forms where there are any (dim 3, order 2 4 6 8).
 * x: count x dim. */
HOT_API void hot_symtensor_values_f64(int order, int dim, const double *tensor, size_t count, const double *x,
                                      double *values);

/* ---- Spherical harmonics (dimension 3, even order) ---------------------------------------------------------
 * Real, even, orthonormal, in MRtrix's convention and order: index of (l, m) = l(l+1)/2 + m, l = 0, 2, ..., order,
 * m = -l ... l; m < 0 is sqrt(2) Im, m > 0 is sqrt(2) Re of the complex harmonic of |m|. The harmonics of odd |m| carry
 * the Condon-Shortley phase (-1)^m, as in MRtrix's code (the tests compare with its sh2amp). Both bases have (order +
 * 1)(order + 2) / 2 members and span the same functions on the sphere. */

/* The values of the harmonics at count unit vectors: values[p * terms + i]. terms = (order+1)(order+2)/2. */
HOT_API hot_status hot_sh_values_f64(int order, size_t count, const double *directions, double *values);

/* matrix[i * terms + j]: tensor_i = sum_j matrix_ij sh_j, terms x terms, row-major. order 2, 4, ..., HOT_ORDER_MAX. */
HOT_API hot_status hot_sh_to_symtensor(hot_context *context, int order, double *matrix);

/* The inverse of the above: sh_i = sum_j matrix_ij tensor_j. */
HOT_API hot_status hot_symtensor_to_sh(hot_context *context, int order, double *matrix);

#ifdef __cplusplus
}
#endif
#endif
