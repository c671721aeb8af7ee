/* Sources of the layers of a state: images, directions and streamlines are opened once and belong to the scene. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/flow.h"
#include "io/common/fiber_archive.h"
#include "io/common/paths.h"
#include "io/common/tracks.h"
#include "fixels.h"
#include "lines.h"
#include "scene_images.h"
#include "vtp.h"

/* ---- Directions ------------------------------------------------------------------------------------------- */

static hot_status take_directions(hot_context *context, const hot_fiber_field *fibers, hot_lines *lines)
{
    const hot_grid *grid = hot_fiber_field_grid(fibers);
    const size_t voxels = grid->size[0] * grid->size[1] * grid->size[2], max = (size_t)hot_fiber_field_max(fibers);
    const float *peaks = hot_fiber_field_peaks(fibers);
    double to_ras[3][4], sign[3];
    hot_grid_to_ras(grid, to_ras);
    hot_space_ras_sign(grid->space, sign);
    lines->line = hot_context_alloc(context, voxels * max, sizeof *lines->line);
    if (!lines->line)
        return HOT_ERROR_MEMORY;
    lines->voxel = HUGE_VAL;
    for (int c = 0; c < 3; c++)
        lines->voxel = fmin(lines->voxel, sqrt(to_ras[0][c] * to_ras[0][c] + to_ras[1][c] * to_ras[1][c] +
                                               to_ras[2][c] * to_ras[2][c]));
    for (size_t v = 0; v < voxels; v++) {
        const double at[3] = {(double)(v % grid->size[0]), (double)(v / grid->size[0] % grid->size[1]),
                              (double)(v / grid->size[0] / grid->size[1])};
        const size_t first = lines->count;
        float largest = 0;
        for (size_t f = 0; f < max; f++) {
            const float *p = peaks + 3 * (v * max + f);
            const float length = sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
            if (!(length > 0) || !isfinite(length))
                continue;
            hot_line *line = &lines->line[lines->count++];
            largest = fmaxf(largest, length);
            for (int d = 0; d < 3; d++) {
                line->center[d] = (float)(to_ras[d][0] * at[0] + to_ras[d][1] * at[1] + to_ras[d][2] * at[2] +
                                          to_ras[d][3]);
                line->half[d] = (float)sign[d] * p[d];
            }
        }
        for (size_t n = first; n < lines->count; n++)
            lines->line[n].largest = largest;
    }
    return hot_lines_measure(context, lines);
}

static hot_status load_directions(hot_context *context, const char *path, const char *as, hot_lines *lines)
{
    hot_fiber_field *fibers = NULL;
    hot_status status = hot_path_has_suffix(path, ".vtp") ? hot_vtp_load(context, path, &fibers)
                        : hot_fixels_named(path)          ? hot_fixels_load(context, path, &fibers)
                        : hot_fiber_archive_named(path)   ? hot_fiber_archive_load(context, path, &fibers)
                                                          : hot_fiber_field_load_as(context, path, as, &fibers);
    if (status == HOT_OK)
        status = take_directions(context, fibers, lines);
    hot_fiber_field_destroy(&fibers);
    return status;
}

/* Streamlines: a line for each two neighbouring points. */
static hot_status load_tracks(hot_context *context, const char *path, double voxel, hot_lines *lines)
{
    hot_tracks tracks;
    hot_status status = hot_tracks_load(context, path, &tracks);
    if (status != HOT_OK)
        return status;
    lines->voxel = voxel;
    lines->line = hot_context_alloc(context, tracks.points, sizeof *lines->line);
    if (!lines->line)
        status = HOT_ERROR_MEMORY;
    for (size_t t = 0; t < tracks.count && status == HOT_OK; t++)
        for (size_t p = tracks.first[t] + 1; p < tracks.first[t + 1]; p++) {
            hot_line *line = &lines->line[lines->count++];
            line->largest = 0;
            for (int d = 0; d < 3; d++) {
                line->center[d] = (tracks.point[p][d] + tracks.point[p - 1][d]) / 2;
                line->half[d] = (tracks.point[p][d] - tracks.point[p - 1][d]) / 2;
            }
        }
    hot_tracks_free(context, &tracks);
    return status;
}

/* ---- Images ----------------------------------------------------------------------------------------------- */

/* Whether an image is one of labels, or a mask: whole numbers that neighbours share, as in regions. */
static int holds_labels(const hot_view_volume *volume, const size_t size[3])
{
    const float *values = volume->values;
    size_t pairs = 0, equal = 0, voxel = 0;
    if (volume->components != 1 || volume->series)
        return 0;
    for (size_t k = 0; k < size[2]; k++)
        for (size_t j = 0; j < size[1]; j++)
            for (size_t i = 0; i < size[0]; i++, voxel++) {
                if (values[voxel] == 0)
                    continue;
                if (!(values[voxel] > 0) || values[voxel] != floorf(values[voxel]))
                    return 0;
                if (i + 1 < size[0] && values[voxel + 1] != 0)
                    pairs++, equal += values[voxel] == values[voxel + 1];
            }
    return pairs > 0 && (double)equal >= 0.75 * (double)pairs;
}

static hot_status load_image(hot_scene *scene, const char *path, int components, hot_scene_source *made)
{
    hot_loaded_image image = {.values = NULL};
    const int automatic = scene->automatic;
    HOT_TRY(hot_loaded_image_read(scene->context, path, components, scene->image_order, &image));
    HOT_TRY(hot_scene_add_loaded(scene, path, &image));
    hot_view_volume *volume = &scene->volume[scene->volumes - 1];
    scene->automatic = automatic; /* a layer is no background */
    volume->labels = holds_labels(volume, volume->own_grid ? volume->size : scene->grid.size);
    made->volume = volume;
    return HOT_OK;
}

/* ---- Sources ---------------------------------------------------------------------------------------------- */

static hot_status open_file(hot_scene *scene, const char *path, const hot_view_layer *layer, hot_scene_source *made)
{
    hot_context *context = scene->context;
    const char *held = layer->as[0] ? layer->as : NULL;
    hot_status status = HOT_OK;
    if (layer->beside)
        return hot_scene_load_set(scene, path, held, &made->set);
    made->lines = hot_context_calloc(context, 1, sizeof *made->lines);
    if (!made->lines)
        return HOT_ERROR_MEMORY;
    if (hot_tracks_named(path))
        return load_tracks(context, path, fmin(scene->spacing[0], fmin(scene->spacing[1], scene->spacing[2])),
                           made->lines);
    if (hot_path_has_suffix(path, ".vtp") || hot_fixels_named(path) || hot_fiber_archive_named(path))
        held = "peaks";
    else if (!held)
        status = hot_file_content(context, path, &held);
    if (status != HOT_OK)
        return status;
    if (strcmp(held, "rgb") == 0 || strcmp(held, "dwi") == 0 || strcmp(held, "map") == 0) {
        hot_context_free(context, made->lines);
        made->lines = NULL;
        return load_image(scene, path, strcmp(held, "rgb") == 0 ? 3 : 1, made);
    }
    if (strcmp(held, "peaks") != 0 && strcmp(held, "dyads") != 0)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds %s, which cannot be an overlay; give the file "
                                "as a plain argument, or with beside=on", path,
                                strcmp(held, "sh") == 0 ? "spherical harmonics" : "tensors");
    return load_directions(context, path, layer->as[0] ? layer->as : NULL, made->lines);
}

/* A volume of the scene, a map of the run, or a file. */
static hot_status open_source(hot_scene *scene, const hot_view_layer *layer, hot_scene_source *made)
{
    char map[HOT_VIEW_SOURCE + 16];
    struct stat info;
    made->volume = layer->beside ? NULL : (hot_view_volume *)(uintptr_t)hot_scene_volume(scene, layer->source);
    if (made->volume)
        return HOT_OK;
    const int exists = stat(layer->source, &info) == 0;
    snprintf(map, sizeof map, "%s.nii.gz", layer->source);
    char *path = scene->run && !exists ? hot_path_join(scene->context, scene->run, map) : NULL;
    const int of_run = path && stat(path, &info) == 0;
    hot_status status = of_run || exists
        ? open_file(scene, of_run ? path : layer->source, layer, made)
        : hot_context_fail(scene->context, HOT_ERROR_FILE, "--overlay %s: there is no such file, nor an image of that "
                           "name%s", layer->source, scene->run ? ", nor a map of the run" : "");
    hot_context_free(scene->context, path);
    return status;
}

/* Streamlines among the scene's own files are layers, too. */
static hot_status add_own_tracks(hot_scene *scene, hot_view_state *state)
{
    hot_status status = HOT_OK;
    for (int p = 0; p < scene->paths && status == HOT_OK; p++) {
        int known = !hot_tracks_named(scene->path[p]);
        for (int n = 0; n < state->layers; n++)
            known |= strcmp(state->layer[n].source, scene->path[p]) == 0;
        if (!known)
            status = hot_view_state_add_layer(scene->context, scene->path[p], state);
    }
    return status;
}

hot_status hot_scene_open_layers(hot_scene *scene, hot_view_state *state)
{
    hot_status status = add_own_tracks(scene, state);
    int beside = 0;
    for (int n = 0; n < state->layers && status == HOT_OK; n++) {
        const hot_view_layer *layer = &state->layer[n];
        beside += layer->beside && layer->visible;
        if (beside > HOT_VIEW_BESIDE)
            return hot_context_fail(scene->context, HOT_ERROR_ARGUMENT, "'%s' is the fourth set beside the first; at "
                                    "most three are shown (visible=off hides one)", layer->source);
        if (hot_scene_layer_volume(scene, layer) || hot_scene_layer_lines(scene, layer) ||
            hot_scene_layer_set(scene, layer))
            continue;
        if (scene->sources == HOT_SCENE_SOURCES)
            return hot_context_fail(scene->context, HOT_ERROR_ARGUMENT, "--overlay %s: more than %d files were opened",
                                    layer->source, HOT_SCENE_SOURCES);
        hot_scene_source *made = &scene->source[scene->sources];
        memset(made, 0, sizeof *made);
        memcpy(made->name, layer->source, sizeof made->name);
        memcpy(made->as, layer->as, sizeof made->as);
        status = open_source(scene, layer, made);
        scene->sources++; /* freed with the scene */
        scene->changes++;
        if (status != HOT_OK)
            hot_scene_drop_source(scene);
    }
    return status;
}

/* ---- Maps of a run ---------------------------------------------------------------------------------------- */

const char *hot_scene_map(const hot_scene *scene, int number)
{
    static const char *const names[] = {"fa", "md", "nfibers", "gfa", "ad", "rd", "tissues", "noise", "mask"};
    struct stat info;
    for (size_t n = 0; n < sizeof names / sizeof names[0] && scene->run; n++) {
        char name[32];
        snprintf(name, sizeof name, "%s.nii.gz", names[n]);
        char *path = hot_path_join(scene->context, scene->run, name);
        const int there = path && stat(path, &info) == 0 && !hot_scene_volume(scene, names[n]);
        hot_context_free(scene->context, path);
        if (there && number-- == 0)
            return names[n];
    }
    return NULL;
}
