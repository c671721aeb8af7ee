/* SS-HOPM with AVX-512. Compiled for it (kernels/CMakeLists.txt); called only if the processor has it. */
#if defined(__AVX512F__)
#define HOT_VARIANT(name) name##_avx512
#include "sshopm_variant.h"
#endif
