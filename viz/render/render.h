/* The renderer: OpenGL 3.3 core through libepoxy, into the bound framebuffer. Used for windows and pictures. */
#pragma once

#include "overlay/overlay_mesh.h"
#include "scene/camera.h"

/* Statistics of the last picture. */
typedef struct hot_render_counts {
    size_t glyphs, sticks; /* drawn */
    size_t triangles;      /* of surfaces and sticks */
    size_t culled;         /* glyphs outside the picture */
} hot_render_counts;

typedef struct hot_renderer hot_renderer;

/* Needs a current OpenGL 3.3 core context on this thread until hot_renderer_destroy has returned. Errors:
 * HOT_ERROR_DEVICE (version, or a shader, with the driver's log), HOT_ERROR_MEMORY. */
hot_status hot_renderer_create(hot_context *context, hot_renderer **renderer);
void hot_renderer_destroy(hot_renderer **renderer);
/* Whether a GL_RENDERER string names a driver that draws on the CPU, and whether the current context has one. */
int hot_renderer_is_software(const char *device);
int hot_render_in_software(void);
/* Drops uploaded data. Call it when a scene's data have changed; a different scene is detected without it. */
void hot_renderer_invalidate(hot_renderer *renderer);

/* Whether the next picture's framebuffer needs a depth buffer. */
int hot_renderer_needs_depth(const hot_renderer *renderer, const hot_scene *scene, const hot_view_state *state);
/* Draws a picture into the bound framebuffer of width x height pixels. overlay may be NULL. Buffers are created on
 * first use; unchanged data are neither computed nor uploaded again. */
hot_status hot_renderer_draw(hot_renderer *renderer, const hot_scene *scene, const hot_view_state *state, int width,
                             int height, const hot_overlay_mesh *overlay);
/* The same for a part of it, x y width height, into a framebuffer of the part's size: pictures larger than the driver
 * allows. */
hot_status hot_renderer_draw_part(hot_renderer *renderer, const hot_scene *scene, const hot_view_state *state,
                                  int picture_width, int picture_height, const int part[4],
                                  const hot_overlay_mesh *overlay);
const hot_render_counts *hot_renderer_counts(const hot_renderer *renderer);
/* The GL_RENDERER string: "llvmpipe (LLVM 15.0.6, 256 bits)". */
const char *hot_renderer_device(const hot_renderer *renderer);

/* Reads the bound framebuffer: width x height x 3 bytes, or 4 with alpha, rows from the top. */
hot_status hot_renderer_read(hot_renderer *renderer, int width, int height, int channels, uint8_t *rgb);
