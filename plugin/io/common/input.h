/* Which format a file is in, and the file where that had to be looked at: a pipe can be read once only. */
#ifndef HOT_PLUGIN_INPUT_H
#define HOT_PLUGIN_INPUT_H

#include "stream.h"

typedef enum hot_file_kind { HOT_FILE_NRRD, HOT_FILE_NIFTI, HOT_FILE_MIF } hot_file_kind;

typedef struct hot_input {
    hot_file_kind kind;
    char *path;         /* the file; "-" is standard input */
    FILE *file;         /* NRRD that was looked at: stands at its first byte; NULL = open `path` */
    hot_stream *stream; /* likewise the others */
} hot_input;

/* The format of a file: by its name, else by its first bytes, which are what tells pipes and standard input ("-")
 * apart; what is none of them is left to the NRRD reader to refuse. MRtrix's programs pipe the name of a temporary .mif
 * file instead of its content: that file is opened. It is removed, as they do, where the name came through a pipe on
 * standard input and is one of theirs (mrtrix-tmp-XXXXXX.mif); no other file ever is. Errors: HOT_ERROR_FILE,
 * HOT_ERROR_MEMORY. */
hot_status hot_input_open(hot_context *context, const char *path, hot_input *input);
/* The stream of a file that is not NRRD, opened where it is not yet; it is the caller's then. */
hot_status hot_input_take_stream(hot_context *context, hot_input *input, hot_stream **stream);
/* The file of an NRRD, NULL where it is not open yet; it is the caller's then. */
FILE *hot_input_take_file(hot_input *input);
/* Safe on a zeroed struct and twice. */
void hot_input_close(hot_context *context, hot_input *input);
/* What messages call a file: its path, or "standard input". */
const char *hot_input_name(const char *path);

#endif
