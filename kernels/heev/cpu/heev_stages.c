/* A large Hermitian matrix by LAPACK's stages, called one by one: one call of zheevd takes half a second for 1024 rows
 * and cannot be cancelled. Reduction by panels, divide and conquer, back-transformation by columns. */
#include <string.h>

#include "common/lapack.h"
#include "heev/heev.h"

/* Columns of a panel; rows that are reduced without panels; values that LAPACK wants for its triangles T; vectors
 * transformed back between two checks. */
enum { HEEV_STAGE_PANEL = 32, HEEV_STAGE_LAST = 128, HEEV_STAGE_T = 65 * 64 * 2, HEEV_STAGE_COLUMNS = 128 };

/* Divide and conquer: z becomes the eigenvectors of the tridiagonal matrix. */
#define REAL_STEDC(NAME, T)                                                                                           \
    static int NAME(const hot_lapack *lapack, int n, T *d, T *e, T *z, T *work, T *more, int lmore, int *integers,    \
                    int lint)                                                                                         \
    {                                                                                                                 \
        int info = 0;                                                                                                 \
        (void)work;                                                                                                   \
        lapack->NAME("I", &n, d, e, z, &n, more, &lmore, integers, &lint, &info);                                     \
        return info;                                                                                                  \
    }
#define COMPLEX_STEDC(NAME, T)                                                                                        \
    static int NAME(const hot_lapack *lapack, int n, T *d, T *e, T *z, T *work, T *more, int lmore, int *integers,    \
                    int lint)                                                                                         \
    {                                                                                                                 \
        int info = 0, lwork = 1;                                                                                      \
        lapack->NAME("I", &n, d, e, z, &n, work, &lwork, more, &lmore, integers, &lint, &info);                       \
        return info;                                                                                                  \
    }
REAL_STEDC(dstedc, double)
REAL_STEDC(sstedc, float)
COMPLEX_STEDC(zstedc, double)
COMPLEX_STEDC(cstedc, float)

#define NAME stages_complex_f64
#define REAL double
#define PARTS 2
#define LATRD zlatrd
#define RANK2K zher2k
#define TD2 zhetd2
#define STERF dsterf
#define STEDC zstedc
#define UNMTR zunmtr
#include "heev_stages.h"

#define NAME stages_complex_f32
#define REAL float
#define PARTS 2
#define LATRD clatrd
#define RANK2K cher2k
#define TD2 chetd2
#define STERF ssterf
#define STEDC cstedc
#define UNMTR cunmtr
#include "heev_stages.h"

#define NAME stages_real_f64
#define REAL double
#define PARTS 1
#define LATRD dlatrd
#define RANK2K dsyr2k
#define TD2 dsytd2
#define STERF dsterf
#define STEDC dstedc
#define UNMTR dormtr
#include "heev_stages.h"

#define NAME stages_real_f32
#define REAL float
#define PARTS 1
#define LATRD slatrd
#define RANK2K ssyr2k
#define TD2 ssytd2
#define STERF ssterf
#define STEDC sstedc
#define UNMTR sormtr
#include "heev_stages.h"

int hot_heev_stages(const hot_context *context, const hot_lapack *lapack, int f64, int is_complex, size_t n,
                    int vectors, void *a, void *w, double *memory, int *integers)
{
    if (is_complex)
        return f64 ? stages_complex_f64(context, lapack, n, vectors, a, w, memory, integers)
                   : stages_complex_f32(context, lapack, n, vectors, a, w, memory, integers);
    return f64 ? stages_real_f64(context, lapack, n, vectors, a, w, memory, integers)
               : stages_real_f32(context, lapack, n, vectors, a, w, memory, integers);
}
