/* Mass operators on the GPU: the host-level backend, elements in pieces. */
#include <algorithm>
#include <cuda_runtime.h>

#include "common/cuda_status.h"
#include "fem_cuda.h"

extern "C" hot_status hot_fem_launch(hot_context *context, const hot_fem_args *args, void *stream)
{
    if (args->elements == 0)
        return HOT_OK;
    return args->f64 ? hot_fem_launch_f64(context, args, stream) : hot_fem_launch_f32(context, args, stream);
}

extern "C" hot_status hot_fem_cuda(hot_context *context, void *args_pointer)
{
    const hot_fem_args *args = (const hot_fem_args *)args_pointer;
    const size_t size = args->f64 ? sizeof(double) : sizeof(float), dofs = hot_fem_power(args->dofs, args->dim);
    const size_t d_each = hot_fem_power(args->points, args->dim) * size, v_each = args->assemble ? 0 : dofs * size;
    const size_t out_each = (args->assemble ? dofs * dofs : dofs) * size;
    hot_fem_args piece = *args;
    void *d = NULL, *v = NULL, *out = NULL;
    size_t room = 0, total = 0, most = 1;
    hot_status status = hot_cuda_status(context, cudaMemGetInfo(&room, &total), "asking for memory");
    if (status != HOT_OK)
        return status;
    room = std::min<size_t>(room / 2, (size_t)1 << 30);
    most = std::min<size_t>(std::max<size_t>(room / (d_each + v_each + out_each), 1), args->elements);
    status = hot_cuda_status(context, cudaMalloc(&d, most * d_each), "memory for D");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&v, std::max<size_t>(most * v_each, 1)), "memory for V");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&out, most * out_each), "memory for the result");
    piece.d = d, piece.v = v, piece.out = out;
    for (size_t begin = 0; begin < args->elements && status == HOT_OK; begin += most) {
        const size_t count = std::min(most, args->elements - begin);
        piece.elements = count;
        status = hot_context_progress(context, "finite elements", (double)begin / (double)args->elements);
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaMemcpy(d, (const char *)args->d + begin * d_each, count * d_each,
                                                         cudaMemcpyHostToDevice), "copying D");
        if (status == HOT_OK && v_each)
            status = hot_cuda_status(context, cudaMemcpy(v, (const char *)args->v + begin * v_each, count * v_each,
                                                         cudaMemcpyHostToDevice), "copying V");
        if (status == HOT_OK)
            status = hot_fem_launch(context, &piece, NULL);
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaMemcpy((char *)args->out + begin * out_each, out, count * out_each,
                                                         cudaMemcpyDeviceToHost), "finite elements");
    }
    if (status == HOT_OK)
        status = hot_context_progress(context, "finite elements", 1);
    cudaFree(d);
    cudaFree(v);
    cudaFree(out);
    return status;
}
