/* The gate for all input: no other code of plugin or viz opens files for reading (tests/style/opens.py). It opens
 * regular files, and pipes whose reads can be cancelled; devices, which may never end, are refused. */
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include <hotfiber/context.h>

typedef enum hot_file_source {
    HOT_FILE_GIVEN, /* a name that the user gave: a regular file or a pipe; "-" is standard input, whatever it is */
    HOT_FILE_FOUND, /* a name from a header or a folder: a regular file alone */
} hot_file_source;

/* The largest number of data files in one header: ten times the slices of the largest studies. */
enum { HOT_DATA_FILES_MAX = 100000 };
/* Most bytes that all their names may take. */
enum { HOT_DATA_NAMES_MAX = 32 << 20 };

/* Opens for reading; fclose it. Reads of a pipe end, with an error, when the context is cancelled. Errors:
 * HOT_ERROR_FILE (not there, a folder, a device, HOT_FILE_FOUND: a pipe). */
HOT_API hot_status hot_file_open(hot_context *context, const char *path, hot_file_source source, FILE **file);

/* Opens an existing regular file, not a link, for reading and writing in place. */
hot_status hot_file_open_update(hot_context *context, const char *path, FILE **file);

/* The next line without its end. Returns its length with the end; 0 at the end of the file, or where a line is cut off
 * or does not fit. */
size_t hot_file_line(FILE *file, char *line, size_t capacity);

/* The whole of a file of at most `max` bytes, with a zero behind it; free with hot_context_free. what: what the file is
 * meant to be ("a response"), for the message about one that is larger. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT,
 * HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_file_load(hot_context *context, const char *path, hot_file_source source, const char *what,
                                 size_t max, char **bytes, size_t *length);

/* A data file, whatever its name. */
typedef struct hot_data_file {
    dev_t device;
    ino_t number;
    size_t bytes; /* its size */
} hot_data_file;

/* Checks a data file of a header (`name` as in the header, `path` of the file): it must be a regular file, whose
 * attributes are returned; in a confined context (hot_context_confine) it must be inside the header's folder, by its
 * name and with all links resolved. Errors: HOT_ERROR_FILE. */
hot_status hot_file_check_data(hot_context *context, const char *header, const char *name, const char *path,
                               hot_data_file *about);
/* Bytes of all these files, each counted once however often it is named. Reorders them. */
size_t hot_data_files_size(hot_data_file *files, size_t count);

/* If the context was cancelled: "cancelled while reading", which replaces the short read's message. */
hot_status hot_file_read_failed(hot_context *context, hot_status status);
