/* Inside the heev family: one job for every backend, and single matrices on the CPU. Contract: hotfiber/heev.h. */
#ifndef HOT_KERNELS_HEEV_H
#define HOT_KERNELS_HEEV_H

#include <hotfiber/heev.h>

#ifdef __cplusplus
extern "C" {
#endif

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
/* The same as LAPACK's drivers, in stages between which the call can be cancelled: 1 done, 0 failed, -1 cancelled. For
 * n from 512 on and numbers that need no scaling. memory and integers: of hot_heev_workspace. */
struct hot_lapack; /* common/lapack.h */
int hot_heev_stages(const hot_context *context, const struct hot_lapack *lapack, int f64, int is_complex,
                    size_t n, int vectors, void *a, void *w, double *memory, int *integers);
hot_status hot_heev_cpu(hot_context *context, void *args);
hot_status hot_heev_cuda(hot_context *context, void *args);

/* Whether the triangle of matrix i that is read is free of NaN and Inf. */
int hot_heev_finite(const hot_heev_args *args, size_t i);
/* NaN into matrix i's outputs, and its flag. */
void hot_heev_refuse(const hot_heev_args *args, size_t i);

/* One double-precision matrix on the calling thread. a: n x n column-major (complex as pairs), its lower triangle is
 * read; becomes the eigenvectors when `vectors`, else rubbish; w: n eigenvalues, ascending. workspace:
 * hot_heev_workspace(n) bytes. 0 when it did not converge. hot_heev_own uses no LAPACK, and takes complex matrices
 * only. */
size_t hot_heev_workspace(size_t n);
int hot_heev_one(int is_complex, size_t n, int vectors, double *a, double *w, void *workspace);
int hot_heev_own(size_t n, int vectors, double *a, double *w, void *workspace);
/* Implicit QL: d becomes the eigenvalues, in no order; z (n x n, columns) collects the rotations, or is NULL.
 * workspace: 2 n. 0 when it did not converge. */
int hot_heev_ql(size_t n, double *d, double *e, double *z, double *workspace);

#ifdef __cplusplus
}
#endif
#endif
