/* Inside the heev family: one job for every backend, and single matrices on the CPU. Contract: hotfiber/heev.h. */
#ifndef HOT_KERNELS_HEEV_H
#define HOT_KERNELS_HEEV_H

#include <hotfiber/heev.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hot_heev_args {
    int f64, is_complex;
    size_t n, count, kept;  /* kept: eigenpairs per matrix that go out */
    const void *matrices;
    void *values, *vectors; /* vectors may be NULL */
    uint8_t *flags;         /* never NULL */
} hot_heev_args;

hot_status hot_heev_ref(hot_context *context, void *args);
/* The same as LAPACK's drivers, in stages between which the call can be cancelled: 1 done, 0 failed, -1 cancelled. For
 * n from 512 on and numbers that need no scaling. memory and integers: of hot_heev_workspace. */
struct hot_lapack; /* common/lapack.h */
int hot_heev_stages(const hot_context *context, const struct hot_lapack *lapack, int f64, int is_complex,
                    size_t n, int vectors, void *a, void *w, double *memory, int *integers);
hot_status hot_heev_cpu(hot_context *context, void *args);
hot_status hot_heev_cuda(hot_context *context, void *args);

/* Whether the lower triangle of matrix i is free of NaN and Inf. */
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

#ifdef __cplusplus
}
#endif
#endif
