/* Fits to signals on the GPU. Each kernel does the fits of one number of fibres: a thread takes the next fit when its
 * own has ended, so that all threads are busy although some fits take three steps and some thirty. Results go through
 * memory to the next kernel. The arithmetic is that of the CPU (signal_step.h, signal_block.h, compiled with vf =
 * float). */
#include <math.h>
#include <string.h>
#include <type_traits>

#include "signal/gpu/signal_chunk.cuh"
#include "signal/signal_detail.h"

/* Threads of a block; fits that a thread has at least: the last ones of a kernel run with idle neighbours, which
 * matters where kernels of many other chunks wait. Of few voxels no kernel fills the GPU: a fit for each thread is
 * soonest done, and of blocks of a warp fewer share a multiprocessor. */
enum { THREADS = 128, FITS_EACH = 4, FITS_EACH_OF_MANY = 9, FEW = 1 << 13, THREADS_OF_FEW = 32 };
/* Blocks of a multiprocessor: 255 registers hold all sums of two and of three fibres. */
#define BLOCKS_OF(K) ((K) > 1 ? 2 : 4)

static_assert(sizeof(signal_fit) == SIGNAL_FIT_FLOATS * sizeof(float), "a fit is as long as said");

/* Where a fit begins: at a place of the start search, at the best of three fits, where the last one ended. */
typedef enum fit_from { FROM_PLACES, FROM_BEST, FROM_LAST } fit_from;

static __device__ void read_data(const signal_plan &plan, const signal_chunk &chunk, unsigned at, signal_data *data)
{
    const float inverse = 1 / chunk.memory.noise[at];
    data->y = chunk.memory.scaled + (size_t)at * plan.scheme.volumes;
    data->stride = 1;
    data->snr = chunk.snr[at] * inverse;
    data->y0 = signal_gaussian_offset(&plan.scheme, data->snr);
    data->weight0 = plan.learned.b0_volumes;
}

template <int K, fit_from FROM>
static __global__ void __launch_bounds__(THREADS, BLOCKS_OF(K))
    signal_fit_kernel(const __grid_constant__ signal_plan plan, const __grid_constant__ signal_chunk chunk,
                       unsigned *counter, int iterations, float tolerance)
{
    const int n = SIGNAL_UNKNOWNS(K), starts = FROM == FROM_PLACES && K > 1 ? SEPARATION_BINS : 1;
    const unsigned jobs = *chunk.used * starts;
    float H[SIGNAL_PACKED_OF(K)], G[SIGNAL_UNKNOWNS(K)]; /* of f; and of the trial */
    float trial_H[SIGNAL_PACKED_OF(K)], trial_G[SIGNAL_UNKNOWNS(K)];
    float step[SIGNAL_UNKNOWNS(K)], dampings[SIGNAL_UNKNOWNS(K)];
    float damping = 0;
    signal_fit f, trial;
    signal_data data;
    unsigned job = 0;
    int taken = -1; /* steps */
    bool busy = false, more = true;
    for (;;) {
        if (!busy && more) {
            job = atomicAdd(counter, 1u);
            more = busy = job < jobs;
            if (busy) {
                const unsigned at = job / starts;
                const signal_fit *kept = (const signal_fit *)chunk.memory.fits;
                kept += (size_t)at * SIGNAL_SLOTS + SIGNAL_SLOT(K);
                read_data(plan, chunk, at, &data);
                if (FROM == FROM_PLACES) {
                    signal_start(K, &plan, (const signal_start_points *)chunk.memory.places + at, job % starts, &trial);
                } else {
                    int best = 0;
                    for (int c = 1; FROM == FROM_BEST && c < SEPARATION_BINS; c++)
                        best = kept[c].q < kept[best].q ? c : best;
                    trial = kept[best];
                    trial.fan = trial.fan_told = 0; /* the evidence's: no registers for them here */
                    signal_no_more_fibers(K, &trial);
                }
                taken = -1;
            }
        }
        if (!__any_sync(~0u, busy))
            return;
        if (busy) { /* as signal_levenberg_marquardt of cpu/signal_batch.h */
            signal_evaluate_here(K, &plan.scheme, &plan.learned, &data, &trial, trial_H, trial_G);
            const bool begins = taken < 0;
            const float fall = f.q - trial.q;
            const bool better = begins || fall > 0;
            if (better) {
                asm volatile(""); /* else every element is chosen, and both matrices are read */
                f = trial;
                HOT_UNROLL
                for (int i = 0; i < SIGNAL_PACKED_OF(K); i++)
                    H[i] = trial_H[i];
                HOT_UNROLL
                for (int i = 0; i < n; i++)
                    G[i] = trial_G[i];
            }
            damping = begins ? 0.01f : vclamp(damping * (better ? 0.2f : 8.0f), 1e-5f, 1e5f);
            busy = begins || fall > tolerance || (fall <= 0 && damping < 1e3f);
            taken++;
            busy = busy && taken < iterations;
            if (busy) {
                float promise = 0;
                signal_dampings(K, &f, G, damping, dampings);
                signal_solve(n, H, G, dampings, SIGNAL_PIVOT, step);
                HOT_UNROLL
                for (int i = 0; i < n; i++)
                    promise -= step[i] * G[i];
                busy = promise > tolerance;
            }
            if (busy) {
                signal_move(K, &f, step, &trial);
            } else {
                const size_t at = job / starts;
                ((signal_fit *)chunk.memory.fits)[at * SIGNAL_SLOTS + SIGNAL_SLOT(K) + job % starts] = f;
                float *kept = chunk.memory.matrices + at * SIGNAL_MATRICES + SIGNAL_MATRIX(K);
                HOT_UNROLL
                for (int i = 0; i < SIGNAL_PACKED_OF(K) && starts == 1; i++)
                    kept[i] = H[i];
            }
        }
    }
}

/* FANS: whether the population has them; the kernel without needs fewer registers. */
template <int K, bool FANS>
static __global__ void __launch_bounds__(THREADS)
    signal_evidence_kernel(const __grid_constant__ signal_plan plan, const __grid_constant__ signal_chunk chunk)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= *chunk.used)
        return;
    float *matrix = chunk.memory.matrices + (size_t)at * SIGNAL_MATRICES + SIGNAL_MATRIX(K);
    float *cost = chunk.memory.cost + 4 * (size_t)at + K;
    signal_fit *fit = (signal_fit *)chunk.memory.fits + (size_t)at * SIGNAL_SLOTS + SIGNAL_SLOT(K), f = *fit;
    signal_data data;
    read_data(plan, chunk, at, &data);
    if (FANS && K > 0) { /* the matrix is read when the sums over the volumes have left the registers */
        *cost = signal_evidence(K, 1, &plan.scheme, &plan.learned, &data, &f, matrix);
        fit->chi = f.chi;
        fit->fan = f.fan;
        fit->fan_told = f.fan_told;
    } else { /* chi does not change, and both others are 0 from the start */
        float H[SIGNAL_PACKED_OF(K)];
        HOT_UNROLL
        for (int i = 0; i < SIGNAL_PACKED_OF(K); i++)
            H[i] = matrix[i];
        *cost = signal_evidence(K, 0, &plan.scheme, &plan.learned, &data, &f, H);
        HOT_UNROLL
        for (int i = 0; i < SIGNAL_UNKNOWNS(K); i++)
            matrix[SIGNAL_AT(i, i)] = H[SIGNAL_AT(i, i)];
    }
}

/* The matrices of exported fits: without the fans' amplitudes. */
template <int K>
static __global__ void __launch_bounds__(THREADS)
    signal_marginal_kernel(const __grid_constant__ signal_plan plan, const __grid_constant__ signal_chunk chunk)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= *chunk.used)
        return;
    float *matrix = chunk.memory.matrices + (size_t)at * SIGNAL_MATRICES + SIGNAL_MATRIX(K);
    const signal_fit f = ((const signal_fit *)chunk.memory.fits)[(size_t)at * SIGNAL_SLOTS + SIGNAL_SLOT(K)];
    signal_data data;
    read_data(plan, chunk, at, &data);
    signal_fan_marginal(K, &plan.scheme, &plan.learned, &data, &f, matrix);
}

static __device__ void read_fits(const signal_plan &plan, const signal_chunk &chunk, unsigned at, signal_fits *fits)
{
    const signal_fit *kept = (const signal_fit *)chunk.memory.fits + (size_t)at * SIGNAL_SLOTS;
    for (int k = 0; k < 4; k++) {
        fits->cost[k] = k <= plan.max_fibers ? chunk.memory.cost[4 * (size_t)at + k] : 1e30f;
        fits->fit[k] = kept[SIGNAL_SLOT(k)];
    }
    fits->noise = chunk.memory.noise[at];
}

/* The voxel's own noise. */
static __global__ void __launch_bounds__(THREADS)
    signal_noise_kernel(const __grid_constant__ signal_plan plan, const __grid_constant__ signal_chunk chunk)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= *chunk.used)
        return;
    signal_fits fits;
    read_fits(plan, chunk, at, &fits);
    chunk.memory.noise[at] = fits.noise * vsqrt(signal_own_noise(&plan, &fits));
}

static __global__ void __launch_bounds__(THREADS)
    signal_answer_kernel(const __grid_constant__ signal_plan plan, const __grid_constant__ signal_chunk chunk)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= *chunk.used)
        return;
    signal_fits fits;
    signal_result answer;
    read_fits(plan, chunk, at, &fits);
    signal_take_result(&fits, 0, &answer, 0);
    signal_write(&chunk.result, plan.max_fibers, plan.scheme.volumes, &answer, 0, chunk.list[at]);
}

/* All fits, with their variances. */
static __global__ void __launch_bounds__(THREADS)
    signal_detail_kernel(const __grid_constant__ signal_plan plan, const __grid_constant__ signal_chunk chunk)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= *chunk.used)
        return;
    signal_fits fits;
    read_fits(plan, chunk, at, &fits);
    for (int k = 0; k < 4; k++) {
        const float *matrix = chunk.memory.matrices + (size_t)at * SIGNAL_MATRICES + SIGNAL_MATRIX(k);
        signal_export_fit(k, plan.max_fibers, &fits, 0, matrix, &chunk.result.fits[4 * (size_t)chunk.list[at] + k]);
    }
}

/* ---- From the host ------------------------------------------------------------------------------------------ */

enum { KERNELS = 10 }; /* of fits */

void signal_divide(size_t count, size_t volumes, hot_arena *arena, signal_memory *memory)
{
    memory->scaled = hot_arena_array<float>(arena, count * volumes);
    memory->fits = hot_arena_array<signal_fit>(arena, count * SIGNAL_SLOTS);
    memory->places = hot_arena_array<signal_start_points>(arena, count);
    memory->matrices = hot_arena_array<float>(arena, count * SIGNAL_MATRICES);
    memory->cost = hot_arena_array<float>(arena, 4 * count);
    memory->noise = hot_arena_array<float>(arena, count);
    memory->counters = hot_arena_array<unsigned>(arena, KERNELS);
}

size_t signal_bytes(size_t volumes)
{
    return (volumes + SIGNAL_MATRICES + 5) * sizeof(float) + SIGNAL_SLOTS * sizeof(signal_fit) +
           sizeof(signal_start_points);
}

namespace {

struct launcher {
    const signal_plan *plan;
    const signal_chunk *chunk;
    int processors;
    cudaStream_t own;                /* the chunk's */
    const signal_branches *branches;
    cudaStream_t stream;             /* the current one */
    int kernels;                     /* of fits, so far */
    cudaError_t error;

    void keep(cudaError_t result) { error = error == cudaSuccess ? result : error; }
    unsigned threads() const { return chunk->count < FEW ? THREADS_OF_FEW : THREADS; }

    template <int K, fit_from FROM> void fits(int iterations, float tolerance)
    {
        const size_t starts = FROM == FROM_PLACES && K > 1 ? SEPARATION_BINS : 1;
        const size_t most = (size_t)processors * BLOCKS_OF(K) * (THREADS / threads());
        const size_t each = chunk->count < FEW ? 1 : chunk->many ? FITS_EACH_OF_MANY : FITS_EACH;
        const size_t wanted = chunk->count * starts / (threads() * each) + 1;
        if (error != cudaSuccess)
            return;
        signal_fit_kernel<K, FROM><<<(unsigned)(wanted < most ? wanted : most), threads(), 0, stream>>>(
            *plan, *chunk, chunk->memory.counters + kernels++, iterations, tolerance);
        error = cudaGetLastError();
    }

    void voxels(void (*kernel)(const signal_plan, const signal_chunk))
    {
        if (error != cudaSuccess)
            return;
        kernel<<<(unsigned)((chunk->count + threads() - 1) / threads()), threads(), 0, stream>>>(*plan, *chunk);
        error = cudaGetLastError();
    }

    template <int K> void evidence()
    {
        if constexpr (K > 0)
            voxels(plan->learned.fan > 0 ? signal_evidence_kernel<K, true> : signal_evidence_kernel<K, false>);
        else
            voxels(signal_evidence_kernel<0, false>);
    }

    template <int K> void first()
    {
        if constexpr (K < 2) {
            fits<K, FROM_PLACES>(K ? LM_MAX_ITER_K1 : LM_MAX_ITER_K0, SIGNAL_TOLERANCE_FIRST);
        } else {
            fits<K, FROM_PLACES>(LM_MAX_ITER_START, SIGNAL_TOLERANCE_START);
            fits<K, FROM_BEST>(LM_MAX_ITER_BEST, SIGNAL_TOLERANCE_FIRST);
        }
        evidence<K>();
    }

    template <int K> void again()
    {
        fits<K, FROM_LAST>(LM_MAX_ITER_REFIT, SIGNAL_TOLERANCE_LAST);
        evidence<K>();
    }

    template <int K> void marginal()
    {
        if constexpr (K > 0)
            voxels(signal_marginal_kernel<K>);
    }

    /* The next kernels are on the branch of so many fibres; the last are on the chunk's stream. */
    void branch(int fibers)
    {
        stream = branches && fibers < plan->max_fibers && fibers < SIGNAL_BRANCHES ? branches->stream[fibers] : own;
    }

    void part()
    {
        if (!branches)
            return;
        keep(cudaEventRecord(branches->apart, own));
        for (int i = 0; i < plan->max_fibers; i++)
            keep(cudaStreamWaitEvent(branches->stream[i], branches->apart, 0));
    }

    void meet()
    {
        for (int i = 0; branches && i < plan->max_fibers; i++) {
            keep(cudaEventRecord(branches->together[i], branches->stream[i]));
            keep(cudaStreamWaitEvent(own, branches->together[i], 0));
        }
        stream = own;
    }

    /* A step for each number of fibres. */
    template <typename step> void each(step does)
    {
        part();
        branch(0);
        does(std::integral_constant<int, 0>());
        branch(1);
        does(std::integral_constant<int, 1>());
        branch(2);
        if (plan->max_fibers > 1)
            does(std::integral_constant<int, 2>());
        branch(3);
        if (plan->max_fibers > 2)
            does(std::integral_constant<int, 3>());
        meet();
    }
};

} // namespace

cudaError_t signal_launch(const signal_plan *plan, const signal_chunk *chunk, int processors, cudaStream_t stream,
                          const signal_branches *branches)
{
    launcher start = {plan, chunk, processors, stream, branches, stream, 0, cudaSuccess};
    start.error = cudaMemsetAsync(chunk->memory.counters, 0, KERNELS * sizeof(unsigned), stream);
    start.keep(signal_launch_places(plan, chunk, stream));
    start.each([&](auto k) { start.first<decltype(k)::value>(); });
    start.voxels(signal_noise_kernel);
    start.keep(signal_launch_scale(plan, chunk, stream));
    start.each([&](auto k) { start.again<decltype(k)::value>(); });
    start.voxels(signal_answer_kernel);
    if (chunk->result.fits && plan->learned.fan > 0)
        start.each([&](auto k) { start.marginal<decltype(k)::value>(); });
    if (chunk->result.fits)
        start.voxels(signal_detail_kernel);
    return start.error;
}
