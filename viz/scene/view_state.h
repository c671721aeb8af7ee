/* What is shown and how: one plain struct with every setting of the viewer, and a table that names each of them.
 * Command line, keys and tests walk the table, so a setting exists everywhere as soon as it has a line there. Free of
 * GL. */
#ifndef HOT_VIZ_VIEW_STATE_H
#define HOT_VIZ_VIEW_STATE_H

#include <stddef.h>

#include <hotfiber/context.h>

typedef enum hot_view_mode { HOT_VIEW_SINGLE = 0, HOT_VIEW_PLANES, HOT_VIEW_SPACE } hot_view_mode;
typedef enum hot_view_plane { HOT_PLANE_AXIAL = 0, HOT_PLANE_SAGITTAL, HOT_PLANE_CORONAL } hot_view_plane;
typedef enum hot_view_glyph { HOT_GLYPH_NONE = 0, HOT_GLYPH_SURFACE, HOT_GLYPH_STICKS, HOT_GLYPH_BOTH } hot_view_glyph;
typedef enum hot_view_color {
    HOT_COLOR_DIRECTION =
        0,           /* |x| red, |y| green, |z| blue in scanner axes: of the surface's normal ray, of the stick */
    HOT_COLOR_FIBER, /* sticks: which fibre of its voxel; surfaces: how many fibres the voxel has */
    HOT_COLOR_VALUE, /* a scalar volume through a colour map, with a colour bar */
    HOT_COLOR_PLAIN  /* one light grey */
} hot_view_color;
typedef enum hot_view_raster {
    HOT_RASTER_AUTO = 0,
    HOT_RASTER_GPU,
    HOT_RASTER_CPU,
    HOT_RASTER_COMPUTE
} hot_view_raster;
typedef enum hot_view_surfaces { HOT_SURFACES_FIBERS = 0, HOT_SURFACES_ALL } hot_view_surfaces;
typedef enum hot_view_extent { HOT_EXTENT_SLICES = 0, HOT_EXTENT_VOLUME } hot_view_extent;

enum { HOT_VIEW_NAME = 64 };

typedef struct hot_view_state {
    /* What part of the scene */
    int mode;              /* hot_view_mode: one plane, three linked planes, or 3-D */
    int plane;             /* hot_view_plane of HOT_VIEW_SINGLE */
    int voxel[3];          /* the crosshair; the slices go through it. -1 = the middle, until hot_view_state_resolve */
    int slice; /* a slice of `plane` asked for by number, moved into `voxel` by hot_view_state_resolve; -1 */
    int extent;            /* hot_view_extent: glyphs on the slices shown, or of the whole volume (3-D) */
    int slab;              /* how many slices of glyphs a plane shows, centred on its slice; 1 = just that one */
    /* Camera */
    double rotation[4];    /* of the 3-D view: unit quaternion w x y z that turns the camera, which else looks from the
                              front */
    double tilt[4];        /* of the planes: the same, away from each plane's own view */
    double zoom;           /* 1 = everything just fits */
    double center[3];      /* RAS mm that stand in the middle of every view; NaN = the scene's middle */
    int lock_axes;         /* 1: planes are planes of the voxel grid; 0: true axial, sagittal, coronal planes */
    /* Background image */
    char background[HOT_VIEW_NAME]; /* name of a volume of the scene; "auto" = its first, "none" */
    double window[2];      /* black and white of the image; NaN = the volume's own */
    int interpolate;       /* 1: smooth between voxels */
    /* Glyphs */
    int glyph;             /* hot_view_glyph */
    int surfaces;          /* hot_view_surfaces: of voxels with fibres, where directions are known, or all */
    double scale;          /* 1 = usual glyphs just fill their voxel */
    int normalise;         /* 1: every surface, and the longest stick of every voxel, equally large */
    int clip;              /* 1: nothing reaches beyond its voxel */
    double threshold; /* glyphs whose largest radius, and sticks whose length, is below it are left out (data units) */
    int use_mask;          /* 1: only inside the scene's mask, when it has one */
    int color;             /* hot_view_color */
    char color_by[HOT_VIEW_NAME]; /* HOT_COLOR_VALUE: name of a volume; "auto" = the background's */
    double color_range[2]; /* its lowest and highest colour; NaN = the volume's own window */
    double opacity;        /* of the background image behind the glyphs, 0 to 1 */
    double stick_width;    /* as a fraction of the voxel */
    int light;             /* 1: shaded by a light at the viewer */
    int raster; /* hot_view_raster: who draws surfaces: OpenGL, viz/raster/raster.h, or compute shaders */
    int detail; /* triangles of a surface: 0 = by its size on the screen, else the nearest sphere of glyph.h */
    /* Around them */
    double canvas[3];      /* colour of empty space, 0 to 1 */
    int show_image, show_crosshair, show_annotations, show_values, show_colorbar, show_help;
    double pixel_ratio;    /* pixels per unit of text size: 1, or the content scale of a HiDPI screen */
} hot_view_state;

typedef enum hot_setting_kind {
    HOT_SETTING_SWITCH, /* int: on|off */
    HOT_SETTING_INT,    /* int */
    HOT_SETTING_NUMBER, /* double */
    HOT_SETTING_CHOICE, /* int: place in `value`, "a|b|c" */
    HOT_SETTING_NAME,   /* char[HOT_VIEW_NAME] */
    HOT_SETTING_PAIR,   /* double[2]: two numbers, or auto (NaN) where `automatic` */
    HOT_SETTING_VOXEL,  /* int[3] */
    HOT_SETTING_POINT,  /* double[3], mm */
    HOT_SETTING_RGB,    /* double[3], or a grey as one number */
    HOT_SETTING_ANGLES  /* double[4], a quaternion given as azimuth,elevation[,roll] in degrees */
} hot_setting_kind;

typedef struct hot_view_setting {
    const char *name;      /* as on the command line, without dashes */
    hot_setting_kind kind;
    size_t offset;         /* of its field in hot_view_state */
    const char *value;     /* what help calls its value: "N", "MM,MM", or the choices "a|b|c" */
    const char *help;
    double low, high;      /* bounds of each number, both included; low == high: none */
    int automatic;         /* "auto" is allowed and leaves it open */
} hot_view_setting;

/* All settings, in the order of the help; static storage. */
const hot_view_setting *hot_view_settings(size_t *count);
/* The setting of this name (`-` and `_` are the same), NULL when there is none. */
const hot_view_setting *hot_view_setting_find(const char *name);
/* Sets one field from text. HOT_ERROR_ARGUMENT, and a message that says what would be right, leaves it as it was. */
hot_status hot_view_setting_parse(hot_context *context, const hot_view_setting *setting, const char *text,
                                  hot_view_state *state);
/* The text that would set it to what it is. */
void hot_view_setting_print(const hot_view_setting *setting, const hot_view_state *state, char *text, size_t size);

/* Everything at its default. */
void hot_view_state_default(hot_view_state *state);

struct hot_scene;
/* Fits a state to a scene: middle for what is open, slice moved into voxel, voxel inside the grid. Call it after the
 * options are parsed and after another scene is loaded. Names of volumes are checked: HOT_ERROR_ARGUMENT names those
 * there are. */
hot_status hot_view_state_resolve(hot_context *context, const struct hot_scene *scene, hot_view_state *state);
/* Of a state that somebody asked for: whether there is what its glyphs are made of, so that nobody looks at a picture
 * without them. HOT_ERROR_ARGUMENT says what would be right. Of glyphs of both kinds those that can be are drawn. */
hot_status hot_view_state_check(hot_context *context, const struct hot_scene *scene, const hot_view_state *state);

#endif
