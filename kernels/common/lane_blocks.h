/* Items packed side by side: the CPU loop of families whose kernel works on as many items at a time as a vector has
 * lanes. Items that the kernel does not take (masked, invalid) leave no gaps. */
#pragma once

#include <hotfiber/context.h>

typedef struct hot_lane_blocks {
    const void *args; /* the family's, for the functions below */
    size_t count;     /* items */
    int lanes;
    size_t workspace; /* floats that a block needs; aligned to 64 bytes */
    /* Whether the kernel takes the item; if not, its outputs are written here. *number: one number to keep for the
     * block. Called by one thread, in order. */
    int (*take)(const void *args, size_t item, double *number);
    /* Computes items[0 ... used - 1], used <= lanes, and writes their outputs. Called by many threads. */
    void (*compute)(const void *args, const size_t *items, const double *numbers, int used, float *workspace);
    hot_status (*progress)(hot_context *context, const void *args, double fraction);
} hot_lane_blocks;

/* All items. Errors: HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED and what progress returns. The same result for any number of
 * threads. */
hot_status hot_lane_blocks_run(hot_context *context, const hot_lane_blocks *blocks);
