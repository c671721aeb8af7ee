/* A call of the denoise family on a GPU: what it holds, and copies between the caller's memory, which may be pageable,
 * and the device, through a ring of pinned pieces. */
#pragma once

#include <string.h>

#include "common/arena.h"
#include "common/cuda_status.h"
#include "common/entry.h"
#include "common/pinned_memory.cuh"
#include "denoise/denoise.h"
#include "denoise_plan.cuh"
#include "heev/gpu/heev_device.h"

namespace {

enum { PIECES = 4 };
const size_t PIECE_BYTES = (size_t)2 << 20;

/* Pinned memory between the caller's and the device, a piece at a time. */
struct ring {
    cudaStream_t stream;
    char *pieces[PIECES];
    cudaEvent_t events[PIECES];
    /* of data on its way to the caller */
    char *to[PIECES];
    size_t bytes[PIECES];
    int next;
};

struct gpu {
    hot_context *context;
    const denoise_args *args;
    bool here;                   /* the caller's arrays are in device memory */
    denoise_plan plan;
    size_t plane, width;         /* voxels of a slice; floats of a voxel */
    size_t begin, end, first, last; /* of the whole volume: slices that the slab writes, and those in memory */
    char *slab, *batch;
    float *noise;
    int rows;                    /* of windows in a batch, at most */
    ring up, down;
    size_t uploaded;             /* slices in memory, counted from the slab's first */
    cudaStream_t stream;
    cudaEvent_t arrived, solved, done;
    int *listed;                 /* pinned */
    hot_heev_device *solver;
    size_t most;                 /* matrices that the solver takes at once */
    char *solver_memory;         /* what the next five point into */
    double *matrices, *values, *vectors;
    uint8_t *flags;
    void *working;
};

hot_status check(gpu *g, cudaError_t error, const char *what) { return hot_cuda_status(g->context, error, what); }

/* ---- Copies ------------------------------------------------------------------------------------------------- */

void copy(char *to, const char *from, size_t bytes, int threads)
{
    const size_t share = hot_arena_aligned((bytes + (size_t)threads - 1) / (size_t)threads);
#ifdef _OPENMP
#pragma omp parallel for num_threads(hot_team(threads)) schedule(static)
#endif
    for (int t = 0; t < threads; t++) {
        const size_t begin = share * (size_t)t, end = begin + share < bytes ? begin + share : bytes;
        if (begin < end)
            memcpy(to + begin, from + begin, end - begin);
    }
}

hot_status open_ring(gpu *g, ring *r)
{
    cudaError_t error = cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking);
    for (int k = 0; k < PIECES && error == cudaSuccess; k++) {
        error = cudaEventCreateWithFlags(&r->events[k], cudaEventDisableTiming);
        if (error == cudaSuccess)
            error = allocate_pinned((void **)&r->pieces[k], PIECE_BYTES);
    }
    return check(g, error, "memory for copies");
}

void close_ring(ring *r)
{
    if (r->stream) {
        cudaStreamSynchronize(r->stream);
        cudaStreamDestroy(r->stream);
    }
    for (int k = 0; k < PIECES; k++) {
        if (r->events[k])
            cudaEventDestroy(r->events[k]);
        free_pinned(r->pieces[k], PIECE_BYTES);
    }
}

hot_status upload(gpu *g, void *to, const void *from, size_t bytes)
{
    ring *r = &g->up;
    hot_status status = HOT_OK;
    for (size_t at = 0; at < bytes && status == HOT_OK; at += PIECE_BYTES) {
        const size_t size = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        const int k = r->next;
        r->next = (k + 1) % PIECES;
        status = check(g, cudaEventSynchronize(r->events[k]), "copying signals there"); /* at once the first time */
        if (status != HOT_OK)
            break;
        copy(r->pieces[k], (const char *)from + at, size, hot_context_threads(g->context));
        cudaError_t error = cudaMemcpyAsync((char *)to + at, r->pieces[k], size, cudaMemcpyHostToDevice, r->stream);
        if (error == cudaSuccess)
            error = cudaEventRecord(r->events[k], r->stream);
        status = check(g, error, "copying signals there");
    }
    return status;
}

/* Copies a piece's results to the caller. */
hot_status deliver(gpu *g, int k)
{
    ring *r = &g->down;
    if (!r->bytes[k])
        return HOT_OK;
    hot_status status = check(g, cudaEventSynchronize(r->events[k]), "copying results back");
    if (status == HOT_OK)
        copy(r->to[k], r->pieces[k], r->bytes[k], hot_context_threads(g->context));
    r->bytes[k] = 0;
    return status;
}

hot_status download(gpu *g, void *to, const void *from, size_t bytes)
{
    ring *r = &g->down;
    hot_status status = HOT_OK;
    for (size_t at = 0; at < bytes && status == HOT_OK; at += PIECE_BYTES) {
        const int k = r->next;
        r->next = (k + 1) % PIECES;
        status = deliver(g, k);
        if (status != HOT_OK)
            break;
        r->to[k] = (char *)to + at;
        r->bytes[k] = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        cudaError_t error =
            cudaMemcpyAsync(r->pieces[k], (const char *)from + at, r->bytes[k], cudaMemcpyDeviceToHost, r->stream);
        if (error == cudaSuccess)
            error = cudaEventRecord(r->events[k], r->stream);
        status = check(g, error, "copying results back");
    }
    return status;
}

} // namespace
