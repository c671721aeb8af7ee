/* Bytes from a file, packed by gzip or not. */
#ifndef HOT_PLUGIN_STREAM_H
#define HOT_PLUGIN_STREAM_H

#include <stdio.h>

#include <hotfiber/context.h>

/* `bytes` bytes of an open file into data, `skip` bytes after where it stands (skip < 0: its last bytes but -skip-1),
 * inflated when packed. name is for messages. */
hot_status hot_stream_read(hot_context *context, FILE *file, int packed, const char *name, long skip, void *data,
                           size_t bytes);

/* Reverses the bytes of each of `count` samples of `one` bytes. Errors: HOT_ERROR_CANCELLED. */
hot_status hot_swap_bytes(hot_context *context, void *samples, size_t count, size_t one);

/* How many bytes a stream still holds, SIZE_MAX when that cannot be known. */
size_t hot_stream_remaining(FILE *stream);

#endif
