/* Forms A x^p of many tensors at many points on the GPU: the tensor unfolded (forms_table.h) times the monomials of the
 * points. A warp works on a tile of rows of one tensor, a lane on R points; the tile's values come to shared memory
 * part by part. Points are scaled by powers of two, so that monomials of long or short ones stay in range. */
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "common/batch_pipeline.h"
#include "common/device_memory.h"
#include "common/shared_memory.cuh"
#include "forms_table.h"
#include "symtensor/block_product.cuh"
#include "symtensor/contract_args.h"

namespace {

enum { WARPS = 4 };

/* One chunk: everything on the device. */
struct forms_chunk {
    hot_forms_table table;
    size_t count, stride, points, width;
    const void *tensors, *x;
    void *result;
};

/* Bytes of shared memory of a block of so many warps. */
template <typename T, int R> size_t shared_bytes(const hot_forms_table &table, int warps)
{
    return ((size_t)table.dim * 32 * R + (size_t)warps * HOT_FORMS_COLUMNS * (size_t)table.tile) * sizeof(T) +
           32 * R * sizeof(int);
}

/* 32 R points from `first` on, transposed and scaled so that the largest coordinate is in [1, 2); exponent: of what
 * they were divided by. Those beyond the last are zero. */
template <typename T, int R> __device__ void load_points(const forms_chunk &chunk, size_t first, T *x, int *exponent)
{
    constexpr int POINTS = 32 * R;
    const int dim = chunk.table.dim;
    for (int i = (int)threadIdx.x; i < dim * POINTS; i += (int)blockDim.x) {
        const size_t point = first + (size_t)(i / dim);
        x[i % dim * POINTS + i / dim] =
            point < chunk.points ? ((const T *)chunk.x)[first * (size_t)dim + (size_t)i] : 0;
    }
    __syncthreads();
    for (int p = (int)threadIdx.x; p < POINTS; p += (int)blockDim.x) {
        T largest = 0;
        int finite = 1;
        for (int d = 0; d < dim; d++) {
            const T magnitude = fabs(x[d * POINTS + p]);
            largest = magnitude > largest ? magnitude : largest;
            finite &= isfinite(magnitude) != 0;
        }
        exponent[p] = finite && largest > 0 ? ilogb(largest) : 0;
        for (int d = 0; d < dim; d++)
            x[d * POINTS + p] = ldexp(x[d * POINTS + p], -exponent[p]);
    }
    __syncthreads();
}

/* Columns first to end - 1 of a tile, by a warp. */
template <typename T, int ROWS>
__device__ void load_part(const forms_chunk &chunk, const T *tensor, int tile, int first, int end, T *u)
{
    const uint32_t *place = chunk.table.place + ((size_t)tile * (size_t)chunk.table.columns + (size_t)first) * ROWS;
    for (int i = (int)threadIdx.x % 32; i < (end - first) * ROWS; i += 32)
        u[i] = tensor[place[i]] * (T)chunk.table.weight[first + i / ROWS];
}

/* The sums of a warp's points, to the rows of a tile in the result; memory: of the warp. */
template <typename T, int ROWS, int R>
__device__ void store_tile(const forms_chunk &chunk, size_t tensor, size_t first, int tile, const int *exponent,
                           T (*sum)[R], T *memory)
{
    const int lane = (int)threadIdx.x % 32;
    HOT_UNROLL
    for (int b = 0; b < R; b++) {
        __syncwarp();
        HOT_UNROLL
        for (int r = 0; r < ROWS; r++)
            memory[lane * (ROWS + 1) + r] = ldexp(sum[r][b], exponent[lane * R + b] * chunk.table.times);
        __syncwarp();
        for (int i = lane; i < 32 * ROWS; i += 32) {
            const size_t point = first + (size_t)(i / ROWS * R + b), row = (size_t)(tile * ROWS + i % ROWS);
            if (point < chunk.points && row < chunk.width)
                ((T *)chunk.result)[(tensor * chunk.points + point) * chunk.width + row] =
                    memory[i / ROWS * (ROWS + 1) + i % ROWS];
        }
    }
    __syncwarp();
}

template <typename T, int ROWS, int R>
__global__ void __launch_bounds__(32 * WARPS) forms_kernel(const __grid_constant__ forms_chunk chunk)
{
    extern __shared__ double shared_memory[];
    constexpr int POINTS = 32 * R;
    const hot_forms_table &table = chunk.table;
    const int warps = (int)blockDim.x / 32, warp = (int)threadIdx.x / 32;
    T *x = (T *)shared_memory, *u = x + table.dim * POINTS + warp * HOT_FORMS_COLUMNS * ROWS;
    int *exponent = (int *)(x + table.dim * POINTS + warps * HOT_FORMS_COLUMNS * ROWS);
    const size_t groups = (chunk.points + POINTS - 1) / POINTS, steps = (size_t)((table.tiles + warps - 1) / warps);
    for (size_t unit = blockIdx.x; unit < chunk.count * groups * steps; unit += gridDim.x) {
        const size_t tensor = unit / steps / groups, first = unit / steps % groups * POINTS;
        const int tile = (int)(unit % steps) * warps + warp;
        const T *a = (const T *)chunk.tensors + tensor * chunk.stride;
        __syncthreads();
        load_points<T, R>(chunk, first, x, exponent);
        if (tile >= table.tiles)
            continue;
        T sum[ROWS][R];
        block_clear<T, ROWS, R>(sum);
        for (int part = 0; part < table.parts; part++) {
            const int *range = table.part + 2 * part;
            __syncwarp();
            load_part<T, ROWS>(chunk, a, tile, range[1], range[3], u);
            __syncwarp();
            block_product<T, ROWS, R>(u, x + threadIdx.x % 32 * R, POINTS, table.prefix + range[0], range[2] - range[0],
                                      table.times, table.dim, sum);
        }
        store_tile<T, ROWS, R>(chunk, tensor, first, tile, exponent, sum, u);
    }
}

/* p = 0: the tensor itself, for each point. */
template <typename T> __global__ void copy_kernel(const __grid_constant__ forms_chunk chunk)
{
    const size_t one = chunk.points * chunk.width, all = chunk.count * one;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all; i += (size_t)gridDim.x * blockDim.x)
        ((T *)chunk.result)[i] = ((const T *)chunk.tensors)[i / one * chunk.stride + i % chunk.width];
}

template <typename T, int ROWS, int R>
hot_status launch(hot_context *context, const forms_chunk &chunk, cudaStream_t stream)
{
    const int warps = chunk.table.tiles < WARPS ? chunk.table.tiles : (int)WARPS;
    const size_t groups = (chunk.points + 32 * R - 1) / (32 * R),
                 units = chunk.count * groups * (size_t)((chunk.table.tiles + warps - 1) / warps),
                 bytes = shared_bytes<T, R>(chunk.table, warps);
    const hot_status status = allow_shared_memory(context, forms_kernel<T, ROWS, R>, bytes);
    if (status != HOT_OK)
        return status;
    forms_kernel<T, ROWS, R><<<(unsigned)(units < 1u << 30 ? units : 1u << 30), (unsigned)(32 * warps), bytes,
                               stream>>>(chunk);
    return hot_cuda_status(context, cudaGetLastError(), "starting the contraction of tensors");
}

template <typename T> hot_status launch_any(hot_context *context, const forms_chunk &chunk, cudaStream_t stream)
{
    constexpr int MOST = 16 / (int)sizeof(T);
    if (chunk.table.times == 0) {
        copy_kernel<T><<<4096, 256, 0, stream>>>(chunk);
        return hot_cuda_status(context, cudaGetLastError(), "starting the contraction of tensors");
    }
    if (chunk.points > 16 * MOST)
        return chunk.table.tile == 4 ? launch<T, 4, MOST>(context, chunk, stream)
                                     : launch<T, 16, MOST>(context, chunk, stream);
    return chunk.table.tile == 4 ? launch<T, 4, 1>(context, chunk, stream) : launch<T, 16, 1>(context, chunk, stream);
}

/* Shared by the launches on a GPU. */
struct forms_device {
    hot_forms_table table; /* with arrays on the device */
    void *place, *weight, *prefix, *part, *x;
};

void end_device(hot_context *context, void *user, void *workspace)
{
    forms_device *self = (forms_device *)workspace;
    (void)user;
    void *const arrays[] = {self->place, self->weight, self->prefix, self->part, self->x};
    for (void *array : arrays)
        hot_device_release(context, array);
    hot_context_free(context, self);
}

hot_status upload_table(hot_context *context, const hot_contract_forms *job, forms_device *self)
{
    hot_forms_table table;
    hot_status status = hot_forms_table_create(context, job->order, job->dim, job->times, &table);
    self->table = table;
    if (status == HOT_OK)
        status = hot_device_upload(context, table.place,
                                   (size_t)table.tiles * (size_t)table.columns * (size_t)table.tile * sizeof(uint32_t),
                                   &self->place, "tables");
    if (status == HOT_OK)
        status = hot_device_upload(context, table.weight, (size_t)table.columns * sizeof(double), &self->weight,
                                   "tables");
    if (status == HOT_OK)
        status = hot_device_upload(context, table.prefix, (size_t)table.prefixes * sizeof(uint64_t), &self->prefix,
                                   "tables");
    if (status == HOT_OK)
        status = hot_device_upload(context, table.part, 2 * ((size_t)table.parts + 1) * sizeof(int), &self->part,
                                   "tables");
    hot_forms_table_free(context, &table);
    self->table.place = (uint32_t *)self->place, self->table.weight = (double *)self->weight;
    self->table.prefix = (uint64_t *)self->prefix, self->table.part = (int *)self->part;
    return status;
}

hot_status begin_device(hot_context *context, void *user, void **workspace)
{
    const hot_contract_forms *job = (const hot_contract_forms *)user;
    forms_device *self = (forms_device *)hot_context_calloc(context, 1, sizeof *self);
    if (!self)
        return HOT_ERROR_MEMORY;
    *workspace = self;
    hot_status status = job->times ? upload_table(context, job, self) : HOT_OK;
    if (status == HOT_OK && hot_context_memory(context, NULL) == HOT_MEMORY_HOST)
        status = hot_device_upload(context, job->x,
                                   job->points * (size_t)job->dim * (job->f64 ? sizeof(double) : sizeof(float)),
                                   &self->x, "points");
    return status;
}

hot_status launch_chunk(hot_context *context, void *user, void *workspace, const hot_batch_chunk *part)
{
    const hot_contract_forms *job = (const hot_contract_forms *)user;
    const forms_device *self = (const forms_device *)workspace;
    forms_chunk chunk;
    chunk.table = self->table;
    chunk.count = part->count;
    chunk.stride = hot_symtensor_count(job->order, job->dim);
    chunk.points = job->points;
    chunk.width = job->width;
    chunk.tensors = part->in[0];
    chunk.x = self->x ? self->x : job->x;
    chunk.result = part->out[0];
    return job->f64 ? launch_any<double>(context, chunk, (cudaStream_t)part->stream)
                    : launch_any<float>(context, chunk, (cudaStream_t)part->stream);
}

} // namespace

hot_status hot_contract_forms_cuda(hot_context *context, void *args)
{
    const hot_contract_forms *job = (const hot_contract_forms *)args;
    const size_t item = job->f64 ? sizeof(double) : sizeof(float);
    hot_status status = hot_device_check(context, "points", job->x);
    if (status != HOT_OK)
        return status;
    hot_batch batch = {};
    batch.stage = "contracting tensors";
    batch.count = job->count;
    batch.in[0] = hot_batch_strided("tensors", job->tensors, hot_symtensor_count(job->order, job->dim) * item,
                                    job->stride * item);
    batch.out[0] = hot_batch_rows("result", job->result, job->points * job->width * item);
    batch.chunk = hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 0);
    batch.user = args;
    batch.begin = begin_device;
    batch.launch = launch_chunk;
    batch.end = end_device;
    return hot_batch_run(context, &batch);
}
