/* See heev_measure.h: the build without CUDA has nothing to time. */
#include "heev_measure.h"

#include "common/backend.h"

hot_status hot_heev_measure(hot_context *context, hot_heev_solver solver, size_t n, size_t count, int repeats,
                            double *seconds)
{
#if defined(HOT_HAVE_CUDA) && HOT_HAVE_CUDA
    if (hot_cuda_count() > 0) {
        const size_t numbers = 2 * count * n * n;
        double *matrices = hot_context_alloc(context, numbers, sizeof *matrices);
        hot_status status = matrices ? hot_cuda_select(context, -1) : HOT_ERROR_MEMORY;
        uint64_t random = 1;
        for (size_t k = 0; k < numbers && status == HOT_OK; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            matrices[k] = (double)(random >> 40) * 0x1p-24 - .5;
        }
        if (status == HOT_OK)
            status = solver == HOT_HEEV_OURS ? hot_heev_measure_cuda(context, n, count, matrices, repeats, seconds)
                                             : hot_heev_measure_cusolver(context, n, count, matrices, repeats, seconds);
        hot_context_free(context, matrices);
        return status;
    }
#else
    (void)solver, (void)n, (void)count, (void)repeats, (void)seconds;
#endif
    return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found");
}
