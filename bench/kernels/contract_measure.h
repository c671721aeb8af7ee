/* Times of batched matrix products and of finite-element operators with their data in the GPU's memory, random and not
 * in its cache: for `hotfiber bench contract`. HOT_ERROR_DEVICE in a build without CUDA. */
#pragma once

#include "contract/contract_tuning.h"

HOT_C_BEGIN

/* One figure: seconds per call (median), and the time of a kernel that does nothing but move as many bytes, three
 * quarters (matrices) or the operator's share of them reads, in the same run. */
typedef struct hot_contract_figure {
    double seconds, fastest, floor;
    double bytes;
    hot_contract_choice choice; /* the variant that ran; "cublas" for cuBLAS */
} hot_contract_figure;

/* C = A B + C / 2 for `batch` n x n matrices. tune: every variant is tried and the fastest taken. */
hot_status hot_contract_bench(hot_context *context, int f64, size_t n, size_t batch, int tune, double seconds,
                              hot_contract_figure *figure);
/* The same by cuBLAS: cublasGemmStridedBatchedEx. */
hot_status hot_contract_bench_cublas(hot_context *context, int f64, size_t n, size_t batch, double seconds,
                                     hot_contract_figure *figure);

/* A mass operator on so many elements that about `megabytes` are moved. */
hot_status hot_fem_bench(hot_context *context, int f64, int dim, size_t dofs, size_t points, int assemble,
                         size_t megabytes, double seconds, size_t *elements, hot_contract_figure *figure);

HOT_C_END
