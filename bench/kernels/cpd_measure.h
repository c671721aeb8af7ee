/* Times and errors of MTTKRP, and times of iterations of the CP decomposition, on random data in the GPU's memory: for
 * `hotfiber bench cpd`. HOT_ERROR_DEVICE in a build without CUDA. */
#pragma once

#include "cpd/cpd_args.h"

HOT_C_BEGIN

typedef struct hot_cpd_bench hot_cpd_bench;

/* A cube of side `side` of floats and random factors. */
hot_status hot_cpd_bench_create(hot_context *context, size_t side, size_t rank, hot_cpd_arithmetic arithmetic,
                                hot_cpd_bench **bench);
void hot_cpd_bench_destroy(hot_context *context, hot_cpd_bench **bench);

/* Seconds (median) of one product, mode 1 2 3; or, mode 4, a third of those of all three in turn; or, mode 0, of ten
 * iterations, with the rounding of the tensor that TF32 may begin with. how: which tensor
 * products read, and whether the preparation of the two factors is timed as well. error: of a product against double on
 * a sample of its values, relative to the largest of them; NULL = not wanted. */
enum { HOT_CPD_FROM_FLOATS = 0, HOT_CPD_FROM_KEPT = 1, HOT_CPD_AND_FACTORS = 2 };
hot_status hot_cpd_bench_run(hot_context *context, hot_cpd_bench *bench, int mode, int how, double seconds,
                             double *median, double *error);

/* The same product by cuBLAS: the Khatri-Rao product formed in memory, and one product with the unfolding (modes 1 and
 * 3, where the tensor is its own unfolding); or one product with one factor, and the sum with the other; or that of a
 * tensor and a factor of halves, whose lines begin with multiples of 16 bytes. */
typedef enum hot_cpd_cublas_method {
    HOT_CPD_CUBLAS_KHATRI_RAO,
    HOT_CPD_CUBLAS_GEMM,
    HOT_CPD_CUBLAS_GEMM_HALF
} hot_cpd_cublas_method;
hot_status hot_cpd_bench_cublas(hot_context *context, hot_cpd_bench *bench, int mode, hot_cpd_cublas_method method,
                                double seconds, double *median);

/* For tests: a copy of an array in the GPU's memory, and back, which frees it. */
hot_status hot_cpd_bench_lend(hot_context *context, const void *values, size_t bytes, void **there);
hot_status hot_cpd_bench_return(hot_context *context, void *there, size_t bytes, void *values);

/* Reading the tensor in values of so many bytes (4; 2: halves) and nothing else, timed in the same way; 0: an empty
 * kernel. */
hot_status hot_cpd_bench_read(hot_context *context, hot_cpd_bench *bench, size_t bytes, double seconds, double *median);

HOT_C_END
