/* Contractions with AVX-512. Compiled for it (kernels/CMakeLists.txt); called only if the processor has it. */
#if defined(__AVX512F__)
#define CONTRACT_VARIANT hot_contract_variant_avx512
#include "contract_lanes.h"
#endif
