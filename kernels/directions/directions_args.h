/* Common definitions of the backends of hot_directions: the resolved job, the scan grid, and the conversion of maxima
 * to directions. */
#pragma once

#include <hotfiber/directions.h>

HOT_C_BEGIN

enum {
    HOT_DIRECTIONS_ORDER_MAX = 12,
    HOT_DIRECTIONS_STARTS_ORDER_MAX = 8,
    HOT_DIRECTIONS_MAX = 16,     /* directions per tensor */
    HOT_DIRECTIONS_INVALID = 255 /* found[] of a tensor with NaN or Inf */
};

/* A job with every default filled in. */
typedef struct hot_directions_args {
    int order, keep;
    float threshold, min_relative_range;
    float apart; /* squared cosine above which two maxima are one direction */
    size_t starts;
    hot_shift shift;
    double alpha;
    size_t count, stride;
    const float *tensors;
    const uint8_t *mask;
    float *directions;
    uint8_t *found; /* may be NULL */
} hot_directions_args;

/* Two maxima of one form that lie closer than this (degrees) are one maximum found twice, whatever min_angle says. */
#define HOT_DIRECTIONS_SAME 1.0

/* A maximum counts when it is above this fraction of the tensor's largest |value|: below it is rounding. */
#define HOT_DIRECTIONS_ZERO 1e-6f

/* One refined maximum. */
typedef struct hot_maximum {
    float value, x, y, z;
} hot_maximum;

/* Greedy clustering of one tensor's maxima (any order, `count` of them; the array is put in order): the largest is
 * kept; then, by size, each that is above the threshold and apart from all kept ones. Writes 3 * keep floats and
 * returns how many directions there are. */
int hot_directions_cluster(const hot_directions_args *args, hot_maximum *maxima, int count, float *directions);

/* Order 2: the largest eigenvalue and its eigenvector, by Jacobi rotations. Same outputs as a row of the others. */
int hot_directions_line(const hot_directions_args *args, const float *tensor, float *directions);

/* The backends; `plan` is a hot_directions_args (hot_backend_fn of common/backend.h). */
hot_status hot_directions_ref(hot_context *context, void *args);
hot_status hot_directions_cpu(hot_context *context, void *args);
hot_status hot_directions_cuda(hot_context *context, void *args); /* in a build with CUDA */
/* The same on the current GPU with every pointer of the plan on it, order 4, 6 or 8; `stream` is a cudaStream_t.
 * Returns when the work is queued. */
hot_status hot_directions_cuda_launch(hot_context *context, const hot_directions_args *args, void *stream);
/* The same by many starts of SS-HOPM, plan->starts > 0, order 4, 6 or 8: on the CPU (with SS-HOPM's reference if the
 * context's device is the reference) and on the GPU. */
hot_status hot_directions_starts(hot_context *context, void *args);
hot_status hot_directions_starts_cuda(hot_context *context, void *args); /* in a build with CUDA */

/* Fills the plan from the public arguments; HOT_ERROR_ARGUMENT with a message when one is out of bounds. */
hot_status hot_directions_resolve(hot_context *context, const hot_directions_options *options, int order, size_t count,
                                  const float *tensors, size_t stride, const uint8_t *mask, float *directions,
                                  uint8_t *found, hot_directions_args *args);

/* ---- The scan and refine backends of the CPU ---------------------------------------------------------------- */

enum { HOT_DIRECTIONS_BLOCK = 64 }; /* tensors that share one queue of candidates; a multiple of every vector width */

typedef struct hot_directions_work hot_directions_work; /* one thread's memory: work.h */
/* Computes `count` (up to HOT_DIRECTIONS_BLOCK) tensors from `first` on. */
typedef void (*hot_directions_block)(const hot_directions_args *args, size_t first, int count,
                                     hot_directions_work *work);

/* The block function of an order (4, 6, 8, 10, 12) for an instruction set; NULL if not compiled. */
hot_directions_block hot_directions_block_baseline(int order);
hot_directions_block hot_directions_block_avx2(int order);
hot_directions_block hot_directions_block_avx512(int order);

HOT_C_END
