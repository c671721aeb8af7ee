/* Mass operators in double: see fem_cuda.cuh. */
#define FEM_T double
#define FEM_BANKS 16
#define FEM(name) hot_fem_##name##_f64
#include "fem_cuda.cuh"
