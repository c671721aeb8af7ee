/* Steps of SS-HOPM on sums of powers, A = sum of w v^m, whose forms have a closed form in any order and dimension:
 * A x^(m-1) = sum of w (v.x)^(m-1) v and A x^(m-2) = sum of w (v.x)^(m-2) v v'. */
#include "sshopm_cases.h"

#include <float.h>

enum { TERMS = 3, STARTS = 37, WIDE = HOT_DIM_MAX };

typedef struct powers {
    int order, dim;
    double weight[TERMS], v[TERMS][WIDE];
} powers;

static powers random_powers(check_run *run, int order, int dim)
{
    powers sum = {.order = order, .dim = dim};
    for (int t = 0; t < TERMS; t++) {
        double norm = 0;
        sum.weight[t] = (t == 1 ? -1 : 1) * (0.3 + check_random(&run->seed));
        for (int d = 0; d < dim; d++)
            sum.v[t][d] = check_random_normal(&run->seed), norm += sum.v[t][d] * sum.v[t][d];
        for (int d = 0; d < dim; d++)
            sum.v[t][d] /= sqrt(norm);
    }
    return sum;
}

static double *packed(const powers *sum, size_t unique)
{
    double *tensor = calloc(unique, sizeof *tensor);
    int tuple[HOT_ORDER_MAX] = {0};
    for (size_t i = 0; i < unique; i++) {
        for (int t = 0; t < TERMS; t++) {
            double term = sum->weight[t];
            for (int j = 0; j < sum->order; j++)
                term *= sum->v[t][tuple[j]];
            tensor[i] += term;
        }
        int at = sum->order - 1;
        while (at >= 0 && tuple[at] == sum->dim - 1)
            at--;
        for (int j = at < 0 ? sum->order : sum->order - 1; j >= at && at >= 0; j--)
            tuple[j] = tuple[at] + 1;
    }
    return tensor;
}

/* The next x, of unit length, by the closed form. Returns a bound of the sum of absolute terms over the length. */
static double step(const powers *sum, hot_shift shift, double scale, const double *x, double *next)
{
    const int n = sum->dim, m = sum->order;
    double h[WIDE * WIDE] = {0}, alpha = 0, size = 0, mean = 0, squares = 0, norm = 0, absolute = 0;
    for (int d = 0; d < n; d++)
        next[d] = 0;
    for (int t = 0; t < TERMS; t++) {
        double along = 0, bound = 0;
        for (int d = 0; d < n; d++)
            along += sum->v[t][d] * x[d], bound += fabs(sum->v[t][d] * x[d]);
        size += fabs(sum->weight[t]) * pow(bound, m - 2);
        for (int d = 0; d < n; d++) {
            next[d] += sum->weight[t] * pow(along, m - 1) * sum->v[t][d];
            for (int e = 0; e < n; e++)
                h[d * n + e] += sum->weight[t] * pow(along, m - 2) * sum->v[t][d] * sum->v[t][e];
        }
    }
    if (shift == HOT_SHIFT_ADAPTIVE) { /* from Samuelson's bound: sshopm_step.h */
        for (int k = 0; k < n * n; k++) {
            mean += k % (n + 1) == 0 ? h[k] / n : 0;
            squares += h[k] * h[k] / n;
        }
        const double bound = mean - sqrt(fmax(0, squares - mean * mean) * (n - 1));
        alpha = fmax(0, 1e-6 * scale / m - bound * (m - 1));
        absolute = 2 * m * sqrt(n) * size; /* how the shift rounds */
    }
    for (int d = 0; d < n; d++)
        next[d] += alpha * x[d], norm += next[d] * next[d];
    for (int d = 0; d < n; d++)
        next[d] /= sqrt(norm);
    return (absolute + size) / sqrt(norm);
}

static void check_shape(check_run *run, int order, int dim, int f64, hot_shift shift)
{
    if (!check_begin(run, 1, "one step, closed form, order %d dim %d f%d, shift %d", order, dim, f64 ? 64 : 32,
                     (int)shift))
        return;
    problem p = {.order = order, .dim = dim, .f64 = f64, .count = 1, .starts = order * dim > 100 ? 3 : STARTS};
    p.unique = p.stride = hot_symtensor_count(order, dim);
    const powers sum = random_powers(run, order, dim);
    const size_t size = f64 ? sizeof(double) : sizeof(float);
    double *tensor = packed(&sum, p.unique), *times = malloc(p.unique * sizeof *times), start[STARTS * WIDE], scale = 0;
    hot_symtensor_multiplicity(order, dim, times);
    for (size_t i = 0; i < p.unique; i++)
        scale = fmax(scale, fabs(tensor[i]) * times[i]);
    hot_starts_random(check_random_bits(&run->seed), dim, p.starts, start);
    void *narrowed = narrow(tensor, p.unique, f64);
    p.tensors = check_input(run, narrowed, p.unique * size);
    free(narrowed);
    narrowed = narrow(start, p.starts * (size_t)dim, f64);
    p.start = check_input(run, narrowed, p.starts * (size_t)dim * size);
    free(narrowed);
    p.x = check_output(run, p.starts * (size_t)dim * size);
    const hot_sshopm_options options = {.size = sizeof options, .shift = shift, .tolerance = HOT_ZERO,
                                        .max_iterations = 1};
    if (check_call(run, call(run->context, &options, &p)))
        for (size_t s = 0; s < p.starts; s++) {
            double x[WIDE], next[WIDE], off = 0, along = 0;
            for (int d = 0; d < dim; d++)
                x[d] = at(&p, p.start, s * (size_t)dim + (size_t)d);
            const double slack = 8 * order * (f64 ? DBL_EPSILON : FLT_EPSILON) * step(&sum, shift, scale, x, next);
            for (int d = 0; d < dim; d++)
                along += at(&p, p.x, s * (size_t)dim + (size_t)d) * next[d];
            const double sign = order % 2 == 0 && along < 0 ? -1 : 1; /* arbitrary for even orders */
            for (int d = 0; d < dim; d++)
                off = fmax(off, fabs(sign * at(&p, p.x, s * (size_t)dim + (size_t)d) - next[d]));
            CHECK_ITEM(run, s, off <= slack, "x is off by %g, allowed %g", off, slack);
        }
    FREE(tensor, times);
    check_case_end(run);
}

void check_sshopm_closed(check_run *run)
{
    for (int order = 2; order <= 8; order++)
        for (int dim = 2; dim <= WIDE; dim++)
            for (int f64 = 0; f64 < 2; f64++) {
                check_shape(run, order, dim, f64, HOT_SHIFT_NONE);
                if (dim > 3) /* up to 3 the shift is closer to the eigenvalue */
                    check_shape(run, order, dim, f64, HOT_SHIFT_ADAPTIVE);
            }
    if (run->cuda) /* too large for it */
        return;
    /* too large to be unfolded */
    check_shape(run, 12, 11, 1, HOT_SHIFT_ADAPTIVE);
    check_shape(run, 11, 13, 0, HOT_SHIFT_NONE);
}
