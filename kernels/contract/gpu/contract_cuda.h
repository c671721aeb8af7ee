/* Contractions with their arrays in the GPU's memory: for the backend on host arrays, the tuner and the benchmarks. */
#pragma once

#include "contract/contract_tuning.h"

HOT_C_BEGIN

/* Launches a finished plan whose arrays are on the device. choice: NULL takes the plan's table or the built-in rule. */
hot_status hot_contract_launch(hot_context *context, const hot_contract_plan *plan, const hot_contract_choice *choice,
                               void *stream);

/* ---- Between the files of the backend ---------------------------------------------------------------------------- */

/* Dense items of one shape (contract_bulk.cuh): arrays on the device, 16-byte aligned, one item behind the other. */
typedef struct hot_bulk_args {
    const void *a, *b;
    void *c;
    size_t items;
    double alpha, beta;
    unsigned m, n, k, a_row, a_sum, b_sum, b_column; /* strides within an item; C in rows */
    int per_chunk, stages, blocks; /* items per copy, copies in flight, blocks per multiprocessor (0: all) */
} hot_bulk_args;

/* Shared memory of a block: a line for the barriers, and per stage the three operands of a chunk, each padded by
 * a line. */
enum { HOT_BULK_LINE = 128, HOT_BULK_MEMORY = 226 * 1024 };
HOT_FN size_t hot_bulk_padded(size_t bytes)
{
    return (bytes + HOT_BULK_LINE - 1) / HOT_BULK_LINE * HOT_BULK_LINE + HOT_BULK_LINE;
}
HOT_FN size_t hot_bulk_bytes(const hot_bulk_args *args, size_t size)
{
    const size_t each = (size_t)args->per_chunk * size, m = args->m, n = args->n, k = args->k;
    return HOT_BULK_LINE + (size_t)args->stages * (hot_bulk_padded(each * m * k) + hot_bulk_padded(each * k * n) +
                                                   hot_bulk_padded(each * m * n));
}

/* Whether the machine code that was loaded uses Hopper's copy engine; whether these chunks fit a block. */
int hot_bulk_available(void);
int hot_bulk_fits_f64(const hot_bulk_args *args);
int hot_bulk_fits_f32(const hot_bulk_args *args);
hot_status hot_bulk_launch_f64(hot_context *context, const hot_bulk_args *args, void *stream);
hot_status hot_bulk_launch_f32(hot_context *context, const hot_bulk_args *args, void *stream);

/* Square items in rows up to HOT_DIRECT_SIZE, without the engine: units of 16 bytes per thread and operand, 1 or 2. */
enum { HOT_DIRECT_SIZE = 8 };
hot_status hot_bulk_direct_f64(hot_context *context, const hot_bulk_args *args, int units, void *stream);
hot_status hot_bulk_direct_f32(hot_context *context, const hot_bulk_args *args, int units, void *stream);

HOT_C_END
