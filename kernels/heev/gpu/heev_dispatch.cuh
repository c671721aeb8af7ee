/* Which kernels solve matrices, or reduce and transform back, by their size. */
#pragma once

#include "heev_backtransform.cuh"
#include "heev_cluster.cuh"
#include "heev_panel.cuh"
#include "heev_small.cuh"
#include "heev_stages.cuh"
#include "heev_tiny.cuh"

template <typename T, int PARTS, int N, int THREADS, bool VECTORS>
static void launch_tiny_of(const heev_tiny_job<T> &job, cudaStream_t stream)
{
    constexpr size_t EACH = HEEV_TINY_BLOCK / THREADS;
    heev_tiny<T, PARTS, N, THREADS, VECTORS>
        <<<(unsigned)((job.count + EACH - 1) / EACH), HEEV_TINY_BLOCK, 0, stream>>>(job);
}

/* How many threads share a matrix was measured on an H200, with 100,000 of them. */
template <typename T, int PARTS>
static void launch_tiny_numbers(const heev_plan *plan, bool upper, const void *matrices, void *values, void *vectors,
                                uint8_t *flags, cudaStream_t stream)
{
    constexpr bool WIDE = PARTS * sizeof(T) == 16;
    const heev_tiny_job<T> job = {plan->n,     plan->kept,   (size_t)plan->count, upper, (const T *)matrices,
                                  (T *)values, (T *)vectors, flags};
    if (plan->n <= 4 && vectors)
        launch_tiny_of<T, PARTS, 4, WIDE ? 2 : 1, true>(job, stream);
    else if (plan->n <= 4)
        launch_tiny_of<T, PARTS, 4, 1, false>(job, stream);
    else if (plan->n <= 8 && vectors)
        launch_tiny_of<T, PARTS, 8, 2, true>(job, stream);
    else if (plan->n <= 8)
        launch_tiny_of<T, PARTS, 8, PARTS, false>(job, stream);
    else if (plan->n <= 12)
        launch_tiny_of<T, PARTS, 12, 2 * PARTS, true>(job, stream);
    else
        launch_tiny_of<T, PARTS, 16, WIDE ? 8 : 4, true>(job, stream);
}

template <bool C>
static void launch_tiny(const heev_plan *plan, bool upper, const void *matrices, void *values, void *vectors,
                        uint8_t *flags, cudaStream_t stream)
{
    if (plan->f64)
        launch_tiny_numbers<double, C ? 2 : 1>(plan, upper, matrices, values, vectors, flags, stream);
    else
        launch_tiny_numbers<float, C ? 2 : 1>(plan, upper, matrices, values, vectors, flags, stream);
}

/* matrices: NULL for what panels or clusters have left. */
template <bool C, int DOWN, int ACROSS, int ROWS, int COLUMNS>
static void launch_small(const heev_plan *plan, const void *matrices, int size, cudaStream_t stream)
{
    const size_t bytes = heev_small_numbers<DOWN, ACROSS, ROWS>() * sizeof(number<C>);
    heev_small<C, DOWN, ACROSS, ROWS, COLUMNS>
        <<<(unsigned)plan->count, DOWN * ACROSS, bytes, stream>>>(*plan, matrices, size);
}

/* The cluster kernel for the remaining `size` rows of a matrix, and how to launch it: it reduces to a size that needs
 * fewer blocks per matrix. */
static_assert(HEEV_CLUSTERED == 4 * HEEV_GROUP, "what the largest clusters hold");
template <bool C> struct heev_cluster_launch {
    void (*kernel)(const heev_plan, const void *, int, int);
    int tail;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    heev_cluster_launch(int size, int count, cudaStream_t stream)
    {
        if (size <= HEEV_GROUP)
            set<1>(count, HEEV_SMALL);
        else if (size <= 2 * HEEV_GROUP)
            set<2>(count, HEEV_GROUP);
        else
            set<4>(count, 2 * HEEV_GROUP);
        config.blockDim = dim3(HEEV_CLUSTER_THREADS);
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
    }
    template <int K> void set(int count, int down_to)
    {
        kernel = heev_cluster<C, K>;
        tail = down_to;
        config.gridDim = dim3((unsigned)(count * heev_cluster_size(K)));
        config.dynamicSmemBytes = sizeof(heev_cluster_memory<C, K>);
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = heev_cluster_size(K);
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    }
};

/* Whether the current GPU can reduce matrices of this size, or what panels leave of them, by clusters: the kernels were
 * compiled for Hopper or later, and find their shared memory and their clusters there. */
template <bool C> static bool cluster_fits(int n)
{
    bool fits = n > HEEV_SMALL;
    for (int size = min(n, (int)HEEV_CLUSTERED); fits && size > HEEV_SMALL;) {
        heev_cluster_launch<C> launch(size, 1, 0);
        cudaFuncAttributes attributes;
        int clusters = 0;
        fits = cudaFuncGetAttributes(&attributes, (const void *)launch.kernel) == cudaSuccess &&
               attributes.ptxVersion >= 90 &&
               raise_shared_memory((const void *)launch.kernel, launch.config.dynamicSmemBytes) == cudaSuccess &&
               cudaOccupancyMaxActiveClusters(&clusters, (const void *)launch.kernel, &launch.config) == cudaSuccess &&
               clusters > 0;
        size = launch.tail;
    }
    if (!fits)
        cudaGetLastError(); /* it was a question */
    return fits;
}

/* matrices: NULL for what the panels have left, `size` rows. */
template <bool C>
static hot_status launch_clusters(hot_context *context, const heev_plan *plan, const void *matrices, int size,
                                  cudaStream_t stream)
{
    for (; size > HEEV_SMALL; matrices = NULL) {
        heev_cluster_launch<C> launch(size, plan->count, stream);
        hot_status status = allow_shared_memory(context, launch.kernel, launch.config.dynamicSmemBytes);
        if (status == HOT_OK)
            status = hot_cuda_status(
                context, cudaLaunchKernelEx(&launch.config, launch.kernel, *plan, matrices, size, launch.tail),
                "starting clusters");
        if (status != HOT_OK)
            return status;
        size = launch.tail;
    }
    return HOT_OK;
}

/* Down to `tail` rows. */
template <bool C>
static hot_status launch_panels(hot_context *context, const heev_plan *plan, const void *matrices, int tail,
                                cudaStream_t stream)
{
    const size_t bytes = heev_panel_bytes<C>(plan->ld, plan->panel);
    void (*kernel)(const heev_plan, const void *, int) = plan->n <= 256   ? heev_panels<C, 1>
                                                         : plan->n <= 512 ? heev_panels<C, 2>
                                                                          : heev_panels<C, 4>;
    hot_status status = allow_shared_memory(context, kernel, bytes);
    if (status == HOT_OK)
        kernel<<<(unsigned)plan->count, 32 * HEEV_PANEL_WARPS, bytes, stream>>>(*plan, matrices, tail);
    return status;
}

template <bool C>
static hot_status launch_reduction(hot_context *context, const heev_plan *plan, const void *matrices,
                                   cudaStream_t stream)
{
    int left = plan->n;
    hot_status status = HOT_OK;
    if (left <= 32) {
        launch_small<C, 8, 8, 4, 4>(plan, matrices, left, stream);
        return HOT_OK;
    }
    if (heev_needs_panels(plan)) {
        left = plan->clusters ? HEEV_CLUSTERED : HEEV_SMALL;
        status = launch_panels<C>(context, plan, matrices, left, stream);
        matrices = NULL;
    }
    if (status == HOT_OK && left > HEEV_SMALL) {
        status = launch_clusters<C>(context, plan, matrices, left, stream);
        left = HEEV_SMALL;
        matrices = NULL;
    }
    if (status == HOT_OK)
        launch_small<C, 8, 16, 8, 4>(plan, matrices, left, stream);
    return status;
}

template <bool C, int TILES, int WARPS, bool STAGED>
static hot_status launch_backtransform_of(hot_context *context, const heev_plan *plan, void *values, void *vectors,
                                          uint8_t *flags, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)plan->count * (unsigned)((plan->kept + 15) / 16);
    const size_t bytes = heev_backtransform_bytes<C, TILES, WARPS, STAGED>();
    hot_status status = allow_shared_memory(context, heev_backtransform<C, TILES, WARPS, STAGED>, bytes);
    if (status == HOT_OK)
        heev_backtransform<C, TILES, WARPS, STAGED>
            <<<blocks, 32 * WARPS, bytes, stream>>>(*plan, values, vectors, flags);
    return status;
}

template <bool C>
static hot_status launch_backtransform(hot_context *context, const heev_plan *plan, void *values, void *vectors,
                                       uint8_t *flags, cudaStream_t stream)
{
    if (plan->vectors)
        heev_compact_wy<C><<<(unsigned)plan->count *(unsigned)((plan->n + HEEV_WY - 1) / HEEV_WY), 32 * HEEV_WY_WARPS,
                             heev_compact_wy_bytes(sizeof(number<C>)), stream>>>(*plan);
    return plan->n <= 32    ? launch_backtransform_of<C, 4, 1, true>(context, plan, values, vectors, flags, stream)
           : plan->n <= 64  ? launch_backtransform_of<C, 8, 1, true>(context, plan, values, vectors, flags, stream)
           : plan->n <= 128 ? launch_backtransform_of<C, 8, 2, true>(context, plan, values, vectors, flags, stream)
           : plan->n <= 256 ? launch_backtransform_of<C, 8, 4, true>(context, plan, values, vectors, flags, stream)
           : plan->n <= 512 ? launch_backtransform_of<C, 8, 8, true>(context, plan, values, vectors, flags, stream)
                            : launch_backtransform_of<C, 8, 16, false>(context, plan, values, vectors, flags, stream);
}
