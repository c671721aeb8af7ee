/* See cuda_timing.h. */
#include "cuda_timing.h"

#include <algorithm>

#include "common/cuda_status.h"

hot_status hot_cuda_time_runs(hot_context *context, const hot_cuda_timing &timing, const hot_cuda_work &work,
                              double *times, int *count)
{
    cudaEvent_t begin = NULL, end = NULL;
    double spent = 0;
    *count = 0;
    hot_status status = hot_cuda_status(context, cudaEventCreate(&begin), "event");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaEventCreate(&end), "event");
    for (int run = -timing.warm_up; status == HOT_OK && *count < timing.most &&
                                    (*count < timing.least || spent < timing.seconds);
         run++) {
        float elapsed = 0; /* milliseconds */
        if (timing.prepare)
            status = timing.prepare();
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventRecord(begin, timing.stream), "event");
        if (status == HOT_OK)
            status = work();
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventRecord(end, timing.stream), "event");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventSynchronize(end), "measuring");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaEventElapsedTime(&elapsed, begin, end), "measuring");
        if (status == HOT_OK && run >= 0)
            spent += times[(*count)++] = 1e-3 * elapsed;
    }
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    return status;
}

hot_status hot_cuda_time(hot_context *context, cudaStream_t stream, int calls, const hot_cuda_work &work,
                         double seconds, double *median, double *fastest, int *repeats)
{
    enum { MOST = 200 };
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    double times[MOST];
    int count = 0;
    hot_status status = work();
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaStreamSynchronize(stream), "warming up");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    if (status == HOT_OK) {
        for (int call = 0; call < calls && status == HOT_OK; call++)
            status = work();
        const hot_status ended = hot_cuda_status(context, cudaStreamEndCapture(stream, &graph), "capture");
        status = status != HOT_OK ? status : ended;
    }
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaGraphInstantiate(&ready, graph, 0), "graph");
    hot_cuda_timing timing;
    timing.stream = stream, timing.warm_up = 1, timing.least = 3, timing.most = MOST, timing.seconds = seconds;
    if (status == HOT_OK)
        status = hot_cuda_time_runs(context, timing, [&] {
            return hot_cuda_status(context, cudaGraphLaunch(ready, stream), "launching a graph");
        }, times, &count);
    if (count > 0) {
        std::sort(times, times + count);
        *median = times[count / 2] / calls;
        if (fastest)
            *fastest = times[0] / calls;
    }
    if (repeats)
        *repeats = count;
    if (ready)
        cudaGraphExecDestroy(ready);
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}
