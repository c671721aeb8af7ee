/* The viewer as a library: displays fields in memory in a window, or draws them to a file without a display.
 *
 * libhotview; hotfiber-view uses the same code. */
#ifndef HOTFIBER_VIEW_H
#define HOTFIBER_VIEW_H

#include <hotfiber/hotfiber.h>

HOT_C_BEGIN

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
    int in_poll;                 /* hot_view_open alone: 1 = the window belongs to the calling thread, see there */
} hot_view_options;
#define HOT_VIEW_OPTIONS_INIT HOT_SIZED(hot_view_options)

/* Opens a window and returns when it is closed, or writes one picture if options->screenshot is set. Fields are copied
 * only to the graphics card and must not change during the call. options may be NULL. Example:
 * viz/window/example_view.c.
 * Errors: HOT_ERROR_ARGUMENT (no tensors or fibers, an invalid setting), HOT_ERROR_DATA (different grids),
 * HOT_ERROR_DEVICE (no display, no OpenGL 3.3), HOT_ERROR_FILE, HOT_ERROR_MEMORY.
 * Threads: windows need the main thread, as window systems require; pictures may be drawn by any thread. */
HOT_API hot_status hot_view_show(hot_context *context, const hot_view_fields *fields, const hot_view_options *options);

/* ---- A window that stays open while the program computes ------------------------------------------------------- */

typedef struct hot_view hot_view;

/* Opens a window on copies of the fields and returns when it is open. Later calls of hot_view_update show new
 * slices in it; the view follows them until the user moves the crosshair. Fields of zeros are shown as empty: tensors,
 * fibers and background decide what can be updated. device_tensors are refused. The window stays open until the user
 * closes it or hot_view_close is called; closing it does not end the program. A process has one window at a time.
 * context must outlive the view and is free for other calls meanwhile; if it is cancelled (hot_context_cancel, or
 * hot_context_options.stop, which the window's thread calls, too), the window closes. options may be NULL;
 * options->screenshot must be NULL. Example: viz/window/example_live.c.
 * Threads: the library starts a thread that owns the window. With options->in_poll there is none, the window belongs to
 * the thread that has called this function, and is drawn only within hot_view_poll. On macOS, where windows need the
 * main thread, in_poll is always 1: call hot_view_open and hot_view_poll from the main thread and compute in another.
 * Errors: those of hot_view_show, and HOT_ERROR_DEVICE if a window is open; *view is then NULL. A program that can do
 * without a window prints hot_context_message(context) and continues: the other functions accept a view of NULL. */
HOT_API hot_status hot_view_open(hot_context *context, const hot_view_fields *fields, const hot_view_options *options,
                                 hot_view **view);

/* New values of some slices. NULL = unchanged. */
typedef struct hot_view_slices {
    size_t size;             /* sizeof(hot_view_slices) */
    size_t first, count;     /* slices first ... first + count - 1 along the third axis of the grid */
    const float *tensors;    /* each as the array of the whole field, beginning with slice `first` */
    const float *peaks;
    const float *background;
} hot_view_slices;
#define HOT_VIEW_SLICES_INIT HOT_SIZED(hot_view_slices)

/* Copies slices into the view, whose thread draws them later. After the window was closed, and with a view of NULL, it
 * does nothing. Any number of threads at once, each with its own context.
 * Errors: HOT_ERROR_ARGUMENT (slices outside the grid; an array that the view was opened without). */
HOT_API hot_status hot_view_update(hot_context *context, hot_view *view, const hot_view_slices *slices);

/* Waits up to `seconds` for the user to close the window (0 = not at all, negative = without limit) and sets *open to 0
 * when it is closed, else to 1; to 0 with a view of NULL. With options->in_poll the window is drawn and its events are
 * handled meanwhile: call it ten times a second or more, from the thread of hot_view_open. Errors: those of the window,
 * HOT_ERROR_DEVICE and HOT_ERROR_MEMORY, and HOT_ERROR_CANCELLED if `context` is cancelled. */
HOT_API hot_status hot_view_poll(hot_context *context, hot_view *view, double seconds, int *open);

/* Closes the window unless the user has, frees the view and sets *view to NULL. From the thread of hot_view_open. */
HOT_API void hot_view_close(hot_view **view);

HOT_C_END
#endif
