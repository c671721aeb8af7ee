#include "render.h"

#include <stdio.h>
#include <string.h>

#include "common/free.h"
#include "render_parts.h"

struct hot_renderer {
    hot_context *context;
    char device[128];
    hot_glyph_renderer glyphs;
    hot_image_renderer image;
    hot_overlay_renderer overlay;
    hot_render_counts counts;
};

int hot_renderer_is_software(const char *device)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "SWR", "Software Rasterizer", "SwiftShader",
                                        "Microsoft Basic Render"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        if (strstr(device, names[n]))
            return 1;
    return 0;
}

int hot_render_in_software(void)
{
    const char *device = (const char *)glGetString(GL_RENDERER);
    return device && hot_renderer_is_software(device);
}

hot_status hot_renderer_create(hot_context *context, hot_renderer **renderer)
{
    *renderer = NULL;
    if (epoxy_gl_version() < 33)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "OpenGL 3.3 is required; this driver has %d.%d",
                                epoxy_gl_version() / 10, epoxy_gl_version() % 10);
    hot_renderer *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    const char *name = (const char *)glGetString(GL_RENDERER);
    snprintf(made->device, sizeof made->device, "%s", name ? name : "unknown");
    made->glyphs.software = hot_render_in_software();
    made->glyphs.prefers_compute = !made->glyphs.software && hot_tiles_in_one_pass();
    *renderer = made;
    return HOT_OK;
}

void hot_renderer_destroy(hot_renderer **renderer)
{
    HOT_DESTROY_BEGIN(hot_renderer, renderer);
    hot_glyphs_free(gone->context, &gone->glyphs);
    hot_image_free(&gone->image);
    hot_overlay_renderer_free(&gone->overlay);
    hot_context_free(gone->context, gone);
}

void hot_renderer_invalidate(hot_renderer *renderer)
{
    hot_glyphs_invalidate(renderer->context, &renderer->glyphs);
    hot_image_invalidate(&renderer->image);
}

int hot_renderer_needs_depth(const hot_renderer *renderer, const hot_scene *scene, const hot_view_state *state)
{
    int needs = state->mode != HOT_VIEW_SINGLE || hot_glyphs_need_depth(&renderer->glyphs, scene, state);
    for (int n = 0; n < state->layers && !needs; n++) {
        const hot_scene *set = hot_scene_layer_set(scene, &state->layer[n]);
        needs = set && hot_glyphs_need_depth(&renderer->glyphs, set, state);
    }
    return needs;
}

/* Returns the lower edge of the viewport: OpenGL counts rows from the bottom. */
static int set_viewport(const hot_viewport *viewport, int height)
{
    const GLint bottom = height - (GLint)(viewport->y + viewport->height);
    glViewport((GLint)viewport->x, bottom, (GLsizei)viewport->width, (GLsizei)viewport->height);
    glScissor((GLint)viewport->x, bottom, (GLsizei)viewport->width, (GLsizei)viewport->height);
    return bottom;
}

hot_status hot_renderer_draw(hot_renderer *renderer, const hot_scene *scene, const hot_view_state *state, int width,
                             int height, const hot_overlay_mesh *overlay)
{
    return hot_renderer_draw_part(renderer, scene, state, width, height, (const int[4]){0, 0, width, height}, overlay);
}

hot_status hot_renderer_draw_part(hot_renderer *renderer, const hot_scene *scene, const hot_view_state *state,
                                  int picture_width, int picture_height, const int part[4],
                                  const hot_overlay_mesh *overlay)
{
    hot_context *context = renderer->context;
    hot_view_layout whole, layout;
    hot_view_state shown;
    const int width = part[2], height = part[3];
    const float opaque = state->transparent ? 0 : 1;
    memset(&renderer->counts, 0, sizeof renderer->counts);
    if (width < 1 || height < 1)
        return HOT_OK; /* window systems allow this */
    hot_view_lay_out(scene, state, picture_width, picture_height, &whole);
    if (width == picture_width && height == picture_height)
        layout = whole;
    else
        hot_view_lay_out_part(&whole, part[0], part[1], width, height, &layout);
    hot_status status = hot_image_prepare(context, &renderer->image, scene, state);
    for (int v = 0; v < layout.count && status == HOT_OK; v++) {
        const hot_viewport *viewport = &layout.viewport[v];
        hot_viewport_state(viewport, state, &shown);
        if (viewport->width > 0)
            status = hot_glyphs_prepare(context, &renderer->glyphs, v, hot_viewport_glyphs_of(viewport, scene, state),
                                        &shown, viewport);
    }
    if (status != HOT_OK)
        return status;
    glDisable(GL_SCISSOR_TEST);
    glViewport(0, 0, width, height);
    /* transparent: colours are multiplied by alpha, as blending adds them */
    glClearColor(opaque * (float)state->canvas[0], opaque * (float)state->canvas[1], opaque * (float)state->canvas[2],
                 opaque);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LESS);
    glEnable(GL_SCISSOR_TEST);
    for (int v = 0; v < layout.count && status == HOT_OK; v++) {
        const hot_viewport *viewport = &layout.viewport[v];
        if (viewport->width <= 0) /* outside this part */
            continue;
        const int bottom = set_viewport(viewport, height);
        status = hot_image_draw(context, &renderer->image, scene, state, viewport);
        hot_viewport_state(viewport, state, &shown);
        if (status == HOT_OK)
            status = hot_glyphs_draw(context, &renderer->glyphs, v, hot_viewport_glyphs_of(viewport, scene, state),
                                     &shown, viewport, bottom, &renderer->counts);
    }
    glDisable(GL_SCISSOR_TEST);
    glViewport(0, 0, width, height);
    if (overlay && status == HOT_OK)
        status = hot_overlay_draw(context, &renderer->overlay, overlay, part);
    glBindVertexArray(0);
    return status == HOT_OK ? hot_gl_check(context, "drawing") : status;
}

const hot_render_counts *hot_renderer_counts(const hot_renderer *renderer) { return &renderer->counts; }

const char *hot_renderer_device(const hot_renderer *renderer) { return renderer->device; }

/* Divides colours by their alpha. */
static void unmultiply(uint8_t *rgba, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++, rgba += 4)
        for (int c = 0; c < 3 && rgba[3] > 0 && rgba[3] < 255; c++) {
            const unsigned value = (rgba[c] * 255U + rgba[3] / 2U) / rgba[3];
            rgba[c] = (uint8_t)(value < 255 ? value : 255);
        }
}

hot_status hot_renderer_read(hot_renderer *renderer, int width, int height, int channels, uint8_t *rgb)
{
    const size_t row = (size_t)channels * (size_t)width;
    uint8_t *swap = hot_context_alloc(renderer->context, row, 1);
    if (!swap)
        return HOT_ERROR_MEMORY;
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width, height, channels == 4 ? GL_RGBA : GL_RGB, GL_UNSIGNED_BYTE, rgb);
    if (channels == 4)
        unmultiply(rgb, (size_t)width * (size_t)height);
    for (size_t low = 0, high = (size_t)height - 1; low < high; low++, high--) {
        memcpy(swap, rgb + low * row, row);
        memcpy(rgb + low * row, rgb + high * row, row);
        memcpy(rgb + high * row, swap, row);
    }
    hot_context_free(renderer->context, swap);
    return hot_gl_check(renderer->context, "reading the picture");
}
