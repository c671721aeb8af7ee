/* SS-HOPM on the GPU: tables, the choice of a design, and the host-level backend, which takes batches of any size
 * through the device in pieces. */
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "common/backend.h"
#include "common/batch_pipeline.h"
#include "basin_launch.h"
#include "gnomonic_device.cuh"
#include "gnomonic_table.h"

/* ---- The chart kernels, per order ------------------------------------------------------------------------------ */

enum {
    CHART_SLOTS = 5, /* tensors of a warp, at most */
    CHART_PART = 256,
    CHART_ENTRANCE = 512,
    CHART_FIRST = 10, /* steps before a start is looked at for the first time: few have converged sooner */
    CHART_ROUND = 4,  /* and between two looks */
    /* Steps after which: */
    CHART_CYCLE = 16,   /* a return to the last point but one is a cycle */
    CHART_SLOW = 32,    /* a start is taken ahead with more care, */
    CHART_CAREFUL = 40, /* and less far. Times the order: */
    CHART_AWAY = 6,     /* what turns over and leaves such a point slowly has left it for a cycle */
    CHART_LARGE = 12,   /* one that still turns by more than .2, or turns over and grows, goes round for ever */
    CHART_ENOUGH = 18,  /* and one that turns by more than .01 */
    CHART_FEW_WAVES = 16 /* times as many blocks of few tensors as there is room for at once: more are slower so */
};
/* Blocks per multiprocessor that registers must allow. More, and the operands of the steps meet in the same bank. */
enum { CHART_CONVERGE_4 = 6, CHART_CONVERGE_6 = 4, CHART_CONVERGE_8 = 3 };
enum { CHART_REPEAT_4 = 4, CHART_REPEAT_6 = 4, CHART_REPEAT_8 = 3 };
enum { CHART_FEW_4 = 8, CHART_FEW_6 = 4, CHART_FEW_8 = 3 };

enum { CAPTURE_WORTH = 1 << 18 }; /* starts: fewer have ended by themselves before the maxima are found */

/* A warp's share of the work: tensors first ... and of each the starts start ... */
struct chart_share {
    size_t first, start;
    unsigned tensors, starts;
};

/* The turn-th share of this warp; 0 when there is none. */
static __device__ __forceinline__ int chart_take(const hot_sshopm_args &args, const chart_constants &constants,
                                                 size_t turn, chart_share *share)
{
    const size_t index = (turn * gridDim.x + blockIdx.x) * 4 + threadIdx.x / 32, group = index / constants.parts;
    share->first = group * constants.per_warp;
    share->start = (index - group * constants.parts) * constants.part;
    if (share->first >= args.count)
        return 0;
    const size_t left = args.count - share->first, starts = args.starts - share->start;
    share->tensors = left < constants.per_warp ? (unsigned)left : constants.per_warp;
    share->starts = starts < constants.part ? (unsigned)starts : constants.part;
    return 1;
}

/* Shared memory of a warp: the tensors, an end and a place in the list per start, and a row of x for three-way stores;
 * whole float4s, so that the next warp's begins with one. */
static __host__ __device__ __forceinline__ size_t chart_bytes(size_t slots, const chart_constants &constants)
{
    const size_t starts = constants.per_warp * constants.part;
    return (slots + starts * (sizeof(float2) + sizeof(unsigned short)) + 96 * sizeof(float) + 15) / 16 * 16;
}

#define HOT_CHART(name) HOT_JOIN(HOT_JOIN(chart, HOT_ORDER), _##name)
#define HOT_ORDER_TEMPLATE "sshopm/gpu/gnomonic_warp.cuh"
#include "common/orders.h"

/* ---- Launching --------------------------------------------------------------------------------------------- */

static size_t batch_count(const hot_sshopm_args *args) { return args->batch ? args->batch : args->count; }

static int has_chart(int order, int dim) { return dim == 3 && (order == 4 || order == 6 || order == 8); }

static int can_chart(const hot_sshopm_args *args)
{
    return has_chart(args->order, args->dim) && !args->f64 && args->shift == HOT_SHIFT_NONE && !(args->change > 0) &&
           args->starts < 1u << 28;
}

static int can_capture(const hot_sshopm_args *args)
{
    return can_chart(args) && !args->exact && args->max_iterations > 1 && args->starts <= HOT_CAPTURE_STARTS;
}

hot_status hot_sshopm_tables_create(hot_context *context, int order, int dim, hot_sshopm_tables *tables)
{
    size_t unique = hot_symtensor_count(order, dim), terms = has_chart(order, dim) ? hot_chart_terms(order) : 0;
    double *multiplicity = NULL;
    int *exponents = NULL;
    unsigned char *index = NULL;
    float *chart = NULL;
    hot_status status = HOT_ERROR_MEMORY;
    int device = 0;
    memset(tables, 0, sizeof *tables);
    tables->processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&tables->processors, cudaDevAttrMultiProcessorCount, device);
    multiplicity = (double *)hot_context_alloc(context, unique, sizeof *multiplicity);
    exponents = (int *)hot_context_alloc(context, unique, (size_t)dim * sizeof *exponents);
    index = (unsigned char *)hot_context_alloc(context, unique, (size_t)order);
    chart = (float *)hot_context_alloc(context, unique, (terms + 1) * sizeof *chart);
    if (!multiplicity || !exponents || !index || !chart)
        goto cleanup;
    hot_symtensor_multiplicity(order, dim, multiplicity);
    hot_symtensor_exponents(order, dim, exponents);
    for (size_t i = 0; i < unique; i++)
        for (int d = 0, at = 0; d < dim; d++)
            for (int k = 0; k < exponents[i * (size_t)dim + (size_t)d]; k++)
                index[i * (size_t)order + (size_t)at++] = (unsigned char)d;
    if (terms)
        hot_chart_matrix(order, chart);
    for (size_t i = 0; i < unique; i++)
        chart[unique * terms + i] = (float)multiplicity[i];
    status = hot_cuda_status(context, cudaMalloc((void **)&tables->multiplicity, unique * sizeof(double)), "tables");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc((void **)&tables->index, unique * (size_t)order), "tables");
    if (status == HOT_OK && terms)
        status = hot_cuda_status(context, cudaMalloc((void **)&tables->chart, unique * (terms + 1) * sizeof(float)),
                                 "tables");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(tables->multiplicity, multiplicity, unique * sizeof(double),
                                                     cudaMemcpyHostToDevice), "copying tables");
    if (status == HOT_OK)
        status =
            hot_cuda_status(context, cudaMemcpy(tables->index, index, unique * (size_t)order, cudaMemcpyHostToDevice),
                            "copying tables");
    if (status == HOT_OK && terms)
        status = hot_cuda_status(context, cudaMemcpy(tables->chart, chart, unique * (terms + 1) * sizeof(float),
                                                     cudaMemcpyHostToDevice), "copying tables");
cleanup:
    hot_context_free(context, multiplicity);
    hot_context_free(context, exponents);
    hot_context_free(context, index);
    hot_context_free(context, chart);
    if (status != HOT_OK)
        hot_sshopm_tables_destroy(tables);
    return status;
}

void hot_sshopm_tables_destroy(hot_sshopm_tables *tables)
{
    cudaFree(tables->multiplicity);
    cudaFree(tables->index);
    cudaFree(tables->chart);
    cudaFree(tables->room);
    memset(tables, 0, sizeof *tables);
}

hot_status hot_sshopm_tables_room(hot_context *context, const hot_sshopm_args *args, hot_sshopm_tables *tables)
{
    const size_t bytes = can_capture(args) ? hot_sshopm_capture_room(args, tables->processors) : 0;
    if (bytes <= tables->room_bytes)
        return HOT_OK;
    cudaFree(tables->room);
    tables->room = NULL;
    tables->room_bytes = 0;
    hot_status status =
        hot_cuda_status(context, cudaMalloc(&tables->room, bytes), "memory for starts that are left over");
    if (status == HOT_OK) /* an empty list, as every launch leaves it */
        status = hot_cuda_status(context, cudaMemset(tables->room, 0, 256), "memory for starts that are left over");
    if (status == HOT_OK)
        tables->room_bytes = bytes;
    return status;
}

static hot_status launch_chart(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                               cudaStream_t stream)
{
    typedef void (*chart_kernel)(hot_sshopm_args, chart_constants);
    static const struct {
        chart_kernel converge, repeat, few;
        size_t slots, few_blocks;
    } kernels[3] = {{chart4_converge, chart4_repeat, chart4_few, sizeof(struct chart4_slots), CHART_FEW_4},
                    {chart6_converge, chart6_repeat, chart6_few, sizeof(struct chart6_slots), CHART_FEW_6},
                    {chart8_converge, chart8_repeat, chart8_few, sizeof(struct chart8_slots), CHART_FEW_8}};
    chart_constants constants;
    memset(&constants, 0, sizeof constants);
    constants.matrix = tables->chart;
    constants.multiplicity = tables->multiplicity;
    constants.tolerance = (float)args->tolerance;
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            constants.frame[k][d] = (float)hot_chart_frame[k][d];
    const int processors = tables->processors;
    /* Few tensors: their starts are dealt out, so that every multiprocessor has some; many: a warp takes as many
     * tensors as it can keep, so that the wait for the slowest start comes seldom. */
    const size_t warps = (size_t)processors * 28;
    size_t part = args->starts < (size_t)CHART_PART ? args->starts : (size_t)CHART_PART;
    while (part > 32 && args->count * ((args->starts + part - 1) / part) < warps)
        part = (part / 2 + 31) / 32 * 32;
    part = args->starts > part ? (part + 31) / 32 * 32 : (part + 1) / 2 * 2;
    constants.part = (unsigned)part;
    constants.parts = (unsigned)((args->starts + part - 1) / part);
    size_t per_warp = args->count * constants.parts / (2 * warps);
    constants.per_warp = per_warp < 1 ? 1 : per_warp > (size_t)CHART_SLOTS ? (unsigned)CHART_SLOTS : (unsigned)per_warp;
    constants.entrance = args->starts <= CHART_ENTRANCE ? ((unsigned)args->starts + 1) / 2 * 2 : 0;
    constants.plain = args->exact || args->max_iterations < CHART_FIRST ? args->max_iterations : CHART_FIRST;
    constants.refill = 8; /* measured: 4 to 12 are alike, 20 costs 7 % */
    size_t groups = (args->count + constants.per_warp - 1) / constants.per_warp;
    size_t blocks = (groups * constants.parts + 3) / 4;
    unsigned grid = (unsigned)(blocks < 1u << 30 ? blocks : 1u << 30);
    const int which = args->order / 2 - 2;
    chart_kernel kernel = args->exact ? kernels[which].repeat : kernels[which].converge;
    size_t bytes = constants.entrance * sizeof(float2) + 4 * chart_bytes(kernels[which].slots, constants);
    const size_t parts = (args->starts + 127) / 128;
    if (!args->exact && batch_count(args) <= kernels[which].few_blocks * CHART_FEW_WAVES * processors / parts) {
        kernel = kernels[which].few;
        constants.parts = (unsigned)parts;
        grid = (unsigned)(args->count * parts);
        bytes = 0;
    }
    if (bytes > 48 * 1024) {
        hot_status status = hot_cuda_status(context, cudaFuncSetAttribute((const void *)kernel,
                                            cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "shared memory");
        if (status != HOT_OK)
            return status;
    }
    cudaLaunchAttribute early;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(grid);
    config.blockDim = dim3(128);
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = launch_early(&early);
    return hot_cuda_status(context, cudaLaunchKernelEx(&config, kernel, *args, (const chart_constants)constants),
                           "starting SS-HOPM");
}

hot_status hot_sshopm_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                             hot_sshopm_design design, void *stream_pointer)
{
    cudaStream_t stream = (cudaStream_t)stream_pointer;
    if (args->count == 0 || args->starts == 0)
        return HOT_OK;
    int chart = can_chart(args), capture = can_capture(args);
    if (design == HOT_DESIGN_CHART && !chart)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "this design does float, dimension 3, orders 4 6 8, no shift, a stop on the residual "
                                "alone");
    if (design == HOT_DESIGN_CAPTURE && !capture)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "capture does float, dimension 3, orders 4 6 8, no shift, a stop on the residual, two "
                                "iterations or more, %d starts or fewer alone", HOT_CAPTURE_STARTS);
    if (design == HOT_DESIGN_AUTO)
        design = capture && args->capture && batch_count(args) > CAPTURE_WORTH / args->starts ? HOT_DESIGN_CAPTURE
                 : chart                                                                ? HOT_DESIGN_CHART
                                                                                        : HOT_DESIGN_GENERAL;
    if (design == HOT_DESIGN_CHART) {
        hot_status status = launch_chart(context, args, tables, stream);
        if (status != HOT_OK)
            return status;
    } else if (design == HOT_DESIGN_CAPTURE) {
        return hot_sshopm_capture_launch(context, args, tables, stream_pointer);
    } else {
        const hot_sshopm_thread *shape = args->f64 ? hot_sshopm_threads_f64 : hot_sshopm_threads_f32;
        while (shape->order && (shape->order != args->order || shape->dim != args->dim))
            shape++;
        hot_sshopm_thread_kernel *kernel = shape->kernel;
        size_t bytes = args->unique * (args->f64 ? sizeof(double) : sizeof(float));
        int most = 0, device = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
        if (bytes + 1024 > (size_t)most)
            return hot_context_fail(context, HOT_ERROR_DEVICE,
                                    "tensors of order %d and dimension %d do not fit this GPU's shared memory; use the "
                                    "CPU", args->order, args->dim);
        if (bytes > 40000) {
            hot_status status = hot_cuda_status(
                context,
                cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                "shared memory");
            if (status != HOT_OK)
                return status;
        }
        unsigned grid = (unsigned)(args->count < 1u << 30 ? args->count : 1u << 30);
        unsigned threads = args->starts > 64 ? 128 : args->starts > 32 ? 64 : 32;
        kernel<<<grid, threads, bytes, stream>>>(*args, *tables);
    }
    return hot_cuda_status(context, cudaGetLastError(), "starting SS-HOPM");
}

/* ---- The backend on host arrays ------------------------------------------------------------------------------ */

/* What the launches on a GPU share. */
struct batch_tables {
    hot_sshopm_tables tables;
    void *start;
};

static void end_device(hot_context *context, void *user, void *workspace)
{
    batch_tables *self = (batch_tables *)workspace;
    (void)user;
    hot_sshopm_tables_destroy(&self->tables);
    cudaFree(self->start);
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
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMalloc(&self->start, bytes), "memory for starts");
    if (status == HOT_OK)
        status = hot_cuda_status(context, cudaMemcpy(self->start, args->start, bytes, cudaMemcpyHostToDevice),
                                 "copying starts");
    return status;
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
    return hot_sshopm_launch(context, &part, &self->tables, HOT_DESIGN_AUTO, chunk->stream);
}

hot_status hot_sshopm_cuda(hot_context *context, void *job)
{
    const hot_sshopm_args *args = (const hot_sshopm_args *)job;
    const size_t item = args->f64 ? sizeof(double) : sizeof(float);
    hot_batch batch = {};
    batch.stage = "eigenpairs";
    batch.count = args->count;
    batch.in[0] = hot_batch_strided(args->tensors, args->unique * item, args->stride * item);
    batch.out[0] = hot_batch_rows(args->lambda, args->starts * item);
    batch.out[1] = hot_batch_rows(args->x, args->starts * item * (size_t)args->dim);
    batch.out[2] = hot_batch_rows(args->residual, args->starts * item);
    batch.out[3] = hot_batch_rows(args->iterations, args->starts * sizeof(int32_t));
    batch.chunk = hot_batch_fit(&batch, HOT_BATCH_BYTES, 0);
    batch.user = job;
    batch.begin = begin_device;
    batch.launch = launch_chunk;
    batch.end = end_device;
    return hot_batch_run(context, &batch);
}
