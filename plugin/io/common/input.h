/* The format of an input file, and its stream if it was read for that: a pipe can be read only once. */
#pragma once

#include "stream.h"

typedef enum hot_file_kind { HOT_FILE_NRRD, HOT_FILE_NIFTI, HOT_FILE_MIF } hot_file_kind;

typedef struct hot_input {
    hot_file_kind kind;
    char *path;         /* the file; "-" is standard input */
    FILE *file;         /* an NRRD's stream, at its first byte; NULL = open `path` */
    hot_stream *stream; /* likewise the others */
} hot_input;

/* Finds the format of a file: by its name, else by its first bytes, as for pipes and standard input ("-"). Unknown
 * formats go to the NRRD reader, which refuses them. MRtrix's programs pipe the name of a temporary .mif file instead
 * of its content: that file is opened. It is removed, as MRtrix does, only if its name came through a pipe on standard
 * input and matches MRtrix's pattern (mrtrix-tmp-XXXXXX.mif). Errors: HOT_ERROR_FILE, HOT_ERROR_MEMORY. */
hot_status hot_input_open(hot_context *context, const char *path, hot_input *input);
/* The stream of a file in another format than NRRD, opened if necessary. The caller closes it. */
hot_status hot_input_take_stream(hot_context *context, hot_input *input, hot_stream **stream);
/* The stream of an NRRD, NULL if it is not open. The caller closes it. */
FILE *hot_input_take_file(hot_input *input);
/* Safe on a zeroed struct and twice. */
void hot_input_close(hot_context *context, hot_input *input);
/* The name of a file in messages: its path, or "standard input". */
const char *hot_input_name(const char *path);
