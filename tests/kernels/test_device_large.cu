/* Matrices of more than 1,024 rows in a GPU's memory are solved by cuSOLVER, which waits: a capture is refused, and the
 * context and the stream are usable afterwards. 77 (skipped) without a GPU. */
#include <cuda_runtime.h>
#include <vector>

#include <hotfiber/device.h>
#include <hotfiber/heev.h>

#include "check.h"
#include "common/backend.h"

int main(void)
{
    if (hot_cuda_count() == 0) {
        printf("skipped: no GPU here\n");
        return 77;
    }
    enum { LARGE = 7 * 147 };
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    hot_context_options options = {};
    hot_context *context = NULL;
    double *matrix = NULL, *values = NULL;
    options.size = sizeof options;
    options.device = HOT_DEVICE_CUDA;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "no context");
    CHECK(hot_context_set_memory(context, HOT_MEMORY_DEVICE, stream) == HOT_OK, "%s", hot_context_message(context));
    CHECK(cudaMalloc(&matrix, LARGE * LARGE * sizeof *matrix) == cudaSuccess, "no memory");
    CHECK(cudaMalloc(&values, LARGE * sizeof *values) == cudaSuccess, "no memory");
    std::vector<double> host(LARGE * LARGE, 0), found(LARGE);
    for (int i = 0; i < LARGE; i++)
        host[(size_t)i * (LARGE + 1)] = i % 7;
    cudaMemcpy(matrix, host.data(), host.size() * sizeof(double), cudaMemcpyHostToDevice);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess, "cannot capture");
    CHECK(hot_syev_f64(context, NULL, LARGE, 1, matrix, values, NULL, NULL) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "capture"), "%s", hot_context_message(context));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "the capture failed");
    CHECK(hot_syev_f64(context, NULL, LARGE, 1, matrix, values, NULL, NULL) == HOT_OK, "%s",
          hot_context_message(context));
    cudaMemcpy(found.data(), values, LARGE * sizeof(double), cudaMemcpyDeviceToHost);
    for (int k = 0; k < LARGE; k++)
        CHECK(fabs(found[(size_t)k] - k * 7 / LARGE) < 1e-9, "eigenvalue %d: %g", k, found[(size_t)k]);
    if (graph)
        cudaGraphDestroy(graph);
    cudaFree(matrix);
    cudaFree(values);
    hot_context_destroy(&context);
    cudaStreamDestroy(stream);
    HOT_TEST_END();
}
