/* A decomposition with all data on the GPU: for the backends on arrays of the host and of the GPU, kept tensors and
 * benchmarks. */
#pragma once

#include "common/cublas.h"
#include "cpd_pass.h"
#include "cpd/cpd_args.h"

HOT_C_BEGIN

/* State that several devices (below) of one tensor may share; owned by the caller. Members may be NULL. */
typedef struct hot_cpd_shared {
    hot_cpd_packed_tensor *packed;
    hot_cublas *cublas; /* with that stream */
    void *stream;       /* a cudaStream_t */
} hot_cpd_shared;

/* The tensor and what its products need, on the current device. */
typedef struct hot_cpd_device {
    int f64;
    hot_cpd_arithmetic arithmetic;
    size_t n[3], rank;
    /* for the tensor-core kernels, where these can be used; products then need none of the next three */
    hot_cpd_packed_tensor *packed;
    int shared;                /* packed, cublas and stream are the caller's; memory is the driver's */
    int queued;                /* arrays are in device memory: stream is the context's, cublas is one that it keeps */
    void *workspace;           /* of that cublas */
    hot_cpd_pass *pass;
    const void *x;             /* of the caller, or high: what the products read */
    void *high, *low;          /* HOT_CPD_SPLIT: x in two parts */
    void *sums;                /* the largest of two dimensions' product x rank; made when wanted */
    /* with pass: which of six updates is the next; their three passes serve two iterations */
    int turn;
    hot_cublas *cublas;        /* NULL: the kernels of kernels/contract */
    void *stream;              /* a new cudaStream_t, or see shared and queued */
    double *f[3], *gram[3], *product, *before, *matrix, *inverse, *work, *lambda, *inner, *fits, *parts;
    double *square;            /* ||x||^2, and behind it ||x - approximation||^2 */
    void *narrow[3], *narrow_low[3]; /* factors as the products read them */
    int *counters;             /* regularised problems, iterations */
    int capacity;              /* of fits */
} hot_cpd_device;

/* x: on the device, not owned. shared: existing state to use, or NULL. capacity: of fits; 0: products only, no
 * iterations. destroy accepts a zeroed struct. */
hot_status hot_cpd_device_create(hot_context *context, int f64, hot_cpd_arithmetic arithmetic, const size_t n[3],
                                 size_t rank, const void *x, const hot_cpd_shared *shared, int capacity,
                                 hot_cpd_device *device);
void hot_cpd_device_destroy(hot_context *context, hot_cpd_device *device);

/* Launches the product for a mode (0, 1, 2) of the narrow factors into device->product. fresh: compute the sums over k
 * (modes 0 and 1) again. */
hot_status hot_cpd_device_product(hot_context *context, hot_cpd_device *device, int mode, int fresh);

/* Launches what turns the narrow factor of a mode, once it is complete, into what products read. */
hot_status hot_cpd_device_take_factor(hot_context *context, hot_cpd_device *device, int mode);

/* f[mode] (double, any lengths) to unit columns, with everything that follows from it: lambda, narrow, Gram matrix. */
hot_status hot_cpd_device_publish(hot_context *context, hot_cpd_device *device, int mode);

/* Launches one iteration: all three updates and the fit, into fits[counters[1]++]. Every second one is alike. */
hot_status hot_cpd_device_iterate(hot_context *context, hot_cpd_device *device, int non_negative);

/* ||x||^2 into device->square. square: NULL, or waits and stores it there; HOT_ERROR_DATA then for NaN or Inf. */
hot_status hot_cpd_device_square(hot_context *context, hot_cpd_device *device, const void *x, double *square);
/* ||x - approximation||^2 into device->square[1]; residual: NULL, or waits and stores it there. */
hot_status hot_cpd_device_residual(hot_context *context, hot_cpd_device *device, const void *x, double *residual);
/* Launches what stores the first `count` values of device->product in the tensor's precision (on the device). */
hot_status hot_cpd_device_narrow(hot_context *context, hot_cpd_device *device, size_t count, void *to);
/* Another stream, for what follows. For a device that shares its stream, and a cuBLAS that has the same. */
void hot_cpd_device_set_stream(hot_cpd_device *device, void *stream);
/* X_(mode) X_(mode)^T times the narrow factor of the mode into product. */
hot_status hot_cpd_device_unfold_twice(hot_context *context, hot_cpd_device *device, int mode);

/* Whether these sizes are within the limits of the kernels; and a copy of x, from host or device memory, on the device
 * (to be freed by cudaFree, also after an error). */
hot_status hot_cpd_fits_kernels(hot_context *context, const size_t n[3], size_t rank);
hot_status hot_cpd_put_tensor(hot_context *context, int f64, const size_t n[3], const void *x, void **device);

HOT_C_END
