/* The CUDA backend of the heev family: matrices from host memory through the GPU and back. */
#include <algorithm>

#include "common/batch_pipeline.h"
#include "heev/heev.h"
#include "heev_device.h"

/* Of matrices and results per chunk: enough for the chunks in progress to occupy the GPU, as large matrices take
 * several multiprocessors each and few of them fit one chunk. Those of more than 512 rows take one multiprocessor each
 * for a long time: then MIN_CHUNK of them. More than MAX_CHUNK small ones do not make it faster. A call of few bytes
 * is CHUNKS all the same, so that copies there, kernels and copies back overlap. */
#define CHUNK_BYTES (4 * HOT_BATCH_BYTES)
enum { MIN_CHUNK = 4, MAX_CHUNK = 1 << 18, CHUNKS = 4, MIN_CHUNK_BYTES = 1 << 20 };

static hot_status begin_device(hot_context *context, void *user, void **device)
{
    const hot_heev_args *args = (const hot_heev_args *)user;
    return hot_heev_device_create(context, args->f64, args->is_complex, args->n, args->kept, args->vectors != NULL,
                                  args->count, (hot_heev_device **)device);
}

static void end_device(hot_context *context, void *, void *device)
{
    hot_heev_device *self = (hot_heev_device *)device;
    hot_heev_device_destroy(context, &self);
}

static size_t number_bytes(const hot_heev_args *args)
{
    return (args->is_complex ? 2 : 1) * (args->f64 ? sizeof(double) : sizeof(float));
}

/* Bytes of scratch for the lower triangles of matrices of which the upper ones are given. */
static size_t turned_bytes(const hot_heev_args *args, size_t count)
{
    return args->upper ? (count * args->n * args->n * number_bytes(args) + 255) / 256 * 256 : 0;
}

/* The lower triangle of each matrix from its upper one. parts: 2 for complex numbers, whose conjugates these are. */
template <typename T> __global__ void turn(size_t count, size_t n, size_t parts, const T *from, T *to)
{
    const size_t square = n * n * parts;
    for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < count * square;
         at += gridDim.x * (size_t)blockDim.x) {
        const size_t part = at % parts, row = at / parts % n, column = at / parts / n % n;
        if (row >= column) {
            const T number = from[at / square * square + (row * n + column) * parts + part];
            to[at] = part ? -number : number;
        }
    }
}

static hot_status launch_chunk(hot_context *context, void *user, void *device, const hot_batch_chunk *chunk)
{
    const hot_heev_args *args = (const hot_heev_args *)user;
    const void *matrices = chunk->in[0];
    char *scratch = (char *)chunk->scratch;
    const size_t turned = turned_bytes(args, chunk->count), parts = args->is_complex ? 2 : 1;
    if (turned) {
        const unsigned blocks = (unsigned)std::min((turned / number_bytes(args) * parts + 255) / 256, (size_t)65535);
        cudaStream_t stream = (cudaStream_t)chunk->stream;
        if (args->f64)
            turn<<<blocks, 256, 0, stream>>>(chunk->count, args->n, parts, (const double *)matrices, (double *)scratch);
        else
            turn<<<blocks, 256, 0, stream>>>(chunk->count, args->n, parts, (const float *)matrices, (float *)scratch);
        matrices = scratch;
    }
    return hot_heev_device_run(context, (const hot_heev_device *)device, chunk->count, matrices, chunk->out[0],
                               chunk->out[1], (uint8_t *)chunk->out[2], scratch + turned, chunk->stream);
}

hot_status hot_heev_cuda(hot_context *context, void *argument)
{
    const hot_heev_args *args = (const hot_heev_args *)argument;
    const size_t number = number_bytes(args), n = args->n;
    const int vectors = args->vectors != NULL;
    hot_batch batch = {};
    batch.stage = "finding eigenvectors";
    batch.count = args->count;
    batch.in[0] = hot_batch_rows("matrices", args->matrices, n * n * number);
    batch.out[0] = hot_batch_rows("values", args->values, args->kept * (args->f64 ? sizeof(double) : sizeof(float)));
    batch.out[1] = hot_batch_rows("vectors", args->vectors, args->kept * n * number);
    batch.out[2] = hot_batch_rows("flags", args->flags, 1);
    const size_t all = args->count * (batch.in[0].row + batch.out[1].row);
    const size_t bytes = std::min(CHUNK_BYTES, std::max((size_t)MIN_CHUNK_BYTES, all / CHUNKS));
    const size_t scratch = turned_bytes(args, 1) + hot_heev_device_bytes(args->is_complex, n, vectors, 1);
    const size_t fitting = hot_batch_fit(context, &batch, bytes, scratch);
    batch.chunk = std::min({std::max(fitting, (size_t)MIN_CHUNK), (size_t)MAX_CHUNK, args->count});
    batch.scratch = turned_bytes(args, batch.chunk) + hot_heev_device_bytes(args->is_complex, n, vectors, batch.chunk);
    batch.user = argument;
    batch.begin = begin_device;
    batch.launch = launch_chunk;
    batch.end = end_device;
    return hot_batch_run(context, &batch);
}
