/* SS-HOPM with AVX2 and FMA. Compiled for them (kernels/CMakeLists.txt); called only if the processor has them. */
#if defined(__AVX2__)
#define HOT_VARIANT(name) name##_avx2
#include "sshopm_variant.h"
#endif
