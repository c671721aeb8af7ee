/* SS-HOPM with a thread per start in double precision: every shape. */
#define HOT_SCALAR double
#include "sshopm_thread.cuh"

#define HOT_LINE(order, dim) {order, dim, sshopm_thread_kernel<double, order, dim>},
extern "C" const hot_sshopm_thread hot_sshopm_threads_f64[] = {HOT_SSHOPM_SHAPES(HOT_LINE)};
