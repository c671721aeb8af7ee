/* Bytes from a file, packed by gzip or not. */
#pragma once

#include <stdio.h>

#include "file_open.h"

/* `bytes` bytes of an open file into data, `skip` bytes after where it stands (skip < 0: its last bytes but -skip-1),
 * inflated when packed. name is for messages. */
hot_status hot_stream_read(hot_context *context, FILE *file, int packed, const char *name, long skip, void *data,
                           size_t bytes);

/* Reverses the bytes of each of `count` samples of `one` bytes. Errors: HOT_ERROR_CANCELLED. */
hot_status hot_swap_bytes(hot_context *context, void *samples, size_t count, size_t one);

/* A file, pipe or standard input ("-") whose header and samples follow each other, inflated on the way where it is
 * packed: told by its first byte, not by its name. Nothing is read twice, so that pipes will do. */
typedef struct hot_stream hot_stream;
/* Opens for reading, see hot_file_open; empty files are refused. */
hot_status hot_stream_open_file(hot_context *context, const char *path, hot_file_source source, FILE **file);
/* Takes an open file over (it is closed after a failure too). */
hot_status hot_stream_begin(hot_context *context, FILE *file, const char *name, hot_stream **stream);
hot_status hot_stream_open(hot_context *context, const char *path, hot_file_source source, hot_stream **stream);
/* Takes over a file of which the caller knows whether it is packed; byte 0 is where it stands. */
hot_status hot_stream_wrap(hot_context *context, FILE *file, int packed, const char *name, hot_stream **stream);
const char *hot_stream_name(const hot_stream *stream);
/* The next bytes, like fread. */
size_t hot_stream_take(hot_stream *stream, void *to, size_t bytes);
/* The same without taking them; 16 at most, before anything else is taken. */
size_t hot_stream_look(hot_stream *stream, void *to, size_t bytes);
/* More bytes than these cannot be in it; SIZE_MAX for pipes. */
size_t hot_stream_at_most(const hot_stream *stream);
/* Once, after the header: the `bytes` bytes that start at byte `at`. Errors: HOT_ERROR_FORMAT (too short, damaged),
 * HOT_ERROR_CANCELLED. */
hot_status hot_stream_samples(hot_context *context, hot_stream *stream, size_t at, void *to, size_t bytes);
/* Alternatively: reads spans of bytes, in ascending order after the header, or in any order if the stream seeks. Does
 * not check the checksum of compressed data. Errors: as above. */
hot_status hot_stream_span(hot_context *context, hot_stream *stream, size_t at, void *to, size_t bytes);
/* Whether it is an uncompressed file: then only the requested spans are read. */
int hot_stream_seeks(const hot_stream *stream);
void hot_stream_close(hot_context *context, hot_stream **stream);

/* Refuses what cannot be in this machine's memory. what: "5 x 5 x 5 samples of type float" or so. Errors:
 * HOT_ERROR_FORMAT. */
hot_status hot_memory_check(hot_context *context, const char *name, const char *what, double bytes);

/* How many bytes a stream still holds, SIZE_MAX when that cannot be known. */
size_t hot_stream_remaining(FILE *stream);
