/* Eigenvectors of matrices that one kernel makes and another one uses, without leaving the GPU and without waiting
 * (hotfiber/device.h). Build with -lhotkernels; prints the largest eigenvalue of the first matrix. */
#include <cuda_runtime.h>
#include <stdio.h>

#include <hotfiber/device.h>
#include <hotfiber/heev.h>

enum { N = 16, COUNT = 1000 };

/* Real symmetric matrices, a block each: 1 on the diagonal, .5 / (1 + |row - column|) elsewhere, times 1 + the number
 * of the matrix. Column after column; only the lower triangle is read. */
__global__ void make_matrices(double *matrices)
{
    double *own = matrices + (size_t)blockIdx.x * N * N;
    for (int i = (int)threadIdx.x; i < N * N; i += (int)blockDim.x) {
        const int row = i % N, column = i / N, apart = row > column ? row - column : column - row;
        own[i] = (1 + blockIdx.x) * (apart == 0 ? 1 : .5 / (1 + apart));
    }
}

/* The Rayleigh quotient of each first eigenvector, which is the largest eigenvalue. */
__global__ void quotients(const double *matrices, const double *vectors, double *quotient)
{
    const size_t which = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    const double *a = matrices + which * N * N, *v = vectors + which * N * N;
    double sum = 0;
    if (which >= COUNT)
        return;
    for (int column = 0; column < N; column++)
        for (int row = 0; row < N; row++)
            sum += v[row] * a[column * N + row] * v[column];
    quotient[which] = sum;
}

int main(void)
{
    hot_context_options options = {};
    hot_context *context = NULL;
    double *matrices, *values, *vectors, *quotient, first[2] = {0, 1};
    cudaStream_t stream;
    options.size = sizeof options;
    options.device = HOT_DEVICE_CUDA;
    if (hot_context_create(&options, &context) != HOT_OK)
        return 1;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaMalloc((void **)&matrices, sizeof(double) * N * N * COUNT) != cudaSuccess ||
        cudaMalloc((void **)&values, sizeof(double) * N * COUNT) != cudaSuccess ||
        cudaMalloc((void **)&vectors, sizeof(double) * N * N * COUNT) != cudaSuccess ||
        cudaMalloc((void **)&quotient, sizeof(double) * COUNT) != cudaSuccess) {
        fprintf(stderr, "no GPU, or no memory on it\n");
        return 1;
    }
    hot_status status = hot_context_set_memory(context, HOT_MEMORY_DEVICE, stream);
    make_matrices<<<COUNT, 64, 0, stream>>>(matrices);
    if (status == HOT_OK)
        status = hot_syev_f64(context, NULL, N, COUNT, matrices, values, vectors, NULL);
    quotients<<<(COUNT + 127) / 128, 128, 0, stream>>>(matrices, vectors, quotient);
    if (status == HOT_OK)
        status = hot_context_wait(context); /* the only place where the host waits */
    if (status != HOT_OK) {
        fprintf(stderr, "%s\n", hot_context_message(context));
        return 1;
    }
    cudaMemcpy(&first[0], values, sizeof(double), cudaMemcpyDeviceToHost);
    cudaMemcpy(&first[1], quotient, sizeof(double), cudaMemcpyDeviceToHost);
    printf("largest eigenvalue of the first matrix: %.12f, by its eigenvector %.12f\n", first[0], first[1]);
    cudaFree(matrices), cudaFree(values), cudaFree(vectors), cudaFree(quotient);
    cudaStreamDestroy(stream);
    hot_context_destroy(&context);
    return 0;
}
