/* Hermitian matrices on the GPU. Up to HEEV_TINY rows one kernel does everything, in the precision that is given.
 * Larger ones go stage by stage: reduction to tridiagonal form (in the registers of a block or of a
 * cluster of blocks, or by panels), eigenvalues by multisection, eigenvectors by twisted factorisations, their last
 * digits of orthogonality by a step of Newton and Schulz, and the reflections. Matrices with eigenvalues too close for
 * twisted factorisations go through implicit QL. All in double precision; single is rounded at both ends. */
#include "heev_device.h"

#include <algorithm>

#include "common/arena.h"
#include "heev_stages.cuh"
#include "heev_tridiagonal.cuh"
#include "heev_vectors.cuh"

struct hot_heev_device {
    hot_heev_problem problem;
    heev_plan plan; /* without count and arrays */
};

enum { HEEV_BUSY = 132 * 1024 };  /* threads that keep a GPU busy: with fewer, several share an eigenvalue */

static hot_status launch_tridiagonal(hot_context *context, const heev_plan *plan, cudaStream_t stream)
{
    const int n = plan->n, all = (n * plan->lanes + 31) / 32 * 32, threads = all < 256 ? all : 256;
    const unsigned count = (unsigned)plan->count;
    const size_t entries =
        (size_t)(n + TRIDIAG_GROUP - 1) / TRIDIAG_GROUP * TRIDIAG_GROUP * sizeof(tridiag_entry<double>);
    heev_values<<<dim3(count, (unsigned)((all + threads - 1) / threads)), (unsigned)threads, entries, stream>>>(*plan);
    if (!plan->vectors)
        return HOT_OK;
    const unsigned each = n <= 32 ? 32 : n <= 64 ? 64 : 128, tiles = (unsigned)((n + HEEV_TILE - 1) / HEEV_TILE);
    const unsigned all_tiles = count * tiles * tiles, parts = ((unsigned)n + each - 1) / each;
    const size_t ql = (4 * (size_t)n + 2) * sizeof(double);
    heev_twisted<<<count * parts, each, 2 * (size_t)n * sizeof(double), stream>>>(*plan);
    heev_gram<<<all_tiles, HEEV_TILE_THREADS, 0, stream>>>(*plan, 0);
    hot_status status = allow_shared_memory(context, heev_ql, ql);
    if (status == HOT_OK) {
        heev_ql<<<count, 256, ql, stream>>>(*plan);
        heev_newton_schulz<<<all_tiles, HEEV_TILE_THREADS, 0, stream>>>(*plan, 0);
        heev_gram<<<all_tiles, HEEV_TILE_THREADS, 0, stream>>>(*plan, 1);
        heev_newton_schulz<<<all_tiles, HEEV_TILE_THREADS, 0, stream>>>(*plan, 1);
    }
    return status;
}

/* The lower triangle of each matrix from its upper one. parts: 2 for complex numbers, whose conjugates these are. */
template <typename T> __global__ void turn(size_t count, size_t n, size_t parts, const T *from, T *to)
{
    const size_t square = n * n * parts;
    for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < count * square;
         at += gridDim.x * (size_t)blockDim.x) {
        const size_t part = at % parts, row = at / parts % n, column = at / parts / n % n;
        if (row >= column) {
            const T number = from[at / square * square + (row * n + column) * parts + part];
            to[at] = part ? -number : number;
        }
    }
}

static size_t entry_bytes(const hot_heev_problem *problem)
{
    return (problem->is_complex ? 2 : 1) * (problem->f64 ? sizeof(double) : sizeof(float));
}

/* Lower triangles of `count` matrices of which the upper ones are given. */
static void launch_turn(const hot_heev_problem *problem, size_t count, const void *matrices, void *turned,
                        cudaStream_t stream)
{
    const size_t n = problem->n, parts = problem->is_complex ? 2 : 1;
    const unsigned blocks = (unsigned)std::min((count * n * n * parts + 255) / 256, (size_t)65535);
    if (problem->f64)
        turn<<<blocks, 256, 0, stream>>>(count, n, parts, (const double *)matrices, (double *)turned);
    else
        turn<<<blocks, 256, 0, stream>>>(count, n, parts, (const float *)matrices, (float *)turned);
}

/* The arrays of the plan for `count` matrices; returns where triangles are turned, or NULL. */
static void *divide_memory(const hot_heev_problem *problem, size_t count, hot_arena *arena, heev_plan *plan)
{
    const int is_complex = problem->is_complex;
    if (plan->n <= HEEV_TINY)
        return NULL;
    const size_t n = (size_t)plan->n, ld = (size_t)plan->ld, number_bytes = (is_complex ? 2 : 1) * sizeof(double);
    const size_t square = count * ld * ld;
    plan->reflectors = hot_arena_alloc(arena, square * number_bytes);
    plan->second = hot_arena_alloc(arena, heev_needs_panels(plan) ? square * number_bytes : 0);
    plan->factors = hot_arena_alloc(arena, plan->vectors ? count * ld * HEEV_WY * number_bytes : 0);
    plan->tau = hot_arena_alloc(arena, count * ld * number_bytes);
    plan->d = hot_arena_array<double>(arena, count * n);
    plan->e = hot_arena_array<double>(arena, count * n);
    plan->lambda = hot_arena_array<double>(arena, count * n);
    for (int k = 0; k < 2; k++)
        plan->z[k] = hot_arena_array<double>(arena, plan->vectors ? square : 0);
    plan->gram = hot_arena_array<double>(arena, plan->vectors ? square : 0);
    plan->apart = hot_arena_array<unsigned long long>(arena, count);
    plan->exponent = hot_arena_array<int>(arena, count);
    plan->state = hot_arena_array<int>(arena, count);
    return hot_arena_alloc(arena, problem->upper ? count * n * n * entry_bytes(problem) : 0);
}

hot_status hot_heev_device_run(hot_context *context, const hot_heev_device *device, size_t count, const void *matrices,
                               void *values, void *vectors, uint8_t *flags, void *memory, void *on_stream)
{
    cudaStream_t stream = (cudaStream_t)on_stream;
    const hot_heev_problem *problem = &device->problem;
    heev_plan plan = device->plan;
    hot_arena arena = {(char *)memory, 0};
    plan.count = (int)count;
    void *turned = divide_memory(problem, count, &arena, &plan);
    hot_status status = HOT_OK;
    if (count == 0)
        return HOT_OK;
    if (plan.n <= HEEV_TINY) {
        (problem->is_complex ? hot_heev_tiny_complex : hot_heev_tiny_real)(&plan, problem->upper != 0, matrices, values,
                                                                          vectors, flags, stream);
    } else {
        if (problem->upper) {
            launch_turn(problem, count, matrices, turned, stream);
            matrices = turned;
        }
        status = (problem->is_complex ? hot_heev_reduce_complex : hot_heev_reduce_real)(context, &plan, matrices,
                                                                                        stream);
        if (status == HOT_OK)
            status = launch_tridiagonal(context, &plan, stream);
        if (status == HOT_OK)
            status = (problem->is_complex ? hot_heev_backtransform_complex : hot_heev_backtransform_real)(
                context, &plan, values, vectors, flags, stream);
    }
    return status == HOT_OK ? hot_cuda_status(context, cudaGetLastError(), "starting the eigensolver") : status;
}

static heev_plan make_plan(const hot_heev_problem *problem, size_t count)
{
    const size_t n = problem->n;
    heev_plan plan = {};
    plan.n = (int)n;
    plan.kept = (int)problem->kept;
    plan.ld = (plan.n + 31) / 32 * 32;
    plan.panel = n <= 256 ? 8 : HEEV_PANEL;
    plan.clusters = problem->is_complex ? hot_heev_clusters_complex(plan.n) : hot_heev_clusters_real(plan.n);
    plan.lanes = 1;
    while (plan.lanes < 16 && 2 * (size_t)plan.lanes * n * count <= HEEV_BUSY)
        plan.lanes *= 2;
    plan.f64 = problem->f64 != 0;
    plan.vectors = problem->vectors != 0;
    return plan;
}

size_t hot_heev_device_bytes(const hot_heev_problem *problem, size_t count)
{
    heev_plan plan = make_plan(problem, count);
    hot_arena arena = {NULL, 0};
    divide_memory(problem, count, &arena, &plan);
    return arena.used;
}

hot_status hot_heev_device_create(hot_context *context, const hot_heev_problem *problem, size_t count,
                                  hot_heev_device **out)
{
    hot_heev_device *device = *out = (hot_heev_device *)hot_context_alloc(context, 1, sizeof *device);
    if (!device)
        return HOT_ERROR_MEMORY;
    device->problem = *problem;
    device->plan = make_plan(problem, count);
    return HOT_OK;
}

void hot_heev_device_destroy(hot_context *context, hot_heev_device **device)
{
    hot_context_free(context, *device);
    *device = NULL;
}
