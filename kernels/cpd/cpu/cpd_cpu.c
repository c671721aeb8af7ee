/* Alternating least squares on the CPU. */
#include <math.h>
#include <string.h>

#include "common/flow.h"
#include "common/free.h"
#include "common/lapack.h"
#include "cpd_products.h"
#include "cpd_factors.h"

/* Everything of a running decomposition. Factors are kept twice: in double, where they are solved for, and in the
 * tensor's precision, as the products read them. Any two of lambda, f are what the report is about: f has unit
 * columns. */
typedef struct als {
    hot_cpd_args *args;
    hot_cpd_tensor tensor;
    size_t n[3], rank;
    double *f[3], *gram[3], *lambda;
    double *product, *before, *matrix, *kept; /* n x rank, twice; rank x rank, twice */
    double square;                            /* ||x||^2 */
    double inner;                             /* <x, approximation> as of the last update of the third factor */
    double *whole[3], *whole_lambda, fit;     /* f, lambda and the fit after the last whole iteration */
    int threads;
} als;

static hot_status als_create(hot_context *context, hot_cpd_args *args, als *s)
{
    size_t longest = 0;
    memset(s, 0, sizeof *s);
    s->args = args, s->rank = args->rank, s->threads = hot_context_threads(context);
    memcpy(s->n, args->n, sizeof s->n);
    hot_status status = hot_cpd_tensor_create(context, args->f64, args->n, args->rank, args->x, 0, &s->tensor);
    for (int m = 0; m < 3 && status == HOT_OK; m++) {
        longest = args->n[m] > longest ? args->n[m] : longest;
        s->f[m] = hot_context_alloc(context, args->n[m] * s->rank, sizeof **s->f);
        s->gram[m] = hot_context_alloc(context, s->rank * s->rank, sizeof **s->gram);
        s->whole[m] = hot_context_alloc(context, args->n[m] * s->rank, sizeof **s->whole);
        if (!s->f[m] || !s->gram[m] || !s->whole[m])
            status = HOT_ERROR_MEMORY;
    }
    s->whole_lambda = hot_context_alloc(context, s->rank, sizeof *s->whole_lambda);
    s->lambda = args->lambda;
    s->product = hot_context_alloc(context, longest * s->rank, sizeof *s->product);
    s->before = hot_context_alloc(context, longest * s->rank, sizeof *s->before);
    s->matrix = hot_context_alloc(context, s->rank * s->rank, sizeof *s->matrix);
    s->kept = hot_context_alloc(context, s->rank * s->rank, sizeof *s->kept);
    if (!s->product || !s->before || !s->matrix || !s->kept || !s->whole_lambda)
        status = HOT_ERROR_MEMORY;
    return status;
}

static void als_destroy(hot_context *context, als *s)
{
    hot_cpd_tensor_destroy(context, &s->tensor);
    for (int m = 0; m < 3; m++) {
        HOT_FREE(context, s->f[m], s->gram[m], s->whole[m]);
    }
    HOT_FREE(context, s->whole_lambda, s->product, s->before, s->matrix, s->kept);
}

/* f[mode] into the args's array, and its Gram matrix of what that array holds. */
static void publish(als *s, int mode)
{
    const size_t count = s->n[mode] * s->rank;
    if (s->args->f64)
        memcpy(s->args->factor[mode], s->f[mode], count * sizeof(double));
    for (size_t i = 0; i < count && !s->args->f64; i++) {
        ((float *)s->args->factor[mode])[i] = (float)s->f[mode][i];
        s->f[mode][i] = ((float *)s->args->factor[mode])[i];
    }
    hot_cpd_gram(s->n[mode], s->rank, s->f[mode], s->gram[mode], s->threads);
}

/* ---- The start --------------------------------------------------------------------------------------------------- */

static hot_status start_hosvd(hot_context *context, als *s, int mode, uint64_t *random)
{
    enum { ROUNDS = 4 }; /* of the subspace iteration: singular values count with the ninth power */
    hot_status status = HOT_OK;
    for (int round = 0; round < ROUNDS && status == HOT_OK; round++) {
        publish(s, mode);
        status = hot_cpd_unfold_twice(context, &s->tensor, mode, s->args->factor[mode], s->product);
        memcpy(s->f[mode], s->product, s->n[mode] * s->rank * sizeof *s->product);
        hot_cpd_orthonormalise(s->n[mode], s->rank, s->f[mode], random);
    }
    return status;
}

static hot_status start(hot_context *context, als *s)
{
    const hot_cpd_options *options = &s->args->options;
    uint64_t random = hot_cpd_seed(context);
    hot_status status = HOT_OK;
    for (int m = 0; m < 3 && status == HOT_OK; m++) {
        hot_cpd_first(s->args, m, &random, s->f[m]);
        if (options->start == HOT_CPD_HOSVD && s->square > 0)
            status = start_hosvd(context, s, m, &random);
        hot_cpd_first_end(s->args, m, s->f[m], s->product, s->args->lambda);
        publish(s, m);
    }
    /* Nothing yet: a weight of 1 would be the start's alone in a unit of the tensor's, and the first update, where it
     * is regularised or under f >= 0, would depend on that unit. */
    memset(s->lambda, 0, s->rank * sizeof *s->lambda);
    return status;
}

/* ---- One update -------------------------------------------------------------------------------------------------- */

/* A cancelled call does not change the factor. */
static hot_status update(hot_context *context, als *s, int mode, int fresh)
{
    const size_t n = s->n[mode], rank = s->rank, count = n * rank;
    const int one = mode == 0 ? 1 : 0, other = mode == 2 ? 1 : 2;
    /* Products are good to some units of their precision: what a weaker pivot would make of that is noise. */
    const double eps = s->args->f64 ? 1e-14 : 3e-7;
    const void *const factors[3] = {s->args->factor[0], s->args->factor[1], s->args->factor[2]};
    memcpy(s->before, s->f[mode], count * sizeof *s->before);
    hot_cpd_product(&s->tensor, mode, factors, fresh, s->product);
    HOT_TRY(hot_context_check(context, "CP decomposition"));
    hot_cpd_hadamard(rank, s->gram[one], s->gram[other], s->matrix);
    if (s->args->options.non_negative) {
        for (size_t r = 0; r < rank; r++)
            for (size_t i = 0; i < n; i++)
                s->f[mode][i + n * r] *= s->lambda[r];
        hot_cpd_solve_non_negative(n, rank, s->matrix, s->product, s->f[mode], s->threads);
    } else {
        const double added = hot_cpd_factorise(rank, s->matrix, s->kept, eps);
        s->args->report.regularised += added > 0;
        /* Towards where the factor was, not towards 0: the minimum stays where it is. */
        for (size_t r = 0; r < rank; r++)
            for (size_t i = 0; i < n; i++)
                s->f[mode][i + n * r] =
                    s->product[i + n * r] + (added > 0 ? added * s->lambda[r] * s->before[i + n * r] : 0);
        hot_cpd_solve(n, rank, s->matrix, s->f[mode], s->threads);
    }
    hot_cpd_normalise(n, rank, s->f[mode], s->before, s->lambda);
    publish(s, mode);
    if (mode == 2) {
        s->inner = 0;
        for (size_t r = 0; r < rank; r++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += s->product[i + n * r] * s->f[mode][i + n * r];
            s->inner += s->lambda[r] * sum;
        }
    }
    return HOT_OK;
}

/* 1 - ||x - approximation|| / ||x||, from norms and the inner product: what an iteration can have for nothing. Good to
 * about the square root of the precision of the products. */
static double cheap_fit(const als *s)
{
    double approximation = 0;
    for (size_t r = 0; r < s->rank; r++)
        for (size_t q = 0; q < s->rank; q++) {
            const size_t at = r * s->rank + q;
            approximation += s->lambda[r] * s->lambda[q] * s->gram[0][at] * s->gram[1][at] * s->gram[2][at];
        }
    const double rest = s->square - 2 * s->inner + approximation;
    return 1 - sqrt(rest > 0 ? rest : 0) / sqrt(s->square);
}

static void describe(als *s)
{
    hot_cpd_report *report = &s->args->report;
    const void *const factors[3] = {s->args->factor[0], s->args->factor[1], s->args->factor[2]};
    report->norm = sqrt(s->square);
    report->nulls = 0;
    report->congruence = 0;
    /* of the caller's result: terms that cancel can be so long that rounding of their weights matters */
    for (size_t r = 0; r < s->rank && !s->args->f64; r++)
        s->lambda[r] = (double)(float)s->lambda[r];
    for (size_t r = 0; r < s->rank; r++) {
        report->nulls += s->lambda[r] == 0;
        for (size_t q = 0; q < r; q++) {
            const size_t at = r * s->rank + q;
            const double cosine = fabs(s->gram[0][at] * s->gram[1][at] * s->gram[2][at]);
            if (s->lambda[r] > 0 && s->lambda[q] > 0)
                report->congruence = fmax(report->congruence, fmin(cosine, 1));
        }
    }
    report->fit = 1;
    if (s->square > 0) {
        const double residual = hot_cpd_residual(&s->tensor, s->lambda, factors, s->before);
        report->fit = hot_context_cancelled(s->tensor.context) ? s->fit : 1 - sqrt(residual / s->square);
    }
}

static void keep_whole(als *s)
{
    for (int m = 0; m < 3; m++)
        memcpy(s->whole[m], s->f[m], s->n[m] * s->rank * sizeof **s->f);
    memcpy(s->whole_lambda, s->lambda, s->rank * sizeof *s->lambda);
}

static void return_whole(als *s)
{
    for (int m = 0; m < 3; m++) {
        memcpy(s->f[m], s->whole[m], s->n[m] * s->rank * sizeof **s->f);
        publish(s, m);
    }
    memcpy(s->lambda, s->whole_lambda, s->rank * sizeof *s->lambda);
}

/* When cancelled, the terms are those after the last whole iteration, whose fit is known without another pass. */
static hot_status iterate(hot_context *context, als *s)
{
    const hot_cpd_options *options = &s->args->options;
    double last = -INFINITY;
    keep_whole(s);
    for (int iteration = 0; iteration < options->iterations; iteration++) {
        for (int mode = 0; mode < 3; mode++) {
            hot_status status = hot_context_progress(
                context, "CP decomposition", ((double)iteration + mode / 3.) / (double)options->iterations);
            if (status == HOT_OK)
                status = update(context, s, mode, mode == 0);
            if (status != HOT_OK) {
                return_whole(s);
                return status;
            }
        }
        keep_whole(s);
        s->fit = cheap_fit(s);
        s->args->report.iterations = iteration + 1;
        if (options->fits)
            options->fits[iteration] = s->fit;
        if (fabs(s->fit - last) < options->tolerance) {
            s->args->report.converged = 1;
            break;
        }
        last = s->fit;
    }
    return hot_context_progress(context, "CP decomposition", 1);
}

hot_status hot_cpd_cpu(hot_context *context, void *args_pointer)
{
    hot_cpd_args *args = args_pointer;
    als s;
    int finite = 1;
    hot_status status = als_create(context, args, &s);
    hot_lapack_single_begin();
    if (status == HOT_OK) {
        s.square = hot_cpd_square(&s.tensor, &finite);
        status = finite ? hot_context_check(context, "CP decomposition")
                        : hot_context_fail(context, HOT_ERROR_DATA, "the tensor holds NaN or Inf");
    }
    if (status == HOT_OK)
        status = start(context, &s);
    if (status == HOT_OK) {
        if (s.square > 0) {
            status = iterate(context, &s);
        } else { /* nothing to fit: every weight is 0 */
            memset(s.lambda, 0, s.rank * sizeof *s.lambda);
            args->report.converged = 1;
        }
        if (status == HOT_OK || status == HOT_ERROR_CANCELLED)
            describe(&s);
    }
    hot_lapack_single_end();
    als_destroy(context, &s);
    return status;
}

hot_status hot_mttkrp_cpu(hot_context *context, void *args_pointer)
{
    const hot_mttkrp_args *args = args_pointer;
    const size_t count = args->n[args->mode] * args->rank;
    hot_cpd_tensor tensor;
    double *wide = args->f64 ? args->out : hot_context_alloc(context, count, sizeof *wide);
    hot_status status =
        wide ? hot_cpd_tensor_create(context, args->f64, args->n, args->rank, args->x, 1, &tensor) : HOT_ERROR_MEMORY;
    if (wide && status == HOT_OK) {
        hot_lapack_single_begin();
        hot_cpd_product(&tensor, args->mode, args->factor, 1, wide);
        hot_lapack_single_end();
        for (size_t i = 0; i < count && !args->f64; i++)
            ((float *)args->out)[i] = (float)wide[i];
        status = hot_context_check(context, "multiplying");
    }
    if (wide)
        hot_cpd_tensor_destroy(context, &tensor);
    if (!args->f64)
        hot_context_free(context, wide);
    return status;
}
