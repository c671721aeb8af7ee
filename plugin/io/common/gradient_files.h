/* Text tables of gradients; parsing apart from the file, so that it can be fuzzed. */
#pragma once

#include <hotfiber/hotfiber.h>

/* A whole text file, NUL-terminated, in the context's memory, without a byte order mark and with lines that end in \n.
 * Files with zero bytes are no text. */
hot_status hot_text_load(hot_context *context, const char *path, char **text);

/* Lines of equally many numbers (separated by blanks, commas or semicolons, # starts a comment, empty lines do not
 * count): values[rows * columns] in the context's memory. name is for messages. */
hot_status hot_table_parse(hot_context *context, const char *name, const char *text, double **values, size_t *rows,
                           size_t *columns);
/* b-values: one line or one column. */
hot_status hot_bval_parse(hot_context *context, const char *name, const char *text, double **b, size_t *count);
/* Vectors, count x 3: three lines (FSL), lines of three numbers, or all in one line. */
hot_status hot_bvec_parse(hot_context *context, const char *name, const char *text, double **vectors, size_t *count);
