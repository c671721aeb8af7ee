/* Products of dense items of any shape with AVX2 or AVX-512: an item is cut into register tiles that fit its rows and
 * columns, and the tiles of contract_dense.S do one item after another. */
#ifndef HOT_CONTRACT_DENSE_H
#define HOT_CONTRACT_DENSE_H

#include "contract_variant.h"

#if defined(__x86_64__) && defined(__ELF__)
#define HOT_CONTRACT_DENSE 1

/* A tile of a program; all in bytes. contract_dense.S knows where the fields of these two lie. */
typedef struct hot_dense_step {
    const void *code;
    size_t a, b, c; /* from this tile to the next, of the next item after the last */
    size_t last;    /* from the first vector of a row to the last, which may overlap the one before */
} hot_dense_step;

enum { HOT_DENSE_OTHER = 4, HOT_DENSE_READS = 8 };

typedef struct hot_dense {
    size_t fours, flags; /* sums: 4 fours and what the two lowest flags say; not alpha = beta = 1; beta is not 0 then */
    size_t items;
    const hot_dense_step *program;
    union {
        double f64;
        float f32;
    } alpha, beta;
    const void *a, *b;
    void *c;
    size_t a_row, b_row, c_row;
    size_t mask;       /* of the lanes of a tile that has less than a vector of columns */
    const void *lanes; /* the same for AVX2: 32 bytes */
} hot_dense;

/* The products of a tile (contract_variant.h) whose rows of A and B are contiguous, with vectors of 32 or 64 bytes.
 * False: not such a tile, or one of too many parts. most_rows and most_vectors: of a register tile, 0 = as many as
 * fit. */
int hot_dense_tiles(const hot_tile *tile, int f64, int bytes, int most_rows, int most_vectors);

#endif
#endif
