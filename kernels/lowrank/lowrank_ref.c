/* Best non-negative rank-k of packed tensors, the reference: double precision, alternating power steps alone, from many
 * random starts, run until nothing changes. Norm, rule, order and sides are written here anew, from what
 * hotfiber/lowrank.h promises; of the other backends it takes nothing. */
#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "common/flow.h"
#include "lowrank.h"

enum { STARTS = 24, SWEEPS = 20000 };

/* The options with the documented defaults. */
typedef struct rules {
    int order, max_rank, exact_rank;
    double drop, floor, min_weight, max_cos;
} rules;

static double meant(double option, double usual) { return option == 0 ? usual : option == HOT_ZERO ? 0 : option; }

static rules rules_of(const hot_lowrank_args *args)
{
    const hot_lowrank_options *o = args->options, none = {0};
    if (!o)
        o = &none;
    const int m = args->order;
    return (rules){.order = m,
                   .max_rank = o->max_rank > 0 ? o->max_rank : 3,
                   .exact_rank = o->exact_rank,
                   .drop = meant(o->drop, m == 4 ? 0.62 : m == 6 ? 0.76 : 0.91),
                   .floor = meant(o->floor, 1e-4),
                   .min_weight = meant(o->min_weight, 0.2),
                   .max_cos = cos(meant(o->min_angle, 25) * acos(-1) / 180)};
}

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
            double g[3], next[3], unused[3], shift = 0.5 * (f->w[i] + 0.02), reached;
            const double value = rest(order, a, f, k, i, f->v[i], g);
            do { /* the shift is large enough when the form does not fall */
                double length = 0;
                for (int d = 0; d < 3; d++)
                    next[d] = g[d] + shift * f->v[i][d], length += next[d] * next[d];
                for (int d = 0; d < 3; d++)
                    next[d] /= sqrt(length);
                reached = rest(order, a, f, k, i, next, unused);
                shift *= 2;
            } while (reached < value - 1e-14 && shift < 1e3);
            for (int d = 0; d < 3; d++) {
                moved = fmax(moved, fabs(next[d] - f->v[i][d]));
                f->v[i][d] = next[d];
            }
            const double w = fmax(reached, 0);
            moved = fmax(moved, fabs(w - f->w[i]));
            f->w[i] = w;
        }
        if (moved < 1e-9)
            break;
    }
    f->e = residual(order, a, f, k);
}

static int allowed(const rules *rule, const terms *f, int k)
{
    double low = f->w[0], high = f->w[0], near = 0;
    for (int i = 1; i < k; i++) {
        low = fmin(low, f->w[i]);
        high = fmax(high, f->w[i]);
        for (int j = 0; j < i; j++)
            near = fmax(near, fabs(dot(f->v[i], f->v[j])));
    }
    return near <= rule->max_cos && low >= rule->min_weight * high;
}

/* Returns the number of terms. */
static int find(const rules *rule, const double *a, terms *found)
{
    terms best[3] = {{.e = 0}};
    uint64_t state = 7;
    for (int k = 1; k <= rule->max_rank; k++) {
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
            alternate(rule->order, a, k, &f);
            if (f.e < best[k - 1].e)
                best[k - 1] = f;
        }
    }
    int chosen = rule->exact_rank ? rule->max_rank : 1;
    double norm = sqrt(best[0].e);
    for (int k = 2; k <= rule->max_rank && !rule->exact_rank; k++)
        if (norm > rule->floor && sqrt(best[k - 1].e) < rule->drop * norm && allowed(rule, &best[k - 1], k)) {
            chosen = k;
            norm = sqrt(best[k - 1].e);
        }
    if (!(best[0].w[0] > (rule->exact_rank ? 1e-6 : 1e-3)))
        chosen = 0;
    *found = best[chosen ? chosen - 1 : 0];
    return chosen;
}

/* ||A|| over all entries: that of x^a y^b z^c occurs m! / (a! b! c!) times. */
static double norm_of(int order, const float *tensor)
{
    double sum = 0;
    for (int rest = 0; rest <= order; rest++) /* xxxx xxxy xxxz xxyy ... */
        for (int z = 0; z <= rest; z++, tensor++)
            sum += tgamma(order + 1) / (tgamma(order - rest + 1) * tgamma(rest - z + 1) * tgamma(z + 1)) *
                   (double)*tensor * (double)*tensor;
    return sqrt(sum);
}

/* The terms that have a weight, the largest first, each on the side that is upward. */
static int put(const terms *f, int k, double norm, float *to)
{
    int used = 0, taken[3] = {0};
    for (; used < k; used++) {
        int next = -1;
        for (int i = 0; i < k; i++)
            if (!taken[i] && f->w[i] > 0 && (next < 0 || f->w[i] > f->w[next]))
                next = i;
        if (next < 0)
            break;
        const double *v = f->v[next];
        const int up = v[2] != 0 ? v[2] > 0 : v[1] != 0 ? v[1] > 0 : v[0] > 0;
        taken[next] = 1;
        for (int d = 0; d < 3; d++)
            to[3 * used + d] = (float)((up ? 1 : -1) * f->w[next] * norm * v[d]);
    }
    return used;
}

hot_status hot_lowrank_ref(hot_context *context, void *argument)
{
    const hot_lowrank_args *args = argument;
    const rules rule = rules_of(args);
    const int unique = (args->order + 1) * (args->order + 2) / 2;
    for (size_t item = 0; item < args->count; item++) {
        const float *tensor = args->tensors + item * args->stride;
        float *directions = args->directions + item * 3 * (size_t)rule.max_rank;
        double norm = args->mask && !args->mask[item] ? 0 : norm_of(args->order, tensor), a[LOWRANK_UNIQUE_MAX];
        const int usable = norm > 0 && isfinite(norm);
        terms f = {.e = 0};
        for (int i = 0; i < unique && usable; i++)
            a[i] = (double)tensor[i] / norm;
        const int k = usable ? find(&rule, a, &f) : 0;
        memset(directions, 0, 3 * (size_t)rule.max_rank * sizeof *directions);
        const int used = put(&f, k, norm, directions);
        if (args->found)
            args->found[item] = (uint8_t)(usable || norm == 0 ? used : 255);
        if (args->residual)
            args->residual[item] = usable ? (float)sqrt(f.e) : 0;
        HOT_TRY(hot_context_progress(context, "finding fibres", (double)(item + 1) / (double)args->count));
    }
    return HOT_OK;
}
