/* The CPU backend's table of functions: one variant per instruction set, one line per shape. */
#pragma once

#include "common/poll.h"
#include "sshopm/sshopm_args.h"
#include "sshopm/sshopm_unfold.h"

/* One tensor, scaled and with the sign of the search in it. */
typedef struct hot_sshopm_item {
    const void *values;  /* the scaled tensor, in the type of the call */
    double scale;        /* its largest |value| * multiplicity, in [1, 2) */
    double alpha, unit;  /* the fixed shift and the number 1, scaled as the tensor is */
    double unscale[2];   /* lambda times both is lambda in the caller's units */
    const void *starts;  /* blocks x dim x lanes */
    hot_poll *poll;      /* the thread's */
    const hot_sshopm_unfolding *unfolding;
    const void *matrix;  /* the unfolded tensor; NULL: not for this shape, or too large */
    void *monomials;     /* two lists of monomials, of 2 vectors each */
    size_t at;           /* the tensor's first place in the outputs */
} hot_sshopm_item;

/* Blocks [first, last) of starts from one tensor; results go to the plan's outputs. */
typedef void hot_sshopm_tensor_fn(const hot_sshopm_args *args, const hot_sshopm_item *item, size_t first, size_t last);

typedef struct hot_sshopm_shape {
    int order, dim; /* 0, 0: any; the last line */
    hot_sshopm_tensor_fn *f32, *f64;
} hot_sshopm_shape;

typedef struct hot_sshopm_variant {
    int lanes_f32, lanes_f64, tile_rows;
    size_t shape_count;
    const hot_sshopm_shape *shapes;
} hot_sshopm_variant;

extern const hot_sshopm_variant hot_sshopm_variant_baseline, hot_sshopm_variant_avx2, hot_sshopm_variant_avx512;
