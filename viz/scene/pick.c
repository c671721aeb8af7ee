#include "pick.h"

#include <hotfiber/symtensor.h>
#include <math.h>
#include <string.h>

#include "glyph_size.h"

enum { STEPS = 64 /* along the ray through a surface */ };

/* What is looked along, and the nearest that it has met. */
typedef struct ray {
    const hot_scene *scene;
    const hot_view_state *state;
    double origin[3], toward[3]; /* RAS mm; toward the viewer */
    double tolerance;            /* mm on the screen by which a stick may be missed */
    double nearest;              /* mm from the origin towards the viewer; -INFINITY = nothing met */
    int voxel[3];
} ray;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void meet(ray *along, double depth, const int voxel[3])
{
    if (depth > along->nearest) {
        along->nearest = depth;
        memcpy(along->voxel, voxel, sizeof along->voxel);
    }
}

/* ---- Glyphs ---------------------------------------------------------------------------------------------- */

/* The surface |p| = mm A(p/|p|) about the centre; from[]: from the centre to the ray's nearest point. */
static void meet_surface(ray *along, const int voxel[3], size_t index, const double from[3], double centre_depth)
{
    const hot_scene *scene = along->scene;
    const size_t unique = hot_symtensor_count(scene->order, 3);
    const double mm = hot_scene_surface_mm(scene, along->state, index), reach = mm * (double)scene->radius[index];
    const double away = dot(from, from), half = sqrt(fmax(0, reach * reach - away));
    float scratch[1 + HOT_GLYPH_TERMS];
    double tensor[64], points[STEPS][3], values[STEPS], lengths[STEPS];
    if (!(away <= reach * reach))
        return;
    const float *row = hot_scene_row(scene, index, scratch);
    for (size_t i = 0; i < unique && row; i++)
        tensor[i] = row[1 + i];
    if (!row)
        return; /* nothing is there to be met */
    for (int s = 0; s < STEPS; s++) {
        const double t = half * (1 - 2 * (s + 0.5) / STEPS);
        double p[3];
        for (int d = 0; d < 3; d++)
            p[d] = from[d] + t * along->toward[d];
        lengths[s] = sqrt(dot(p, p));
        for (int d = 0; d < 3; d++) /* the tensor is in the grid's own world */
            points[s][d] = lengths[s] > 0 ? scene->sign[d] * p[d] / lengths[s] : 0;
    }
    hot_symtensor_values_f64(scene->order, 3, tensor, STEPS, &points[0][0], values);
    for (int s = 0; s < STEPS; s++)
        if (lengths[s] <= mm * values[s]) {
            meet(along, centre_depth + half * (1 - 2 * (s + 0.5) / STEPS), voxel);
            return;
        }
}

/* The sticks: segments about the centre, as thick as they are drawn or as the hand is unsteady. */
static void meet_sticks(ray *along, const int voxel[3], size_t index, const double from[3], double centre_depth)
{
    const hot_scene *scene = along->scene;
    const double thick = fmax(hot_scene_stick_radius(scene, along->state), along->tolerance);
    const double mm = hot_scene_stick_mm(scene, along->state, index);
    const int count = hot_scene_fibers(scene, index);
    for (int fiber = 0; fiber < count; fiber++) {
        const float *peak = scene->peaks + 3 * (index * (size_t)scene->max_fibers + (size_t)fiber);
        double half[3], length = 0, flat = 0, meeting = 0, distance = 0;
        for (int d = 0; d < 3; d++) {
            half[d] = mm * scene->sign[d] * (double)peak[d];
            length += (double)peak[d] * (double)peak[d];
        }
        if (!(sqrt(length) >= along->state->threshold) || !(length > 0))
            continue;
        /* the segment as it lies on the screen; `from` has no depth */
        const double depth = dot(half, along->toward);
        for (int d = 0; d < 3; d++) {
            const double on_screen = half[d] - depth * along->toward[d];
            flat += on_screen * on_screen;
            meeting += on_screen * from[d];
        }
        const double s = flat > 0 ? fmin(fmax(meeting / flat, -1), 1) : depth > 0 ? 1 : -1;
        for (int d = 0; d < 3; d++) {
            const double apart = from[d] - s * (half[d] - depth * along->toward[d]);
            distance += apart * apart;
        }
        if (distance <= thick * thick)
            meet(along, centre_depth + s * depth + thick, voxel);
    }
}

static void meet_glyph(ray *along, const int voxel[3])
{
    const hot_scene *scene = along->scene;
    const hot_view_state *state = along->state;
    const size_t index = hot_scene_index(scene, voxel);
    const int surface = scene->order && (state->glyph == HOT_GLYPH_SURFACE || state->glyph == HOT_GLYPH_BOTH) &&
                        hot_scene_has_surface(scene, state, index);
    const int sticks = scene->max_fibers && (state->glyph == HOT_GLYPH_STICKS || state->glyph == HOT_GLYPH_BOTH) &&
                       hot_scene_fibers(scene, index) > 0;
    if ((!surface && !sticks) || (state->use_mask && scene->mask && !scene->mask[index]))
        return;
    double centre[3], from[3];
    hot_scene_to_ras(scene, (const double[3]){voxel[0], voxel[1], voxel[2]}, centre);
    for (int d = 0; d < 3; d++)
        centre[d] -= along->origin[d];
    const double depth = dot(centre, along->toward);
    for (int d = 0; d < 3; d++)
        from[d] = depth * along->toward[d] - centre[d];
    if (surface)
        meet_surface(along, voxel, index, from, depth);
    if (sticks)
        meet_sticks(along, voxel, index, from, depth);
}

static void meet_glyphs(ray *along)
{
    const size_t *size = along->scene->grid.size;
    const int *at = along->state->voxel;
    int voxel[3];
    for (voxel[2] = 0; voxel[2] < (int)size[2]; voxel[2]++)
        for (voxel[1] = 0; voxel[1] < (int)size[1]; voxel[1]++) {
            const int whole_row = along->state->extent == HOT_EXTENT_VOLUME || voxel[2] == at[2] || voxel[1] == at[1];
            for (voxel[0] = whole_row ? 0 : at[0]; voxel[0] < (whole_row ? (int)size[0] : at[0] + 1); voxel[0]++)
                meet_glyph(along, voxel);
        }
}

/* ---- Images of slices ------------------------------------------------------------------------------------ */

static void meet_slices(ray *along)
{
    const hot_scene *scene = along->scene;
    double point[3];
    hot_scene_to_ras(scene, (const double[3]){along->state->voxel[0], along->state->voxel[1], along->state->voxel[2]},
                     point);
    for (int axis = 0; axis < 3; axis++) {
        /* rows of the inverse stand at right angles on the planes of equal index */
        const double normal[3] = {scene->from_ras[axis][0], scene->from_ras[axis][1], scene->from_ras[axis][2]};
        double slope = dot(normal, along->toward), ras[3], between[3];
        int voxel[3];
        for (int d = 0; d < 3; d++)
            between[d] = point[d] - along->origin[d];
        if (fabs(slope) <= 1e-6 * sqrt(dot(normal, normal)))
            continue;
        const double depth = dot(normal, between) / slope;
        for (int d = 0; d < 3; d++)
            ras[d] = along->origin[d] + depth * along->toward[d];
        if (!hot_scene_voxel_at(scene, ras, voxel))
            meet(along, depth, voxel);
    }
}

int hot_pick_voxel(const hot_scene *scene, const hot_view_state *state, const hot_viewport *viewport, double x,
                   double y, int voxel[3])
{
    ray along = {.scene = scene, .state = state, .nearest = -INFINITY};
    if (!viewport->space) {
        if (!hot_viewport_unproject(viewport, x, y, along.origin) ||
            hot_scene_voxel_at(scene, along.origin, along.voxel))
            return 0;
    } else {
        if (!hot_viewport_unproject(viewport, x, y, along.origin))
            return 0;
        memcpy(along.toward, viewport->toward, sizeof along.toward);
        along.tolerance = 2 * state->pixel_ratio * viewport->mm_per_pixel;
        meet_glyphs(&along);
        if (along.nearest == -INFINITY || (state->show_image && hot_scene_volume(scene, state->background)))
            meet_slices(&along);
        if (along.nearest == -INFINITY)
            return 0;
    }
    memcpy(voxel, along.voxel, sizeof along.voxel);
    return 1;
}
