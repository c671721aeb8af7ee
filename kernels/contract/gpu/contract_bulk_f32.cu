/* Batched products in float: see contract_bulk.cuh. */
#define BULK_T float
#define BULK_TENSOR_CORES 0
#define BULK(name) hot_bulk_##name##_f32
#include "contract_bulk.cuh"
