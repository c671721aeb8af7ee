/* Mass operators on the GPU: elements from host memory through the GPU and back. */
#include <cuda_runtime.h>

#include "common/batch_pipeline.h"
#include "fem_cuda.h"

extern "C" hot_status hot_fem_launch(hot_context *context, const hot_fem_args *args, void *stream)
{
    if (args->elements == 0)
        return HOT_OK;
    return args->f64 ? hot_fem_launch_f64(context, args, stream) : hot_fem_launch_f32(context, args, stream);
}

static hot_status launch_chunk(hot_context *context, void *user, void *, const hot_batch_chunk *chunk)
{
    hot_fem_args part = *(const hot_fem_args *)user;
    part.elements = chunk->count;
    part.d = chunk->in[0];
    part.v = chunk->in[1];
    part.out = chunk->out[0];
    return hot_fem_launch(context, &part, chunk->stream);
}

extern "C" hot_status hot_fem_cuda(hot_context *context, void *args_pointer)
{
    const hot_fem_args *args = (const hot_fem_args *)args_pointer;
    const size_t size = args->f64 ? sizeof(double) : sizeof(float), dofs = hot_fem_power(args->dofs, args->dim);
    hot_batch batch = {};
    batch.stage = "applying the operator";
    batch.count = args->elements;
    batch.in[0] = hot_batch_rows("d", args->d, hot_fem_power(args->points, args->dim) * size);
    if (!args->assemble)
        batch.in[1] = hot_batch_rows("v", args->v, dofs * size);
    batch.out[0] = hot_batch_rows("the result", args->out, (args->assemble ? dofs * dofs : dofs) * size);
    batch.chunk = hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 0);
    batch.user = args_pointer;
    batch.launch = launch_chunk;
    return hot_batch_run(context, &batch);
}
