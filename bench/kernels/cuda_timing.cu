/* See cuda_timing.h. */
#include "cuda_timing.h"

#include <algorithm>

#include "common/cuda_status.h"

hot_status hot_cuda_time(hot_context *context, cudaStream_t stream, const std::function<hot_status()> &work,
                         double seconds, double *median, double *fastest)
{
    enum { MOST = 200 };
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    cudaEvent_t begin = NULL, end = NULL;
    float times[MOST], total = 0;
    int count = 0;
    hot_status status = work(); /* loads code before the capture */
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaStreamSynchronize(stream), "warming up");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaEventCreate(&begin), "event");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaEventCreate(&end), "event");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    if (status == HOT_OK) {
        status = work();
        const hot_status ended = hot_cuda_status(context, cudaStreamEndCapture(stream, &graph), "capture");
        status = status != HOT_OK ? status : ended;
    }
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaGraphInstantiate(&ready, graph, 0), "graph");
    while (status == HOT_OK && count < MOST && (count < 4 || total < 1e3 * seconds)) {
        cudaEventRecord(begin, stream);
        cudaGraphLaunch(ready, stream);
        cudaEventRecord(end, stream);
        status = hot_cuda_status(context, cudaEventSynchronize(end), "measuring");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventElapsedTime(&times[count], begin, end), "measuring");
        if (status == HOT_OK)
            total += times[count++];
    }
    if (count > 1) {
        std::sort(times + 1, times + count); /* the first warms up */
        *median = 1e-3 * times[1 + (count - 1) / 2];
        if (fastest)
            *fastest = 1e-3 * times[1];
    }
    if (ready)
        cudaGraphExecDestroy(ready);
    if (graph)
        cudaGraphDestroy(graph);
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    return status;
}
