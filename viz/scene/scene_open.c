#include "scene_open.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int is_same_grid(const hot_grid *a, const hot_grid *b)
{
    return memcmp(a->size, b->size, sizeof a->size) == 0 && a->space == b->space &&
           memcmp(a->to_world, b->to_world, sizeof a->to_world) == 0;
}

/* Resets the view for another grid. */
static void reset_view(hot_view_state *state)
{
    hot_view_state fresh;
    hot_view_state_default(&fresh);
    memcpy(state->voxel, fresh.voxel, sizeof fresh.voxel);
    memcpy(state->center, fresh.center, sizeof fresh.center);
    memcpy(state->tilt, fresh.tilt, sizeof fresh.tilt);
    state->zoom = fresh.zoom;
    state->threshold = fresh.threshold; /* in units of the data */
}

hot_status hot_scene_fit_state(hot_context *context, const hot_scene *old, hot_scene *scene, hot_view_state *state)
{
    if (!is_same_grid(&old->grid, &scene->grid))
        reset_view(state);
    if (strcmp(state->background, "none") && !hot_scene_volume(scene, state->background)) {
        strcpy(state->background, "auto");
        state->window[0] = state->window[1] = NAN;
        state->frame = -1;
    }
    if (!hot_scene_volume(scene, state->color_by)) {
        strcpy(state->color_by, "auto");
        state->color_range[0] = state->color_range[1] = NAN;
    }
    hot_status status = hot_view_state_resolve(context, scene, state);
    if (status == HOT_OK)
        status = hot_scene_open_layers(scene, state);
    if (status == HOT_OK || status == HOT_ERROR_MEMORY || is_same_grid(&old->grid, &scene->grid))
        return status;
    memset(state->layer, 0, sizeof state->layer); /* those of other data, elsewhere */
    state->layers = 0;
    return hot_scene_open_layers(scene, state);
}

static hot_status open_paths(hot_context *context, const hot_scene *old, const char *mask, const char *const *paths,
                             int count, hot_view_state *state, hot_scene **scene)
{
    hot_view_state fitted = *state;
    /* --as applies to the old files only; the content of dropped files is detected */
    const int same = count >= old->paths && old->paths > 0 && strcmp(paths[0], old->path[0]) == 0;
    const char *content = same && old->content[0] ? old->content : NULL;
    const hot_scene_reading reading = {mask, content, same && old->basis[0] ? old->basis : NULL,
                                       same && old->frame[0] ? old->frame : NULL};
    hot_status status = hot_scene_load_with(context, paths, count, &reading, scene);
    if (status == HOT_OK)
        status = hot_scene_fit_state(context, old, *scene, &fitted);
    if (status != HOT_OK)
        hot_scene_destroy(scene);
    else
        *state = fitted;
    return status;
}

hot_status hot_scene_reload(hot_context *context, const hot_scene *old, const char *mask, hot_view_state *state,
                                hot_scene **scene)
{
    *scene = NULL;
    if (old->paths == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the scene has no files to read again");
    return open_paths(context, old, mask, (const char *const *)old->path, old->paths, state, scene);
}

static int has_glyphs(const hot_scene *scene) { return scene->order || scene->max_fibers; }

/* Makes the added image the background. */
static void show_new_image(const hot_scene *old, const hot_scene *scene, hot_view_state *state)
{
    for (int v = 0; v < scene->volumes; v++) {
        int known = 0;
        for (int o = 0; o < old->volumes; o++)
            known |= strcmp(scene->volume[v].name, old->volume[o].name) == 0;
        if (!known) {
            strcpy(state->background, scene->volume[v].name);
            state->window[0] = state->window[1] = NAN;
            state->frame = -1;
            state->show_image = 1;
        }
    }
}

hot_status hot_scene_open_dropped(hot_context *context, const hot_scene *old, const char *mask,
                                  const char *const *paths, int count, hot_view_state *state, hot_scene **scene)
{
    const char *together[HOT_SCENE_PATHS];
    const hot_view_state before = *state;
    char first[512];
    *scene = NULL;
    if (count < 1 || count > HOT_SCENE_PATHS)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "%d files were dropped: 1 to %d can be opened at once",
                                count, HOT_SCENE_PATHS);
    /* the mask may belong to the old files: retry without it */
    hot_status status = open_paths(context, old, mask, paths, count, state, scene);
    if (status != HOT_OK && status != HOT_ERROR_MEMORY && mask)
        status = open_paths(context, old, NULL, paths, count, state, scene);
    /* images without glyphs are added to the glyphs on display, streamlines alone to anything */
    const int images = status == HOT_OK && !has_glyphs(*scene) && (has_glyphs(old) || (*scene)->volumes == 0);
    if ((status == HOT_OK && !images) || status == HOT_ERROR_MEMORY || old->paths == 0 ||
        old->paths + count > HOT_SCENE_PATHS)
        return status;
    if (images) {
        hot_scene_destroy(scene);
        *state = before;
    }
    snprintf(first, sizeof first, "%s", hot_context_message(context));
    for (int p = 0; p < old->paths; p++)
        together[p] = old->path[p];
    memcpy(together + old->paths, paths, (size_t)count * sizeof *paths);
    const hot_status both = open_paths(context, old, mask, together, old->paths + count, state, scene);
    if (both == HOT_OK)
        show_new_image(old, *scene, state);
    return both == HOT_OK || images ? both : hot_context_fail(context, status, "%s", first);
}
