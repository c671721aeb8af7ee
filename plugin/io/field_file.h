/* Directions, tensors or harmonics from a file of any format: what it holds is found first (image_content.h), and then
 * read as that. */
#pragma once

#include "core/image.h"
#include "model/sh_basis.h"

/* How harmonics are read, see hot_sh_options. */
typedef struct hot_sh_reading {
    hot_sh_basis basis;
    const char *frame;
} hot_sh_reading;

/* Loads directions (fibers NULL: not wanted), or tensors (tensors NULL: not wanted), harmonics among these (harmonics
 * NULL: not wanted) as forms; the one that it does not hold is set to NULL. as: what it holds, see
 * hot_image_find_content; NULL = find out. Errors: those of it, HOT_ERROR_FILE, HOT_ERROR_MEMORY,
 * HOT_ERROR_CANCELLED. */
hot_status hot_field_load(hot_context *context, const char *path, const char *as, const hot_sh_reading *harmonics,
                          hot_fiber_field **fibers, hot_tensor_field **tensors);

/* A map of a run's folder with `count` values per voxel, on the grid of its directions, side by side; NULL if the
 * folder has none of this name. Errors: those of reading it, HOT_ERROR_FORMAT (another number of values),
 * HOT_ERROR_MEMORY. */
hot_status hot_run_folder_map(hot_context *context, const char *folder, const char *name, const hot_grid *grid,
                              size_t count, float **values);
/* Sets the certainty of directions from their run's folder, if it has certainty.nii.gz. */
hot_status hot_run_folder_certainty(hot_context *context, const char *folder, hot_fiber_field *fibers);

/* The NRRD of an input, whose file is taken over, as directions, tensors or an image (field_stream.h). The
 * caller frees the field, also after a failure. */
struct hot_input;
struct hot_stream_field;
hot_status hot_field_read_nrrd(hot_context *context, struct hot_input *input, const char *as,
                               struct hot_stream_field *field);

/* Harmonics of an image that is open (sh_file.c). */
hot_status hot_harmonics_load(hot_image *image, const hot_sh_reading *how, hot_tensor_field **field);
/* The line about a number of values that no harmonics have. */
hot_status hot_harmonics_refuse_count(const hot_image *image);
