/* Denoising on the CPU: rows of windows dealt out to threads. Rows that could write to the same voxel never run at the
 * same time, and come in an order that has nothing to do with the threads. */
#include <omp.h>

#include "common/context_internal.h"
#include "common/entry.h"
#include "common/lapack.h"
#include "denoise/denoise.h"

static denoise_row_fn *choose_row(const hot_context *context)
{
    return HOT_CPU_VARIANT(context, hot_denoise_row);
}

/* Windows of indices that differ by this much along an axis share no voxel; one more than the regular spacing needs,
 * because the last windows are moved in. */
static size_t apart(const denoise_args *args, int axis)
{
    return (args->window[axis] + args->step[axis] - 1) / args->step[axis] + 1;
}

/* At least what the widest variant lays out (denoise_row.h). */
size_t hot_denoise_scratch(const denoise_args *args)
{
    const size_t n = args->columns, lanes = 8, real = n * (args->options.is_complex ? 2 : 1);
    const size_t wide = (real + 15) / 16 * 16, wide_volumes = (args->width + 15) / 16 * 16;
    const size_t doubles =
        args->rows * wide + args->window[0] * wide * wide + lanes * (real * (n + 1) / 2 + real * n + 13 * n);
    const size_t floats = (real + 4) * (wide + 1) + (real + 3) * wide_volumes;
    return doubles * sizeof(double) + floats * sizeof(float) + 20 * 64 + hot_denoise_scratch_plain(args);
}

static hot_status do_rows(hot_context *context, const denoise_args *args)
{
    denoise_row_fn *row = choose_row(context);
    const int threads = hot_context_threads(context);
    const double *progress = args->options.progress;
    const double from = progress[1] > progress[0] ? progress[0] : 0, to = progress[1] > progress[0] ? progress[1] : 1;
    const size_t apart_j = apart(args, 1), apart_k = apart(args, 2);
    const size_t each = (hot_denoise_scratch(args) + 4095) / 64 * 64;
    hot_status status = HOT_OK;
    char *scratch = hot_context_alloc(context, (size_t)threads, each);
    if (!scratch)
        return HOT_ERROR_MEMORY;
    hot_lapack_single_begin();
    for (size_t phase = 0; phase < apart_j * apart_k && status == HOT_OK; phase++) {
        /* phases follow a window's position in the whole volume: a slab adds up in the same order */
        const size_t j0 = phase % apart_j, k0 = (phase / apart_j + apart_k - args->place0 % apart_k) % apart_k;
        const size_t rows_j = args->places[0] > j0 ? (args->places[0] - j0 - 1) / apart_j + 1 : 0;
        const size_t rows_k = args->places[1] > k0 ? (args->places[1] - k0 - 1) / apart_k + 1 : 0;
        const size_t rows = rows_j * rows_k, step = 4 * (size_t)threads;
        for (size_t begin = 0; begin < rows && status == HOT_OK; begin += step) {
            const size_t end = rows - begin < step ? rows : begin + step;
#pragma omp parallel for schedule(dynamic) num_threads(hot_team(threads))
            for (size_t r = begin; r < end; r++)
                row(args, j0 + r % rows_j * apart_j, args->place0 + k0 + r / rows_j * apart_k,
                    scratch + each * (size_t)omp_get_thread_num());
            const double done = ((double)phase + (double)end / (double)rows) / (double)(apart_j * apart_k);
            status = hot_context_progress(context, "denoising", from + (to - from) * done);
        }
    }
    hot_lapack_single_end();
    hot_context_free(context, scratch);
    return status;
}

hot_status hot_denoise_cpu(hot_context *context, void *argument)
{
    denoise_args *args = argument;
    args->context = context;
    hot_status status = hot_denoise_begin(context, args);
    if (status == HOT_OK)
        status = do_rows(context, args);
    return hot_denoise_end(context, args, status);
}
