/* SS-HOPM with what every processor of the architecture has. */
#define HOT_VARIANT(name) name##_baseline
#include "sshopm_variant.h"
