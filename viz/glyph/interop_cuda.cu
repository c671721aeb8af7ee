/* CUDA code of the viewer; see interop.h. The order of operations is that of glyph.c and glyph_set.c, without
 * contraction (viz/CMakeLists.txt), so that pictures equal those of the same tensors in host memory. */
#include <cuda_runtime.h>

/* CUDA's header needs three types of a GL header; epoxy's header would add a dependence on its library. */
typedef unsigned int GLuint;
typedef unsigned int GLenum;
typedef int GLint;
#define __gl_h_
#define GL_VERSION_1_1
#include <cuda_gl_interop.h>

extern "C" {
#include "interop.h"
}
#include "ellipsoid.h"

enum { THREADS = 128, MAX_TERMS = 45 };

/* ---- Kernels ---------------------------------------------------------------------------------------------- */

/* Computes g = A x^(m-1); returns g . x. */
static __device__ double gradient(int order, const float *tensor, const double x[3], double g[3])
{
    double power[3][8];
    for (int d = 0; d < 3; d++) {
        power[d][0] = 1;
        g[d] = 0;
        for (int e = 1; e < order; e++)
            power[d][e] = power[d][e - 1] * x[d];
    }
    double outer = 1; /* product of binomials (order - 1 over s) (s over t) */
    for (int s = 0; s < order; s++) {
        double inner = outer;
        for (int t = 0; t <= s; t++) {
            const double w = inner * power[0][order - 1 - s] * power[1][s - t] * power[2][t];
            const int i = s * (s + 1) / 2 + t, j = (s + 1) * (s + 2) / 2 + t;
            g[0] += w * (double)tensor[i];
            g[1] += w * (double)tensor[j];
            g[2] += w * (double)tensor[j + 1];
            inner = inner * (s - t) / (t + 1);
        }
        outer = outer * (order - 1 - s) / (s + 1);
    }
    return g[0] * x[0] + g[1] * x[1] + g[2] * x[2];
}

/* largest_radius of viz/glyph/glyph.c. */
static __global__ void find_radii(const hot_glyph_scan *scan, size_t voxels, const float *tensors, float *radius)
{
    const size_t voxel = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (voxel >= voxels)
        return;
    const int terms = scan->terms;
    const float *row = tensors + voxel * (size_t)(terms + 1);
    float tensor[MAX_TERMS], largest = 0;
    int best = -1, valid = row[0] > 0;
    for (int t = 0; t < terms; t++) {
        tensor[t] = row[1 + t];
        valid &= isfinite(tensor[t]) != 0;
    }
    for (int p = 0; p < HOT_GLYPH_SCAN && valid; p++) {
        float value = 0;
        for (int t = 0; t < terms; t++)
            value += scan->form[t * HOT_GLYPH_SCAN + p] * tensor[t];
        if (best < 0 || value > largest) {
            largest = value;
            best = p;
        }
    }
    if (!valid || !(largest > 0) || !isfinite(largest)) {
        radius[voxel] = 0;
        return;
    }
    double x[3] = {scan->direction[best][0], scan->direction[best][1], scan->direction[best][2]}, g[3];
    for (int step = 0; step < HOT_GLYPH_CLIMB_STEPS; step++) {
        const double value = gradient(scan->order, tensor, x, g);
        const double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        if (value > largest)
            largest = (float)value;
        if (!(length > 0) || !isfinite(length))
            break;
        for (int d = 0; d < 3; d++)
            x[d] = g[d] / length;
    }
    radius[voxel] = largest;
}

/* quantise of viz/scene/glyph_set.c. */
static __global__ void quantise(int terms, const float *tensors, const uint32_t *voxel, size_t count, int values,
                                int ellipsoids, int16_t *to, float *step)
{
    const size_t glyph = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (glyph >= count)
        return;
    const float *tensor = tensors + (size_t)voxel[glyph] * (size_t)(terms + 1) + 1;
    int16_t *row = to + glyph * (size_t)values;
    float largest = 0, raised[6];
    if (ellipsoids) {
        hot_ellipsoid_tensor(tensor, raised);
        tensor = raised;
    }
    for (int t = 0; t < terms; t++)
        largest = fmaxf(largest, fabsf(tensor[t]));
    const float unit = largest / 32767, per = unit > 0 ? 1 / unit : 0;
    for (int t = 0; t < values; t++)
        row[t] = t < terms ? (int16_t)__float2int_rn(fmaxf(-32767, fminf(32767, tensor[t] * per))) : (int16_t)0;
    step[glyph] = unit;
}

/* ---- Entry points ----------------------------------------------------------------------------------------- */

static unsigned blocks(size_t count) { return (unsigned)((count + THREADS - 1) / THREADS); }

/* Selects the card that holds the tensors; *before: the previous one. */
static int choose_device(const float *tensors, int *before)
{
    cudaPointerAttributes attributes;
    int error = cudaGetDevice(before);
    if (error == cudaSuccess)
        error = cudaPointerGetAttributes(&attributes, tensors);
    if (error == cudaSuccess && attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
        error = cudaErrorInvalidDevicePointer;
    return error == cudaSuccess ? cudaSetDevice(attributes.device) : error;
}

static int find_all_radii(const hot_glyph_scan *scan, size_t voxels, const float *tensors, float *radius)
{
    hot_glyph_scan *device_scan = NULL;
    float *device_radius = NULL;
    int before = 0, error = choose_device(tensors, &before);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&device_scan, sizeof *device_scan);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&device_radius, voxels * sizeof *device_radius);
    if (error == cudaSuccess)
        error = cudaMemcpy(device_scan, scan, sizeof *device_scan, cudaMemcpyHostToDevice);
    if (error == cudaSuccess) {
        find_radii<<<blocks(voxels), THREADS>>>(device_scan, voxels, tensors, device_radius);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess)
        error = cudaMemcpy(radius, device_radius, voxels * sizeof *device_radius, cudaMemcpyDeviceToHost);
    cudaFree(device_scan);
    cudaFree(device_radius);
    cudaSetDevice(before);
    return error;
}

/* Runs while the buffer is mapped to CUDA. */
static int fill_mapped(cudaGraphicsResource_t resource, int terms, const float *tensors, const uint32_t *voxel,
                       size_t count, int texels, int ellipsoids, float *step)
{
    void *to = NULL;
    size_t room = 0;
    uint32_t *which = NULL;
    float *steps = NULL;
    int error = cudaGraphicsResourceGetMappedPointer(&to, &room, resource);
    if (error == cudaSuccess && room < count * (size_t)texels * 4 * sizeof(int16_t))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&which, count * sizeof *which);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&steps, count * sizeof *steps);
    if (error == cudaSuccess)
        error = cudaMemcpy(which, voxel, count * sizeof *which, cudaMemcpyHostToDevice);
    if (error == cudaSuccess) {
        quantise<<<blocks(count), THREADS>>>(terms, tensors, which, count, 4 * texels, ellipsoids, (int16_t *)to,
                                              steps);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess)
        error = cudaMemcpy(step, steps, count * sizeof *steps, cudaMemcpyDeviceToHost);
    cudaFree(which);
    cudaFree(steps);
    return error;
}

static int fill_buffer(int terms, const float *tensors, const uint32_t *voxel, size_t count, int texels,
                       int ellipsoids, unsigned buffer, float *step)
{
    cudaGraphicsResource_t resource = NULL;
    int before = 0, error = choose_device(tensors, &before);
    if (error == cudaSuccess)
        error = cudaGraphicsGLRegisterBuffer(&resource, buffer, cudaGraphicsRegisterFlagsWriteDiscard);
    if (error == cudaSuccess) {
        error = cudaGraphicsMapResources(1, &resource, 0);
        if (error == cudaSuccess) {
            error = fill_mapped(resource, terms, tensors, voxel, count, texels, ellipsoids, step);
            const int ended = cudaGraphicsUnmapResources(1, &resource, 0);
            error = error == cudaSuccess ? ended : error;
        }
        cudaGraphicsUnregisterResource(resource);
    }
    cudaSetDevice(before);
    return error;
}

static int fetch_row(int terms, const float *tensors, size_t voxel, float *row)
{
    const size_t length = (size_t)terms + 1;
    int before = 0, error = choose_device(tensors, &before);
    if (error == cudaSuccess)
        error = cudaMemcpy(row, tensors + voxel * length, length * sizeof *row, cudaMemcpyDeviceToHost);
    cudaSetDevice(before);
    return error;
}

static const char *error_text(int error)
{
    cudaGetLastError(); /* clears the error state */
    return cudaGetErrorString((cudaError_t)error);
}

extern "C" __attribute__((visibility("default"))) const hot_interop hot_interop_cuda;
extern "C" const hot_interop hot_interop_cuda = {sizeof(hot_interop), find_all_radii, fill_buffer, fetch_row,
                                                 error_text};
