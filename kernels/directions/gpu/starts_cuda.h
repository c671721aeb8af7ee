/* Directions by many starts with everything already on the GPU: for the backend on host arrays and for benchmarks. */
#pragma once

#include "directions/directions_starts.h"
#include "sshopm/gpu/sshopm_cuda.h"

HOT_C_BEGIN

/* The data of a job's launches on a GPU. */
typedef struct hot_starts_tables {
    hot_sshopm_tables sshopm;
    double *wide; /* the starts of hot_starts_job */
    float *unit;
} hot_starts_tables;

hot_status hot_starts_tables_create(hot_context *context, const hot_starts_job *job, hot_starts_tables *tables);
void hot_starts_tables_destroy(hot_context *context, hot_starts_tables *tables);

/* Launches the tensors of `there` (the job's call with other tensors: every pointer on the current GPU) on `stream` (a
 * cudaStream_t). x (count x starts x 3) and iterations (count x starts) are memory for SS-HOPM's results. Returns when
 * launched. */
hot_status hot_starts_launch(hot_context *context, const hot_starts_job *job, const hot_directions_args *there,
                             const hot_starts_tables *tables, float *x, int32_t *iterations, void *stream);

HOT_C_END
