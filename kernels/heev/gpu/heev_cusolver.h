/* Hermitian matrices that are too large for our own kernels, on the GPU by cuSOLVER, one after the other. */
#pragma once

#include "heev/heev.h"

HOT_C_BEGIN

/* For arrays in either memory; waits for each matrix. Its arguments are those of hot_heev_cuda. HOT_ERROR_DEVICE where
 * cuSOLVER cannot be loaded. */
hot_status hot_heev_cusolver(hot_context *context, const hot_heev_args *args);

HOT_C_END
