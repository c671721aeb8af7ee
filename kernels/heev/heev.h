/* Inside the heev family: one job for every backend, and single matrices on the CPU. Contract: hotfiber/heev.h. */
#pragma once

#include <hotfiber/heev.h>

HOT_C_BEGIN

enum { HOT_HEEV_DEVICE_MAX = 1024 /* rows for which we have kernels on the GPU */ };

typedef struct hot_heev_args {
    int f64, is_complex;
    int upper;              /* whether the upper triangle is read */
    size_t n, count, kept;  /* kept: eigenpairs per matrix that go out */
    const void *matrices;
    void *values, *vectors; /* vectors may be NULL */
    uint8_t *flags;         /* never NULL */
} hot_heev_args;

/* Where number (row, column) of the lower triangle of matrix i is, in numbers; in the upper one its conjugate. */
static inline size_t hot_heev_place(const hot_heev_args *args, size_t i, size_t row, size_t column)
{
    return (i * args->n + (args->upper ? row : column)) * args->n + (args->upper ? column : row);
}

hot_status hot_heev_ref(hot_context *context, void *args);
/* One matrix of HOT_HEEV_LARGE rows or more by pieces of LAPACK, which is there. matrix: its lower triangle, lost;
 * values: n; vectors: kept x n, or NULL as in args. memory: of so many bytes. Call from outside of parallel regions if
 * there are several threads. 1: done; 0: LAPACK failed; -1: cancelled. */
enum { HOT_HEEV_LARGE = 512 /* rows: smaller matrices take less than 100 ms */ };
size_t hot_heev_large_bytes(const hot_heev_args *args, int threads);
int hot_heev_large(hot_context *context, const hot_heev_args *args, int threads, void *matrix, void *values,
                   void *vectors, void *memory);
hot_status hot_heev_cpu(hot_context *context, void *args);
hot_status hot_heev_cuda(hot_context *context, void *args);

/* Whether the triangle of matrix i that is read is free of NaN and Inf. */
int hot_heev_finite(const hot_heev_args *args, size_t i);
/* NaN into matrix i's outputs, and its flag. */
void hot_heev_refuse(const hot_heev_args *args, size_t i);

/* One double-precision matrix on the calling thread. a: n x n column-major (complex as pairs), its lower triangle is
 * read; becomes the eigenvectors when `vectors`, else rubbish; w: n eigenvalues, ascending. workspace:
 * hot_heev_workspace(n) bytes. 0 when it did not converge. */
size_t hot_heev_workspace(size_t n);
int hot_heev_one(int is_complex, size_t n, int vectors, double *a, double *w, void *workspace);
/* The same without LAPACK, for complex matrices; context: NULL, or that of a call that can be cancelled, which gives
 * 0. workspace: so many doubles. */
size_t hot_heev_own_doubles(size_t n);
int hot_heev_own(const hot_context *context, size_t n, int vectors, double *a, double *w, void *workspace);
/* Implicit QL: d becomes the eigenvalues, in no order; z (n x n, columns) collects the rotations, or is NULL.
 * workspace: 2 n. 0 when it did not converge. */
int hot_heev_ql(size_t n, double *d, double *e, double *z, double *workspace);

HOT_C_END
