#include "glyph_size.h"

#include <math.h>
#include <string.h>

/* Half the voxel's shortest side, mm. */
static double half_voxel(const hot_scene *scene)
{
    return 0.5 * fmin(scene->spacing[0], fmin(scene->spacing[1], scene->spacing[2]));
}

/* Limits outliers, such as noisy voxels, that would hide their neighbours: at most this multiple of a typical glyph. */
static const double MAX_SIZE = 1.5;

/* mm per unit. A glyph of size `typical` fills a voxel; with normalised sizes, each voxel's own `largest` does. */
static double size_per_unit(const hot_scene *scene, const hot_view_state *state, double typical, double largest)
{
    const double full = state->normalise ? largest : fmax(typical, largest / MAX_SIZE);
    return full > 0 ? state->scale * half_voxel(scene) / full : 0;
}

double hot_scene_surface_mm(const hot_scene *scene, const hot_view_state *state, size_t index)
{
    return size_per_unit(scene, state, scene->typical_radius, (double)scene->radius[index]);
}

double hot_scene_stick_mm(const hot_scene *scene, const hot_view_state *state, size_t index)
{
    double longest = 0;
    for (int fiber = 0; fiber < scene->max_fibers; fiber++) {
        const float *v = scene->peaks + 3 * (index * (size_t)scene->max_fibers + (size_t)fiber);
        longest = fmax(longest,
                       sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]));
    }
    return size_per_unit(scene, state, scene->typical_amplitude, longest);
}

double hot_scene_typical_mm(const hot_scene *scene, const hot_view_state *state)
{
    return state->scale * half_voxel(scene);
}

double hot_scene_largest_mm(const hot_scene *scene, const hot_view_state *state)
{
    return MAX_SIZE * hot_scene_typical_mm(scene, state);
}

double hot_scene_stick_radius(const hot_scene *scene, const hot_view_state *state)
{
    return state->stick_width * half_voxel(scene);
}

/* ---- Shape ------------------------------------------------------------------------------------------------ */

int hot_model_is_diffusion(const char *model)
{
    return strcmp(model, "adc") == 0 || strcmp(model, "unknown") == 0; /* unknown: files of other programs */
}

int hot_scene_draws_ellipsoids(const hot_scene *scene, const hot_view_state *state)
{
    return scene->diffusion && state->shape == HOT_SHAPE_ELLIPSOID;
}

int hot_scene_surface_order(const hot_scene *scene, const hot_view_state *state)
{
    return hot_scene_draws_ellipsoids(scene, state) ? 0 : scene->order;
}
