/* Copies the CPU rasteriser's colour and depth to the framebuffer, as textures, band by band. */
#include <stdio.h>
#include <string.h>

#include "common/free.h"
#include "render_parts.h"

static hot_status make_program(hot_context *context, hot_raster_renderer *raster, int samples, int depths)
{
    char head[200];
    if (raster->program && raster->samples == samples && raster->depths == depths)
        return HOT_OK;
    snprintf(head, sizeof head, "%s#define SAMPLES %d\n#define SAMPLE %s\n#define DEPTHS %d\n",
             samples > 1 ? "#extension GL_ARB_sample_shading : require\n" : "", samples,
             samples > 1 ? "gl_SampleID" : "0", depths);
    glDeleteProgram(raster->program);
    raster->samples = samples;
    raster->depths = depths;
    hot_status status = hot_program_create(context, "surfaces", "", hot_shader_raster_vert, head,
                                           hot_shader_raster_frag, &raster->program);
    if (status == HOT_OK && !raster->empty_array)
        glGenVertexArrays(1, &raster->empty_array);
    return status;
}

static void make_texture(GLuint *texture, int unit, GLint format, GLenum channels, GLenum type, int width, int height)
{
    if (!*texture)
        glGenTextures(1, texture);
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(GL_TEXTURE_2D, *texture);
    glTexImage2D(GL_TEXTURE_2D, 0, format, width, height, 0, channels, type, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

/* Allocates one band in host memory and as textures. */
static hot_status reserve(hot_context *context, hot_raster_renderer *raster, int width, int height)
{
    const size_t texels = (size_t)width * (size_t)height;
    if (texels > raster->capacity) {
        HOT_FREE(context, raster->pixels, raster->deep);
        raster->capacity = 0;
        raster->pixels = hot_context_alloc(context, texels, sizeof *raster->pixels);
        raster->deep = hot_context_alloc(context, texels, sizeof *raster->deep);
        if (!raster->pixels || !raster->deep)
            return HOT_ERROR_MEMORY;
        raster->capacity = texels;
    }
    if (width != raster->width || height != raster->height) {
        while (glGetError() != GL_NO_ERROR) { /* errors below belong to these textures */
        }
        make_texture(&raster->color, 0, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, width, height);
        make_texture(&raster->depth, 1, GL_R32F, GL_RED, GL_FLOAT, width, height);
        raster->width = width;
        raster->height = height;
    }
    return hot_gl_check(context, "the picture's memory");
}

static void draw_band(hot_raster_renderer *raster, const hot_viewport *viewport, int bottom, int first, int rows)
{
    const GLuint program = raster->program;
    const double per_row = 2 / viewport->height;
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, raster->color);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, raster->width, rows, GL_RGBA, GL_UNSIGNED_BYTE, raster->pixels);
    if (raster->depths) {
        glActiveTexture(GL_TEXTURE1);
        glBindTexture(GL_TEXTURE_2D, raster->depth);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, raster->width, rows, GL_RED, GL_FLOAT, raster->deep);
    } else {
        glDisable(GL_DEPTH_TEST);
    }
    glUseProgram(program);
    hot_program_int(program, "colors", 0);
    hot_program_int(program, "depths", 1);
    glUniform2i(glGetUniformLocation(program, "corner"), (GLint)viewport->x, bottom + first);
    glUniform2f(glGetUniformLocation(program, "band"), (float)(first * per_row - 1),
                (float)((first + rows) * per_row - 1));
    glBindVertexArray(raster->empty_array);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glEnable(GL_DEPTH_TEST);
}

hot_status hot_raster_show(hot_context *context, hot_raster_renderer *raster, const hot_raster_job *job, int depths,
                           int bottom)
{
    const int height = (int)job->viewport->height;
    int band = 0;
    hot_status status = raster->raster ? HOT_OK : hot_raster_create(context, &raster->raster);
    if (status == HOT_OK)
        status = make_program(context, raster, job->samples, depths);
    if (status == HOT_OK)
        status = hot_raster_begin(raster->raster, job, &band);
    if (status == HOT_OK)
        status = reserve(context, raster, (int)job->viewport->width * job->samples, band < height ? band : height);
    for (int first = 0; first < height && status == HOT_OK; first += band) {
        status = hot_raster_draw(raster->raster, first, raster->pixels, raster->deep);
        if (status == HOT_OK)
            draw_band(raster, job->viewport, bottom, first, first + band < height ? band : height - first);
    }
    return status;
}

void hot_raster_renderer_free(hot_context *context, hot_raster_renderer *raster)
{
    hot_raster_destroy(&raster->raster);
    glDeleteProgram(raster->program);
    glDeleteTextures(1, &raster->color);
    glDeleteTextures(1, &raster->depth);
    glDeleteVertexArrays(1, &raster->empty_array);
    HOT_FREE(context, raster->pixels, raster->deep);
    memset(raster, 0, sizeof *raster);
}
