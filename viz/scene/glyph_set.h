/* Which glyphs a view shows, and the form in which they go to the graphics card. Free of GL.
 *
 * Chosen glyphs are gathered once per slice (hot_surface_gather); what depends on camera, size and colour is a list
 * over them (hot_surface_list), cheap enough to be made again whenever one of those changes. */
#ifndef HOT_VIZ_GLYPH_SET_H
#define HOT_VIZ_GLYPH_SET_H

#include "camera.h"
#include "glyph/glyph.h"

/* The voxels of a viewport that could have glyphs: in the slices shown, inside the mask. *voxels: context memory. */
hot_status hot_glyph_voxels(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                            const hot_viewport *viewport, uint32_t **voxels, size_t *count);

/* ---- Surfaces --------------------------------------------------------------------------------------------- */

/* Tensors as 16-bit integers times a step of each glyph's own: a third of a thousandth of the largest radius is far
 * below a pixel, and it is half the memory of floats. */
typedef struct hot_surface_set {
    size_t count;
    int texels;       /* per glyph, of 4 values each */
    uint32_t *voxel;  /* count */
    int16_t *values;  /* count x texels x 4: unique values in the tensor's order, padded with 0 */
    float *step;      /* count: tensor value = step x integer */
    /* of tensors on the GPU values is NULL, and step is filled when the values are there: interop->fill */
} hot_surface_set;

/* Keeps those of the voxels that have a surface (hot_scene_has_surface). Takes over `voxels`. */
hot_status hot_surface_gather(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                              uint32_t *voxels, size_t count, hot_surface_set *set);
void hot_surface_free(hot_context *context, hot_surface_set *set);

/* One glyph to draw, as the shader reads it: two texels. */
typedef struct hot_surface_item {
    float center[3]; /* RAS mm */
    uint32_t slot;   /* in the set */
    float size;      /* mm per integer step of the tensor's value */
    uint8_t rgba[4]; /* alpha 0: coloured by direction */
    float reach;     /* mm: largest radius */
    uint32_t unused;
} hot_surface_item;

typedef struct hot_surface_list {
    hot_surface_item *items; /* sorted by detail */
    size_t capacity;
    size_t first[HOT_SPHERES + 1]; /* where each sphere's items begin; the last is their number */
    float widest[HOT_SPHERES];    /* mm: the largest radius of each */
    size_t culled;                /* outside the viewport */
} hot_surface_list;

/* Sizes, colours and levels of detail for one viewport; culling, unless everywhere is not 0: then the list has the
 * glyphs outside, too, and is the same wherever the camera turns. Items of one level have the order of the set. */
hot_status hot_surface_list_make(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                                 const hot_viewport *viewport, int everywhere, const hot_surface_set *set,
                                 hot_surface_list *list);
void hot_surface_list_free(hot_context *context, hot_surface_list *list);

/* ---- Sticks ----------------------------------------------------------------------------------------------- */

/* One stick, two texels. */
typedef struct hot_stick_item {
    float center[3]; /* RAS mm */
    uint8_t rgba[4];
    float half[3];   /* from the middle to one end */
    float width;     /* half its thickness */
} hot_stick_item;

/* The sticks of the voxels, those shorter than the threshold left out. *items: context memory. */
hot_status hot_stick_list_make(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                               const uint32_t *voxels, size_t count, hot_stick_item **items, size_t *sticks);

#endif
