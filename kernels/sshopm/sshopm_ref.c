/* The reference: one iteration after the other in long double, by loops over the monomials of a table that is made by
 * counting all n^m index tuples. Shares nothing with the fast backends but the plan. */
#include <math.h>

#include "common/poll.h"
#include "symtensor/symtensor_ref.h"
#include "sshopm_args.h"

/* The table: for each unique value, its exponents and how many of the n^m tuples it represents. */
typedef struct monomials {
    int order, dim;
    size_t unique;
    double *times;
    int *exponent; /* unique x dim */
    hot_poll poll;
} monomials;

static hot_status make_monomials(hot_context *context, int order, int dim, size_t unique, monomials *table)
{
    *table = (monomials){order, dim, unique, NULL, NULL, {.context = context}};
    table->times = hot_context_calloc(context, unique, sizeof *table->times);
    table->exponent = hot_context_calloc(context, unique * (size_t)dim, sizeof *table->exponent);
    if (!table->times || !table->exponent)
        return HOT_ERROR_MEMORY;
    int tuple[HOT_ORDER_MAX] = {0};
    for (;;) {
        size_t place = hot_symtensor_place_ref(order, dim, tuple);
        if (table->times[place]++ == 0)
            for (int j = 0; j < order; j++)
                table->exponent[place * (size_t)dim + (size_t)tuple[j]]++;
        int at = order - 1;
        while (at >= 0 && tuple[at] == dim - 1)
            tuple[at--] = 0;
        if (at < 0)
            return HOT_OK;
        tuple[at]++;
        if (hot_poll_after(&table->poll, 1))
            return hot_context_check(context, "finding eigenpairs");
    }
}

/* x^k times the falling factors of `first` and `second` derivatives (-1 = none). */
static long double term_of(const int *exponent, int dim, const long double *x, int first, int second)
{
    long double term = 1;
    for (int d = 0; d < dim; d++) {
        int k = exponent[d];
        if (d == first)
            term *= k--;
        if (d == second)
            term *= k--;
        if (term == 0)
            return 0;
        for (; k > 0; k--)
            term *= x[d];
    }
    return term;
}

static void gradient_of(monomials *table, const long double *tensor, const long double *x, long double *g)
{
    for (int d = 0; d < table->dim; d++) {
        g[d] = 0;
        if (hot_poll_after(&table->poll, table->unique))
            continue;
        for (size_t i = 0; i < table->unique; i++)
            g[d] += tensor[i] * table->times[i] *
                    term_of(table->exponent + i * (size_t)table->dim, table->dim, x, d, -1) / table->order;
    }
}

static void hessian_of(monomials *table, const long double *tensor, const long double *x, long double *h)
{
    int n = table->dim;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            long double sum = 0;
            const size_t unique = hot_poll_after(&table->poll, table->unique) ? 0 : table->unique;
            for (size_t i = 0; i < unique; i++)
                sum += tensor[i] * table->times[i] * term_of(table->exponent + i * (size_t)n, n, x, a, b);
            h[a * n + b] = sum / ((long double)table->order * (table->order - 1));
        }
}

/* The smallest eigenvalue of a symmetric matrix by Jacobi's rotations. */
static long double min_eigenvalue(int n, long double *h)
{
    for (int sweep = 0; sweep < 60; sweep++) {
        long double off = 0, all = 0;
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                all += h[a * n + b] * h[a * n + b];
                off += a != b ? h[a * n + b] * h[a * n + b] : 0;
            }
        if (off <= 1e-34L * all)
            break;
        for (int a = 0; a < n; a++)
            for (int b = a + 1; b < n; b++) {
                if (h[a * n + b] == 0)
                    continue;
                long double angle = 0.5L * atan2l(2 * h[a * n + b], h[b * n + b] - h[a * n + a]);
                long double c = cosl(angle), s = sinl(angle);
                for (int k = 0; k < n; k++) {
                    long double p = h[a * n + k], q = h[b * n + k];
                    h[a * n + k] = c * p - s * q;
                    h[b * n + k] = s * p + c * q;
                }
                for (int k = 0; k < n; k++) {
                    long double p = h[k * n + a], q = h[k * n + b];
                    h[k * n + a] = c * p - s * q;
                    h[k * n + b] = s * p + c * q;
                }
            }
    }
    long double least = h[0];
    for (int a = 1; a < n; a++)
        least = h[a * n + a] < least ? h[a * n + a] : least;
    return least;
}

typedef struct result {
    long double lambda, residual, x[HOT_DIM_MAX];
    int iterations;
} result;

/* One start of one tensor; `tensor` has the sign of the search in it, `scale` is the largest |value| * multiplicity. */
static void iterate(const hot_sshopm_args *args, monomials *table, const long double *tensor, long double scale,
                    const long double *start, result *out)
{
    int n = table->dim;
    long double x[HOT_DIM_MAX], g[HOT_DIM_MAX], h[HOT_DIM_MAX * HOT_DIM_MAX], before = INFINITY;
    for (int d = 0; d < n; d++)
        x[d] = start[d];
    for (int k = 0;; k++) {
        gradient_of(table, tensor, x, g);
        long double lambda = 0, residual = 0;
        for (int d = 0; d < n; d++)
            lambda += g[d] * x[d];
        for (int d = 0; d < n; d++)
            residual += (g[d] - lambda * x[d]) * (g[d] - lambda * x[d]);
        residual = sqrtl(residual);
        int small = residual <= args->tolerance * scale;
        int done = args->exact ? 0 : small;
        if (args->change > 0) {
            long double least = fabsl(lambda) > 1 ? fabsl(lambda) : 1;
            small = done = fabsl(lambda - before) <= args->change * least;
        }
        before = lambda;
        if (done || k == args->max_iterations || table->poll.stopped) {
            out->lambda = args->sign * lambda;
            out->residual = residual;
            for (int d = 0; d < n; d++)
                out->x[d] = x[d];
            out->iterations = small ? k : -k;
            return;
        }
        long double alpha = args->alpha;
        if (args->shift == HOT_SHIFT_ADAPTIVE) {
            /* GEAP: the Hessian m (m-1) A x^(m-2) + m alpha I is made positive definite. */
            hessian_of(table, tensor, x, h);
            alpha = 1e-6L * scale / table->order - (table->order - 1) * min_eigenvalue(n, h);
            alpha = alpha > 0 ? alpha : 0;
        }
        long double norm = 0;
        for (int d = 0; d < n; d++) {
            g[d] += alpha * x[d];
            norm += g[d] * g[d];
        }
        if (norm > 0)
            for (int d = 0; d < n; d++)
                x[d] = g[d] / sqrtl(norm);
    }
}

static double value_at(const void *array, int f64, size_t at)
{
    return f64 ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static void put(void *array, int f64, size_t at, long double value)
{
    if (!array)
        return;
    if (f64)
        ((double *)array)[at] = (double)value;
    else
        ((float *)array)[at] = (float)value;
}

hot_status hot_sshopm_ref(hot_context *context, void *job)
{
    const hot_sshopm_args *args = job;
    size_t dim = (size_t)args->dim;
    monomials table;
    long double *tensor = NULL;
    hot_status status = make_monomials(context, args->order, args->dim, args->unique, &table);
    if (status != HOT_OK)
        goto cleanup;
    tensor = hot_context_alloc(context, args->unique, sizeof *tensor);
    if (!tensor) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t t = 0; t < args->count; t++) {
        long double scale = 0;
        int finite = 1;
        for (size_t i = 0; i < args->unique; i++) {
            double value = value_at(args->tensors, args->f64, t * args->stride + i);
            finite &= isfinite(value) != 0;
            tensor[i] = args->sign * (long double)value;
            scale = fmaxl(scale, fabsl(tensor[i]) * table.times[i]);
        }
        for (size_t s = 0; s < args->starts; s++) {
            size_t at = t * args->starts + s;
            long double start[HOT_DIM_MAX];
            result out = {.lambda = NAN, .residual = NAN};
            for (size_t d = 0; d < dim; d++) {
                start[d] = value_at(args->start, args->f64, s * dim + d);
                out.x[d] = NAN;
            }
            if (finite && !table.poll.stopped)
                iterate(args, &table, tensor, scale, start, &out);
            put(args->lambda, args->f64, at, out.lambda);
            put(args->residual, args->f64, at, out.residual);
            for (size_t d = 0; d < dim; d++)
                put(args->x, args->f64, at * dim + d, out.x[d]);
            if (args->iterations)
                args->iterations[at] = out.iterations;
        }
        if ((t % 64 == 0 || table.poll.stopped) &&
            (status = hot_context_progress(context, "finding eigenpairs", (double)t / (double)args->count)) != HOT_OK)
            goto cleanup;
    }
cleanup:
    hot_context_free(context, tensor);
    hot_context_free(context, table.times);
    hot_context_free(context, table.exponent);
    return status;
}
