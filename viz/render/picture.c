#include "picture.h"

#include <epoxy/gl.h>

#include "headless.h"
#include "io/common/output.h"
#include "io/picture/plane.h"
#include "overlay/overlay.h"

struct hot_pictures {
    hot_context *context;
    int width, height;
    hot_headless *headless;
    hot_renderer *renderer;
    hot_overlay *overlay;
    uint8_t *rgb;
};

hot_status hot_pictures_create(hot_context *context, int width, int height, int samples, hot_pictures **pictures)
{
    *pictures = NULL;
    hot_pictures *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = (hot_pictures){.context = context, .width = width, .height = height};
    hot_status status = hot_headless_create(context, &made->headless);
    if (status == HOT_OK)
        status = hot_renderer_create(context, &made->renderer);
    if (status == HOT_OK)
        status = hot_headless_resize(made->headless, width, height, samples);
    if (status == HOT_OK)
        status = hot_overlay_create(context, &made->overlay);
    if (status == HOT_OK) {
        made->rgb = hot_context_alloc(context, (size_t)width * (size_t)height, 3);
        status = made->rgb ? HOT_OK : HOT_ERROR_MEMORY;
    }
    if (status != HOT_OK)
        hot_pictures_destroy(&made);
    *pictures = made;
    return status;
}

void hot_pictures_destroy(hot_pictures **pictures)
{
    hot_pictures *gone = pictures ? *pictures : NULL;
    if (!gone)
        return;
    hot_overlay_destroy(&gone->overlay);
    hot_renderer_destroy(&gone->renderer);
    hot_headless_destroy(&gone->headless);
    hot_context_free(gone->context, gone->rgb);
    hot_context_free(gone->context, gone);
    *pictures = NULL;
}

hot_renderer *hot_pictures_renderer(hot_pictures *pictures) { return pictures->renderer; }

hot_status hot_pictures_draw(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const uint8_t **rgb)
{
    const hot_overlay_mesh *mesh = NULL;
    hot_status status = hot_overlay_build(pictures->overlay, scene, state, pictures->width, pictures->height, &mesh);
    if (status == HOT_OK && hot_renderer_needs_depth(pictures->renderer, scene, state))
        status = hot_headless_add_depth(pictures->headless);
    if (status == HOT_OK)
        status = hot_renderer_draw(pictures->renderer, scene, state, pictures->width, pictures->height, mesh);
    if (status == HOT_OK)
        hot_headless_resolve(pictures->headless);
    if (status == HOT_OK && !rgb)
        glFinish();
    if (status == HOT_OK && rgb) {
        status = hot_renderer_read(pictures->renderer, pictures->width, pictures->height, pictures->rgb);
        *rgb = pictures->rgb;
    }
    return status;
}

static hot_status write_png(hot_context *context, FILE *file, const void *given)
{
    const hot_pictures *pictures = given;
    return hot_png_put(context, pictures->rgb, pictures->width, pictures->height, 0, file);
}

hot_status hot_pictures_save(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const char *path)
{
    const uint8_t *rgb = NULL;
    hot_status status = hot_pictures_draw(pictures, scene, state, &rgb);
    return status == HOT_OK ? hot_output_write(pictures->context, path, write_png, pictures) : status;
}
