/* Products of dense items of any shape with AVX2 or AVX-512: an item is divided into register tiles that fit its rows
 * and columns, a program for the tiles of contract_dense.S, which do one item after another. */
#pragma once

#include "contract_variant.h"

#if defined(__x86_64__) && defined(__ELF__)
#define HOT_CONTRACT_DENSE 1

/* One tile of a program. Distances are in bytes. contract_dense.S relies on the order of the fields of both structs. */
typedef struct hot_dense_step {
    const void *code; /* of the tile's shape */
    size_t a, b, c;   /* from this tile's values to the next tile's; of the last tile to the next item's */
    size_t last;      /* from the first vector of a row to the last, which may overlap the one before */
} hot_dense_step;

/* Flags; the two lowest bits are the number of sums modulo 4. */
enum {
    HOT_DENSE_OTHER = 4, /* alpha and beta are not both 1 */
    HOT_DENSE_READS = 8  /* and beta is not 0: C is read */
};

typedef struct hot_dense {
    size_t fours, flags; /* a quarter of the number of sums, rounded down */
    size_t items;
    const hot_dense_step *program;
    union {
        double f64;
        float f32;
    } alpha, beta;
    const void *a, *b;
    void *c;
    size_t a_row, b_row, c_row;
    size_t mask;       /* AVX-512: the lanes of a tile that has less than a vector of columns */
    const void *lanes; /* AVX2: the same, 32 bytes */
} hot_dense;

/* Computes the products of a tile (contract_variant.h) whose rows of A and B are contiguous, with vectors of 32 or 64
 * bytes. Returns 0, and does nothing, for another kind of tile or one that makes too long a program. max_tile_rows and
 * max_vectors: of a register tile; 0 = the maximum that fits. */
int hot_dense_tiles(const hot_tile *tile, int f64, int bytes, int max_tile_rows, int max_vectors);

#endif
