/* The template of kernels/heev/gpu/heev_tiny.cuh for the CPU, a thread for each matrix, with names for C. */
#include <cmath>
#include <cstddef>
#include <cstdint>

using std::fma;
using std::frexp;
using std::ldexp;
using std::max;
using std::min;

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __shared__ static

namespace {

struct {
    unsigned x;
} threadIdx, blockIdx; /* thread 0 of block 0 */

double rsqrt(double x) { return 1 / std::sqrt(x); }
float rsqrtf(float x) { return 1 / std::sqrt(x); }
int __popc(unsigned bits) { return __builtin_popcount(bits); }
int __ffs(unsigned bits) { return __builtin_ffs((int)bits); }
int __any_sync(unsigned, bool on) { return on; }
/* A matrix that one thread has exchanges nothing. */
template <typename T> T __shfl_sync(unsigned, T x, int, int) { return x; }
template <typename T> T __shfl_xor_sync(unsigned, T x, int) { return x; }

#include "heev/gpu/heev_tiny.cuh"

template <typename T, int PARTS, int N> void solve(const heev_tiny_job<T> &job)
{
    for (size_t matrix = 0; matrix < job.count; matrix++) {
        heev_tiny_job<T> one = job;
        one.count = 1;
        one.matrices += matrix * job.n * job.n * PARTS;
        one.values += matrix * job.kept;
        one.vectors += matrix * job.kept * job.n * PARTS;
        one.flags += matrix;
        heev_tiny<T, PARTS, N, 1, true>(one);
    }
}

template <typename T, int PARTS> void solve_any(const heev_tiny_job<T> &job)
{
    (job.n <= 4 ? solve<T, PARTS, 4> : job.n <= 8 ? solve<T, PARTS, 8> : solve<T, PARTS, 16>)(job);
}

} // namespace

extern "C" {

/* All pairs of count matrices of n rows, at most 16; lower triangles. */
void heev_test_tiny_f32(int is_complex, int n, size_t count, const float *matrices, float *values, float *vectors,
                        uint8_t *flags)
{
    (is_complex ? solve_any<float, 2> : solve_any<float, 1>)({n, n, count, false, matrices, values, vectors, flags});
}

void heev_test_tiny_f64(int is_complex, int n, size_t count, const double *matrices, double *values, double *vectors,
                        uint8_t *flags)
{
    (is_complex ? solve_any<double, 2> : solve_any<double, 1>)({n, n, count, false, matrices, values, vectors, flags});
}
}
