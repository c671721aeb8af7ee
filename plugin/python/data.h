/* Data sets over NumPy's arrays, which are used where they are. */
#pragma once

#include <hotfiber/hotfiber.h>

/* A data set whose samples stay in the caller's memory, which must outlive it.
 * grid, volumes, b, gradients: as in hot_dwi_create. limit: how far from 1 the squared lengths of unit vectors may be;
 * longer or shorter ones are read as in a file (io/vector_lengths.h). 0 = unit vectors, taken bit by bit. data: the
 * first sample. sample: its type, 0 ... 9 for int8, uint8, int16, uint16, int32, uint32, int64, uint64, float, double.
 * stride, apart: from voxel to voxel along i, j, k, and from volume to volume, in samples.
 * Errors: those of hot_dwi_create. Owner: the caller, until hot_dwi_destroy. */
HOT_API hot_status hot_python_dwi(hot_context *context, const hot_grid *grid, size_t volumes, const double *b,
                                  const double *gradients, double limit, const void *data, int sample,
                                  const size_t stride[3], size_t apart, hot_dwi **dwi);
/* Leaves volumes without a signal out, with a warning: before fits, which would take their zeros for signals. */
HOT_API hot_status hot_python_drop_empty(hot_context *context, hot_dwi *dwi);
/* The matrix, row by row, that takes a vector of FSL's bvec files into world axes of the grid. */
HOT_API void hot_python_bvec_frame(const hot_grid *grid, double *frame);

/* The samples of the posterior in `count` voxels of the grid, all of them in the mask: vectors in world axes whose
 * length is the volume fraction, 0 for absent fibres; `vectors` has count x size[0] x size[1] x 3 floats, with size the
 * number of samples and of fibres, which hot_python_samples_size tells. */
HOT_API void hot_python_samples_size(const hot_signal_samples *samples, int size[2]);
HOT_API void hot_python_samples(const hot_signal_samples *samples, const hot_grid *grid, size_t count,
                                const size_t *voxels, float *vectors);
