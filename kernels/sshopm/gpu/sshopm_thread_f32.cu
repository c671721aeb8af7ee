/* SS-HOPM with a thread per start in single precision: every shape. */
#define HOT_SCALAR float
#include "sshopm_thread.cuh"

#define HOT_LINE(order, dim) {order, dim, sshopm_thread_kernel<float, order, dim>},
extern "C" const hot_sshopm_thread hot_sshopm_threads_f32[] = {HOT_SSHOPM_SHAPES(HOT_LINE)};
