/* Tensors that stay on the GPU: CUDA and OpenGL of one card hand them over to each other, and the host never sees them.
 * What needs CUDA is a library of its own, libhotview_cuda, loaded when such tensors are shown: the viewer needs no
 * CUDA. */
#ifndef HOT_VIZ_INTEROP_H
#define HOT_VIZ_INTEROP_H

#include "glyph.h"

/* What that library gives. Every function returns 0, or an error that `say` puts in words. `tensors`: voxels x (1 +
 * unique values) in CUDA memory. Arrays named as host memory apart, all is as on the host: hot_glyph_radii,
 * hot_surface_gather. */
typedef struct hot_interop {
    size_t size; /* sizeof(hot_interop) */
    /* Largest radii of all voxels, into host memory. */
    int (*radii)(const hot_glyph_scan *scan, size_t voxels, const float *tensors, float *radius);
    /* The tensors of `count` voxels (host memory) as 16-bit integers, `texels` x 4 each, into the OpenGL buffer of this
     * name, which has room for them, in the context that is current; their steps into host memory. */
    int (*fill)(int terms, const float *tensors, const uint32_t *voxel, size_t count, int texels, unsigned buffer,
                float *step);
    /* One voxel's row into host memory. */
    int (*fetch)(int terms, const float *tensors, size_t voxel, float *row);
    const char *(*error_text)(int error);
} hot_interop;

/* Under this name, in libhotview_cuda.so. */
#define HOT_INTEROP_NAME "hot_interop_cuda"

/* Loads it, once; it stays loaded. Errors: HOT_ERROR_DEVICE when it is not there, with what the loader said. */
hot_status hot_interop_load(hot_context *context, const hot_interop **interop);
/* The status of what a function returned; `what` was being done. */
hot_status hot_interop_status(hot_context *context, const hot_interop *interop, int error, const char *what);

#endif
