/* A call of hot_symtensor_contract_f64 or _f32, as the backends see it. */
#ifndef HOT_SYMTENSOR_CONTRACT_ARGS_H
#define HOT_SYMTENSOR_CONTRACT_ARGS_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hot_contract_forms {
    int order, dim, times, f64;
    size_t count, stride, points, width; /* width: values of a result */
    const void *tensors, *x;             /* count x stride; points x dim */
    void *result;                        /* count x points x width */
} hot_contract_forms;

hot_status hot_contract_forms_cuda(hot_context *context, void *args);

#ifdef __cplusplus
}
#endif
#endif
