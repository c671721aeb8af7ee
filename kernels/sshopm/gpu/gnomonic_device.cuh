/* Shared by the kernels that iterate in the gnomonic projection (gnomonic.h), for all orders. */
#ifndef HOT_SSHOPM_GNOMONIC_DEVICE_CUH
#define HOT_SSHOPM_GNOMONIC_DEVICE_CUH

#include <string.h>

#include "common/approximate.cuh"
#include "gnomonic_table.h"
#include "sshopm_device.cuh"

struct gnomonic_constants {
    const float *matrix;        /* unique x terms, the multiplicities, and hot_gnomonic_shift_table's values */
    const double *multiplicity; /* unique */
    float frame[3][3];
    float tolerance;
    unsigned per_warp;    /* tensors that a warp takes at a time, at most GNOMONIC_SLOTS */
    unsigned part, parts; /* and how many of their starts, of how many such parts */
    unsigned projected;   /* starts whose (u, v) a block keeps (even); 0: too many */
    int first_steps;      /* steps before the first convergence check, two or more */
    int refill;           /* idle lanes that are worth a round of new starts */
};

/* The constants that do not depend on the number of tensors. */
static inline gnomonic_constants gnomonic_constants_make(const hot_sshopm_args *args, const hot_sshopm_tables *tables)
{
    gnomonic_constants constants;
    memset(&constants, 0, sizeof constants);
    constants.matrix = tables->gnomonic;
    constants.multiplicity = tables->multiplicity;
    constants.tolerance = (float)args->tolerance;
    constants.refill = 8; /* measured: 4 to 12 are alike, 20 costs 7 % */
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            constants.frame[k][d] = (float)hot_gnomonic_frame[k][d];
    return constants;
}

/* The attributes (none or one) of a launch that may begin while the kernel before it in its stream still runs, and
 * waits for its end by cudaGridDependencySynchronize. */
static inline unsigned launch_early(cudaLaunchAttribute *attribute, void *stream)
{
    int device = 0, major = 0;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    memset(attribute, 0, sizeof *attribute);
    attribute->id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute->val.programmaticStreamSerializationAllowed = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    /* not in a graph, where what comes before may be no kernel */
    if (cudaStreamIsCapturing((cudaStream_t)stream, &capture) != cudaSuccess)
        cudaGetLastError();
    return major >= 9 && capture == cudaStreamCaptureStatusNone;
}

/* Start number `start` in the projection. */
static __device__ __forceinline__ float2 gnomonic_project(const hot_sshopm_args &args,
                                                          const gnomonic_constants &constants, size_t start)
{
    const float *x = (const float *)args.start + start * 3;
    float p[3];
#pragma unroll
    for (int k = 0; k < 3; k++)
        p[k] = fmaf(constants.frame[k][0], x[0], fmaf(constants.frame[k][1], x[1], constants.frame[k][2] * x[2]));
    const float inverse = approximate_reciprocal(p[2]);
    return make_float2(p[0] * inverse, p[1] * inverse);
}

#endif
