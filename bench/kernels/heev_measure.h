/* Times of the Hermitian eigensolver and of cuSOLVER's with all data in the GPU's memory: for `hotfiber bench heev`. */
#pragma once

#include <hotfiber/context.h>

HOT_C_BEGIN

typedef enum hot_heev_solver { HOT_HEEV_OURS = 0, HOT_HEEV_CUSOLVER } hot_heev_solver;

/* Values and vectors of random complex double matrices, `repeats` times from data in the GPU's memory to results there;
 * seconds[i] is the time of each by the device's clock. HOT_ERROR_DEVICE without a GPU, or without cuSOLVER's library
 * if that is the solver. */
hot_status hot_heev_measure(hot_context *context, hot_heev_solver solver, size_t n, size_t count, int repeats,
                            double *seconds);
hot_status hot_heev_measure_cuda(hot_context *context, size_t n, size_t count, const double *matrices, int repeats,
                                 double *seconds);
hot_status hot_heev_measure_cusolver(hot_context *context, size_t n, size_t count, const double *matrices, int repeats,
                                     double *seconds);

HOT_C_END
