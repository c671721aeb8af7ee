/* See cpu.h. The compiler's own test also checks that the operating system saves the wide registers. */
#include "cpu.h"

#include "context_internal.h"

hot_cpu_level hot_cpu_best(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma"))
        return HOT_CPU_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return HOT_CPU_AVX2;
#endif
    return HOT_CPU_BASELINE;
}

hot_cpu_level hot_context_cpu_level(const hot_context *context)
{
    const int best = (int)hot_cpu_best(), limit = hot_context_cpu_limit(context);
    return (hot_cpu_level)(best < limit ? best : limit);
}

const char *hot_cpu_level_name(hot_cpu_level level)
{
    switch (level) {
    case HOT_CPU_AVX2: return "avx2";
    case HOT_CPU_AVX512: return "avx512";
    default: return "baseline";
    }
}
