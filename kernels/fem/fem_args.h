/* Mass operators: arguments, and what the backends share. */
#pragma once

#include <hotfiber/fem.h>

#include "common/backend.h"

HOT_C_BEGIN

typedef struct hot_fem_args {
    int f64, dim;
    size_t dofs, points, elements;
    const void *basis, *d, *v;
    void *out;    /* u, or the matrices */
    int assemble; /* 1: the matrices; 0: their action */
} hot_fem_args;

/* n^dim */
static inline size_t hot_fem_power(size_t n, int dim) { return dim == 2 ? n * n : n * n * n; }

/* Values of scratch that an operator of hot_contract_variant needs for `lanes` elements at a time: three arrays of a
 * cube whose side is the larger of dofs and points. */
static inline size_t hot_fem_scratch(const hot_fem_args *args, size_t lanes)
{
    const size_t side = args->dofs > args->points ? args->dofs : args->points;
    return 3 * lanes * hot_fem_power(side, args->dim);
}

hot_backend_fn hot_fem_ref, hot_fem_cpu, hot_fem_cuda; /* of hot_fem_args */

HOT_C_END
