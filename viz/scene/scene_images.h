/* Images of a scene, from files. Included by viz/scene alone. */
#pragma once

#include "image_order.h"
#include "io/common/series.h"
#include "scene.h"

/* In context memory; NULL without memory. */
char *hot_text_copy(hot_context *context, const char *text);
/* Largest distance between corresponding corners of two grids of the same size, RAS mm, and half a voxel of the first.
 * 0 if a space is unknown. */
double hot_grids_apart(const hot_grid *a, const hot_grid *b, double *half);

/* An image that was read, not yet part of a scene. */
typedef struct hot_loaded_image {
    hot_grid grid;
    int components;
    float *values;      /* of one volume; NULL = none was read */
    hot_series *series; /* NULL = an image of one volume */
    size_t frame;       /* the volume in `values` */
    int reordered;      /* 1: voxels as MRtrix counts them (image_order.h), not as `series` has them */
} hot_loaded_image;

/* components: 3 = an image of colours. reorder: 1 = a .mif file gets MRtrix's order. Errors: those of the readers;
 * *image is then empty. */
hot_status hot_loaded_image_read(hot_context *context, const char *path, int components, int reorder,
                                 hot_loaded_image *image);
void hot_loaded_image_free(hot_context *context, hot_loaded_image *image);
/* Adds it on the scene's grid or its own, and empties it, also on failure. */
hot_status hot_scene_add_loaded(hot_scene *scene, const char *path, hot_loaded_image *image);
/* Loads directions, tensors or harmonics for a pane beside the scene's own, on the scene's grid: other grids are
 * resampled, with a note. as: its content; NULL = detect. Errors: those of hot_scene_load_with; HOT_ERROR_ARGUMENT (an
 * image or streamlines), HOT_ERROR_DATA (no overlap). */
hot_status hot_scene_load_set(hot_scene *scene, const char *path, const char *as, hot_scene **set);
/* The scene frees these fields, of which it was made. */
void hot_scene_own_fields(hot_scene *scene, hot_tensor_field *tensors, hot_fiber_field *fibers, hot_mask *mask);
/* Closes the 4-D images. */
void hot_scene_close_series(hot_scene *scene);
/* Tissue fractions of a run with msmt, if any: white matter blue, grey matter green, CSF red. MRtrix's order is CSF,
 * grey matter, white matter. */
hot_status hot_scene_add_tissues(hot_scene *scene);
