/* One start per thread: a template, included once per precision and shape (sshopm_shapes.h), the CUDA twin of
 * sshopm_lanes.h. A block works on one tensor, scaled in shared memory, and walks its starts. HOT_DIM 0: any shape. */
#define HOT_REAL HOT_SCALAR
#define HOT_COEF HOT_SCALAR
#define HOT_MAX(a, b) ((a) > (b) ? (a) : (b))
#define HOT_SQRT(a) sqrt(a)
#define HOT_FORM(name) HOT_RUN(form_##name)
#define HOT_STEP(name) HOT_RUN(step_##name)

#if HOT_DIM == 0
#define HOT_N args.dim
#define HOT_N_MAX HOT_DIM_MAX
#else
#define HOT_N HOT_DIM
#define HOT_N_MAX HOT_DIM
#if HOT_DIM == 3 && HOT_ORDER % 2 == 0
#include "symtensor/form3.h"
#else
#include "symtensor/formn.h"
#endif
#include "sshopm/sshopm_step.h"
#endif

/* g = A x^(m-1); for the adaptive shift the least alpha that makes the step climb. */
static __device__ __forceinline__ HOT_SCALAR HOT_RUN(evaluate)(const hot_sshopm_args &args, const thread_tables &tables,
                                                               const HOT_SCALAR *a, const HOT_SCALAR *x, HOT_SCALAR *g,
                                                               int adaptive, HOT_SCALAR margin)
{
#if HOT_DIM != 0
    if (!adaptive) {
        HOT_STEP(gradient)(a, x, g);
        return 0;
    }
    HOT_SCALAR h[HOT_DIM * (HOT_DIM + 1) / 2];
    HOT_STEP(derivatives)(a, x, g, h);
    return HOT_STEP(adaptive_shift)(h, margin);
#else
    return general_evaluate<HOT_SCALAR>(args, tables, a, x, g, adaptive, margin);
#endif
}

static __device__ __forceinline__ void HOT_RUN(iterate)(const hot_sshopm_args &args, const thread_tables &tables,
                                                        const thread_item<HOT_SCALAR> &item, size_t start)
{
    const HOT_SCALAR *a = item.values;
    const int adaptive = args.shift == HOT_SHIFT_ADAPTIVE;
    const HOT_SCALAR margin = (HOT_SCALAR)1e-6 * item.scale / args.order;
    const HOT_SCALAR limit = (HOT_SCALAR)args.tolerance * item.scale, change = (HOT_SCALAR)args.change;
    HOT_SCALAR x[HOT_N_MAX], g[HOT_N_MAX], lambda, residual2, before = 0;
    int k = 0, small;
    HOT_UNROLL
    for (int d = 0; d < HOT_N; d++)
        x[d] = ((const HOT_SCALAR *)args.start)[start * (size_t)HOT_N + d];
    for (;; k++) {
        HOT_SCALAR shift = HOT_RUN(evaluate)(args, tables, a, x, g, adaptive, margin);
        lambda = 0;
        residual2 = 0;
        HOT_UNROLL
        for (int d = 0; d < HOT_N; d++)
            lambda += x[d] * g[d];
        HOT_UNROLL
        for (int d = 0; d < HOT_N; d++)
            residual2 += (g[d] - lambda * x[d]) * (g[d] - lambda * x[d]);
        small = residual2 <= limit * limit;
        if (change > 0) {
            HOT_SCALAR size = HOT_MAX(lambda < 0 ? -lambda : lambda, item.unit), off = lambda - before;
            small = k > 0 && (off < 0 ? -off : off) <= size * change;
            before = lambda;
        }
        if (k == args.max_iterations || (small && !args.exact))
            break;
        if (!adaptive)
            shift = item.alpha;
        HOT_SCALAR norm2 = 0;
        HOT_UNROLL
        for (int d = 0; d < HOT_N; d++) {
            g[d] += shift * x[d];
            norm2 += g[d] * g[d];
        }
        if (!(norm2 > (HOT_SCALAR)HOT_TINY)) { /* too short to square: lengthen first; zero: stay */
            HOT_SCALAR largest = 0;
            for (int d = 0; d < HOT_N; d++)
                largest = HOT_MAX(largest, g[d] < 0 ? -g[d] : g[d]);
            if (!(largest > 0))
                continue;
            norm2 = 0;
            for (int d = 0; d < HOT_N; d++) {
                g[d] /= largest;
                norm2 += g[d] * g[d];
            }
        }
        HOT_SCALAR inverse = 1 / sqrt(norm2);
        HOT_UNROLL
        for (int d = 0; d < HOT_N; d++)
            x[d] = g[d] * inverse;
    }
    store_result<HOT_SCALAR>(args, item, start, x, HOT_N, lambda, sqrt(residual2), small ? k : -k);
}

static __global__ void __launch_bounds__(128) HOT_RUN(kernel)(const __grid_constant__ hot_sshopm_args args,
                                                                    const __grid_constant__ thread_tables tables)
{
    extern __shared__ double shared_memory[];
    HOT_SCALAR *values = (HOT_SCALAR *)shared_memory;
    for (size_t tensor = blockIdx.x; tensor < args.count; tensor += gridDim.x) {
        thread_item<HOT_SCALAR> item;
        const HOT_SCALAR *from = (const HOT_SCALAR *)args.tensors + tensor * args.stride;
        int special = scale_in_block<HOT_SCALAR>(args, tables, from, tensor, values, &item);
        for (size_t start = threadIdx.x; start < args.starts; start += blockDim.x) {
            if (special)
                store_special<HOT_SCALAR>(args, special, tensor, start);
            else
                HOT_RUN(iterate)(args, tables, item, start);
        }
        __syncthreads();
    }
}

#undef HOT_REAL
#undef HOT_COEF
#undef HOT_MAX
#undef HOT_SQRT
#undef HOT_FORM
#undef HOT_STEP
#undef HOT_N
#undef HOT_N_MAX
