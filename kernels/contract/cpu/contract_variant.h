/* The CPU's arithmetic per instruction set: contract_baseline.c, contract_avx2.c and contract_avx512.c compile the same
 * templates (contract_tile.h, fem_lanes.h) for their vectors. */
#pragma once

#include <stddef.h>

#include "fem/fem_args.h"

/* `items` blocks of C, each rows x columns values (columns contiguous), each from `sums` products: A[i, s] = a[i *
 * a_row + s * a_sum]; B[s, j] = b[s * b_sum + j]; C[i, j] = c[i * c_row + j]. a_panel and b_panel, if not 0: from the
 * rows of A or the columns of B of one register tile to those of the next (packed panels). */
typedef struct hot_tile {
    size_t rows, columns, sums, items;
    const void *a, *b;
    void *c;
    size_t a_row, a_sum, a_panel, b_sum, b_panel, c_row;
    size_t a_item, b_item, c_item; /* from item to item */
    double alpha, beta;
    int tile_rows, tile_vectors;   /* register tile; 0 = the largest */
    int plain;                     /* by contract_tile.h even where contract_dense.S could do it: for tests */
} hot_tile;
typedef void hot_tile_fn(const hot_tile *tile);

/* Elements first ... first + count of a mass operator. scratch: hot_fem_scratch(args, lanes) values. */
typedef void hot_fem_fn(const hot_fem_args *args, size_t first, size_t count, void *scratch);

typedef struct hot_contract_variant {
    hot_tile_fn *tile_f64, *tile_f32;
    int rows, vectors;        /* of the largest register tile */
    int lanes_f64, lanes_f32; /* values per vector; how many elements hot_fem_*action works on at a time */
    hot_fem_fn *action_f64, *action_f32, *assemble_f64, *assemble_f32;
} hot_contract_variant;

extern const hot_contract_variant hot_contract_variant_baseline;
#if defined(__x86_64__)
extern const hot_contract_variant hot_contract_variant_avx2, hot_contract_variant_avx512;
#endif

/* The widest variant that the context's machine may run. */
const hot_contract_variant *hot_contract_variant_choose(const hot_context *context);
