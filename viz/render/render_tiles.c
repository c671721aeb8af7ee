/* Draws surfaces by compute shaders (shaders/tile.comp). Hardware pipelines set up a limited number of triangles per
 * second, however small these are; compute shaders avoid this limit. */
#include <stdio.h>
#include <string.h>

#include "common/free.h"
#include "scene/glyph_size.h"
#include "render_parts.h"

/* MAX_VERTICES of a half sphere; most spheres have at most SMALL_VERTICES. Shared memory per work group limits how many
 * groups run at once, so there is a program for each. */
enum { MAX_PARTS = 144, MAX_VERTICES = 900, SMALL_VERTICES = 128 };

int hot_tiles_in_one_pass(void)
{
    return epoxy_gl_version() >= 43 && epoxy_has_gl_extension("GL_ARB_gpu_shader_int64") &&
           epoxy_has_gl_extension("GL_NV_shader_atomic_int64");
}

/* areas in (1/64 pixel)^2 must fit in 31 bits, and vertices in shared memory */
static int can_draw(int level, double reach) { return hot_sphere_parts[level] <= MAX_PARTS && reach < 120; }

int hot_tiles_can_draw(const hot_surface_list *list, const hot_viewport *viewport, int level)
{
    return can_draw(level, (double)list->widest[level] / viewport->mm_per_pixel);
}

int hot_tiles_can_draw_all(const hot_scene *scene, const hot_view_state *state, double reach)
{
    const int level = state->detail ? hot_glyph_nearest_detail(state->detail)
                                    : hot_glyph_detail(hot_scene_surface_order(scene, state), reach);
    return can_draw(level, reach);
}

static hot_status make_compute(hot_context *context, const char *form, int wide, int vertices, GLuint *program)
{
    enum { ROOM = 40000 };
    char *head = hot_context_alloc(context, ROOM, 1);
    if (!head)
        return HOT_ERROR_MEMORY;
    snprintf(head, ROOM, "%s#define WIDE %d\n#define MAX_VERTICES %d\n%s",
             wide ? "#extension GL_ARB_gpu_shader_int64 : require\n#extension GL_NV_shader_atomic_int64 : require\n"
                  : "",
             wide, vertices, form);
    hot_status status = hot_program_create_compute(context, "tiles", head, hot_shader_tile_comp, program);
    hot_context_free(context, head);
    return status;
}

static hot_status make_programs(hot_context *context, hot_tile_renderer *tiles, int order, int samples)
{
    hot_status status = HOT_OK;
    if (tiles->order != order) {
        char *form = hot_program_form(context, order);
        glDeleteProgram(tiles->small);
        glDeleteProgram(tiles->large);
        tiles->small = tiles->large = 0;
        tiles->order = 0;
        tiles->wide = hot_tiles_in_one_pass();
        status = form ? make_compute(context, form, tiles->wide, SMALL_VERTICES, &tiles->small) : HOT_ERROR_MEMORY;
        if (status == HOT_ERROR_DEVICE && tiles->wide) { /* reported as an extension, but the shader does not compile */
            tiles->wide = 0;
            status = make_compute(context, form, 0, SMALL_VERTICES, &tiles->small);
        }
        if (status == HOT_OK)
            status = make_compute(context, form, tiles->wide, MAX_VERTICES, &tiles->large);
        hot_context_free(context, form);
        tiles->order = status == HOT_OK ? order : 0;
    }
    if (status == HOT_OK && tiles->samples != samples) {
        char head[300];
        snprintf(head, sizeof head,
                 "#extension GL_ARB_shader_storage_buffer_object : require\n"
                 "#extension GL_ARB_shading_language_420pack : require\n"
                 "#extension GL_ARB_shading_language_packing : require\n%s#define SAMPLE %s\n#define WIDE %d\n",
                 samples > 1 ? "#extension GL_ARB_sample_shading : require\n" : "", samples > 1 ? "gl_SampleID" : "0",
                 tiles->wide);
        glDeleteProgram(tiles->show);
        tiles->samples = 0;
        status = hot_program_create(context, "tiles", "", hot_shader_raster_vert, head, hot_shader_tile_frag,
                                    &tiles->show);
        tiles->samples = status == HOT_OK ? samples : 0;
    }
    if (status == HOT_OK && !tiles->empty_array)
        glGenVertexArrays(1, &tiles->empty_array);
    return status;
}

static hot_status make_level(hot_context *context, hot_tile_renderer *tiles, int l)
{
    hot_sphere sphere = {0}, half = {0};
    float(*vertices)[4] = NULL;
    uint16_t(*corners)[4] = NULL;
    if (tiles->level[l].vertices)
        return HOT_OK;
    hot_status status = hot_sphere_create(context, hot_sphere_parts[l], &sphere);
    if (status == HOT_OK)
        status = hot_sphere_halve(context, &sphere, &half);
    if (status != HOT_OK)
        goto cleanup;
    vertices = hot_context_calloc(context, half.vertices, sizeof *vertices);
    corners = hot_context_calloc(context, half.triangles, sizeof *corners);
    if (!vertices || !corners || half.vertices > MAX_VERTICES) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t v = 0; v < half.vertices; v++)
        memcpy(vertices[v], half.vertex[v], sizeof half.vertex[v]);
    for (size_t t = 0; t < half.triangles; t++)
        memcpy(corners[t], half.triangle[t], sizeof half.triangle[t]);
    status = hot_texture_buffer_fill(context, &tiles->level[l].sphere, GL_RGBA32F, sizeof *vertices, vertices,
                                     half.vertices * sizeof *vertices);
    if (status == HOT_OK)
        status = hot_texture_buffer_fill(context, &tiles->level[l].corners, GL_RGBA16UI, sizeof *corners, corners,
                                         half.triangles * sizeof *corners);
    if (status == HOT_OK) {
        tiles->level[l].vertices = (int)half.vertices;
        tiles->level[l].triangles = (int)half.triangles;
    }
cleanup:
    HOT_FREE(context, vertices, corners);
    hot_sphere_free(context, &half);
    hot_sphere_free(context, &sphere);
    return status;
}

/* Clears depth and colour of all samples, after allocating them if needed. */
static hot_status clear(hot_context *context, hot_tile_renderer *tiles, size_t samples)
{
    const GLuint far = 0x3f800000u, none = 0, both[2] = {none, far}; /* far: the bits of 1.0f */
    if (!tiles->depth) {
        glGenBuffers(1, &tiles->depth);
        glGenBuffers(1, &tiles->color);
    }
    for (int b = 0; b < (tiles->wide ? 1 : 2); b++) {
        glBindBuffer(GL_SHADER_STORAGE_BUFFER, b ? tiles->color : tiles->depth);
        if (samples > tiles->capacity)
            glBufferData(GL_SHADER_STORAGE_BUFFER, (GLsizeiptr)((tiles->wide ? 8 : 4) * samples), NULL,
                         GL_DYNAMIC_COPY);
        if (tiles->wide)
            glClearBufferData(GL_SHADER_STORAGE_BUFFER, GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, both);
        else
            glClearBufferData(GL_SHADER_STORAGE_BUFFER, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, b ? &none : &far);
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, (GLuint)b, b ? tiles->color : tiles->depth);
    }
    if (samples > tiles->capacity)
        tiles->capacity = samples;
    const hot_status status = hot_gl_check(context, "the picture's memory");
    if (status != HOT_OK)
        tiles->capacity = 0;
    return status;
}

static void set_picture(GLuint program, const hot_raster_job *job)
{
    const hot_viewport *viewport = job->viewport;
    const double half[3] = {32 * viewport->width, 32 * viewport->height, 0.5};
    double to_pixels[16] = {0}, light[3];
    GLfloat places[HOT_RASTER_SAMPLES][2], reach[4] = {64, 64, 0, 0}, to_voxel[9];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            to_pixels[4 * c + r] = half[r] * (viewport->matrix[4 * c + r] + (c == 3));
    to_pixels[15] = 1;
    for (int s = 0; s < job->samples; s++)
        for (int d = 0; d < 2; d++) {
            places[s][d] = 64 * job->sample[s][d];
            reach[d] = places[s][d] < reach[d] ? places[s][d] : reach[d];
            reach[2 + d] = places[s][d] > reach[2 + d] ? places[s][d] : reach[2 + d];
        }
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            to_voxel[3 * c + r] = (float)job->scene->from_ras[r][c];
    hot_viewport_light(viewport, light);
    glUseProgram(program);
    hot_program_int(program, "list", 0);
    hot_program_int(program, "values", 1);
    hot_program_int(program, "sphere", 2);
    hot_program_int(program, "corners", 3);
    hot_program_matrix(program, "to_pixels", to_pixels);
    hot_program_vec3(program, "flip", job->scene->sign);
    hot_program_int(program, "clipped", job->state->clip);
    hot_program_int(program, "ellipsoid", hot_scene_draws_ellipsoids(job->scene, job->state));
    hot_program_vec3(program, "toward", viewport->toward);
    hot_program_vec3(program, "light", light);
    hot_program_int(program, "lit", job->state->light);
    hot_program_int(program, "samples", job->samples);
    hot_program_float(program, "far", 64 * HOT_GLYPH_MAX_REACH / viewport->mm_per_pixel);
    glUniformMatrix3fv(glGetUniformLocation(program, "to_voxel"), 1, GL_FALSE, to_voxel);
    glUniform2fv(glGetUniformLocation(program, "places"), job->samples, &places[0][0]);
    glUniform4fv(glGetUniformLocation(program, "reach"), 1, reach);
    glUniform2i(glGetUniformLocation(program, "size"), (GLint)viewport->width, (GLint)viewport->height);
}

static void draw_level(const hot_tile_renderer *tiles, const hot_raster_job *job, int l, int coloring)
{
    const size_t from = job->list->first[l], count = job->list->first[l + 1] - from;
    const GLuint program = tiles->level[l].vertices <= SMALL_VERTICES ? tiles->small : tiles->large, across = 32768;
    glUseProgram(program);
    hot_program_int(program, "coloring", coloring);
    hot_texture_buffer_bind(&tiles->level[l].sphere, 2);
    hot_texture_buffer_bind(&tiles->level[l].corners, 3);
    hot_program_int(program, "first", (int)from);
    hot_program_int(program, "count", (int)count);
    hot_program_int(program, "vertices", tiles->level[l].vertices);
    hot_program_int(program, "triangles", tiles->level[l].triangles);
    hot_program_float(program, "bend", hot_glyph_bend(hot_scene_surface_order(job->scene, job->state),
                                                      hot_sphere_parts[l]));
    glDispatchCompute(count < across ? (GLuint)count : across, (GLuint)((count + across - 1) / across), 1);
}

static void show(const hot_tile_renderer *tiles, const hot_raster_job *job, int bottom)
{
    const GLuint program = tiles->show;
    glUseProgram(program);
    glUniform2i(glGetUniformLocation(program, "size"), (GLint)job->viewport->width, (GLint)job->viewport->height);
    glUniform2i(glGetUniformLocation(program, "corner"), (GLint)job->viewport->x, bottom);
    glUniform2f(glGetUniformLocation(program, "band"), -1, 1);
    hot_program_int(program, "samples", job->samples);
    glBindVertexArray(tiles->empty_array);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

hot_status hot_tiles_show(hot_context *context, hot_tile_renderer *tiles, const hot_raster_job *job,
                          const hot_texture_buffer *items, const hot_texture_buffer *values, int bottom)
{
    const size_t pixels = (size_t)job->viewport->width * (size_t)job->viewport->height;
    int some = 0;
    hot_status status = make_programs(context, tiles, job->scene->order, job->samples);
    for (int l = 0; l < HOT_SPHERES && status == HOT_OK; l++)
        if (job->list->first[l + 1] > job->list->first[l] && hot_tiles_can_draw(job->list, job->viewport, l)) {
            status = make_level(context, tiles, l);
            some = 1;
        }
    if (status == HOT_OK && some)
        status = clear(context, tiles, pixels * (size_t)job->samples);
    if (status != HOT_OK || !some)
        return status;
    set_picture(tiles->small, job);
    set_picture(tiles->large, job);
    hot_texture_buffer_bind(items, 0);
    hot_texture_buffer_bind(values, 1);
    for (int coloring = tiles->wide; coloring < 2; coloring++) {
        glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
        for (int l = 0; l < HOT_SPHERES; l++)
            if (job->list->first[l + 1] > job->list->first[l] && hot_tiles_can_draw(job->list, job->viewport, l))
                draw_level(tiles, job, l, coloring);
    }
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    show(tiles, job, bottom);
    return HOT_OK;
}

void hot_tiles_free(hot_tile_renderer *tiles)
{
    glDeleteProgram(tiles->small);
    glDeleteProgram(tiles->large);
    glDeleteProgram(tiles->show);
    glDeleteVertexArrays(1, &tiles->empty_array);
    glDeleteBuffers(1, &tiles->depth);
    glDeleteBuffers(1, &tiles->color);
    for (int l = 0; l < HOT_SPHERES; l++) {
        hot_texture_buffer_free(&tiles->level[l].sphere);
        hot_texture_buffer_free(&tiles->level[l].corners);
    }
    memset(tiles, 0, sizeof *tiles);
}
