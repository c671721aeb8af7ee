/* Formats with a header and consecutive volumes, optionally compressed by gzip. Output goes through hot_output. */
#pragma once

#include <hotfiber/hotfiber.h>

#include "gzip_writer.h"
#include "output.h"

/* An image that is being written. */
typedef struct hot_volume_writer {
    hot_output output;
    hot_gzip_writer *zip; /* NULL unless the name ends in .gz */
    size_t expected;   /* bytes of samples that the header promises, and that came */
    size_t written;
    hot_output header; /* of formats with a separate header file: already written, renamed after the samples */
} hot_volume_writer;

/* Starts a file with the bytes of its header; `expected` bytes of samples follow. Nothing is left after a failure. */
hot_status hot_volume_begin(hot_context *context, const char *path, const void *head, size_t head_bytes,
                            size_t expected, hot_volume_writer *writer);
/* The next `bytes` bytes of samples, i fastest, volume slowest. */
hot_status hot_volume_write(hot_context *context, hot_volume_writer *writer, const void *samples, size_t bytes);
/* Closes it without making it appear, see hot_output_finish; returns the first failure.
 * hot_volume_end comes after it. */
hot_status hot_volume_finish(hot_context *context, hot_volume_writer *writer, hot_status status);
/* Makes the file appear when status is HOT_OK and every sample came, else removes it; returns the first failure. */
hot_status hot_volume_end(hot_context *context, hot_volume_writer *writer, hot_status status);

/* Voxels first ... first + count - 1 of volume `number` of what `from` describes; called for all of them in order. */
typedef void hot_volume_fill(hot_context *context, const void *from, size_t number, size_t first, size_t count,
                             float *samples);
/* All volumes of a file whose header was begun with this status, and its end. */
hot_status hot_volume_save(hot_context *context, hot_volume_writer *writer, hot_status status, size_t voxels,
                           size_t volumes, hot_volume_fill *fill, const void *from);
