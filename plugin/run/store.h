/* The one format of what runs keep of voxels that are finished, for the parts of a run (parts.c) and for runs that go
 * on (resume.c): an NRRD of floats with a row per voxel, in the order of the mask, that ends in a check sum. A key of
 * its header says as JSON what the rows were made of. */
#ifndef HOT_RUN_STORE_H
#define HOT_RUN_STORE_H

#include <stdio.h>

#include "fibers/signal_field.h"
#include "io/common/report.h"

typedef struct hot_run_store {
    FILE *file;
    cJSON *about;        /* what the header says */
    size_t width, count; /* floats of a row, without its sum; rows there are when it is complete */
} hot_run_store;

/* Floats of a row of what was found. */
size_t hot_run_row_width(const hot_signal_output *found);

/* Begins a store at a file's start. */
hot_status hot_run_store_begin(hot_context *context, FILE *file, const cJSON *about, size_t width, size_t count);
/* Reads the header; the rows follow. The store takes the file, which is closed after a failure. Errors:
 * HOT_ERROR_FORMAT, HOT_ERROR_MEMORY. */
hot_status hot_run_store_open(hot_context *context, FILE *file, const char *name, hot_run_store *store);
void hot_run_store_close(hot_run_store *store);

/* Rows of the voxels first ... first + count - 1 in `inside`, to the arrays of what was found or from them. load:
 * returns how many were there and whole; it ends at the first that is not. */
size_t hot_run_store_load(const hot_run_store *store, const hot_signal_output *found, const uint8_t *inside,
                          size_t first, size_t count);
hot_status hot_run_store_save(hot_context *context, FILE *file, const hot_signal_output *found, const uint8_t *inside,
                              size_t first, size_t count);

#endif
