/* Draws surfaces and sticks, through OpenGL's pipeline, the CPU rasteriser or compute shaders. */
#include <string.h>

#include "common/free.h"
#include "scene/glyph_size.h"
#include "render_parts.h"

/* ---- Meshes ----------------------------------------------------------------------------------------------- */

static hot_status make_mesh(hot_context *context, int parts, hot_glyph_mesh *mesh)
{
    enum { VERTICES = 2048 }; /* a mesh holds several spheres: larger instances keep the hardware busy */
    hot_sphere sphere = {0};
    float(*vertices)[4] = NULL;
    uint16_t *indices = NULL;
    hot_status status = hot_sphere_create(context, parts, &sphere);
    if (status != HOT_OK)
        return status;
    mesh->copies = sphere.vertices < VERTICES ? (int)(VERTICES / sphere.vertices) : 1;
    mesh->elements = (GLsizei)(3 * sphere.triangles);
    const size_t copies = (size_t)mesh->copies, elements = (size_t)mesh->elements;
    vertices = hot_context_alloc(context, copies * sphere.vertices, sizeof *vertices);
    indices = hot_context_alloc(context, copies * elements, sizeof *indices);
    if (!vertices || !indices) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t c = 0; c < copies; c++) {
        for (size_t v = 0; v < sphere.vertices; v++) {
            memcpy(vertices[c * sphere.vertices + v], sphere.vertex[v], 3 * sizeof(float));
            vertices[c * sphere.vertices + v][3] = (float)c;
        }
        const uint16_t *from = &sphere.triangle[0][0];
        for (size_t e = 0; e < elements; e++)
            indices[c * elements + e] = (uint16_t)(c * sphere.vertices + from[e]);
    }
    glGenVertexArrays(1, &mesh->array);
    glGenBuffers(1, &mesh->vertices);
    glGenBuffers(1, &mesh->indices);
    glBindVertexArray(mesh->array);
    glBindBuffer(GL_ARRAY_BUFFER, mesh->vertices);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(copies * sphere.vertices * sizeof *vertices), vertices, GL_STATIC_DRAW);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, sizeof *vertices, NULL);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, mesh->indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(copies * elements * sizeof *indices), indices, GL_STATIC_DRAW);
    glBindVertexArray(0);
    status = hot_gl_check(context, "spheres");
cleanup:
    HOT_FREE(context, vertices, indices);
    hot_sphere_free(context, &sphere);
    return status;
}

enum { SURFACES = 1, STICKS = 2 };

static int kinds_of(const hot_scene *scene, const hot_view_state *state)
{
    int kinds = state->glyph == HOT_GLYPH_SURFACE ? SURFACES : state->glyph == HOT_GLYPH_STICKS ? STICKS : 0;
    if (state->glyph == HOT_GLYPH_BOTH)
        kinds = SURFACES | STICKS;
    return kinds & ((scene->order ? SURFACES : 0) | (scene->max_fibers ? STICKS : 0));
}

/* order: 2, 4, 6 or 8; 0, without tensors, has none of its parts. */
static hot_order_renderer *of_order(hot_glyph_renderer *glyphs, int order)
{
    return &glyphs->of[order ? order / 2 - 1 : 0];
}

static hot_status make_programs(hot_context *context, hot_glyph_renderer *glyphs, int kinds, int order)
{
    hot_order_renderer *of = of_order(glyphs, order);
    hot_status status = HOT_OK;
    if (kinds & STICKS && !glyphs->stick)
        status = hot_program_create(context, "sticks", "", hot_shader_stick_vert, hot_shader_shade_glsl,
                                    hot_shader_stick_frag, &glyphs->stick);
    if (status == HOT_OK && !glyphs->empty_array)
        glGenVertexArrays(1, &glyphs->empty_array);
    if (status != HOT_OK || !(kinds & SURFACES) || of->surface)
        return status;
    char *form = hot_program_form(context, order);
    if (!form)
        return HOT_ERROR_MEMORY;
    status = hot_program_create(context, "surfaces", form, hot_shader_surface_vert, "", hot_shader_surface_frag,
                                &of->surface);
    hot_context_free(context, form);
    return status;
}

/* ---- Selection of glyphs ---------------------------------------------------------------------------------- */

static void make_key(const hot_scene *scene, const hot_view_state *state, const hot_viewport *viewport, int cpu,
                     hot_glyph_key *key)
{
    const int whole = viewport->space && state->extent == HOT_EXTENT_VOLUME;
    memset(key, 0, sizeof *key);
    key->scene = scene->serial;
    key->space = viewport->space;
    key->axis = viewport->axis;
    key->plane = viewport->plane;
    key->extent = state->extent;
    key->slab = state->slab;
    key->lock_axes = state->lock_axes;
    key->use_mask = state->use_mask;
    key->surfaces = state->surfaces;
    key->kinds = kinds_of(scene, state);
    key->cpu = cpu;
    key->ellipsoids = hot_scene_draws_ellipsoids(scene, state);
    key->threshold = state->threshold;
    for (int d = 0; d < 3 && !whole; d++)
        if (viewport->space || !state->lock_axes || d == viewport->axis)
            key->voxel[d] = state->voxel[d];
    if (!state->lock_axes && !viewport->space)
        memcpy(key->normal, viewport->normal, sizeof key->normal);
}

/* Whether the list includes glyphs outside the viewport, so that turning the camera does not change it: if compute
 * shaders draw (they cull on the GPU), or if the whole grid with its glyphs is inside. */
static int lists_all(const hot_scene *scene, const hot_view_state *state, const hot_viewport *viewport, int computes)
{
    const double reach = hot_scene_largest_mm(scene, state) / viewport->mm_per_pixel;
    const double margin = HOT_GLYPH_MAX_REACH * reach;
    if (computes && hot_tiles_can_draw_all(scene, state, reach))
        return 1;
    for (int corner = 0; corner < 8; corner++) {
        double voxel[3], ras[3], pixel[2];
        for (int d = 0; d < 3; d++)
            voxel[d] = corner >> d & 1 ? (double)scene->grid.size[d] - 1 : 0;
        hot_scene_to_ras(scene, voxel, ras);
        hot_viewport_project(viewport, ras, pixel);
        if (pixel[0] < viewport->x + margin || pixel[0] > viewport->x + viewport->width - margin ||
            pixel[1] < viewport->y + margin || pixel[1] > viewport->y + viewport->height - margin)
            return 0;
    }
    return 1;
}

static void make_style_key(const hot_scene *scene, const hot_view_state *state, const hot_viewport *viewport,
                      int computes, hot_style_key *style)
{
    memset(style, 0, sizeof *style);
    style->scale = state->scale;
    style->mm_per_pixel = viewport->mm_per_pixel;
    style->normalise = state->normalise;
    style->clip = state->clip;
    style->color = state->color;
    style->detail = state->detail;
    style->stick_width = state->stick_width;
    if (state->color == HOT_COLOR_VALUE) {
        memcpy(style->color_range, state->color_range, sizeof style->color_range);
        memcpy(style->color_by, state->color_by, sizeof style->color_by);
        memcpy(style->background, state->background, sizeof style->background);
        style->changes = scene->images ? scene->images->changes : scene->changes;
    } else if (scene->certainty && state->color != HOT_COLOR_PLAIN) { /* sticks fade into the image */
        memcpy(style->background, state->background, sizeof style->background);
        memcpy(style->canvas, state->canvas, sizeof style->canvas);
        memcpy(style->window, state->window, sizeof style->window);
        style->opacity = state->show_image ? state->opacity : 0;
        style->frame = state->frame;
        style->changes = scene->images ? scene->images->changes : scene->changes;
    }
    style->everywhere = lists_all(scene, state, viewport, computes);
    if (!style->everywhere) {
        memcpy(style->matrix, viewport->matrix, sizeof style->matrix);
        style->width = (int)viewport->width;
        style->height = (int)viewport->height;
    }
}

static void invalidate(hot_context *context, hot_viewport_glyphs *glyphs)
{
    hot_surface_free(context, &glyphs->set);
    hot_context_free(context, glyphs->voxels);
    glyphs->voxels = NULL;
    glyphs->voxel_count = glyphs->sticks = 0;
    memset(glyphs->list.first, 0, sizeof glyphs->list.first);
    glyphs->gathered = glyphs->listed = 0;
}

/* Uploads the tensors from host memory, or copies them on the GPU. */
static hot_status upload_values(hot_context *context, hot_viewport_glyphs *glyphs, const hot_scene *scene)
{
    const hot_surface_set *set = &glyphs->set;
    const size_t bytes = set->count * (size_t)set->texels * 4 * sizeof(int16_t);
    hot_status status = hot_texture_buffer_fill(context, &glyphs->values, GL_RGBA16I, 4 * sizeof(int16_t), set->values,
                                                bytes);
    if (status != HOT_OK || !scene->device_tensors || !set->count)
        return status;
    const int error = scene->interop->fill((int)hot_symtensor_count(scene->order, 3), scene->device_tensors, set->voxel,
                                           set->count, set->texels, glyphs->key.ellipsoids, glyphs->values.buffer,
                                           set->step);
    return hot_interop_status(context, scene->interop, error,
                              "handing tensors to OpenGL (is it drawn by the same card?)");
}

static hot_status gather(hot_context *context, hot_viewport_glyphs *glyphs, const hot_scene *scene,
                         const hot_view_state *state, const hot_viewport *viewport)
{
    uint32_t *voxels = NULL;
    size_t count;
    invalidate(context, glyphs);
    hot_status status = hot_glyph_voxels(context, scene, state, viewport, &voxels, &count);
    if (status == HOT_OK && glyphs->key.kinds & STICKS) {
        glyphs->voxels = hot_context_alloc(context, count, sizeof *voxels);
        glyphs->voxel_count = count;
        if (glyphs->voxels)
            memcpy(glyphs->voxels, voxels, count * sizeof *voxels);
        else
            status = HOT_ERROR_MEMORY;
    }
    if (status != HOT_OK || !(glyphs->key.kinds & SURFACES)) {
        hot_context_free(context, voxels);
        return status;
    }
    status = hot_surface_gather(context, scene, state, voxels, count, &glyphs->set);
    if (glyphs->key.cpu) /* the CPU rasteriser reads the values in place */
        return status;
    if (status == HOT_OK)
        status = upload_values(context, glyphs, scene);
    /* the GPU has a copy */
    hot_context_free(context, glyphs->set.values);
    glyphs->set.values = NULL;
    return status;
}

static hot_status update_lists(hot_context *context, hot_viewport_glyphs *glyphs, const hot_scene *scene,
                             const hot_view_state *state, const hot_viewport *viewport)
{
    hot_status status = HOT_OK;
    if (glyphs->key.kinds & SURFACES) {
        status = hot_surface_list_make(context, scene, state, viewport, glyphs->style.everywhere, &glyphs->set,
                                       &glyphs->list);
        if (status == HOT_OK && !glyphs->key.cpu)
            status = hot_texture_buffer_fill(context, &glyphs->items, GL_RGBA32UI, 16, glyphs->list.items,
                                             glyphs->list.first[HOT_SPHERES] * sizeof *glyphs->list.items);
    }
    if (status == HOT_OK && glyphs->key.kinds & STICKS) {
        hot_stick_item *items = NULL;
        status = hot_stick_list_make(context, scene, state, glyphs->voxels, glyphs->voxel_count, &items,
                                     &glyphs->sticks);
        if (status == HOT_OK)
            status = hot_texture_buffer_fill(context, &glyphs->stick_items, GL_RGBA32UI, 16, items,
                                             glyphs->sticks * sizeof *items);
        hot_context_free(context, items);
    }
    return status;
}

/* Lines of the layers. */
static hot_status update_lines(hot_context *context, hot_viewport_glyphs *glyphs, const hot_scene *scene,
                               const hot_view_state *state, const hot_viewport *viewport)
{
    hot_line_key key;
    hot_stick_item *items = NULL;
    memset(&key, 0, sizeof key);
    key.scene = scene->serial;
    key.changes = scene->changes;
    key.space = viewport->space;
    key.axis = viewport->axis;
    key.extent = state->extent;
    key.slab = state->slab;
    key.lock_axes = state->lock_axes;
    key.use_mask = state->use_mask;
    key.normalise = state->normalise;
    key.layers = state->layers;
    key.scale = state->scale;
    key.stick_width = state->stick_width;
    memcpy(key.voxel, state->voxel, sizeof key.voxel);
    memcpy(key.normal, viewport->normal, sizeof key.normal);
    memcpy(key.point, viewport->point, sizeof key.point);
    memcpy(key.layer, state->layer, sizeof key.layer);
    if (memcmp(&key, &glyphs->line_key, sizeof key) == 0)
        return HOT_OK;
    glyphs->lines = 0;
    memset(&glyphs->line_key, 0, sizeof glyphs->line_key);
    if (!hot_has_lines(scene, state))
        return HOT_OK;
    hot_status status = hot_line_list_make(context, scene, state, viewport, &items, &glyphs->lines);
    if (status == HOT_OK)
        status = hot_texture_buffer_fill(context, &glyphs->line_items, GL_RGBA32UI, 16, items,
                                         glyphs->lines * sizeof *items);
    hot_context_free(context, items);
    if (status == HOT_OK)
        glyphs->line_key = key;
    return status;
}

/* Tensors on the GPU are never drawn by the CPU. */
static int uses_cpu(const hot_glyph_renderer *glyphs, const hot_scene *scene, const hot_view_state *state)
{
    if (scene->device_tensors)
        return 0;
    return state->raster == HOT_RASTER_CPU || (state->raster == HOT_RASTER_AUTO && glyphs->software);
}

/* --raster compute falls back to the pipeline if the driver has no compute shaders. */
static int uses_compute(const hot_glyph_renderer *glyphs, const hot_view_state *state)
{
    return epoxy_gl_version() >= 43 &&
           (state->raster == HOT_RASTER_COMPUTE || (state->raster == HOT_RASTER_AUTO && glyphs->prefers_compute));
}

int hot_glyphs_need_depth(const hot_glyph_renderer *glyphs, const hot_scene *scene, const hot_view_state *state)
{
    return (kinds_of(scene, state) & ~SURFACES) || !uses_cpu(glyphs, scene, state) || hot_has_lines(scene, state);
}

hot_status hot_glyphs_prepare(hot_context *context, hot_glyph_renderer *glyphs, int which, const hot_scene *scene,
                              const hot_view_state *state, const hot_viewport *viewport)
{
    hot_viewport_glyphs *shown = &glyphs->viewport[which];
    hot_glyph_key key;
    hot_style_key style;
    const int cpu = uses_cpu(glyphs, scene, state);
    make_key(scene, state, viewport, cpu, &key);
    const int lines = hot_has_lines(scene, state) ? STICKS : 0;
    hot_status status = make_programs(context, glyphs, (key.kinds & ~(cpu ? SURFACES : 0)) | lines, scene->order);
    if (status == HOT_OK)
        status = update_lines(context, shown, scene, state, viewport);
    if (status != HOT_OK)
        return status;
    if (!shown->gathered || memcmp(&key, &shown->key, sizeof key) != 0) {
        shown->key = key;
        status = gather(context, shown, scene, state, viewport);
        if (status != HOT_OK) {
            invalidate(context, shown);
            return status;
        }
        shown->gathered = 1;
    }
    make_style_key(scene, state, viewport, !cpu && uses_compute(glyphs, state), &style);
    if (!shown->listed || memcmp(&style, &shown->style, sizeof style) != 0) {
        shown->style = style;
        status = update_lists(context, shown, scene, state, viewport);
        shown->listed = status == HOT_OK;
    }
    for (int l = 0; l < HOT_SPHERES && status == HOT_OK && !cpu; l++)
        if (shown->list.first[l + 1] > shown->list.first[l] && !glyphs->mesh[l].array)
            status = make_mesh(context, hot_sphere_parts[l], &glyphs->mesh[l]);
    return status;
}

/* ---- Drawing ---------------------------------------------------------------------------------------------- */

static void set_light(GLuint program, const hot_view_state *state, const hot_viewport *viewport)
{
    double light[3];
    hot_viewport_light(viewport, light);
    hot_program_vec3(program, "toward", viewport->toward);
    hot_program_vec3(program, "light", light);
    hot_program_int(program, "lit", state->light);
}

static void draw_surfaces(hot_glyph_renderer *glyphs, const hot_viewport_glyphs *shown, const hot_scene *scene,
                          const hot_view_state *state, const hot_viewport *viewport, int tiles)
{
    const GLuint program = of_order(glyphs, scene->order)->surface;
    float to_voxel[9];
    glUseProgram(program);
    hot_program_int(program, "list", 0);
    hot_program_int(program, "values", 1);
    hot_program_matrix(program, "view", viewport->matrix);
    hot_program_vec3(program, "flip", scene->sign);
    hot_program_int(program, "clipped", state->clip);
    hot_program_int(program, "ellipsoid", shown->key.ellipsoids);
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            to_voxel[3 * c + r] = (float)scene->from_ras[r][c];
    glUniformMatrix3fv(glGetUniformLocation(program, "to_voxel"), 1, GL_FALSE, to_voxel);
    set_light(program, state, viewport);
    const GLint first = glGetUniformLocation(program, "first"), copies = glGetUniformLocation(program, "copies");
    hot_texture_buffer_bind(&shown->items, 0);
    hot_texture_buffer_bind(&shown->values, 1);
    glEnable(GL_CULL_FACE);
    for (int l = 0; l < HOT_SPHERES; l++) {
        const hot_glyph_mesh *mesh = &glyphs->mesh[l];
        const size_t from = shown->list.first[l], count = shown->list.first[l + 1] - from;
        if (!count || (tiles && hot_tiles_can_draw(&shown->list, viewport, l)))
            continue;
        const size_t whole = count / (size_t)mesh->copies, rest = count % (size_t)mesh->copies;
        glBindVertexArray(mesh->array);
        glUniform1i(copies, mesh->copies);
        hot_program_float(program, "bend", hot_glyph_bend(hot_scene_surface_order(scene, state), hot_sphere_parts[l]));
        glUniform1i(first, (GLint)from);
        if (whole)
            glDrawElementsInstanced(GL_TRIANGLES, mesh->copies * mesh->elements, GL_UNSIGNED_SHORT, NULL,
                                    (GLsizei)whole);
        if (rest) {
            glUniform1i(first, (GLint)(from + whole * (size_t)mesh->copies));
            glDrawElementsInstanced(GL_TRIANGLES, (GLsizei)rest * mesh->elements, GL_UNSIGNED_SHORT, NULL, 1);
        }
    }
    glDisable(GL_CULL_FACE);
}

/* Sample positions in a pixel of the bound framebuffer; returns their number. */
static int find_samples(float sample[HOT_RASTER_SAMPLES][2])
{
    GLint samples = 0;
    glGetIntegerv(GL_SAMPLES, &samples);
    if (samples < 2 || samples > HOT_RASTER_SAMPLES || !epoxy_has_gl_extension("GL_ARB_sample_shading")) {
        sample[0][0] = sample[0][1] = 0.5f;
        return 1;
    }
    for (GLint s = 0; s < samples; s++)
        glGetMultisamplefv(GL_SAMPLE_POSITION, (GLuint)s, sample[s]);
    return samples;
}

static void count_surfaces(const hot_surface_list *list, hot_render_counts *counts)
{
    counts->glyphs += list->first[HOT_SPHERES];
    counts->culled += list->culled;
    for (int l = 0; l < HOT_SPHERES; l++)
        counts->triangles += (list->first[l + 1] - list->first[l]) * 20 * (size_t)hot_sphere_parts[l];
}

static void draw_sticks(hot_glyph_renderer *glyphs, const hot_texture_buffer *items, size_t sticks,
                        const hot_view_state *state, const hot_viewport *viewport, double nearer, double alpha)
{
    const GLuint program = glyphs->stick;
    glUseProgram(program);
    hot_program_int(program, "list", 0);
    hot_program_matrix(program, "view", viewport->matrix);
    hot_program_vec3(program, "right", viewport->right);
    hot_program_float(program, "pixel_mm", viewport->mm_per_pixel * state->pixel_ratio);
    hot_program_float(program, "nearer", nearer);
    hot_program_float(program, "alpha", alpha);
    set_light(program, state, viewport);
    hot_texture_buffer_bind(items, 0);
    glBindVertexArray(glyphs->empty_array);
    glDrawArrays(GL_TRIANGLES, 0, (GLsizei)(6 * sticks));
}

/* Lines of the layers, which may be transparent. */
static void draw_lines(hot_glyph_renderer *glyphs, const hot_viewport_glyphs *shown, const hot_view_state *state,
                       const hot_viewport *viewport, hot_render_counts *counts)
{
    if (!shown->lines)
        return;
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    draw_sticks(glyphs, &shown->line_items, shown->lines, state, viewport, 0, 1);
    glDisable(GL_BLEND);
    counts->sticks += shown->lines;
    counts->triangles += 2 * shown->lines;
}

hot_status hot_glyphs_draw(hot_context *context, hot_glyph_renderer *glyphs, int which, const hot_scene *scene,
                           const hot_view_state *state, const hot_viewport *viewport, int bottom,
                           hot_render_counts *counts)
{
    const hot_viewport_glyphs *shown = &glyphs->viewport[which];
    const int surfaces = shown->list.first[HOT_SPHERES] > 0, sticks = shown->sticks > 0;
    hot_status status = HOT_OK;
    hot_raster_job job = {
        .scene = scene, .state = state, .viewport = viewport, .set = &shown->set, .list = &shown->list};
    job.samples = find_samples(job.sample);
    if (surfaces && shown->key.cpu) {
        const int depths = sticks || shown->lines || (viewport->space && (state->show_image || state->layers));
        status = hot_raster_show(context, &of_order(glyphs, scene->order)->raster, &job, depths, bottom);
    } else if (surfaces) {
        const int tiles = uses_compute(glyphs, state);
        draw_surfaces(glyphs, shown, scene, state, viewport, tiles);
        if (tiles)
            status = hot_tiles_show(context, &of_order(glyphs, scene->order)->tiles, &job, &shown->items,
                                    &shown->values, bottom);
    }
    count_surfaces(&shown->list, counts);
    if (status == HOT_OK)
        draw_lines(glyphs, shown, state, viewport, counts);
    if (!sticks || status != HOT_OK)
        return status;
    draw_sticks(glyphs, &shown->stick_items, shown->sticks, state, viewport, 0, 1);
    counts->sticks += shown->sticks;
    counts->triangles += 2 * shown->sticks;
    if (surfaces) {
        /* a stick shines through its own surface, but not through nearer glyphs */
        const double through = 2 * hot_scene_typical_mm(scene, state) / viewport->depth;
        glEnable(GL_BLEND);
        glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
        glDepthMask(GL_FALSE);
        draw_sticks(glyphs, &shown->stick_items, shown->sticks, state, viewport, through, 0.5);
        glDepthMask(GL_TRUE);
        glDisable(GL_BLEND);
    }
    return HOT_OK;
}

void hot_glyphs_invalidate(hot_context *context, hot_glyph_renderer *glyphs)
{
    for (int v = 0; v < HOT_VIEWPORTS; v++) {
        invalidate(context, &glyphs->viewport[v]);
        memset(&glyphs->viewport[v].line_key, 0, sizeof glyphs->viewport[v].line_key);
    }
}

void hot_glyphs_free(hot_context *context, hot_glyph_renderer *glyphs)
{
    hot_glyphs_invalidate(context, glyphs);
    for (int v = 0; v < HOT_VIEWPORTS; v++) {
        hot_surface_list_free(context, &glyphs->viewport[v].list);
        hot_texture_buffer_free(&glyphs->viewport[v].values);
        hot_texture_buffer_free(&glyphs->viewport[v].items);
        hot_texture_buffer_free(&glyphs->viewport[v].stick_items);
        hot_texture_buffer_free(&glyphs->viewport[v].line_items);
    }
    for (int l = 0; l < HOT_SPHERES; l++) {
        glDeleteVertexArrays(1, &glyphs->mesh[l].array);
        glDeleteBuffers(1, &glyphs->mesh[l].vertices);
        glDeleteBuffers(1, &glyphs->mesh[l].indices);
    }
    for (int o = 0; o < 4; o++) {
        hot_raster_renderer_free(context, &glyphs->of[o].raster);
        hot_tiles_free(&glyphs->of[o].tiles);
        glDeleteProgram(glyphs->of[o].surface);
    }
    glDeleteProgram(glyphs->stick);
    glDeleteVertexArrays(1, &glyphs->empty_array);
    memset(glyphs, 0, sizeof *glyphs);
}
