/* Surfaces drawn by the processor: what OpenGL draws where OpenGL itself is software. Glyphs are star-shaped, symmetric
 * about their voxel's middle and made of triangles of a few pixels: knowing that, this takes a fraction of the time of
 * a driver that must draw anything. The same shapes, colours and light as shaders/surface.vert. Free of GL.
 *
 * Rows are counted from the bottom, as OpenGL does. */
#ifndef HOT_VIZ_RASTER_H
#define HOT_VIZ_RASTER_H

#include "scene/glyph_set.h"

enum { HOT_RASTER_SAMPLES = 16 };

typedef struct hot_raster hot_raster;

/* What of a viewport is drawn, and how often it is looked at within a pixel. */
typedef struct hot_raster_job {
    const hot_scene *scene;
    const hot_view_state *state;
    const hot_viewport *viewport;
    const hot_surface_set *set;   /* with its values */
    const hot_surface_list *list;
    int samples;                  /* 1 to HOT_RASTER_SAMPLES */
    float sample[HOT_RASTER_SAMPLES][2]; /* their places within a pixel, 0 to 1, the second upwards */
} hot_raster_job;

/* Context memory; keeps spheres between pictures. */
hot_status hot_raster_create(hot_context *context, hot_raster **raster);
void hot_raster_destroy(hot_raster **raster);

/* Begins a picture of viewport.width x height pixels: sorts glyphs into tiles. What the job points to is borrowed until
 * the last band is drawn. *band: rows of the bands that hot_raster_draw wants. */
hot_status hot_raster_begin(hot_raster *raster, const hot_raster_job *job, int *band);
/* Draws rows first ... first + band (fewer at the top), `first` a multiple of band: width x samples values a row, as
 * red, green, blue, 255 and as depth 0 to 1, which is 1 where no surface is. Pixels do not depend on the number of
 * threads. */
hot_status hot_raster_draw(hot_raster *raster, int first, uint8_t (*color)[4], float *depth);

#endif
