/* Mass operators in float: see fem_cuda.cuh. */
#define FEM_T float
#define FEM_BANKS 32
#define FEM(name) hot_fem_##name##_f32
#include "fem_cuda.cuh"
