/* What stands where the mouse points, and what is known about a voxel. Free of GL. */
#ifndef HOT_VIZ_PICK_H
#define HOT_VIZ_PICK_H

#include "camera.h"

/* The voxel seen at a pixel: in a plane the one of its slice; in 3-D what is nearest to the viewer, a glyph or the
 * image of a slice. Returns 0, and leaves voxel as it is, where there is none. */
int hot_pick_voxel(const hot_scene *scene, const hot_view_state *state, const hot_viewport *viewport, double x,
                   double y, int voxel[3]);

/* Everything about a voxel as lines of text, columns set with blanks: index, RAS mm, the value of every volume,
 * directions (RAS) with amplitudes and the angles between them, the tensor's real eigenpairs, its coefficients as they
 * are in the file. The panel on the screen and standard output show this same text.
 * Owner of *text: the caller (hot_context_free with the scene's context). Errors: HOT_ERROR_MEMORY, those of
 * hot_eigenpairs_f64. */
hot_status hot_pick_describe(const hot_scene *scene, const int voxel[3], char **text);

#endif
