/* Where things are on the screen: viewports and their matrices. Orthographic. Free of GL.
 *
 * Pixels are counted from the top left corner, x to the right, y down, as window systems and pictures do. */
#ifndef HOT_VIZ_CAMERA_H
#define HOT_VIZ_CAMERA_H

#include "scene.h"

typedef struct hot_viewport {
    double x, y, width, height; /* pixels; whole numbers */
    int space;                  /* 1: the 3-D view; 0: a plane */
    int plane;                  /* hot_view_plane */
    int axis;                   /* voxel axis that the plane's slices are counted along: 0 1 2 = i j k */
    double right[3], up[3], toward[3]; /* RAS unit vectors: to the right, up, and out of the screen to the viewer */
    double normal[3];           /* of the slice, RAS; toward unless the view is turned */
    double center[3];           /* RAS mm at the viewport's middle */
    double point[3];            /* RAS mm: the crosshair, on the slice */
    double mm_per_pixel;
    double depth;               /* half the depth range, mm */
    double matrix[16];          /* RAS mm -> clip coordinates of the viewport, column-major as GL takes it */
} hot_viewport;

typedef struct hot_view_layout {
    int width, height, count;
    hot_viewport viewport[4];
} hot_view_layout;

/* The viewports of a picture of width x height pixels. Planes are shown as radiologists look at them (right on the
 * left) whatever the order and direction of the voxel axes. Three planes: axial, sagittal, coronal and a 3-D view, 2
 * x 2. */
void hot_view_lay_out(const hot_scene *scene, const hot_view_state *state, int width, int height,
                      hot_view_layout *layout);
/* The viewport under a pixel, NULL when there is none. */
const hot_viewport *hot_layout_at(const hot_view_layout *layout, double x, double y);
/* RAS mm -> pixel; returns the distance towards the viewer in mm (0 = in the middle's depth). */
double hot_viewport_project(const hot_viewport *viewport, const double ras[3], double pixel[2]);
/* The point of the slice under a pixel; 0 when the slice is seen edge-on. For the 3-D view: at the crosshair's depth.
 */
int hot_viewport_unproject(const hot_viewport *viewport, double x, double y, double ras[3]);
/* The direction of the light, RAS: from above the viewer's left shoulder. */
void hot_viewport_light(const hot_viewport *viewport, double light[3]);

/* Quaternions w x y z. */
void hot_quaternion_identity(double q[4]);
void hot_quaternion_multiply(const double a[4], const double b[4], double product[4]);
void hot_quaternion_axis(const double axis[3], double radians, double q[4]);
void hot_quaternion_rotate(const double q[4], const double v[3], double turned[3]);
/* Trackball: turns state->rotation, or tilt where the viewport is a plane, by a drag of (dx, dy) pixels, dy down; a
 * drag over the viewport's smaller side turns by 180 degrees. */
/* The camera's place around the head: azimuth from the front to the patient's left, elevation up, roll; degrees. */
void hot_quaternion_from_angles(const double degrees[3], double q[4]);
void hot_quaternion_to_angles(const double q[4], double degrees[3]);
void hot_view_state_turn(hot_view_state *state, const hot_viewport *viewport, double dx, double dy);

#endif
