/* CPU rasteriser for surfaces, used if OpenGL runs in software. Glyphs are star-shaped, symmetric about their voxel's
 * centre and have triangles of a few pixels; with this knowledge it is several times faster than a general driver. Same
 * shapes, colours and light as shaders/surface.vert. No OpenGL.
 *
 * Rows are counted from the bottom, as in OpenGL. */
#pragma once

#include "scene/glyph_set.h"

enum { HOT_RASTER_SAMPLES = 16 };

typedef struct hot_raster hot_raster;

/* One viewport to draw. */
typedef struct hot_raster_job {
    const hot_scene *scene;
    const hot_view_state *state;
    const hot_viewport *viewport;
    const hot_surface_set *set;   /* with values */
    const hot_surface_list *list;
    int samples;                  /* 1 to HOT_RASTER_SAMPLES */
    float sample[HOT_RASTER_SAMPLES][2]; /* positions in a pixel, 0 to 1, the second upwards */
} hot_raster_job;

/* Context memory. Spheres are kept between pictures. */
hot_status hot_raster_create(hot_context *context, hot_raster **raster);
void hot_raster_destroy(hot_raster **raster);

/* Starts a picture of viewport.width x height pixels: sorts the glyphs into tiles. The job's pointers are borrowed
 * until the last band is drawn. *band: rows per band for hot_raster_draw. */
hot_status hot_raster_begin(hot_raster *raster, const hot_raster_job *job, int *band);
/* Draws rows first to first + band - 1 (fewer at the top); `first` is a multiple of band. Each row has width x samples
 * values: colour as red, green, blue, 255, and depth from 0 to 1. Without a surface, colour is 0 and depth 1. Pixels do
 * not depend on the number of threads. */
hot_status hot_raster_draw(hot_raster *raster, int first, uint8_t (*color)[4], float *depth);
