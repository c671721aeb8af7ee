/* The data of the viewer: tensors, directions and volumes on one grid, in scanner RAS mm. No OpenGL. Only scene_load.c
 * reads files. */
#pragma once

#include <stdint.h>

#include <hotfiber/hotfiber.h>
#include <hotfiber/view.h>

#include "glyph/interop.h"
#include "view_state.h"

enum { HOT_SCENE_VOLUMES = 48, HOT_SCENE_PATHS = 16, HOT_SCENE_SOURCES = 32 };

typedef enum hot_volume_source {
    HOT_VOLUME_ARRAY = 0,
    HOT_VOLUME_COUNTS,
    HOT_VOLUME_DEC,
    HOT_VOLUME_AMPLITUDE
} hot_volume_source;

/* A background image or a colour per voxel. */
typedef struct hot_view_volume {
    char name[HOT_VIEW_NAME]; /* "b0", "tissues", "nfibers", "dec", "amplitude", or a file's base name */
    int components;           /* 1, or 3 = a colour per voxel */
    const float *values;      /* voxels x components; NULL: hot_scene_value computes them */
    int source;               /* hot_volume_source: origin of the values */
    float *owned;             /* the same pointer if the scene frees it, else NULL */
    int reversed;             /* 1: the file has the components in reverse order; text shows the file's order */
    int own_grid;             /* 1: the image has its own grid, the next two fields: */
    int labels;               /* 1: whole numbers that name regions */
    size_t size[3];           /* voxels of that grid, and of values */
    double from_ras[3][4];    /* RAS mm -> voxels of that grid */
    struct hot_series *series; /* NULL, or the 4-D image; `values` holds its volume `frame` */
    size_t frame;
    int reordered;            /* 1: voxels as MRtrix counts them, not in the series' order */
    double window[2]; /* values shown black and white; by default the 2nd and 98th percentile of the non-zero values */
} hot_view_volume;

/* The source that a layer names: an image of the scene, lines (lines.h), or a set in a separate pane. */
typedef struct hot_scene_source {
    char name[HOT_VIEW_SOURCE], as[16]; /* of the layer */
    hot_view_volume *volume;
    struct hot_lines *lines; /* owned */
    struct hot_scene *set;   /* owned */
} hot_scene_source;

/* Read-only outside viz/scene/scene*.c. */
typedef struct hot_scene {
    hot_context *context;
    unsigned serial;          /* unique within the process */
    unsigned changes;         /* of the values of volumes since then */
    hot_grid grid;            /* in the file's space */
    size_t voxels;
    double sign[3];           /* world vector of the grid's space x sign = RAS vector */
    double to_ras[3][4];      /* (i, j, k, 1) -> RAS mm, voxel centres */
    double from_ras[3][4];    /* its inverse */
    double spacing[3];        /* mm between voxels along i, j, k */
    int order;                /* of the tensors; 0 = no tensors */
    int diffusion;            /* 1: order 2, and diffusion tensors: hot_scene_draws_ellipsoids */
    const float *tensors;     /* voxels x (1 + unique values), in the world of the grid's space: confidence, then the
                                 coefficients */
    const float *device_tensors; /* CUDA memory; `tensors` is then NULL */
    const hot_interop *interop;  /* functions that read device_tensors */
    int max_fibers;           /* 0 = no directions */
    const float *peaks;       /* voxels x 3 max_fibers, in the world of the grid's space; absent fibres are 0 */
    const uint8_t *counts;    /* fibres per voxel; NULL without directions */
    const float *certainty;   /* voxels x max_fibers, 0 to 1: how far fibres fade; NULL = not known */
    const uint8_t *mask;      /* one byte per voxel, NULL = none */
    float *radius; /* largest radius of each voxel's surface; 0 = no surface; NULL without tensors */
    double typical_radius;      /* upper quartile of radius over voxels with fibres; fills a voxel at scale 1 */
    double typical_amplitude;   /* the same quartile of the longest sticks */
    int start[3];               /* the first crosshair: the grid's middle, or the slices with most content */
    int low[3], high[3];        /* voxels, both included: the box around the glyphs, or around an image alone */
    hot_view_volume volume[HOT_SCENE_VOLUMES];
    int volumes;
    const struct hot_scene *images; /* of a set beside another scene: that one, which has the images; else NULL */
    hot_scene_source source[HOT_SCENE_SOURCES];
    int sources;
    int automatic;            /* index of the volume "auto": the first given image, else the first volume */
    char *path[HOT_SCENE_PATHS]; /* input paths, as given */
    char content[16];            /* the --as option of the inputs; "" = not given */
    char basis[24], frame[16];   /* likewise --basis and --frame of harmonics */
    int paths;
    const char *run;          /* the path that is a directory of `hotfiber run`; NULL = none */
    int image_order;          /* 1: the files of the glyphs are .mif: voxels as MRtrix counts them */
    char title[256];          /* file names for the window's title */
    hot_tensor_field *tensor_field; /* the three fields are owned if they were loaded from files */
    hot_fiber_field *fiber_field;
    hot_mask *mask_field;
    void (*release)(struct hot_scene *); /* frees the three fields; NULL = not owned */
    double file_stamp;        /* newest modification time of the files when they were read */
} hot_scene;

/* ---- scene.c ---------------------------------------------------------------------------------------------- */

/* The arrays of a scene, borrowed: they must outlive it. NULL = absent. Tensors or peaks are required unless `images`
 * is 1. */
typedef struct hot_scene_parts {
    hot_grid grid;
    int order;
    int diffusion;               /* 1: they are diffusion tensors, not ODFs (hot_model_is_diffusion) */
    const float *tensors;
    const float *device_tensors; /* in CUDA memory, instead of tensors */
    const float *radius;         /* of hot_glyph_radii for the tensors, copied; NULL = computed here */
    int max_fibers;
    const float *peaks;
    const uint8_t *counts;
    const float *certainty;
    const uint8_t *mask;
    int images; /* 1: no glyphs, only images that are added later */
} hot_scene_parts;

/* Creates a scene. With directions it has the volumes "nfibers", "dec" and "amplitude"; with tensors alone "amplitude",
 * the largest radius. Errors: HOT_ERROR_MEMORY, HOT_ERROR_ARGUMENT (no data, an order above 8, no voxels, grid axes in
 * one plane). */
hot_status hot_scene_create(hot_context *context, const hot_scene_parts *parts, hot_scene **scene);
/* Adds a volume of voxels x components floats. owned = 1: the scene frees values with hot_context_free, also on
 * failure. */
hot_status hot_scene_add_volume(hot_scene *scene, const char *name, int components, const float *values, int owned);
/* Adds an image with its own grid, 1 value or 3 per voxel, displayed at its position in space. Both spaces must be
 * known. The scene frees values, also on failure. Errors: those of hot_scene_add_volume; HOT_ERROR_DATA if the grids
 * do not overlap, with both centres. */
hot_status hot_scene_add_image(hot_scene *scene, const char *name, int components, const hot_grid *grid,
                               float *values);
void hot_scene_destroy(hot_scene **scene);

/* The volume with this name; "auto" is the default one. NULL if there is none, as for "none". */
const hot_view_volume *hot_scene_volume(const hot_scene *scene, const char *name);

/* The image, the lines or the set of a layer; NULL: it has another kind, or is not open (hot_scene_open_layers). */
const hot_view_volume *hot_scene_layer_volume(const hot_scene *scene, const hot_view_layer *layer);
const struct hot_lines *hot_scene_layer_lines(const hot_scene *scene, const hot_view_layer *layer);
const hot_scene *hot_scene_layer_set(const hot_scene *scene, const hot_view_layer *layer);
/* The window of a layer's image: its own, or the chosen values. */
void hot_layer_window(const hot_view_volume *volume, const hot_view_layer *layer, double window[2]);
/* Frees the last source. */
void hot_scene_drop_source(hot_scene *scene);
/* Sets a volume's own window from its values. Errors: HOT_ERROR_MEMORY. */
hot_status hot_scene_find_window(hot_scene *scene, hot_view_volume *volume);
/* Values shown as the first and last grey or colour: `chosen` (of the view state), or the volume's own if it is NaN. */
void hot_volume_window(const hot_view_volume *volume, const double chosen[2], double window[2]);
/* The value up to which 3-D views leave an image out, so that its empty voxels hide nothing: a little above black. */
double hot_volume_floor(const double window[2]);
/* Whether a 3-D view draws the background image at this point, RAS mm: not outside the mask, and above the floor. */
int hot_scene_image_is_seen(const hot_scene *scene, const hot_view_state *state, const double ras[3]);
/* The volume of --color value and its range; NULL if the scene has no volume. */
const hot_view_volume *hot_scene_color_volume(const hot_scene *scene, const hot_view_state *state, double range[2]);

/* Writes the values of one voxel of the scene, 1 or 3. An image with its own grid has the value of its nearest voxel,
 * or NaN outside. */
void hot_scene_value(const hot_scene *scene, const hot_view_volume *volume, size_t voxel, float *values);

/* The tensor row of one voxel, confidence first: a pointer to it, or into `buffer` for tensors on the GPU. NULL if the
 * GPU fails (the context has the message). */
const float *hot_scene_row(const hot_scene *scene, size_t voxel, float buffer[1 + HOT_GLYPH_TERMS]);

/* Number of fibres of a voxel. */
int hot_scene_fibers(const hot_scene *scene, size_t voxel);
/* Whether a voxel's surface is drawn, apart from the mask: it has a tensor, reaches the threshold, and, where
 * directions are known, has a fibre (unless state->surfaces is HOT_SURFACES_ALL). */
int hot_scene_has_surface(const hot_scene *scene, const hot_view_state *state, size_t voxel);

/* Voxel coordinates (voxel centres are integers) to RAS mm, and back. */
void hot_scene_to_ras(const hot_scene *scene, const double voxel[3], double ras[3]);
void hot_scene_from_ras(const hot_scene *scene, const double ras[3], double voxel[3]);
/* RAS mm of the voxel with this index. */
void hot_scene_index_to_ras(const hot_scene *scene, size_t index, double ras[3]);
/* Bounding box of the grid in RAS mm, half a voxel beyond the outer centres. */
void hot_scene_bounds(const hot_scene *scene, double low[3], double high[3]);
/* The voxel that contains a point. Returns 1 if the point is outside; voxel is then the nearest one in the grid. */
int hot_scene_voxel_at(const hot_scene *scene, const double ras[3], int voxel[3]);
/* The voxel axis along which each plane's slices are counted, by hot_view_plane: a permutation of 0 1 2. */
void hot_scene_plane_axes(const hot_scene *scene, int axis[3]);
/* i + size[0] * (j + size[1] * k). */
size_t hot_scene_index(const hot_scene *scene, const int voxel[3]);

/* ---- scene_load.c ----------------------------------------------------------------------------------------- */

/* Loads the paths: a directory of `hotfiber run`, tensors or spherical harmonics (drawn as surfaces), directions (also
 * a fixel directory, and .vtp by hotfiber), and images, behind the glyphs or alone; streamlines become layers. mask: a
 * mask file, or NULL. Errors: those of the readers, each naming its file; HOT_ERROR_DATA if grids differ. */
hot_status hot_scene_load(hot_context *context, const char *const *paths, int count, const char *mask,
                          hot_scene **scene);
/* The same with a content, as in hot_tensor_field_load_as. With several files it applies to those whose content is
 * ambiguous. NULL = detect. */
hot_status hot_scene_load_as(hot_context *context, const char *const *paths, int count, const char *mask,
                             const char *content, hot_scene **scene);
/* How files are read: what is ambiguous in them. */
typedef struct hot_scene_reading {
    const char *mask;          /* a file, or NULL */
    const char *content;       /* as in hot_scene_load_as; NULL = detect */
    const char *basis, *frame; /* of harmonics, as in hot_sh_options; NULL = defaults */
} hot_scene_reading;
hot_status hot_scene_load_with(hot_context *context, const char *const *paths, int count,
                               const hot_scene_reading *reading, hot_scene **scene);
/* Adds the volume "b0" from the diffusion data named in the run's report.json. Files larger than `largest` bytes are
 * skipped without an error (0 = no limit). hot_scene_load calls it for small files. */
hot_status hot_scene_load_b0(hot_scene *scene, size_t largest);
/* Number of volumes of an image, 1 unless it is 4-D. */
int hot_volume_frames(const hot_view_volume *volume);
/* Describes the volume of a 4-D image that is shown: "volume 3 of 103, b = 1000, direction 0.6 0 0.8" (RAS). Returns 0,
 * and "", for other images. */
int hot_volume_describe_frame(const hot_view_volume *volume, char *text, size_t size);
/* Reads the volume of the background that the state names; by default the first with b=0. Call it before drawing.
 * Errors: HOT_ERROR_ARGUMENT (there is no such volume), those of the reader. */
hot_status hot_scene_show_frame(hot_scene *scene, const hot_view_state *state);
/* Opens what the layers of a state name and is not open yet; streamlines among the scene's files become layers. Call it
 * before drawing. Errors: those of the readers; HOT_ERROR_FILE if a name is no file and no image. */
hot_status hot_scene_open_layers(hot_scene *scene, hot_view_state *state);
/* Names of the run's maps that are not open yet, counted from 0; NULL after the last. */
const char *hot_scene_map(const hot_scene *scene, int number);
/* A scene of borrowed fields. */
hot_status hot_scene_from_fields(hot_context *context, const hot_view_fields *fields, hot_scene **scene);
/* Whether a file was changed or removed since it was read. */
int hot_scene_changed(const hot_scene *scene);
