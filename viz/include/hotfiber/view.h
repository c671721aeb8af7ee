/* The viewer as a library: displays fields in memory in a window, or draws them to a file without a display.
 *
 * libhotview; hotfiber-view uses the same code. */
#ifndef HOTFIBER_VIEW_H
#define HOTFIBER_VIEW_H

#include <hotfiber/hotfiber.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tensors in CUDA memory, drawn without a copy to the host. Needs libhotview_cuda.so next to libhotview, and OpenGL on
 * the same card. */
typedef struct hot_view_device_tensors {
    const hot_grid *grid;
    int order;           /* 2, 4, 6 or 8 */
    const float *values; /* CUDA memory: voxels x (1 + unique values), as in hot_tensor_field_values. All kernels
                            that write them must have finished (cudaStreamSynchronize). */
} hot_view_device_tensors;

/* The fields to show. Every pointer may be NULL, but tensors, device_tensors or fibers are required. All fields must
 * be on one grid. */
typedef struct hot_view_fields {
    size_t size;                     /* sizeof(hot_view_fields) */
    const hot_tensor_field *tensors; /* shown as surfaces */
    const hot_fiber_field *fibers;   /* shown as sticks */
    const float *background;         /* image behind the glyphs, one float per voxel */
    const hot_mask *mask;            /* restricts the glyphs */
    const hot_view_device_tensors *device_tensors; /* instead of tensors */
} hot_view_fields;
#define HOT_VIEW_FIELDS_INIT HOT_SIZED(hot_view_fields)

typedef struct hot_view_options {
    size_t size;                 /* sizeof(hot_view_options) */
    int width, height;           /* of the window or picture, pixels; 0 = 1024 x 768 */
    const char *screenshot;      /* PNG file to write; NULL = open a window */
    const char *const *settings; /* pairs of setting and value as in hotfiber-view ("plane", "coronal", ...),
                                    terminated by NULL; NULL = defaults */
} hot_view_options;
#define HOT_VIEW_OPTIONS_INIT HOT_SIZED(hot_view_options)

/* Opens a window and returns when it is closed, or writes one picture if options->screenshot is set. Fields are copied
 * only to the graphics card and must not change during the call. options may be NULL. Example:
 * viz/window/example_view.c.
 * Errors: HOT_ERROR_ARGUMENT (no tensors or fibers, an invalid setting), HOT_ERROR_DATA (different grids),
 * HOT_ERROR_DEVICE (no display, no OpenGL 3.3), HOT_ERROR_FILE, HOT_ERROR_MEMORY.
 * Threads: windows need the main thread, as window systems require; pictures may be drawn by any thread. */
HOT_API hot_status hot_view_show(hot_context *context, const hot_view_fields *fields, const hot_view_options *options);

#ifdef __cplusplus
}
#endif
#endif
