/* Hermitian matrices on the GPU, stage by stage: reduction to tridiagonal form (in the registers of a block or of a
 * cluster of blocks, or by panels), eigenvalues by multisection, eigenvectors by twisted factorisations, their last
 * digits of orthogonality by a step of Newton and Schulz, and the reflections. Matrices with eigenvalues too close for
 * twisted factorisations go through implicit QL. All in double precision; single is rounded at both ends. */
#include "heev_device.h"

#include "heev_stages.cuh"
#include "heev_tridiagonal.cuh"
#include "heev_vectors.cuh"

struct hot_heev_device {
    int is_complex;
    heev_plan plan;
    char *base; /* one piece of device memory for everything */
};

enum { HEEV_BUSY = 132 * 1024 };  /* threads that keep a GPU busy: where there are fewer, several share an eigenvalue */

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

hot_status hot_heev_device_run(hot_context *context, hot_heev_device *device, size_t count, const void *matrices,
                               void *values, void *vectors, uint8_t *flags, void *on_stream)
{
    cudaStream_t stream = (cudaStream_t)on_stream;
    heev_plan plan = device->plan;
    plan.count = (int)count;
    if (count == 0)
        return HOT_OK;
    hot_status status = device->is_complex ? hot_heev_reduce_complex(context, &plan, matrices, stream)
                                           : hot_heev_reduce_real(context, &plan, matrices, stream);
    if (status == HOT_OK)
        status = launch_tridiagonal(context, &plan, stream);
    if (status == HOT_OK)
        status = device->is_complex ? hot_heev_backtransform_complex(context, &plan, values, vectors, flags, stream)
                                    : hot_heev_backtransform_real(context, &plan, values, vectors, flags, stream);
    return status == HOT_OK ? hot_cuda_status(context, cudaGetLastError(), "starting the eigensolver") : status;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void *cut(char *base, size_t *used, size_t bytes)
{
    void *piece = base ? base + *used : NULL;
    *used += (bytes + 255) / 256 * 256;
    return piece;
}

/* Bytes in all; with a base also where everything is. */
static size_t lay_out(int is_complex, size_t count, char *base, heev_plan *plan)
{
    const size_t n = (size_t)plan->n, ld = (size_t)plan->ld, number_bytes = (is_complex ? 2 : 1) * sizeof(double);
    size_t used = 0;
    plan->reflectors = cut(base, &used, count * ld * ld * number_bytes);
    plan->second = cut(base, &used, heev_needs_panels(plan) ? count * ld * ld * number_bytes : 0);
    plan->factors = cut(base, &used, plan->vectors ? count * ld * HEEV_WY * number_bytes : 0);
    plan->tau = cut(base, &used, count * ld * number_bytes);
    plan->d = (double *)cut(base, &used, count * n * sizeof(double));
    plan->e = (double *)cut(base, &used, count * n * sizeof(double));
    plan->lambda = (double *)cut(base, &used, count * n * sizeof(double));
    for (int k = 0; k < 2; k++)
        plan->z[k] = (double *)cut(base, &used, plan->vectors ? count * ld * ld * sizeof(double) : 0);
    plan->gram = (double *)cut(base, &used, plan->vectors ? count * ld * ld * sizeof(double) : 0);
    plan->apart = (unsigned long long *)cut(base, &used, count * sizeof *plan->apart);
    plan->exponent = (int *)cut(base, &used, count * sizeof(int));
    plan->state = (int *)cut(base, &used, count * sizeof(int));
    return used;
}

static heev_plan make_plan(int is_complex, size_t n, size_t kept, int f64, int vectors, size_t most)
{
    heev_plan plan = {};
    plan.n = (int)n;
    plan.kept = (int)kept;
    plan.ld = (plan.n + 31) / 32 * 32;
    plan.panel = n <= 256 ? 8 : HEEV_PANEL;
    plan.clusters = is_complex ? hot_heev_clusters_complex(plan.n) : hot_heev_clusters_real(plan.n);
    plan.lanes = 1;
    while (plan.lanes < 16 && 2 * (size_t)plan.lanes * n * most <= HEEV_BUSY)
        plan.lanes *= 2;
    plan.f64 = f64 != 0;
    plan.vectors = vectors != 0;
    return plan;
}

size_t hot_heev_device_bytes(int is_complex, size_t n, int vectors)
{
    heev_plan plan = make_plan(is_complex, n, n, 1, vectors, 1);
    return lay_out(is_complex, 16, NULL, &plan) / 16 + 1;
}

hot_status hot_heev_device_create(hot_context *context, int f64, int is_complex, size_t n, size_t kept, int vectors,
                                  size_t most, hot_heev_device **out)
{
    *out = NULL;
    hot_heev_device *device = (hot_heev_device *)hot_context_alloc(context, 1, sizeof *device);
    if (!device)
        return HOT_ERROR_MEMORY;
    device->is_complex = is_complex;
    device->plan = make_plan(is_complex, n, kept, f64, vectors, most);
    device->base = NULL;
    hot_status status = hot_cuda_status(
        context, cudaMalloc((void **)&device->base, lay_out(is_complex, most, NULL, &device->plan)),
        "memory for eigenproblems");
    if (status != HOT_OK) {
        hot_context_free(context, device);
        return status;
    }
    lay_out(is_complex, most, device->base, &device->plan);
    *out = device;
    return HOT_OK;
}

void hot_heev_device_destroy(hot_context *context, hot_heev_device **device)
{
    if (*device)
        cudaFree((*device)->base);
    hot_context_free(context, *device);
    *device = NULL;
}
