/* Contractions of many small tensors at once: batched matrix products, and index contractions that a spec describes.
 * (Abdelfattah et al. 2016, High-performance tensor contractions for GPUs.)
 *
 * Layouts are sizes and strides; arrays are not reordered in memory. */
#ifndef HOTFIBER_CONTRACT_H
#define HOTFIBER_CONTRACT_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOT_CONTRACT_AXES = 8 }; /* most axes of one operand, without the batch */

/* The fastest variant for a shape on a machine, as measured: see the end of this file. */
typedef struct hot_contract_tuning hot_contract_tuning;

typedef struct hot_contract_options {
    size_t size;                       /* sizeof(hot_contract_options) */
    const hot_contract_tuning *tuning; /* NULL: the built-in table. Not owned; must outlive the call */
} hot_contract_options;

/* C = alpha A B + beta C for `batch` matrices: A is m x k, B is k x n, C is m x n.
 *
 * Strides, in values: [0] from row to row, [1] from column to column, [2] from matrix to matrix. A stride of 0 in A or
 * B repeats the same values (one B for all, for example); an operand is transposed by exchanging its first two strides.
 * The values of C must not overlap each other, or those of A and B; only strides of 0 are checked.
 * beta = 0: C is only written; what it held, even NaN, does not matter. alpha = 0: A and B are not read.
 * Any size may be 0; k = 0 gives beta C. options may be NULL.
 * Errors: HOT_ERROR_ARGUMENT (a C that overlaps itself), HOT_ERROR_MEMORY (also sizes that overflow), HOT_ERROR_DEVICE,
 * HOT_ERROR_CANCELLED. The same result for any number of threads. Source: section 5.1 of the paper. */
HOT_API hot_status hot_contract_matrices_f64(hot_context *context, const hot_contract_options *options, size_t m,
                                             size_t n, size_t k, size_t batch, double alpha, const double *a,
                                             const size_t a_stride[3], const double *b, const size_t b_stride[3],
                                             double beta, double *c, const size_t c_stride[3]);
HOT_API hot_status hot_contract_matrices_f32(hot_context *context, const hot_contract_options *options, size_t m,
                                             size_t n, size_t k, size_t batch, float alpha, const float *a,
                                             const size_t a_stride[3], const float *b, const size_t b_stride[3],
                                             float beta, float *c, const size_t c_stride[3]);

/* One operand: how many axes, their sizes, and strides in values; `batch` is the stride from item to item. */
typedef struct hot_contract_layout {
    int axes;
    size_t size[HOT_CONTRACT_AXES];
    size_t stride[HOT_CONTRACT_AXES];
    size_t batch;
} hot_contract_layout;

/* The layout of a dense array whose first axis is the fastest (as in NRRD), items one after the other. */
HOT_API hot_contract_layout hot_contract_dense(int axes, const size_t *sizes);

/* C = alpha contraction(A, B) + beta C for every item of the batch. spec names each axis by a letter: "isj,ksl->ijkl"
 * is A_ijkl = sum over s of B_isj C_ksl. A letter in A and B alone is summed over; one in an input and C is kept; one
 * in all three is kept and paired (a batch of its own). Each letter stands at most once per operand and in at least two
 * operands, with the same size in each. Spaces are ignored.
 * Parameters, errors and the rest as hot_contract_matrices_f64; HOT_ERROR_ARGUMENT says what a spec lacks. */
HOT_API hot_status hot_contract_f64(hot_context *context, const hot_contract_options *options, const char *spec,
                                    size_t batch, double alpha, const double *a, const hot_contract_layout *a_layout,
                                    const double *b, const hot_contract_layout *b_layout, double beta, double *c,
                                    const hot_contract_layout *c_layout);
HOT_API hot_status hot_contract_f32(hot_context *context, const hot_contract_options *options, const char *spec,
                                    size_t batch, float alpha, const float *a, const hot_contract_layout *a_layout,
                                    const float *b, const hot_contract_layout *b_layout, float beta, float *c,
                                    const hot_contract_layout *c_layout);

/* The layout of the result of a spec: the sizes of C, dense, first axis the fastest. Errors: HOT_ERROR_ARGUMENT. */
HOT_API hot_status hot_contract_shape(hot_context *context, const char *spec, const hot_contract_layout *a,
                                      const hot_contract_layout *b, hot_contract_layout *c);

/* ---- Tuning ------------------------------------------------------------------------------------------------------ */

/* A table of measured choices. The library reads and writes no file: a caller who wants to keep the table stores its
 * text.
 * (`hotfiber contract --tune` keeps it in the user's cache folder.)
 * text: from hot_contract_tuning_text, or NULL for an empty table. Errors: HOT_ERROR_FORMAT when it is not such a text,
 * or that of another version; HOT_ERROR_MEMORY. */
HOT_API hot_status hot_contract_tuning_create(hot_context *context, const char *text, hot_contract_tuning **tuning);
HOT_API void hot_contract_tuning_destroy(hot_context *context, hot_contract_tuning **tuning);

/* Times every variant for dense products of this shape (first stride n or k, second 1) on the context's device, for
 * about `seconds` in all, and stores the fastest of those whose results agree in the table. precision: 32 or 64.
 * Out, each may be NULL: chosen, the name of the variant; best and usual, its time and that of the untuned one, in
 * seconds. */
HOT_API hot_status hot_contract_tune(hot_context *context, hot_contract_tuning *tuning, int precision, size_t m,
                                     size_t n, size_t k, size_t batch, double seconds, const char **chosen,
                                     double *best, double *usual);

/* The table as text, in the context's memory: free with hot_context_free. NULL when memory is short. */
HOT_API char *hot_contract_tuning_text(hot_context *context, const hot_contract_tuning *tuning);

#ifdef __cplusplus
}
#endif
#endif
