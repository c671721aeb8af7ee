/* Contractions on the GPU: kernels for any sizes and strides, the choice among them and the bulk kernels, and the
 * backend on host arrays: items that are rows of every operand go through the batch pipeline. */
#include <algorithm>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/arena.h"
#include "common/batch_pipeline.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "contract_cuda.h"

namespace {

/* ---- Kernels for everything -------------------------------------------------------------------------------------- */

/* A thread per value of C, its sum read where it lies: small items whose axes the copy engine cannot take. */
template <typename T> __global__ void value_kernel(const hot_contract_plan plan, size_t values)
{
    const T alpha = (T)plan.alpha, beta = (T)plan.beta;
    const size_t columns = plan.column.total, rows = plan.row.total, sums = plan.alpha == 0 ? 0 : plan.sum.total;
    for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < values; at += (size_t)gridDim.x * blockDim.x) {
        const size_t column = at % columns, row = at / columns % rows, item = at / columns / rows;
        const T *a = (const T *)hot_contract_item(&plan, HOT_OPERAND_A, item, sizeof(T)) +
                     hot_group_offset(&plan.row, HOT_OPERAND_A, row);
        const T *b = (const T *)hot_contract_item(&plan, HOT_OPERAND_B, item, sizeof(T)) +
                     hot_group_offset(&plan.column, HOT_OPERAND_B, column);
        T *c = (T *)hot_contract_item(&plan, HOT_OPERAND_C, item, sizeof(T)) +
               hot_group_offset(&plan.row, HOT_OPERAND_C, row) + hot_group_offset(&plan.column, HOT_OPERAND_C, column);
        T sum = 0;
        if (plan.sum.axes <= 1) {
            const size_t a_sum = hot_group_stride(&plan.sum, HOT_OPERAND_A),
                         b_sum = hot_group_stride(&plan.sum, HOT_OPERAND_B);
            for (size_t s = 0; s < sums; s++)
                sum += a[s * a_sum] * b[s * b_sum];
        } else {
            for (size_t s = 0; s < sums; s++)
                sum += a[hot_group_offset(&plan.sum, HOT_OPERAND_A, s)] *
                    b[hot_group_offset(&plan.sum, HOT_OPERAND_B, s)];
        }
        *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
    }
}

enum { TILE = 64, STEP = 16, TILE_THREADS = 256 };

/* A block per 64 x 64 values of C of an item, 4 x 4 of them per thread; A and B pass through shared memory, read in the
 * order of each operand's axes. */
template <typename T> __global__ void __launch_bounds__(TILE_THREADS)
    tile_kernel(const hot_contract_plan plan, size_t tasks)
{
    __shared__ T left[STEP][TILE + 1], right[STEP][TILE + 1];
    const size_t row_tiles = (plan.row.total + TILE - 1) / TILE, column_tiles = (plan.column.total + TILE - 1) / TILE;
    const size_t sums = plan.alpha == 0 ? 0 : plan.sum.total;
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    /* Which index runs along the lanes of a load: the one that lies closer together. */
    const bool rows_first = hot_group_stride(&plan.row, HOT_OPERAND_A) < hot_group_stride(&plan.sum, HOT_OPERAND_A);
    const bool columns_first = hot_group_stride(&plan.column, HOT_OPERAND_B) <
        hot_group_stride(&plan.sum, HOT_OPERAND_B);
    for (size_t task = blockIdx.x; task < tasks; task += gridDim.x) {
        const size_t item = task / (row_tiles * column_tiles), tile = task % (row_tiles * column_tiles);
        const size_t row = tile / column_tiles * TILE, column = tile % column_tiles * TILE;
        const T *a = (const T *)hot_contract_item(&plan, HOT_OPERAND_A, item, sizeof(T));
        const T *b = (const T *)hot_contract_item(&plan, HOT_OPERAND_B, item, sizeof(T));
        T *c = (T *)hot_contract_item(&plan, HOT_OPERAND_C, item, sizeof(T)), sum[4][4];
#pragma unroll
        for (int i = 0; i < 16; i++)
            sum[i / 4][i % 4] = 0;
        for (size_t first = 0; first < sums; first += STEP) {
            for (unsigned at = threadIdx.x; at < STEP * TILE; at += TILE_THREADS) {
                const unsigned i = rows_first ? at % TILE : at / STEP, s = rows_first ? at / TILE : at % STEP;
                left[s][i] = row + i < plan.row.total && first + s < sums
                                 ? a[hot_group_offset(&plan.row, HOT_OPERAND_A, row + i) +
                                     hot_group_offset(&plan.sum, HOT_OPERAND_A, first + s)] : (T)0;
                const unsigned j = columns_first ? at % TILE : at / STEP, t = columns_first ? at / TILE : at % STEP;
                right[t][j] = column + j < plan.column.total && first + t < sums
                                  ? b[hot_group_offset(&plan.column, HOT_OPERAND_B, column + j) +
                                      hot_group_offset(&plan.sum, HOT_OPERAND_B, first + t)] : (T)0;
            }
            __syncthreads();
#pragma unroll 4
            for (int s = 0; s < STEP; s++) {
                T line[4], factor[4];
#pragma unroll
                for (int i = 0; i < 4; i++)
                    line[i] = left[s][y + 16 * i], factor[i] = right[s][x + 16 * i];
#pragma unroll
                for (int i = 0; i < 16; i++)
                    sum[i / 4][i % 4] += line[i / 4] * factor[i % 4];
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < 16; i++) {
            const size_t r = row + y + 16 * (i / 4), q = column + x + 16 * (i % 4);
            if (r < plan.row.total && q < plan.column.total) {
                T *to = c + hot_group_offset(&plan.row, HOT_OPERAND_C, r) +
                    hot_group_offset(&plan.column, HOT_OPERAND_C, q);
                const T value = (T)plan.alpha * sum[i / 4][i % 4];
                *to = plan.beta == 0 ? value : value + (T)plan.beta * *to;
            }
        }
    }
}

template <typename T> void launch_general(const hot_contract_plan *plan, const char *variant, cudaStream_t stream)
{
    const size_t each = plan->row.total * plan->column.total;
    const bool tile = strcmp(variant, "tile") == 0;
    if (tile) {
        const size_t tasks = plan->item.total * ((plan->row.total + TILE - 1) / TILE) *
            ((plan->column.total + TILE - 1) / TILE);
        tile_kernel<T><<<(unsigned)std::min<size_t>(tasks, 1u << 30), TILE_THREADS, 0, stream>>>(*plan, tasks);
    } else {
        const size_t values = plan->item.total * each, blocks = (values + 255) / 256;
        value_kernel<T><<<(unsigned)std::min<size_t>(blocks, 1u << 30), 256, 0, stream>>>(*plan, values);
    }
}

/* ---- The choice -------------------------------------------------------------------------------------------------- */

/* Whether a group is at most one axis whose stride, where it has one, is `stride`. */
bool strides(const hot_contract_group *group, int operand, size_t stride)
{
    return group->axes == 0 || (group->axes == 1 && group->stride[operand][0] == stride);
}

/* The plan as dense items one behind the other; false when it is not that. */
bool as_bulk(const hot_contract_plan *plan, hot_bulk_args *args)
{
    const size_t m = plan->row.total, n = plan->column.total, k = plan->sum.total;
    if (m > 256 || n > 256 || k > 256 || k == 0 || plan->alpha == 0 ||
        ((uintptr_t)plan->a | (uintptr_t)plan->b | (uintptr_t)plan->c) % 16)
        return false;
    const bool a_rows = strides(&plan->row, HOT_OPERAND_A, k) && strides(&plan->sum, HOT_OPERAND_A, 1);
    const bool a_columns = strides(&plan->row, HOT_OPERAND_A, 1) && strides(&plan->sum, HOT_OPERAND_A, m);
    const bool b_rows = strides(&plan->sum, HOT_OPERAND_B, n) && strides(&plan->column, HOT_OPERAND_B, 1);
    const bool b_columns = strides(&plan->sum, HOT_OPERAND_B, 1) && strides(&plan->column, HOT_OPERAND_B, k);
    if ((!a_rows && !a_columns) || (!b_rows && !b_columns) || !strides(&plan->row, HOT_OPERAND_C, n) ||
        !strides(&plan->column, HOT_OPERAND_C, 1) || !strides(&plan->item, HOT_OPERAND_A, m * k) ||
        !strides(&plan->item, HOT_OPERAND_B, k * n) || !strides(&plan->item, HOT_OPERAND_C, m * n))
        return false;
    memset(args, 0, sizeof *args);
    args->a = plan->a, args->b = plan->b, args->c = plan->c, args->items = plan->item.total;
    args->alpha = plan->alpha, args->beta = plan->beta;
    args->m = (unsigned)m, args->n = (unsigned)n, args->k = (unsigned)k;
    args->a_row = a_rows ? (unsigned)k : 1, args->a_sum = a_rows ? 1 : (unsigned)m;
    args->b_sum = b_rows ? (unsigned)n : 1, args->b_column = b_rows ? 1 : (unsigned)k;
    return true;
}

/* Whether the dense items are square and in rows: what the kernels are compiled for. */
bool is_square(const hot_bulk_args *args, unsigned most)
{
    return args->m == args->n && args->n == args->k && args->n <= most && args->a_sum == 1 && args->a_row == args->k &&
           args->b_column == 1 && args->b_sum == args->n;
}

bool fits(bool f64, const hot_bulk_args *args) { return f64 ? hot_bulk_fits_f64(args) : hot_bulk_fits_f32(args); }

/* Sets the items of a chunk of about `bytes` bytes of all three operands, each operand's part in steps of 16 bytes, and
 * its stages; false when it does not fit. */
bool set_chunk(bool f64, hot_bulk_args *args, size_t bytes, int stages)
{
    const size_t size = f64 ? sizeof(double) : sizeof(float), m = args->m, n = args->n, k = args->k;
    const size_t each = (m * k + k * n + m * n) * size;
    size_t step = 1;
    while (step * m * k * size % 16 || step * k * n * size % 16 || step * m * n * size % 16)
        step *= 2;
    const size_t most = std::max<size_t>((bytes / each + step / 2) / step, 1) * step;
    args->stages = stages;
    for (size_t items = most; items > 0; items -= step) {
        args->per_chunk = (int)items;
        if (fits(f64, args))
            return true;
    }
    return false;
}

/* The choice without measuring, fastest at 100,000 items on an H200: small squares directly, others in bulk chunks
 * where the shape allows, else by size. Bulk chunks: 48 KiB in three stages where tensor cores multiply them. */
void typical_choice(const hot_contract_plan *plan, const hot_bulk_args *bulk, hot_contract_choice *choice)
{
    memset(choice, 0, sizeof *choice);
    const size_t m = plan->row.total, n = plan->column.total, k = plan->sum.total;
    const bool f64 = plan->f64 != 0;
    if (bulk && is_square(bulk, HOT_DIRECT_SIZE)) {
        snprintf(choice->variant, sizeof choice->variant, "direct");
        choice->parameter[0] = n == 7 ? 2 : 1;
        return;
    }
    if (bulk && hot_bulk_available()) {
        hot_bulk_args args = *bulk;
        const bool large = f64 && is_square(bulk, 32), odd = n % 2 == 1 && n > 4 && n <= 16;
        const size_t bytes = large ? 49152 : n <= 4 ? 6144 : odd || n > 16 ? 24576 : 12288;
        bool fit = set_chunk(f64, &args, bytes, odd && !large ? 4 : 3);
        if (large && !fit)
            fit = set_chunk(f64, &args, bytes / 2, 4);
        if (!large &&
            (!fit ||
             hot_bulk_bytes(&args, f64 ? sizeof(double) : sizeof(float)) > 110 * 1024)) /* two blocks are better */
            fit = set_chunk(f64, &args, bytes, 2);
        if (fit) {
            snprintf(choice->variant, sizeof choice->variant, "bulk");
            choice->parameter[0] = args.per_chunk, choice->parameter[1] = args.stages;
            return;
        }
    }
    snprintf(choice->variant, sizeof choice->variant, "%s", m * n >= 256 && k >= 8 ? "tile" : "value");
}

} // namespace

extern "C" int hot_contract_cuda_name(hot_context *context, char name[HOT_CHOICE_NAME])
{
    int device = 0;
    cudaDeviceProp properties;
    (void)context;
    name[0] = '\0';
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    snprintf(name, HOT_CHOICE_NAME, "%.*s", HOT_CHOICE_NAME - 1, properties.name);
    for (char *c = name; *c; c++)
        *c = *c == '\t' || *c == '\n' ? ' ' : *c;
    return 1;
}

extern "C" size_t hot_contract_cuda_variants(int f64, size_t m, size_t n, size_t k, hot_contract_choice *out,
                                             size_t capacity)
{
    static const size_t bytes[] = {49152, 12288, 6144, 24576, 36864};
    static const int stages[] = {3, 2, 4, 6};
    size_t count = 0;
    const auto add = [&](const char *variant, int items, int deep, int blocks) {
        for (size_t i = 0; i < count; i++)
            if (strcmp(out[i].variant, variant) == 0 && out[i].parameter[0] == items && out[i].parameter[1] == deep &&
                out[i].parameter[2] == blocks)
                return;
        if (count == capacity)
            return;
        memset(&out[count], 0, sizeof out[count]);
        snprintf(out[count].variant, sizeof out[count].variant, "%s", variant);
        out[count].parameter[0] = items, out[count].parameter[1] = deep, out[count].parameter[2] = blocks;
        count++;
    };
    if (m == n && n == k && n <= HOT_DIRECT_SIZE)
        for (int units = 1; units <= 2; units++)
            add("direct", units, 0, 0);
    if (m <= 256 && n <= 256 && k <= 256 && hot_bulk_available())
        for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++)
            for (size_t s = 0; s < sizeof stages / sizeof *stages; s++) {
                hot_bulk_args args = {NULL, NULL, NULL, 0, 1, 1, (unsigned)m, (unsigned)n, (unsigned)k,
                                    (unsigned)k, 1, (unsigned)n, 1, 0, 0, 0};
                if (set_chunk(f64 != 0, &args, bytes[b], stages[s]))
                    add("bulk", args.per_chunk, stages[s], 0);
            }
    add("value", 0, 0, 0);
    add("tile", 0, 0, 0);
    return count;
}

extern "C" hot_status hot_contract_launch(hot_context *context, const hot_contract_plan *plan,
                                          const hot_contract_choice *choice, void *stream)
{
    hot_bulk_args args;
    hot_contract_choice usual;
    char name[HOT_CHOICE_NAME];
    if (plan->item.total == 0 || plan->row.total == 0 || plan->column.total == 0)
        return HOT_OK;
    const bool dense = !plan->list[HOT_OPERAND_C] && as_bulk(plan, &args), f64 = plan->f64 != 0;
    if (!choice && plan->tuning && hot_contract_cuda_name(context, name))
        choice = hot_contract_tuning_find(plan, name);
    if (choice && strcmp(choice->variant, "bulk") == 0) {
        args.per_chunk = choice->parameter[0], args.stages = choice->parameter[1], args.blocks = choice->parameter[2];
        if (!dense || !hot_bulk_available() || !fits(f64, &args))
            choice = NULL;
    } else if (choice && strcmp(choice->variant, "direct") == 0 &&
               (!dense || !is_square(&args, HOT_DIRECT_SIZE) || choice->parameter[0] < 1 || choice->parameter[0] > 2)) {
        choice = NULL;
    }
    if (!choice) {
        typical_choice(plan, dense ? &args : NULL, &usual);
        choice = &usual;
        args.per_chunk = usual.parameter[0], args.stages = usual.parameter[1], args.blocks = 0;
    }
    if (strcmp(choice->variant, "direct") == 0)
        return f64 ? hot_bulk_direct_f64(context, &args, choice->parameter[0], stream)
                   : hot_bulk_direct_f32(context, &args, choice->parameter[0], stream);
    if (strcmp(choice->variant, "bulk") == 0)
        return f64 ? hot_bulk_launch_f64(context, &args, stream) : hot_bulk_launch_f32(context, &args, stream);
    if (plan->f64)
        launch_general<double>(plan, choice->variant, (cudaStream_t)stream);
    else
        launch_general<float>(plan, choice->variant, (cudaStream_t)stream);
    return hot_cuda_status(context, cudaGetLastError(), "starting a contraction");
}

/* ---- From the host ----------------------------------------------------------------------------------------------- */

namespace {

/* Items of more bytes than this do not go through the pipeline: it would need several times as much pinned memory. */
constexpr size_t LARGE_ITEM = 4 * HOT_BATCH_BYTES;

/* A call whose items are rows, and the plan for a chunk of it. */
struct batch_args {
    const hot_contract_plan *plan;
    hot_contract_plan chunk;
    size_t shared[2]; /* bytes of A and B, where all items share it; else 0 */
};

/* The shared operands on a GPU. */
struct workspace {
    void *shared[2];
};

bool reads_operands(const hot_contract_plan *plan) { return plan->alpha != 0 && plan->sum.total != 0; }

const char *const names[3] = {"operand A", "operand B", "operand C"};

/* The plan of one item. */
hot_contract_plan single_item(const hot_contract_plan *plan)
{
    hot_contract_plan one = *plan;
    one.item.axes = 0;
    one.item.total = 1;
    return one;
}

/* Sets the arrays of a batch, and the strides of a chunk, for a plan whose items are rows of each operand: one item
 * axis, along which the items of an operand neither overlap nor interleave, or are all the same (A or B). Else returns
 * false. */
bool as_batch(const hot_contract_plan *plan, batch_args *call, hot_batch *batch)
{
    const size_t size = plan->f64 ? sizeof(double) : sizeof(float);
    const hot_contract_plan one = single_item(plan);
    const void *const host[3] = {plan->a, plan->b, plan->c};
    size_t bytes = 0;
    if (plan->item.axes != 1)
        return false;
    *call = {plan, *plan, {0, 0}};
    for (int o = 0; o < 3; o++) {
        const size_t values = o == HOT_OPERAND_C || reads_operands(plan) ? hot_contract_extent(&one, o) : 0;
        const size_t stride = hot_group_stride(&plan->item, o), row = values * size;
        if (stride < values && (stride || o == HOT_OPERAND_C))
            return false;
        call->chunk.item.stride[o][0] = stride ? values : 0;
        bytes += row;
        if (o == HOT_OPERAND_C)
            batch->out[0] = hot_batch_strided(names[o], host[o], row, stride * size);
        else if (stride)
            batch->in[o] = hot_batch_strided(names[o], host[o], row, stride * size);
        else
            call->shared[o] = row;
        /* Memory between the values of an item of C must not change. */
        if (o == HOT_OPERAND_C && (plan->beta != 0 || values != plan->row.total * plan->column.total))
            batch->in[o] = batch->out[0];
    }
    return bytes <= LARGE_ITEM;
}

void end_device(hot_context *context, void *, void *shared)
{
    workspace *self = (workspace *)shared;
    for (int o = 0; o < 2 && hot_context_memory(context, NULL) == HOT_MEMORY_HOST; o++)
        cudaFree(self->shared[o]);
    hot_context_free(context, self);
}

hot_status begin_device(hot_context *context, void *user, void **shared)
{
    const batch_args *call = (const batch_args *)user;
    const void *const host[2] = {call->plan->a, call->plan->b};
    workspace *self = (workspace *)hot_context_calloc(context, 1, sizeof *self);
    hot_status status = self ? HOT_OK : HOT_ERROR_MEMORY;
    *shared = self;
    for (int o = 0; o < 2 && status == HOT_OK; o++)
        if (call->shared[o] && hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE) {
            status = hot_device_check(context, names[o], host[o]);
            self->shared[o] = (void *)(uintptr_t)host[o];
        } else if (call->shared[o]) {
            status = hot_cuda_status(context, cudaMalloc(&self->shared[o], call->shared[o]), "memory for an operand");
            if (status == HOT_OK)
                status = hot_cuda_copy(context, self->shared[o], host[o], call->shared[o], "copying an operand");
        }
    return status;
}

hot_status launch_chunk(hot_context *context, void *user, void *shared, const hot_batch_chunk *chunk)
{
    const batch_args *call = (const batch_args *)user;
    const workspace *self = (const workspace *)shared;
    const size_t size = call->plan->f64 ? sizeof(double) : sizeof(float);
    hot_contract_plan part = call->chunk;
    hot_status status = HOT_OK;
    part.a = call->shared[0] ? self->shared[0] : chunk->in[HOT_OPERAND_A];
    part.b = call->shared[1] ? self->shared[1] : chunk->in[HOT_OPERAND_B];
    part.c = chunk->out[0];
    part.item.total = part.item.size[0] = chunk->count;
    if (chunk->in[HOT_OPERAND_C] && chunk->in[HOT_OPERAND_C] != part.c)
        status = hot_cuda_status(context,
                                 cudaMemcpyAsync(part.c, chunk->in[HOT_OPERAND_C],
                                                 chunk->count * hot_group_stride(&part.item, HOT_OPERAND_C) * size,
                                                 cudaMemcpyDeviceToDevice, (cudaStream_t)chunk->stream),
                                 "copying C");
    return status == HOT_OK ? hot_contract_launch(context, &part, NULL, chunk->stream) : status;
}

/* The values of an operand from the first to the last that `count` items use. */
size_t extent_of(const hot_contract_plan *one, const hot_contract_plan *plan, int operand, size_t count)
{
    const size_t each = hot_contract_extent(one, operand);
    return each ? (count - 1) * hot_group_stride(&plan->item, operand) + each : 0;
}

/* The operands' arrays on the device in one allocation, each of at least one value. */
hot_status allocate_operands(hot_context *context, const size_t bytes[3], size_t least, char **memory, char **device)
{
    hot_arena arena = {NULL, 0};
    hot_status status = HOT_OK;
    for (int pass = 0; pass < 2 && status == HOT_OK; pass++) { /* the size, then the arrays */
        for (int o = 0; o < 3; o++)
            device[o] = (char *)hot_arena_alloc(&arena, std::max(bytes[o], least));
        if (pass == 0)
            status = hot_cuda_status(context, cudaMalloc((void **)memory, arena.used), "memory for operands");
        arena = hot_arena{*memory, 0};
    }
    return status;
}

/* Any strides, and single large items: each operand is copied as it lies, from its first value to its last, on the
 * first GPU, without overlap of copies and kernels. A batch along one axis is divided where it is larger than half of
 * the GPU's memory or 1 GiB; one along several axes must fit. */
hot_status contract_strided(hot_context *context, const hot_contract_plan *plan)
{
    const size_t size = plan->f64 ? sizeof(double) : sizeof(float);
    const hot_contract_plan one = single_item(plan);
    const bool divisible = plan->item.axes <= 1, reads = reads_operands(plan);
    hot_contract_plan part = *plan;
    const void *const host[3] = {plan->a, plan->b, plan->c};
    size_t available = 0, total = 0, most = divisible ? plan->item.total : 1, each = 0;
    char *memory = NULL, *device[3] = {NULL, NULL, NULL};
    hot_status status = hot_cuda_status(context, cudaMemGetInfo(&available, &total), "free memory");
    available = std::min<size_t>(available / 2, (size_t)1 << 30);
    for (int o = 0; o < 3; o++)
        each += std::max(hot_group_stride(&plan->item, o), (size_t)1) * size;
    if (divisible)
        most = std::max<size_t>(std::min(most, available / each), 1);
    const auto values = [&](int o, size_t count) {
        return o != HOT_OPERAND_C && !reads ? 0 : divisible ? extent_of(&one, plan, o, count)
                                                            : hot_contract_extent(plan, o);
    };
    const size_t bytes[3] = {values(0, most) * size, values(1, most) * size, values(2, most) * size};
    if (status == HOT_OK)
        status = allocate_operands(context, bytes, size, &memory, device);
    /* Gaps between values of C keep what they hold: then C is copied there whatever beta is. */
    const bool c_comes = plan->beta != 0 || hot_contract_extent(plan, HOT_OPERAND_C) !=
                                                plan->row.total * plan->column.total * plan->item.total;
    part.a = device[0], part.b = device[1], part.c = device[2];
    for (size_t begin = 0; begin < (divisible ? plan->item.total : 1) && status == HOT_OK; begin += most) {
        const size_t count = divisible ? std::min(most, plan->item.total - begin) : 1;
        const auto offset = [&](int o) { return divisible ? begin * hot_group_stride(&plan->item, o) * size : 0; };
        status = hot_context_progress(context, "contracting", (double)begin / (double)plan->item.total);
        for (int o = 0; o < 3 && status == HOT_OK; o++)
            if (o != HOT_OPERAND_C || c_comes)
                status = hot_cuda_copy(context, device[o], (const char *)host[o] + offset(o), values(o, count) * size,
                                       "copying an operand");
        if (divisible)
            part.item.total = part.item.size[0] = count;
        if (status == HOT_OK)
            status = hot_contract_launch(context, &part, NULL, NULL);
        if (status == HOT_OK)
            status = hot_cuda_copy(context, (char *)plan->c + offset(HOT_OPERAND_C), device[2],
                                   values(HOT_OPERAND_C, count) * size, "copying C back");
    }
    cudaFree(memory);
    return status == HOT_OK ? hot_context_progress(context, "contracting", 1) : status;
}

/* Any strides, on operands that are in device memory. An operand at an odd place is copied as it lies, so that the same
 * kernel computes wherever it is. */
hot_status contract_there(hot_context *context, const hot_contract_plan *plan)
{
    const size_t size = plan->f64 ? sizeof(double) : sizeof(float);
    const void *const operand[3] = {plan->a, plan->b, plan->c};
    void *copy[3] = {NULL, NULL, NULL}, *on_stream;
    size_t bytes[3];
    hot_contract_plan part = *plan;
    hot_status status = HOT_OK;
    hot_context_memory(context, &on_stream);
    cudaStream_t stream = (cudaStream_t)on_stream;
    for (int o = 0; o < 3 && status == HOT_OK; o++) {
        bytes[o] = hot_contract_extent(plan, o) * size;
        if (o != HOT_OPERAND_C && !reads_operands(plan))
            continue;
        const int name = o != HOT_OPERAND_C && plan->exchanged ? 1 - o : o;
        if (operand[o] != plan->working)
            status = hot_device_check(context, names[name], operand[o]);
        if (status != HOT_OK || (uintptr_t)operand[o] % 16 == 0)
            continue;
        status = hot_device_alloc(context, bytes[o], &copy[o], "working memory");
        if (status == HOT_OK)
            status = hot_cuda_status(context, cudaMemcpyAsync(copy[o], operand[o], bytes[o], cudaMemcpyDeviceToDevice,
                                                              stream), "copying an operand");
    }
    part.a = copy[0] ? copy[0] : plan->a;
    part.b = copy[1] ? copy[1] : plan->b;
    part.c = copy[2] ? copy[2] : plan->c;
    if (status == HOT_OK)
        status = hot_contract_launch(context, &part, NULL, stream);
    if (status == HOT_OK && copy[2])
        status = hot_cuda_status(context, cudaMemcpyAsync(plan->c, copy[2], bytes[2], cudaMemcpyDeviceToDevice, stream),
                                 "copying C");
    for (void *memory : copy)
        hot_device_release(context, memory);
    return status;
}

/* Lists of addresses in device memory, of matrices there. */
hot_status contract_listed(hot_context *context, const hot_contract_plan *plan)
{
    static const char *const lists[3] = {"the list a", "the list b", "the list c"};
    void *stream;
    hot_status status = HOT_OK;
    hot_context_memory(context, &stream);
    for (int o = 0; o < 3 && status == HOT_OK; o++)
        if (o == HOT_OPERAND_C || reads_operands(plan))
            status = hot_device_check(context, lists[o != HOT_OPERAND_C && plan->exchanged ? 1 - o : o], plan->list[o]);
    return status == HOT_OK ? hot_contract_launch(context, plan, NULL, stream) : status;
}

} // namespace

extern "C" hot_status hot_contract_cuda(hot_context *context, void *plan_pointer)
{
    const hot_contract_plan *plan = (const hot_contract_plan *)plan_pointer;
    batch_args call;
    hot_batch batch = {};
    if (plan->list[HOT_OPERAND_C])
        return contract_listed(context, plan);
    if (plan->working)
        return contract_there(context, plan);
    if (!as_batch(plan, &call, &batch))
        return hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE ? contract_there(context, plan)
                                                                      : contract_strided(context, plan);
    batch.stage = "contracting";
    batch.count = plan->item.total;
    batch.chunk = hot_batch_fit(context, &batch, HOT_BATCH_BYTES, 0);
    batch.user = &call;
    batch.begin = begin_device;
    batch.launch = launch_chunk;
    batch.end = end_device;
    return hot_batch_run(context, &batch);
}
