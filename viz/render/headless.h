/* Drawing without a display: an EGL context (surfaceless, a pbuffer, or on a device) and a multisampled framebuffer. */
#pragma once

#include <hotfiber/context.h>

typedef struct hot_headless hot_headless;

/* Makes an OpenGL 3.3 core context current on this thread. Errors: HOT_ERROR_DEVICE with the missing library or driver.
 */
hot_status hot_headless_create(hot_context *context, hot_headless **headless);
/* The same in the OpenGL context that is current, which stays the caller's. */
hot_status hot_headless_adopt(hot_context *context, hot_headless **headless);
/* Binds a framebuffer of width x height pixels with `samples` samples per pixel, limited to the driver's maximum. */
hot_status hot_headless_resize(hot_headless *headless, int width, int height, int samples);
/* Adds a depth buffer to that framebuffer. It is optional because in software it takes much of a picture's time. */
hot_status hot_headless_add_depth(hot_headless *headless);
/* Makes its framebuffer the one to draw to, after one was read. */
void hot_headless_bind(hot_headless *headless);
/* Resolves the samples and binds the result for reading. */
void hot_headless_resolve(hot_headless *headless);
void hot_headless_destroy(hot_headless **headless);
