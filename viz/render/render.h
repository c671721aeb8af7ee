/* The renderer: OpenGL 3.3 core through libepoxy, into whatever framebuffer is bound. One for window and pictures. */
#ifndef HOT_VIZ_RENDER_H
#define HOT_VIZ_RENDER_H

#include "overlay/overlay_mesh.h"
#include "scene/camera.h"

/* What the last picture took. */
typedef struct hot_render_counts {
    size_t glyphs, sticks; /* drawn */
    size_t triangles;      /* of surfaces and sticks */
    size_t culled;         /* glyphs left out because they are outside the picture */
} hot_render_counts;

typedef struct hot_renderer hot_renderer;

/* Needs a current OpenGL >= 3.3 core context on this thread, until hot_renderer_destroy (which needs it as well).
 * Errors: HOT_ERROR_DEVICE (version, shader, with the driver's words), HOT_ERROR_MEMORY. */
hot_status hot_renderer_create(hot_context *context, hot_renderer **renderer);
void hot_renderer_destroy(hot_renderer **renderer);
/* Whether a GL_RENDERER string names a driver that draws on the CPU, and whether the current context has one. */
int hot_renderer_is_software(const char *device);
int hot_render_in_software(void);
/* Forgets what was uploaded: call it when a scene's data changed. Another scene is noticed without. */
void hot_renderer_invalidate(hot_renderer *renderer);

/* Whether the framebuffer that the next picture is drawn into must have depth. */
int hot_renderer_needs_depth(const hot_renderer *renderer, const hot_scene *scene, const hot_view_state *state);
/* Draws a picture of width x height pixels into the bound framebuffer, whose size it must have. overlay may be NULL.
 * Buffers are made when first needed and kept; only what changed is computed again. */
hot_status hot_renderer_draw(hot_renderer *renderer, const hot_scene *scene, const hot_view_state *state, int width,
                             int height, const hot_overlay_mesh *overlay);
const hot_render_counts *hot_renderer_counts(const hot_renderer *renderer);
/* "llvmpipe (LLVM 15.0.6, 256 bits)": what draws. */
const char *hot_renderer_device(const hot_renderer *renderer);

/* The picture that was drawn last into the bound framebuffer: width x height x 3 bytes, rows from the top. */
hot_status hot_renderer_read(hot_renderer *renderer, int width, int height, uint8_t *rgb);

#endif
