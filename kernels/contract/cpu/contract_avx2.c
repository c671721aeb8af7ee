/* Contractions with AVX2 and FMA. Compiled for them (kernels/CMakeLists.txt); called only if the processor has them. */
#if defined(__AVX2__)
#define CONTRACT_VARIANT hot_contract_variant_avx2
#include "contract_lanes.h"
#endif
