/* One gzip member, compressed by all threads. */
#pragma once

#include <stdio.h>

#include <hotfiber/context.h>

typedef struct hot_gzip_writer hot_gzip_writer;

/* Starts a member in `file`, which stays the caller's. `name` is for messages; it must live as long as the writer. */
hot_status hot_gzip_begin(hot_context *context, FILE *file, const char *name, hot_gzip_writer **writer);
/* The next bytes of its contents. Errors: HOT_ERROR_FILE (a full disk), HOT_ERROR_CANCELLED. */
hot_status hot_gzip_write(hot_gzip_writer *writer, const void *data, size_t bytes);
/* Writes the remaining bytes and the checksum if status is HOT_OK; frees the writer. Returns the first failure. *writer
 * may be NULL. */
hot_status hot_gzip_end(hot_gzip_writer **writer, hot_status status);
