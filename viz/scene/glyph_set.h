/* The glyphs of a view, in the form that the GPU reads. No OpenGL.
 *
 * hot_surface_gather() collects the tensors of a slice once. hot_surface_list holds what depends on camera, size and
 * colour; it is cheap and rebuilt whenever one of these changes. */
#pragma once

#include "camera.h"
#include "glyph/glyph.h"

/* Voxels of a viewport that may have glyphs: in its slices and inside the mask. *voxels: context memory. */
hot_status hot_glyph_voxels(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                            const hot_viewport *viewport, uint32_t **voxels, size_t *count);

/* ---- Surfaces --------------------------------------------------------------------------------------------- */

/* Tensors as 16-bit integers with a scale per glyph: half the memory of floats, and an error of 1/65534 of the largest
 * coefficient, far below a pixel. */
typedef struct hot_surface_set {
    size_t count;
    int texels;       /* per glyph, of 4 values each */
    uint32_t *voxel;  /* count */
    int16_t *values;  /* count x texels x 4: unique values in the tensor's order, padded with 0 */
    float *step;      /* count: coefficient = step x integer */
    /* Tensors on the GPU: values is NULL; interop->fill writes step together with the values. */
} hot_surface_set;

/* Keeps the voxels that have a surface (hot_scene_has_surface). Takes ownership of `voxels`. */
hot_status hot_surface_gather(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                              uint32_t *voxels, size_t count, hot_surface_set *set);
void hot_surface_free(hot_context *context, hot_surface_set *set);

/* One glyph as the shader reads it: two texels. */
typedef struct hot_surface_item {
    float center[3]; /* RAS mm */
    uint32_t slot;   /* index in the set */
    float size;      /* mm per integer step of a coefficient */
    uint8_t rgba[4]; /* alpha 0: coloured by direction */
    float reach;     /* largest radius, mm */
    uint32_t unused;
} hot_surface_item;

typedef struct hot_surface_list {
    hot_surface_item *items; /* sorted by level of detail */
    size_t capacity;
    size_t first[HOT_SPHERES + 1]; /* index of each level's first item; the last entry is their number */
    float widest[HOT_SPHERES];    /* largest radius of each level, mm */
    size_t culled;                /* glyphs outside the viewport */
} hot_surface_list;

/* Sizes, colours and levels of detail for one viewport. Glyphs outside it are left out, unless everywhere is 1: the
 * list then does not depend on the camera's direction. Items of one level keep the order of the set. */
hot_status hot_surface_list_make(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                                 const hot_viewport *viewport, int everywhere, const hot_surface_set *set,
                                 hot_surface_list *list);
void hot_surface_list_free(hot_context *context, hot_surface_list *list);

/* ---- Sticks ----------------------------------------------------------------------------------------------- */

/* One stick: two texels. */
typedef struct hot_stick_item {
    float center[3]; /* RAS mm */
    uint8_t rgba[4];
    float half[3];   /* from the middle to one end */
    float width;     /* half the thickness */
} hot_stick_item;

/* Sticks of the voxels that are not shorter than the threshold. *items: context memory. */
hot_status hot_stick_list_make(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                               const uint32_t *voxels, size_t count, hot_stick_item **items, size_t *sticks);
