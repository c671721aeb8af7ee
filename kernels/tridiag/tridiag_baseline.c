/* Sturm counts for any processor. */
#define HOT_VARIANT(name) name##_baseline
#include "tridiag_count.h"
