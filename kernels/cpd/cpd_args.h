/* Arguments of MTTKRP and of the decomposition, as the backends get them. */
#pragma once

#include <hotfiber/cpd.h>

#include "common/backend.h"

HOT_C_BEGIN

/* Tensors whose largest value is farther from 1 than this power of two are scaled. */
enum { HOT_CPD_USUAL_EXPONENT = 40 };

/* One product of the tensor with two factors. factor[mode] is not read. Pointers in the arrays' precision. */
typedef struct hot_mttkrp_args {
    int f64, mode; /* mode: 0, 1, 2 */
    hot_cpd_arithmetic arithmetic;
    size_t n[3], rank;
    const void *x, *factor[3];
    void *out;
} hot_mttkrp_args;

/* A decomposition. factor[] holds the start and takes the result, columns of unit length or zero; lambda in double and
 * in no order. */
typedef struct hot_cpd_args {
    int f64;
    hot_cpd_options options; /* defaults filled in */
    size_t n[3], rank;
    const void *x;
    double *lambda;
    void *factor[3];
    hot_cpd_report report;
    /* With arrays in device memory, of the caller: lambda in the arrays' precision; options.fits and the report are in
     * device memory, too, and the backend sorts the terms; lambda above is NULL. */
    void *device_lambda;
    hot_cpd_report *device_report;
} hot_cpd_args;

/* The CPU backends keep a copy of the tensor in host memory, others what they need. */
struct hot_mttkrp_tensor {
    hot_context *context; /* that has made it */
    int f64;
    hot_cpd_arithmetic arithmetic;
    size_t n[3];
    const void *given; /* while it is created: the caller's array */
    void *x, *device;  /* the copy in host memory; the backend's own data */
    hot_status (*product)(hot_context *context, hot_mttkrp_tensor *tensor, hot_mttkrp_args *args);
    void (*release)(hot_context *context, hot_mttkrp_tensor *tensor); /* NULL: there is nothing but the copy */
};

/* Whether these sizes can be; and the other arguments of a product, mode 1, 2 or 3, which goes into the args. */
hot_status hot_cpd_check_sizes(hot_context *context, const size_t n[3], size_t rank);
hot_status hot_mttkrp_check(hot_context *context, int mode, hot_mttkrp_args *args);

hot_backend_fn hot_mttkrp_ref, hot_mttkrp_cpu, hot_mttkrp_cuda; /* of hot_mttkrp_args */
hot_backend_fn hot_mttkrp_tensor_cuda;                          /* of hot_mttkrp_tensor: makes the copy */
hot_backend_fn hot_cpd_cpu, hot_cpd_cuda;                       /* of hot_cpd_args */

HOT_C_END
