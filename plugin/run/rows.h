/* What was found in a voxel as a row of floats: directions, flag, residual, and what else there is. */
#ifndef HOT_RUN_ROWS_H
#define HOT_RUN_ROWS_H

#include "fibers/signal_part.h"

/* One array of a row; the values of a voxel lie at to[voxel * per], or at its place among those of the mask. */
typedef struct hot_run_column {
    float *values;
    uint8_t *bytes;   /* instead: flags */
    uint16_t *shorts; /* instead: samples */
    const size_t *place;
    size_t per;
} hot_run_column;

enum { HOT_RUN_COLUMNS = 13 };

/* The arrays that a row consists of. Those that the job lacks are NULL: when taken they are 0, when given they are not
 * wanted. Returns the width of a row. */
size_t hot_run_columns(const hot_signal_found *found, hot_run_column columns[HOT_RUN_COLUMNS]);
void hot_run_take_row(const hot_run_column columns[HOT_RUN_COLUMNS], size_t voxel, float *row);
void hot_run_give_row(const hot_run_column columns[HOT_RUN_COLUMNS], size_t voxel, const float *row);

#endif
