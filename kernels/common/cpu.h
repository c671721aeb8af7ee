/* Which vector instructions the processor has, asked at run time: files compiled for more than the baseline
 * (NAME_avx2.c, NAME_avx512.c) are called only when it has them. */
#ifndef HOT_COMMON_CPU_H
#define HOT_COMMON_CPU_H

typedef enum hot_cpu_level {
    HOT_CPU_BASELINE = 0, /* what every processor of the architecture has */
    HOT_CPU_AVX2,         /* x86-64-v3: AVX2 and FMA */
    HOT_CPU_AVX512        /* x86-64-v4: AVX-512 F, VL, DQ, BW */
} hot_cpu_level;

/* The highest level this machine (and its operating system) can run. Any thread. */
hot_cpu_level hot_cpu_best(void);

/* "baseline", "avx2", "avx512"; static storage. */
const char *hot_cpu_level_name(hot_cpu_level level);

#endif
