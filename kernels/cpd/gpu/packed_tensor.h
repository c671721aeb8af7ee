/* A tensor of floats on the device, prepared for the tensor-core kernels (cpd_pass.h): as halves with a common scale,
 * with aligned rows, or in the order of the tensor cores' operands. */
#pragma once

#include <cuda_fp16.h>
#include <hotfiber/context.h>

HOT_C_BEGIN

/* Its use: one product; many products; the sweeps of a decomposition. */
typedef enum hot_cpd_use { CPD_ONE_PRODUCT, CPD_PRODUCTS, CPD_SWEEPS } hot_cpd_use;

typedef struct hot_cpd_packed_tensor {
    size_t n[3];
    int split;
    hot_cpd_use use;
    const float *x;    /* the caller's */
    float *scale;      /* a power of two; behind it the largest absolute value */
    __half *halves;    /* x times scale, rows ld apart; or NULL: x is read, or */
    float *aligned;    /* x with rows of whole lines of memory, made when a pass wants it */
    size_t ld;         /* of what passes read */
    __half *fragments[3]; /* NULL, or the halves again in the order of fragment_product.h, made when first wanted */
} hot_cpd_packed_tensor;

/* Prepares x (n[0] x n[1] x n[2] floats on the device, the caller's). For sweeps and many products it is rounded to
 * halves here, once, and x is not read again; split: for many products it is copied with rows of whole lines, unless
 * rows of x are such. stream: a cudaStream_t.
 * *packed is NULL, and the status HOT_OK, where the kernels cannot be used: another architecture, or no memory for the
 * halves. */
hot_status hot_cpd_packed_tensor_create(hot_context *context, const float *x, const size_t n[3], int split,
                                        hot_cpd_use use, void *stream, hot_cpd_packed_tensor **packed);
void hot_cpd_packed_tensor_destroy(hot_context *context, hot_cpd_packed_tensor **packed);

/* Launches the rounding of x to halves again, if there are halves: for benchmarks. */
hot_status hot_cpd_packed_tensor_round(hot_context *context, const hot_cpd_packed_tensor *packed, void *stream);

/* The driver's cuTensorMapEncodeTiled, or NULL. */
void *hot_cpd_find_encode(void);

/* Makes the copy with rows of whole lines, where rows of x are not. *fits: whether there is memory for it. */
hot_status hot_cpd_packed_tensor_align(hot_context *context, hot_cpd_packed_tensor *packed, void *stream, int *fits);

/* Makes fragments[mode] from the halves. It is left NULL, and the status HOT_OK, where memory is short. */
hot_status hot_cpd_packed_tensor_fragments(hot_context *context, hot_cpd_packed_tensor *packed, int mode, void *stream);

HOT_C_END
