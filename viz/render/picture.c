#include "picture.h"

#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

#include "common/free.h"
#include "headless.h"
#include "io/common/output.h"
#include "io/picture/plane.h"
#include "overlay/overlay.h"

struct hot_pictures {
    hot_context *context;
    int width, height, samples;
    int part[2];  /* width and height of the framebuffer; smaller than the picture: it is drawn in parts */
    double dpi;
    hot_headless *headless;
    hot_renderer *renderer;
    hot_overlay *overlay;
    uint8_t *rgb;   /* of hot_pictures_draw; NULL until then */
    uint8_t *piece; /* a part, 4 bytes per pixel */
};

/* The side of the largest part: the rasteriser's texture holds each sample in a texel. */
static int max_side(int samples)
{
    enum { MAX_SIDE = 4096 };
    GLint texture = 0, buffer = 0, view[2] = {0};
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &texture);
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &buffer);
    glGetIntegerv(GL_MAX_VIEWPORT_DIMS, view);
    const double side = fmin(texture / fmax(1, samples), fmin(buffer, fmin(view[0], view[1])));
    return (int)fmin(MAX_SIDE, side);
}

hot_status hot_pictures_limit_part(hot_pictures *pictures, int side)
{
    enum { BAND = 64 << 20 }; /* pixels of a row of parts, which is held in memory */
    hot_context *context = pictures->context;
    const int high = BAND / pictures->width < side ? BAND / pictures->width : side;
    pictures->part[0] = pictures->width < side ? pictures->width : side;
    pictures->part[1] = pictures->height < high ? pictures->height : high;
    hot_context_free(context, pictures->piece);
    pictures->piece = hot_context_alloc(context, (size_t)pictures->part[0] * (size_t)pictures->part[1], 4);
    if (!pictures->piece)
        return HOT_ERROR_MEMORY;
    return hot_headless_resize(pictures->headless, pictures->part[0], pictures->part[1], pictures->samples);
}

static hot_status create(hot_context *context, int width, int height, int samples, int here, hot_pictures **pictures)
{
    *pictures = NULL;
    hot_pictures *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = (hot_pictures){.context = context, .width = width, .height = height, .samples = samples};
    hot_status status = here ? hot_headless_adopt(context, &made->headless)
                             : hot_headless_create(context, &made->headless);
    if (status == HOT_OK)
        status = hot_renderer_create(context, &made->renderer);
    if (status == HOT_OK)
        status = hot_pictures_limit_part(made, max_side(samples));
    if (status == HOT_OK)
        status = hot_overlay_create(context, &made->overlay);
    if (status != HOT_OK)
        hot_pictures_destroy(&made);
    *pictures = made;
    return status;
}

hot_status hot_pictures_create(hot_context *context, int width, int height, int samples, hot_pictures **pictures)
{
    return create(context, width, height, samples, 0, pictures);
}

hot_status hot_pictures_create_here(hot_context *context, int width, int height, int samples, hot_pictures **pictures)
{
    return create(context, width, height, samples, 1, pictures);
}

void hot_pictures_destroy(hot_pictures **pictures)
{
    HOT_DESTROY_BEGIN(hot_pictures, pictures);
    hot_overlay_destroy(&gone->overlay);
    hot_renderer_destroy(&gone->renderer);
    hot_headless_destroy(&gone->headless);
    HOT_FREE(gone->context, gone->rgb, gone->piece, gone);
}

hot_renderer *hot_pictures_renderer(hot_pictures *pictures) { return pictures->renderer; }

void hot_pictures_set_dpi(hot_pictures *pictures, double dpi) { pictures->dpi = dpi; }

double hot_picture_pixel_ratio(int width, int height)
{
    const hot_view_setting *setting = hot_view_setting_find("pixel_ratio");
    return fmin(fmax(1, fmin(width / 1024., height / 768.)), setting->high);
}

/* Draws one row of parts, from row `top` of the picture on, into `band`: width x rows x channels bytes. NULL: reads
 * nothing. */
static hot_status draw_band(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                            const hot_overlay_mesh *mesh, int top, int channels, uint8_t *band)
{
    const int width = pictures->width, rest = pictures->height - top;
    const int rows = rest < pictures->part[1] ? rest : pictures->part[1];
    hot_status status = HOT_OK;
    for (int left = 0; left < width && status == HOT_OK; left += pictures->part[0]) {
        const int columns = width - left < pictures->part[0] ? width - left : pictures->part[0];
        const int part[4] = {left, top, columns, rows};
        const size_t row = (size_t)channels * (size_t)columns;
        hot_headless_bind(pictures->headless);
        status = hot_renderer_draw_part(pictures->renderer, scene, state, width, pictures->height, part, mesh);
        if (status == HOT_OK)
            hot_headless_resolve(pictures->headless);
        if (status != HOT_OK || !band)
            continue;
        status = hot_renderer_read(pictures->renderer, columns, rows, channels, pictures->piece);
        for (int r = 0; r < rows && status == HOT_OK; r++)
            memcpy(band + ((size_t)r * (size_t)width + (size_t)left) * (size_t)channels,
                   pictures->piece + (size_t)r * row, row);
        if (status == HOT_OK)
            status = hot_context_check(pictures->context, "drawing a picture");
    }
    return status;
}

static hot_status prepare(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                          const hot_overlay_mesh **mesh)
{
    hot_status status = hot_overlay_build(pictures->overlay, scene, state, pictures->width, pictures->height, mesh);
    if (status == HOT_OK && hot_renderer_needs_depth(pictures->renderer, scene, state))
        status = hot_headless_add_depth(pictures->headless);
    return status;
}

hot_status hot_pictures_draw(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const uint8_t **rgb)
{
    const hot_overlay_mesh *mesh = NULL;
    const size_t row = 3 * (size_t)pictures->width;
    if (rgb && !pictures->rgb)
        pictures->rgb = hot_context_alloc(pictures->context, (size_t)pictures->height, row);
    hot_status status = rgb && !pictures->rgb ? HOT_ERROR_MEMORY : prepare(pictures, scene, state, &mesh);
    for (int top = 0; top < pictures->height && status == HOT_OK; top += pictures->part[1])
        status = draw_band(pictures, scene, state, mesh, top, 3, rgb ? pictures->rgb + (size_t)top * row : NULL);
    if (status == HOT_OK && !rgb)
        glFinish();
    if (rgb)
        *rgb = pictures->rgb;
    return status;
}

struct saved {
    hot_pictures *pictures;
    const hot_scene *scene;
    const hot_view_state *state;
};

static hot_status write_png(hot_context *context, FILE *file, const void *given)
{
    const struct saved *saved = given;
    hot_pictures *pictures = saved->pictures;
    const int width = pictures->width, height = pictures->height, channels = saved->state->transparent ? 4 : 3;
    const hot_overlay_mesh *mesh = NULL;
    hot_png_stream *png = NULL;
    uint8_t *band = hot_context_alloc(context, (size_t)width * (size_t)pictures->part[1], (size_t)channels);
    hot_status status = band ? prepare(pictures, saved->scene, saved->state, &mesh) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_png_stream_begin(context, file, width, height, channels, pictures->dpi, &png);
    for (int top = 0; top < height && status == HOT_OK; top += pictures->part[1]) {
        const int rows = height - top < pictures->part[1] ? height - top : pictures->part[1];
        status = draw_band(pictures, saved->scene, saved->state, mesh, top, channels, band);
        if (status == HOT_OK)
            status = hot_png_stream_rows(png, band, rows);
    }
    hot_context_free(context, band);
    return hot_png_stream_end(&png, status);
}

hot_status hot_pictures_put(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state, FILE *file)
{
    return write_png(pictures->context, file, &(struct saved){pictures, scene, state});
}

hot_status hot_pictures_save(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const char *path)
{
    return hot_output_write(pictures->context, path, write_png, &(struct saved){pictures, scene, state});
}
