/* Mass operators of high-order finite elements. (Abdelfattah et al. 2016, High-performance tensor contractions for
 * GPUs, section 3.) */
#ifndef HOTFIBER_FEM_H
#define HOTFIBER_FEM_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOT_FEM_POINTS = 16 }; /* most basis functions and quadrature points along one axis */

/* dim: 2 or 3. dofs, points: numbers of basis functions and of quadrature points along every axis, 1 to HOT_FEM_POINTS;
 * elements of order p have p + 1 basis functions. All arrays have their first index fastest:
 *   basis   points x dofs: basis[k + points * i] = phi_i(q_k)
 *   d       points^dim per element: weight, density and Jacobian at every quadrature point
 *   v, u    dofs^dim per element
 *   m       dofs^dim x dofs^dim per element, symmetric
 * Orders 1 to 8 with points = dofs or dofs + 1 are compiled for their sizes and faster than others.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. The same result for any number
 * of threads. */

/* u = B^T D B v (equations 6 and 7) without assembling the matrix; v is not changed, u and v are different arrays. */
HOT_API hot_status hot_fem_mass_action_f64(hot_context *context, int dim, size_t dofs, size_t points,
                                           const double *basis, size_t elements, const double *d, const double *v,
                                           double *u);
HOT_API hot_status hot_fem_mass_action_f32(hot_context *context, int dim, size_t dofs, size_t points,
                                           const float *basis, size_t elements, const float *d, const float *v,
                                           float *u);

/* m = B^T D B (equations 4 and 5). */
HOT_API hot_status hot_fem_mass_assemble_f64(hot_context *context, int dim, size_t dofs, size_t points,
                                             const double *basis, size_t elements, const double *d, double *m);
HOT_API hot_status hot_fem_mass_assemble_f32(hot_context *context, int dim, size_t dofs, size_t points,
                                             const float *basis, size_t elements, const float *d, float *m);

/* A basis: the values of the Lagrange polynomials of the Gauss-Lobatto nodes in [0, 1] at the Gauss-Legendre points of
 * [0, 1], and the weights of these points (each may be NULL). dofs 2 to HOT_FEM_POINTS, points 1 to HOT_FEM_POINTS.
 * Errors: HOT_ERROR_ARGUMENT. */
HOT_API hot_status hot_fem_basis(hot_context *context, size_t dofs, size_t points, double *basis, double *weights);

#ifdef __cplusplus
}
#endif
#endif
