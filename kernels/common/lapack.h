/* LAPACK by its Fortran names, where the build found it (HOT_HAVE_LAPACK): OpenBLAS by preference. Declared here,
 * because the C interface's header is a package of its own and adds copies. */
#ifndef HOT_COMMON_LAPACK_H
#define HOT_COMMON_LAPACK_H

#include <hotfiber/status.h>

#if defined(HOT_HAVE_LAPACK) && HOT_HAVE_LAPACK

/* While matrices are dealt out to our own threads, OpenBLAS is to use one thread for each: it is told so at the begin,
 * and gets what it had back at the last end. (It keeps that number for the whole process. Another thread's call to
 * OpenBLAS meanwhile is slower, not wrong.) Other LAPACKs have nothing to tell. */
HOT_API void hot_lapack_single_begin(void);
HOT_API void hot_lapack_single_end(void);

/* Around each call of BLAS, or of a LAPACK function that uses it: an OpenBLAS built without threads (Debian's
 * libopenblas0-serial) hands the same buffer to two threads that call it at once, and returns wrong numbers. With such
 * a one they wait for each other here; with every other these two do nothing. */
HOT_API void hot_lapack_enter(void);
HOT_API void hot_lapack_leave(void);

void dsterf_(const int *n, double *d, double *e, int *info);
void ssterf_(const int *n, float *d, float *e, int *info);

void zheevd_(const char *jobz, const char *uplo, const int *n, void *a, const int *lda, double *w, void *work,
             const int *lwork, double *rwork, const int *lrwork, int *iwork, const int *liwork, int *info);
void cheevd_(const char *jobz, const char *uplo, const int *n, void *a, const int *lda, float *w, void *work,
             const int *lwork, float *rwork, const int *lrwork, int *iwork, const int *liwork, int *info);
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info);
void ssyevd_(const char *jobz, const char *uplo, const int *n, float *a, const int *lda, float *w, float *work,
             const int *lwork, int *iwork, const int *liwork, int *info);

#endif
#endif
