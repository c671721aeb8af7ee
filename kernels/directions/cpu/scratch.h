/* One thread's memory for one block of tensors (CPU). */
#pragma once

#include "directions/grid.h"
#include "directions/directions_args.h"

enum {
    HOT_BLOCK_TERMS = 91,                                    /* of order 12 */
    HOT_BLOCK_POINTS = 3 * HOT_SIDE_MAX * HOT_SIDE_MAX,      /* the most candidates a tensor can have */
    HOT_BLOCK_QUEUE = HOT_DIRECTIONS_BLOCK * HOT_BLOCK_POINTS
};

typedef enum hot_item_state { HOT_ITEM_LIVE = 0, HOT_ITEM_NONE, HOT_ITEM_INVALID } hot_item_state;

struct hot_directions_work {
    /* per tensor */
    float form[HOT_BLOCK_TERMS * HOT_DIRECTIONS_BLOCK]; /* value times multiplicity, scaled: form[term][tensor] */
    float scale[HOT_DIRECTIONS_BLOCK];                  /* the scaled form times this is the tensor's */
    float peak[HOT_DIRECTIONS_BLOCK];                   /* the largest candidate on the grid */
    uint8_t state[HOT_DIRECTIONS_BLOCK];                /* hot_item_state */
    int head[HOT_DIRECTIONS_BLOCK];                     /* first of its maxima, -1 = none */
    /* per candidate, as the scan finds them */
    int candidates;
    float value[HOT_BLOCK_QUEUE + 16];
    uint16_t point[HOT_BLOCK_QUEUE + 16]; /* row * (side + 2) + column, face above */
    uint8_t tensor[HOT_BLOCK_QUEUE + 16];
    /* per candidate of one face, to be refined */
    int queue[3][HOT_BLOCK_QUEUE / 3 + 16];
    int queued[3];
    /* per refined maximum */
    int maxima;
    hot_maximum maximum[HOT_BLOCK_QUEUE];
    int next[HOT_BLOCK_QUEUE];
};
