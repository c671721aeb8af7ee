/* Products and decompositions of arrays in device memory (hotfiber/device.h): where the arrays must lie, and what the
 * backend on host arrays does on the host: reading a start, ordering the terms, the report. */
#pragma once

#include "cpd_device.h"

HOT_C_BEGIN

/* Whether a call's arrays are where the context says, in either state; and whether a decomposition may wait, if it
 * must. */
hot_status hot_mttkrp_check_places(hot_context *context, const hot_mttkrp_args *args);
hot_status hot_cpd_check_places(hot_context *context, const hot_cpd_args *args);
/* Whether a decomposition waits for its stream: with a start by HOSVD, and with a tolerance. */
int hot_cpd_waits(const hot_cpd_args *args);

/* x, or a copy of it (to be freed, also after an error) if kernels cannot read its memory. */
hot_status hot_cpd_queue_aligned(hot_context *context, const void *x, size_t bytes, void **copy, const void **aligned);

/* x times the power of two that brings its largest value near 1, if that is farther from 1 than HOT_CPD_USUAL_EXPONENT,
 * as for arrays in host memory. exponent: on the device (to be freed, also after an error): that of the largest value,
 * or 0. If `waits`, *scaled is x itself when it needs no scaling; otherwise always a copy (to be freed as well). */
hot_status hot_cpd_queue_scaled(hot_context *context, const hot_cpd_args *args, int waits, const void *x,
                                int **exponent, void **copy, const void **scaled);

/* A start in the caller's factor of a mode: into device->f and device->before. */
hot_status hot_cpd_queue_given(hot_context *context, const hot_cpd_args *args, hot_cpd_device *device, int mode);

/* Results into the caller's arrays, after `iterations` iterations. x: as scaled, with that exponent. first: the factors
 * at the start, for X = 0, or NULL where they are still there. */
hot_status hot_cpd_queue_finish(hot_context *context, const hot_cpd_args *args, hot_cpd_device *device, const void *x,
                                const int *exponent, double *const first[3]);

HOT_C_END
