/* A drawing surface without a display: an EGL surfaceless context (or a pbuffer, or a device's own display) and a
 * multisampled framebuffer of the size asked for. */
#ifndef HOT_VIZ_HEADLESS_H
#define HOT_VIZ_HEADLESS_H

#include <hotfiber/context.h>

typedef struct hot_headless hot_headless;

/* Makes an OpenGL 3.3 core context current on this thread. Errors: HOT_ERROR_DEVICE, with what EGL said and what would
 * help. */
hot_status hot_headless_create(hot_context *context, hot_headless **headless);
/* Binds a framebuffer of width x height with `samples` samples a pixel (as many as the driver has, at most). */
hot_status hot_headless_resize(hot_headless *headless, int width, int height, int samples);
/* Adds depth to that framebuffer, which has none until then: in software it is much of what a picture takes. */
hot_status hot_headless_add_depth(hot_headless *headless);
/* Puts the samples together and binds the result for reading. */
void hot_headless_resolve(hot_headless *headless);
void hot_headless_destroy(hot_headless **headless);

#endif
