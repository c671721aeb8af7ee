/* Lines over the glyphs: further sets of directions, and streamlines. Both are line segments, drawn as sticks. No
 * OpenGL. */
#pragma once

#include "glyph_set.h"

/* A segment in RAS mm. */
typedef struct hot_line {
    float center[3];
    float half[3];   /* from the centre to one end: mm, or of directions a vector of their amplitude */
    float largest;   /* directions: the largest amplitude of the voxel; 0 = a streamline, half is in mm */
} hot_line;

/* The lines of a layer. */
typedef struct hot_lines {
    hot_line *line;
    size_t count;
    double typical; /* upper quartile of `largest`; fills a voxel */
    double voxel;   /* the shortest side of a voxel, mm */
} hot_lines;

/* Sets `typical`. Errors: HOT_ERROR_MEMORY. */
hot_status hot_lines_measure(hot_context *context, hot_lines *lines);

/* Sticks of the visible layers in the viewport's slices. *items: context memory. */
hot_status hot_line_list_make(hot_context *context, const hot_scene *scene, const hot_view_state *state,
                              const hot_viewport *viewport, hot_stick_item **items, size_t *count);
/* Whether a visible layer has lines. */
int hot_has_lines(const hot_scene *scene, const hot_view_state *state);
