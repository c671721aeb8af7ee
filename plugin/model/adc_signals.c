/* Least squares of the signals, sum (S_i / S0 - exp(-x_i c))^2, where a logarithm is not defined: noise leaves some
 * signals at or below zero. No sample is left out or moved, so noise without bias gives diffusivities without bias.
 *
 * Each round solves for c in weighted least squares with the responses and weights that have the gradient of that sum
 * at the present c. With m = max(exp(-x c), |S / S0|) in place of exp(-x c) (Fisher's scoring) a step in any x_i c is
 * at most 2 before the fit joins them, which keeps it from running away where the model is far below a signal. */
#include <math.h>
#include <string.h>

#include "adc_signals.h"
#include "common/entry.h"

enum { ROUNDS = 10, BATCH = 2048 };

/* The arrays of a batch's iterations: a row per voxel. */
typedef struct batch {
    const hot_plan *plan;
    size_t count;
    size_t *voxel;
    float *ratio; /* used: signals relative to S0 */
    float *y, *weight, *c; /* rows, rows, columns */
    float *floor;
    uint8_t *flags;
} batch;

/* Whether a voxel that is fitted has a signal of at most 0. */
static int is_low(const hot_plan *plan, const float *signals, float s0)
{
    int low = 0;
    for (size_t i = 0; i < plan->used_count; i++)
        low |= signals[plan->used[i]] <= 0;
    return low && s0 > 0;
}

/* Takes the next voxels with a signal of at most 0, from *next on. */
static void take(batch *b, size_t count, const float *signals, const float *s0, const float *values, size_t *next)
{
    const hot_plan *plan = b->plan;
    const size_t used = plan->used_count, terms = plan->terms;
    for (b->count = 0; *next < count && b->count < BATCH; ++*next) {
        const float *in = signals + *next * plan->volumes, *tensor = values + *next * (terms + 1) + 1;
        float *ratio = b->ratio + b->count * used, *c = b->c + b->count * plan->columns;
        if (!is_low(plan, in, s0[*next]))
            continue;
        for (size_t i = 0; i < used; i++)
            ratio[i] = (float)((double)in[plan->used[i]] / (double)s0[*next]);
        b->floor[b->count] = hot_plan_floor(used, ratio);
        memset(c, 0, plan->columns * sizeof *c);
        for (size_t a = 0; a < terms; a++) {
            double sum = 0;
            for (size_t t = 0; t < terms; t++)
                sum += plan->to_sh[a * terms + t] * (double)tensor[t];
            c[a] = (float)(sum * plan->b_max);
        }
        b->voxel[b->count++] = *next;
    }
}

/* Responses and weights of one voxel at its present coefficients. */
static void linearise(const batch *b, size_t n)
{
    const hot_plan *plan = b->plan;
    const size_t used = plan->used_count, rows = plan->rows, columns = plan->columns;
    const float *c = b->c + n * columns, *ratio = b->ratio + n * used;
    float *y = b->y + n * rows, *weight = b->weight + n * rows;
    const double highest = -log((double)b->floor[n]);
    for (size_t i = 0; i < used; i++) {
        const double *row = plan->design + i * columns;
        double x = 0;
        for (size_t a = 0; a < columns; a++)
            x += row[a] * (double)c[a];
        x = fmin(fmax(x, -2), 20);
        const double model = exp(-x), scale = fmax(model, fabs((double)ratio[i]));
        /* a signal of at most 0 would pull the prediction towards 0 without end: stop at the noise */
        const double to = fmin(x + (model - (double)ratio[i]) / scale, fmax(x, highest));
        y[i] = (float)to;
        weight[i] = (float)(model * scale);
    }
    for (size_t i = used; i < rows; i++) {
        y[i] = 0;
        weight[i] = 1;
    }
}

static hot_status solve(batch *b, float *next_c)
{
    const hot_plan *plan = b->plan;
    hot_context *context = plan->context;
    const size_t columns = plan->columns;
    hot_status status = HOT_OK;
    for (int round = 0; round < ROUNDS && status == HOT_OK; round++) {
#pragma omp parallel for num_threads(hot_team(b->count > 64 ? hot_context_threads(context) : 1)) schedule(static)
        for (size_t n = 0; n < b->count; n++)
            linearise(b, n);
        status = hot_fit_weighted_f32(context, plan->rows, columns, plan->design, b->count, b->y, b->weight, next_c,
                                      columns, b->flags);
        for (size_t n = 0; n < b->count && status == HOT_OK; n++)
            if (!b->flags[n])
                memcpy(b->c + n * columns, next_c + n * columns, columns * sizeof *next_c);
    }
    return status;
}

hot_status hot_adc_fit_signals(const hot_plan *plan, size_t count, const float *signals, const float *s0,
                               float *values)
{
    hot_context *context = plan->context;
    hot_status status = HOT_OK;
    const size_t used = plan->used_count, terms = plan->terms, most = count < BATCH ? count : BATCH;
    size_t next = 0;
    batch b = {.plan = plan};
    float *next_c = NULL;
    while (next < count && !is_low(plan, signals + next * plan->volumes, s0[next]))
        next++;
    if (next == count)
        return HOT_OK;
    b.voxel = hot_context_alloc(context, most, sizeof *b.voxel);
    b.ratio = hot_context_alloc(context, most, used * sizeof *b.ratio);
    b.y = hot_context_alloc(context, most, plan->rows * sizeof *b.y);
    b.weight = hot_context_alloc(context, most, plan->rows * sizeof *b.weight);
    b.c = hot_context_alloc(context, most, plan->columns * sizeof *b.c);
    next_c = hot_context_alloc(context, most, plan->columns * sizeof *next_c);
    b.floor = hot_context_alloc(context, most, sizeof *b.floor);
    b.flags = hot_context_alloc(context, most, 1);
    if (!b.voxel || !b.ratio || !b.y || !b.weight || !b.c || !next_c || !b.floor || !b.flags)
        status = HOT_ERROR_MEMORY;
    while (next < count && status == HOT_OK) {
        take(&b, count, signals, s0, values, &next);
        if (b.count > 0)
            status = solve(&b, next_c);
        for (size_t n = 0; n < b.count && status == HOT_OK; n++)
            for (size_t t = 0; t < terms; t++) {
                double sum = 0;
                for (size_t a = 0; a < terms; a++)
                    sum += plan->from_sh[t * terms + a] * (double)b.c[n * plan->columns + a];
                values[b.voxel[n] * (terms + 1) + 1 + t] = (float)(sum / plan->b_max);
            }
    }
    HOT_FREE(context, b.flags, b.floor, next_c, b.c, b.weight, b.y, b.ratio, b.voxel);
    return status;
}
