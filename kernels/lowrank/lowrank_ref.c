/* Best non-negative rank-k of packed tensors, the reference: double precision, alternating power steps alone, from many
 * random starts, run until nothing changes. */
#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "lowrank.h"

enum { STARTS = 24, SWEEPS = 20000 };

typedef struct terms {
    double v[3][3], w[3], e;
} terms;

static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The form of A less all terms but `except` at x, and its gradient / m. */
static double rest(int order, const double *a, const terms *f, int k, int except, const double *x, double *g)
{
    hot_symtensor_gradient_f64(order, 3, a, x, g);
    for (int j = 0; j < k; j++)
        if (j != except) {
            double c = f->w[j] * pow(dot(f->v[j], x), order - 1);
            for (int d = 0; d < 3; d++)
                g[d] -= c * f->v[j][d];
        }
    return dot(g, x);
}

/* ||A||^2 = 1, so the squared residual is 1 - 2 <A, B> + ||B||^2. */
static double residual(int order, const double *a, const terms *f, int k)
{
    double sum = 1;
    for (int i = 0; i < k; i++) {
        sum -= 2 * f->w[i] * hot_symtensor_value_f64(order, 3, a, f->v[i]);
        for (int j = 0; j < k; j++)
            sum += f->w[i] * f->w[j] * pow(dot(f->v[i], f->v[j]), order);
    }
    return fmax(sum, 0);
}

static void alternate(int order, const double *a, int k, terms *f)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double moved = 0;
        for (int i = 0; i < k; i++) {
            double g[3], next[3], length = 0;
            rest(order, a, f, k, i, f->v[i], g);
            for (int d = 0; d < 3; d++)
                next[d] = g[d] + 0.5 * (f->w[i] + 0.02) * f->v[i][d], length += next[d] * next[d];
            for (int d = 0; d < 3; d++) {
                next[d] /= sqrt(length);
                moved = fmax(moved, fabs(next[d] - f->v[i][d]));
                f->v[i][d] = next[d];
            }
            double w = fmax(rest(order, a, f, k, i, f->v[i], g), 0);
            moved = fmax(moved, fabs(w - f->w[i]));
            f->w[i] = w;
        }
        if (moved < 1e-9)
            break;
    }
    f->e = residual(order, a, f, k);
}

static int allowed(const lowrank_plan *plan, const terms *f, int k)
{
    double low = f->w[0], high = f->w[0], near = 0;
    for (int i = 1; i < k; i++) {
        low = fmin(low, f->w[i]);
        high = fmax(high, f->w[i]);
        for (int j = 0; j < i; j++)
            near = fmax(near, fabs(dot(f->v[i], f->v[j])));
    }
    return near <= plan->max_cos && low >= plan->min_ratio * high;
}

static void find(const lowrank_plan *plan, const double *a, lowrank_answer *answer)
{
    terms best[3] = {{.e = 0}};
    uint64_t state = 7;
    for (int k = 1; k <= plan->max_rank; k++) {
        best[k - 1].e = INFINITY;
        for (int s = 0; s < STARTS; s++) {
            terms f = {.e = 0};
            for (int i = 0; i < k; i++) {
                double length;
                do {
                    for (int d = 0; d < 3; d++)
                        f.v[i][d] = 2 * random_number(&state) - 1;
                    length = sqrt(dot(f.v[i], f.v[i]));
                } while (length > 1 || length < 0.1);
                for (int d = 0; d < 3; d++)
                    f.v[i][d] /= length;
                f.w[i] = 0.3;
            }
            alternate(plan->order, a, k, &f);
            if (f.e < best[k - 1].e)
                best[k - 1] = f;
        }
    }
    int chosen = plan->exact_rank ? plan->max_rank : 1;
    double norm = sqrt(best[0].e);
    for (int k = 2; k <= plan->max_rank && !plan->exact_rank; k++)
        if (norm > plan->floor && sqrt(best[k - 1].e) < plan->drop * norm && allowed(plan, &best[k - 1], k)) {
            chosen = k;
            norm = sqrt(best[k - 1].e);
        }
    if (!(best[0].w[0] > 1e-3))
        chosen = 0;
    memset(answer, 0, sizeof *answer);
    const terms *f = &best[chosen ? chosen - 1 : 0];
    answer->k[0] = chosen;
    answer->residual[0] = (float)sqrt(f->e);
    for (int i = 0; i < chosen; i++) {
        answer->w[i][0] = (float)f->w[i];
        for (int d = 0; d < 3; d++)
            answer->v[i][d][0] = (float)f->v[i][d];
    }
}

hot_status hot_lowrank_ref(hot_context *context, void *argument)
{
    const hot_lowrank_args *args = argument;
    const lowrank_plan *plan = args->plan;
    for (size_t item = 0; item < args->count; item++) {
        const float *tensor = args->tensors + item * args->stride;
        double norm = args->mask && !args->mask[item] ? 0 : hot_lowrank_norm(plan, tensor), a[LOWRANK_UNIQUE_MAX];
        lowrank_answer answer;
        if (!(norm > 0 && isfinite(norm))) {
            hot_lowrank_write_nothing(args, item, norm == 0 ? 0 : 255);
            continue;
        }
        for (int i = 0; i < plan->unique; i++)
            a[i] = (double)tensor[i] / norm;
        find(plan, a, &answer);
        hot_lowrank_write(args, &answer, 0, norm, item);
        hot_status status = hot_context_progress(context, "finding fibres", (double)(item + 1) / (double)args->count);
        if (status != HOT_OK)
            return status;
    }
    return HOT_OK;
}
