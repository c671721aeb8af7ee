/* What the kernels that iterate in a chart share (gnomonic.h), whatever the order. */
#ifndef HOT_SSHOPM_CHART_DEVICE_CUH
#define HOT_SSHOPM_CHART_DEVICE_CUH

#include <string.h>

#include "sshopm_device.cuh"

struct chart_constants {
    const float *matrix;        /* unique x terms, and the multiplicities */
    const double *multiplicity; /* unique */
    float frame[3][3];
    float tolerance;
    unsigned per_warp;          /* tensors that a warp takes at a time, at most CHART_SLOTS */
    unsigned part, parts;       /* and how many of their starts, of how many such parts */
    unsigned entrance;          /* starts that a block keeps in the chart (even); 0: too many */
    int plain;                  /* steps before a start is looked at for the first time, two or more */
    int refill;                 /* idle lanes that are worth a round of new starts */
};

/* The attributes (none or one) of a launch that may begin while the kernel before it in its stream still runs, and
 * waits for its end by cudaGridDependencySynchronize. */
static inline unsigned launch_early(cudaLaunchAttribute *attribute)
{
    int device = 0, major = 0;
    memset(attribute, 0, sizeof *attribute);
    attribute->id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute->val.programmaticStreamSerializationAllowed = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    return major >= 9;
}

/* The processor's own reciprocal, good to the last bit or two: the iteration forgives it. */
static __device__ __forceinline__ float chart_reciprocal(float a)
{
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
}

static __device__ __forceinline__ float chart_rsqrt(float a)
{
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
}

/* Start number `start` in the chart. */
static __device__ __forceinline__ float2 chart_enter(const hot_sshopm_args &args, const chart_constants &constants,
                                                     size_t start)
{
    const float *x = (const float *)args.start + start * 3;
    float p[3];
#pragma unroll
    for (int k = 0; k < 3; k++)
        p[k] = fmaf(constants.frame[k][0], x[0], fmaf(constants.frame[k][1], x[1], constants.frame[k][2] * x[2]));
    const float inverse = chart_reciprocal(p[2]);
    return make_float2(p[0] * inverse, p[1] * inverse);
}

#endif
