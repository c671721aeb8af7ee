/* A packed symmetric tensor as a matrix, so that SS-HOPM in any order and dimension is a product of small matrices.
 *
 *   A x^(m-1), row r:       sum over i <= the smallest index of c of x_i x^c U[r, ic]    c: monomials of degree m-2
 *   A x^(m-2), row (k, l):  sum over c of x^c U[kl, c]
 *
 * U[r, ic] is the tensor's value at the indices r, i, c times the multiplicity of ic. The monomials of degree m-2 that
 * begin with i or later are the end of their lexicographic list, so the inner sum over c runs over contiguous memory.
 * This is the blocked storage of Schatz, Low, van de Geijn, Kolda (2014) with the symmetry of all but the row kept. */
#pragma once

#include "common/poll.h"
#include "sshopm/sshopm_args.h"

/* Where the values of U are in a packed tensor: the same for all tensors of a call. */
typedef struct hot_sshopm_unfolding {
    int order, dim;
    int hessian;           /* rows are pairs of indices, else indices */
    int rows, tile, tiles; /* rows of U; rows of a tile; tiles x tile >= rows, the last rows of the last are padding */
    size_t columns;        /* monomials of degree order - 2 (hessian) or order - 1 */
    size_t monomials;      /* of degree order - 2 */
    size_t tail[HOT_ORDER_MAX][HOT_DIM_MAX]; /* [k][i]: monomials of degree k in x_i ... x_(dim - 1) */
    uint32_t *place;       /* tiles x columns x tile: of U's value in the packed tensor */
    double *weight;        /* columns: the multiplicity of the monomial */
} hot_sshopm_unfolding;

/* Makes the table for tiles of at most max_tile rows. Leaves `place` NULL if U would be too large to be stored (beyond
 * order 8 only): then the index classes are walked. HOT_ERROR_MEMORY. */
hot_status hot_sshopm_unfolding_create(hot_context *context, hot_poll *poll, const hot_sshopm_args *args, int max_tile,
                                       hot_sshopm_unfolding *self);
void hot_sshopm_unfolding_free(hot_context *context, hot_sshopm_unfolding *self);

/* Values of U. */
static inline size_t hot_sshopm_unfolding_size(const hot_sshopm_unfolding *self)
{
    return (size_t)self->tiles * (size_t)self->tile * self->columns;
}
