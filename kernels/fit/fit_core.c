/* The CPU backend's inner loops for each instruction set, and which one to use. */
#include <math.h>
#include <string.h>

#include "fit.h"

#define NAME(x) x##_base
#define TARGET
#define WIDTH 2
#include "fit_core.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HOT_FIT_X86 1
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2")))
#define WIDTH 4
#include "fit_core.h"

#define NAME(x) x##_avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw")))
#define WIDTH 8
#include "fit_core.h"
#endif

hot_fit_core *hot_fit_core_of(hot_cpu_level level)
{
    switch (level) {
#ifdef HOT_FIT_X86
    case HOT_CPU_AVX2: return hot_fit_core_avx2;
    case HOT_CPU_AVX512: return hot_fit_core_avx512;
#endif
    default: return hot_fit_core_base;
    }
}

hot_fit_cholesky *hot_fit_cholesky_of(hot_cpu_level level)
{
    switch (level) {
#ifdef HOT_FIT_X86
    case HOT_CPU_AVX2: return hot_fit_cholesky_avx2;
    case HOT_CPU_AVX512: return hot_fit_cholesky_avx512;
#endif
    default: return hot_fit_cholesky_base;
    }
}

static size_t block_rows(hot_cpu_level level) { return level == HOT_CPU_AVX512 ? 16 : level == HOT_CPU_AVX2 ? 8 : 4; }

size_t hot_fit_packed_rows(hot_cpu_level level, size_t rows)
{
    const size_t block = block_rows(level);
    return (rows + block - 1) / block * block;
}

void hot_fit_pack(hot_cpu_level level, size_t rows, size_t columns, const double *matrix, double *packed)
{
    const size_t block = block_rows(level), padded = hot_fit_packed_rows(level, rows);
    for (size_t first = 0; first < padded; first += block)
        for (size_t c = 0; c < columns; c++)
            for (size_t r = first; r < first + block; r++)
                *packed++ = r < rows ? matrix[r * columns + c] : 0;
}
