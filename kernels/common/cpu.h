/* Which vector instructions the processor has, asked at run time: files compiled for more than the baseline
 * (NAME_avx2.c, NAME_avx512.c) are called only when it has them. */
#pragma once

#include <hotfiber/context.h>

typedef enum hot_cpu_level {
    HOT_CPU_BASELINE = 0, /* what every processor of the architecture has */
    HOT_CPU_AVX2,         /* x86-64-v3: AVX2 and FMA */
    HOT_CPU_AVX512        /* x86-64-v4: AVX-512 F, VL, DQ, BW */
} hot_cpu_level;

/* The highest level this machine (and its operating system) can run. Any thread. */
HOT_API hot_cpu_level hot_cpu_best(void);

/* The level that kernels use on this context: the machine's best, or what a test has lowered it to
 * (hot_context_set_cpu_limit). The one place where that is decided. */
HOT_API hot_cpu_level hot_context_cpu_level(const hot_context *context);

/* A family's variant for this context: name_avx512, name_avx2 or name_baseline. */
#if defined(__x86_64__)
#define HOT_CPU_VARIANT(context, name)                                        \
    (hot_context_cpu_level(context) >= HOT_CPU_AVX512 ? name##_avx512         \
     : hot_context_cpu_level(context) >= HOT_CPU_AVX2 ? name##_avx2           \
                                                      : name##_baseline)
#else
#define HOT_CPU_VARIANT(context, name) ((void)(context), name##_baseline)
#endif

/* "baseline", "avx2", "avx512"; static storage. */
HOT_API const char *hot_cpu_level_name(hot_cpu_level level);
