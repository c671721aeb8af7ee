/* Layers of the view: images over the background, and sets of directions or streamlines over the glyphs. A layer is a
 * line of text, "fa.nii.gz,opacity=0.5,colormap=hot", on the command line and in files of settings. No OpenGL. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include <hotfiber/context.h>

enum { HOT_VIEW_LAYERS = 8, HOT_VIEW_BESIDE = 3, HOT_VIEW_SOURCE = 256, HOT_LAYER_TEXT = HOT_VIEW_SOURCE + 256 };

typedef enum hot_colormap {
    HOT_COLORMAP_AUTO = 0, /* labels for images of labels, else hot; colours unchanged */
    HOT_COLORMAP_GREY,
    HOT_COLORMAP_HOT,       /* black, red, yellow, white */
    HOT_COLORMAP_CUBEHELIX, /* of growing lightness, as --color value */
    HOT_COLORMAP_RED,
    HOT_COLORMAP_GREEN,
    HOT_COLORMAP_BLUE,
    HOT_COLORMAP_LABELS     /* a colour for each whole number */
} hot_colormap;
#define HOT_COLORMAPS "auto|grey|hot|cubehelix|red|green|blue|labels"

typedef enum hot_layer_blend { HOT_BLEND_OVER = 0, HOT_BLEND_ADD } hot_layer_blend;

/* Plain data without gaps that matter: states are compared as bytes. */
typedef struct hot_view_layer {
    char source[HOT_VIEW_SOURCE]; /* a file, a volume of the scene, or a map of the run ("fa") */
    char as[16];           /* what the file holds, as --as; "" = found out */
    int visible;
    int beside;            /* 1: directions or tensors in a separate pane (hot_scene_layer_set) */
    int outline;           /* 1: only the edges of voxels above the threshold, or of each label */
    int colormap;          /* hot_colormap; images of one value */
    int blend;             /* hot_layer_blend */
    int constant;          /* lines: 1 = of one colour, `color`; 0 = coloured by direction */
    int color_set;         /* 0: the kind's own: directions of one colour, streamlines by direction */
    double color[3];
    double opacity;
    double window[2];      /* values of the first and last colour; each NaN = the image's own */
    double threshold;      /* smaller values and shorter directions are left out; NaN = only 0 and NaN are */
} hot_view_layer;

/* Parses "SOURCE[,key=value...]". SOURCE may contain commas. Errors: HOT_ERROR_ARGUMENT, which names the key and what
 * would be right. */
hot_status hot_layer_parse(hot_context *context, const char *text, hot_view_layer *layer);
/* The text that parses to the layer; keys at their default are left out. */
void hot_layer_print(const hot_view_layer *layer, char *text, size_t size);
