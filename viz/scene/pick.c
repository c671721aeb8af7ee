#include "pick.h"

#include <hotfiber/symtensor.h>
#include <math.h>
#include <string.h>

#include "glyph_size.h"
#include "glyph/ellipsoid.h"
#include "vector.h"

enum { STEPS = 64 /* samples along the ray through a surface */ };

/* A ray from the viewer and its nearest hit. */
typedef struct view_ray {
    const hot_scene *scene, *images; /* glyphs; the scene with the images */
    const hot_view_state *state;
    double origin[3], toward[3]; /* RAS mm; toward the viewer */
    double tolerance;            /* mm on the screen by which a click may miss a stick */
    double nearest;              /* mm from the origin towards the viewer; -INFINITY = no hit */
    int voxel[3];
} view_ray;

static void record_hit(view_ray *ray, double depth, const int voxel[3])
{
    if (depth > ray->nearest) {
        ray->nearest = depth;
        memcpy(ray->voxel, voxel, sizeof ray->voxel);
    }
}

/* ---- Glyphs ---------------------------------------------------------------------------------------------- */

/* The radii of the surface in these directions, tensor's world. A point p of an ellipsoid has p^T D^-2 p = 1. */
static void find_radii(const hot_scene *scene, const hot_view_state *state, const double *tensor,
                       const double (*points)[3], double *values)
{
    if (!hot_scene_draws_ellipsoids(scene, state)) {
        hot_symtensor_values_f64(scene->order, 3, tensor, STEPS, &points[0][0], values);
        return;
    }
    float given[6], d[6];
    for (int i = 0; i < 6; i++)
        given[i] = (float)tensor[i];
    hot_ellipsoid_tensor(given, d);
    const double xx = d[0], xy = d[1], xz = d[2], yy = d[3], yz = d[4], zz = d[5];
    const double c[6] = {yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy,
                         xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy};
    const double determinant = xx * c[0] + xy * c[1] + xz * c[2]; /* times the inverse: the cofactors */
    for (int s = 0; s < STEPS; s++) {
        const double *p = points[s];
        const double u = c[0] * p[0] + c[1] * p[1] + c[2] * p[2], v = c[1] * p[0] + c[3] * p[1] + c[4] * p[2];
        const double w = c[2] * p[0] + c[4] * p[1] + c[5] * p[2];
        values[s] = determinant / sqrt(u * u + v * v + w * w);
    }
}

/* The surface |p| = mm A(p/|p|) around the centre. from: vector from the centre to the ray's nearest point. */
static void intersect_surface(view_ray *ray, const int voxel[3], size_t index, const double from[3],
                              double centre_depth)
{
    const hot_scene *scene = ray->scene;
    const size_t unique = hot_symtensor_count(scene->order, 3);
    const double mm = hot_scene_surface_mm(scene, ray->state, index), reach = mm * (double)scene->radius[index];
    const double away = dot(from, from), half = sqrt(fmax(0, reach * reach - away));
    float scratch[1 + HOT_GLYPH_TERMS];
    double tensor[64], points[STEPS][3], values[STEPS], lengths[STEPS];
    if (!(away <= reach * reach))
        return;
    const float *row = hot_scene_row(scene, index, scratch);
    for (size_t i = 0; i < unique && row; i++)
        tensor[i] = row[1 + i];
    if (!row)
        return; /* tensors on the GPU that cannot be read are not hit */
    for (int s = 0; s < STEPS; s++) {
        const double t = half * (1 - 2 * (s + 0.5) / STEPS);
        double p[3];
        for (int d = 0; d < 3; d++)
            p[d] = from[d] + t * ray->toward[d];
        lengths[s] = sqrt(dot(p, p));
        for (int d = 0; d < 3; d++) /* from RAS to the tensor's world */
            points[s][d] = lengths[s] > 0 ? scene->sign[d] * p[d] / lengths[s] : 0;
    }
    find_radii(scene, ray->state, tensor, (const double (*)[3])points, values);
    for (int s = 0; s < STEPS; s++)
        if (lengths[s] <= mm * values[s]) {
            record_hit(ray, centre_depth + half * (1 - 2 * (s + 0.5) / STEPS), voxel);
            return;
        }
}

/* Sticks: segments around the centre, with their drawn radius or the tolerance of a click, whichever is larger. */
static void intersect_sticks(view_ray *ray, const int voxel[3], size_t index, const double from[3], double centre_depth)
{
    const hot_scene *scene = ray->scene;
    const double thick = fmax(hot_scene_stick_radius(scene, ray->state), ray->tolerance);
    const double mm = hot_scene_stick_mm(scene, ray->state, index);
    const int count = hot_scene_fibers(scene, index);
    for (int fiber = 0; fiber < count; fiber++) {
        const float *peak = scene->peaks + 3 * (index * (size_t)scene->max_fibers + (size_t)fiber);
        double half[3], length = 0, flat = 0, meeting = 0, distance = 0;
        for (int d = 0; d < 3; d++) {
            half[d] = mm * scene->sign[d] * (double)peak[d];
            length += (double)peak[d] * (double)peak[d];
        }
        if (!(sqrt(length) >= ray->state->threshold) || !(length > 0))
            continue;
        /* the segment projected to the screen; `from` has no depth */
        const double depth = dot(half, ray->toward);
        for (int d = 0; d < 3; d++) {
            const double on_screen = half[d] - depth * ray->toward[d];
            flat += on_screen * on_screen;
            meeting += on_screen * from[d];
        }
        const double s = flat > 0 ? fmin(fmax(meeting / flat, -1), 1) : depth > 0 ? 1 : -1;
        for (int d = 0; d < 3; d++) {
            const double apart = from[d] - s * (half[d] - depth * ray->toward[d]);
            distance += apart * apart;
        }
        if (distance <= thick * thick)
            record_hit(ray, centre_depth + s * depth + thick, voxel);
    }
}

static void intersect_glyph(view_ray *ray, const int voxel[3])
{
    const hot_scene *scene = ray->scene;
    const hot_view_state *state = ray->state;
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
        centre[d] -= ray->origin[d];
    const double depth = dot(centre, ray->toward);
    for (int d = 0; d < 3; d++)
        from[d] = depth * ray->toward[d] - centre[d];
    if (surface)
        intersect_surface(ray, voxel, index, from, depth);
    if (sticks)
        intersect_sticks(ray, voxel, index, from, depth);
}

static void intersect_glyphs(view_ray *ray)
{
    const size_t *size = ray->scene->grid.size;
    const int *at = ray->state->voxel;
    int voxel[3];
    for (voxel[2] = 0; voxel[2] < (int)size[2]; voxel[2]++)
        for (voxel[1] = 0; voxel[1] < (int)size[1]; voxel[1]++) {
            const int whole_row = ray->state->extent == HOT_EXTENT_VOLUME || voxel[2] == at[2] || voxel[1] == at[1];
            for (voxel[0] = whole_row ? 0 : at[0]; voxel[0] < (whole_row ? (int)size[0] : at[0] + 1); voxel[0]++)
                intersect_glyph(ray, voxel);
        }
}

/* ---- Images of slices ------------------------------------------------------------------------------------ */

static void intersect_slices(view_ray *ray)
{
    const hot_scene *scene = ray->scene;
    double point[3];
    hot_scene_to_ras(scene, (const double[3]){ray->state->voxel[0], ray->state->voxel[1], ray->state->voxel[2]},
                     point);
    for (int axis = 0; axis < 3; axis++) {
        /* rows of the inverse are normal to planes of equal index */
        const double normal[3] = {scene->from_ras[axis][0], scene->from_ras[axis][1], scene->from_ras[axis][2]};
        double slope = dot(normal, ray->toward), ras[3], between[3];
        int voxel[3];
        for (int d = 0; d < 3; d++)
            between[d] = point[d] - ray->origin[d];
        if (fabs(slope) <= 1e-6 * sqrt(dot(normal, normal)))
            continue;
        const double depth = dot(normal, between) / slope;
        for (int d = 0; d < 3; d++)
            ras[d] = ray->origin[d] + depth * ray->toward[d];
        if (!hot_scene_voxel_at(scene, ras, voxel) && hot_scene_image_is_seen(ray->images, ray->state, ras))
            record_hit(ray, depth - HOT_SLICE_BEHIND * hot_scene_typical_mm(scene, ray->state), voxel);
    }
}

int hot_pick_voxel(const hot_scene *scene, const hot_view_state *state, const hot_viewport *viewport, double x,
                   double y, int voxel[3])
{
    hot_view_state shown;
    hot_viewport_state(viewport, state, &shown);
    view_ray ray = {.scene = hot_viewport_glyphs_of(viewport, scene, state), .images = scene, .state = &shown,
                    .nearest = -INFINITY};
    if (!viewport->space) {
        if (!hot_viewport_unproject(viewport, x, y, ray.origin) ||
            hot_scene_voxel_at(scene, ray.origin, ray.voxel))
            return 0;
    } else {
        if (!hot_viewport_unproject(viewport, x, y, ray.origin))
            return 0;
        memcpy(ray.toward, viewport->toward, sizeof ray.toward);
        ray.tolerance = 2 * state->pixel_ratio * viewport->mm_per_pixel;
        intersect_glyphs(&ray);
        intersect_slices(&ray);
        if (ray.nearest == -INFINITY)
            return 0;
    }
    memcpy(voxel, ray.voxel, sizeof ray.voxel);
    return 1;
}
