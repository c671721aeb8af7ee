/* One slice of a layout as a PNG in memory, without text: pages add their own. */
#pragma once

#include <stdio.h>

#include "picture_layout.h"

/* A PNG file in memory (zeroed = none); free it with hot_png_free. */
typedef struct hot_png {
    char *bytes;
    size_t size;
} hot_png;
HOT_API void hot_png_free(hot_png *png);

/* Fibres as sticks over the background (NULL: their amplitudes), as in fibers.png. plane: one of layout->panels; its
 * longer side becomes `most` pixels, or less where voxels would be larger than in fibers.png. */
hot_status hot_plane_fibers(hot_context *context, const hot_fiber_field *fibers, const float *background,
                            const hot_picture_layout *layout, int plane, double most, hot_png *png);

/* A pixel for each voxel: color returns 0xrrggbb for a voxel of the grid. */
typedef uint32_t hot_plane_color(const void *user, size_t voxel);
hot_status hot_plane_map(hot_context *context, const hot_grid *grid, const hot_picture_layout *layout, int plane,
                         hot_plane_color *color, const void *user, hot_png *png);

/* For those that draw: pixels as a PNG file, 3 bytes each; a file that is written to memory, NULL without memory, and
 * its end, with the status so far: *png is empty unless that is HOT_OK. */
HOT_API hot_status hot_png_put(hot_context *context, const unsigned char *rgb, int width, int height, int fast,
                               FILE *file);
/* A PNG file written row by row: pictures larger than the memory. channels: 3, or 4 with alpha. dpi: 0 = none. Every
 * stream that was begun is ended, after a failure too. */
typedef struct hot_png_stream hot_png_stream;
HOT_API hot_status hot_png_stream_begin(hot_context *context, FILE *file, int width, int height, int channels,
                                        double dpi, hot_png_stream **stream);
HOT_API hot_status hot_png_stream_rows(hot_png_stream *stream, const unsigned char *pixels, int rows);
HOT_API hot_status hot_png_stream_end(hot_png_stream **stream, hot_status status);
HOT_API FILE *hot_png_begin(hot_context *context, hot_png *png);
HOT_API hot_status hot_png_end(hot_context *context, hot_png *png, FILE *file, hot_status status);
