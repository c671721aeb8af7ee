/* Inside the tridiag family: one job for every backend, and the pieces of the CPU's. Contract: hotfiber/tridiag.h. */
#pragma once

#include <hotfiber/tridiag.h>

#include "common/cpu.h"

HOT_C_BEGIN

typedef struct hot_tridiag_args {
    hot_tridiag_options options; /* complete: every field set */
    int f64;
    size_t n, count, stride, width;
    const void *diagonal, *off;  /* float or double, as f64 says */
    void *values;
    int64_t *found;              /* never NULL */
} hot_tridiag_args;

hot_status hot_tridiag_ref(hot_context *context, void *args);
hot_status hot_tridiag_cpu(hot_context *context, void *args);
hot_status hot_tridiag_cuda(hot_context *context, void *args);

/* A matrix made ready for counting: scaled by a power of two so that its norm is near 1, off-diagonals squared. */
typedef struct hot_tridiag_matrix {
    size_t n;
    int exponent;          /* the scaled matrix is the given one times 2^-exponent */
    double low, high;      /* all eigenvalues of the scaled matrix lie strictly between them */
    double absolute, relative; /* tolerances for the scaled matrix; complete */
    double *a, *b2;        /* n; n - 1. b2 is at least the smallest normal number: a zero pivot is then harmless */
    const hot_context *context; /* of a large matrix, whose counts check for cancellation; else NULL */
    float *a32, *b2_32;    /* the same in single precision, when it will do; else NULL */
} hot_tridiag_matrix;

/* How many eigenvalues are below each of the `lanes` shifts. */
typedef void hot_tridiag_count_f64(const hot_tridiag_matrix *matrix, const double *shifts, int64_t *counts);
typedef void hot_tridiag_count_f32(const hot_tridiag_matrix *matrix, const float *shifts, int64_t *counts);

typedef struct hot_tridiag_variant {
    int shifts_f64, shifts_f32; /* how many shifts a count takes at once */
    hot_tridiag_count_f64 *count_f64;
    hot_tridiag_count_f32 *count_f32;
} hot_tridiag_variant;

extern const hot_tridiag_variant hot_tridiag_variant_baseline, hot_tridiag_variant_avx2, hot_tridiag_variant_avx512;
enum { HOT_TRIDIAG_SHIFTS_MAX = 64 };

/* Whether the job's matrix `i` is free of NaN and Inf. */
int hot_tridiag_finite(const hot_tridiag_args *args, size_t i);
/* The rest of a row of values, from `from` on, becomes NaN. */
void hot_tridiag_blank(const hot_tridiag_args *args, size_t i, size_t from);
/* Makes the first `many` values of row i ascend: neighbours may have met the tolerance in the wrong order. */
void hot_tridiag_ascend(const hot_tridiag_args *args, size_t i, size_t many);
/* The entries as double. */
double hot_tridiag_a(const hot_tridiag_args *args, size_t i, size_t at);
double hot_tridiag_b(const hot_tridiag_args *args, size_t i, size_t at);

HOT_C_END
