/* PNG files without a display. */
#pragma once

#include <stdio.h>

#include "render.h"

typedef struct hot_pictures hot_pictures;

/* Creates a context, a renderer and a framebuffer for any number of pictures of width x height pixels, up to 65536 a
 * side, with `samples` samples each (1 = no multisampling). Large ones are drawn in parts. Errors: HOT_ERROR_DEVICE,
 * HOT_ERROR_MEMORY. */
hot_status hot_pictures_create(hot_context *context, int width, int height, int samples, hot_pictures **pictures);
/* The same in the OpenGL context that is current, of a window. */
hot_status hot_pictures_create_here(hot_context *context, int width, int height, int samples, hot_pictures **pictures);
void hot_pictures_destroy(hot_pictures **pictures);

/* Draws a picture. *rgb: width x height x 3 bytes, rows from the top, owned by `pictures` and valid until the next
 * call. rgb = NULL: waits for the drawing and reads nothing (benchmarks). */
hot_status hot_pictures_draw(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const uint8_t **rgb);
/* Draws and writes a PNG ("-" = standard output), with an alpha channel if state->transparent is set. The file is
 * written to a temporary name and renamed; missing folders are created. */
hot_status hot_pictures_save(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const char *path);
/* Draws and writes a PNG to an open file. */
hot_status hot_pictures_put(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state, FILE *file);
/* Pixels per inch, which the files say; 0 (default) = nothing. */
void hot_pictures_set_dpi(hot_pictures *pictures, double dpi);
/* Draws in parts of at most this many pixels a side: as much as the driver can, or less (tests). */
hot_status hot_pictures_limit_part(hot_pictures *pictures, int side);
/* Size of text and lines in proportion to the picture: 1 up to 1024 x 768. */
double hot_picture_pixel_ratio(int width, int height);
hot_renderer *hot_pictures_renderer(hot_pictures *pictures);
