/* Draws the overlay's triangles: text, lines and panels. */
#include <stddef.h>
#include <string.h>

#include "common/flow.h"
#include "render_parts.h"

static hot_status prepare(hot_context *context, hot_overlay_renderer *overlay)
{
    HOT_TRY(hot_program_create(context, "overlay", "", hot_shader_overlay_vert, "", hot_shader_overlay_frag,
                               &overlay->program));
    glGenVertexArrays(1, &overlay->array);
    glGenBuffers(1, &overlay->vertices);
    glGenTextures(1, &overlay->atlas);
    glBindVertexArray(overlay->array);
    glBindBuffer(GL_ARRAY_BUFFER, overlay->vertices);
    for (GLuint a = 0; a < 3; a++)
        glEnableVertexAttribArray(a);
    const GLsizei step = sizeof(hot_overlay_vertex);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, step, (const void *)offsetof(hot_overlay_vertex, x));
    glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, step, (const void *)offsetof(hot_overlay_vertex, u));
    glVertexAttribPointer(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, step, (const void *)offsetof(hot_overlay_vertex, rgba));
    return HOT_OK;
}

hot_status hot_overlay_draw(hot_context *context, hot_overlay_renderer *overlay, const hot_overlay_mesh *mesh,
                            const int part[4])
{
    if (mesh->count == 0)
        return HOT_OK;
    HOT_TRY(overlay->program ? HOT_OK : prepare(context, overlay));
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, overlay->atlas);
    if (!overlay->has_atlas || overlay->atlas_version != mesh->atlas_version) {
        static const uint8_t none = 255;
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, mesh->atlas ? mesh->atlas_width : 1, mesh->atlas ? mesh->atlas_height : 1,
                     0, GL_RED, GL_UNSIGNED_BYTE, mesh->atlas ? mesh->atlas : &none);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        overlay->has_atlas = 1;
        overlay->atlas_version = mesh->atlas_version;
    }
    glUseProgram(overlay->program);
    hot_program_int(overlay->program, "atlas", 0);
    glUniform2f(glGetUniformLocation(overlay->program, "origin"), (float)part[0], (float)part[1]);
    glUniform2f(glGetUniformLocation(overlay->program, "size"), (float)part[2], (float)part[3]);
    glBindVertexArray(overlay->array);
    glBindBuffer(GL_ARRAY_BUFFER, overlay->vertices);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(mesh->count * sizeof *mesh->vertices), mesh->vertices, GL_STREAM_DRAW);
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glDrawArrays(GL_TRIANGLES, 0, (GLsizei)mesh->count);
    glDisable(GL_BLEND);
    return HOT_OK;
}

void hot_overlay_renderer_free(hot_overlay_renderer *overlay)
{
    glDeleteProgram(overlay->program);
    glDeleteVertexArrays(1, &overlay->array);
    glDeleteBuffers(1, &overlay->vertices);
    glDeleteTextures(1, &overlay->atlas);
    memset(overlay, 0, sizeof *overlay);
}
