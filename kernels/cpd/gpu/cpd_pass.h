/* Products of a tensor of floats with its factors by our own tensor-core kernels (Hopper). Numbers are multiplied as
 * halves with a common exponent, taken from the largest value of the tensor and of each column: 11 bits, as TF32 has,
 * of every value within 2^-29 of the largest, or (split) 22 bits by three products. Sums are made in float.
 *
 * A pass contracts one mode of the tensor, which goes through shared memory once. */
#pragma once

#include "packed_tensor.h"

HOT_C_BEGIN

typedef struct hot_cpd_pass hot_cpd_pass;

/* *pass is NULL, and the status HOT_OK, for a rank above 120 and without memory for a copy that packing needs. The
 * caller keeps the tensor. A pass for sweeps supports hot_cpd_pass_contract and the functions below it, others
 * hot_cpd_pass_product. stream: a cudaStream_t, for this and all later calls. */
hot_status hot_cpd_pass_create(hot_context *context, hot_cpd_packed_tensor *packed, size_t rank, void *stream,
                               hot_cpd_pass **pass);
void hot_cpd_pass_destroy(hot_context *context, hot_cpd_pass **pass);

/* Another stream, for what follows: the caller sees that work of the one before is complete when it matters. */
void hot_cpd_pass_set_stream(hot_cpd_pass *pass, void *stream);

/* Takes over a factor (n[mode] x rank floats on the device), which stays there until another is given. For sweeps this
 * launches what makes of it what passes read; single products launch that when they want it. */
hot_status hot_cpd_pass_factor(hot_context *context, hot_cpd_pass *pass, int mode, const float *factor);

/* Launches the product for a mode from the two other factors into out (n[mode] x rank doubles on the device). */
hot_status hot_cpd_pass_product(hot_context *context, hot_cpd_pass *pass, int mode, double *out);

/* Launches the sum over a mode, kept, and then the products for the two other modes that are made from it; a factor may
 * be taken over in between. The first product is mode 0, 2, 1 after mode 2, 1, 0. */
hot_status hot_cpd_pass_contract(hot_context *context, hot_cpd_pass *pass, int mode);
hot_status hot_cpd_pass_reduce(hot_context *context, hot_cpd_pass *pass, int mode, double *out);

/* For an update in one launch: where the mode's product comes from (it is made in `product` where that is quicker), and
 * where the factor goes. bytes: of shared memory that the launch takes anyway. */
struct hot_cpd_update_args;
hot_status hot_cpd_pass_update_args(hot_context *context, hot_cpd_pass *pass, int mode, int bytes, double *product,
                                    struct hot_cpd_update_args *args);

HOT_C_END
