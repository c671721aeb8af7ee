/* Which kernels reduce and which transform back, by the size of the matrices. */
#ifndef HOT_HEEV_START_CUH
#define HOT_HEEV_START_CUH

#include "heev_back.cuh"
#include "heev_panel.cuh"
#include "heev_small.cuh"
#include "heev_stages.cuh"

/* matrices: NULL for what the panels have left. */
template <bool C, int DOWN, int ACROSS, int ROWS, int COLUMNS>
static void start_small(const heev_plan *plan, const void *matrices, int size, cudaStream_t stream)
{
    const size_t room = heev_small_numbers<DOWN, ACROSS, ROWS>() * sizeof(number<C>);
    heev_small<C, DOWN, ACROSS, ROWS, COLUMNS>
        <<<(unsigned)plan->count, DOWN * ACROSS, room, stream>>>(*plan, matrices, size);
}

template <bool C>
static hot_status start_reduce(hot_context *context, const heev_plan *plan, const void *matrices, cudaStream_t stream)
{
    const int n = plan->n;
    if (n <= 32) {
        start_small<C, 8, 8, 4, 4>(plan, matrices, n, stream);
        return HOT_OK;
    }
    if (n > HEEV_SMALL) {
        const size_t room = heev_panel_room<C>(plan->ld, plan->panel);
        void (*kernel)(const heev_plan, const void *, int) = n <= 256   ? heev_panels<C, 1>
                                                             : n <= 512 ? heev_panels<C, 2>
                                                                        : heev_panels<C, 4>;
        hot_status status = allow(context, kernel, room);
        if (status != HOT_OK)
            return status;
        kernel<<<(unsigned)plan->count, 32 * HEEV_PANEL_WARPS, room, stream>>>(*plan, matrices, HEEV_SMALL);
    }
    start_small<C, 8, 16, 8, 4>(plan, n > HEEV_SMALL ? NULL : matrices, n > HEEV_SMALL ? HEEV_SMALL : n, stream);
    return HOT_OK;
}

template <bool C, int TILES, int WARPS, bool STAGED>
static hot_status start_back_of(hot_context *context, const heev_plan *plan, void *values, void *vectors,
                                uint8_t *flags, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)plan->count * (unsigned)((plan->kept + 15) / 16);
    const size_t room = heev_back_room<C, TILES, WARPS, STAGED>();
    hot_status status = allow(context, heev_back<C, TILES, WARPS, STAGED>, room);
    if (status == HOT_OK)
        heev_back<C, TILES, WARPS, STAGED><<<blocks, 32 * WARPS, room, stream>>>(*plan, values, vectors, flags);
    return status;
}

template <bool C>
static hot_status start_back(hot_context *context, const heev_plan *plan, void *values, void *vectors, uint8_t *flags,
                             cudaStream_t stream)
{
    if (plan->vectors)
        heev_join<C><<<(unsigned)plan->count * (unsigned)((plan->n + HEEV_JOIN - 1) / HEEV_JOIN), 32 * HEEV_JOIN_WARPS,
                       heev_join_room(sizeof(number<C>)), stream>>>(*plan);
    return plan->n <= 32    ? start_back_of<C, 4, 1, true>(context, plan, values, vectors, flags, stream)
           : plan->n <= 64  ? start_back_of<C, 8, 1, true>(context, plan, values, vectors, flags, stream)
           : plan->n <= 128 ? start_back_of<C, 8, 2, true>(context, plan, values, vectors, flags, stream)
           : plan->n <= 256 ? start_back_of<C, 8, 4, true>(context, plan, values, vectors, flags, stream)
           : plan->n <= 512 ? start_back_of<C, 8, 8, true>(context, plan, values, vectors, flags, stream)
                            : start_back_of<C, 8, 16, false>(context, plan, values, vectors, flags, stream);
}

#endif
