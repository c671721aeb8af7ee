/* SS-HOPM on the GPU: tables, the choice of an algorithm, and the host-level backend, which takes batches of any size
 * through the device in pieces. The step itself:
 *
 *   general     sshopm_iterate, sshopm_thread.cuh      a thread per start; any shape, precision and shift
 *   blocks      sshopm_block_kernel, sshopm_blocks.cu  a thread block per tensor; orders 3 to 8 that are not unrolled
 *   gnomonic    gnomonic_step, gnomonic_step.cuh       in the projection; gnomonic.cu launches gnomonic_warp.cuh or,
 *                                                      for few tensors, gnomonic_block.cuh */
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "common/backend.h"
#include "common/batch_pipeline.h"
#include "common/device_memory.h"
#include "common/shared_memory.cuh"
#include "gnomonic_table.h"
#include "sshopm_device.cuh"

/* ---- Tables and launching ---------------------------------------------------------------------------------------- */

/* With fewer starts the path of each decides which maxima are found: they get the adaptive shift of every step. */
enum { SHIFT_STARTS = 32 };

static int has_gnomonic(int order, int dim) { return dim == 3 && (order == 4 || order == 6 || order == 8); }

static int can_gnomonic(const hot_sshopm_args *args)
{
    const int shift = args->shift == HOT_SHIFT_NONE || (args->shift == HOT_SHIFT_ADAPTIVE && args->sign > 0 &&
                                                        !args->exact && args->starts >= SHIFT_STARTS);
    return has_gnomonic(args->order, args->dim) && !args->f64 && shift && !(args->change > 0) &&
           args->starts < 1u << 28;
}

/* The tables of sshopm_blocks.cu; none for other shapes. */
static hot_status create_blocks(hot_context *context, int order, int dim, hot_sshopm_blocks *blocks)
{
    if (has_gnomonic(order, dim) || !hot_sshopm_cut_make(order, dim, &blocks->cut))
        return HOT_OK;
    blocks->values = hot_sshopm_cut_values(&blocks->cut);
    for (int t = 1; t < blocks->cut.tiles; t++)
        blocks->first[t] = blocks->first[t - 1] + hot_sshopm_tile_rows(&blocks->cut, t - 1) * blocks->cut.columns;
    const size_t prefixes = (size_t)blocks->cut.prefixes * sizeof(uint64_t);
    uint32_t *code = (uint32_t *)hot_context_alloc(context, blocks->values, sizeof *code);
    uint64_t *prefix = (uint64_t *)hot_context_alloc(context, prefixes, 1);
    hot_status status = code && prefix ? hot_sshopm_cut_fill(context, &blocks->cut, code, prefix) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_device_upload(context, code, blocks->values * sizeof *code, (void **)&blocks->code, "tables");
    if (status == HOT_OK)
        status = hot_device_upload(context, prefix, prefixes, (void **)&blocks->prefix, "tables");
    hot_context_free(context, code);
    hot_context_free(context, prefix);
    return status;
}

hot_status hot_sshopm_tables_create(hot_context *context, int order, int dim, hot_sshopm_tables *tables)
{
    size_t unique = hot_symtensor_count(order, dim), terms = has_gnomonic(order, dim) ? hot_gnomonic_terms(order) : 0;
    const size_t values = unique * (terms + 2) + 3 * HOT_GNOMONIC_POINTS;
    double *multiplicity = NULL;
    int *exponents = NULL;
    unsigned char *index = NULL;
    float *matrix = NULL;
    hot_status status = HOT_ERROR_MEMORY;
    int device = 0;
    memset(tables, 0, sizeof *tables);
    tables->processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&tables->processors, cudaDevAttrMultiProcessorCount, device);
    multiplicity = (double *)hot_context_alloc(context, unique, sizeof *multiplicity);
    exponents = (int *)hot_context_alloc(context, unique, (size_t)dim * sizeof *exponents);
    index = (unsigned char *)hot_context_alloc(context, unique, (size_t)order);
    matrix = (float *)hot_context_alloc(context, values, sizeof *matrix);
    if (!multiplicity || !exponents || !index || !matrix)
        goto cleanup;
    hot_symtensor_multiplicity(order, dim, multiplicity);
    hot_symtensor_exponents(order, dim, exponents);
    for (size_t i = 0; i < unique; i++)
        for (int d = 0, at = 0; d < dim; d++)
            for (int k = 0; k < exponents[i * (size_t)dim + (size_t)d]; k++)
                index[i * (size_t)order + (size_t)at++] = (unsigned char)d;
    if (terms) {
        hot_gnomonic_matrix(order, matrix);
        hot_gnomonic_shift_table(order, matrix + unique * (terms + 1), matrix + unique * (terms + 2));
    }
    for (size_t i = 0; i < unique; i++)
        matrix[unique * terms + i] = (float)multiplicity[i];
    status = hot_device_upload(context, multiplicity, unique * sizeof(double), (void **)&tables->multiplicity,
                               "tables");
    if (status == HOT_OK)
        status = hot_device_upload(context, index, unique * (size_t)order, (void **)&tables->index, "tables");
    if (status == HOT_OK && terms)
        status = hot_device_upload(context, matrix, values * sizeof(float), (void **)&tables->gnomonic, "tables");
    if (status == HOT_OK)
        status = create_blocks(context, order, dim, &tables->blocks);
cleanup:
    hot_context_free(context, multiplicity);
    hot_context_free(context, exponents);
    hot_context_free(context, index);
    hot_context_free(context, matrix);
    if (status != HOT_OK)
        hot_sshopm_tables_destroy(context, tables);
    return status;
}

void hot_sshopm_tables_destroy(hot_context *context, hot_sshopm_tables *tables)
{
    hot_device_release(context, tables->multiplicity);
    hot_device_release(context, tables->index);
    hot_device_release(context, tables->gnomonic);
    hot_device_release(context, tables->blocks.code);
    hot_device_release(context, tables->blocks.prefix);
    memset(tables, 0, sizeof *tables);
}

static const hot_sshopm_thread *unrolled(const hot_sshopm_args *args)
{
    const hot_sshopm_thread *shape = args->f64 ? hot_sshopm_threads_f64 : hot_sshopm_threads_f32;
    while (shape->order && (shape->order != args->order || shape->dim != args->dim))
        shape++;
    return shape;
}

/* A thread per start (sshopm_thread.cuh): any shape, precision and shift. */
static hot_status launch_general(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                                 cudaStream_t stream)
{
    hot_sshopm_thread_kernel *kernel = unrolled(args)->kernel;
    size_t bytes = args->unique * (args->f64 ? sizeof(double) : sizeof(float));
    int most = 0, device = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (bytes + 1024 > (size_t)most)
        return hot_context_fail(context, HOT_ERROR_DEVICE,
                                "tensors of order %d and dimension %d do not fit this GPU's shared memory; use the CPU",
                                args->order, args->dim);
    const hot_status status = allow_shared_memory(context, kernel, bytes);
    if (status != HOT_OK)
        return status;
    unsigned grid = (unsigned)(args->count < 1u << 30 ? args->count : 1u << 30);
    unsigned threads = args->starts > 64 ? 128 : args->starts > 32 ? 64 : 32;
    kernel<<<grid, threads, bytes, stream>>>(*args, *tables);
    return hot_cuda_status(context, cudaGetLastError(), "starting SS-HOPM");
}

hot_status hot_sshopm_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                             hot_sshopm_algorithm algorithm, void *stream)
{
    if (args->count == 0 || args->starts == 0)
        return HOT_OK;
    const int gnomonic = can_gnomonic(args);
    if (algorithm == HOT_ALGORITHM_GNOMONIC && !gnomonic)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "this algorithm does float, dimension 3, orders 4 6 8, no shift or the adaptive one "
                                "(for maxima, of %d starts or more), a stop on the residual alone", SHIFT_STARTS);
    if (algorithm == HOT_ALGORITHM_GNOMONIC || (algorithm == HOT_ALGORITHM_AUTO && gnomonic))
        return hot_gnomonic_launch(context, args, tables, stream);
    const int blocks = tables->blocks.code && args->starts < 1u << 30;
    if (algorithm == HOT_ALGORITHM_BLOCKS && !blocks)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "this algorithm does orders 3 to 8 in 2 to 16 dimensions");
    if (algorithm == HOT_ALGORITHM_BLOCKS || (algorithm == HOT_ALGORITHM_AUTO && blocks && !unrolled(args)->order))
        return hot_sshopm_blocks_launch(context, args, tables, stream);
    return launch_general(context, args, tables, (cudaStream_t)stream);
}

/* ---- The backend on host arrays ------------------------------------------------------------------------------ */

/* Shared by the launches on a GPU. */
struct batch_tables {
    hot_sshopm_tables tables;
    void *start;
};

static void end_device(hot_context *context, void *user, void *workspace)
{
    batch_tables *self = (batch_tables *)workspace;
    (void)user;
    hot_sshopm_tables_destroy(context, &self->tables);
    hot_device_release(context, self->start);
    hot_context_free(context, self);
}

static hot_status begin_device(hot_context *context, void *user, void **workspace)
{
    const hot_sshopm_args *args = (const hot_sshopm_args *)user;
    const size_t bytes = args->starts * (size_t)args->dim * (args->f64 ? sizeof(double) : sizeof(float));
    batch_tables *self = (batch_tables *)hot_context_calloc(context, 1, sizeof *self);
    if (!self)
        return HOT_ERROR_MEMORY;
    *workspace = self;
    hot_status status = hot_sshopm_tables_create(context, args->order, args->dim, &self->tables);
    return status == HOT_OK ? hot_device_upload(context, args->start, bytes, &self->start, "starts") : status;
}

static hot_status launch_chunk(hot_context *context, void *user, void *workspace, const hot_batch_chunk *chunk)
{
    const batch_tables *self = (const batch_tables *)workspace;
    hot_sshopm_args part = *(const hot_sshopm_args *)user;
    part.batch = part.count;
    part.count = chunk->count;
    part.stride = part.unique;
    part.tensors = chunk->in[0];
    part.start = self->start;
    part.lambda = chunk->out[0];
    part.x = chunk->out[1];
    part.residual = chunk->out[2];
    part.iterations = (int32_t *)chunk->out[3];
    part.scratch = chunk->scratch;
    part.scratch_bytes = hot_sshopm_scratch(&part);
    return hot_sshopm_launch(context, &part, &self->tables, HOT_ALGORITHM_AUTO, chunk->stream);
}

hot_status hot_sshopm_cuda(hot_context *context, void *job)
{
    const hot_sshopm_args *args = (const hot_sshopm_args *)job;
    const size_t item = args->f64 ? sizeof(double) : sizeof(float);
    hot_batch batch = {};
    batch.stage = "finding eigenpairs";
    batch.count = args->count;
    batch.in[0] = hot_batch_strided("tensors", args->tensors, args->unique * item, args->stride * item);
    batch.out[0] = hot_batch_rows("lambda", args->lambda, args->starts * item);
    batch.out[1] = hot_batch_rows("x", args->x, args->starts * item * (size_t)args->dim);
    batch.out[2] = hot_batch_rows("residual", args->residual, args->starts * item);
    batch.out[3] = hot_batch_rows("iterations", args->iterations, args->starts * sizeof(int32_t));
    batch.chunk = hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 0);
    batch.scratch = hot_sshopm_scratch(args);
    batch.user = job;
    batch.begin = begin_device;
    batch.launch = launch_chunk;
    batch.end = end_device;
    return hot_batch_run(context, &batch);
}
