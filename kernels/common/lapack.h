/* LAPACK and BLAS by their Fortran names: OpenBLAS by preference. The library that the build found is loaded by the
 * first call that needs it, not with ours: OpenBLAS starts a thread for every processor when it is loaded, and these
 * spin for a tenth of a second, while most programs read their data. Declared here, because the header of the C
 * interface is in a separate package and adds copies. */
#ifndef HOT_COMMON_LAPACK_H
#define HOT_COMMON_LAPACK_H

#include <hotfiber/status.h>

/* While our own threads share the matrices, OpenBLAS must use one thread for each: its number of threads is set to 1 at
 * the begin, or when it is loaded, and restored at the last end. (The number is the whole process's. Another thread's
 * call to OpenBLAS meanwhile is slower, not wrong.) Other LAPACKs have no such setting. */
HOT_API void hot_lapack_single_begin(void);
HOT_API void hot_lapack_single_end(void);

/* Around each call of BLAS, or of a LAPACK function that uses it: an OpenBLAS built without threads (Debian's
 * libopenblas0-serial) hands the same buffer to two threads that call it at once, and returns wrong numbers. With such
 * a library the threads take turns here; with any other these two functions do nothing. */
HOT_API void hot_lapack_enter(void);
HOT_API void hot_lapack_leave(void);

/* How they are called. */
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

/* The stages of these, for matrices that take long. */
void zlatrd_(const char *uplo, const int *n, const int *nb, void *a, const int *lda, double *e, void *tau,
             void *w, const int *ldw);
void zher2k_(const char *uplo, const char *trans, const int *n, const int *k, const void *alpha, const void *a,
             const int *lda, const void *b, const int *ldb, const double *beta, void *c, const int *ldc);
void zhetd2_(const char *uplo, const int *n, void *a, const int *lda, double *d, double *e, void *tau, int *info);
void clatrd_(const char *uplo, const int *n, const int *nb, void *a, const int *lda, float *e, void *tau,
             void *w, const int *ldw);
void cher2k_(const char *uplo, const char *trans, const int *n, const int *k, const void *alpha, const void *a,
             const int *lda, const void *b, const int *ldb, const float *beta, void *c, const int *ldc);
void chetd2_(const char *uplo, const int *n, void *a, const int *lda, float *d, float *e, void *tau, int *info);
void dlatrd_(const char *uplo, const int *n, const int *nb, double *a, const int *lda, double *e, double *tau,
             double *w, const int *ldw);
void dsyr2k_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha, const double *a,
             const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc);
void dsytd2_(const char *uplo, const int *n, double *a, const int *lda, double *d, double *e, double *tau, int *info);
void dstedc_(const char *compz, const int *n, double *d, double *e, double *z, const int *ldz, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info);
void slatrd_(const char *uplo, const int *n, const int *nb, float *a, const int *lda, float *e, float *tau,
             float *w, const int *ldw);
void ssyr2k_(const char *uplo, const char *trans, const int *n, const int *k, const float *alpha, const float *a,
             const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc);
void ssytd2_(const char *uplo, const int *n, float *a, const int *lda, float *d, float *e, float *tau, int *info);

/* Reflectors by panels, and divide and conquer piece by piece. */
void zlarft_(const char *direct, const char *storev, const int *n, const int *k, const void *v, const int *ldv,
             const void *tau, void *t, const int *ldt);
void zlarfb_(const char *side, const char *trans, const char *direct, const char *storev, const int *m, const int *n,
             const int *k, const void *v, const int *ldv, const void *t, const int *ldt, void *c, const int *ldc,
             void *work, const int *ldwork);
void clarft_(const char *direct, const char *storev, const int *n, const int *k, const void *v, const int *ldv,
             const void *tau, void *t, const int *ldt);
void clarfb_(const char *side, const char *trans, const char *direct, const char *storev, const int *m, const int *n,
             const int *k, const void *v, const int *ldv, const void *t, const int *ldt, void *c, const int *ldc,
             void *work, const int *ldwork);
void dlarft_(const char *direct, const char *storev, const int *n, const int *k, const double *v, const int *ldv,
             const double *tau, double *t, const int *ldt);
void dlarfb_(const char *side, const char *trans, const char *direct, const char *storev, const int *m, const int *n,
             const int *k, const double *v, const int *ldv, const double *t, const int *ldt, double *c, const int *ldc,
             double *work, const int *ldwork);
void slarft_(const char *direct, const char *storev, const int *n, const int *k, const float *v, const int *ldv,
             const float *tau, float *t, const int *ldt);
void slarfb_(const char *side, const char *trans, const char *direct, const char *storev, const int *m, const int *n,
             const int *k, const float *v, const int *ldv, const float *t, const int *ldt, float *c, const int *ldc,
             float *work, const int *ldwork);
void dsteqr_(const char *compz, const int *n, double *d, double *e, double *z, const int *ldz, double *work, int *info);
void dlaed2_(int *k, const int *n, const int *n1, double *d, double *q, const int *ldq, int *indxq, double *rho,
             double *z, double *dlamda, double *w, double *q2, int *indx, int *indxc, int *indxp, int *coltyp,
             int *info);
void dlaed4_(const int *n, const int *i, const double *d, const double *z, double *delta, const double *rho,
             double *dlam, int *info);
void dlamrg_(const int *n1, const int *n2, const double *a, const int *step1, const int *step2, int *index);
void ssteqr_(const char *compz, const int *n, float *d, float *e, float *z, const int *ldz, float *work, int *info);
void slaed2_(int *k, const int *n, const int *n1, float *d, float *q, const int *ldq, int *indxq, float *rho,
             float *z, float *dlamda, float *w, float *q2, int *indx, int *indxc, int *indxp, int *coltyp, int *info);
void slaed4_(const int *n, const int *i, const float *d, const float *z, float *delta, const float *rho,
             float *dlam, int *info);
void slamrg_(const int *n1, const int *n2, const float *a, const int *step1, const int *step2, int *index);

void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);
void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const float *alpha,
            const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
            const int *ldc);

#define HOT_LAPACK_ALL(X)                                                                                             \
    X(dsterf) X(ssterf) X(zheevd) X(cheevd) X(dsyevd) X(ssyevd) X(zlatrd) X(zher2k) X(zhetd2) X(zlarft) X(zlarfb)     \
    X(clatrd) X(cher2k) X(chetd2) X(clarft) X(clarfb) X(dlatrd) X(dsyr2k) X(dsytd2) X(dlarft) X(dlarfb) X(dstedc)     \
    X(slatrd) X(ssyr2k) X(ssytd2) X(slarft) X(slarfb) X(dsteqr) X(dlaed2) X(dlaed4) X(dlamrg) X(ssteqr) X(slaed2)     \
    X(slaed4) X(slamrg) X(dgemm) X(sgemm)

#define HOT_LAPACK_MEMBER(name) __typeof__(name##_) *name;
typedef struct hot_lapack {
    HOT_LAPACK_ALL(HOT_LAPACK_MEMBER)
} hot_lapack;
#undef HOT_LAPACK_MEMBER

/* The functions; NULL in a build without LAPACK, or where its library cannot be loaded: there is our own code then. */
HOT_API const hot_lapack *hot_lapack_get(void);

#endif
