/* Contractions with everything already on the GPU: for the host-level backend, the tuner and the benchmarks. */
#ifndef HOT_CONTRACT_CUDA_H
#define HOT_CONTRACT_CUDA_H

#include "contract/contract_tuning.h"
#include "fem/fem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Launches a finished plan whose arrays are on the device. choice: NULL takes the plan's table or the built-in rule. */
hot_status hot_contract_launch(hot_context *context, const hot_contract_plan *plan, const hot_contract_choice *choice,
                               void *stream);

/* The same for a mass operator. `v` and `out` as in the job; the basis on the host (it travels with the launch). */
hot_status hot_fem_launch(hot_context *context, const hot_fem_call *call, void *stream);

/* ---- Between the files of the backend ---------------------------------------------------------------------------- */

/* Dense items of one shape (contract_bulk.cuh): arrays on the device, 16-byte aligned, one item behind the other. */
typedef struct hot_bulk_job {
    const void *a, *b;
    void *c;
    size_t items;
    double alpha, beta;
    unsigned m, n, k, a_row, a_sum, b_sum, b_column; /* strides within an item; C in rows */
    int per_chunk, stages, blocks; /* items per copy, copies in flight, blocks per multiprocessor (0: all) */
} hot_bulk_job;

/* Shared memory of a block: a line for the barriers, and per stage the three operands of a chunk, each with a line to
 * spare. */
enum { HOT_BULK_LINE = 128, HOT_BULK_MEMORY = 226 * 1024 };
HOT_FN size_t hot_bulk_room(size_t bytes)
{
    return (bytes + HOT_BULK_LINE - 1) / HOT_BULK_LINE * HOT_BULK_LINE + HOT_BULK_LINE;
}
HOT_FN size_t hot_bulk_bytes(const hot_bulk_job *job, size_t size)
{
    const size_t each = (size_t)job->per_chunk * size, m = job->m, n = job->n, k = job->k;
    return HOT_BULK_LINE +
        (size_t)job->stages * (hot_bulk_room(each * m * k) + hot_bulk_room(each * k * n) + hot_bulk_room(each * m * n));
}

/* Whether the machine code that was loaded has Hopper's copy engine in it; whether a job's chunks fit a block. */
int hot_bulk_available(void);
int hot_bulk_fits_f64(const hot_bulk_job *job);
int hot_bulk_fits_f32(const hot_bulk_job *job);
hot_status hot_bulk_launch_f64(hot_context *context, const hot_bulk_job *job, void *stream);
hot_status hot_bulk_launch_f32(hot_context *context, const hot_bulk_job *job, void *stream);

/* Square items in rows up to HOT_DIRECT_SIZE, without the engine: units of 16 bytes per thread and operand, 1 or 2. */
enum { HOT_DIRECT_SIZE = 8 };
hot_status hot_bulk_direct_f64(hot_context *context, const hot_bulk_job *job, int units, void *stream);
hot_status hot_bulk_direct_f32(hot_context *context, const hot_bulk_job *job, int units, void *stream);

/* Sizes with code of their own; HOT_ERROR_ARGUMENT (no message) for others. */
hot_status hot_fem_launch_f64(hot_context *context, const hot_fem_call *call, void *stream);
hot_status hot_fem_launch_f32(hot_context *context, const hot_fem_call *call, void *stream);

#ifdef __cplusplus
}
#endif
#endif
