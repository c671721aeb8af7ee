/* cuBLAS where the machine has it: loaded at the first use, so that programs start without it. */
#pragma once

#include <hotfiber/context.h>

HOT_C_BEGIN

typedef struct hot_cublas hot_cublas;

typedef enum hot_cublas_precision {
    HOT_CUBLAS_F64 = 0,
    HOT_CUBLAS_F32,  /* true float */
    HOT_CUBLAS_TF32, /* float arrays, products rounded to 10 bits of mantissa */
    HOT_CUBLAS_F16   /* A and B of halves, sums and C of floats */
} hot_cublas_precision;

/* A handle on the current device; stream (a cudaStream_t) NULL = the default one. Errors: HOT_ERROR_DEVICE when the
 * build or the machine has no cuBLAS. */
HOT_API hot_status hot_cublas_create(hot_context *context, void *stream, hot_cublas **cublas);
HOT_API void hot_cublas_destroy(hot_context *context, hot_cublas **cublas);

/* The handle that the context keeps, made by its first use (which a stream's capture does not allow), from now on with
 * this stream and this working memory on the GPU. Not to be destroyed. */
enum { HOT_CUBLAS_WORKSPACE = 32 << 20 /* cuBLAS's own default on a Hopper GPU */ };
HOT_API hot_status hot_cublas_kept(hot_context *context, void *stream, void *workspace, hot_cublas **cublas);
/* Another stream for a handle. */
HOT_API hot_status hot_cublas_set_stream(hot_context *context, hot_cublas *cublas, void *stream);

/* Column-major, device memory: C (m x n) = alpha op(A) op(B) + beta C, `batch` times with strides in values. transpose:
 * 1 for the transposed operand. */
HOT_API hot_status hot_cublas_multiply(hot_context *context, hot_cublas *cublas, hot_cublas_precision precision,
                                       int transpose_a, int transpose_b, size_t m, size_t n, size_t k, double alpha,
                                       const void *a, size_t lda, size_t stride_a, const void *b, size_t ldb,
                                       size_t stride_b, double beta, void *c, size_t ldc, size_t stride_c,
                                       size_t batch);

HOT_C_END
