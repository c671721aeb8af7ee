/* Stores of finished voxels, for parts (parts.c) and resumable runs (resume.c): an NRRD of floats with a row per voxel,
 * in the order of the mask, each ending in a checksum. A key of the header holds the fingerprint of the rows as
 * JSON. */
#pragma once

#include <stdio.h>

#include "fibers/signal_field.h"
#include "io/common/report.h"

typedef struct hot_run_store {
    FILE *file;
    cJSON *about;        /* what the header says */
    size_t width, count; /* floats of a row, without its sum; rows there are when it is complete */
} hot_run_store;

/* Floats of a row of results. */
size_t hot_run_row_width(const hot_signal_output *found);

/* Begins a store at a file's start. */
hot_status hot_run_store_begin(hot_context *context, FILE *file, const cJSON *about, size_t width, size_t count);
/* Reads the header; the rows follow. The store takes the file, which is closed after a failure. Errors:
 * HOT_ERROR_FORMAT, HOT_ERROR_MEMORY. */
hot_status hot_run_store_open(hot_context *context, FILE *file, const char *name, hot_run_store *store);
void hot_run_store_close(hot_run_store *store);

/* Loads or saves the rows of voxels first ... first + count - 1 in `inside`. load: returns the number of complete rows
 * before the first incomplete or missing one. */
size_t hot_run_store_load(const hot_run_store *store, const hot_signal_output *found, const uint8_t *inside,
                          size_t first, size_t count);
hot_status hot_run_store_save(hot_context *context, FILE *file, const hot_signal_output *found, const uint8_t *inside,
                              size_t first, size_t count);
