/* A call of hot_symtensor_contract_f64 or _f32, as the backends see it. */
#pragma once

#include <hotfiber/context.h>

HOT_C_BEGIN

typedef struct hot_contract_forms {
    int order, dim, times, f64;
    size_t count, stride, points, width; /* width: values of a result */
    const void *tensors, *x;             /* count x stride; points x dim */
    void *result;                        /* count x points x width */
} hot_contract_forms;

hot_status hot_contract_forms_cuda(hot_context *context, void *args);

HOT_C_END
