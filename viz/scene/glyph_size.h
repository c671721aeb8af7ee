/* Shape of glyphs, and their sizes in mm, shared by drawing and picking. No OpenGL. */
#pragma once

#include "scene.h"

/* In 3-D the image is drawn this many typical radii behind its slice, so that it does not hide half of the glyphs. */
static const double HOT_SLICE_BEHIND = 1.2;

/* mm per unit of A v^m of a voxel's surface. At scale 1 a surface of the typical radius just fills its voxel; larger
 * ones are limited to 1.5 times that. */
double hot_scene_surface_mm(const hot_scene *scene, const hot_view_state *state, size_t index);
/* mm from the middle to an end of a stick, per unit of its direction's length. */
double hot_scene_stick_mm(const hot_scene *scene, const hot_view_state *state, size_t index);
/* Radius of a typical glyph, mm. */
double hot_scene_typical_mm(const hot_scene *scene, const hot_view_state *state);
/* Upper bound of all surfaces' radii, mm. */
double hot_scene_largest_mm(const hot_scene *scene, const hot_view_state *state);
/* Radius of a stick (half its thickness), mm. */
double hot_scene_stick_radius(const hot_scene *scene, const hot_view_state *state);

/* Whether tensors of this model (hot_tensor_field_model) are diffusion tensors where their order is 2. ODFs and fODFs
 * have amplitudes instead. */
int hot_model_is_diffusion(const char *model);
/* Whether the surfaces are ellipsoids; their order for levels of detail, 0 for ellipsoids: those are affine images of a
 * sphere, as are their triangles. */
int hot_scene_draws_ellipsoids(const hot_scene *scene, const hot_view_state *state);
int hot_scene_surface_order(const hot_scene *scene, const hot_view_state *state);
