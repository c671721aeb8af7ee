/* The volumes of a 4-D image, read one at a time: diffusion data with their gradient table, or any image of several
 * values per voxel. For the viewer. */
#pragma once

#include <hotfiber/hotfiber.h>

typedef struct hot_series hot_series;

/* Opens an image as diffusion data if it has a gradient table, else as volumes without one; the samples are read. An
 * image of one volume is a series of one. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_MEMORY,
 * HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_series_open(hot_context *context, const char *path, hot_series **series);
HOT_API void hot_series_close(hot_series **series);

HOT_API const hot_grid *hot_series_grid(const hot_series *series);
HOT_API size_t hot_series_volumes(const hot_series *series);
/* The volume to begin with: the first with b=0, else the first. */
HOT_API size_t hot_series_start(const hot_series *series);
/* Whether that volume has b=0. */
HOT_API int hot_series_has_b0(const hot_series *series);
/* b of a volume, s/mm^2, and its unit direction in scanner RAS, 0 0 0 for b=0. Returns 0 without a gradient table. */
HOT_API int hot_series_gradient(const hot_series *series, size_t volume, double *b, double ras[3]);
/* Writes one volume: a float per voxel, i fastest. Errors: those of reading, HOT_ERROR_MEMORY. */
HOT_API hot_status hot_series_read(hot_context *context, const hot_series *series, size_t volume, float *values);
