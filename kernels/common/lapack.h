/* LAPACK and BLAS by their Fortran names: OpenBLAS by preference. The library that the build found is loaded by the
 * first call that needs it, not with ours: OpenBLAS starts a thread for every processor when it is loaded, and these
 * spin for a tenth of a second, while most programs read their data. Declared here, because the header of the C
 * interface is in a separate package and adds copies. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* An integer that a function of LAPACK takes by its address, or returns. NumPy's OpenBLAS has 64 bits, most others
 * 32: where the low half comes first, both find what they expect in one of 64 bits that was 0 or holds a number of 32.
 * Arrays are converted: see hot_lapack_widen. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
typedef int64_t hot_lapack_int;
#else
typedef int hot_lapack_int;
#endif

/* How they are called. */
void dsterf_(const hot_lapack_int *n, double *d, double *e, hot_lapack_int *info);
void ssterf_(const hot_lapack_int *n, float *d, float *e, hot_lapack_int *info);

void zheevd_(const char *jobz, const char *uplo, const hot_lapack_int *n, void *a, const hot_lapack_int *lda,
             double *w, void *work, const hot_lapack_int *lwork, double *rwork, const hot_lapack_int *lrwork,
             hot_lapack_int *iwork, const hot_lapack_int *liwork, hot_lapack_int *info);
void cheevd_(const char *jobz, const char *uplo, const hot_lapack_int *n, void *a, const hot_lapack_int *lda, float *w,
             void *work, const hot_lapack_int *lwork, float *rwork, const hot_lapack_int *lrwork,
             hot_lapack_int *iwork, const hot_lapack_int *liwork, hot_lapack_int *info);
void dsyevd_(const char *jobz, const char *uplo, const hot_lapack_int *n, double *a, const hot_lapack_int *lda,
             double *w, double *work, const hot_lapack_int *lwork, hot_lapack_int *iwork, const hot_lapack_int *liwork,
             hot_lapack_int *info);
void ssyevd_(const char *jobz, const char *uplo, const hot_lapack_int *n, float *a, const hot_lapack_int *lda,
             float *w, float *work, const hot_lapack_int *lwork, hot_lapack_int *iwork, const hot_lapack_int *liwork,
             hot_lapack_int *info);

/* The stages of these, for matrices that take long. */
void zlatrd_(const char *uplo, const hot_lapack_int *n, const hot_lapack_int *nb, void *a, const hot_lapack_int *lda,
             double *e, void *tau, void *w, const hot_lapack_int *ldw);
void zher2k_(const char *uplo, const char *trans, const hot_lapack_int *n, const hot_lapack_int *k, const void *alpha,
             const void *a, const hot_lapack_int *lda, const void *b, const hot_lapack_int *ldb, const double *beta,
             void *c, const hot_lapack_int *ldc);
void zhetd2_(const char *uplo, const hot_lapack_int *n, void *a, const hot_lapack_int *lda, double *d, double *e,
             void *tau, hot_lapack_int *info);
void clatrd_(const char *uplo, const hot_lapack_int *n, const hot_lapack_int *nb, void *a, const hot_lapack_int *lda,
             float *e, void *tau, void *w, const hot_lapack_int *ldw);
void cher2k_(const char *uplo, const char *trans, const hot_lapack_int *n, const hot_lapack_int *k, const void *alpha,
             const void *a, const hot_lapack_int *lda, const void *b, const hot_lapack_int *ldb, const float *beta,
             void *c, const hot_lapack_int *ldc);
void chetd2_(const char *uplo, const hot_lapack_int *n, void *a, const hot_lapack_int *lda, float *d, float *e,
             void *tau, hot_lapack_int *info);
void dlatrd_(const char *uplo, const hot_lapack_int *n, const hot_lapack_int *nb, double *a, const hot_lapack_int *lda,
             double *e, double *tau, double *w, const hot_lapack_int *ldw);
void dsyr2k_(const char *uplo, const char *trans, const hot_lapack_int *n, const hot_lapack_int *k,
             const double *alpha, const double *a, const hot_lapack_int *lda, const double *b,
             const hot_lapack_int *ldb, const double *beta, double *c, const hot_lapack_int *ldc);
void dsytd2_(const char *uplo, const hot_lapack_int *n, double *a, const hot_lapack_int *lda, double *d, double *e,
             double *tau, hot_lapack_int *info);
void dstedc_(const char *compz, const hot_lapack_int *n, double *d, double *e, double *z, const hot_lapack_int *ldz,
             double *work, const hot_lapack_int *lwork, hot_lapack_int *iwork, const hot_lapack_int *liwork,
             hot_lapack_int *info);
void slatrd_(const char *uplo, const hot_lapack_int *n, const hot_lapack_int *nb, float *a, const hot_lapack_int *lda,
             float *e, float *tau, float *w, const hot_lapack_int *ldw);
void ssyr2k_(const char *uplo, const char *trans, const hot_lapack_int *n, const hot_lapack_int *k, const float *alpha,
             const float *a, const hot_lapack_int *lda, const float *b, const hot_lapack_int *ldb, const float *beta,
             float *c, const hot_lapack_int *ldc);
void ssytd2_(const char *uplo, const hot_lapack_int *n, float *a, const hot_lapack_int *lda, float *d, float *e,
             float *tau, hot_lapack_int *info);

/* Reflectors by panels, and divide and conquer piece by piece. */
void zlarft_(const char *direct, const char *storev, const hot_lapack_int *n, const hot_lapack_int *k, const void *v,
             const hot_lapack_int *ldv, const void *tau, void *t, const hot_lapack_int *ldt);
void zlarfb_(const char *side, const char *trans, const char *direct, const char *storev, const hot_lapack_int *m,
             const hot_lapack_int *n, const hot_lapack_int *k, const void *v, const hot_lapack_int *ldv, const void *t,
             const hot_lapack_int *ldt, void *c, const hot_lapack_int *ldc, void *work, const hot_lapack_int *ldwork);
void clarft_(const char *direct, const char *storev, const hot_lapack_int *n, const hot_lapack_int *k, const void *v,
             const hot_lapack_int *ldv, const void *tau, void *t, const hot_lapack_int *ldt);
void clarfb_(const char *side, const char *trans, const char *direct, const char *storev, const hot_lapack_int *m,
             const hot_lapack_int *n, const hot_lapack_int *k, const void *v, const hot_lapack_int *ldv, const void *t,
             const hot_lapack_int *ldt, void *c, const hot_lapack_int *ldc, void *work, const hot_lapack_int *ldwork);
void dlarft_(const char *direct, const char *storev, const hot_lapack_int *n, const hot_lapack_int *k, const double *v,
             const hot_lapack_int *ldv, const double *tau, double *t, const hot_lapack_int *ldt);
void dlarfb_(const char *side, const char *trans, const char *direct, const char *storev, const hot_lapack_int *m,
             const hot_lapack_int *n, const hot_lapack_int *k, const double *v, const hot_lapack_int *ldv,
             const double *t, const hot_lapack_int *ldt, double *c, const hot_lapack_int *ldc, double *work,
             const hot_lapack_int *ldwork);
void slarft_(const char *direct, const char *storev, const hot_lapack_int *n, const hot_lapack_int *k, const float *v,
             const hot_lapack_int *ldv, const float *tau, float *t, const hot_lapack_int *ldt);
void slarfb_(const char *side, const char *trans, const char *direct, const char *storev, const hot_lapack_int *m,
             const hot_lapack_int *n, const hot_lapack_int *k, const float *v, const hot_lapack_int *ldv,
             const float *t, const hot_lapack_int *ldt, float *c, const hot_lapack_int *ldc, float *work,
             const hot_lapack_int *ldwork);
void dsteqr_(const char *compz, const hot_lapack_int *n, double *d, double *e, double *z, const hot_lapack_int *ldz,
             double *work, hot_lapack_int *info);
void dlaed2_(hot_lapack_int *k, const hot_lapack_int *n, const hot_lapack_int *n1, double *d, double *q,
             const hot_lapack_int *ldq, hot_lapack_int *indxq, double *rho, double *z, double *dlamda, double *w,
             double *q2, hot_lapack_int *indx, hot_lapack_int *indxc, hot_lapack_int *indxp, hot_lapack_int *coltyp,
             hot_lapack_int *info);
void dlaed4_(const hot_lapack_int *n, const hot_lapack_int *i, const double *d, const double *z, double *delta,
             const double *rho, double *dlam, hot_lapack_int *info);
void dlamrg_(const hot_lapack_int *n1, const hot_lapack_int *n2, const double *a, const hot_lapack_int *step1,
             const hot_lapack_int *step2, hot_lapack_int *index);
void ssteqr_(const char *compz, const hot_lapack_int *n, float *d, float *e, float *z, const hot_lapack_int *ldz,
             float *work, hot_lapack_int *info);
void slaed2_(hot_lapack_int *k, const hot_lapack_int *n, const hot_lapack_int *n1, float *d, float *q,
             const hot_lapack_int *ldq, hot_lapack_int *indxq, float *rho, float *z, float *dlamda, float *w,
             float *q2, hot_lapack_int *indx, hot_lapack_int *indxc, hot_lapack_int *indxp, hot_lapack_int *coltyp,
             hot_lapack_int *info);
void slaed4_(const hot_lapack_int *n, const hot_lapack_int *i, const float *d, const float *z, float *delta,
             const float *rho, float *dlam, hot_lapack_int *info);
void slamrg_(const hot_lapack_int *n1, const hot_lapack_int *n2, const float *a, const hot_lapack_int *step1,
             const hot_lapack_int *step2, hot_lapack_int *index);

void dgemm_(const char *ta, const char *tb, const hot_lapack_int *m, const hot_lapack_int *n, const hot_lapack_int *k,
             const double *alpha, const double *a, const hot_lapack_int *lda, const double *b,
             const hot_lapack_int *ldb, const double *beta, double *c, const hot_lapack_int *ldc);
void sgemm_(const char *ta, const char *tb, const hot_lapack_int *m, const hot_lapack_int *n, const hot_lapack_int *k,
             const float *alpha, const float *a, const hot_lapack_int *lda, const float *b, const hot_lapack_int *ldb,
             const float *beta, float *c, const hot_lapack_int *ldc);

#define HOT_LAPACK_ALL(X)                                                                                             \
    X(dsterf) X(ssterf) X(zheevd) X(cheevd) X(dsyevd) X(ssyevd) X(zlatrd) X(zher2k) X(zhetd2) X(zlarft) X(zlarfb)     \
    X(clatrd) X(cher2k) X(chetd2) X(clarft) X(clarfb) X(dlatrd) X(dsyr2k) X(dsytd2) X(dlarft) X(dlarfb) X(dstedc)     \
    X(slatrd) X(ssyr2k) X(ssytd2) X(slarft) X(slarfb) X(dsteqr) X(dlaed2) X(dlaed4) X(dlamrg) X(ssteqr) X(slaed2)     \
    X(slaed4) X(slamrg) X(dgemm) X(sgemm)

#define HOT_LAPACK_MEMBER(name) __typeof__(name##_) *name;
typedef struct hot_lapack {
    HOT_LAPACK_ALL(HOT_LAPACK_MEMBER)
    int is_wide; /* whether its integers have 64 bits */
} hot_lapack;
#undef HOT_LAPACK_MEMBER

/* The functions; NULL in a build without LAPACK, or where its library cannot be loaded: there is our own code then. */
HOT_API const hot_lapack *hot_lapack_get(void);

/* Names a file of NumPy's OpenBLAS, which is used before the build's if none has been loaded yet: it is in the process
 * anyway, newer than many systems', and there where a system has none. Only the first file counts. */
HOT_API void hot_lapack_offer(const char *path);

/* `count` ints become the integers of LAPACK, and back. The memory has room for 64 bits each. */
static inline void hot_lapack_widen(const hot_lapack *lapack, size_t count, int *integers)
{
    for (size_t i = count; lapack->is_wide && i-- > 0;) {
        const int64_t value = integers[i];
        memcpy(integers + 2 * i, &value, sizeof value);
    }
}
static inline void hot_lapack_narrow(const hot_lapack *lapack, size_t count, int *integers)
{
    for (size_t i = 0; lapack->is_wide && i < count; i++) {
        int64_t value;
        memcpy(&value, integers + 2 * i, sizeof value);
        integers[i] = (int)value;
    }
}
