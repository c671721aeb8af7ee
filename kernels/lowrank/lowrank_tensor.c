/* hot_lowrank_f32: checks, plan, and the CPU backend. */
#include "lowrank_tensor.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "common/backend.h"
#include "common/context_internal.h"
#include "common/cpu.h"

enum { CHUNK = 4096, ALIGN = 64 };

/* Of noise spread over all unique values, what a further term can take with its three unknowns shrinks with the order:
 * best on phantoms at b = 3000 and SNR 20 to 30. */
static const double default_drop[3] = {0.62, 0.76, 0.91};

static const hot_backends backends = {
    .family = "lowrank", .reference = hot_lowrank_tensors_ref, .cpu = hot_lowrank_tensors_cpu,
    .cuda = HOT_CUDA_BACKEND(hot_lowrank_tensors_cuda)};

double hot_lowrank_norm(const lt_plan *plan, const float *tensor)
{
    double sum = 0;
    for (int i = 0; i < plan->unique; i++)
        sum += (double)plan->multiplicity[i] * (double)tensor[i] * (double)tensor[i];
    return sqrt(sum);
}

void hot_lowrank_write_nothing(const hot_lowrank_job *job, size_t item, uint8_t found)
{
    memset(job->directions + item * 3 * (size_t)job->plan->max_rank, 0,
           3 * (size_t)job->plan->max_rank * sizeof(float));
    if (job->found)
        job->found[item] = found;
    if (job->residual)
        job->residual[item] = 0;
}

void hot_lowrank_write(const hot_lowrank_job *job, const lt_answer *answer, int lane, double norm, size_t item)
{
    float v[3][3], w[3];
    hot_lowrank_write_nothing(job, item, 0);
    for (int i = 0; i < 3; i++) {
        w[i] = answer->w[i][lane];
        for (int d = 0; d < 3; d++)
            v[i][d] = answer->v[i][d][lane];
    }
    const int used = lt_place(answer->k[lane], v, w, norm, job->directions + item * 3 * (size_t)job->plan->max_rank);
    if (job->found)
        job->found[item] = (uint8_t)used;
    if (job->residual)
        job->residual[item] = answer->residual[lane];
}

static hot_status make_plan(hot_context *context, const hot_lowrank_options *given, int order, lt_plan *plan)
{
    hot_lowrank_options o = {.min_weight = -1, .min_angle = -1};
    memset(plan, 0, sizeof *plan);
    if (given) {
        if (given->size != sizeof o)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "hot_lowrank_options has size %zu, not %zu",
                                    given->size, sizeof o);
        o = *given;
    }
    if (order != 4 && order != 6 && order != 8)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "low rank needs tensors of order 4, 6 or 8, not %d",
                                order);
    if (o.max_rank < 0 || o.max_rank > 3)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a rank is 1 to 3, not %d", o.max_rank);
    if (!(o.drop >= 0 && o.drop <= 1) || !(o.floor >= 0 && o.floor <= 1) || !(o.min_weight <= 1) ||
        !(o.min_angle <= 90))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "drop %g, floor %g and weight %g are fractions, the angle %g at most 90", o.drop,
                                o.floor, o.min_weight, o.min_angle);
    plan->order = order;
    plan->unique = (order + 1) * (order + 2) / 2;
    plan->max_rank = o.max_rank ? o.max_rank : 3;
    plan->exact_rank = o.exact_rank != 0;
    plan->drop = (float)(o.drop > 0 ? o.drop : default_drop[order / 2 - 2]);
    plan->floor = (float)(o.floor > 0 ? o.floor : 1e-4);
    plan->min_ratio = (float)(o.min_weight >= 0 ? o.min_weight : 0.2);
    plan->max_cos = (float)cos((o.min_angle >= 0 ? o.min_angle : 25) * 0.017453292519943295);

    const size_t unique = (size_t)plan->unique, pairs_max = (size_t)LR_GRID * (LR_GRID - 1) / 2;
    int exponents[LT_UNIQUE_MAX * 3];
    double multiplicity[LT_UNIQUE_MAX];
    hot_status status = hot_symtensor_exponents(order, 3, exponents);
    if (status == HOT_OK)
        status = hot_symtensor_multiplicity(order, 3, multiplicity);
    if (status != HOT_OK)
        return status;
    plan->block_size = 3 * LR_GRID + (size_t)LR_GRID * LR_GRID + LR_GRID * unique + 5 * pairs_max * LR_CLASSES;
    plan->block = hot_context_calloc(context, plan->block_size, sizeof *plan->block);
    if (!plan->block)
        return HOT_ERROR_MEMORY;
    float *v = plan->block, *gram = v + 3 * LR_GRID, *filter = gram + LR_GRID * LR_GRID;
    float *next = filter + LR_GRID * unique;
    plan->grid.v = v, plan->grid.gram = gram, plan->grid.filter = filter;
    for (int c = 0; c < LR_CLASSES; c++) {
        plan->grid.pair_at[c] = (const int *)next, next += 2 * pairs_max;
        plan->grid.pair_inverse[c] = next, next += 3 * pairs_max;
    }
    hot_lowrank_fill_directions(v);
    for (int d = 0; d < LR_GRID; d++) {
        for (size_t i = 0; i < unique; i++) {
            double term = multiplicity[i];
            for (int a = 0; a < 3; a++)
                term *= pow(v[3 * d + a], exponents[3 * i + (size_t)a]);
            filter[(size_t)d * unique + i] = (float)term;
            plan->multiplicity[i] = (float)multiplicity[i];
        }
        for (int e = 0; e < LR_GRID; e++)
            gram[d * LR_GRID + e] = (float)pow((double)v[3 * d] * v[3 * e] + (double)v[3 * d + 1] * v[3 * e + 1] +
                                               (double)v[3 * d + 2] * v[3 * e + 2], order);
    }
    hot_lowrank_fill_pairs(&plan->grid);
    return HOT_OK;
}

hot_status hot_lowrank_tensors_cpu(hot_context *context, void *argument)
{
    const hot_lowrank_job *job = argument;
    const lt_plan *plan = job->plan;
    const int threads = hot_context_threads(context);
    int level = (int)hot_cpu_best(), limit = hot_context_cpu_limit(context), lanes = 4;
    hot_lowrank_tensor_fn *block = hot_lowrank_tensor_base;
    hot_status status = HOT_OK;
    level = level < limit ? level : limit;
#if defined(__x86_64__)
    if (level >= (int)HOT_CPU_AVX2)
        lanes = 8, block = hot_lowrank_tensor_avx2;
    if (level >= (int)HOT_CPU_AVX512)
        lanes = 16, block = hot_lowrank_tensor_avx512;
#endif
    size_t room_size = (size_t)(plan->unique + LR_GRID) * (size_t)lanes;
    room_size = (room_size + ALIGN - 1) / ALIGN * ALIGN;
    float *rooms = hot_context_alloc(context, room_size * (size_t)threads + ALIGN, sizeof *rooms);
    size_t *list = hot_context_alloc(context, CHUNK, sizeof *list);
    double *norms = hot_context_alloc(context, CHUNK, sizeof *norms);
    if (!rooms || !list || !norms) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    float *first_room = (float *)(((uintptr_t)rooms + ALIGN - 1) / ALIGN * ALIGN);
    for (size_t begin = 0; begin < job->count && status == HOT_OK; begin += CHUNK) {
        size_t end = job->count - begin < CHUNK ? job->count : begin + CHUNK, usable = 0;
        for (size_t item = begin; item < end; item++) {
            const float *tensor = job->tensors + item * job->stride;
            norms[usable] = job->skip && !job->skip[item] ? 0 : hot_lowrank_norm(plan, tensor);
            if (norms[usable] > 0 && isfinite(norms[usable]))
                list[usable++] = item;
            else
                hot_lowrank_write_nothing(job, item, norms[usable] == 0 ? 0 : 255);
        }
        const int blocks = (int)((usable + (size_t)lanes - 1) / (size_t)lanes);
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
        for (int b = 0; b < blocks; b++) {
            if (hot_context_cancelled(context))
                continue;
#ifdef _OPENMP
            float *room = first_room + room_size * (size_t)omp_get_thread_num();
#else
            float *room = first_room;
#endif
            size_t at = (size_t)b * (size_t)lanes;
            int used = usable - at < (size_t)lanes ? (int)(usable - at) : lanes;
            lt_answer answer;
            for (int lane = 0; lane < lanes; lane++) {
                size_t from = at + (size_t)(lane < used ? lane : 0);
                for (int i = 0; i < plan->unique; i++)
                    room[i * lanes + lane] =
                        (float)((double)job->tensors[list[from] * job->stride + (size_t)i] / norms[from]);
            }
            block(plan, room, room + plan->unique * lanes, &answer);
            for (int lane = 0; lane < used; lane++)
                hot_lowrank_write(job, &answer, lane, norms[at + (size_t)lane], list[at + (size_t)lane]);
        }
        status = hot_context_progress(context, "finding fibres", (double)end / (double)job->count);
    }
cleanup:
    hot_context_free(context, norms);
    hot_context_free(context, list);
    hot_context_free(context, rooms);
    return status;
}

hot_status hot_lowrank_f32(hot_context *context, const hot_lowrank_options *options, int order, size_t count,
                           const float *tensors, size_t stride, const uint8_t *skip, float *directions, uint8_t *found,
                           float *residual)
{
    if (!context)
        return HOT_ERROR_ARGUMENT;
    lt_plan plan;
    hot_status status = make_plan(context, options, order, &plan);
    if (status == HOT_OK && count > 0 && (!tensors || !directions || stride < (size_t)plan.unique))
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                  "low rank needs tensors of %d values (a stride of %zu is too small) and room for "
                                  "directions",
                                  plan.unique, stride);
    hot_lowrank_job job = {&plan, count, stride, tensors, skip, directions, found, residual};
    if (status == HOT_OK && count > 0)
        status = hot_backend_run(context, &backends, &job);
    hot_context_free(context, plan.block);
    return status;
}
