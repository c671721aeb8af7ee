/* The voxel under the mouse pointer, and its description. No OpenGL. */
#pragma once

#include "camera.h"

/* The voxel seen at a pixel: in a plane, the slice's voxel; in 3-D, the nearest glyph or slice image. Returns 0 and
 * leaves voxel unchanged if there is none. */
int hot_pick_voxel(const hot_scene *scene, const hot_view_state *state, const hot_viewport *viewport, double x,
                   double y, int voxel[3]);

/* Place by voxel, place in mm, value of the background, number of fibres; "" = it has none. */
enum { HOT_PICK_WORDS = 4, HOT_PICK_WORD = 160 };
void hot_pick_words(const hot_scene *scene, const hot_view_state *state, const int voxel[3],
                    char words[HOT_PICK_WORDS][HOT_PICK_WORD]);
/* These in one line. */
void hot_pick_line(const hot_scene *scene, const hot_view_state *state, const int voxel[3], char *text, size_t size);

/* Describes a voxel as lines of text with aligned columns: index, RAS mm, values of all volumes, directions (RAS) with
 * amplitudes and the angles between them, real eigenpairs of the tensor, and its coefficients as in the file; then the
 * glyphs of the sets beside it. The panel
 * and standard output show the same text.
 * Owner of *text: the caller (hot_context_free with the scene's context). Errors: HOT_ERROR_MEMORY, those of
 * hot_eigenpairs_f64. */
hot_status hot_pick_describe(const hot_scene *scene, const hot_view_state *state, const int voxel[3], char **text);
