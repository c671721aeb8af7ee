/* Fields one after another on standard input, for `hotfiber view -`: NRRDs with attached headers, as the command's
 * stages write them. A field may hold some slices of the first one's grid: its origin says which. */
#pragma once

#include "core/fields.h"

typedef struct hot_field_stream hot_field_stream;

/* One of the three is set. The caller frees it. */
typedef struct hot_stream_field {
    hot_fiber_field *fibers;
    hot_tensor_field *tensors;
    float *image;      /* voxels x values */
    int values;
    hot_grid grid;
} hot_stream_field;

/* path: "-" = standard input, or a file or pipe. Errors: HOT_ERROR_FILE, HOT_ERROR_MEMORY. */
HOT_API hot_status hot_field_stream_open(hot_context *context, const char *path, hot_field_stream **stream);
/* Waits for the next field and reads it; *ended: there is none. as: see hot_image_find_content; NULL = by the header.
 * Errors: HOT_ERROR_FORMAT (no NRRD; neither directions, tensors nor an image of 1 or 3 values; packed data, and more
 * follows), HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_field_stream_next(hot_field_stream *stream, const char *as, hot_stream_field *field,
                                         int *ended);
HOT_API void hot_field_stream_close(hot_field_stream **stream);
HOT_API void hot_stream_field_free(hot_context *context, hot_stream_field *field);

/* The slice of `whole`, along the third axis, that is the first one of `slab`. Errors: HOT_ERROR_DATA if it is not
 * slices of that grid. */
HOT_API hot_status hot_field_stream_place(hot_context *context, const hot_grid *whole, const hot_grid *slab,
                                          size_t *first);

/* Writes the header of slices first ... first + count - 1 of a grid, with `values` floats per voxel in the machine's
 * byte order: directions, or an image. The samples follow it. Returns its length. */
enum { HOT_FIELD_HEADER = 1024 };
int hot_field_stream_header(const hot_grid *grid, size_t first, size_t count, size_t values, int is_peaks,
                            char text[HOT_FIELD_HEADER]);
