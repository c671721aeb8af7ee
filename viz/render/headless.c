#include "headless.h"

#include <string.h>

#define EGL_NO_X11 /* epoxy/egl.h without X11 types */
#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include "common/free.h"

struct hot_headless {
    hot_context *context;
    EGLDisplay display;
    EGLContext gl;
    EGLSurface surface; /* a pbuffer, if the context needs a surface */
    int width, height, samples;
    GLuint drawn, drawn_color, drawn_depth; /* multisampled */
    GLuint read, read_color;                /* resolved samples; 0 without multisampling */
};

static int has_extension(const char *extensions, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = extensions; at && (at = strstr(at, name)) != NULL; at += length)
        if ((at == extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return 1;
    return 0;
}

/* Creates a context on a display; returns 0 on failure. Core profile: legacy contexts of some drivers end at 3.0. */
static int try_display(hot_headless *made, EGLDisplay display)
{
    /* compute shaders need 4.3, everything else 3.3 */
    static const EGLint versions[2][7] = {
        {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
         EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE},
        {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
         EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE}};
    static const EGLint any[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE};
    static const EGLint small[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    EGLint major, minor, count = 0;
    EGLConfig config = NULL;
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, &major, &minor))
        return 0;
    made->display = display;
    const char *extensions = eglQueryString(display, EGL_EXTENSIONS);
    if (!eglBindAPI(EGL_OPENGL_API))
        goto failed;
    eglChooseConfig(display, any, &config, 1, &count);
    if (count < 1 && !has_extension(extensions, "EGL_KHR_no_config_context"))
        goto failed;
    for (int w = 0; w < 2 && made->gl == EGL_NO_CONTEXT; w++)
        made->gl = eglCreateContext(display, count ? config : NULL, EGL_NO_CONTEXT, versions[w]);
    if (made->gl == EGL_NO_CONTEXT)
        goto failed;
    if (!has_extension(extensions, "EGL_KHR_surfaceless_context") && count)
        made->surface = eglCreatePbufferSurface(display, config, small);
    if (eglMakeCurrent(display, made->surface, made->surface, made->gl) && epoxy_gl_version() >= 33)
        return 1;
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
failed:
    if (made->surface != EGL_NO_SURFACE)
        eglDestroySurface(display, made->surface);
    if (made->gl != EGL_NO_CONTEXT)
        eglDestroyContext(display, made->gl);
    made->surface = EGL_NO_SURFACE;
    made->gl = EGL_NO_CONTEXT;
    made->display = EGL_NO_DISPLAY;
    eglTerminate(display);
    return 0;
}

/* software = 0: GPUs; 1: Mesa's software device. */
static int try_devices(hot_headless *made, int software)
{
    enum { MAX_DEVICES = 32 };
    EGLDeviceEXT devices[MAX_DEVICES];
    EGLint count = 0;
    if (!eglQueryDevicesEXT(MAX_DEVICES, devices, &count))
        return 0;
    for (EGLint d = 0; d < count; d++) {
        const char *extensions = eglQueryDeviceStringEXT(devices[d], EGL_EXTENSIONS);
        if (has_extension(extensions, "EGL_MESA_device_software") == software &&
            try_display(made, eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[d], NULL)))
            return 1;
    }
    return 0;
}

static int find_display(hot_headless *made)
{
    const char *client = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    const int platforms = has_extension(client, "EGL_EXT_platform_base");
    const int devices = platforms && has_extension(client, "EGL_EXT_platform_device") &&
                        (has_extension(client, "EGL_EXT_device_enumeration") ||
                         has_extension(client, "EGL_EXT_device_base"));
    if (devices && try_devices(made, 0))
        return 1;
    if (platforms && has_extension(client, "EGL_MESA_platform_surfaceless") &&
        try_display(made, eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL)))
        return 1;
    if (devices && try_devices(made, 1))
        return 1;
    return try_display(made, eglGetDisplay(EGL_DEFAULT_DISPLAY));
}

hot_status hot_headless_create(hot_context *context, hot_headless **headless)
{
    *headless = NULL;
    if (!epoxy_has_egl())
        return hot_context_fail(context, HOT_ERROR_DEVICE,
                                "pictures without a display need EGL: libEGL.so.1 is missing (Debian: "
                                "libegl1, and libgl1-mesa-dri to draw in software)");
    hot_headless *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = (hot_headless){
        .context = context, .display = EGL_NO_DISPLAY, .gl = EGL_NO_CONTEXT, .surface = EGL_NO_SURFACE};
    if (!find_display(made)) {
        hot_context_free(context, made);
        return hot_context_fail(context, HOT_ERROR_DEVICE,
                                "no driver provides an OpenGL 3.3 context without a display through EGL "
                                "(Debian: libgl1-mesa-dri draws in software)");
    }
    *headless = made;
    return HOT_OK;
}

hot_status hot_headless_adopt(hot_context *context, hot_headless **headless)
{
    hot_headless *made = hot_context_calloc(context, 1, sizeof *made);
    *headless = made;
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = (hot_headless){
        .context = context, .display = EGL_NO_DISPLAY, .gl = EGL_NO_CONTEXT, .surface = EGL_NO_SURFACE};
    return HOT_OK;
}

static void free_buffers(hot_headless *headless)
{
    glDeleteFramebuffers(1, &headless->drawn);
    glDeleteFramebuffers(1, &headless->read);
    glDeleteRenderbuffers(1, &headless->drawn_color);
    glDeleteRenderbuffers(1, &headless->drawn_depth);
    glDeleteRenderbuffers(1, &headless->read_color);
    headless->drawn = headless->read = headless->drawn_color = headless->drawn_depth = headless->read_color = 0;
}

static void make_buffer(GLuint *name, GLenum format, int samples, int width, int height, GLenum attachment)
{
    glGenRenderbuffers(1, name);
    glBindRenderbuffer(GL_RENDERBUFFER, *name);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, *name);
}

hot_status hot_headless_resize(hot_headless *headless, int width, int height, int samples)
{
    GLint max_size = 0, max_samples = 0;
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &max_size);
    glGetIntegerv(GL_MAX_SAMPLES, &max_samples);
    if (width < 1 || height < 1 || width > max_size || height > max_size)
        return hot_context_fail(headless->context, HOT_ERROR_ARGUMENT,
                                "cannot draw %d x %d pixels; the limit of this driver is %d x %d", width, height,
                                max_size, max_size);
    if (samples > max_samples)
        samples = max_samples;
    free_buffers(headless);
    while (glGetError() != GL_NO_ERROR) { /* errors below belong to these buffers */
    }
    if (samples > 1) {
        glGenFramebuffers(1, &headless->read);
        glBindFramebuffer(GL_FRAMEBUFFER, headless->read);
        make_buffer(&headless->read_color, GL_RGBA8, 0, width, height, GL_COLOR_ATTACHMENT0);
    }
    glGenFramebuffers(1, &headless->drawn);
    glBindFramebuffer(GL_FRAMEBUFFER, headless->drawn);
    make_buffer(&headless->drawn_color, GL_RGBA8, samples > 1 ? samples : 0, width, height, GL_COLOR_ATTACHMENT0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE || glGetError() != GL_NO_ERROR)
        return hot_context_fail(headless->context, HOT_ERROR_DEVICE,
                                "not enough memory for a picture of %d x %d pixels", width, height);
    headless->width = width;
    headless->height = height;
    headless->samples = samples > 1 ? samples : 0;
    return HOT_OK;
}

hot_status hot_headless_add_depth(hot_headless *headless)
{
    if (headless->drawn_depth)
        return HOT_OK;
    while (glGetError() != GL_NO_ERROR) { /* errors below belong to this buffer */
    }
    glBindFramebuffer(GL_FRAMEBUFFER, headless->drawn);
    make_buffer(&headless->drawn_depth, GL_DEPTH_COMPONENT24, headless->samples, headless->width, headless->height,
                GL_DEPTH_ATTACHMENT);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE || glGetError() != GL_NO_ERROR)
        return hot_context_fail(headless->context, HOT_ERROR_DEVICE,
                                "not enough memory for a picture of %d x %d pixels", headless->width,
                                headless->height);
    return HOT_OK;
}

void hot_headless_bind(hot_headless *headless) { glBindFramebuffer(GL_FRAMEBUFFER, headless->drawn); }

void hot_headless_resolve(hot_headless *headless)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, headless->drawn);
    if (!headless->read)
        return;
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, headless->read);
    glBlitFramebuffer(0, 0, headless->width, headless->height, 0, 0, headless->width, headless->height,
                      GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, headless->read);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, headless->drawn);
}

void hot_headless_destroy(hot_headless **headless)
{
    HOT_DESTROY_BEGIN(hot_headless, headless);
    free_buffers(gone);
    if (gone->display != EGL_NO_DISPLAY)
        eglMakeCurrent(gone->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (gone->surface != EGL_NO_SURFACE)
        eglDestroySurface(gone->display, gone->surface);
    if (gone->gl != EGL_NO_CONTEXT)
        eglDestroyContext(gone->display, gone->gl);
    /* the display is not terminated: it belongs to the process, and a host program may draw on it */
    hot_context_free(gone->context, gone);
}
