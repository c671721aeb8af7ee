/* What there is to see: tensors, directions and volumes on one grid, in scanner RAS mm. Free of GL; scene_load.c alone
 * knows files. */
#ifndef HOT_VIZ_SCENE_H
#define HOT_VIZ_SCENE_H

#include <stdint.h>

#include <hotfiber/hotfiber.h>
#include <hotfiber/view.h>

#include "glyph/interop.h"
#include "view_state.h"

enum { HOT_SCENE_VOLUMES = 16, HOT_SCENE_PATHS = 16 };

typedef enum hot_volume_source {
    HOT_VOLUME_ARRAY = 0,
    HOT_VOLUME_COUNTS,
    HOT_VOLUME_DEC,
    HOT_VOLUME_AMPLITUDE
} hot_volume_source;

/* A background or colour volume. */
typedef struct hot_view_volume {
    char name[HOT_VIEW_NAME]; /* "b0", "tissues", "nfibers", "dec", "amplitude", or a file's base name */
    int components;           /* 1, or 3 = a colour per voxel (dec) */
    const float *values;      /* voxels x components; NULL: computed when asked for, by hot_scene_value */
    int source;               /* hot_volume_source: where values come from */
    float *owned;             /* the same when the scene must free it, else NULL */
    int reversed;             /* 1: in its file the components are the other way round, and so they are told */
    int own_grid;             /* 1: its voxels are not the scene's, but these: */
    size_t size[3];           /* of its grid: values has so many */
    double from_ras[3][4];    /* RAS mm -> its voxels */
    double window[2]; /* black and white: 2nd and 98th percentile of what is not zero, unless the kind says other */
} hot_view_volume;

/* Read it freely; only viz/scene*.c write it. */
typedef struct hot_scene {
    hot_context *context;
    unsigned serial;          /* no two scenes of a process have the same */
    hot_grid grid;            /* in the file's own space */
    size_t voxels;
    double sign[3];           /* world vector of the grid's space x sign = RAS vector */
    double to_ras[3][4];      /* (i, j, k, 1) -> RAS mm, voxel centres */
    double from_ras[3][4];    /* its inverse */
    double spacing[3];        /* mm between voxels along i, j, k */
    int order;                /* of the tensors; 0 = there are none */
    const float *tensors;     /* voxels x (1 + unique values), world of the grid's space: confidence, then the tensor */
    const float *device_tensors; /* the same in CUDA memory, and `tensors` is NULL; else NULL */
    const hot_interop *interop;  /* what reaches them */
    int max_fibers;           /* 0 = there are no directions */
    const float *peaks;       /* voxels x 3 max_fibers, world of the grid's space, absent = 0 */
    const uint8_t *counts;    /* fibres per voxel, NULL without directions */
    const uint8_t *mask;      /* one byte per voxel, NULL = none */
    float *radius; /* largest radius of each voxel's surface, 0 = nothing to draw there; NULL without tensors */
    double typical_radius;      /* its upper quartile in voxels with fibres: what scale 1 makes fill a voxel */
    double typical_amplitude;   /* the same of the longest sticks */
    hot_view_volume volume[HOT_SCENE_VOLUMES];
    int volumes;
    int automatic;            /* which of them "auto" is: the first that was given, else what the fields tell */
    char *path[HOT_SCENE_PATHS]; /* what it was loaded from, as given */
    char content[16];            /* likewise; "" = not given */
    int paths;
    const char *run;          /* which of them is a directory of `hotfiber run`, NULL = none */
    char title[256];          /* for a window: the names of the files */
    hot_tensor_field *tensor_field; /* owned, when loaded from files */
    hot_fiber_field *fiber_field;
    hot_mask *mask_field;
    void (*release)(struct hot_scene *); /* frees those three, NULL = they are not owned */
    double file_stamp;        /* newest change among the files when they were read */
} hot_scene;

/* ---- scene.c ---------------------------------------------------------------------------------------------- */

/* What a scene is made of; arrays are borrowed and must outlive it. NULL = absent, but tensors or peaks must be there
 * unless images alone are shown. */
typedef struct hot_scene_parts {
    hot_grid grid;
    int order;
    const float *tensors;
    const float *device_tensors; /* instead of them, in CUDA memory */
    int max_fibers;
    const float *peaks;
    const uint8_t *counts;
    const uint8_t *mask;
    int images; /* 1: no glyphs, just the images that are added */
} hot_scene_parts;

/* Has the volumes "nfibers", "dec" and "amplitude" when there are directions, "amplitude" (largest radius) of tensors
 * alone. Errors: HOT_ERROR_MEMORY, HOT_ERROR_ARGUMENT (nothing to show, tensors of orders above 8, no voxel, a grid
 * whose axes lie in a plane). */
hot_status hot_scene_create(hot_context *context, const hot_scene_parts *parts, hot_scene **scene);
/* Adds a volume of voxels x components floats. `owned`: freed with the scene by hot_context_free, also on failure. */
hot_status hot_scene_add_volume(hot_scene *scene, const char *name, int components, const float *values, int owned);
/* Adds an image of another grid, which is shown where it lies. Both spaces must be known. Errors besides:
 * HOT_ERROR_DATA when it lies beside the scene, with how far. `values` as with owned. */
hot_status hot_scene_add_image(hot_scene *scene, const char *name, const hot_grid *grid, float *values);
void hot_scene_destroy(hot_scene **scene);

/* The volume of this name; "auto" = the first; NULL when there is none ("none" among them). */
const hot_view_volume *hot_scene_volume(const hot_scene *scene, const char *name);

/* Values shown as the first and last grey or colour: `chosen` (of the view state), or the volume's own if it is NaN. */
void hot_volume_window(const hot_view_volume *volume, const double chosen[2], double window[2]);
/* The volume of --color value and its range; NULL if the scene has no volume. */
const hot_view_volume *hot_scene_color_volume(const hot_scene *scene, const hot_view_state *state, double range[2]);

/* The values of one voxel of the scene: 1 or 3, as many as the volume has components. An image of another grid has
 * there the value of its nearest voxel, NaN where it has none. */
void hot_scene_value(const hot_scene *scene, const hot_view_volume *volume, size_t voxel, float *values);

/* One voxel's row of tensor values, confidence first, wherever it lies: a pointer to it, or into `buffer`. NULL when
 * the GPU does not give it (the message is set). */
const float *hot_scene_row(const hot_scene *scene, size_t voxel, float buffer[1 + HOT_GLYPH_TERMS]);

/* How many fibres a voxel has. */
int hot_scene_fibers(const hot_scene *scene, size_t voxel);
/* Whether its surface is drawn (the mask apart): it is there, reaches the threshold, and belongs to a fibre where
 * directions are known, unless all surfaces are asked for. */
int hot_scene_has_surface(const hot_scene *scene, const hot_view_state *state, size_t voxel);

/* Voxel coordinates (centres at whole numbers) to RAS mm and back. */
void hot_scene_to_ras(const hot_scene *scene, const double voxel[3], double ras[3]);
void hot_scene_from_ras(const hot_scene *scene, const double ras[3], double voxel[3]);
/* RAS mm of the voxel of this index. */
void hot_scene_index_to_ras(const hot_scene *scene, size_t index, double ras[3]);
/* The outer corners of the grid (half a voxel beyond the centres) in RAS mm, lowest and highest along each axis. */
void hot_scene_bounds(const hot_scene *scene, double low[3], double high[3]);
/* The voxel that holds a point (0), or the nearest one in the grid when it is outside (1). */
int hot_scene_voxel_at(const hot_scene *scene, const double ras[3], int voxel[3]);
/* The voxel axis along which the slices of each plane are counted (index: hot_view_plane); every axis stands once. */
void hot_scene_plane_axes(const hot_scene *scene, int axis[3]);
/* i + size[0] * (j + size[1] * k). */
size_t hot_scene_index(const hot_scene *scene, const int voxel[3]);

/* ---- scene_load.c ----------------------------------------------------------------------------------------- */

/* Loads what the paths name: a directory of `hotfiber run`; a tensor field (NRRD); directions (NRRD, NIfTI, .vtp of our
 * own writing); any other volume as a background, or alone. mask (may be NULL): a mask file.
 * Errors: those of the readers, each naming its file; HOT_ERROR_DATA when grids differ. */
hot_status hot_scene_load(hot_context *context, const char *const *paths, int count, const char *mask,
                          hot_scene **scene);
/* The same. content: what the file holds (hot_tensor_field_load_as); of several, those that do not say it; NULL = find
 * out. */
hot_status hot_scene_load_as(hot_context *context, const char *const *paths, int count, const char *mask,
                             const char *content, hot_scene **scene);
/* Adds the volume "b0" from the diffusion data that the run's report.json names. largest: data in a bigger file are
 * left alone and nothing is added (0 = any). hot_scene_load calls it for small ones. */
hot_status hot_scene_load_b0(hot_scene *scene, size_t largest);
/* A scene of fields in memory, which are borrowed. */
hot_status hot_scene_from_fields(hot_context *context, const hot_view_fields *fields, hot_scene **scene);
/* Whether one of the files has changed (or gone) since it was read. */
int hot_scene_changed(const hot_scene *scene);

#endif
