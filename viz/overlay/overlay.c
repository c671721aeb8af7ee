#include "overlay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/flow.h"
#include "common/free.h"
#include "overlay_parts.h"
#include "scene/pick.h"

struct hot_overlay {
    hot_context *context;
    hot_text *text;       /* NULL until text is needed */
    unsigned version;     /* of the atlas; counts its changes */
    hot_draw_list list;
    hot_overlay_mesh mesh;
    hot_overlay_vertex *vertices;
    struct {              /* inputs of `values` */
        const void *scene, *tensors, *peaks;
        double stamp;
        unsigned changes;
        int voxel[3];
        hot_view_layer layer[HOT_VIEW_LAYERS];
    } described;
    char *values;         /* description of the voxel; NULL = not computed */
    hot_context *values_context;
    char message[512];    /* "" = none */
};

hot_status hot_overlay_create(hot_context *context, hot_overlay **overlay)
{
    *overlay = hot_context_calloc(context, 1, sizeof **overlay);
    if (!*overlay)
        return HOT_ERROR_MEMORY;
    (*overlay)->context = context;
    return HOT_OK;
}

static void free_values(hot_overlay *overlay)
{
    if (overlay->values)
        hot_context_free(overlay->values_context, overlay->values);
    overlay->values = NULL;
}

void hot_overlay_destroy(hot_overlay **overlay)
{
    HOT_DESTROY_BEGIN(hot_overlay, overlay);
    free_values(gone);
    if (gone->text)
        hot_draw_list_free(&gone->list);
    hot_text_destroy(gone->context, &gone->text);
    HOT_FREE(gone->context, gone->vertices, gone);
}

int hot_overlay_set_message(hot_overlay *overlay, const char *message)
{
    char before[sizeof overlay->message];
    memcpy(before, overlay->message, sizeof before);
    snprintf(overlay->message, sizeof overlay->message, "%s", message ? message : "");
    return strcmp(before, overlay->message) != 0;
}

/* Creates the atlas for a text size. */
static hot_status ensure_text(hot_overlay *overlay, double scale)
{
    if (overlay->text && overlay->text->scale == scale)
        return HOT_OK;
    hot_text *made;
    HOT_TRY(hot_text_create(overlay->context, scale, &made));
    if (overlay->text)
        hot_draw_list_free(&overlay->list);
    hot_text_destroy(overlay->context, &overlay->text);
    overlay->text = made;
    overlay->version++;
    hot_draw_list_begin(overlay->context, made, &overlay->list);
    return HOT_OK;
}

/* Describes the crosshair's voxel again if it has moved or the data have changed. */
static hot_status update_values(hot_overlay *overlay, const hot_scene *scene, const hot_view_state *state)
{
    const int *voxel = state->voxel;
    const void *tensors = scene->tensors ? scene->tensors : scene->device_tensors;
    const int same = overlay->values && overlay->described.scene == scene &&
                     overlay->described.tensors == tensors && overlay->described.peaks == scene->peaks &&
                     overlay->described.stamp == scene->file_stamp &&
                     overlay->described.changes == scene->changes &&
                     memcmp(overlay->described.layer, state->layer, sizeof state->layer) == 0 &&
                     memcmp(overlay->described.voxel, voxel, sizeof overlay->described.voxel) == 0;
    if (same)
        return HOT_OK;
    free_values(overlay);
    overlay->values_context = scene->context;
    overlay->described.scene = scene;
    overlay->described.tensors = tensors;
    overlay->described.peaks = scene->peaks;
    overlay->described.stamp = scene->file_stamp;
    overlay->described.changes = scene->changes;
    memcpy(overlay->described.layer, state->layer, sizeof state->layer);
    memcpy(overlay->described.voxel, voxel, sizeof overlay->described.voxel);
    return hot_pick_describe(scene, state, voxel, &overlay->values);
}

static hot_status fill(hot_overlay *overlay, const hot_scene *scene, const hot_view_state *state, int width, int height)
{
    hot_view_layout layout;
    const hot_overlay_page page = {scene, state, &layout, &overlay->list, state->pixel_ratio};
    hot_status status = HOT_OK;
    hot_view_lay_out(scene, state, width, height, &layout);
    for (int v = 0; v < layout.count && state->show_annotations; v++) {
        const hot_viewport *viewport = &layout.viewport[v];
        if (state->show_crosshair)
            hot_overlay_add_crosshair(&page, viewport);
        hot_overlay_add_orientation(&page, viewport);
        hot_overlay_add_caption(&page, viewport);
        if (v == 0 && !state->show_values) /* the panel of values is in the same place */
            hot_overlay_add_in_force(&page, viewport);
        if (v == 0 || (viewport->space && !layout.panes)) /* linked planes, and panes, share one scale */
            hot_overlay_add_scale_bar(&page, viewport);
    }
    for (int v = 1; v < layout.count; v++) { /* separators between the views, at their left and upper edges */
        const hot_viewport *at = &layout.viewport[v];
        const double thick = fmax(1, round(page.unit)), right = at->x + at->width, bottom = at->y + at->height;
        const hot_rgba color = {0.35f, 0.37f, 0.40f, 1};
        if (at->x > 0)
            hot_draw_rectangle(&overlay->list, at->x - thick, at->y, at->x, bottom, color, color);
        if (at->y > 0)
            hot_draw_rectangle(&overlay->list, at->x, at->y - thick, right, at->y, color, color);
    }
    if (state->show_annotations) {
        hot_overlay_add_status(&page);
        hot_overlay_add_legend(&page);
        if (state->show_values) {
            status = update_values(overlay, scene, state);
            if (status == HOT_OK)
                hot_overlay_add_values(&page, overlay->values);
        }
    }
    if (state->show_help)
        hot_overlay_add_help(&page);
    if (overlay->message[0])
        hot_overlay_add_message(&page, overlay->message);
    return status;
}

static int has_panes(const hot_scene *scene, const hot_view_state *state)
{
    for (int n = 0; n < state->layers; n++)
        if (state->layer[n].visible && hot_scene_layer_set(scene, &state->layer[n]))
            return 1;
    return 0;
}

hot_status hot_overlay_build(hot_overlay *overlay, const hot_scene *scene, const hot_view_state *state, int width,
                             int height, const hot_overlay_mesh **mesh)
{
    *mesh = NULL;
    overlay->mesh = (hot_overlay_mesh){0};
    if (!state->show_annotations && !state->show_help && !overlay->message[0] && state->mode != HOT_VIEW_PLANES &&
        !has_panes(scene, state)) {
        *mesh = &overlay->mesh; /* no text: works without a font */
        return HOT_OK;
    }
    HOT_TRY(ensure_text(overlay, state->pixel_ratio));
    hot_draw_list_clear(&overlay->list);
    HOT_TRY(fill(overlay, scene, state, width, height));
    hot_context_free(overlay->context, overlay->vertices);
    HOT_TRY(hot_draw_list_mesh(&overlay->list, &overlay->vertices, &overlay->mesh.count));
    overlay->mesh.vertices = overlay->vertices;
    overlay->mesh.atlas = overlay->text->pixels;
    overlay->mesh.atlas_width = overlay->text->width;
    overlay->mesh.atlas_height = overlay->text->height;
    overlay->mesh.atlas_version = overlay->version;
    *mesh = &overlay->mesh;
    return HOT_OK;
}
