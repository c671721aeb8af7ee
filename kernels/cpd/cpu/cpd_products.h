/* Products of the tensor with factors on the CPU, in the tensor's precision: by BLAS where the build has it, else by
 * the register tiles of kernels/contract. Every product is divided into the same pieces for any number of threads. */
#pragma once

#include "contract/cpu/contract_variant.h"
#include "cpd/cpd_args.h"

typedef struct hot_cpd_tensor {
    const hot_context *context; /* once it is cancelled, products and sums are not completed */
    int f64, threads;
    size_t n[3], rank;
    const void *x;
    const hot_contract_variant *variant;
    size_t slab_j, slab_k; /* so many j or k at a time */
    size_t kept;           /* 1: the sums over k of all j are kept for modes 0 and 1 */
    void *sums;            /* i x slab_j (or all j) x rank, or j x slab_k x rank: sums over one mode */
    char *scratch;         /* threads x scratch_each: panels, and a slice of the approximation */
    size_t scratch_each;
} hot_cpd_tensor;

/* Sets sizes and memory; destroy accepts what create has not filled. once: nothing is kept for a second product. */
hot_status hot_cpd_tensor_create(hot_context *context, int f64, const size_t n[3], size_t rank, const void *x, int once,
                                 hot_cpd_tensor *tensor);
void hot_cpd_tensor_destroy(hot_context *context, hot_cpd_tensor *tensor);

/* The product for one mode (0, 1, 2) into `out` (n[mode] x rank, double). factor: in the tensor's precision. fresh: for
 * modes 0 and 1 of a tensor that keeps sums: whether factor[2] has changed since they were made. */
void hot_cpd_product(hot_cpd_tensor *tensor, int mode, const void *const factor[3], int fresh, double *out);

/* X_(mode) X_(mode)^T f for HOSVD: out and f n[mode] x rank, f in the tensor's precision. */
hot_status hot_cpd_unfold_twice(hot_context *context, hot_cpd_tensor *tensor, int mode, const void *f, double *out);

/* ||x||^2, and whether all of x is finite. */
double hot_cpd_square(const hot_cpd_tensor *tensor, int *finite);
/* ||x - sum lambda a b c||^2, from x itself. per_k: n[2] values of scratch. */
double hot_cpd_residual(const hot_cpd_tensor *tensor, const double *lambda, const void *const factor[3], double *per_k);
