/* The settings of the viewer: one plain struct, and a table that names each field. Command line, keys and tests use the
 * table, so that a new row is available everywhere. No OpenGL. */
#pragma once

#include <stddef.h>

#include <hotfiber/context.h>

#include "layer.h"

typedef enum hot_view_mode { HOT_VIEW_SINGLE = 0, HOT_VIEW_PLANES, HOT_VIEW_SPACE } hot_view_mode;
typedef enum hot_view_plane { HOT_PLANE_AXIAL = 0, HOT_PLANE_SAGITTAL, HOT_PLANE_CORONAL } hot_view_plane;
typedef enum hot_view_glyph { HOT_GLYPH_NONE = 0, HOT_GLYPH_SURFACE, HOT_GLYPH_STICKS, HOT_GLYPH_BOTH } hot_view_glyph;
typedef enum hot_view_color {
    HOT_COLOR_DIRECTION =
        0,           /* |x| red, |y| green, |z| blue in scanner axes, of a surface's radial direction or of the stick */
    HOT_COLOR_FIBER, /* sticks: the fibre's number in its voxel; surfaces: the number of fibres */
    HOT_COLOR_VALUE, /* a scalar volume through the colour map, with a colour bar */
    HOT_COLOR_PLAIN  /* one light grey */
} hot_view_color;
typedef enum hot_view_raster {
    HOT_RASTER_AUTO = 0,
    HOT_RASTER_GPU,
    HOT_RASTER_CPU,
    HOT_RASTER_COMPUTE
} hot_view_raster;
typedef enum hot_view_surfaces { HOT_SURFACES_FIBERS = 0, HOT_SURFACES_ALL } hot_view_surfaces;
typedef enum hot_view_shape { HOT_SHAPE_ELLIPSOID = 0, HOT_SHAPE_PEANUT } hot_view_shape;
typedef enum hot_view_extent { HOT_EXTENT_SLICES = 0, HOT_EXTENT_VOLUME } hot_view_extent;

enum { HOT_VIEW_NAME = 64 };

typedef struct hot_view_state {
    /* Part of the scene */
    int mode;              /* hot_view_mode */
    int plane;             /* hot_view_plane of HOT_VIEW_SINGLE */
    int voxel[3];          /* the crosshair, a voxel of every slice; -1 = the scene's start, until
                              hot_view_state_resolve */
    int slice; /* requested slice of `plane`; hot_view_state_resolve moves it to `voxel`; -1 = none */
    int extent;            /* hot_view_extent: glyphs of the slices or of the whole volume (3-D) */
    int slab;              /* slices of glyphs that a plane shows, centred on its slice; default 1 */
    /* Camera */
    double rotation[4];    /* 3-D view: unit quaternion w x y z that turns the camera; identity is the view from the
                              front */
    double tilt[4];        /* planes: the same, relative to each plane's view */
    double zoom;           /* 1 = the whole grid fits */
    double center[3];      /* RAS mm at the middle of every view; NaN = the middle of the grid */
    int lock_axes;         /* 1: planes of the voxel grid; 0: axial, sagittal, coronal planes of the scanner */
    /* Background image */
    char background[HOT_VIEW_NAME]; /* name of a volume; "auto", "none" */
    int frame;             /* the volume of a 4-D background; -1 = the first with b=0 */
    double window[2];      /* values shown black and white; NaN = the volume's own window */
    int interpolate;       /* 1: linear interpolation between voxels */
    int layers;            /* from the bottom to the top */
    hot_view_layer layer[HOT_VIEW_LAYERS];
    /* Glyphs */
    int glyph;             /* hot_view_glyph */
    int shape;             /* hot_view_shape of diffusion tensors of order 2 */
    int surfaces;          /* hot_view_surfaces: voxels with fibres, or all voxels with a tensor */
    double scale;          /* 1 = typical glyphs just fill their voxel */
    int normalise;         /* 1: every surface, and the longest stick of every voxel, has the same size */
    int clip;              /* 1: glyphs are cut off at the walls of their voxel */
    double threshold; /* surfaces of a smaller largest radius and shorter sticks are left out (data units) */
    int use_mask;          /* 1: only inside the scene's mask, if it has one */
    int color;             /* hot_view_color */
    char color_by[HOT_VIEW_NAME]; /* HOT_COLOR_VALUE: name of a volume; "auto" = the background's */
    double color_range[2]; /* values of the first and last colour; NaN = the volume's own window */
    double opacity;        /* of the background image, 0 to 1 */
    double stick_width;    /* as a fraction of the voxel */
    int light;             /* 1: shading */
    int raster; /* hot_view_raster: OpenGL's pipeline, the CPU (viz/raster/raster.h), or compute shaders */
    int detail; /* triangles of a surface; 0 = by its size on the screen, else the nearest sphere of glyph.h */
    /* Everything else */
    double canvas[3];      /* colour of empty space, 0 to 1 */
    int transparent;       /* 1: pictures have an alpha channel, 0 in empty space */
    int show_image, show_crosshair, show_annotations, show_values, show_colorbar, show_help;
    int show_panel;        /* the window's panel of settings */
    int show_hint;         /* in windows: 1 = the key of the help, 2 = also that of the panel */
    double pixel_ratio;    /* pixels per unit of text size: 1, or the content scale of a HiDPI screen */
} hot_view_state;

typedef enum hot_setting_kind {
    HOT_SETTING_SWITCH, /* int: on|off */
    HOT_SETTING_INT,    /* int */
    HOT_SETTING_NUMBER, /* double */
    HOT_SETTING_CHOICE, /* int: index in `value`, "a|b|c" */
    HOT_SETTING_NAME,   /* char[HOT_VIEW_NAME] */
    HOT_SETTING_PAIR,   /* double[2]: two numbers, or auto (NaN) if `automatic` */
    HOT_SETTING_VOXEL,  /* int[3] */
    HOT_SETTING_POINT,  /* double[3], mm */
    HOT_SETTING_RGB,    /* double[3], or a grey as one number */
    HOT_SETTING_ANGLES  /* double[4], a quaternion given as azimuth,elevation[,roll] in degrees */
} hot_setting_kind;

typedef struct hot_view_setting {
    const char *name;      /* of the option, without dashes */
    hot_setting_kind kind;
    size_t offset;         /* of the field in hot_view_state */
    const char *value;     /* placeholder in the help: "N", "MM,MM", or the choices "a|b|c" */
    const char *help;
    double low, high;      /* bounds of each number, inclusive; low == high: none */
    int automatic;         /* 1: "auto" is allowed */
} hot_view_setting;

/* All settings, in the order of the help; static storage. */
const hot_view_setting *hot_view_settings(size_t *count);
/* The setting with this name, where `-` and `_` are equal, or NULL. */
const hot_view_setting *hot_view_setting_find(const char *name);
/* Sets one field from text. HOT_ERROR_ARGUMENT names the valid values and leaves the field unchanged. */
hot_status hot_view_setting_parse(hot_context *context, const hot_view_setting *setting, const char *text,
                                  hot_view_state *state);
/* The text that sets the field to its current value. */
void hot_view_setting_print(const hot_view_setting *setting, const hot_view_state *state, char *text, size_t size);

/* Adds a layer on top of the others (hot_layer_parse). Errors also for more than HOT_VIEW_LAYERS. */
hot_status hot_view_state_add_layer(hot_context *context, const char *text, hot_view_state *state);
/* Sets the setting `name`; "overlay" adds a layer, "beside" one in a separate pane. HOT_ERROR_ARGUMENT also for an
 * unknown name. */
hot_status hot_view_state_set(hot_context *context, const char *name, const char *text, hot_view_state *state);
/* All settings at their defaults. */
void hot_view_state_default(hot_view_state *state);

struct hot_scene;
/* Fits a state to a scene: fills in the default voxel and moves slice to voxel. Call it after parsing the options and
 * after loading another scene. Errors: HOT_ERROR_ARGUMENT for a voxel outside the grid or an unknown volume; the
 * message lists the volumes. */
hot_status hot_view_state_resolve(hot_context *context, const struct hot_scene *scene, hot_view_state *state);
/* HOT_ERROR_ARGUMENT if the requested glyphs need tensors or directions that the scene lacks. HOT_GLYPH_BOTH draws the
 * available kinds and never fails. */
hot_status hot_view_state_check(hot_context *context, const struct hot_scene *scene, const hot_view_state *state);
