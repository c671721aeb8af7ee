/* See contract_variant.h. */
#include "contract_variant.h"

#include "common/cpu.h"

const hot_contract_variant *hot_contract_variant_choose(const hot_context *context)
{
    return HOT_CPU_VARIANT(context, &hot_contract_variant);
}
