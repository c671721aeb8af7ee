/* Mass operators on the GPU: elements from host memory through the GPU and back. */
#include <cuda_runtime.h>

#include "common/batch_pipeline.h"
#include "contract/gpu/contract_cuda.h"

extern "C" hot_status hot_fem_launch(hot_context *context, const hot_fem_call *call, void *stream)
{
    if (call->job.elements == 0)
        return HOT_OK;
    return call->job.f64 ? hot_fem_launch_f64(context, call, stream) : hot_fem_launch_f32(context, call, stream);
}

static hot_status launch_chunk(hot_context *context, void *user, void *, const hot_batch_chunk *chunk)
{
    hot_fem_call part = *(const hot_fem_call *)user;
    part.job.elements = chunk->count;
    part.job.d = chunk->in[0];
    part.job.v = chunk->in[1];
    part.job.out = chunk->out[0];
    return hot_fem_launch(context, &part, chunk->stream);
}

extern "C" hot_status hot_fem_cuda(hot_context *context, void *call_pointer)
{
    const hot_fem_call *call = (const hot_fem_call *)call_pointer;
    const hot_fem_job *job = &call->job;
    const size_t size = job->f64 ? sizeof(double) : sizeof(float), dofs = hot_fem_power(job->dofs, job->dim);
    hot_batch batch = {};
    batch.stage = "finite elements";
    batch.count = job->elements;
    batch.in[0] = hot_batch_rows(job->d, hot_fem_power(job->points, job->dim) * size);
    if (!call->assemble)
        batch.in[1] = hot_batch_rows(job->v, dofs * size);
    batch.out[0] = hot_batch_rows(job->out, (call->assemble ? dofs * dofs : dofs) * size);
    batch.chunk = hot_batch_fit(&batch, HOT_BATCH_BYTES, 0);
    batch.user = call_pointer;
    batch.launch = launch_chunk;
    return hot_batch_run(context, &batch);
}
