/* Batched products in double: see contract_bulk.cuh. */
#define BULK_T double
#define BULK_TENSOR_CORES 1
#define BULK(name) hot_bulk_##name##_f64
#include "contract_bulk.cuh"

extern "C" int hot_bulk_available(void)
{
    /* A card newer than the machine code here compiles the PTX of an older one, in which these kernels are empty. */
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, (const void *)functions[0]) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return attributes.ptxVersion >= 90;
}
