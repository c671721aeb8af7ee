/* SS-HOPM in the gnomonic projection on the GPU: the kernels of every order, and their launch. */
#include <cuda_runtime.h>
#include <string.h>

#include "common/shared_memory.cuh"
#include "gnomonic_block.cuh"
#include "gnomonic_warp.cuh"

namespace {

/* Of few tensors, a block takes one: when there are at most this many times as many blocks as the GPU can hold at once.
 * More are slower so. */
enum { FEW_WAVES = 16 };

typedef void gnomonic_kernel(hot_sshopm_args, gnomonic_constants);

struct gnomonic_kernels {
    gnomonic_kernel *converge, *repeat, *few;
    size_t slots, few_blocks;
};

/* Instantiates the kernels of an order. */
template <int ORDER> gnomonic_kernels gnomonic_kernels_of(bool shifted)
{
    return {shifted ? gnomonic_converge<ORDER, true> : gnomonic_converge<ORDER, false>, gnomonic_repeat<ORDER>,
            shifted ? gnomonic_few<ORDER, true> : gnomonic_few<ORDER, false>, sizeof(gnomonic_slots<ORDER>),
            gnomonic_tuning<ORDER>::FEW};
}

/* The attributes (none or one) of a launch that may begin while the kernel before it in its stream still runs, and
 * waits for its end by cudaGridDependencySynchronize. */
unsigned launch_early(cudaLaunchAttribute *attribute, void *stream)
{
    int device = 0, major = 0;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    memset(attribute, 0, sizeof *attribute);
    attribute->id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute->val.programmaticStreamSerializationAllowed = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    /* not in a graph, where what comes before may be no kernel */
    if (cudaStreamIsCapturing((cudaStream_t)stream, &capture) != cudaSuccess)
        cudaGetLastError();
    return major >= 9 && capture == cudaStreamCaptureStatusNone;
}

} // namespace

hot_status hot_gnomonic_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                               void *stream)
{
    gnomonic_constants constants = gnomonic_constants_make(args, tables);
    const int processors = tables->processors;
    /* Few tensors: their starts are distributed, so that every multiprocessor has some. Many: a warp takes the maximum
     * number of tensors that it can store, so that it seldom waits for the slowest start. */
    const size_t warps = (size_t)processors * 28;
    size_t part = args->starts < (size_t)GNOMONIC_PART ? args->starts : (size_t)GNOMONIC_PART;
    while (part > 32 && args->count * ((args->starts + part - 1) / part) < warps)
        part = (part / 2 + 31) / 32 * 32;
    part = args->starts > part ? (part + 31) / 32 * 32 : (part + 1) / 2 * 2;
    constants.part = (unsigned)part;
    constants.parts = (unsigned)((args->starts + part - 1) / part);
    size_t per_warp = args->count * constants.parts / (2 * warps);
    constants.per_warp = per_warp < 1                        ? 1
                         : per_warp > (size_t)GNOMONIC_SLOTS ? (unsigned)GNOMONIC_SLOTS
                                                             : (unsigned)per_warp;
    constants.projected = args->starts <= GNOMONIC_PROJECTED ? ((unsigned)args->starts + 1) / 2 * 2 : 0;
    constants.first_steps =
        args->exact || args->max_iterations < GNOMONIC_FIRST_STEPS ? args->max_iterations : GNOMONIC_FIRST_STEPS;
    size_t groups = (args->count + constants.per_warp - 1) / constants.per_warp;
    size_t blocks = (groups * constants.parts + 3) / 4;
    unsigned grid = (unsigned)(blocks < 1u << 30 ? blocks : 1u << 30);
    const bool shifted = args->shift == HOT_SHIFT_ADAPTIVE;
    const gnomonic_kernels kernels = args->order == 4   ? gnomonic_kernels_of<4>(shifted)
                                     : args->order == 6 ? gnomonic_kernels_of<6>(shifted)
                                                        : gnomonic_kernels_of<8>(shifted);
    gnomonic_kernel *kernel = args->exact ? kernels.repeat : kernels.converge;
    size_t bytes = constants.projected * sizeof(float2) + 4 * gnomonic_bytes(kernels.slots, constants);
    const size_t parts = (args->starts + 127) / 128;
    if (!args->exact && hot_sshopm_batch_count(args) <= kernels.few_blocks * FEW_WAVES * processors / parts) {
        kernel = kernels.few;
        constants.parts = (unsigned)parts;
        grid = (unsigned)(args->count * parts);
        bytes = 0;
    }
    const hot_status status = allow_shared_memory(context, kernel, bytes);
    if (status != HOT_OK)
        return status;
    cudaLaunchAttribute early;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(grid);
    config.blockDim = dim3(128);
    config.dynamicSmemBytes = bytes;
    config.stream = (cudaStream_t)stream;
    config.attrs = &early;
    config.numAttrs = launch_early(&early, stream);
    return hot_cuda_status(context, cudaLaunchKernelEx(&config, kernel, *args, (const gnomonic_constants)constants),
                           "starting SS-HOPM");
}
