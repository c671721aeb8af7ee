/* The renderer's parts, each with its own OpenGL objects. Included by viz/render/render*.c only. */
#pragma once

#include <epoxy/gl.h>

#include "scene/glyph_set.h"
#include "scene/lines.h"
#include "raster/raster.h"
#include "render.h"

/* ---- render_program.c ------------------------------------------------------------------------------------- */

/* Compiles and links a program. `head` precedes the vertex shader's text, `fragment_head` the fragment shader's.
 * Errors: HOT_ERROR_DEVICE with the compiler's log. */
hot_status hot_program_create(hot_context *context, const char *name, const char *head, const char *vertex,
                              const char *fragment_head, const char *fragment, GLuint *program);
/* Head of the surface shaders: shade(), form() for A x^m and A x^(m-1) of one order, written out term by term, and
 * surface(). Context memory. */
char *hot_program_form(hot_context *context, int order);
/* A compute shader; needs OpenGL 4.3. */
hot_status hot_program_create_compute(hot_context *context, const char *name, const char *head, const char *text,
                                      GLuint *program);
void hot_program_matrix(GLuint program, const char *name, const double matrix[16]);
void hot_program_vec3(GLuint program, const char *name, const double v[3]);
void hot_program_int(GLuint program, const char *name, int value);
void hot_program_float(GLuint program, const char *name, double value);

/* A buffer texture. */
typedef struct hot_texture_buffer {
    GLuint buffer, texture;
    size_t bytes;
} hot_texture_buffer;

/* Fills it, or only allocates it if data is NULL. Memory of the same size is reused. Errors: HOT_ERROR_DEVICE if the
 * driver cannot hold this number of texels or bytes. */
hot_status hot_texture_buffer_fill(hot_context *context, hot_texture_buffer *buffer, GLenum format, size_t texel_bytes,
                                   const void *data, size_t bytes);
void hot_texture_buffer_bind(const hot_texture_buffer *buffer, int unit);
void hot_texture_buffer_free(hot_texture_buffer *buffer);

/* HOT_OK, or the OpenGL error since the last call. */
hot_status hot_gl_check(hot_context *context, const char *what);

/* ---- render_raster.c -------------------------------------------------------------------------------------- */

/* Copies what the CPU rasteriser (viz/raster/raster.h) draws to the framebuffer. */
typedef struct hot_raster_renderer {
    hot_raster *raster;
    GLuint program, color, depth, empty_array;
    int samples, depths;    /* of the compiled program */
    int width, height;      /* of the textures, in texels */
    uint8_t (*pixels)[4];   /* one band of the picture: */
    float *deep;
    size_t capacity;        /* texels allocated */
} hot_raster_renderer;

/* depths: whether depth is needed because other things are drawn at the same depths. bottom: the viewport's lower edge
 * in the framebuffer. */
hot_status hot_raster_show(hot_context *context, hot_raster_renderer *raster, const hot_raster_job *job, int depths,
                           int bottom);
void hot_raster_renderer_free(hot_context *context, hot_raster_renderer *raster);

/* ---- render_tiles.c --------------------------------------------------------------------------------------- */

/* Draws surfaces by compute shaders. */
typedef struct hot_tile_renderer {
    int order;                /* of the compiled programs */
    int wide;                 /* depth and colour are one 64-bit value, in `depth` */
    GLuint small, large;      /* for spheres with few and with many vertices */
    GLuint show, empty_array, depth, color;
    int samples;              /* of the compiled `show` */
    size_t capacity;          /* samples allocated in depth and color */
    struct {
        hot_texture_buffer sphere, corners;
        int vertices, triangles;
    } level[HOT_SPHERES];
} hot_tile_renderer;

/* Whether the driver has OpenGL 4.3 and 64-bit atomics: one pass writes depth and colour. Without these atomics
 * compute shaders need two passes, which may be slower than the hardware's rasteriser. */
int hot_tiles_in_one_pass(void);
/* Whether compute shaders draw glyphs of this level. Larger ones are drawn by the pipeline. */
int hot_tiles_can_draw(const hot_surface_list *list, const hot_viewport *viewport, int level);
/* Whether they draw all glyphs of a largest radius of `reach` pixels. */
int hot_tiles_can_draw_all(const hot_scene *scene, const hot_view_state *state, double reach);
/* Draws these levels into the framebuffer. items and values: the buffers of the pipeline's shaders. */
hot_status hot_tiles_show(hot_context *context, hot_tile_renderer *tiles, const hot_raster_job *job,
                          const hot_texture_buffer *items, const hot_texture_buffer *values, int bottom);
void hot_tiles_free(hot_tile_renderer *tiles);

/* ---- render_glyphs.c -------------------------------------------------------------------------------------- */

/* Inputs of the selection of a viewport's glyphs, which is kept while they are equal. Zeroed before it is filled
 * because memcmp compares it. */
typedef struct hot_glyph_key {
    unsigned scene; /* serial number */
    int space, axis, plane, voxel[3], extent, slab, lock_axes, use_mask, surfaces, kinds, cpu, ellipsoids;
    double threshold, normal[3];
} hot_glyph_key;

typedef struct hot_style_key {
    double scale, mm_per_pixel, color_range[2], stick_width, matrix[16], window[2], canvas[3], opacity;
    int normalise, clip, color, detail, everywhere, width, height, frame;
    unsigned changes;
    char color_by[HOT_VIEW_NAME], background[HOT_VIEW_NAME];
} hot_style_key;

/* Inputs of a viewport's lines; zeroed before it is filled. */
typedef struct hot_line_key {
    unsigned scene, changes;
    int space, axis, extent, slab, lock_axes, use_mask, normalise, voxel[3], layers;
    double normal[3], point[3], scale, stick_width;
    hot_view_layer layer[HOT_VIEW_LAYERS];
} hot_line_key;

typedef struct hot_viewport_glyphs {
    hot_glyph_key key;
    hot_style_key style;
    int gathered, listed; /* whether key and style are set */
    hot_surface_set set;
    hot_surface_list list;
    uint32_t *voxels; /* of the sticks */
    size_t voxel_count, sticks;
    hot_line_key line_key;
    size_t lines;
    hot_texture_buffer values, items, stick_items, line_items;
} hot_viewport_glyphs;

typedef struct hot_glyph_mesh {
    GLuint array, vertices, indices;
    int copies;       /* number of spheres */
    GLsizei elements; /* indices per sphere */
} hot_glyph_mesh;

/* What depends on the order of the tensors: panes may show different orders. */
typedef struct hot_order_renderer {
    GLuint surface;
    hot_raster_renderer raster;
    hot_tile_renderer tiles;
} hot_order_renderer;

typedef struct hot_glyph_renderer {
    hot_order_renderer of[4]; /* orders 2, 4, 6, 8 */
    GLuint stick, empty_array;
    hot_glyph_mesh mesh[HOT_SPHERES];
    hot_viewport_glyphs viewport[HOT_VIEWPORTS];
    int software;     /* OpenGL runs on the CPU */
    int prefers_compute; /* --raster auto draws surfaces by compute shaders */
} hot_glyph_renderer;

hot_status hot_glyphs_prepare(hot_context *context, hot_glyph_renderer *glyphs, int which, const hot_scene *scene,
                              const hot_view_state *state, const hot_viewport *viewport);
/* Whether glyphs need OpenGL's depth buffer. */
int hot_glyphs_need_depth(const hot_glyph_renderer *glyphs, const hot_scene *scene, const hot_view_state *state);
/* bottom: the viewport's lower edge in the framebuffer, counted from below. */
hot_status hot_glyphs_draw(hot_context *context, hot_glyph_renderer *glyphs, int which, const hot_scene *scene,
                           const hot_view_state *state, const hot_viewport *viewport, int bottom,
                           hot_render_counts *counts);
void hot_glyphs_invalidate(hot_context *context, hot_glyph_renderer *glyphs);
void hot_glyphs_free(hot_context *context, hot_glyph_renderer *glyphs);

/* ---- render_image.c --------------------------------------------------------------------------------------- */

/* An image as a texture. */
typedef struct hot_image_slot {
    GLuint texture;
    unsigned scene; /* its contents: serial number */
    const hot_view_volume *volume;
    size_t frame;
} hot_image_slot;

/* Variants of the image's program: a layer or not, hollow or not, outlines or not, and a colour map. */
enum { HOT_IMAGE_PROGRAMS = 64 };

typedef struct hot_image_renderer {
    GLuint program[HOT_IMAGE_PROGRAMS]; /* 0: not compiled yet */
    GLuint mask, empty_array;
    unsigned mask_scene;
    hot_image_slot slot[1 + HOT_VIEW_LAYERS]; /* the background, then the layers */
} hot_image_renderer;

hot_status hot_image_prepare(hot_context *context, hot_image_renderer *image, const hot_scene *scene,
                             const hot_view_state *state);
void hot_image_invalidate(hot_image_renderer *image);
hot_status hot_image_draw(hot_context *context, hot_image_renderer *image, const hot_scene *scene,
                          const hot_view_state *state, const hot_viewport *viewport);
void hot_image_free(hot_image_renderer *image);

/* ---- render_overlay.c ------------------------------------------------------------------------------------- */

typedef struct hot_overlay_renderer {
    GLuint program, array, vertices, atlas;
    unsigned atlas_version;
    int has_atlas;
} hot_overlay_renderer;

/* part: x y width height of the picture. */
hot_status hot_overlay_draw(hot_context *context, hot_overlay_renderer *overlay, const hot_overlay_mesh *mesh,
                            const int part[4]);
void hot_overlay_renderer_free(hot_overlay_renderer *overlay);

/* Shader texts, from viz/shaders. */
extern const char hot_shader_surface_vert[], hot_shader_surface_frag[], hot_shader_shade_glsl[],
    hot_shader_stick_vert[], hot_shader_stick_frag[], hot_shader_image_vert[], hot_shader_image_frag[],
    hot_shader_overlay_vert[], hot_shader_overlay_frag[], hot_shader_raster_vert[], hot_shader_raster_frag[],
    hot_shader_surface_glsl[], hot_shader_tile_comp[], hot_shader_tile_frag[];
