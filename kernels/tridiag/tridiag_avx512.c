/* Sturm counts for AVX-512. */
#ifdef __AVX512F__
#define HOT_VARIANT(name) name##_avx512
#include "tridiag_count.h"
#endif
