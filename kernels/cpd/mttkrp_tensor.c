/* hot_mttkrp_tensor, a tensor that is copied once for many products (cpd.h): arguments, the choice of a backend, and
 * the copy in host memory. */
#include <math.h>
#include <string.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/entry.h"
#include "common/free.h"
#include "cpd_args.h"

enum { AT_A_TIME = 1 << 20 }; /* values between two checks for cancellation */

static hot_status keep(hot_context *context, hot_mttkrp_tensor *t)
{
    const size_t count = t->n[0] * t->n[1] * t->n[2], size = t->f64 ? sizeof(double) : sizeof(float);
    hot_status status = HOT_OK;
    t->x = hot_context_alloc(context, count, size);
    if (!t->x)
        return HOT_ERROR_MEMORY;
    for (size_t begin = 0; begin < count && status == HOT_OK; begin += AT_A_TIME) {
        const size_t here = count - begin < AT_A_TIME ? count - begin : AT_A_TIME;
        const char *const from = (const char *)t->given + begin * size;
        int finite = 1;
        if (t->f64)
            for (size_t i = 0; i < here; i++)
                finite &= isfinite(((const double *)(const void *)from)[i]) != 0;
        else
            for (size_t i = 0; i < here; i++)
                finite &= isfinite(((const float *)(const void *)from)[i]) != 0;
        memcpy((char *)t->x + begin * size, from, here * size);
        status = finite ? hot_context_check(context, "copying the tensor")
                        : hot_context_fail(context, HOT_ERROR_DATA, "the tensor holds NaN or Inf");
    }
    return status;
}

static hot_status product_ref(hot_context *context, hot_mttkrp_tensor *t, hot_mttkrp_args *args)
{
    args->x = t->x;
    return hot_mttkrp_ref(context, args);
}

static hot_status product_cpu(hot_context *context, hot_mttkrp_tensor *t, hot_mttkrp_args *args)
{
    args->x = t->x;
    return hot_mttkrp_cpu(context, args);
}

static hot_status keep_ref(hot_context *context, void *tensor)
{
    ((hot_mttkrp_tensor *)tensor)->product = product_ref;
    return keep(context, tensor);
}

static hot_status keep_cpu(hot_context *context, void *tensor)
{
    ((hot_mttkrp_tensor *)tensor)->product = product_cpu;
    return keep(context, tensor);
}

static const hot_backends backends = {"mttkrp", keep_ref, keep_cpu, HOT_CUDA_BACKEND(hot_mttkrp_tensor_cuda), 1};

static hot_status create(hot_context *context, const hot_mttkrp_tensor *wanted, hot_mttkrp_tensor **tensor)
{
    HOT_TRY(hot_cpd_check_sizes(context, wanted->n, 1));
    hot_mttkrp_tensor *made = hot_context_alloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = *wanted;
    made->context = context;
    hot_status status = hot_backend_run(context, &backends, made);
    made->given = NULL;
    if (status == HOT_OK)
        *tensor = made;
    else
        hot_mttkrp_tensor_destroy(&made);
    return status;
}

hot_status hot_mttkrp_tensor_create_f64(hot_context *context, size_t i, size_t j, size_t k, const double *x,
                                        hot_mttkrp_tensor **tensor)
{
    HOT_ENTRY(context);
    HOT_CLEAR(tensor);
    HOT_NEED(context, x, tensor);
    const hot_mttkrp_tensor wanted = {.f64 = 1, .n = {i, j, k}, .given = x};
    return create(context, &wanted, tensor);
}

hot_status hot_mttkrp_tensor_create_f32(hot_context *context, hot_cpd_arithmetic arithmetic, size_t i, size_t j,
                                        size_t k, const float *x, hot_mttkrp_tensor **tensor)
{
    HOT_ENTRY(context);
    HOT_CLEAR(tensor);
    HOT_NEED(context, x, tensor);
    const hot_mttkrp_tensor wanted = {.arithmetic = arithmetic, .n = {i, j, k}, .given = x};
    if (arithmetic < HOT_CPD_FULL || arithmetic > HOT_CPD_SPLIT) {
        if (tensor)
            *tensor = NULL;
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "arithmetic", "there is no arithmetic %d",
                                          (int)arithmetic);
    }
    return create(context, &wanted, tensor);
}

static hot_status product(hot_context *context, hot_mttkrp_tensor *t, int mode, hot_mttkrp_args *args)
{
    if (!t)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the tensor is NULL");
    if (t->f64 != args->f64)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the tensor is of %s, the factors are of %s",
                                t->f64 ? "double" : "float", args->f64 ? "double" : "float");
    args->arithmetic = t->arithmetic;
    memcpy(args->n, t->n, sizeof args->n);
    hot_status status = hot_mttkrp_check(context, mode, args);
    if (status == HOT_OK && !t->device) /* the copy is in the host's memory */
        status = hot_backend_need_host(context, backends.family);
    return status == HOT_OK ? t->product(context, t, args) : status;
}

hot_status hot_mttkrp_tensor_product_f64(hot_context *context, hot_mttkrp_tensor *tensor, int mode, size_t rank,
                                         const double *a, const double *b, const double *c, double *out)
{
    HOT_ENTRY(context);
    HOT_NEED(context, tensor, out);
    hot_mttkrp_args args = {.f64 = 1, .rank = rank, .factor = {a, b, c}, .out = out};
    return product(context, tensor, mode, &args);
}

hot_status hot_mttkrp_tensor_product_f32(hot_context *context, hot_mttkrp_tensor *tensor, int mode, size_t rank,
                                         const float *a, const float *b, const float *c, float *out)
{
    HOT_ENTRY(context);
    HOT_NEED(context, tensor, out);
    hot_mttkrp_args args = {.f64 = 0, .rank = rank, .factor = {a, b, c}, .out = out};
    return product(context, tensor, mode, &args);
}

void hot_mttkrp_tensor_destroy(hot_mttkrp_tensor **tensor)
{
    if (!tensor || !*tensor)
        return;
    if ((*tensor)->release)
        (*tensor)->release((*tensor)->context, *tensor);
    HOT_FREE((*tensor)->context, (*tensor)->x, *tensor);
    *tensor = NULL;
}
