/* The CUDA backend of the heev family: matrices from host memory through the GPU and back. */
#include <algorithm>

#include "common/batch_pipeline.h"
#include "heev/heev.h"
#include "heev_device.h"
#include "heev_cusolver.h"

/* Of matrices and results per chunk: enough for the chunks in progress to occupy the GPU, as large matrices take
 * several multiprocessors each and few of them fit one chunk. Those of more than 512 rows take one multiprocessor each
 * for a long time: then MIN_CHUNK of them. More than MAX_CHUNK small ones do not make it faster. A call of few bytes
 * is CHUNKS all the same, so that copies there, kernels and copies back overlap. */
#define CHUNK_BYTES (4 * HOT_BATCH_BYTES)
enum { MIN_CHUNK = 4, MAX_CHUNK = 1 << 18, CHUNKS = 4, MIN_CHUNK_BYTES = 1 << 20 };

static hot_heev_problem problem_of(const hot_heev_args *args)
{
    hot_heev_problem problem = {};
    problem.f64 = args->f64;
    problem.is_complex = args->is_complex;
    problem.upper = args->upper;
    problem.vectors = args->vectors != NULL;
    problem.n = args->n;
    problem.kept = args->kept;
    return problem;
}

static hot_status begin_device(hot_context *context, void *user, void **device)
{
    const hot_heev_args *args = (const hot_heev_args *)user;
    const hot_heev_problem problem = problem_of(args);
    return hot_heev_device_create(context, &problem, args->count, (hot_heev_device **)device);
}

static void end_device(hot_context *context, void *, void *device)
{
    hot_heev_device *self = (hot_heev_device *)device;
    hot_heev_device_destroy(context, &self);
}

static hot_status launch_chunk(hot_context *context, void *, void *device, const hot_batch_chunk *chunk)
{
    return hot_heev_device_run(context, (const hot_heev_device *)device, chunk->count, chunk->in[0], chunk->out[0],
                               chunk->out[1], (uint8_t *)chunk->out[2], chunk->scratch, chunk->stream);
}

hot_status hot_heev_cuda(hot_context *context, void *argument)
{
    const hot_heev_args *args = (const hot_heev_args *)argument;
    const size_t real = args->f64 ? sizeof(double) : sizeof(float), number = (args->is_complex ? 2 : 1) * real;
    const size_t n = args->n;
    if (n > HOT_HEEV_DEVICE_MAX)
        return hot_heev_cusolver(context, args);
    const hot_heev_problem problem = problem_of(args);
    hot_batch batch = {};
    batch.stage = "finding eigenvectors";
    batch.count = args->count;
    batch.in[0] = hot_batch_rows("matrices", args->matrices, n * n * number);
    batch.out[0] = hot_batch_rows("values", args->values, args->kept * real);
    batch.out[1] = hot_batch_rows("vectors", args->vectors, args->kept * n * number);
    batch.out[2] = hot_batch_rows("flags", args->flags, 1);
    const size_t all = args->count * (batch.in[0].row + batch.out[1].row);
    const size_t bytes = std::min(CHUNK_BYTES, std::max((size_t)MIN_CHUNK_BYTES, all / CHUNKS));
    const size_t fitting = hot_batch_fit(context, &batch, bytes, hot_heev_device_bytes(&problem, 1));
    batch.chunk = std::min({std::max(fitting, (size_t)MIN_CHUNK), (size_t)MAX_CHUNK, args->count});
    batch.scratch = hot_heev_device_bytes(&problem, batch.chunk);
    batch.user = argument;
    batch.begin = begin_device;
    batch.launch = launch_chunk;
    batch.end = end_device;
    return hot_batch_run(context, &batch);
}
