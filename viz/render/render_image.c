/* Draws slices of a volume behind the glyphs. */
#include <math.h>
#include <string.h>

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
static hot_status upload(hot_context *context, hot_image_renderer *image, const hot_scene *scene,
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
    wrap_to_edge(&image->texture, GL_LINEAR);
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

hot_status hot_image_prepare(hot_context *context, hot_image_renderer *image, const hot_scene *scene,
                             const hot_view_state *state)
{
    const hot_view_volume *volume = state->show_image ? hot_scene_volume(scene, state->background) : NULL;
    hot_status status = HOT_OK;
    if (!image->program) {
        status = hot_program_create(context, "image", "", hot_shader_image_vert, "", hot_shader_image_frag,
                                    &image->program);
        if (status == HOT_OK)
            glGenVertexArrays(1, &image->empty_array);
    }
    if (status == HOT_OK && volume &&
        (image->scene != scene->serial || image->volume != volume || image->frame != volume->frame)) {
        image->volume = NULL;
        status = upload(context, image, scene, volume);
        if (status == HOT_OK) {
            image->scene = scene->serial;
            image->volume = volume;
            image->frame = volume->frame;
        }
    }
    if (status == HOT_OK && volume && scene->mask && image->mask_scene != scene->serial)
        status = upload_mask(context, image, scene);
    return status;
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

/* hollow: leaves out values up to `floor`, and voxels outside the mask. */
static void set_hollow(const hot_image_renderer *image, const hot_scene *scene, int hollow, double floor)
{
    const size_t *size = scene->grid.size;
    double matrix[16];
    column_major(scene->from_ras, matrix);
    hot_program_int(image->program, "hollow", hollow);
    hot_program_float(image->program, "floor_value", floor);
    hot_program_int(image->program, "masked", image->mask_scene == scene->serial);
    hot_program_int(image->program, "mask", 1);
    hot_program_matrix(image->program, "mask_from_ras", matrix);
    hot_program_vec3(image->program, "mask_voxels",
                     (const double[3]){(double)size[0], (double)size[1], (double)size[2]});
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_3D, image->mask);
    glActiveTexture(GL_TEXTURE0);
}

void hot_image_draw(hot_image_renderer *image, const hot_scene *scene, const hot_view_state *state,
                    const hot_viewport *viewport)
{
    const hot_view_volume *volume = image->volume;
    if (!state->show_image || !volume || hot_scene_volume(scene, state->background) != volume)
        return;
    const GLuint program = image->program;
    double matrix[16], window[2];
    const double white = volume->components == 3 ? volume->window[1] : 1;
    column_major(volume->own_grid ? volume->from_ras : scene->from_ras, matrix);
    hot_volume_window(volume, state->window, window);
    glUseProgram(program);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_3D, image->texture);
    const GLint filter = state->interpolate ? GL_LINEAR : GL_NEAREST;
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, filter);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, filter);
    hot_program_int(program, "volume", 0);
    hot_program_matrix(program, "view", viewport->matrix);
    hot_program_matrix(program, "from_ras", matrix);
    const size_t *size = volume->own_grid ? volume->size : scene->grid.size;
    hot_program_vec3(program, "voxels", (const double[3]){(double)size[0], (double)size[1], (double)size[2]});
    glUniform2f(glGetUniformLocation(program, "window"), (float)(window[0] / white),
                (float)(white / (window[1] - window[0])));
    hot_program_int(program, "colored", volume->components == 3);
    hot_program_float(program, "opacity", state->opacity);
    hot_program_vec3(program, "canvas", state->canvas);
    /* on white paper, dark voxels would be a grey box around the head */
    const int paper = state->transparent || state->canvas[0] + state->canvas[1] + state->canvas[2] > 1.5;
    set_hollow(image, scene, viewport->space || paper, hot_volume_floor(window) / white);
    glBindVertexArray(image->empty_array);
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
}

void hot_image_free(hot_image_renderer *image)
{
    glDeleteProgram(image->program);
    glDeleteTextures(1, &image->texture);
    glDeleteTextures(1, &image->mask);
    glDeleteVertexArrays(1, &image->empty_array);
    memset(image, 0, sizeof *image);
}
