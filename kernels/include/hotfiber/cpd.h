/* CP decomposition of third-order tensors, X_ijk ~ sum over r of lambda_r a_ir b_jr c_kr, by alternating least squares;
 * and MTTKRP, the matricised tensor times Khatri-Rao product, of which it consists. (Kolda, Bader 2009, section 3.4;
 * Liu, Lu, Zhang: cuTensor-CP.)
 *
 * Arrays have their first index fastest: x[i + I (j + J k)], a[i + I r], b[j + J r], c[k + K r]. */
#ifndef HOTFIBER_CPD_H
#define HOTFIBER_CPD_H

#include <hotfiber/context.h>

HOT_C_BEGIN

typedef enum hot_cpd_start {
    HOT_CPD_RANDOM = 0, /* standard normal (with non_negative: uniform), with the context's seed */
    HOT_CPD_HOSVD,      /* leading left singular vectors of the unfoldings; columns beyond the dimension are random */
    HOT_CPD_GIVEN       /* the contents of a, b, c */
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
    size_t rank;         /* number of terms, at least 1; may exceed the dimensions */
    int iterations;      /* largest number of iterations; 0 = 500 */
    double tolerance;    /* stop when the fit changes by less than this in an iteration; 0 = 1e-10 (f64), 1e-6 (f32);
                            HOT_ZERO = no test */
    hot_cpd_start start;
    int non_negative;    /* 1: all factors are >= 0 (hierarchical alternating least squares, column by column) */
    hot_cpd_arithmetic arithmetic;
    double *fits;        /* out: the fit after each iteration, an array of `iterations` values (500 if that is 0); or
                            NULL */
} hot_cpd_options;
#define HOT_CPD_OPTIONS_INIT HOT_SIZED(hot_cpd_options)

typedef struct hot_cpd_report {
    int iterations;      /* number of iterations */
    int converged;       /* 1: stopped by the tolerance */
    int regularised;     /* number of least-squares problems that were singular (collinear columns, or a rank above that
                            of the data) and were regularised towards the previous values of the factor */
    int nulls;           /* number of terms with weight 0 */
    double fit;          /* 1 - ||X - approximation|| / ||X||, computed at the end from the residual; 1 for X = 0 */
    double norm;         /* ||X|| */
    double congruence;   /* the largest |cosine| between two terms; terms with a value near 1 are collinear, and only
                            their sum is meaningful */
} hot_cpd_report;

/* Computes a CP decomposition of X by alternating least squares.
 *
 * options   not NULL: rank has no default.
 * i, j, k   the dimensions I, J, K.
 * x         I x J x K, finite. Values may be of any size: they are scaled by a power of two where their squares might
 *           overflow or vanish.
 * lambda    out: rank weights >= 0, descending; infinite where the precision cannot hold a weight.
 * a, b, c   out: I x rank, J x rank, K x rank, with columns of unit length. With HOT_CPD_GIVEN also the start.
 * report    out; or NULL.
 *
 * An iteration updates a, b and c in turn. It reads X twice, because the products for a and b share the sum over k
 * (on a Hopper GPU two iterations read it three times), and forms neither unfoldings nor Khatri-Rao products. The
 * caller owns all arrays. Results do not depend on the number of threads.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (NaN or Inf in x), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED
 * (outputs and report then hold the terms after some whole iteration; before the first its fit is 0). */
HOT_API hot_status hot_cpd_f64(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k,
                               const double *x, double *lambda, double *a, double *b, double *c,
                               hot_cpd_report *report);
HOT_API hot_status hot_cpd_f32(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k,
                               const float *x, float *lambda, float *a, float *b, float *c, hot_cpd_report *report);

/* MTTKRP: multiplies the matricised tensor by the Khatri-Rao product of the two factors of the other modes:
 *
 *   mode 1   out_ir = sum_jk x_ijk b_jr c_kr
 *   mode 2   out_jr = sum_ik x_ijk a_ir c_kr
 *   mode 3   out_kr = sum_ij x_ijk a_ir b_jr
 *
 * The factor of the mode itself is not read and may be NULL; out has its shape. The caller owns all arrays. Errors: as
 * hot_cpd_f64. */
HOT_API hot_status hot_mttkrp_f64(hot_context *context, int mode, size_t i, size_t j, size_t k, size_t rank,
                                  const double *x, const double *a, const double *b, const double *c, double *out);
HOT_API hot_status hot_mttkrp_f32(hot_context *context, hot_cpd_arithmetic arithmetic, int mode, size_t i, size_t j,
                                  size_t k, size_t rank, const float *x, const float *a, const float *b, const float *c,
                                  float *out);

/* ---- Many products with one tensor ------------------------------------------------------------------------------- */

/* A tensor prepared for many products, for callers with their own algorithm (other constraints or stopping rules):
 * it is copied to the device, checked and rounded once, and all products read the copy.
 *
 * Several threads may use it at once, each with its own context; on a GPU their products run one after another. All
 * these contexts must have the same allocator. */
typedef struct hot_mttkrp_tensor hot_mttkrp_tensor;

/* Copies x to the device of the context, where all products will be computed, whatever the contexts they are called
 * with.
 *
 * i, j, k   the dimensions I, J, K.
 * x         I x J x K, finite; may be changed or freed after the call. With HOT_DEVICE_CUDA it may also be in the
 *           memory of that GPU, if all work that writes it has completed (or with HOT_MEMORY_DEVICE, device.h).
 * tensor    out: to be freed by hot_mttkrp_tensor_destroy; NULL after an error.
 *
 * Device memory: the size of x, plus a copy of x during the call. On a Hopper GPU rows are padded to 128 bytes;
 * HOT_CPD_TF32 stores half-precision numbers, which take half as much; and for rank <= 40 and an x of at most 40 MB,
 * products store a reordered copy for each mode, at most three times the size of x in all. The workspace of a rank is
 * kept until a product of another rank.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (NaN or Inf in x), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE,
 * HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_mttkrp_tensor_create_f64(hot_context *context, size_t i, size_t j, size_t k, const double *x,
                                                hot_mttkrp_tensor **tensor);
HOT_API hot_status hot_mttkrp_tensor_create_f32(hot_context *context, hot_cpd_arithmetic arithmetic, size_t i,
                                                size_t j, size_t k, const float *x, hot_mttkrp_tensor **tensor);

/* Computes the product for mode 1, 2 or 3, as hot_mttkrp_f64 and hot_mttkrp_f32 do. The precision must be that of the
 * tensor; modes and ranks may be in any order. On a Hopper GPU ranks above 120 are computed in parts.
 *
 * a, b, c, out   in host memory or, if the tensor is on a GPU, in the memory of that GPU. out is complete on return,
 *                but with HOT_MEMORY_DEVICE (device.h) when the context's stream has come that far.
 *
 * Errors: HOT_ERROR_ARGUMENT (invalid mode, rank 0, NULL, wrong precision), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE. */
HOT_API hot_status hot_mttkrp_tensor_product_f64(hot_context *context, hot_mttkrp_tensor *tensor, int mode,
                                                 size_t rank, const double *a, const double *b, const double *c,
                                                 double *out);
HOT_API hot_status hot_mttkrp_tensor_product_f32(hot_context *context, hot_mttkrp_tensor *tensor, int mode,
                                                 size_t rank, const float *a, const float *b, const float *c,
                                                 float *out);

/* No other thread may be using the tensor; the context that made it must be there. */
HOT_API void hot_mttkrp_tensor_destroy(hot_mttkrp_tensor **tensor);

HOT_C_END
#endif
