/* The window's picture off the screen: it is drawn when it changes, and copied under the panel in every frame. */
#pragma once

#include <hotfiber/context.h>

typedef struct hot_backdrop {
    unsigned drawn, color, depth; /* OpenGL's names; the samples of a pixel are one after the copy */
    int width, height, samples;
} hot_backdrop;

/* Binds the picture's framebuffer, of this size, for drawing. Zeroed before the first call. Errors:
 * HOT_ERROR_DEVICE. */
hot_status hot_backdrop_bind(hot_context *context, hot_backdrop *backdrop, int width, int height, int samples);
/* Copies it to the window's lower left corner, and binds the window's framebuffer. */
void hot_backdrop_show(const hot_backdrop *backdrop);
void hot_backdrop_free(hot_backdrop *backdrop);
