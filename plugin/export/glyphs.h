/* Tensors as surfaces: r(x) = A x^m over a sphere of triangles, one per fitted voxel. */
#ifndef HOT_PLUGIN_GLYPHS_H
#define HOT_PLUGIN_GLYPHS_H

#include "common/fields.h"

typedef struct hot_glyphs {
    const hot_tensor_field *tensors;
    size_t count;               /* of glyphs: voxels with a tensor */
    size_t vertices, triangles; /* of each */
    double *directions;         /* vertices x 3, unit, in the tensors' world */
    uint32_t (*faces)[3];       /* triangles, counter-clockwise seen from outside in a right-handed space */
    double *forms;              /* vertices x unique values: what each value adds to the radius */
    double sign[3];             /* from the field's world to the space asked for */
    double scale;               /* mm per unit of the form */
} hot_glyphs;

/* Prepares the sphere (finer when there are few glyphs) and the scale: glyphs of the 95th percentile fill their voxel. */
hot_status hot_glyphs_begin(hot_context *context, const hot_tensor_field *tensors, hot_space space, hot_glyphs *glyphs);
void hot_glyphs_end(hot_context *context, hot_glyphs *glyphs);
/* Whether a voxel has a glyph. */
int hot_glyph_there(const hot_glyphs *glyphs, size_t voxel);
/* The surface of one voxel's glyph: vertices x 3 mm. Where the form is negative the surface touches the centre. */
void hot_glyph_surface(const hot_glyphs *glyphs, size_t voxel, float *positions);

#endif
