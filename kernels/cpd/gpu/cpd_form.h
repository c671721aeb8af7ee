/* A tensor of floats on the device, in the form that our tensor-core kernels read (cpd_pass.h). */
#ifndef HOT_CPD_FORM_H
#define HOT_CPD_FORM_H

#include <cuda_fp16.h>
#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What it is for: one product; products again and again; the sweeps of a decomposition. */
typedef enum hot_cpd_use { CPD_ONE_PRODUCT, CPD_PRODUCTS, CPD_SWEEPS } hot_cpd_use;

typedef struct hot_cpd_form {
    size_t n[3];
    int split;
    hot_cpd_use use;
    const float *x;    /* the caller's */
    float *scale;      /* a power of two; behind it room for the search */
    __half *halves;    /* x times scale, rows ld apart; or NULL: x is read, or */
    float *copy;       /* x with rows of whole lines of memory, made when a pass wants it */
    size_t ld;         /* of what passes read */
    __half *orders[3]; /* NULL, or the halves once more for products of a mode (cpd_slab.h), made when first wanted */
} hot_cpd_form;

/* *form stays NULL, and the status HOT_OK, where our kernels do not serve: another architecture, no memory for halves.
 * x (n[0] x n[1] x n[2] floats) is on the device and stays the caller's. Sweeps and repeated products read halves
 * (split: repeated products a copy with rows of whole lines, where rows of x are not), made here once and for all; then
 * x is needed no more. stream: a cudaStream_t. */
hot_status hot_cpd_form_create(hot_context *context, const float *x, const size_t n[3], int split, hot_cpd_use use,
                               void *stream, hot_cpd_form **form);
void hot_cpd_form_destroy(hot_context *context, hot_cpd_form **form);

/* Launches the rounding of x to halves, where there are such: hot_cpd_form_create has done it. */
hot_status hot_cpd_form_round(hot_context *context, const hot_cpd_form *form, void *stream);

/* The driver's function that makes the maps which tiles are copied by, or NULL. */
void *hot_cpd_find_encode(void);

/* Where rows of x are no whole lines of memory: a copy in which they are. *fits: whether there is room for one. */
hot_status hot_cpd_form_copy(hot_context *context, hot_cpd_form *form, void *stream, int *fits);

/* The halves in the order that products of a mode with a small tensor take (cpd_slab.h). Left NULL, and HOT_OK, without
 * room for it. */
hot_status hot_cpd_form_order(hot_context *context, hot_cpd_form *form, int mode, void *stream);

#ifdef __cplusplus
}
#endif
#endif
