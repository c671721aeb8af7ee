/* See contract_variant.h. */
#include "contract_variant.h"

#include "../common/context_internal.h"
#include "../common/cpu.h"

const hot_contract_variant *hot_contract_variant_choose(const hot_context *context)
{
    int level = (int)hot_cpu_best(), limit = hot_context_cpu_limit(context);
    level = level < limit ? level : limit;
#if defined(__x86_64__)
    if (level >= HOT_CPU_AVX512)
        return &hot_contract_variant_avx512;
    if (level >= HOT_CPU_AVX2)
        return &hot_contract_variant_avx2;
#endif
    (void)level;
    return &hot_contract_variant_baseline;
}
