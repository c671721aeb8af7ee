/* Pictures as PNG files, drawn without a display. */
#ifndef HOT_VIZ_PICTURE_H
#define HOT_VIZ_PICTURE_H

#include "render.h"

typedef struct hot_pictures hot_pictures;

/* A context, a renderer and a picture of width x height pixels with `samples` samples each (1 = none), for one or many
 * pictures. Errors: HOT_ERROR_DEVICE, HOT_ERROR_MEMORY, HOT_ERROR_ARGUMENT (size). */
hot_status hot_pictures_create(hot_context *context, int width, int height, int samples, hot_pictures **pictures);
void hot_pictures_destroy(hot_pictures **pictures);

/* Draws; the picture's pixels are in *rgb (width x height x 3, rows from the top; owned by `pictures`, until the next
 * call). rgb may be NULL: drawn and finished, not read. */
hot_status hot_pictures_draw(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const uint8_t **rgb);
/* Draws and writes a PNG, which appears whole or not at all ("-" = standard output). */
hot_status hot_pictures_save(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const char *path);
hot_renderer *hot_pictures_renderer(hot_pictures *pictures);

#endif
