/* How large glyphs are, in mm: what is drawn and what is picked must agree. Free of GL. */
#ifndef HOT_VIZ_GLYPH_SIZE_H
#define HOT_VIZ_GLYPH_SIZE_H

#include "scene.h"

/* mm per unit of A v^m of a voxel's surface: at scale 1 the usual large ones reach the nearest side of their voxel, and
 * the largest half as far again. */
double hot_scene_surface_mm(const hot_scene *scene, const hot_view_state *state, size_t index);
/* mm from the middle to an end of a stick, per unit of its direction's length. */
double hot_scene_stick_mm(const hot_scene *scene, const hot_view_state *state, size_t index);
/* mm: how far usual large glyphs reach from their middle. */
double hot_scene_typical_mm(const hot_scene *scene, const hot_view_state *state);
/* mm: the farthest that any surface reaches. */
double hot_scene_largest_mm(const hot_scene *scene, const hot_view_state *state);
/* mm: half of how thick a stick is. */
double hot_scene_stick_radius(const hot_scene *scene, const hot_view_state *state);

#endif
