/* The data of a chunk's kernels, all in device memory. signal_cuda.cu makes it, and starts the fits of
 * signal_fits.cu. */
#pragma once

#include <cuda_runtime.h>

#include "common/arena.h"
#include "signal/signal_voxel.h"

/* Memory of the fits (signal_fits.cu), of the usable voxels. */
typedef struct signal_memory {
    float *scaled;      /* count x volumes: signals as the fits take them */
    void *fits, *places;
    float *matrices;    /* of the fits of all numbers of fibres */
    float *cost;        /* count x 4 */
    float *noise;       /* over the one given */
    unsigned *counters; /* of the fits that have been begun, one for each kernel */
} signal_memory;

/* The tables of the start search as its kernel reads them, 16 bytes at a time. */
enum { SIGNAL_SEARCH_VOXELS = 32 }; /* of a block */
typedef struct __align__(16) signal_place_pair {
    float inverse[3];  /* as in signal_grid */
    unsigned at;       /* SIGNAL_SEARCH_VOXELS x the first direction, and 65536 x the same of the second */
} signal_place_pair;
typedef struct signal_search {
    const float *filter; /* volumes x SIGNAL_GRID */
    const signal_place_pair *pairs[SEPARATION_BINS];
} signal_search;

typedef struct signal_chunk {
    size_t count;          /* voxels */
    int many;              /* whether the call has many chunks */
    const float *signals;  /* count x volumes */
    float *wide;           /* room for these where they came in 16 bits, or NULL */
    const float *sigma, *s0; /* count, or NULL */
    float one_sigma;
    const uint8_t *mask;   /* count, or NULL */
    const size_t *order;
    float *y;              /* count x diffusion-weighted volumes, in units of sigma */
    float *snr;
    unsigned *list;        /* usable voxels */
    unsigned *used;        /* how many */
    signal_search search;
    hot_signal_result result;
    signal_memory memory;
} signal_chunk;

/* The memory for up to `count` voxels of `volumes` diffusion-weighted volumes, out of an arena; bytes of a voxel. */
void signal_divide(size_t count, size_t volumes, hot_arena *arena, signal_memory *memory);
size_t signal_bytes(size_t volumes);
/* Streams for the fits of 0, 1 and 2 fibres beside those of three, which take longest and stay on the chunk's own; and
 * events. Of few voxels no kernel fills the GPU: what takes time is to wait for one kernel after the other. */
enum { SIGNAL_BRANCHES = 3 };
typedef struct signal_branches {
    cudaStream_t stream[SIGNAL_BRANCHES];
    cudaEvent_t apart, together[SIGNAL_BRANCHES];
} signal_branches;

/* Start the kernels of signal_start_points.cu: signals in units of the noise given, and where fits begin; signals in
 * units of memory.noise. */
cudaError_t signal_launch_places(const signal_plan *plan, const signal_chunk *chunk, cudaStream_t stream);
cudaError_t signal_launch_scale(const signal_plan *plan, const signal_chunk *chunk, cudaStream_t stream);
/* Starts the fits of a chunk whose usable voxels are listed. branches: NULL = all on the chunk's stream. */
cudaError_t signal_launch(const signal_plan *plan, const signal_chunk *chunk, int processors, cudaStream_t stream,
                          const signal_branches *branches);
