/* NRRD through Teem: load, save and geometry, with messages in the context. biff, Teem's global error stack, is emptied
 * under our own lock after every call. */
#pragma once

#include <stdio.h>

#include <teem/nrrd.h>

#include "core/fields.h"
#include "nrrd_values.h"

/* Loads any NRRD ("-" = standard input). The header is checked before the data are read: sizes whose product overflows
 * or is far beyond the file or the machine's memory are refused with the sizes in the message. The
 * samples are the context's memory. */
hot_status hot_nrrd_load(hot_context *context, const char *path, Nrrd **nrrd);

/* The same of an open file, which is taken over; NULL = open `path`. */
hot_status hot_nrrd_load_from(hot_context *context, const char *path, FILE *from, Nrrd **nrrd);

/* Frees what these loaded; NULL is accepted. */
void hot_nrrd_free(hot_context *context, Nrrd *nrrd);

/* Saves ("-" = standard output) through hot_output: attached .nrrd (gzip when `compress`), or .nhdr +
 * data file by name. */
hot_status hot_nrrd_save(hot_context *context, const Nrrd *nrrd, const char *path, int compress);

/* Wraps `data` (not copied, not owned) of axis sizes `sizes` in a new Nrrd; nrrdNix it when done. type:
 * nrrdTypeFloat ... */
hot_status hot_nrrd_wrap(hot_context *context, const void *data, int type, unsigned int dim, const size_t *sizes,
                         Nrrd **nrrd);

/* The same for values on a grid, with geometry, kinds, label and frame. */
hot_status hot_nrrd_wrap_values(hot_context *context, const hot_nrrd_values *values, Nrrd **nrrd);

/* Types of samples: Teem's, and which of ours is one of Teem's (returns 0 for blocks). */
int hot_nrrd_type(hot_sample sample);
int hot_nrrd_to_sample(int type, hot_sample *sample);

/* Sets space, directions, origin, kinds (domain "space") of the three axes first_axis ... first_axis +
 * 2 from the grid. */
hot_status hot_nrrd_set_grid(hot_context *context, Nrrd *nrrd, unsigned int first_axis, const hot_grid *grid);
/* Reads the geometry of three axes (any positions, in the order given) into a grid. A file without directions gets its
 * spacings (or 1 mm) and HOT_SPACE_UNKNOWN. */
hot_status hot_nrrd_get_grid(hot_context *context, const Nrrd *nrrd, const unsigned int axes[3], hot_grid *grid);

/* The version of the loaded Teem. */
const char *hot_nrrd_teem_version(void);

/* One key/value. */
hot_status hot_nrrd_set_key(hot_context *context, Nrrd *nrrd, const char *key, const char *value);
/* The value of a key in the context's memory, or NULL when absent; free with hot_context_free. */
char *hot_nrrd_get_key(hot_context *context, const Nrrd *nrrd, const char *key);
