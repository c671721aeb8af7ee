#include "backdrop.h"

#include <epoxy/gl.h>
#include <string.h>

static void attach(GLuint *name, GLenum format, const hot_backdrop *backdrop, GLenum attachment)
{
    glGenRenderbuffers(1, name);
    glBindRenderbuffer(GL_RENDERBUFFER, *name);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, backdrop->samples, format, backdrop->width, backdrop->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, *name);
}

hot_status hot_backdrop_bind(hot_context *context, hot_backdrop *backdrop, int width, int height, int samples)
{
    if (backdrop->drawn && backdrop->width == width && backdrop->height == height) {
        glBindFramebuffer(GL_FRAMEBUFFER, backdrop->drawn);
        return HOT_OK;
    }
    hot_backdrop_free(backdrop);
    backdrop->width = width;
    backdrop->height = height;
    backdrop->samples = samples > 1 ? samples : 0;
    while (glGetError() != GL_NO_ERROR) { /* errors below belong to these buffers */
    }
    glGenFramebuffers(1, &backdrop->drawn);
    glBindFramebuffer(GL_FRAMEBUFFER, backdrop->drawn);
    attach(&backdrop->color, GL_RGBA8, backdrop, GL_COLOR_ATTACHMENT0);
    attach(&backdrop->depth, GL_DEPTH_COMPONENT24, backdrop, GL_DEPTH_ATTACHMENT);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE && glGetError() == GL_NO_ERROR)
        return HOT_OK;
    hot_backdrop_free(backdrop);
    return hot_context_fail(context, HOT_ERROR_DEVICE, "not enough memory for a picture of %d x %d pixels", width,
                            height);
}

void hot_backdrop_show(const hot_backdrop *backdrop)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, backdrop->drawn);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, backdrop->width, backdrop->height, 0, 0, backdrop->width, backdrop->height,
                      GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

void hot_backdrop_free(hot_backdrop *backdrop)
{
    glDeleteFramebuffers(1, &backdrop->drawn);
    glDeleteRenderbuffers(1, &backdrop->color);
    glDeleteRenderbuffers(1, &backdrop->depth);
    memset(backdrop, 0, sizeof *backdrop);
}
