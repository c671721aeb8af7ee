/* Plain NRRD arrays in and out, for the subcommands that work on arrays: eig, heev, tridiag. */
#pragma once

#include "io/nrrd/nrrd_image.h"

/* The first `count` values as double, in new memory; HOT_ERROR_DATA for values that are not numbers. */
hot_status cli_array_double(hot_context *context, const Nrrd *nrrd, size_t count, double **values);

/* An array of `values` of Teem's type `type` (not copied): `own` axes of the given sizes and then the input's axes from
 * `from` on, with their attributes (and their position in the world). nrrdNix it when done; NULL after a failure. */
hot_status cli_array_wrap(hot_context *context, const Nrrd *input, unsigned int from, const void *values, int type,
                          unsigned int own, const size_t *sizes, Nrrd **wrapped);
/* Writes such an array. */
hot_status cli_array_save(hot_context *context, const Nrrd *input, unsigned int from, const void *values, int type,
                          unsigned int own, const size_t *sizes, const char *path);
