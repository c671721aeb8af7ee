/* Products of a tensor of floats with its factors by our own tensor-core kernels (Hopper). Numbers are multiplied as
 * halves with a common exponent, taken from the largest value of the tensor and of each column: 11 bits, as TF32 has,
 * of every value within 2^-29 of the largest, or (split) 22 bits by three products. Sums are made in float.
 *
 * A pass contracts one mode of the tensor, which streams through shared memory once. */
#ifndef HOT_CPD_PASS_H
#define HOT_CPD_PASS_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hot_cpd_pass hot_cpd_pass;

/* *pass stays NULL, and the status HOT_OK, where these kernels do not serve: another architecture, a rank above 120, no
 * memory for a copy of x. x (n[0] x n[1] x n[2] floats) is on the device and stays the caller's. keep: whether
 * hot_cpd_pass_contract and what follows it will be called, else hot_cpd_pass_product. Not split, and kept, x is
 * rounded to halves once and for all; else it is copied where rows of n[0] are not whole lines of memory, unless it is
 * small. stream: a cudaStream_t, for this and all that follows. */
hot_status hot_cpd_pass_create(hot_context *context, const float *x, const size_t n[3], size_t rank, int split,
                               int keep, void *stream, hot_cpd_pass **pass);
void hot_cpd_pass_destroy(hot_context *context, hot_cpd_pass **pass);

/* Launches the rounding of the tensor to halves, where passes read those: hot_cpd_pass_create has done it. */
hot_status hot_cpd_pass_round(hot_context *context, hot_cpd_pass *pass);

/* Launches what takes over a factor (n[mode] x rank floats on the device). */
hot_status hot_cpd_pass_factor(hot_context *context, hot_cpd_pass *pass, int mode, const float *factor);

/* Launches the product for a mode from the two other factors into out (n[mode] x rank doubles on the device). */
hot_status hot_cpd_pass_product(hot_context *context, hot_cpd_pass *pass, int mode, double *out);

/* Launches the sum over a mode, kept, and then the products for the two other modes that are made from it; a factor may
 * be taken over in between. The first product is mode 0, 2, 1 after mode 2, 1, 0. */
hot_status hot_cpd_pass_contract(hot_context *context, hot_cpd_pass *pass, int mode);
hot_status hot_cpd_pass_reduce(hot_context *context, hot_cpd_pass *pass, int mode, double *out);

/* For an update in one launch: where the mode's product comes from (it is made in `product` where that is quicker), and
 * where the factor goes. bytes: of shared memory that the launch takes anyway. */
struct hot_cpd_step;
hot_status hot_cpd_pass_step(hot_context *context, hot_cpd_pass *pass, int mode, int bytes, double *product,
                             struct hot_cpd_step *step);

#ifdef __cplusplus
}
#endif
#endif
