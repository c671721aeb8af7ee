/* Batched contractions of small tensors: matrix products, and contractions described by a string of indices (as
 * einsum). (Abdelfattah et al. 2016, High-performance tensor contractions for GPUs.)
 *
 * Arrays are described by sizes and strides, and are used where they are, without reordering. */
#ifndef HOTFIBER_CONTRACT_H
#define HOTFIBER_CONTRACT_H

#include <hotfiber/context.h>

HOT_C_BEGIN

enum { HOT_CONTRACT_AXES = 8 }; /* largest number of axes of an operand, without the batch */

/* A table of the fastest variants, as measured, by shape: see the end of this file. */
typedef struct hot_contract_tuning hot_contract_tuning;

typedef struct hot_contract_options {
    size_t size;                       /* sizeof(hot_contract_options) */
    const hot_contract_tuning *tuning; /* NULL = the built-in table. Owned by the caller */
} hot_contract_options;
#define HOT_CONTRACT_OPTIONS_INIT HOT_SIZED(hot_contract_options)

/* Computes C = alpha A B + beta C for `batch` matrices.
 *
 * options       NULL = defaults.
 * m, n, k       A is m x k, B is k x n, C is m x n. Each may be 0; with k = 0 the result is beta C.
 * alpha, beta   with alpha = 0, A and B are not read; with beta = 0, C is not read and may hold NaN.
 * a_stride, b_stride, c_stride
 *               in values: [0] from row to row, [1] from column to column, [2] from matrix to matrix. Exchange the
 * first
 *               two to transpose an operand. A stride of 0 in A or B repeats values, for example one B for all
 * matrices.
 *               The elements of C must not overlap each other, nor A or B; of this, only strides of 0 are checked.
 *
 * The caller owns all arrays. Results do not depend on the number of threads.
 * Errors: HOT_ERROR_ARGUMENT (C overlaps itself), HOT_ERROR_MEMORY (also if a size overflows), HOT_ERROR_DEVICE,
 * HOT_ERROR_CANCELLED. Section 5.1 of the paper. */
HOT_API hot_status hot_contract_matrices_f64(hot_context *context, const hot_contract_options *options, size_t m,
                                             size_t n, size_t k, size_t batch, double alpha, const double *a,
                                             const size_t a_stride[3], const double *b, const size_t b_stride[3],
                                             double beta, double *c, const size_t c_stride[3]);
HOT_API hot_status hot_contract_matrices_f32(hot_context *context, const hot_contract_options *options, size_t m,
                                             size_t n, size_t k, size_t batch, float alpha, const float *a,
                                             const size_t a_stride[3], const float *b, const size_t b_stride[3],
                                             float beta, float *c, const size_t c_stride[3]);

/* Products of one shape whose matrices lie anywhere: C_i = alpha A_i B_i + beta C_i, i < count. */
typedef struct hot_contract_group_f64 {
    size_t m, n, k, count; /* A_i is m x k, B_i is k x n, C_i is m x n */
    double alpha, beta;
    const double *const *a, *const *b; /* count addresses; a matrix may stand in several places of a and b */
    double *const *c;
    size_t a_stride[2], b_stride[2], c_stride[2]; /* in values: from row to row, from column to column */
} hot_contract_group_f64;
typedef struct hot_contract_group_f32 {
    size_t m, n, k, count;
    float alpha, beta;
    const float *const *a, *const *b;
    float *const *c;
    size_t a_stride[2], b_stride[2], c_stride[2];
} hot_contract_group_f32;

/* Computes the products of `groups` groups, one group behind the other. Matrices of c must not overlap each other, nor
 * A or B.
 *
 * group   an array in host memory. Its lists of addresses are in host memory, or with HOT_MEMORY_DEVICE in the GPU's,
 *         as the matrices are; there only the lists are checked.
 *
 * All else, also the meaning of sizes of 0 and of alpha and beta, is as in hot_contract_matrices_f64. A NULL in a list
 * that is read is HOT_ERROR_ARGUMENT; groups before it have been computed then. HOT_DEVICE_AUTO multiplies matrices in
 * host memory on the CPU. On a GPU, results of matrices in its memory may differ from those in host memory by
 * rounding. */
HOT_API hot_status hot_contract_groups_f64(hot_context *context, const hot_contract_options *options, size_t groups,
                                           const hot_contract_group_f64 *group);
HOT_API hot_status hot_contract_groups_f32(hot_context *context, const hot_contract_options *options, size_t groups,
                                           const hot_contract_group_f32 *group);

/* The layout of an operand: number of axes, their sizes and strides, and the stride from item to item of the batch. All
 * strides in values. */
typedef struct hot_contract_layout {
    int axes;
    size_t size[HOT_CONTRACT_AXES];
    size_t stride[HOT_CONTRACT_AXES];
    size_t batch;
} hot_contract_layout;

/* The layout of contiguous items, each a dense array with the first axis fastest (as in NRRD). */
HOT_API hot_contract_layout hot_contract_dense(int axes, const size_t *sizes);

/* Computes C = alpha contraction(A, B) + beta C for every item of the batch.
 *
 * spec   a letter for each axis of A, B and C: "isj,ksl->ijkl" is C_ijkl = sum over s of A_isj B_ksl. A letter in A and
 *        B only is summed over; a letter in one of them and in C is an axis of the result; a letter in all three is one
 *        too, along which A and B are multiplied elementwise. A letter occurs at most once per operand and in at least
 *        two operands, with the same size in each. Spaces are ignored.
 * a_layout, b_layout, c_layout
 *        sizes and strides.
 *
 * All else is as in hot_contract_matrices_f64. An invalid spec is HOT_ERROR_ARGUMENT, with the reason in the
 * message. */
HOT_API hot_status hot_contract_f64(hot_context *context, const hot_contract_options *options, const char *spec,
                                    size_t batch, double alpha, const double *a, const hot_contract_layout *a_layout,
                                    const double *b, const hot_contract_layout *b_layout, double beta, double *c,
                                    const hot_contract_layout *c_layout);
HOT_API hot_status hot_contract_f32(hot_context *context, const hot_contract_options *options, const char *spec,
                                    size_t batch, float alpha, const float *a, const hot_contract_layout *a_layout,
                                    const float *b, const hot_contract_layout *b_layout, float beta, float *c,
                                    const hot_contract_layout *c_layout);

/* Computes D = alpha contraction(A, B, C) + beta D for every item of the batch: first a pair, then its product with the
 * third operand, in the order with the fewest multiply-adds.
 *
 * spec   "ij,jk,kl->il": as in hot_contract_f64, with three operands. Each letter is in at least two of the four.
 *
 * Working memory: the product of the pair, for every item unless both have a batch stride of 0. D must not overlap A, B
 * or C. All else is as in hot_contract_f64. */
HOT_API hot_status hot_contract_three_f64(hot_context *context, const hot_contract_options *options, const char *spec,
                                          size_t batch, double alpha, const double *a,
                                          const hot_contract_layout *a_layout, const double *b,
                                          const hot_contract_layout *b_layout, const double *c,
                                          const hot_contract_layout *c_layout, double beta, double *d,
                                          const hot_contract_layout *d_layout);
HOT_API hot_status hot_contract_three_f32(hot_context *context, const hot_contract_options *options, const char *spec,
                                          size_t batch, float alpha, const float *a,
                                          const hot_contract_layout *a_layout, const float *b,
                                          const hot_contract_layout *b_layout, const float *c,
                                          const hot_contract_layout *c_layout, float beta, float *d,
                                          const hot_contract_layout *d_layout);

/* Which operands of a complex contraction are conjugated: added up. */
enum { HOT_CONJUGATE_A = 1, HOT_CONJUGATE_B = 2 };

/* hot_contract_f64 for complex numbers (_c64: pairs of floats, _c128: of doubles). Real and imaginary parts stand in
 * turn; sizes and strides count complex values.
 *
 * conjugate     0, HOT_CONJUGATE_A, HOT_CONJUGATE_B or both.
 * alpha, beta   real and imaginary part.
 *
 * Working memory: twice the size of B, or of A if C's rows are contiguous rather than its columns; of one item if that
 * operand's batch stride is 0. All else is as in hot_contract_f64. */
HOT_API hot_status hot_contract_c128(hot_context *context, const hot_contract_options *options, const char *spec,
                                     int conjugate, size_t batch, const double alpha[2], const double *a,
                                     const hot_contract_layout *a_layout, const double *b,
                                     const hot_contract_layout *b_layout, const double beta[2], double *c,
                                     const hot_contract_layout *c_layout);
HOT_API hot_status hot_contract_c64(hot_context *context, const hot_contract_options *options, const char *spec,
                                    int conjugate, size_t batch, const float alpha[2], const float *a,
                                    const hot_contract_layout *a_layout, const float *b,
                                    const hot_contract_layout *b_layout, const float beta[2], float *c,
                                    const hot_contract_layout *c_layout);

/* Writes the layout of the result of a spec for operands with layouts a and b: dense, first axis fastest. Errors:
 * HOT_ERROR_ARGUMENT. */
HOT_API hot_status hot_contract_shape(hot_context *context, const char *spec, const hot_contract_layout *a,
                                      const hot_contract_layout *b, hot_contract_layout *c);

/* ---- Tuning ------------------------------------------------------------------------------------------------------ */

/* Makes a table. The library reads and writes no files: to keep a table, store its text. (`hotfiber contract --tune`
 * stores it in the user's cache folder.)
 *
 * text     from hot_contract_tuning_text, or NULL for an empty table.
 * tuning   out: the table, to be freed by hot_contract_tuning_destroy; NULL after an error.
 *
 * Errors: HOT_ERROR_FORMAT (not a table, or one of another version), HOT_ERROR_MEMORY. */
HOT_API hot_status hot_contract_tuning_create(hot_context *context, const char *text, hot_contract_tuning **tuning);
HOT_API void hot_contract_tuning_destroy(hot_contract_tuning **tuning);

/* Times all variants for dense row-major products of one shape on the context's device, and stores in the table the
 * fastest of those whose results agree.
 *
 * precision   32 or 64.
 * m, n, k, batch
 *             the shape, as in hot_contract_matrices_f64.
 * seconds     how long to measure, in all, approximately.
 * chosen      out: the name of the fastest variant, owned by the table; or NULL.
 * best        out: its time in seconds; or NULL.
 * usual       out: the time of the variant that is used without tuning, in seconds; or NULL. */
HOT_API hot_status hot_contract_tune(hot_context *context, hot_contract_tuning *tuning, int precision, size_t m,
                                     size_t n, size_t k, size_t batch, double seconds, const char **chosen,
                                     double *best, double *usual);

/* Returns the table as text, to be freed with hot_context_free; NULL if memory is short. */
HOT_API char *hot_contract_tuning_text(hot_context *context, const hot_contract_tuning *tuning);

HOT_C_END
#endif
