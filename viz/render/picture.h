/* PNG files without a display. */
#ifndef HOT_VIZ_PICTURE_H
#define HOT_VIZ_PICTURE_H

#include "render.h"

typedef struct hot_pictures hot_pictures;

/* Creates a context, a renderer and a framebuffer of width x height pixels with `samples` samples each (1 = no
 * multisampling), for any number of pictures. Errors: HOT_ERROR_DEVICE, HOT_ERROR_MEMORY, HOT_ERROR_ARGUMENT (size). */
hot_status hot_pictures_create(hot_context *context, int width, int height, int samples, hot_pictures **pictures);
void hot_pictures_destroy(hot_pictures **pictures);

/* Draws a picture. *rgb: width x height x 3 bytes, rows from the top, owned by `pictures` and valid until the next
 * call. rgb = NULL: waits for the drawing and reads nothing (benchmarks). */
hot_status hot_pictures_draw(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const uint8_t **rgb);
/* Draws and writes a PNG ("-" = standard output). The file is written to a temporary name and renamed; missing folders
 * are created. */
hot_status hot_pictures_save(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const char *path);
hot_renderer *hot_pictures_renderer(hot_pictures *pictures);

#endif
