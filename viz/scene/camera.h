/* Viewports and their matrices: where the scene is on the screen. Orthographic projection; no OpenGL.
 *
 * Pixels are counted from the top left corner, x to the right, y down, as in window systems and image files. */
#pragma once

#include "scene.h"

typedef struct hot_viewport {
    double x, y, width, height; /* pixels; whole numbers */
    int space;                  /* 1: the 3-D view; 0: a plane */
    int layer;                  /* the layer whose set it shows; -1 = the scene's own glyphs */
    int plane;                  /* hot_view_plane */
    int axis;                   /* voxel axis along which the plane's slices are counted: 0 1 2 = i j k */
    double right[3], up[3], toward[3]; /* RAS unit vectors: to the right, up, and out of the screen to the viewer */
    double normal[3];           /* RAS normal of the slice; equals toward unless the view is tilted */
    double frame[3][3];         /* 3-D: RAS unit vectors about right, anterior, superior that the camera turns about */
    double center[3];           /* RAS mm at the middle of the viewport */
    double point[3];            /* RAS mm of the crosshair, a point of the slice */
    double mm_per_pixel;
    double depth;               /* half the depth range, mm */
    double matrix[16];          /* RAS mm -> clip coordinates of the viewport, column-major */
} hot_viewport;

enum { HOT_VIEWPORTS = 1 + HOT_VIEW_BESIDE };

typedef struct hot_view_layout {
    int width, height, count;
    int panes; /* 1: the viewports are one view of several sets, side by side; 0: one view, or linked planes */
    hot_viewport viewport[HOT_VIEWPORTS];
} hot_view_layout;

/* The viewports of a picture of width x height pixels. Planes follow the radiological convention (right on the left),
 * whatever the order and direction of the voxel axes. HOT_VIEW_PLANES has 2 x 2 viewports: axial, sagittal, coronal and
 * 3-D. In the other modes sets beside the scene's own have a pane each, with the same camera. */
void hot_view_lay_out(const hot_scene *scene, const hot_view_state *state, int width, int height,
                      hot_view_layout *layout);
/* The glyphs that a viewport shows: the scene itself, or one of its sets. Images are always the scene's. */
const hot_scene *hot_viewport_glyphs_of(const hot_viewport *viewport, const hot_scene *scene,
                                        const hot_view_state *state);
/* The state for these glyphs: a layer's threshold is its own. */
void hot_viewport_state(const hot_viewport *viewport, const hot_view_state *state, hot_view_state *shown);
/* The part of a picture from pixel (x, y) on, as a separate picture; viewports outside have no width. */
void hot_view_lay_out_part(const hot_view_layout *whole, int x, int y, int width, int height, hot_view_layout *part);
/* The viewport that contains a pixel, or NULL. */
const hot_viewport *hot_layout_at(const hot_view_layout *layout, double x, double y);
/* RAS mm -> pixel. Returns the distance from the viewport's centre towards the viewer, mm. */
double hot_viewport_project(const hot_viewport *viewport, const double ras[3], double pixel[2]);
/* Pixel -> point of the slice, RAS mm; in the 3-D view, a point at the crosshair's depth. Returns 0 if the slice is
 * seen edge-on. */
int hot_viewport_unproject(const hot_viewport *viewport, double x, double y, double ras[3]);
/* A vector in RAS in the frame that the camera of a 3-D view turns about. */
void hot_viewport_in_frame(const hot_viewport *viewport, const double ras[3], double v[3]);
/* Direction to the light, RAS: above the viewer's left shoulder. */
void hot_viewport_light(const hot_viewport *viewport, double light[3]);

/* Quaternions w x y z. */
void hot_quaternion_identity(double q[4]);
void hot_quaternion_multiply(const double a[4], const double b[4], double product[4]);
void hot_quaternion_axis(const double axis[3], double radians, double q[4]);
void hot_quaternion_rotate(const double q[4], const double v[3], double turned[3]);
/* Camera position around the head, degrees: azimuth from the front to the patient's left, elevation upwards, roll. */
void hot_quaternion_from_angles(const double degrees[3], double q[4]);
void hot_quaternion_to_angles(const double q[4], double degrees[3]);
/* Trackball. A drag of (dx, dy) pixels, dy down, turns state->rotation (3-D view) or state->tilt (planes). A drag over
 * the viewport's smaller side turns by 180 degrees. */
void hot_view_state_turn(hot_view_state *state, const hot_viewport *viewport, double dx, double dy);
