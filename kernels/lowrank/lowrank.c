/* hot_lowrank_f32: checks, plan, and the CPU backend. */
#include "lowrank.h"

#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "common/cpu.h"
#include "common/entry.h"
#include "common/lane_blocks.h"
#include "common/options.h"

/* Of noise spread over all unique values, what a further term can take with its three unknowns shrinks with the order:
 * best on phantoms at b = 3000 and SNR 20 to 30. */
static const double default_drop[3] = {0.62, 0.76, 0.91};

static const hot_backends backends = {
    .family = "lowrank", .reference = hot_lowrank_ref, .cpu = hot_lowrank_cpu,
    .cuda = HOT_CUDA_BACKEND(hot_lowrank_cuda), 1};

double hot_lowrank_norm(const lowrank_plan *plan, const float *tensor)
{
    double sum = 0;
    for (int i = 0; i < plan->unique; i++)
        sum += (double)plan->multiplicity[i] * (double)tensor[i] * (double)tensor[i];
    return sqrt(sum);
}

void hot_lowrank_write_nothing(const hot_lowrank_args *args, size_t item, uint8_t found)
{
    memset(args->directions + item * 3 * (size_t)args->plan->max_rank, 0,
           3 * (size_t)args->plan->max_rank * sizeof(float));
    if (args->found)
        args->found[item] = found;
    if (args->residual)
        args->residual[item] = 0;
}

void hot_lowrank_write(const hot_lowrank_args *args, const lowrank_answer *answer, int lane, double norm, size_t item)
{
    float v[3][3], w[3];
    hot_lowrank_write_nothing(args, item, 0);
    for (int i = 0; i < 3; i++) {
        w[i] = answer->w[i][lane];
        for (int d = 0; d < 3; d++)
            v[i][d] = answer->v[i][d][lane];
    }
    const int used =
        lowrank_place(answer->k[lane], v, w, norm, args->directions + item * 3 * (size_t)args->plan->max_rank);
    if (args->found)
        args->found[item] = (uint8_t)used;
    if (args->residual)
        args->residual[item] = answer->residual[lane];
}

static hot_status make_plan(hot_context *context, const hot_lowrank_options *given, int order, lowrank_plan *plan)
{
    hot_lowrank_options o = {.size = sizeof o};
    memset(plan, 0, sizeof *plan);
    HOT_TRY(hot_options_read(context, "hot_lowrank_options", given, &o));
    if (order != 4 && order != 6 && order != 8)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "low rank needs tensors of order 4, 6 or 8, not %d",
                                order);
    if (o.max_rank < 0 || o.max_rank > 3)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "max_rank", "a rank is 1 to 3, not %d",
                                          o.max_rank);
    HOT_TRY(hot_option_choice(context, "exact_rank", o.exact_rank, 2));
    HOT_TRY(hot_option_number(context, "drop", default_drop[order / 2 - 2], 1, &o.drop));
    HOT_TRY(hot_option_number(context, "floor", 1e-4, 1, &o.floor));
    HOT_TRY(hot_option_number(context, "min_weight", 0.2, 1, &o.min_weight));
    HOT_TRY(hot_option_number(context, "min_angle", 25, 90, &o.min_angle));
    plan->order = order;
    plan->unique = (order + 1) * (order + 2) / 2;
    plan->max_rank = o.max_rank ? o.max_rank : 3;
    plan->exact_rank = o.exact_rank != 0;
    plan->drop = (float)o.drop;
    plan->floor = (float)o.floor;
    plan->min_ratio = (float)o.min_weight;
    plan->progress[0] = o.progress[0];
    plan->progress[1] = o.progress[0] == 0 && o.progress[1] == 0 ? 1 : o.progress[1];
    plan->max_cos = (float)cos(o.min_angle * 0.017453292519943295);

    const size_t unique = (size_t)plan->unique, pairs_max = (size_t)SIGNAL_GRID * (SIGNAL_GRID - 1) / 2;
    int exponents[LOWRANK_UNIQUE_MAX * 3];
    double multiplicity[LOWRANK_UNIQUE_MAX];
    HOT_TRY(hot_symtensor_exponents(order, 3, exponents));
    HOT_TRY(hot_symtensor_multiplicity(order, 3, multiplicity));
    plan->block_size =
        3 * SIGNAL_GRID + (size_t)SIGNAL_GRID * SIGNAL_GRID + SIGNAL_GRID * unique + 5 * pairs_max * SEPARATION_BINS;
    plan->block = hot_context_calloc(context, plan->block_size, sizeof *plan->block);
    if (!plan->block)
        return HOT_ERROR_MEMORY;
    float *v = plan->block, *gram = v + 3 * SIGNAL_GRID, *filter = gram + SIGNAL_GRID * SIGNAL_GRID;
    float *next = filter + SIGNAL_GRID * unique;
    plan->grid.v = v, plan->grid.gram = gram, plan->grid.filter = filter;
    for (int c = 0; c < SEPARATION_BINS; c++) {
        plan->grid.pair_at[c] = (const int *)next, next += 2 * pairs_max;
        plan->grid.pair_inverse[c] = next, next += 3 * pairs_max;
    }
    hot_signal_fill_directions(v);
    for (int d = 0; d < SIGNAL_GRID; d++) {
        for (size_t i = 0; i < unique; i++) {
            double term = multiplicity[i];
            for (int a = 0; a < 3; a++)
                term *= pow(v[3 * d + a], exponents[3 * i + (size_t)a]);
            filter[(size_t)d * unique + i] = (float)term;
            plan->multiplicity[i] = (float)multiplicity[i];
        }
        for (int e = 0; e < SIGNAL_GRID; e++)
            gram[d * SIGNAL_GRID + e] = (float)pow((double)v[3 * d] * v[3 * e] + (double)v[3 * d + 1] * v[3 * e + 1] +
                                                   (double)v[3 * d + 2] * v[3 * e + 2], order);
    }
    hot_signal_fill_pairs(&plan->grid);
    return HOT_OK;
}

typedef struct cpu_args {
    const hot_lowrank_args *args;
    hot_lowrank_fn *block;
    int lanes;
} cpu_args;

/* Usable tensors are those with a norm; it is kept. */
static int take_tensor(const void *cpu_pointer, size_t item, double *norm)
{
    const hot_lowrank_args *args = ((const cpu_args *)cpu_pointer)->args;
    *norm = args->mask && !args->mask[item] ? 0 : hot_lowrank_norm(args->plan, args->tensors + item * args->stride);
    if (*norm > 0 && isfinite(*norm))
        return 1;
    hot_lowrank_write_nothing(args, item, *norm == 0 ? 0 : 255);
    return 0;
}

/* Idle lanes repeat the first tensor. */
static void compute_block(const void *cpu_pointer, const size_t *items, const double *norms, int used, float *workspace)
{
    const cpu_args *cpu = cpu_pointer;
    const hot_lowrank_args *args = cpu->args;
    const int unique = args->plan->unique, lanes = cpu->lanes;
    lowrank_answer answer;
    for (int lane = 0; lane < lanes; lane++) {
        const int from = lane < used ? lane : 0;
        for (int i = 0; i < unique; i++)
            workspace[i * lanes + lane] =
                (float)((double)args->tensors[items[from] * args->stride + (size_t)i] / norms[from]);
    }
    cpu->block(args->plan, workspace, workspace + unique * lanes, &answer);
    for (int lane = 0; lane < used; lane++)
        hot_lowrank_write(args, &answer, lane, norms[lane], items[lane]);
}

static hot_status report(hot_context *context, const void *cpu_pointer, double fraction)
{
    const double *range = ((const cpu_args *)cpu_pointer)->args->plan->progress;
    return hot_context_progress(context, "finding fibres", range[0] + (range[1] - range[0]) * fraction);
}

hot_status hot_lowrank_cpu(hot_context *context, void *argument)
{
    const hot_lowrank_args *args = argument;
    const int lanes = 4 << (int)hot_context_cpu_level(context);
    const cpu_args cpu = {args, HOT_CPU_VARIANT(context, hot_lowrank), lanes};
    const hot_lane_blocks blocks = {.args = &cpu,
                                    .count = args->count,
                                    .lanes = lanes,
                                    .workspace = (size_t)(args->plan->unique + SIGNAL_GRID) * (size_t)lanes,
                                    .take = take_tensor,
                                    .compute = compute_block,
                                    .progress = report};
    return hot_lane_blocks_run(context, &blocks);
}

hot_status hot_lowrank_f32(hot_context *context, const hot_lowrank_options *options, int order, size_t count,
                           const float *tensors, size_t stride, const uint8_t *mask, float *directions, uint8_t *found,
                           float *residual)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (count > 0)
        HOT_NEED(context, tensors, directions);
    lowrank_plan plan;
    hot_status status = make_plan(context, options, order, &plan);
    if (status == HOT_OK && count > 0 && (!tensors || !directions || stride < (size_t)plan.unique))
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                  "low rank needs tensors of %d values (a stride of %zu is too small) and memory for "
                                  "directions",
                                  plan.unique, stride);
    hot_lowrank_args args = {&plan, count, stride, tensors, mask, directions, found, residual, order, options};
    if (status == HOT_OK && count > 0)
        status = hot_backend_run(context, &backends, &args);
    hot_context_free(context, plan.block);
    return status;
}
