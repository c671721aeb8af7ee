/* hot_fit_linear_f32 on the CPU: four voxels at a time through the core, threads over stretches of voxels. */
#include <omp.h>

#include "fit.h"
#include "common/entry.h"
#include "common/free.h"

/* PIECE: voxels between two checks for cancellation. */
enum { STRETCH = 1 << 16, PIECE = 256 };

hot_status hot_fit_linear_f32_cpu(hot_context *context, hot_cpu_level level, size_t rows, size_t columns,
                                  const double *matrix, size_t count, const float *input, size_t input_stride,
                                  float *output, size_t output_stride)
{
    hot_status status = HOT_OK;
    hot_fit_core *core = hot_fit_core_of(level);
    const int threads = hot_context_threads(context);
    const size_t padded = hot_fit_packed_rows(level, rows);
    /* per thread: 4 voxels' input as doubles, 4 voxels' output; apart by a cache line */
    const size_t each = HOT_FIT_VOXELS * (columns + padded) + 8;
    double *packed = hot_context_alloc(context, padded, (columns + 1) * sizeof(double));
    double *scratch = hot_context_alloc(context, (size_t)threads, each * sizeof(double));
    if (!packed || !scratch) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    hot_fit_pack(level, rows, columns, matrix, packed);
    for (size_t first = 0; first < count; first += STRETCH) {
        const size_t end = count - first < STRETCH ? count : first + STRETCH;
        const size_t pieces = (end - first + PIECE - 1) / PIECE;
#pragma omp parallel for num_threads(hot_team(pieces > 1 ? threads : 1)) schedule(static)
        for (size_t piece = 0; piece < pieces; piece++) {
            if (hot_context_cancelled(context))
                continue;
            double *x = scratch + (size_t)omp_get_thread_num() * each;
            double *out = x + HOT_FIT_VOXELS * columns;
            const size_t stop = first + (piece + 1) * PIECE < end ? first + (piece + 1) * PIECE : end;
            for (size_t i = first + piece * PIECE; i < stop; i += HOT_FIT_VOXELS) {
                const size_t voxels = stop - i < HOT_FIT_VOXELS ? stop - i : HOT_FIT_VOXELS;
                /* a last, short group repeats its last voxel */
                const float *in[HOT_FIT_VOXELS];
                for (size_t v = 0; v < HOT_FIT_VOXELS; v++)
                    in[v] = input + (i + (v < voxels ? v : voxels - 1)) * input_stride;
                for (size_t c = 0; c < columns; c++) {
                    x[4 * c] = in[0][c], x[4 * c + 1] = in[1][c];
                    x[4 * c + 2] = in[2][c], x[4 * c + 3] = in[3][c];
                }
                core(padded, columns, packed, x, out);
                for (size_t v = 0; v < voxels; v++)
                    for (size_t r = 0; r < rows; r++)
                        output[(i + v) * output_stride + r] = (float)out[v * padded + r];
            }
        }
        status = hot_context_check(context, "fitting");
        if (status != HOT_OK)
            goto cleanup;
    }
cleanup:
    HOT_FREE(context, scratch, packed);
    return status;
}
