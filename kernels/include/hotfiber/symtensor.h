/* Symmetric tensors A of order m and dimension n, in packed storage: the unique values in lexicographic order (xxxx
 * xxxy xxxz xxyy ...), not multiplied by their multiplicity. (Ballard, Kolda, Plantenga 2011, section III.)
 *
 * All functions may be called by any number of threads at once. */
#ifndef HOTFIBER_SYMTENSOR_H
#define HOTFIBER_SYMTENSOR_H

#include <hotfiber/context.h>

HOT_C_BEGIN

/* The largest order and dimension. Functions that return a status return HOT_ERROR_ARGUMENT beyond them. */
enum { HOT_ORDER_MAX = 16, HOT_DIM_MAX = 16 };

/* The number of unique values: C(order + dim - 1, order) (property 1 of the paper); 0 if order or dim is out of bounds
 * or the number does not fit size_t. */
HOT_API size_t hot_symtensor_count(int order, int dim);

/* Writes the exponents of the monomial of each unique value: exponents[i * dim + d] is how often the index d occurs in
 * value i. exponents: hot_symtensor_count(order, dim) x dim. Errors: HOT_ERROR_ARGUMENT. */
HOT_API hot_status hot_symtensor_exponents(int order, int dim, int *exponents);

/* Writes the multiplicity m! / (k1! ... kn!) of each unique value, where k1 ... kn are its exponents. multiplicity:
 * hot_symtensor_count(order, dim) values. Errors: HOT_ERROR_ARGUMENT. */
HOT_API hot_status hot_symtensor_multiplicity(int order, int dim, double *multiplicity);

/* Returns A x^m for one packed tensor. x: dim values, of any length. NaN if order or dim is out of bounds. */
HOT_API double hot_symtensor_value_f64(int order, int dim, const double *tensor, const double *x);

/* Writes the vector A x^(m-1), that is the gradient of A x^m divided by m, to gradient[dim], and returns A x^m. All are
 * NaN if order or dim is out of bounds. */
HOT_API double hot_symtensor_gradient_f64(int order, int dim, const double *tensor, const double *x, double *gradient);

/* Writes the symmetric matrix A x^(m-2), that is the Hessian of A x^m divided by m (m - 1), to hessian[dim * dim].
 * order >= 2. */
HOT_API void hot_symtensor_hessian_f64(int order, int dim, const double *tensor, const double *x, double *hessian);

/* Evaluates one tensor at many points: values[p] = A x_p^m. x: count x dim, row-major. Dimension 3 with order 2, 4, 6
 * or 8 has unrolled code. */
HOT_API void hot_symtensor_values_f64(int order, int dim, const double *tensor, size_t count, const double *x,
                                      double *values);

/* Contracts each tensor p = `times` times with each point: the symmetric tensor A x^p of order m - p. p = 0 is A
 * itself, p = m the value A x^m, p = m - 1 the vector A x^(m-1).
 *
 * order, dim   1 <= order <= HOT_ORDER_MAX, 1 <= dim <= HOT_DIM_MAX.
 * times        0 <= times <= order.
 * tensors      count x stride, row-major; the packed tensor is at the start of each row. stride >=
 *              hot_symtensor_count(order, dim).
 * points       point_count x dim, row-major, of any length; used for every tensor.
 * result       out: count x point_count x values, packed tensors of order m - p with
 *              hot_symtensor_count(order - times, dim) values each, or 1 if times == order.
 *
 * NaN or Inf in a tensor or in a point affects its own results only. The caller owns all arrays. Results do not depend
 * on the number of threads. With arrays in device memory (hotfiber/device.h) the points are there, too. On a GPU each
 * point is scaled by a power of two, so that its length does not matter; a tensor's values times p! must be within the
 * type's range. Tensors beyond the GPU's tables (2^24 values of the result's times monomials of degree p) are
 * computed on the CPU, unless they are in device memory. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY,
 * HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_symtensor_contract_f64(hot_context *context, int order, int dim, int times, size_t count,
                                              const double *tensors, size_t stride, size_t point_count,
                                              const double *points, double *result);
HOT_API hot_status hot_symtensor_contract_f32(hot_context *context, int order, int dim, int times, size_t count,
                                              const float *tensors, size_t stride, size_t point_count,
                                              const float *points, float *result);

/* ---- Spherical harmonics (dimension 3, even order) --------------------------------------------------------- Real,
 * orthonormal harmonics of even degree l = 0, 2, ..., order, in MRtrix's convention: (l, m) has the index l(l+1)/2 + m,
 * m = -l ... l; m < 0 is sqrt(2) Im, m > 0 is sqrt(2) Re of the complex harmonic of |m|, with the Condon-Shortley phase
 * (-1)^m. There are (order + 1)(order + 2) / 2 of them, the number of values of a packed tensor, and both bases span
 * the same functions on the sphere. */

/* Evaluates the harmonics at unit vectors: values[p * terms + i] is harmonic i at directions[3 * p], with terms =
 * (order + 1)(order + 2) / 2. directions: count x 3. Errors: HOT_ERROR_ARGUMENT. */
HOT_API hot_status hot_sh_values_f64(int order, size_t count, const double *directions, double *values);

/* Writes the matrix that converts SH coefficients to packed tensors: tensor_i = sum_j matrix[i * terms + j] sh_j.
 * matrix: terms x terms. order: 2, 4, ..., HOT_ORDER_MAX. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY. */
HOT_API hot_status hot_sh_to_symtensor(hot_context *context, int order, double *matrix);

/* Writes the inverse matrix, which converts packed tensors to SH coefficients: sh_i = sum_j matrix[i * terms + j]
 * tensor_j. */
HOT_API hot_status hot_symtensor_to_sh(hot_context *context, int order, double *matrix);

HOT_C_END
#endif
