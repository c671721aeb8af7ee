/* Contractions for every processor of the architecture. */
#define CONTRACT_VARIANT hot_contract_variant_baseline
#include "contract_lanes.h"
