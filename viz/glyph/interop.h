/* Tensors that stay on the GPU: CUDA passes them to OpenGL on the same card without a copy through the host. The CUDA
 * code is in a separate library, libhotview_cuda, loaded when such tensors are shown, so that the viewer does not
 * depend on CUDA. */
#pragma once

#include "glyph.h"

/* The functions of that library. Each returns 0, or an error that error_text describes. tensors: voxels x (1 + unique
 * values) in CUDA memory. Other arguments and results as in hot_glyph_radii and hot_surface_gather. */
typedef struct hot_interop {
    size_t size; /* sizeof(hot_interop) */
    /* Largest radii of all voxels, to host memory. */
    int (*radii)(const hot_glyph_scan *scan, size_t voxels, const float *tensors, float *radius);
    /* Writes the tensors of `count` voxels (host memory) as 16-bit integers, `texels` x 4 each, to the OpenGL buffer of
     * this name in the current context. The buffer must be large enough. ellipsoids: 1 = hot_ellipsoid_tensor of each.
     * step: host memory. */
    int (*fill)(int terms, const float *tensors, const uint32_t *voxel, size_t count, int texels, int ellipsoids,
                unsigned buffer, float *step);
    /* One voxel's row, to host memory. */
    int (*fetch)(int terms, const float *tensors, size_t voxel, float *row);
    const char *(*error_text)(int error);
} hot_interop;

/* Its symbol in libhotview_cuda.so. */
#define HOT_INTEROP_NAME "hot_interop_cuda"

/* Loads the library; it stays loaded. Errors: HOT_ERROR_DEVICE if it is missing, with the loader's message. */
hot_status hot_interop_load(hot_context *context, const hot_interop **interop);
/* Converts the return value of a function to a status; `what` says what it did, for the message. */
hot_status hot_interop_status(hot_context *context, const hot_interop *interop, int error, const char *what);
