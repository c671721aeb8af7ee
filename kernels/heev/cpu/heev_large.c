/* Large Hermitian matrices by pieces of LAPACK, between which a call can be cancelled and which threads share: one call
 * of zheevd takes half a second for 1,024 rows, a minute for 4,096. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/arena.h"
#include "common/entry.h"
#include "common/lapack.h"
#include "heev/heev.h"

/* Of the reduction: columns of a panel, and rows that are reduced without panels. Of the back-transformation:
 * reflectors of a panel, and vectors that a thread takes at a time. */
enum { LARGE_PANEL = 32, LARGE_LAST = 128, LARGE_REFLECTORS = 64, LARGE_COLUMNS = 256 };
/* Of divide and conquer: rows that are not divided; columns at a time; roots that threads share. */
enum { DIVIDE_WHOLE = 32, DIVIDE_COLUMNS = 64, DIVIDE_SHARED = 256 };

typedef struct heev_large {
    hot_context *context;
    const hot_lapack *lapack;
    size_t n, kept;
    int threads;
} heev_large;

/* Columns of the next panel. It reads the remaining triangle once for each of them, and no call may read more than half
 * a gigabyte: 100 ms. */
static int panel_width(size_t rows, size_t entry)
{
    int width = LARGE_PANEL;
    while (width > 1 && (size_t)width * rows * rows / 2 * entry > (size_t)1 << 29)
        width /= 2;
    return width;
}

static double divide_signed_root_f64(double square, double sign) { return copysign(sqrt(square), sign); }
static float divide_signed_root_f32(float square, float sign) { return copysignf(sqrtf(square), sign); }

#define REAL double
#define OF(name) name##_f64
#define LAED2 dlaed2
#define LAED4 dlaed4
#define LAMRG dlamrg
#define STEQR dsteqr
#define GEMM dgemm
#include "heev_divide.h"

#define REAL float
#define OF(name) name##_f32
#define LAED2 slaed2
#define LAED4 slaed4
#define LAMRG slamrg
#define STEQR ssteqr
#define GEMM sgemm
#include "heev_divide.h"

#define REAL double
#define PARTS 2
#define OF(name) name##_f64
#define KIND(name) name##_complex_f64
#define LATRD zlatrd
#define RANK2K zher2k
#define TD2 zhetd2
#define STERF dsterf
#define LARFT zlarft
#define LARFB zlarfb
#include "heev_large.h"

#define REAL float
#define PARTS 2
#define OF(name) name##_f32
#define KIND(name) name##_complex_f32
#define LATRD clatrd
#define RANK2K cher2k
#define TD2 chetd2
#define STERF ssterf
#define LARFT clarft
#define LARFB clarfb
#include "heev_large.h"

#define REAL double
#define PARTS 1
#define OF(name) name##_f64
#define KIND(name) name##_real_f64
#define LATRD dlatrd
#define RANK2K dsyr2k
#define TD2 dsytd2
#define STERF dsterf
#define LARFT dlarft
#define LARFB dlarfb
#include "heev_large.h"

#define REAL float
#define PARTS 1
#define OF(name) name##_f32
#define KIND(name) name##_real_f32
#define LATRD slatrd
#define RANK2K ssyr2k
#define TD2 ssytd2
#define STERF ssterf
#define LARFT slarft
#define LARFB slarfb
#include "heev_large.h"

/* Divides the memory, and solves if there is any. */
static int run(const heev_large *self, const hot_heev_args *args, hot_arena *arena, void *matrix, void *values,
               void *vectors)
{
    if (args->is_complex)
        return (args->f64 ? solve_complex_f64 : solve_complex_f32)(self, arena, matrix, values, vectors);
    return (args->f64 ? solve_real_f64 : solve_real_f32)(self, arena, matrix, values, vectors);
}

size_t hot_heev_large_bytes(const hot_heev_args *args, int threads)
{
    const heev_large self = {.n = args->n, .kept = args->kept, .threads = threads};
    hot_arena arena = {NULL, 0};
    run(&self, args, &arena, NULL, NULL, args->vectors);
    return arena.used;
}

int hot_heev_large(hot_context *context, const hot_heev_args *args, int threads, void *matrix, void *values,
                   void *vectors, void *memory)
{
    const heev_large self = {context, hot_lapack_get(), args->n, args->kept, threads};
    hot_arena arena = {memory, 0};
    return run(&self, args, &arena, matrix, values, vectors);
}
