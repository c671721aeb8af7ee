/* The viewer in a program: a window on fields that are in memory, or a picture of them without a display.
 *
 * libhotview; the command hotfiber-view is the same code. */
#ifndef HOTFIBER_VIEW_H
#define HOTFIBER_VIEW_H

#include <hotfiber/hotfiber.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tensors that are in CUDA memory already, because they were computed there: they are drawn without coming to the host.
 * Needs libhotview_cuda.so beside libhotview, and OpenGL on the same card. */
typedef struct hot_view_device_tensors {
    const hot_grid *grid;
    int order;           /* 2, 4, 6 or 8 */
    const float *values; /* CUDA memory: voxels x (1 + unique values), as hot_tensor_field_values; all work that writes
                            them is done (cudaStreamSynchronize) */
} hot_view_device_tensors;

/* What to show; every pointer may be NULL, but tensors, device_tensors or fibers must be there, on one grid. */
typedef struct hot_view_fields {
    size_t size;                     /* sizeof(hot_view_fields) */
    const hot_tensor_field *tensors; /* drawn as surfaces */
    const hot_fiber_field *fibers;   /* drawn as sticks */
    const float *background;         /* one float per voxel, behind them */
    const hot_mask *mask;            /* where glyphs are drawn */
    const hot_view_device_tensors *device_tensors; /* instead of tensors */
} hot_view_fields;
#define HOT_VIEW_FIELDS_INIT HOT_SIZED(hot_view_fields)

typedef struct hot_view_options {
    size_t size;                 /* sizeof(hot_view_options) */
    int width, height;           /* of the window or picture; 0 = 1024 x 768 */
    const char *screenshot;      /* a PNG to write instead of a window; NULL = a window */
    const char *const *settings; /* pairs of name and value as hotfiber-view has them ("plane", "coronal", ...), NULL
                                    after the last; NULL = all defaults */
} hot_view_options;
#define HOT_VIEW_OPTIONS_INIT HOT_SIZED(hot_view_options)

/* Shows fields in a window and returns when it is closed, or writes one picture when options->screenshot says so.
 * Nothing is copied but to the graphics card; the fields must not change meanwhile. options may be NULL.
 * viz/window/example_view.c is a program that does this.
 * Errors: HOT_ERROR_ARGUMENT (nothing to show, another grid, a setting out of its bounds), HOT_ERROR_DEVICE (no
 * display, no OpenGL 3.3), HOT_ERROR_FILE, HOT_ERROR_MEMORY. Threads: the main thread, as window systems demand; a
 * picture: any. */
HOT_API hot_status hot_view_show(hot_context *context, const hot_view_fields *fields, const hot_view_options *options);

#ifdef __cplusplus
}
#endif
#endif
