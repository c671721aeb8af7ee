/* Mass matrices of high-order finite elements, applied or assembled, for many elements. (Abdelfattah et al. 2016,
 * High-performance tensor contractions for GPUs, section 3.) */
#ifndef HOTFIBER_FEM_H
#define HOTFIBER_FEM_H

#include <hotfiber/context.h>

HOT_C_BEGIN

enum { HOT_FEM_POINTS = 16 }; /* largest number of basis functions, and of quadrature points, along an axis */

/* Parameters of the functions below. All arrays have their first index fastest and are owned by the caller.
 *
 * dim        2 or 3.
 * dofs       number of basis functions along each axis, 1 to HOT_FEM_POINTS: p + 1 for elements of order p.
 * points     number of quadrature points along each axis, 1 to HOT_FEM_POINTS.
 * basis      points x dofs: basis[k + points * i] = phi_i(q_k), the same for all axes and elements.
 * elements   number of elements.
 * d          points^dim per element: quadrature weight times density times Jacobian determinant at each point.
 * v, u       dofs^dim per element.
 * m          dofs^dim x dofs^dim per element, symmetric.
 *
 * Orders 1 to 8 with points = dofs or dofs + 1 have kernels compiled for their sizes; others are slower. Results do not
 * depend on the number of threads.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. */

/* Computes u = B^T D B v (equations 6 and 7) without assembling the matrix. u and v must not overlap. */
HOT_API hot_status hot_fem_mass_action_f64(hot_context *context, int dim, size_t dofs, size_t points,
                                           const double *basis, size_t elements, const double *d, const double *v,
                                           double *u);
HOT_API hot_status hot_fem_mass_action_f32(hot_context *context, int dim, size_t dofs, size_t points,
                                           const float *basis, size_t elements, const float *d, const float *v,
                                           float *u);

/* Computes m = B^T D B (equations 4 and 5). */
HOT_API hot_status hot_fem_mass_assemble_f64(hot_context *context, int dim, size_t dofs, size_t points,
                                             const double *basis, size_t elements, const double *d, double *m);
HOT_API hot_status hot_fem_mass_assemble_f32(hot_context *context, int dim, size_t dofs, size_t points,
                                             const float *basis, size_t elements, const float *d, float *m);

/* Makes a basis: the Lagrange polynomials of the Gauss-Lobatto nodes in [0, 1], at the Gauss-Legendre points of [0, 1].
 *
 * dofs      2 to HOT_FEM_POINTS.
 * points    1 to HOT_FEM_POINTS.
 * basis     out: points x dofs, as above; or NULL.
 * weights   out: points, the weights of the Gauss-Legendre points; or NULL.
 *
 * Errors: HOT_ERROR_ARGUMENT. */
HOT_API hot_status hot_fem_basis(hot_context *context, size_t dofs, size_t points, double *basis, double *weights);

HOT_C_END
#endif
