/* A large Hermitian matrix by LAPACK's stages, called one by one: one call of zheevd takes half a second for 1024 rows
 * and cannot be cancelled. Reduction by panels, divide and conquer, back-transformation by columns. */
#include <string.h>

#include "common/lapack.h"
#include "heev/heev.h"

#if defined(HOT_HAVE_LAPACK) && HOT_HAVE_LAPACK

/* Columns of a panel; rows that are reduced without panels; values that LAPACK wants for its triangles T; vectors
 * transformed back between two checks. */
enum { HEEV_STAGE_PANEL = 32, HEEV_STAGE_LAST = 128, HEEV_STAGE_T = 65 * 64 * 2, HEEV_STAGE_COLUMNS = 128 };

/* Divide and conquer: z becomes the eigenvectors of the tridiagonal matrix. */
#define REAL_STEDC(FUNCTION, T)                                                                                       \
    static int real_##FUNCTION(int n, T *d, T *e, T *z, T *work, T *more, int lmore, int *integers, int lint)         \
    {                                                                                                                 \
        int info = 0;                                                                                                 \
        (void)work;                                                                                                   \
        FUNCTION("I", &n, d, e, z, &n, more, &lmore, integers, &lint, &info);                                         \
        return info;                                                                                                  \
    }
#define COMPLEX_STEDC(FUNCTION, T)                                                                                    \
    static int complex_##FUNCTION(int n, T *d, T *e, T *z, T *work, T *more, int lmore, int *integers, int lint)      \
    {                                                                                                                 \
        int info = 0, lwork = 1;                                                                                      \
        FUNCTION("I", &n, d, e, z, &n, work, &lwork, more, &lmore, integers, &lint, &info);                           \
        return info;                                                                                                  \
    }
REAL_STEDC(dstedc_, double)
REAL_STEDC(sstedc_, float)
COMPLEX_STEDC(zstedc_, double)
COMPLEX_STEDC(cstedc_, float)

#define NAME stages_complex_f64
#define REAL double
#define PARTS 2
#define LATRD zlatrd_
#define RANK2K zher2k_
#define TD2 zhetd2_
#define STERF dsterf_
#define STEDC complex_zstedc_
#define UNMTR zunmtr_
#include "heev_stages.h"

#define NAME stages_complex_f32
#define REAL float
#define PARTS 2
#define LATRD clatrd_
#define RANK2K cher2k_
#define TD2 chetd2_
#define STERF ssterf_
#define STEDC complex_cstedc_
#define UNMTR cunmtr_
#include "heev_stages.h"

#define NAME stages_real_f64
#define REAL double
#define PARTS 1
#define LATRD dlatrd_
#define RANK2K dsyr2k_
#define TD2 dsytd2_
#define STERF dsterf_
#define STEDC real_dstedc_
#define UNMTR dormtr_
#include "heev_stages.h"

#define NAME stages_real_f32
#define REAL float
#define PARTS 1
#define LATRD slatrd_
#define RANK2K ssyr2k_
#define TD2 ssytd2_
#define STERF ssterf_
#define STEDC real_sstedc_
#define UNMTR sormtr_
#include "heev_stages.h"

int hot_heev_stages(const hot_context *context, int f64, int is_complex, size_t n, int vectors, void *a, void *w,
                    double *memory, int *integers)
{
    if (is_complex)
        return f64 ? stages_complex_f64(context, n, vectors, a, w, memory, integers)
                   : stages_complex_f32(context, n, vectors, a, w, memory, integers);
    return f64 ? stages_real_f64(context, n, vectors, a, w, memory, integers)
               : stages_real_f32(context, n, vectors, a, w, memory, integers);
}

#else
typedef int hot_no_lapack_stages_here; /* a file of C is not empty */
#endif
