/* The tables of sshopm_blocks.cu, made on the host: the unfolded tensor (sshopm_unfold.h, rows of the Hessian) cut into
 * tiles of pairs of blocks of indices, which is blocked compact symmetric storage in two of the indices. */
#pragma once

#include "sshopm/sshopm_unfold.h"

HOT_C_BEGIN

enum { HOT_BLOCK_TILES = 10, HOT_BLOCK_PLACE_BITS = 19 };

/* How a shape is cut. Passed to kernels by value. */
typedef struct hot_sshopm_cut {
    int order, dim;
    int block, blocks;     /* indices of a block; blocks x block >= dim, with padding behind the last index */
    int tiles;             /* blocks (blocks + 1) / 2 */
    int columns, prefixes; /* monomials of degree order - 2; those that differ in more than the last index */
    unsigned char k[HOT_BLOCK_TILES], l[HOT_BLOCK_TILES]; /* the tile's blocks, k <= l */
} hot_sshopm_cut;

/* Orders 3 to 8, dimensions 2 to 16; 0 for other shapes. */
int hot_sshopm_cut_make(int order, int dim, hot_sshopm_cut *cut);

/* Values of a tile's column, with padding to a multiple of 4, and of a tensor cut so. */
static inline int hot_sshopm_tile_rows(const hot_sshopm_cut *cut, int tile)
{
    const int rows = cut->k[tile] == cut->l[tile] ? cut->block * (cut->block + 1) / 2 : cut->block * cut->block;
    return (rows + 3) / 4 * 4;
}
size_t hot_sshopm_cut_values(const hot_sshopm_cut *cut);

/* code: hot_sshopm_cut_values codes, tile by tile, in each column by column: the place in the packed tensor, and the
 * monomial's multiplicity above HOT_BLOCK_PLACE_BITS bits; 0 is padding. prefix: cut->prefixes, for block_product.
 * HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
hot_status hot_sshopm_cut_fill(hot_context *context, const hot_sshopm_cut *cut, uint32_t *code, uint64_t *prefix);

HOT_C_END
