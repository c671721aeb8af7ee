/* CP decomposition of third-order tensors, X_ijk ~ sum over r of lambda_r a_ir b_jr c_kr, by alternating least squares;
 * and MTTKRP, the matricised tensor times Khatri-Rao product, of which it consists. (Kolda, Bader 2009, section 3.4;
 * Liu, Lu, Zhang: cuTensor-CP.)
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

/* How products with X are computed on a GPU; on the CPU they are always in the arrays' own precision.
 *
 * On a Hopper GPU and up to rank 120 the values are multiplied as half-precision numbers with one common exponent, that
 * of the largest value: with 11 bits (HOT_CPD_TF32) or, in two parts, 22 bits (HOT_CPD_SPLIT) of every value within
 * 2^-29 of the largest. A decomposition in TF32 rounds X once and needs half as much memory again as X takes, with rows
 * padded to 64 values. Otherwise X is copied where its rows are not multiples of 32 values, unless it is small (40 MB).
 * Where memory is short for that, and above rank 120, products are computed by cuBLAS. */
typedef enum hot_cpd_arithmetic {
    HOT_CPD_FULL = 0, /* the arrays' precision */
    HOT_CPD_TF32,     /* f32 only: tensor cores, 11 bits; the fastest. Errors of products up to 4e-4 of the largest
                         value */
    HOT_CPD_SPLIT     /* f32 only: tensor cores, 22 bits in two parts; errors up to 2e-6 of the largest value */
} hot_cpd_arithmetic;

typedef struct hot_cpd_options {
    size_t size;         /* sizeof(hot_cpd_options) */
    size_t rank;         /* at least 1; may be above the dimensions */
    int iterations;      /* at most; 0 = 500 */
    double tolerance;    /* stop when the fit changes by less from one iteration to the next; 0 = 1e-10 (f64), 1e-6
                            (f32); negative = never */
    hot_cpd_start start;
    int non_negative;    /* 1: every factor is >= 0 (hierarchical least squares, column by column) */
    hot_cpd_arithmetic arithmetic;
    double *fits;        /* NULL, or an array of `iterations` values (500 where that is 0): the fit after each one */
} hot_cpd_options;

typedef struct hot_cpd_report {
    int iterations;      /* made */
    int converged;       /* 1: stopped on the tolerance */
    int regularised;     /* least-squares problems that were singular (collinear columns, or a rank above that of the
                            data) and were regularised towards the factor's previous values */
    int nulls;           /* terms of weight 0 */
    double fit;          /* 1 - ||X - approximation|| / ||X||, computed at the end from X itself; 1 for X = 0 */
    double norm;         /* ||X|| */
    double congruence; /* the largest |cosine| between two terms: where it is near 1 they are collinear, and only their
                          sum is meaningful */
} hot_cpd_report;

/* Decomposes x (I x J x K). Out: lambda (rank values >= 0, largest first); a (I x rank), b (J x rank), c (K x rank),
 * with columns of unit length; report (may be NULL). An iteration is a least-squares update of a, b and c in turn. It
 * reads X twice, as the products for a and b share the sum over k (on a Hopper GPU two iterations read it three times),
 * and forms neither unfoldings nor Khatri-Rao products. Cancelled between two updates, it returns HOT_ERROR_CANCELLED
 * with the current terms in the outputs and the report. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (NaN or Inf in x),
 * HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. The same result for any number of threads. */
HOT_API hot_status hot_cpd_f64(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k,
                               const double *x, double *lambda, double *a, double *b, double *c,
                               hot_cpd_report *report);
HOT_API hot_status hot_cpd_f32(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k,
                               const float *x, float *lambda, float *a, float *b, float *c, hot_cpd_report *report);

/* MTTKRP: the matricised tensor times the Khatri-Rao product of the two other factors, for mode 1, 2 or 3:
 *   out_ir = sum_jk x_ijk b_jr c_kr,   out_jr = sum_ik x_ijk a_ir c_kr,   out_kr = sum_ij x_ijk a_ir b_jr.
 * The factor of the mode itself is not read and may be NULL. out: as that factor. Errors as above. */
HOT_API hot_status hot_mttkrp_f64(hot_context *context, int mode, size_t i, size_t j, size_t k, size_t rank,
                                  const double *x, const double *a, const double *b, const double *c, double *out);
HOT_API hot_status hot_mttkrp_f32(hot_context *context, hot_cpd_arithmetic arithmetic, int mode, size_t i, size_t j,
                                  size_t k, size_t rank, const float *x, const float *a, const float *b, const float *c,
                                  float *out);

/* ---- Many products with one tensor ------------------------------------------------------------------------------- */

/* A tensor prepared for many products, for algorithms of the caller's own (other constraints, other stopping rules): it
 * is copied to the device, checked and rounded once, and every product then reads that copy.
 *
 * Threads: it may be used by several threads at once, each with a context of its own; on a GPU their products are
 * computed one after another. All these contexts must have the same allocator. */
typedef struct hot_mttkrp_tensor hot_mttkrp_tensor;

/* Copies x (I x J x K) to the device that the context chooses. All products with the tensor are computed there,
 * whatever the device of the contexts that they are called with. *tensor is to be freed by hot_mttkrp_tensor_destroy;
 * NULL after an error. x may change or be freed afterwards. With HOT_DEVICE_CUDA x may also be in that GPU's memory,
 * complete. Memory: as much as x takes. On a Hopper GPU rows are padded to 128 bytes, and HOT_CPD_TF32 keeps
 * half-precision numbers, half as much; up to rank 40, products with an x of at most 40 MB keep a reordered copy for
 * each mode, at most three times x in all. During the call x is there as well. What products of one rank need is kept
 * until one of another rank is asked for. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (NaN or Inf in x),
 * HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_mttkrp_tensor_create_f64(hot_context *context, size_t i, size_t j, size_t k, const double *x,
                                                hot_mttkrp_tensor **tensor);
HOT_API hot_status hot_mttkrp_tensor_create_f32(hot_context *context, hot_cpd_arithmetic arithmetic, size_t i,
                                                size_t j, size_t k, const float *x, hot_mttkrp_tensor **tensor);

/* The product for mode 1, 2 or 3, as by hot_mttkrp_f64 and hot_mttkrp_f32; modes and ranks may come in any order. The
 * precision must be that of the tensor. On a Hopper GPU ranks above 120 are computed in pieces. Factors and out are in
 * host memory or, where the tensor is on a GPU, in its memory; out is complete on return.
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
