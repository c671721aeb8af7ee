#include "camera.h"

#include <math.h>
#include <string.h>

#include "vector.h"

/* ---- Vectors and quaternions ------------------------------------------------------------------------------ */

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static void unit(double v[3])
{
    double length = sqrt(dot(v, v));
    for (int d = 0; d < 3 && length > 0; d++)
        v[d] /= length;
}

void hot_quaternion_identity(double q[4]) { memcpy(q, (const double[4]){1, 0, 0, 0}, 4 * sizeof *q); }

void hot_quaternion_multiply(const double a[4], const double b[4], double product[4])
{
    const double made[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(product, made, sizeof made);
}

void hot_quaternion_axis(const double axis[3], double radians, double q[4])
{
    q[0] = cos(radians / 2);
    for (int d = 0; d < 3; d++)
        q[d + 1] = axis[d] * sin(radians / 2);
}

void hot_quaternion_rotate(const double q[4], const double v[3], double turned[3])
{
    double t[3], u[3];
    cross(q + 1, v, t);
    for (int d = 0; d < 3; d++)
        t[d] = 2 * t[d];
    cross(q + 1, t, u);
    for (int d = 0; d < 3; d++)
        turned[d] = v[d] + q[0] * t[d] + u[d];
}

static const double RADIANS = 0.017453292519943295;

/* The untilted camera is on the y axis and its up vector is z. Azimuth turns about z, elevation about x, roll about y.
 */
void hot_quaternion_from_angles(const double degrees[3], double q[4])
{
    double azimuth[4], elevation[4], roll[4];
    hot_quaternion_axis((const double[3]){0, 0, 1}, degrees[0] * RADIANS, azimuth);
    hot_quaternion_axis((const double[3]){1, 0, 0}, degrees[1] * RADIANS, elevation);
    hot_quaternion_axis((const double[3]){0, 1, 0}, degrees[2] * RADIANS, roll);
    hot_quaternion_multiply(azimuth, elevation, q);
    hot_quaternion_multiply(q, roll, q);
}

void hot_quaternion_to_angles(const double q[4], double degrees[3])
{
    double toward[3], up[3], level[4], back[3];
    hot_quaternion_rotate(q, (const double[3]){0, 1, 0}, toward);
    /* at the poles azimuth and roll are the same turn: reported as azimuth */
    int pole = fabs(toward[2]) > 1 - 1e-9;
    hot_quaternion_rotate(q, (const double[3]){0, 0, 1}, up);
    double side = toward[2] > 0 ? -1 : 1;
    degrees[0] = (pole ? atan2(-side * up[0], side * up[1]) : atan2(-toward[0], toward[1])) / RADIANS;
    degrees[1] = asin(fmax(-1, fmin(1, toward[2]))) / RADIANS;
    degrees[2] = 0;
    if (pole)
        return;
    hot_quaternion_from_angles(degrees, level);
    for (int d = 1; d < 4; d++)
        level[d] = -level[d];
    hot_quaternion_rotate(level, up, back); /* the up vector without azimuth and elevation: turned about y only */
    degrees[2] = atan2(back[0], back[2]) / RADIANS;
}

/* ---- Orientation of a view -------------------------------------------------------------------------------- */

/* Screen right and up of each plane in RAS, radiological convention; the 3-D view starts as the coronal plane. */
static const double screen_right[3][3] = {{-1, 0, 0}, {0, -1, 0}, {-1, 0, 0}};
static const double screen_up[3][3] = {{0, 1, 0}, {0, 0, 1}, {0, 0, 1}};

/* Direction of the voxel axis that is closest to a screen axis (one of RAS), with the same sign. */
static void axis_along(const hot_scene *scene, const double wanted[3], double direction[3])
{
    static const int plane_across[3] = {HOT_PLANE_SAGITTAL, HOT_PLANE_CORONAL, HOT_PLANE_AXIAL}; /* x y z */
    int axis[3], world = wanted[0] != 0 ? 0 : wanted[1] != 0 ? 1 : 2;
    hot_scene_plane_axes(scene, axis);
    for (int d = 0; d < 3; d++)
        direction[d] = scene->to_ras[d][axis[plane_across[world]]];
    unit(direction);
    if (dot(direction, wanted) < 0)
        for (int d = 0; d < 3; d++)
            direction[d] = -direction[d];
}

static void orient_plane(const hot_scene *scene, const hot_view_state *state, hot_viewport *viewport)
{
    int axis[3];
    hot_scene_plane_axes(scene, axis);
    viewport->axis = axis[viewport->plane];
    memcpy(viewport->right, screen_right[viewport->plane], sizeof viewport->right);
    memcpy(viewport->up, screen_up[viewport->plane], sizeof viewport->up);
    if (state->lock_axes) {
        axis_along(scene, screen_right[viewport->plane], viewport->right);
        axis_along(scene, screen_up[viewport->plane], viewport->up);
    }
    cross(viewport->right, viewport->up, viewport->normal);
    unit(viewport->normal);
    cross(viewport->normal, viewport->right, viewport->up); /* sheared grids: make up perpendicular to right */
    const double straight[3][3] = {
        {viewport->right[0], viewport->right[1], viewport->right[2]},
        {viewport->up[0], viewport->up[1], viewport->up[2]},
        {viewport->normal[0], viewport->normal[1], viewport->normal[2]},
    };
    hot_quaternion_rotate(state->tilt, straight[0], viewport->right);
    hot_quaternion_rotate(state->tilt, straight[1], viewport->up);
    hot_quaternion_rotate(state->tilt, straight[2], viewport->toward);
}

/* The frame of the 3-D camera: the grid's axes, so that an oblique grid stands upright, or the scanner's. */
static void set_frame(const hot_scene *scene, const hot_view_state *state, double frame[3][3])
{
    const double world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    memcpy(frame, world, sizeof world);
    if (!state->lock_axes)
        return;
    axis_along(scene, world[0], frame[0]);
    axis_along(scene, world[2], frame[2]);
    cross(frame[2], frame[0], frame[1]);
    unit(frame[1]);
    cross(frame[0], frame[1], frame[2]); /* sheared grids: perpendicular */
}

void hot_viewport_in_frame(const hot_viewport *viewport, const double ras[3], double v[3])
{
    for (int d = 0; d < 3; d++)
        v[d] = dot(viewport->frame[d], ras);
}

static void orient_space(const hot_scene *scene, const hot_view_state *state, hot_viewport *viewport)
{
    const double *from[3] = {screen_right[HOT_PLANE_CORONAL], screen_up[HOT_PLANE_CORONAL], (const double[3]){0, 1, 0}};
    double *to[3] = {viewport->right, viewport->up, viewport->toward};
    set_frame(scene, state, viewport->frame);
    for (int axis = 0; axis < 3; axis++) {
        double turned[3];
        hot_quaternion_rotate(state->rotation, from[axis], turned);
        for (int d = 0; d < 3; d++)
            to[axis][d] = turned[0] * viewport->frame[0][d] + turned[1] * viewport->frame[1][d] +
                          turned[2] * viewport->frame[2][d];
    }
    memcpy(viewport->normal, viewport->toward, sizeof viewport->normal);
}

/* ---- Size ------------------------------------------------------------------------------------------------- */

/* Extent of the grid along a direction, mm. */
static double reach(const hot_scene *scene, const double direction[3])
{
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        const double step[3] = {scene->to_ras[0][a], scene->to_ras[1][a], scene->to_ras[2][a]};
        sum += fabs(dot(step, direction)) * (double)scene->grid.size[a];
    }
    return sum;
}

static double diagonal(const hot_scene *scene)
{
    double low[3], high[3], squared = 0;
    hot_scene_bounds(scene, low, high);
    for (int d = 0; d < 3; d++)
        squared += (high[d] - low[d]) * (high[d] - low[d]);
    return sqrt(squared);
}

/* 3-D: mm per pixel at which the content fits, from every side at the default elevation. */
static double fitting_space(const hot_scene *scene, const hot_viewport *viewport)
{
    static const double ELEVATION = 0.4363323129985824; /* 25 degrees */
    double extent[3];
    for (int axis = 0; axis < 3; axis++) {
        extent[axis] = 0;
        for (int a = 0; a < 3; a++) {
            const double step[3] = {scene->to_ras[0][a], scene->to_ras[1][a], scene->to_ras[2][a]};
            extent[axis] += fabs(dot(step, viewport->frame[axis])) * (scene->high[a] - scene->low[a] + 1);
        }
    }
    const double across = hypot(extent[0], extent[1]);
    const double along = extent[2] * cos(ELEVATION) + across * sin(ELEVATION);
    return fmax(across / viewport->width, along / viewport->height);
}

/* mm per pixel at which the whole grid, or in 3-D the content, fits with a small margin. Tilting a plane or turning the
 * 3-D view does not change it. */
static double fitting(const hot_scene *scene, const hot_viewport *viewport)
{
    const double margin = 1.04;
    if (viewport->space)
        return margin * fitting_space(scene, viewport);
    double right[3], up[3];
    axis_along(scene, screen_right[viewport->plane], right);
    axis_along(scene, screen_up[viewport->plane], up);
    double across = fmax(1e-9, reach(scene, right)), along = fmax(1e-9, reach(scene, up));
    return margin * fmax(across / viewport->width, along / viewport->height);
}

static void set_matrix(hot_viewport *viewport)
{
    const double scale[3] = {2 / (viewport->mm_per_pixel * viewport->width),
                             2 / (viewport->mm_per_pixel * viewport->height), -1 / viewport->depth};
    const double *axis[3] = {viewport->right, viewport->up, viewport->toward};
    memset(viewport->matrix, 0, sizeof viewport->matrix);
    for (int row = 0; row < 3; row++) {
        for (int d = 0; d < 3; d++)
            viewport->matrix[4 * d + row] = scale[row] * axis[row][d];
        viewport->matrix[12 + row] = -scale[row] * dot(axis[row], viewport->center);
    }
    viewport->matrix[15] = 1;
}

static void finish(const hot_scene *scene, const hot_view_state *state, hot_viewport *viewport)
{
    const double voxel[3] = {state->voxel[0], state->voxel[1], state->voxel[2]};
    double middle[3], from_slice = 0, reach_mm = diagonal(scene);
    hot_scene_to_ras(scene, voxel, viewport->point);
    for (int d = 0; d < 3; d++)
        middle[d] = viewport->space ? (scene->low[d] + scene->high[d]) / 2. : ((double)scene->grid.size[d] - 1) / 2;
    hot_scene_to_ras(scene, middle, viewport->center);
    for (int d = 0; d < 3; d++)
        if (!isnan(state->center[d]))
            viewport->center[d] = state->center[d];
    /* centre a plane on its slice: scrolling through a tilted stack keeps the slice in the picture */
    if (!viewport->space) {
        for (int d = 0; d < 3; d++)
            from_slice += viewport->normal[d] * (viewport->point[d] - viewport->center[d]);
        for (int d = 0; d < 3; d++)
            viewport->center[d] += from_slice * viewport->normal[d];
    }
    double away = 0;
    for (int d = 0; d < 3; d++)
        away += fabs(viewport->center[d] - viewport->point[d]);
    viewport->depth = reach_mm + away;
    set_matrix(viewport);
}

/* The panes of sets beside the scene's own; layer: those of the panes. Returns their number, 1 without such sets. */
static int find_panes(const hot_scene *scene, const hot_view_state *state, int layer[HOT_VIEWPORTS])
{
    int count = 1;
    layer[0] = -1;
    for (int n = 0; n < state->layers && count < HOT_VIEWPORTS; n++)
        if (state->layer[n].visible && state->layer[n].beside && hot_scene_layer_set(scene, &state->layer[n]))
            layer[count++] = n;
    return count;
}

/* Place of viewport v among `count` in this number of columns. */
static void place(hot_viewport *viewport, int v, int count, int columns, int width, int height)
{
    const int rows = (count + columns - 1) / columns, column = v % columns, row = v / columns;
    viewport->x = width * column / columns;
    viewport->y = height * row / rows;
    viewport->width = fmax(1, width * (column + 1) / columns - viewport->x);
    viewport->height = fmax(1, height * (row + 1) / rows - viewport->y);
}

static void orient(const hot_scene *scene, const hot_view_state *state, hot_viewport *viewport)
{
    if (viewport->space)
        orient_space(scene, state, viewport);
    else
        orient_plane(scene, state, viewport);
}

/* The number of columns in which panes show the view as large as possible; of equal ones, the most. */
static int choose_columns(const hot_scene *scene, const hot_view_state *state, int count, int width, int height)
{
    int best = count;
    double smallest = HUGE_VAL;
    for (int columns = count; columns >= 1; columns--) {
        hot_viewport viewport = {.plane = state->plane, .space = state->mode == HOT_VIEW_SPACE};
        place(&viewport, 0, count, columns, width, height);
        orient(scene, state, &viewport);
        const double mm = fitting(scene, &viewport);
        if (mm < smallest * (1 - 1e-9)) {
            smallest = mm;
            best = columns;
        }
    }
    return best;
}

void hot_view_lay_out(const hot_scene *scene, const hot_view_state *state, int width, int height,
                      hot_view_layout *layout)
{
    int layer[HOT_VIEWPORTS] = {-1, -1, -1, -1};
    const int planes = state->mode == HOT_VIEW_PLANES;
    memset(layout, 0, sizeof *layout);
    layout->width = width;
    layout->height = height;
    layout->count = planes ? 4 : find_panes(scene, state, layer);
    layout->panes = !planes && layout->count > 1;
    const int columns = planes ? 2 : choose_columns(scene, state, layout->count, width, height);
    double fit = 0;
    for (int v = 0; v < layout->count; v++) {
        hot_viewport *viewport = &layout->viewport[v];
        *viewport = (hot_viewport){.plane = !planes ? state->plane : v == 3 ? HOT_PLANE_AXIAL : v, .layer = layer[v]};
        viewport->space = state->mode == HOT_VIEW_SPACE || (planes && v == 3);
        place(viewport, v, layout->count, columns, width, height);
        orient(scene, state, viewport);
        viewport->mm_per_pixel = fitting(scene, viewport);
        if (!viewport->space || layout->panes)
            fit = fmax(fit, viewport->mm_per_pixel);
    }
    for (int v = 0; v < layout->count; v++) { /* linked planes, and panes, share one scale */
        hot_viewport *viewport = &layout->viewport[v];
        const int alone = viewport->space && !layout->panes;
        viewport->mm_per_pixel = (alone ? viewport->mm_per_pixel : fit) / state->zoom;
        finish(scene, state, viewport);
    }
}

const hot_scene *hot_viewport_glyphs_of(const hot_viewport *viewport, const hot_scene *scene,
                                        const hot_view_state *state)
{
    const hot_scene *set = viewport->layer < 0 ? NULL : hot_scene_layer_set(scene, &state->layer[viewport->layer]);
    return set ? set : scene;
}

void hot_viewport_state(const hot_viewport *viewport, const hot_view_state *state, hot_view_state *shown)
{
    *shown = *state;
    if (viewport->layer >= 0 && !isnan(state->layer[viewport->layer].threshold))
        shown->threshold = state->layer[viewport->layer].threshold;
}

void hot_view_lay_out_part(const hot_view_layout *whole, int x, int y, int width, int height, hot_view_layout *part)
{
    *part = *whole;
    part->width = width;
    part->height = height;
    for (int v = 0; v < whole->count; v++) {
        const hot_viewport *from = &whole->viewport[v];
        hot_viewport *to = &part->viewport[v];
        const double left = fmax(from->x, x), right = fmin(from->x + from->width, x + width);
        const double top = fmax(from->y, y), bottom = fmin(from->y + from->height, y + height);
        const double across = ((left + right) / 2 - from->x - from->width / 2) * from->mm_per_pixel;
        const double along = -((top + bottom) / 2 - from->y - from->height / 2) * from->mm_per_pixel;
        to->x = left - x;
        to->y = top - y;
        to->width = fmax(0, right - left);
        to->height = fmax(0, bottom - top);
        if (to->width <= 0 || to->height <= 0) {
            to->width = to->height = 0;
            continue;
        }
        for (int d = 0; d < 3; d++)
            to->center[d] += across * from->right[d] + along * from->up[d];
        set_matrix(to);
    }
}

const hot_viewport *hot_layout_at(const hot_view_layout *layout, double x, double y)
{
    for (int v = 0; v < layout->count; v++) {
        const hot_viewport *viewport = &layout->viewport[v];
        if (x >= viewport->x && y >= viewport->y && x < viewport->x + viewport->width &&
            y < viewport->y + viewport->height)
            return viewport;
    }
    return NULL;
}

double hot_viewport_project(const hot_viewport *viewport, const double ras[3], double pixel[2])
{
    double from[3];
    for (int d = 0; d < 3; d++)
        from[d] = ras[d] - viewport->center[d];
    pixel[0] = viewport->x + viewport->width / 2 + dot(from, viewport->right) / viewport->mm_per_pixel;
    pixel[1] = viewport->y + viewport->height / 2 - dot(from, viewport->up) / viewport->mm_per_pixel;
    return dot(from, viewport->toward);
}

int hot_viewport_unproject(const hot_viewport *viewport, double x, double y, double ras[3])
{
    const double right = (x - viewport->x - viewport->width / 2) * viewport->mm_per_pixel;
    const double up = -(y - viewport->y - viewport->height / 2) * viewport->mm_per_pixel;
    double to_slice = 0;
    for (int d = 0; d < 3; d++) {
        ras[d] = viewport->center[d] + right * viewport->right[d] + up * viewport->up[d];
        to_slice += viewport->normal[d] * (viewport->point[d] - ras[d]);
    }
    double cosine = dot(viewport->normal, viewport->toward);
    if (fabs(cosine) < 1e-3)
        return 0;
    for (int d = 0; d < 3; d++)
        ras[d] += to_slice / cosine * viewport->toward[d];
    return 1;
}

void hot_viewport_light(const hot_viewport *viewport, double light[3])
{
    for (int d = 0; d < 3; d++)
        light[d] = viewport->toward[d] - 0.25 * viewport->right[d] + 0.35 * viewport->up[d];
    unit(light);
}

void hot_view_state_turn(hot_view_state *state, const hot_viewport *viewport, double dx, double dy)
{
    double *rotation = viewport->space ? state->rotation : state->tilt, turn[4], axis[3];
    const double per_pixel = 180 * RADIANS / fmin(viewport->width, viewport->height);
    /* the scene follows the pointer, so the camera turns the other way */
    for (int d = 0; d < 3; d++)
        axis[d] = dx * viewport->up[d] + dy * viewport->right[d];
    if (viewport->space)
        hot_viewport_in_frame(viewport, (const double[3]){axis[0], axis[1], axis[2]}, axis);
    double length = sqrt(dot(axis, axis));
    if (!(length > 0))
        return;
    unit(axis);
    hot_quaternion_axis(axis, -length * per_pixel, turn);
    hot_quaternion_multiply(turn, rotation, rotation);
    double norm = sqrt(dot(rotation, rotation) + rotation[3] * rotation[3]);
    for (int d = 0; d < 4; d++)
        rotation[d] /= norm;
}
