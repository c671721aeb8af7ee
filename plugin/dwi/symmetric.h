/* Eigenvalues of small symmetric matrices, for gradient tables. */
#ifndef HOT_PLUGIN_DWI_SYMMETRIC_H
#define HOT_PLUGIN_DWI_SYMMETRIC_H

/* Jacobi's method: matrix (n x n, destroyed), values ascending, vectors[i * n ...] the unit eigenvector of values[i]
 * (vectors may be NULL). */
void hot_symmetric_eigen(int n, double *matrix, double *values, double *vectors);

#endif
