/* Draws slices of images behind the glyphs: the background, and the layers over it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/flow.h"
#include "scene/glyph_size.h"
#include "render_parts.h"

static void wrap_to_edge(GLuint *texture, GLint filter)
{
    if (!*texture)
        glGenTextures(1, texture);
    glBindTexture(GL_TEXTURE_3D, *texture);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_R, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, filter);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, filter);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
}

/* Uploads a volume as floats, slice by slice: no copy of the whole volume is made. */
static hot_status upload(hot_context *context, hot_image_slot *slot, const hot_scene *scene,
                         const hot_view_volume *volume)
{
    const size_t *size = volume->own_grid ? volume->size : scene->grid.size, slab = size[0] * size[1],
                 components = (size_t)volume->components;
    const GLenum format = components == 3 ? GL_RGB : GL_RED;
    GLint max_size = 0;
    glGetIntegerv(GL_MAX_3D_TEXTURE_SIZE, &max_size);
    for (int d = 0; d < 3; d++)
        if (size[d] > (size_t)max_size)
            return hot_context_fail(
                context, HOT_ERROR_DEVICE,
                "this OpenGL driver is limited to images of %d voxels per side, not %zu; use --image off",
                max_size, size[d]);
    float *values = hot_context_alloc(context, slab, components * sizeof *values);
    if (!values)
        return HOT_ERROR_MEMORY;
    while (glGetError() != GL_NO_ERROR) { /* errors below belong to this upload */
    }
    wrap_to_edge(&slot->texture, GL_LINEAR);
    /* half floats suffice for colours; dividing by the window's white avoids overflow */
    const double white = components == 3 ? volume->window[1] : 1;
    glTexImage3D(GL_TEXTURE_3D, 0, components == 3 ? GL_RGB16F : GL_R32F, (GLsizei)size[0], (GLsizei)size[1],
                 (GLsizei)size[2], 0, format, GL_FLOAT, NULL);
    hot_status status = hot_gl_check(context, "the upload of an image");
    for (size_t k = 0; k < size[2] && status == HOT_OK; k++) {
        for (size_t v = 0; v < slab; v++) {
            float *to = values + v * components;
            if (volume->own_grid)
                memcpy(to, volume->values + (k * slab + v) * components, components * sizeof *to);
            else
                hot_scene_value(scene, volume, k * slab + v, to);
            for (size_t c = 0; c < components; c++)
                to[c] = isfinite(to[c]) ? (float)(to[c] / white) : 0;
        }
        glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, (GLint)k, (GLsizei)size[0], (GLsizei)size[1], 1, format, GL_FLOAT,
                        values);
    }
    if (status == HOT_OK)
        status = hot_gl_check(context, "the upload of an image");
    hot_context_free(context, values);
    return status;
}

/* Bytes other than 0 become 255. The image's upload has checked the sides. */
static hot_status upload_mask(hot_context *context, hot_image_renderer *image, const hot_scene *scene)
{
    const size_t *size = scene->grid.size, slab = size[0] * size[1];
    uint8_t *bytes = hot_context_alloc(context, slab, 1);
    if (!bytes)
        return HOT_ERROR_MEMORY;
    while (glGetError() != GL_NO_ERROR) { /* errors below belong to this upload */
    }
    wrap_to_edge(&image->mask, GL_NEAREST);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_R8, (GLsizei)size[0], (GLsizei)size[1], (GLsizei)size[2], 0, GL_RED,
                 GL_UNSIGNED_BYTE, NULL);
    for (size_t k = 0; k < size[2]; k++) {
        for (size_t v = 0; v < slab; v++)
            bytes[v] = scene->mask[k * slab + v] ? 255 : 0;
        glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, (GLint)k, (GLsizei)size[0], (GLsizei)size[1], 1, GL_RED,
                        GL_UNSIGNED_BYTE, bytes);
    }
    hot_context_free(context, bytes);
    hot_status status = hot_gl_check(context, "the upload of the mask");
    if (status == HOT_OK)
        image->mask_scene = scene->serial;
    return status;
}

/* The image of a slot: 0 = the background, n = layer n - 1. NULL: it is not shown. */
static const hot_view_volume *shown_in(const hot_scene *scene, const hot_view_state *state, int n)
{
    if (n == 0)
        return state->show_image ? hot_scene_volume(scene, state->background) : NULL;
    const hot_view_layer *layer = &state->layer[n - 1];
    return n <= state->layers && layer->visible ? hot_scene_layer_volume(scene, layer) : NULL;
}

static hot_status prepare_slot(hot_context *context, hot_image_slot *slot, const hot_scene *scene,
                               const hot_view_volume *volume)
{
    if (!volume || (slot->scene == scene->serial && slot->volume == volume && slot->frame == volume->frame))
        return HOT_OK;
    slot->volume = NULL;
    hot_status status = upload(context, slot, scene, volume);
    if (status == HOT_OK) {
        slot->scene = scene->serial;
        slot->volume = volume;
        slot->frame = volume->frame;
    }
    return status;
}

hot_status hot_image_prepare(hot_context *context, hot_image_renderer *image, const hot_scene *scene,
                             const hot_view_state *state)
{
    hot_status status = HOT_OK;
    if (!image->empty_array)
        glGenVertexArrays(1, &image->empty_array);
    for (int n = 0; n <= HOT_VIEW_LAYERS && status == HOT_OK; n++)
        status = prepare_slot(context, &image->slot[n], scene, shown_in(scene, state, n));
    if (status == HOT_OK && shown_in(scene, state, 0) && scene->mask && image->mask_scene != scene->serial)
        status = upload_mask(context, image, scene);
    return status;
}

void hot_image_invalidate(hot_image_renderer *image)
{
    image->mask_scene = 0;
    for (int n = 0; n <= HOT_VIEW_LAYERS; n++)
        image->slot[n].volume = NULL;
}

/* Two perpendicular vectors in a plane, each longer than the grid's diagonal. */
static void span(const hot_scene *scene, const double normal[3], double across[3], double along[3])
{
    double low[3], high[3], reach = 0, length = 0;
    int smallest = 0;
    hot_scene_bounds(scene, low, high);
    for (int d = 0; d < 3; d++) {
        reach += (high[d] - low[d]) * (high[d] - low[d]);
        if (fabs(normal[d]) < fabs(normal[smallest]))
            smallest = d;
    }
    reach = sqrt(reach);
    for (int d = 0; d < 3; d++)
        across[d] = (d == smallest) - normal[d] * normal[smallest];
    for (int d = 0; d < 3; d++)
        length += across[d] * across[d];
    for (int d = 0; d < 3; d++)
        across[d] *= reach / sqrt(length);
    for (int d = 0; d < 3; d++)
        along[d] = normal[(d + 1) % 3] * across[(d + 2) % 3] - normal[(d + 2) % 3] * across[(d + 1) % 3];
}

static void draw_plane(GLuint program, const hot_scene *scene, const double point[3], const double normal[3])
{
    double across[3], along[3];
    span(scene, normal, across, along);
    hot_program_vec3(program, "point", point);
    hot_program_vec3(program, "across", across);
    hot_program_vec3(program, "along", along);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static void column_major(const double from_ras[3][4], double matrix[16])
{
    memset(matrix, 0, 16 * sizeof *matrix);
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 3; r++)
            matrix[4 * c + r] = from_ras[r][c];
    matrix[15] = 1;
}

/* Values up to `floor`, and voxels outside the mask, are left out. */
static void set_hollow(const hot_image_renderer *image, GLuint program, const hot_scene *scene, double floor)
{
    const size_t *size = scene->grid.size;
    double matrix[16];
    column_major(scene->from_ras, matrix);
    hot_program_float(program, "floor_value", floor);
    hot_program_int(program, "masked", image->mask_scene == scene->serial);
    hot_program_int(program, "mask", 1);
    hot_program_matrix(program, "mask_from_ras", matrix);
    hot_program_vec3(program, "mask_voxels", (const double[3]){(double)size[0], (double)size[1], (double)size[2]});
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_3D, image->mask);
    glActiveTexture(GL_TEXTURE0);
}

/* How an image is drawn, apart from its geometry. */
typedef struct image_style {
    double window[2], threshold, opacity;
    int colormap, labels, outline, layer, blend;
} image_style;

static image_style style_of(const hot_view_state *state, const hot_view_volume *volume, int n)
{
    image_style style = {.opacity = state->opacity, .colormap = HOT_COLORMAP_GREY, .threshold = NAN};
    if (n == 0) {
        hot_volume_window(volume, state->window, style.window);
        return style;
    }
    const hot_view_layer *layer = &state->layer[n - 1];
    style = (image_style){.threshold = layer->threshold, .opacity = layer->opacity, .colormap = layer->colormap,
                          .outline = layer->outline, .layer = 1, .blend = layer->blend};
    if (layer->colormap == HOT_COLORMAP_AUTO)
        style.colormap = volume->labels ? HOT_COLORMAP_LABELS : HOT_COLORMAP_HOT;
    style.labels = style.colormap == HOT_COLORMAP_LABELS;
    hot_layer_window(volume, layer, style.window);
    return style;
}

static void set_style(GLuint program, const hot_view_volume *volume, const hot_viewport *viewport,
                      const hot_view_state *state, const image_style *style)
{
    const double white = volume->components == 3 ? volume->window[1] : 1;
    double right[3], up[3];
    glUniform2f(glGetUniformLocation(program, "window"), (float)(style->window[0] / white),
                (float)(white / (style->window[1] - style->window[0])));
    hot_program_int(program, "colored", volume->components == 3);
    hot_program_int(program, "has_threshold", !isnan(style->threshold));
    hot_program_float(program, "threshold", isnan(style->threshold) ? 0 : style->threshold / white);
    hot_program_float(program, "opacity", style->opacity);
    for (int d = 0; d < 3; d++) { /* the width of an outline */
        right[d] = 1.5 * state->pixel_ratio * viewport->mm_per_pixel * viewport->right[d];
        up[d] = 1.5 * state->pixel_ratio * viewport->mm_per_pixel * viewport->up[d];
    }
    hot_program_vec3(program, "pixel_right", right);
    hot_program_vec3(program, "pixel_up", up);
}

static void draw_planes(GLuint program, const hot_scene *scene, const hot_view_state *state,
                        const hot_viewport *viewport, int layer)
{
    if (!viewport->space) {
        /* behind every glyph of the slice, at any depth */
        hot_program_float(program, "farther", 0);
        glDepthMask(GL_FALSE);
        glDisable(GL_DEPTH_TEST);
        draw_plane(program, scene, viewport->point, viewport->normal);
        glEnable(GL_DEPTH_TEST);
        glDepthMask(GL_TRUE);
        return;
    }
    glDepthFunc(layer ? GL_LEQUAL : GL_LESS); /* over the background, at its depth */
    hot_program_float(program, "farther", HOT_SLICE_BEHIND * hot_scene_typical_mm(scene, state) / viewport->depth);
    for (int axis = 0; axis < 3; axis++) {
        double normal[3], length = 0;
        for (int d = 0; d < 3; d++) {
            normal[d] = scene->from_ras[axis][d];
            length += normal[d] * normal[d];
        }
        for (int d = 0; d < 3; d++)
            normal[d] /= sqrt(length);
        draw_plane(program, scene, viewport->point, normal);
    }
    glDepthFunc(GL_LESS);
}

/* The variant that draws this style, compiled when it is first used. */
static hot_status find_program(hot_context *context, hot_image_renderer *image, const image_style *style, int hollow,
                               GLuint *program)
{
    const int outline = style->layer && style->outline, colormap = style->layer ? style->colormap : HOT_COLORMAP_GREY;
    GLuint *kept = &image->program[style->layer | hollow << 1 | outline << 2 | colormap << 3];
    hot_status status = HOT_OK;
    if (!*kept) {
        char head[120];
        snprintf(head, sizeof head, "#define LAYER %d\n#define HOLLOW %d\n#define OUTLINE %d\n#define COLORMAP %d\n",
                 style->layer, hollow, outline, colormap);
        status = hot_program_create(context, "image", "", hot_shader_image_vert, head, hot_shader_image_frag, kept);
    }
    *program = *kept;
    return status;
}

static hot_status draw_slot(hot_context *context, hot_image_renderer *image, const hot_scene *scene,
                            const hot_view_state *state, const hot_viewport *viewport, int n)
{
    const hot_view_volume *volume = image->slot[n].volume;
    if (!volume || shown_in(scene, state, n) != volume)
        return HOT_OK;
    double matrix[16];
    const double white = volume->components == 3 ? volume->window[1] : 1;
    const image_style style = style_of(state, volume, n);
    /* on white paper, dark voxels would be a grey box around the head */
    const int paper = state->transparent || state->canvas[0] + state->canvas[1] + state->canvas[2] > 1.5;
    const int hollow = !style.layer && (viewport->space || paper);
    GLuint program;
    HOT_TRY(find_program(context, image, &style, hollow, &program));
    column_major(volume->own_grid ? volume->from_ras : scene->from_ras, matrix);
    glUseProgram(program);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_3D, image->slot[n].texture);
    const GLint filter = state->interpolate && !style.labels && !style.outline ? GL_LINEAR : GL_NEAREST;
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, filter);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, filter);
    hot_program_int(program, "volume", 0);
    hot_program_matrix(program, "view", viewport->matrix);
    hot_program_matrix(program, "from_ras", matrix);
    const size_t *size = volume->own_grid ? volume->size : scene->grid.size;
    hot_program_vec3(program, "voxels", (const double[3]){(double)size[0], (double)size[1], (double)size[2]});
    set_style(program, volume, viewport, state, &style);
    hot_program_vec3(program, "canvas", state->canvas);
    if (hollow)
        set_hollow(image, program, scene, hot_volume_floor(style.window) / white);
    glBindVertexArray(image->empty_array);
    if (style.layer) {
        glEnable(GL_BLEND);
        glBlendFuncSeparate(GL_SRC_ALPHA, style.blend == HOT_BLEND_ADD ? GL_ONE : GL_ONE_MINUS_SRC_ALPHA, GL_ONE,
                            GL_ONE_MINUS_SRC_ALPHA);
    }
    draw_planes(program, scene, state, viewport, style.layer);
    glDisable(GL_BLEND);
    return HOT_OK;
}

hot_status hot_image_draw(hot_context *context, hot_image_renderer *image, const hot_scene *scene,
                          const hot_view_state *state, const hot_viewport *viewport)
{
    hot_status status = HOT_OK;
    for (int n = 0; n <= state->layers && status == HOT_OK; n++)
        status = draw_slot(context, image, scene, state, viewport, n);
    return status;
}

void hot_image_free(hot_image_renderer *image)
{
    for (int p = 0; p < HOT_IMAGE_PROGRAMS; p++)
        glDeleteProgram(image->program[p]);
    for (int n = 0; n <= HOT_VIEW_LAYERS; n++)
        glDeleteTextures(1, &image->slot[n].texture);
    glDeleteTextures(1, &image->mask);
    glDeleteVertexArrays(1, &image->empty_array);
    memset(image, 0, sizeof *image);
}
