/* Small matrices, one in each lane of a vector (heev_lanes.h): one table of functions per instruction set. */
#pragma once

#include "heev/heev.h"

enum {
    HEEV_LANES_MAX = 16,
    HEEV_LANES_ROWS = 31,      /* up to so many always: even one matrix alone is faster than by LAPACK */
    HEEV_LANES_MANY_ROWS = 64, /* up to so many where there are enough matrices to fill the lanes */
    HEEV_LANES_MANY = 8
};

typedef void hot_heev_lanes_fn(const hot_heev_args *args, size_t first, void *memory, uint8_t *failed);

typedef struct hot_heev_lanes {
    int lanes_f32, lanes_f64;
    hot_heev_lanes_fn *solve[2][2]; /* [complex][double] */
} hot_heev_lanes;

extern const hot_heev_lanes hot_heev_lanes_baseline, hot_heev_lanes_avx2, hot_heev_lanes_avx512;

/* Vectors of memory that a group of matrices takes. */
static inline size_t hot_heev_lanes_vectors(size_t n, size_t parts) { return 2 * n * n * parts + 9 * n; }
