/* hot_fit_linear_f32 on arrays in a GPU's memory. A thread sums for one item, ROWS outputs at a time, in the order and
 * with the roundings of the CPU (no multiply and add at once), so that both give the same bits. */
#include <cuda_runtime.h>

#include "common/batch_pipeline.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "fit/fit.h"

namespace {

enum { ITEMS = 128, ROWS = 14, COLUMNS = 64 }; /* of a block, of a pass, and in shared memory at a time */

/* matrix: rows x columns. Items: `columns` values behind each other, of the outputs `rows`. */
__global__ void __launch_bounds__(ITEMS) linear_kernel(size_t rows, size_t columns, const double *matrix, size_t count,
                                                       const float *input, float *output)
{
    __shared__ double part[COLUMNS][ROWS];
    __shared__ float tile[COLUMNS][ITEMS + 1];
    const size_t first = (size_t)blockIdx.x * ITEMS, item = first + threadIdx.x;
    for (size_t row = 0; row < rows; row += ROWS) {
        double sum[ROWS] = {0};
        for (size_t column = 0; column < columns; column += COLUMNS) {
            const int width = columns - column < COLUMNS ? (int)(columns - column) : COLUMNS;
            __syncthreads();
            for (int i = (int)threadIdx.x; i < ROWS * width; i += ITEMS) {
                const int r = i / width, c = i % width;
                part[c][r] = row + r < rows ? matrix[(row + r) * columns + column + c] : 0;
            }
            for (int i = (int)threadIdx.x; i < ITEMS * width; i += ITEMS) {
                const int n = i / width, c = i % width;
                if (first + n < count)
                    tile[c][n] = input[(first + n) * columns + column + c];
            }
            __syncthreads();
            if (item < count)
                for (int c = 0; c < width; c++) {
                    const double x = tile[c][threadIdx.x];
#pragma unroll
                    for (int r = 0; r < ROWS; r++)
                        sum[r] = __dadd_rn(sum[r], __dmul_rn(part[c][r], x));
                }
        }
        if (item < count)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (row + r < rows)
                    output[item * rows + row + r] = (float)sum[r];
    }
}

hot_status begin_device(hot_context *context, void *user, void **matrix)
{
    const hot_fit_linear_args *args = (const hot_fit_linear_args *)user;
    return hot_device_upload(context, args->matrix, args->rows * args->columns * sizeof(double), matrix,
                             "memory for a matrix");
}

void end_device(hot_context *context, void *, void *matrix) { hot_device_release(context, matrix); }

hot_status launch_chunk(hot_context *context, void *user, void *matrix, const hot_batch_chunk *chunk)
{
    const hot_fit_linear_args *args = (const hot_fit_linear_args *)user;
    linear_kernel<<<(unsigned)((chunk->count + ITEMS - 1) / ITEMS), ITEMS, 0, (cudaStream_t)chunk->stream>>>(
        args->rows, args->columns, (const double *)matrix, chunk->count, (const float *)chunk->in[0],
        (float *)chunk->out[0]);
    return hot_cuda_status(context, cudaGetLastError(), "starting a linear fit");
}

} // namespace

hot_status hot_fit_linear_cuda(hot_context *context, void *argument)
{
    const hot_fit_linear_args *args = (const hot_fit_linear_args *)argument;
    hot_batch batch = {};
    batch.stage = "fitting";
    batch.quiet = 1; /* a small part of a larger call */
    batch.count = args->count;
    batch.in[0] = hot_batch_strided("input", args->input, args->columns * sizeof(float),
                                    args->input_stride * sizeof(float));
    batch.out[0] = hot_batch_strided("output", args->output, args->rows * sizeof(float),
                                     args->output_stride * sizeof(float));
    batch.chunk = hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 0);
    return hot_batch_run_with(context, &batch, argument, begin_device, launch_chunk, end_device);
}
