/* What measures on a GPU, in a build without CUDA: it fails. */
#include "contract_measure.h"
#include "cpd_measure.h"
#include "directions_measure.h"
#include "gpu_machine.h"
#include "sshopm_measure.h"

#if !defined(HOT_HAVE_CUDA) || !HOT_HAVE_CUDA
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define FAILS(name, ...)                                                                                               \
    hot_status name(hot_context *context, __VA_ARGS__)                                                                 \
    {                                                                                                                  \
        return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");                                  \
    }

FAILS(hot_contract_bench, int f64, size_t n, size_t batch, int tune, double seconds, hot_contract_figure *figure)
FAILS(hot_contract_bench_cublas, int f64, size_t n, size_t batch, double seconds, hot_contract_figure *figure)
FAILS(hot_fem_bench, int f64, int dim, size_t dofs, size_t points, int assemble, size_t megabytes, double seconds,
      size_t *elements, hot_contract_figure *figure)
FAILS(hot_cpd_bench_create, size_t side, size_t rank, hot_cpd_arithmetic arithmetic, hot_cpd_bench **bench)
FAILS(hot_cpd_bench_run, hot_cpd_bench *bench, int mode, int how, double seconds, double *median, double *error)
FAILS(hot_cpd_bench_cublas, hot_cpd_bench *bench, int mode, hot_cpd_cublas_method method, double seconds,
      double *median)
FAILS(hot_cpd_bench_read, hot_cpd_bench *bench, size_t bytes, double seconds, double *median)
FAILS(hot_cpd_bench_lend, const void *values, size_t bytes, void **there)
FAILS(hot_cpd_bench_return, void *there, size_t bytes, void *values)
FAILS(hot_directions_cuda_time, const hot_directions_args *args, int repeats, double *milliseconds)
FAILS(hot_gpu_measure_peaks, hot_gpu_peaks *peaks)
FAILS(hot_gpu_bisect, size_t n, const double *a, const double *b, double absolute, int repeats, double *seconds,
      float *values)
FAILS(hot_sshopm_bench_create, int order, size_t count, size_t starts, hot_sshopm_bench **bench)
FAILS(hot_sshopm_bench_run, hot_sshopm_bench *bench, hot_sshopm_algorithm algorithm, int iterations, double tolerance,
      double change, double seconds, hot_sshopm_figure *figure)
FAILS(hot_sshopm_shape_time, const hot_sshopm_shape *shape, hot_sshopm_figure *figure)
FAILS(hot_sshopm_run_whole, const hot_sshopm_args *args, hot_sshopm_algorithm algorithm)

void hot_cpd_bench_destroy(hot_context *context, hot_cpd_bench **bench) { *bench = NULL; }
void hot_sshopm_bench_destroy(hot_context *context, hot_sshopm_bench **bench) { *bench = NULL; }
const char *hot_gpu_name(void) { return NULL; }
#else
typedef int hot_bench_has_cuda; /* a file of C is not empty */
#endif
