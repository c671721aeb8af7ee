/* SS-HOPM with a thread per start in single precision: every shape. */
#include "sshopm_device.cuh"

#define HOT_GLUE_(name, order, dim, type) name##_##order##_##dim##_##type
#define HOT_GLUE(name, order, dim, type) HOT_GLUE_(name, order, dim, type)
#define HOT_RUN(name) HOT_GLUE(name, HOT_ORDER, HOT_DIM, HOT_TYPE)
#define HOT_SHAPE_TEMPLATE "sshopm/gpu/sshopm_thread.cuh"
#define HOT_SCALAR float
#define HOT_TYPE f32
#define HOT_TINY 1e-30
#include "sshopm/sshopm_shapes.h"

#define HOT_LINE(order, dim) {order, dim, kernel_##order##_##dim##_f32},
extern "C" const hot_sshopm_thread hot_sshopm_threads_f32[] = {HOT_SSHOPM_SHAPES(HOT_LINE)};
