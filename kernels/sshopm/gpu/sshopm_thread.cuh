/* SS-HOPM (Kolda, Mayo 2011 and 2014) of any shape, precision and shift, one start per thread: the CUDA twin of
 * sshopm_lanes.h. A block works on one tensor, scaled in shared memory, and walks its starts.
 *
 * Before the include: HOT_SCALAR, the type of the arithmetic. */
#include "sshopm_device.cuh"

/* The unrolled shapes; see sshopm_shape.cuh. */
template <typename T, int ORDER, int DIM> struct sshopm_shape;
#define HOT_SHAPE_TEMPLATE "sshopm/gpu/sshopm_shape.cuh"
#include "sshopm/sshopm_shapes.h"

/* The dimension: a constant where the shape is unrolled. */
template <int DIM> static __device__ __forceinline__ int sshopm_dim(const hot_sshopm_args &args)
{
    return DIM ? DIM : args.dim;
}

/* g = A x^(m-1); for the adaptive shift the least alpha that makes the step climb. */
template <typename T, int ORDER, int DIM>
static __device__ __forceinline__ T sshopm_evaluate(const hot_sshopm_args &args, const hot_sshopm_tables &tables,
                                                    const T *a, const T *x, T *g, int adaptive, T margin)
{
    if constexpr (DIM == 0) {
        return general_evaluate<T>(args, tables, a, x, g, adaptive, margin);
    } else {
        if (!adaptive) {
            sshopm_shape<T, ORDER, DIM>::gradient(a, x, g);
            return 0;
        }
        T h[DIM * (DIM + 1) / 2];
        sshopm_shape<T, ORDER, DIM>::derivatives(a, x, g, h);
        return sshopm_shape<T, ORDER, DIM>::adaptive_shift(h, margin);
    }
}

/* One start to its end: x <- (A x^(m-1) + alpha x) / |...| until the residual |A x^(m-1) - lambda x|, or the change of
 * lambda, is small. */
template <typename T, int ORDER, int DIM>
static __device__ __forceinline__ void sshopm_iterate(const hot_sshopm_args &args, const hot_sshopm_tables &tables,
                                                      const thread_item<T> &item, size_t start)
{
    constexpr int N = DIM ? DIM : HOT_DIM_MAX;
    const int adaptive = args.shift == HOT_SHIFT_ADAPTIVE, n = sshopm_dim<DIM>(args);
    const T margin = (T)1e-6 * item.scale / args.order;
    T x[N], g[N], lambda, residual2, before = 0;
    int k = 0, small;
    HOT_UNROLL
    for (int d = 0; d < n; d++)
        x[d] = ((const T *)args.start)[start * (size_t)n + d];
    for (;; k++) {
        const T shift = sshopm_evaluate<T, ORDER, DIM>(args, tables, item.values, x, g, adaptive, margin);
        small = sshopm_judge<T, N>(args, item, n, k, x, g, &before, &lambda, &residual2);
        if (k == args.max_iterations || (small && !args.exact))
            break;
        sshopm_move<T, N>(n, adaptive ? shift : item.alpha, x, g);
    }
    store_result<T>(args, item, start, x, 1, n, lambda, sqrt(residual2), small ? k : -k);
}

template <typename T, int ORDER, int DIM>
static __global__ void __launch_bounds__(128)
    sshopm_thread_kernel(const __grid_constant__ hot_sshopm_args args, const __grid_constant__ hot_sshopm_tables tables)
{
    extern __shared__ double shared_memory[];
    T *values = (T *)shared_memory;
    for (size_t tensor = blockIdx.x; tensor < args.count; tensor += gridDim.x) {
        thread_item<T> item;
        const T *from = (const T *)args.tensors + tensor * args.stride;
        int special = scale_in_block<T>(args, tables, from, tensor, values, &item);
        for (size_t start = threadIdx.x; start < args.starts; start += blockDim.x) {
            if (special)
                store_special<T>(args, special, tensor, start);
            else
                sshopm_iterate<T, ORDER, DIM>(args, tables, item, start);
        }
        __syncthreads();
    }
}
