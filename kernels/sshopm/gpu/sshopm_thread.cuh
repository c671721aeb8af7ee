/* SS-HOPM (Kolda, Mayo 2011 and 2014) of any shape, precision and shift, one start per thread: the CUDA twin of
 * sshopm_lanes.h. A block works on one tensor, scaled in shared memory, and walks its starts.
 *
 * Before the include: HOT_SCALAR, the type of the arithmetic. */
#include "common/portable.h"
#include "sshopm_device.cuh"

/* The unrolled shapes; see sshopm_shape.cuh. */
template <typename T, int ORDER, int DIM> struct sshopm_shape;
#define HOT_SHAPE_TEMPLATE "sshopm/gpu/sshopm_shape.cuh"
#include "sshopm/sshopm_shapes.h"

/* The squared length of a step below which it is lengthened before it is squared. */
template <typename T> struct sshopm_tiny;
template <> struct sshopm_tiny<float> {
    static constexpr float LENGTH2 = (float)1e-30;
};
template <> struct sshopm_tiny<double> {
    static constexpr double LENGTH2 = 1e-280;
};

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
    const T *a = item.values;
    const int adaptive = args.shift == HOT_SHIFT_ADAPTIVE;
    const T margin = (T)1e-6 * item.scale / args.order;
    const T limit = (T)args.tolerance * item.scale, change = (T)args.change;
    T x[DIM ? DIM : HOT_DIM_MAX], g[DIM ? DIM : HOT_DIM_MAX], lambda, residual2, before = 0;
    int k = 0, small;
    HOT_UNROLL
    for (int d = 0; d < sshopm_dim<DIM>(args); d++)
        x[d] = ((const T *)args.start)[start * (size_t)sshopm_dim<DIM>(args) + d];
    for (;; k++) {
        T shift = sshopm_evaluate<T, ORDER, DIM>(args, tables, a, x, g, adaptive, margin);
        lambda = 0;
        residual2 = 0;
        HOT_UNROLL
        for (int d = 0; d < sshopm_dim<DIM>(args); d++)
            lambda += x[d] * g[d];
        HOT_UNROLL
        for (int d = 0; d < sshopm_dim<DIM>(args); d++)
            residual2 += (g[d] - lambda * x[d]) * (g[d] - lambda * x[d]);
        small = residual2 <= limit * limit;
        if (change > 0) {
            const T magnitude = lambda < 0 ? -lambda : lambda, size = magnitude > item.unit ? magnitude : item.unit;
            const T off = lambda - before;
            small = k > 0 && (off < 0 ? -off : off) <= size * change;
            before = lambda;
        }
        if (k == args.max_iterations || (small && !args.exact))
            break;
        if (!adaptive)
            shift = item.alpha;
        T norm2 = 0;
        HOT_UNROLL
        for (int d = 0; d < sshopm_dim<DIM>(args); d++) {
            g[d] += shift * x[d];
            norm2 += g[d] * g[d];
        }
        if (!(norm2 > sshopm_tiny<T>::LENGTH2)) { /* too short to square: lengthen first; zero: stay */
            T largest = 0;
            for (int d = 0; d < sshopm_dim<DIM>(args); d++) {
                const T magnitude = g[d] < 0 ? -g[d] : g[d];
                largest = largest > magnitude ? largest : magnitude;
            }
            if (!(largest > 0))
                continue;
            norm2 = 0;
            for (int d = 0; d < sshopm_dim<DIM>(args); d++) {
                g[d] /= largest;
                norm2 += g[d] * g[d];
            }
        }
        T inverse = 1 / sqrt(norm2);
        HOT_UNROLL
        for (int d = 0; d < sshopm_dim<DIM>(args); d++)
            x[d] = g[d] * inverse;
    }
    store_result<T>(args, item, start, x, sshopm_dim<DIM>(args), lambda, sqrt(residual2), small ? k : -k);
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
