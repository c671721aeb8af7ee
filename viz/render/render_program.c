/* Programs, uniforms and buffers. */
#include <stdio.h>
#include <string.h>

#include "render_parts.h"

static hot_status compile(hot_context *context, const char *name, GLenum kind, const char *const texts[3],
                          GLuint *shader)
{
    GLint succeeded = 0;
    char log[1024] = "";
    *shader = glCreateShader(kind);
    glShaderSource(*shader, 3, texts, NULL);
    glCompileShader(*shader);
    glGetShaderiv(*shader, GL_COMPILE_STATUS, &succeeded);
    if (succeeded)
        return HOT_OK;
    glGetShaderInfoLog(*shader, sizeof log, NULL, log);
    return hot_context_fail(context, HOT_ERROR_DEVICE, "the OpenGL driver rejects the %s shader of '%s': %s",
                            kind == GL_VERTEX_SHADER     ? "vertex"
                            : kind == GL_FRAGMENT_SHADER ? "fragment"
                                                         : "compute",
                            name, log);
}

/* Links shaders. */
static hot_status link(hot_context *context, const char *name, const GLuint *shader, int count, GLuint *program)
{
    GLint succeeded = 0;
    char log[1024] = "";
    *program = glCreateProgram();
    for (int s = 0; s < count; s++)
        glAttachShader(*program, shader[s]);
    glLinkProgram(*program);
    glGetProgramiv(*program, GL_LINK_STATUS, &succeeded);
    if (succeeded)
        return HOT_OK;
    glGetProgramInfoLog(*program, sizeof log, NULL, log);
    glDeleteProgram(*program);
    *program = 0;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "the OpenGL driver cannot link '%s': %s", name, log);
}

hot_status hot_program_create_compute(hot_context *context, const char *name, const char *head, const char *text,
                                      GLuint *program)
{
    const char *const texts[3] = {"#version 430 core\n", head, text};
    GLuint shader = 0;
    *program = 0;
    hot_status status = compile(context, name, GL_COMPUTE_SHADER, texts, &shader);
    if (status == HOT_OK)
        status = link(context, name, &shader, 1, program);
    glDeleteShader(shader);
    return status;
}

hot_status hot_program_create(hot_context *context, const char *name, const char *head, const char *vertex,
                              const char *fragment_head, const char *fragment, GLuint *program)
{
    static const char version[] = "#version 330 core\n";
    const char *const vertex_texts[3] = {version, head, vertex}, *const fragment_texts[3] = {version, fragment_head,
                                                                                             fragment};
    GLuint shader[2] = {0, 0};
    *program = 0;
    hot_status status = compile(context, name, GL_VERTEX_SHADER, vertex_texts, &shader[0]);
    if (status == HOT_OK)
        status = compile(context, name, GL_FRAGMENT_SHADER, fragment_texts, &shader[1]);
    if (status != HOT_OK)
        goto cleanup;
    status = link(context, name, shader, 2, program);
cleanup:
    glDeleteShader(shader[0]);
    glDeleteShader(shader[1]);
    return status;
}

/* m! / (a! b! c!) */
static double multinomial(int a, int b, int c)
{
    double value = 1;
    for (int k = 1; k <= b; k++)
        value = value * (a + k) / k;
    for (int k = 1; k <= c; k++)
        value = value * (a + b + k) / k;
    return value;
}

/* The gradient A x^(m-1) term by term: each monomial of degree m - 1, times its multiplicity, contributes to three
 * components with three coefficients (same formula as kernels/symtensor/form3.h). A x^m = x . A x^(m-1). */
char *hot_program_form(hot_context *context, int order)
{
    enum { ROOM = 32768 };
    char *text = hot_context_alloc(context, ROOM, 1);
    size_t used = 0;
    if (!text)
        return NULL;
    const int terms = (order + 1) * (order + 2) / 2, texels = (terms + 3) / 4;
#define PUT(...) used += (size_t)snprintf(text + used, ROOM - used, __VA_ARGS__)
    PUT("%s#define ORDER %d\n#define TEXELS %d\nuniform isamplerBuffer values;\n"
        "float form(int at, vec3 v, out vec3 g)\n{\n    float x1 = v.x, y1 = v.y, z1 = v.z, w;\n",
        hot_shader_shade_glsl, order, texels);
    for (int power = 2; power < order; power++)
        PUT("    float x%d = x%d * x1, y%d = y%d * y1, z%d = z%d * z1;\n", power, power - 1, power, power - 1, power,
            power - 1);
    for (int texel = 0; texel < texels; texel++)
        PUT("    vec4 a%d = vec4(texelFetch(values, at + %d));\n", texel, texel);
    PUT("    g = vec3(0.0);\n");
    for (int s = 0; s < order; s++)
        for (int t = 0; t <= s; t++) {
            const int powers[3] = {order - 1 - s, s - t, t};
            const int i = s * (s + 1) / 2 + t, j = (s + 1) * (s + 2) / 2 + t;
            PUT("    w = %.1f", multinomial(powers[0], powers[1], powers[2]));
            for (int d = 0; d < 3; d++)
                if (powers[d])
                    PUT(" * %c%d", "xyz"[d], powers[d]);
            PUT(";\n    g += w * vec3(a%d.%c, a%d.%c, a%d.%c);\n", i / 4, "xyzw"[i % 4], j / 4, "xyzw"[j % 4],
                (j + 1) / 4, "xyzw"[(j + 1) % 4]);
        }
    PUT("    return dot(g, v);\n}\n%s", hot_shader_surface_glsl);
#undef PUT
    return text;
}

void hot_program_matrix(GLuint program, const char *name, const double matrix[16])
{
    float values[16];
    for (int i = 0; i < 16; i++)
        values[i] = (float)matrix[i];
    glUniformMatrix4fv(glGetUniformLocation(program, name), 1, GL_FALSE, values);
}

void hot_program_vec3(GLuint program, const char *name, const double v[3])
{
    glUniform3f(glGetUniformLocation(program, name), (float)v[0], (float)v[1], (float)v[2]);
}

void hot_program_int(GLuint program, const char *name, int value)
{
    glUniform1i(glGetUniformLocation(program, name), value);
}

void hot_program_float(GLuint program, const char *name, double value)
{
    glUniform1f(glGetUniformLocation(program, name), (float)value);
}

hot_status hot_texture_buffer_fill(hot_context *context, hot_texture_buffer *buffer, GLenum format, size_t texel_bytes,
                                   const void *data, size_t bytes)
{
    GLint max_texels = 0;
    glGetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &max_texels);
    if (bytes / texel_bytes > (size_t)max_texels)
        return hot_context_fail(
            context, HOT_ERROR_DEVICE,
            "too many glyphs: they need %zu texels and this OpenGL driver allows %d; show slices, or raise the "
            "threshold",
            bytes / texel_bytes, max_texels);
    if (!buffer->buffer) {
        glGenBuffers(1, &buffer->buffer);
        glGenTextures(1, &buffer->texture);
    }
    while (glGetError() != GL_NO_ERROR) { /* errors below belong to this upload */
    }
    glBindBuffer(GL_TEXTURE_BUFFER, buffer->buffer);
    if (bytes && data && buffer->bytes == bytes)
        glBufferSubData(GL_TEXTURE_BUFFER, 0, (GLsizeiptr)bytes, data);
    else
        glBufferData(GL_TEXTURE_BUFFER, (GLsizeiptr)(bytes ? bytes : texel_bytes), bytes ? data : NULL,
                     GL_DYNAMIC_DRAW);
    buffer->bytes = bytes;
    glBindTexture(GL_TEXTURE_BUFFER, buffer->texture);
    glTexBuffer(GL_TEXTURE_BUFFER, format, buffer->buffer);
    return hot_gl_check(context, "the upload of glyphs");
}

void hot_texture_buffer_bind(const hot_texture_buffer *buffer, int unit)
{
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(GL_TEXTURE_BUFFER, buffer->texture);
}

void hot_texture_buffer_free(hot_texture_buffer *buffer)
{
    glDeleteBuffers(1, &buffer->buffer);
    glDeleteTextures(1, &buffer->texture);
    memset(buffer, 0, sizeof *buffer);
}

hot_status hot_gl_check(hot_context *context, const char *what)
{
    const GLenum error = glGetError();
    if (error == GL_NO_ERROR)
        return HOT_OK;
    if (error == GL_OUT_OF_MEMORY)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "%s: out of graphics memory", what);
    return hot_context_fail(context, HOT_ERROR_DEVICE, "%s: OpenGL error 0x%04x", what, (unsigned)error);
}
