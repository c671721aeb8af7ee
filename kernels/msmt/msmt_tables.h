/* The plan's small tables, in memory of the GPU, the same for all voxels. */
#pragma once

#include "msmt_plan.h"

enum { MSMT_PACKED = MSMT_PADDED * (MSMT_PADDED + 1) / 2 };

typedef struct msmt_tables {
    double whiten[MSMT_PADDED * MSMT_PADDED]; /* the plan's, transposed */
    double normal[MSMT_PACKED], weight[MSMT_PACKED]; /* lower triangles by rows; weight: 0 beyond the terms */
    double inside[MSMT_PADDED], scale[MSMT_PADDED];  /* zeros beyond the unknowns */
    double inside_rows[MSMT_DIRECTIONS + MSMT_TISSUES]; /* A times `inside` */
    double inside_sum; /* of these and of the diagonal of the tensor's matrix there */
    double entry_scale[MSMT_SIDE * MSMT_SIDE], root[MSMT_SIDE + 1];
    uint16_t moment[MSMT_PACKED];
    uint8_t entry[MSMT_SIDE * MSMT_SIDE + 1], first_pair[MSMT_TERMS + 1];
    uint8_t pair[MSMT_SIDE * (MSMT_SIDE + 1) / 2][2];
    uint8_t sorted[MSMT_TERMS * (MSMT_TERMS + 1) / 2][2]; /* (i, j), j <= i < terms, by the products each takes */
} msmt_tables;
