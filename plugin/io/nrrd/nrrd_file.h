/* An NRRD file in two steps: open (header parsed and checked, nothing large allocated) and read (samples into the
 * caller's memory). Teem parses the header's description of the array. Our code finds and reads the bytes, so that
 * every file name, size and limit is checked before use. */
#pragma once

#include <pthread.h>
#include <stdio.h>

#include "nrrd_image.h"

typedef struct hot_nrrd_file {
    char *path;          /* the caller's, for messages; "-" is standard input */
    char *folder;        /* where relative data file names start */
    FILE *stream;        /* standing behind the attached header; NULL when the data are in other files */
    Nrrd *nrrd;          /* header only: data is NULL */
    NrrdIoState *nio;    /* encoding and byte order */
    char **names;        /* data files of a detached header, full paths */
    long *skips;         /* bytes to skip per data file */
    size_t count;        /* how many data files; 0 = attached */
    size_t names_bytes;  /* of their names together */
    long line_skip;
    size_t samples;      /* number of samples */
    size_t bytes;        /* of all samples in memory */
    struct hot_stream *part; /* hot_nrrd_read_span: the data file that is open, */
    size_t part_number;      /* which of them it is, */
    size_t part_at;          /* and where its samples begin */
} hot_nrrd_file;

/* Reads the header and checks that the samples it announces can be there. On success hot_nrrd_close it. */
hot_status hot_nrrd_open(hot_context *context, const char *path, hot_nrrd_file *file);
/* The same of an open file, which is taken over; NULL = open `path`. */
hot_status hot_nrrd_open_from(hot_context *context, const char *path, FILE *from, hot_nrrd_file *file);
/* Reads file->bytes bytes of samples into data, in the machine's byte order. Once per open. */
hot_status hot_nrrd_read(hot_context *context, hot_nrrd_file *file, void *data);
/* Refuses what cannot be in this machine's memory. Errors: HOT_ERROR_FORMAT. */
hot_status hot_nrrd_fits(hot_context *context, const hot_nrrd_file *file);

/* Sets file->samples and file->bytes, and checks that the data files can hold so many. Errors: HOT_ERROR_FORMAT. */
hot_status hot_nrrd_check_sizes(hot_context *context, hot_nrrd_file *file);

/* Checks the data files of a detached header: a NIfTI header in front of the samples that no `byte skip` skips is an
 * error (HOT_ERROR_FORMAT), bytes behind the samples are a warning. */
hot_status hot_nrrd_check_rest(hot_context *context, const hot_nrrd_file *file);

/* Instead of hot_nrrd_read: `bytes` bytes from byte `at` of the samples on, in the file's byte order (swapped: not the
 * machine's). Whether that can be: not at all, forward only (packed, a pipe), or anywhere. */
enum { HOT_NRRD_FORWARD = 1, HOT_NRRD_ANYWHERE };
int hot_nrrd_spans(const hot_nrrd_file *file);
int hot_nrrd_swapped(const hot_nrrd_file *file);
hot_status hot_nrrd_read_span(hot_context *context, hot_nrrd_file *file, size_t at, void *to, size_t bytes);
/* Safe on a zeroed struct and twice. */
void hot_nrrd_close(hot_context *context, hot_nrrd_file *file);

/* The lock around Teem (its error stack is global), and the deepest message of that stack: empties the stack, returns
 * "text" with the function names cut away; buffer of `capacity` bytes. */
void hot_nrrd_lock(void);
void hot_nrrd_unlock(void);
const char *hot_nrrd_reason(char *buffer, size_t capacity);
