/* CP decomposition of third-order tensors: X_ijk ~ sum over r of lambda_r a_ir b_jr c_kr, by alternating least squares,
 * and the products that it is made of. (Liu, Lu, Zhang: cuTensor-CP; Kolda, Bader 2009.)
 *
 * Arrays have their first index fastest: x[i + I (j + J k)], a[i + I r], b[j + J r], c[k + K r]. */
#ifndef HOTFIBER_CPD_H
#define HOTFIBER_CPD_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hot_cpd_start {
    HOT_CPD_RANDOM = 0, /* standard normal (non-negative variant: uniform), from the context's seed */
    HOT_CPD_HOSVD,      /* leading left singular vectors of the unfoldings; columns beyond a dimension random */
    HOT_CPD_GIVEN       /* what a, b, c hold */
} hot_cpd_start;

/* How products with X are computed on a GPU; elsewhere products are those of the arrays' own precision. On a Hopper GPU
 * and up to rank 120 the tensor cores take halves whose common exponent is that of the largest value: 11 bits, as TF32
 * has, and split 22, of whatever is within 2^-29 of it. A decomposition in TF32 rounds X to such halves once and reads
 * these from then on: half as much memory again as X takes, with rows of whole lines (64 values). Else rows of X that
 * are no whole lines of memory (32 values) cost a second copy of X, unless it is small (40 MB). Without room for that,
 * and above rank 120, products are cuBLAS's. */
typedef enum hot_cpd_arithmetic {
    HOT_CPD_FULL = 0, /* the arrays' precision */
    HOT_CPD_TF32,     /* f32 only: tensor cores on numbers of 11 bits: fastest; errors of products up to 4e-4 of the
                         largest value */
    HOT_CPD_SPLIT     /* f32 only: tensor cores on numbers in two parts of 11 bits: errors up to 2e-6 */
} hot_cpd_arithmetic;

typedef struct hot_cpd_options {
    size_t size;         /* sizeof(hot_cpd_options) */
    size_t rank;         /* at least 1; may be above the dimensions */
    int iterations;      /* at most so many; 0 = 500 */
    double tolerance;    /* stop when the fit changes by less from one iteration to the next; 0 = 1e-10 (f64), 1e-6
                            (f32); negative = never */
    hot_cpd_start start;
    int non_negative;    /* 1: every factor is >= 0 (hierarchical least squares, column by column) */
    hot_cpd_arithmetic arithmetic;
    double *fits;        /* NULL, or room for `iterations` values (500 where that is 0): the fit after each iteration */
} hot_cpd_options;

typedef struct hot_cpd_report {
    int iterations;      /* made */
    int converged;       /* 1: stopped on the tolerance */
    int regularised; /* how many of the least-squares problems were singular (collinear columns, a rank above what the
                        data hold) and were solved with a small pull towards the factor's last values */
    int nulls;           /* how many of the terms have weight 0 */
    double fit;          /* 1 - ||X - approximation|| / ||X||, computed at the end from X itself; 1 for X = 0 */
    double norm;         /* ||X|| */
    double congruence; /* largest |cosine| between two terms: near 1 they are collinear and only their sum means
                          something */
} hot_cpd_report;

/* Decomposes x (I x J x K). Out: lambda (rank values, largest first, >= 0), a (I x rank), b (J x rank), c (K x rank),
 * columns of unit length; report (may be NULL).
 * One iteration is a least-squares update of a, b and c in turn; X is read twice (the products for a and b share the
 * sum over k; on a Hopper GPU two iterations read it three times), and neither an unfolding nor a Khatri-Rao product is
 * formed.
 * When cancelled between two updates it returns HOT_ERROR_CANCELLED with the best so far in the outputs and the report.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (NaN or Inf in x), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE,
 * HOT_ERROR_CANCELLED. The same result for any number of threads. */
HOT_API hot_status hot_cpd_f64(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k,
                               const double *x, double *lambda, double *a, double *b, double *c,
                               hot_cpd_report *report);
HOT_API hot_status hot_cpd_f32(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k,
                               const float *x, float *lambda, float *a, float *b, float *c, hot_cpd_report *report);

/* The matricised tensor times the Khatri-Rao product of the two other factors, mode 1, 2 or 3:
 *   out_ir = sum_jk x_ijk b_jr c_kr,   out_jr = sum_ik x_ijk a_ir c_kr,   out_kr = sum_ij x_ijk a_ir b_jr.
 * The factor of the mode itself is not read and may be NULL. out: as that factor. Errors as above. */
HOT_API hot_status hot_mttkrp_f64(hot_context *context, int mode, size_t i, size_t j, size_t k, size_t rank,
                                  const double *x, const double *a, const double *b, const double *c, double *out);
HOT_API hot_status hot_mttkrp_f32(hot_context *context, hot_cpd_arithmetic arithmetic, int mode, size_t i, size_t j,
                                  size_t k, size_t rank, const float *x, const float *a, const float *b, const float *c,
                                  float *out);

/* ---- Products with one tensor, again and again ------------------------------------------------------------------- */

/* A tensor that is kept where products are computed: for whoever has a loop of their own (other constraints, other
 * stopping rules: every algorithm for CP decompositions multiplies one tensor again and again). It is copied there,
 * searched and rounded once; products then read what is kept.
 *
 * It may be used by several threads at a time, each with a context of its own; on a GPU they take turns. All contexts
 * that it is used with have the same allocator. */
typedef struct hot_mttkrp_tensor hot_mttkrp_tensor;

/* Keeps x (I x J x K) where the context's device says: products of this tensor are computed there from then on,
 * whatever the device of the contexts that ask for them. *tensor: to be freed by hot_mttkrp_tensor_destroy; NULL after
 * an error. x is copied: it may change or be freed afterwards.
 * With HOT_DEVICE_CUDA x may also lie in that GPU's memory, ready to be read.
 * Memory that stays taken: as much as x takes. On a Hopper GPU rows are whole lines of memory (128 bytes), and
 * HOT_CPD_TF32 keeps halves, in half of that; up to rank 40 products of an x of at most 40 MB order them anew for each
 * mode, which may come to three times what x takes. While it is made there is x as well. What products of one rank need
 * stays for the next one of the same rank.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (NaN or Inf in x), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE,
 * HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_mttkrp_tensor_create_f64(hot_context *context, size_t i, size_t j, size_t k, const double *x,
                                                hot_mttkrp_tensor **tensor);
HOT_API hot_status hot_mttkrp_tensor_create_f32(hot_context *context, hot_cpd_arithmetic arithmetic, size_t i,
                                                size_t j, size_t k, const float *x, hot_mttkrp_tensor **tensor);

/* The product for mode 1, 2 or 3, as by hot_mttkrp_f64 and hot_mttkrp_f32, in any order of modes and ranks; the
 * precision is that of the tensor. Ranks above 120 are made in pieces on a Hopper GPU. Factors and out are the
 * caller's, and of a tensor kept on a GPU may lie in its memory, too; out is complete on return.
 * Errors: HOT_ERROR_ARGUMENT (a mode, rank 0, NULL, the other precision), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE. */
HOT_API hot_status hot_mttkrp_tensor_product_f64(hot_context *context, hot_mttkrp_tensor *tensor, int mode,
                                                 size_t rank, const double *a, const double *b, const double *c,
                                                 double *out);
HOT_API hot_status hot_mttkrp_tensor_product_f32(hot_context *context, hot_mttkrp_tensor *tensor, int mode,
                                                 size_t rank, const float *a, const float *b, const float *c,
                                                 float *out);

/* Frees the tensor, which no other thread uses any more, and sets *tensor to NULL; a pointer to NULL is accepted. */
HOT_API void hot_mttkrp_tensor_destroy(hot_context *context, hot_mttkrp_tensor **tensor);

#ifdef __cplusplus
}
#endif
#endif
