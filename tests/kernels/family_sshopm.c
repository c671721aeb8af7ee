/* SS-HOPM on every backend, shape and precision: single steps against the full sums, whole iterations against what they
 * claim (residual, lambda, unit length) and against the reference's limits. */
#include "sshopm_cases.h"

#include "common/context_internal.h"
#include "symtensor/symtensor_ref.h"

#include <float.h>
#include <hotfiber/heev.h>

static const int shapes[][2] = {{4, 3}, {6, 3}, {8, 3}, {2, 3}, {3, 2}, {3, 3}, {3, 4}, {3, 5}, {3, 6},
                                {4, 2}, {4, 4}, {4, 5}, {4, 6}, {5, 3}, {3, 7}, {7, 2}, {4, 1}, {4, 7},
                                {6, 4}, {5, 5}, {3, 8}, {4, 9}, {3, 12}, {3, 16}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Result `item` is what it claims to be: x of unit length, lambda = A x^m, the residual as said. */
static void check_claims(check_run *run, const problem *p, size_t item)
{
    double tensor[UNIQUE], eps = p->f64 ? DBL_EPSILON : FLT_EPSILON, length = 0;
    long double x[DIM], g[DIM], size[DIM], lambda = 0, residual = 0, magnitude = 0;
    tensor_of(p, item / p->starts, tensor);
    for (int d = 0; d < p->dim; d++) {
        x[d] = at(p, p->x, item * (size_t)p->dim + (size_t)d);
        length += (double)(x[d] * x[d]);
    }
    CHECK_ITEM(run, item, fabs(length - 1) <= 8 * eps, "|x|^2 - 1 is %g", length - 1);
    hot_symtensor_contract_ref(p->order, p->dim, 1, tensor, x, g, size);
    for (int d = 0; d < p->dim; d++) {
        lambda += g[d] * x[d];
        magnitude += size[d];
    }
    for (int d = 0; d < p->dim; d++)
        residual += (g[d] - lambda * x[d]) * (g[d] - lambda * x[d]);
    double slack = 8 * p->order * eps * (double)magnitude;
    CHECK_ITEM(run, item, fabs(at(p, p->lambda, item) - (double)lambda) <= slack, "lambda %.9g, not %.9Lg",
               at(p, p->lambda, item), lambda);
    CHECK_ITEM(run, item, fabs(at(p, p->residual, item) - (double)sqrtl(residual)) <= slack, "residual %g, not %Lg",
               at(p, p->residual, item), sqrtl(residual));
}

/* One step, exactly: x against normalise(+-(A s^(m-1) + alpha s)) by full sums. */
static void check_step(check_run *run, int order, int dim, int f64, size_t count, size_t starts, double alpha)
{
    if (!check_begin(run, count, "one step, order %d dim %d f%d, %zu starts, shift %g", order, dim, f64 ? 64 : 32,
                     starts, alpha))
        return;
    problem p = make_problem(run, order, dim, f64, count, starts);
    hot_sshopm_options options = {.size = sizeof options, .shift = alpha == 0 ? HOT_SHIFT_NONE : HOT_SHIFT_FIXED,
                                  .alpha = alpha, .tolerance = HOT_ZERO, .max_iterations = 1};
    if (check_call(run, call(run->context, &options, &p))) {
        check_written(run, &p);
        size_t results = count * starts, stride = results / (pow(dim, order) > 300 ? 12 : 60) + 1;
        double eps = f64 ? DBL_EPSILON : FLT_EPSILON, tensor[UNIQUE];
        for (size_t item = 0; item < results; item += stride) {
            long double s[DIM], y[DIM], size[DIM], norm = 0, length = 0, magnitude = fabs(alpha);
            tensor_of(&p, item / starts, tensor);
            for (int d = 0; d < dim; d++) {
                s[d] = at(&p, p.start, item % starts * (size_t)dim + (size_t)d);
                length += s[d] * s[d];
            }
            for (int d = 0; d < dim; d++)
                s[d] /= sqrtl(length);
            hot_symtensor_contract_ref(order, dim, 1, tensor, s, y, size);
            for (int d = 0; d < dim; d++) {
                y[d] = (alpha < 0 ? -1 : 1) * (y[d] + alpha * s[d]);
                norm += y[d] * y[d];
                magnitude += size[d];
            }
            double slack = 8 * order * eps * (double)(magnitude / sqrtl(norm)), off = 0, mirrored = 0;
            for (int d = 0; d < dim; d++) {
                double got = at(&p, p.x, item * (size_t)dim + (size_t)d), expected = (double)(y[d] / sqrtl(norm));
                off = fmax(off, fabs(got - expected));
                mirrored = fmax(mirrored, fabs(got + expected));
            }
            if (order % 2 == 0 && mirrored < off) /* x and -x are one */
                off = mirrored;
            CHECK_ITEM(run, item, off <= slack, "x is off by %g, allowed %g", off, slack);
            CHECK_ITEM(run, item, abs(p.iterations[item]) == 1, "%d iterations", p.iterations[item]);
            check_claims(run, &p, item);
        }
    }
    check_case_end(run);
}

/* Smallest eigenvalue and largest magnitude of one of a symmetric n x n matrix. */
static void extreme_eigenvalues(check_run *run, int n, const long double *matrix, double *least, double *largest)
{
    double narrow_matrix[DIM * DIM], values[DIM];
    for (int k = 0; k < n * n; k++)
        narrow_matrix[k] = (double)matrix[k];
    check_call(run, hot_syev_f64(run->reference, NULL, (size_t)n, 1, narrow_matrix, values, NULL, NULL));
    *least = values[0];
    *largest = fmax(fabs(values[0]), fabs(values[n - 1]));
}

/* The shift at a point with the Hessian h = A x^(m-2): as given, or no less than the adaptive one (sshopm_step.h). */
static double shift_at(const problem *p, const hot_sshopm_options *options, const long double *h, double least,
                       double scale)
{
    if (options->shift == HOT_SHIFT_FIXED)
        return fabs(options->alpha);
    const int n = p->dim;
    double mean = 0, squares = 0;
    for (int k = 0; k < n * n; k++) {
        mean += k % (n + 1) == 0 ? (double)h[k] / n : 0;
        squares += (double)(h[k] * h[k]) / n;
    }
    const double deviation = sqrt(fmax(0, squares - mean * mean));
    const double bound = n < 3 ? least : n == 3 ? least - 0.07 * deviation : mean - deviation * sqrt(n - 1);
    return fmax(0, 1e-6 * scale / p->order - bound * (p->order - 1));
}

/* Whether theory lets a start that has not converged be where it is. Steps are sure to climb where the shift alpha
 * makes A x^m + alpha (x.x)^(m/2) convex (Kolda, Mayo 2011). Near the limit each shrinks the error by the spectral
 * radius of the iteration's Jacobian there, max |(m-1) mu + alpha| / |lambda + alpha| over the eigenvalues mu of
 * A x^(m-2) across x; for order 2, the power method's ratio of eigenvalues. */
static int may_be_slow(check_run *run, const problem *p, size_t item, const hot_sshopm_options *options,
                       double tolerance)
{
    const int n = p->dim;
    double tensor[UNIQUE], least, largest, ignored;
    long double x[DIM], h[DIM * DIM], across[DIM * DIM], lambda = 0;
    tensor_of(p, item / p->starts, tensor);
    if (options->seek == HOT_MINIMA)
        for (size_t i = 0; i < p->unique; i++)
            tensor[i] = -tensor[i];
    for (int d = 0; d < n; d++)
        x[d] = at(p, p->x, item * (size_t)n + (size_t)d);
    hot_symtensor_contract_ref(p->order, n, 2, tensor, x, h, NULL);
    extreme_eigenvalues(run, n, h, &least, &ignored);
    const double alpha = shift_at(p, options, h, least, scale_of(p, tensor));
    if ((p->order - 1) * least + alpha < 0)
        return 1;
    /* ((m-1) H + alpha) between two projections across x */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            h[i * n + j] = h[i * n + j] * (p->order - 1) + (i == j ? alpha : 0);
            lambda += (h[i * n + j] - (i == j ? alpha : 0)) / (p->order - 1) * x[i] * x[j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            across[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++)
                    across[i * n + j] += ((i == k) - x[i] * x[k]) * h[k * n + l] * ((l == j) - x[l] * x[j]);
        }
    extreme_eigenvalues(run, n, across, &ignored, &largest);
    /* of 1000 steps a third may pass before the rate is that of the limit */
    return pow(largest / fabs((double)lambda + alpha), 667) > tolerance;
}

/* Whether a pair of tensor t is a saddle: whether the form curves upwards somewhere across x (downwards for minima). */
static int is_saddle(check_run *run, const problem *p, size_t t, const void *at_x, size_t item, hot_extremum seek)
{
    const int n = p->dim;
    double tensor[UNIQUE], least, ignored;
    long double x[DIM] = {0}, h[DIM * DIM], across[DIM * DIM], lambda = 0;
    tensor_of(p, t, tensor);
    for (int d = 0; d < n; d++)
        x[d] = at(p, at_x, item * (size_t)n + (size_t)d);
    hot_symtensor_contract_ref(p->order, n, 2, tensor, x, h, NULL);
    for (int k = 0; k < n * n; k++)
        lambda += h[k] * x[k / n] * x[k % n];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            across[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++)
                    across[i * n + j] += ((i == k) - x[i] * x[k]) * ((l == j) - x[l] * x[j]) *
                                         ((k == l) * lambda - (p->order - 1) * h[k * n + l]);
            across[i * n + j] *= seek == HOT_MINIMA ? -1 : 1;
        }
    extreme_eigenvalues(run, n, across, &least, &ignored); /* along x it is 0 */
    return least < -1e-4 * scale_of(p, tensor);
}

/* Whether the reference goes on from one end, to a much smaller residual, to the other, whose lambda is given. */
static int goes_on(check_run *run, const problem *p, size_t t, const void *at_x, size_t item, double lambda,
                   const hot_sshopm_options *options)
{
    const size_t size = p->f64 ? sizeof(double) : sizeof(float);
    double tensor[UNIQUE], out_lambda[1], out_x[DIM];
    problem one = *p;
    hot_sshopm_options further = *options;
    further.tolerance = HOT_ZERO, further.max_iterations = 600;
    one.count = one.starts = 1;
    one.tensors = (const char *)p->tensors + t * p->stride * size;
    one.start = (const char *)at_x + item * (size_t)p->dim * size;
    one.lambda = out_lambda, one.x = out_x, one.residual = NULL, one.iterations = NULL;
    tensor_of(p, t, tensor);
    return call(run->reference, &further, &one) == HOT_OK &&
        fabs(at(p, out_lambda, 0) - lambda) <= (p->f64 ? 1e-6 : 1e-3) * scale_of(p, tensor);
}

/* Limits that were compared with the reference's on a backend, and those that are others. */
static struct { size_t compared, elsewhere; } limits;

/* Iterated until the residual says stop: every claim holds, the residual meets the tolerance, and the limits are the
 * reference's. */
static void check_converged(check_run *run, int order, int dim, int f64, size_t count, size_t starts, hot_shift shift,
                            hot_extremum seek)
{
    if (!check_begin(run, count, "to convergence, order %d dim %d f%d, shift %d, seek %d", order, dim, f64 ? 64 : 32,
                     (int)shift, (int)seek))
        return;
    problem p = make_problem(run, order, dim, f64, count, starts);
    hot_sshopm_options options = {.size = sizeof options, .shift = shift, .seek = seek,
                                  .alpha = seek == HOT_MINIMA ? -2 : 2};
    /* A fixed shift crawls, and so does the bound that replaces the smallest eigenvalue in more dimensions. */
    double tolerance = f64 ? 1e-13 : 1e-6;
    if (shift == HOT_SHIFT_FIXED || dim > 3)
        options.tolerance = tolerance = f64 ? 1e-8 : 1e-5;
    size_t results = count * starts, stopped = 0, slow = 0, compared = 0, elsewhere = 0, saddles = 0;
    if (check_call(run, call(run->context, &options, &p))) {
        check_written(run, &p);
        double tensor[UNIQUE];
        size_t stride = results / (pow(dim, order) > 300 ? 12 : 60) + 1;
        for (size_t item = 0; item < results; item++) {
            if (item % stride == 0) {
                check_claims(run, &p, item);
                tensor_of(&p, item / starts, tensor);
                CHECK_ITEM(run, item, p.iterations[item] < 0 ||
                           at(&p, p.residual, item) <= tolerance * scale_of(&p, tensor) * 1.001,
                           "residual %g after %d iterations", at(&p, p.residual, item), p.iterations[item]);
            }
            if (p.iterations[item] < 0) {
                const int excused = may_be_slow(run, &p, item, &options, tolerance);
                slow += excused;
                stopped += !excused;
            }
        }
        /* a few starts spend their steps near a saddle */
        CHECK_ITEM(run, 0, stopped <= results / 20 + 1, "%zu of %zu did not converge", stopped, results);
        CHECK_ITEM(run, 0, slow <= results / 2, "%zu of %zu converge slowly", slow, results);
        /* The reference, on the first few tensors. */
        problem few = p;
        few.count = count < 2 ? count : 2;
        few.starts = starts < 8 ? starts : 8;
        few.lambda = malloc((few.count * few.starts + 1) * sizeof(double));
        few.x = malloc((few.count * few.starts * (size_t)dim + 1) * sizeof(double));
        few.residual = few.iterations = NULL;
        hot_sshopm_options brief = options;
        brief.max_iterations = 120;
        CHECK_ITEM(run, 0, call(run->reference, &brief, &few) == HOT_OK, "the reference failed");
        for (size_t slot = 0; slot < few.count * few.starts; slot++) {
            size_t item = slot / few.starts * starts + slot % few.starts;
            if (p.iterations[item] < 0 || p.iterations[item] > 100)
                continue;
            double off = fabs(at(&p, few.lambda, slot) - at(&p, p.lambda, item));
            tensor_of(&p, item / starts, tensor);
            compared++;
            if (off <= (f64 ? 1e-6 : 1e-3) * scale_of(&p, tensor))
                continue;
            /* A start that passes by a saddle or over a shoulder stops there if its residual becomes small enough. How
             * near it passes, and so whether it stops, rounding decides, for all starts of a tensor that come by
             * alike. CPU and reference round alike enough. The reference shifts by the smallest eigenvalue itself, so
             * that a start on the border of two limits may find either: see check_limits. */
            const size_t t = item / starts;
            const int beside = run->cuda &&
                (is_saddle(run, &p, t, p.x, item, seek) || is_saddle(run, &p, t, few.x, slot, seek) ||
                 goes_on(run, &p, t, p.x, item, at(&p, few.lambda, slot), &options) ||
                 goes_on(run, &p, t, few.x, slot, at(&p, p.lambda, item), &options));
            saddles += beside;
            elsewhere += !beside;
        }
        FREE(few.lambda, few.x);
        limits.compared += compared;
        limits.elsewhere += elsewhere;
        CHECK_ITEM(run, 0, elsewhere <= compared / 8 + 1, "%zu of %zu limits are not the reference's", elsewhere,
                   compared);
        CHECK_ITEM(run, 0, saddles <= compared / 2, "%zu of %zu limits are not final", saddles, compared);
    }
    check_case_end(run);
}

/* The shift makes every start end higher than it began, and nearly all converge; noise (every fourth tensor) is where
 * they would go round without one. */
static void check_climb(check_run *run, int order, size_t count, size_t starts)
{
    if (!check_begin(run, count, "adaptive shift climbs, order %d, %zu x %zu", order, count, starts))
        return;
    const problem p = make_problem(run, order, 3, 0, count, starts);
    const hot_sshopm_options options = {.size = sizeof options};
    if (check_call(run, call(run->context, &options, &p))) {
        check_written(run, &p);
        const size_t results = count * starts, stride = results / 400 + 1;
        size_t seen = 0, fell = 0, open = 0, rough = 0;
        double tensor[45];
        for (size_t item = 0; item < results; item += stride) {
            long double s[3], g[3], size[3], before = 0;
            tensor_of(&p, item / starts, tensor);
            for (int d = 0; d < 3; d++)
                s[d] = at(&p, p.start, item % starts * 3 + (size_t)d);
            hot_symtensor_contract_ref(order, 3, 1, tensor, s, g, size);
            for (int d = 0; d < 3; d++)
                before += g[d] * s[d];
            const double scale = scale_of(&p, tensor);
            seen++;
            check_claims(run, &p, item);
            fell += !(at(&p, p.lambda, item) >= (double)before - 1e-5 * scale);
            open += p.iterations[item] < 0;
            rough += p.iterations[item] >= 0 && !(at(&p, p.residual, item) <= 1.5e-6 * scale);
        }
        CHECK_ITEM(run, 0, fell <= seen / 200, "%zu of %zu starts end lower than they began", fell, seen);
        CHECK_ITEM(run, 0, open <= seen / 100, "%zu of %zu have not converged", open, seen);
        CHECK_ITEM(run, 0, rough <= seen / 200, "%zu of %zu residuals are above 1.5e-6 of the scale", rough, seen);
    }
    check_case_end(run);
}

/* NaN, Inf, zero, isotropic, rank 1, tiny and huge ones among ordinary tensors: flagged or solved, and the others' bits
 * are what they are without them. */
static void check_special(check_run *run, int order, int f64, hot_shift shift)
{
    enum { COUNT = 40, STARTS = 37 };
    if (!check_begin(run, COUNT, "special tensors, order %d f%d, shift %d", order, f64 ? 64 : 32, (int)shift))
        return;
    problem p = make_problem(run, order, 3, f64, COUNT, STARTS);
    problem q = p;
    size_t size = f64 ? sizeof(double) : sizeof(float), bytes = COUNT * p.stride * size;
    void *copy = malloc(bytes);
    memcpy(copy, p.tensors, bytes);
    int exponents[135];
    hot_symtensor_exponents(order, 3, exponents);
    const double v[3] = {M_SQRT1_2, 0, M_SQRT1_2};
    double times[45];
    hot_symtensor_multiplicity(order, 3, times);
    for (size_t t = 1; t < COUNT; t += 4)
        for (size_t i = 0; i < p.unique; i++) {
            const int *k = exponents + 3 * i;
            double even = k[0] % 2 == 0 && k[1] % 2 == 0 && k[2] % 2 == 0;
            double half =
                even ? tgamma(order / 2 + 1) / tgamma(k[0] / 2 + 1) / tgamma(k[1] / 2 + 1) / tgamma(k[2] / 2 + 1) : 0;
            double rank1 = pow(v[0], k[0]) * pow(v[1], k[1]) * pow(v[2], k[2]);
            const double values[10] = {i == p.unique - 1 ? NAN : 1, i == 0 ? INFINITY : 0, 0, half / times[i], rank1,
                                       1e-30 * rank1, 1e30 * rank1, (f64 ? 1e-300 : 1e-40) * rank1,
                                       (f64 ? 1e300 : 1e37) * rank1, -rank1};
            double value = values[t / 4];
            if (f64)
                ((double *)copy)[t * p.stride + i] = value;
            else
                ((float *)copy)[t * p.stride + i] = (float)value;
        }
    q.tensors = check_input(run, copy, bytes);
    free(copy);
    size_t results = COUNT * STARTS;
    q.lambda = check_output(run, results * size);
    q.x = check_output(run, results * 3 * size);
    q.residual = check_output(run, results * size);
    q.iterations = check_output(run, results * sizeof(int32_t));
    hot_sshopm_options options = {.size = sizeof options, .shift = shift};
    if (check_call(run, call(run->context, &options, &p)) && check_call(run, call(run->context, &options, &q))) {
        for (size_t item = 0; item < results; item++) {
            size_t t = item / STARTS;
            double lambda = at(&q, q.lambda, item);
            if (t % 4 != 1) {
                int same = memcmp((char *)p.lambda + item * size, (char *)q.lambda + item * size, size) == 0 &&
                           memcmp((char *)p.x + 3 * item * size, (char *)q.x + 3 * item * size, 3 * size) == 0;
                CHECK_ITEM(run, item, same, "a neighbour of a special tensor changed");
                continue;
            }
            switch (t / 4) {
            case 0:
            case 1:
                CHECK_ITEM(run, item,
                           isnan(lambda) && isnan(at(&q, q.x, 3 * item)) && isnan(at(&q, q.residual, item)) &&
                               q.iterations[item] == 0,
                           "NaN or Inf: lambda %g, %d iterations", lambda, q.iterations[item]);
                break;
            case 2:
                CHECK_ITEM(run, item, lambda == 0 && q.iterations[item] == 0 &&
                           fabs(at(&q, q.x, 3 * item) - at(&q, q.start, item % STARTS * 3)) < 1e-6, "zero: %g", lambda);
                break;
            case 3:
                CHECK_ITEM(run, item, fabs(lambda - 1) <= 1e-5, "isotropic: %g", lambda);
                break;
            default: {
                const double sizes[6] = {1, 1e-30, 1e30, f64 ? 1e-300 : 1e-40, f64 ? 1e300 : 1e37, -1};
                double unit = sizes[t / 4 - 4], ratio = lambda / unit;
                /* 1, or nearly 0 if the start is in the flat around the equator; 1e-40 has 4 digits left */
                double best =
                    unit < 0 && shift != HOT_SHIFT_NONE ? 0 : 1; /* without a shift -A's maxima are limits too */
                CHECK_ITEM(run, item, fabs(ratio - best) <= 2e-3 || fabs(ratio) <= 2e-3, "rank 1: %g of %g", lambda,
                           unit);
            }
            }
        }
    }
    check_case_end(run);
}

/* One thread and many, each output alone, starts that are not unit, the stop on lambda. */
static void check_options(check_run *run)
{
    if (!check_begin(run, 50, "options"))
        return;
    problem p = make_problem(run, 4, 3, 0, 50, 130), q = p;
    size_t results = 50 * 130;
    hot_sshopm_options options = {.size = sizeof options};
    q.lambda = check_output(run, results * 4);
    q.x = check_output(run, results * 12);
    q.residual = NULL;
    q.iterations = NULL;
    double *longer = malloc(130 * 3 * sizeof *longer);
    for (size_t i = 0; i < 130 * 3; i++)
        longer[i] = 4 * at(&p, p.start, i); /* a power of two: the same unit vectors to the last bit */
    void *narrowed = narrow(longer, 130 * 3, 0);
    q.start = check_input(run, narrowed, 130 * 12);
    FREE(narrowed, longer);
    if (!run->cuda) {
        hot_context_options settings = {.size = sizeof settings, .threads = 1, .device = HOT_DEVICE_CPU};
        hot_context *one = NULL;
        CHECK_ITEM(run, 0, hot_context_create(&settings, &one) == HOT_OK, "context");
        /* the same instruction set: the variant's own bits are compared */
        hot_context_set_cpu_limit(one, hot_context_cpu_limit(run->context));
        check_call(run, call(run->context, &options, &p));
        CHECK_ITEM(run, 0, call(one, &options, &q) == HOT_OK, "one thread");
        hot_context_destroy(&one);
    } else {
        check_call(run, call(run->context, &options, &p));
        check_call(run, call(run->context, &options, &q));
    }
    for (size_t item = 0; item < results; item++)
        CHECK_ITEM(run, item, at(&p, p.lambda, item) == at(&q, q.lambda, item) &&
                   at(&p, p.x, 3 * item) == at(&q, q.x, 3 * item), "threads, scaled starts or missing outputs matter");
    /* Stop on the change of lambda: fewer iterations than to the residual, lambda nearly as good. */
    options.change = 1e-4;
    q.iterations = check_output(run, results * 4);
    check_call(run, call(run->context, &options, &q));
    double earlier = 0;
    for (size_t item = 0; item < results; item++)
        earlier += abs(p.iterations[item]) - abs(q.iterations[item]);
    CHECK_ITEM(run, 0, earlier > 0, "stopping on lambda takes %g iterations more", -earlier);
    /* A wrong argument is an error with a message. */
    float zero[3] = {0};
    CHECK_ITEM(run, 0, hot_sshopm_f32(run->context, NULL, 4, 3, 1, p.tensors, 15, 1, zero, NULL, NULL, NULL, NULL) ==
               HOT_ERROR_ARGUMENT, "a zero start");
    CHECK_ITEM(run, 0, hot_sshopm_f32(run->context, NULL, 17, 3, 1, p.tensors, 15, 1, zero, NULL, NULL, NULL, NULL) ==
               HOT_ERROR_ARGUMENT, "order 17");
    CHECK_ITEM(run, 0, hot_sshopm_f32(run->context, NULL, 4, 3, 1, p.tensors, 14, 1, zero, NULL, NULL, NULL, NULL) ==
               HOT_ERROR_ARGUMENT, "stride 14");
    CHECK_ITEM(run, 0,
               run->device ||
               hot_sshopm_f32(run->context, NULL, 4, 3, SIZE_MAX / 8, p.tensors, 15, SIZE_MAX / 8, p.start, NULL, NULL,
                              NULL, NULL) == HOT_ERROR_MEMORY,
               "sizes that overflow");
    check_case_end(run);
}

/* A start among many takes the steps that it takes alone; steps from where a tensor gives no direction stay there. */
static void check_alone(check_run *run)
{
    enum { COUNT = 3, STARTS = 40 };
    if (run->cuda || !check_wanted(run, "alone"))
        return;
    check_case_begin(run, "alone", COUNT);
    problem p = make_problem(run, 4, 3, 0, COUNT, STARTS), one = p;
    hot_sshopm_options options = {.size = sizeof options};
    double different = 0;
    check_call(run, call(run->context, &options, &p));
    one.starts = 1;
    for (size_t s = 0; s < STARTS; s++) {
        one.start = check_input(run, (const float *)p.start + 3 * s, 3 * sizeof(float));
        one.iterations = check_output(run, COUNT * sizeof(int32_t));
        one.lambda = one.x = one.residual = NULL;
        check_call(run, call(run->context, &options, &one));
        for (size_t t = 0; t < COUNT; t++) {
            CHECK_ITEM(run, t * STARTS + s, one.iterations[t] == p.iterations[t * STARTS + s],
                       "%d iterations alone, %d among others", one.iterations[t], p.iterations[t * STARTS + s]);
            different += p.iterations[t * STARTS + s] != p.iterations[t * STARTS];
        }
    }
    CHECK_ITEM(run, 0, different > STARTS, "nearly all starts end together: nothing is shown");
    /* x^4, and starts across x among others */
    float *tensors = malloc(COUNT * p.stride * sizeof *tensors), starts[3 * STARTS];
    memcpy(tensors, p.tensors, COUNT * p.stride * sizeof *tensors);
    memset(tensors + p.stride, 0, p.stride * sizeof *tensors);
    tensors[p.stride] = 1;
    memcpy(starts, p.start, sizeof starts);
    for (size_t s = 0; s < STARTS; s += 7)
        memcpy(starts + 3 * s, (const float[3]){0, 0.6f, 0.8f}, 3 * sizeof *starts);
    p.tensors = check_input(run, tensors, COUNT * p.stride * sizeof *tensors);
    p.start = check_input(run, starts, sizeof starts);
    free(tensors);
    options.shift = HOT_SHIFT_NONE;
    options.tolerance = HOT_ZERO;
    options.max_iterations = 3;
    check_call(run, call(run->context, &options, &p));
    for (size_t s = 0; s < STARTS; s += 7)
        for (size_t d = 0; d < 3; d++)
            CHECK_ITEM(run, STARTS + s, fabs(at(&p, p.x, 3 * (STARTS + s) + d) - at(&p, p.start, 3 * s + d)) < 1e-6,
                       "where x^4 is flat: %g, not %g", at(&p, p.x, 3 * (STARTS + s) + d), at(&p, p.start, 3 * s + d));
    check_case_end(run);
}

/* A little of everything that runs on a GPU, for tools that are many times slower: every kernel in single precision and
 * what it does with tensors of every kind. */
static void check_briefly(check_run *run)
{
    for (int order = 4; order <= 8; order += 2) {
        check_step(run, order, 3, 0, 33, 40, 0);
        check_converged(run, order, 3, order == 4, 5, 33, HOT_SHIFT_ADAPTIVE, HOT_MAXIMA);
        check_special(run, order, 0, HOT_SHIFT_NONE);
        if (!run->cuda)
            continue;
        check_sshopm_neighbours(run, order, 60, 100, HOT_ALGORITHM_GNOMONIC, HOT_SHIFT_NONE);
        check_sshopm_neighbours(run, order, 20000, 14, HOT_ALGORITHM_GNOMONIC, HOT_SHIFT_NONE);
        check_sshopm_neighbours(run, order, 60, 33, HOT_ALGORITHM_AUTO, HOT_SHIFT_ADAPTIVE);
        check_sshopm_neighbours(run, order, 17000, 33, HOT_ALGORITHM_AUTO, HOT_SHIFT_ADAPTIVE);
    }
    check_step(run, 3, 4, 0, 5, 33, 0.7);
    check_step(run, 3, 9, 0, 3, 140, 0.7);
    check_step(run, 3, 7, 1, 5, 33, 0.7);
}

static void check_cases(check_run *run)
{
    const char *brief = getenv("HOT_TEST_BRIEF");
    if (brief && brief[0] == '1') {
        check_briefly(run);
        return;
    }
    for (size_t s = 0; s < SHAPES; s++)
        for (int f64 = 0; f64 < 2; f64++) {
            int order = shapes[s][0], dim = shapes[s][1];
            for (size_t i = 0; i < check_size_count(run); i++) {
                if (s >= 3 && check_sizes[i] > 257)
                    continue; /* the largest size for the shapes of the main job */
                check_step(run, order, dim, f64, check_sizes[i], 3, i % 2 ? 0 : 0.7);
                check_step(run, order, dim, f64, 3, check_sizes[i], i % 2 ? -1.3 : 0);
            }
            check_converged(run, order, dim, f64, 33, 32, HOT_SHIFT_ADAPTIVE, HOT_MAXIMA);
            check_converged(run, order, dim, f64, 9, 70, HOT_SHIFT_ADAPTIVE, HOT_MINIMA);
            check_converged(run, order, dim, f64, 9, 33, HOT_SHIFT_FIXED, HOT_MAXIMA);
        }
    for (int order = 4; order <= 8; order += 2) {
        for (int f64 = 0; f64 < 2; f64++)
            check_special(run, order, f64, HOT_SHIFT_ADAPTIVE);
        check_converged(run, order, 3, 0, 60, 128, HOT_SHIFT_ADAPTIVE, HOT_MAXIMA);
        check_climb(run, order, 300, 128);
        if (run->cuda) { /* a warp to several tensors */
            check_climb(run, order, 20000, 128);
            check_climb(run, order, 17000, 300);
            check_sshopm_default(run, order, 1000, 128);
            check_sshopm_default(run, order, 17000, 32);
            check_sshopm_neighbours(run, order, 1024, 128, HOT_ALGORITHM_AUTO, HOT_SHIFT_ADAPTIVE);
            check_sshopm_neighbours(run, order, 20000, 100, HOT_ALGORITHM_AUTO, HOT_SHIFT_ADAPTIVE);
        }
    }
    for (int order = 4; order <= 8; order += 2) {
        check_special(run, order, 0, HOT_SHIFT_NONE);
        if (run->cuda) { /* more than the multiprocessors hold at once */
            check_sshopm_large(run, order);
            check_sshopm_neighbours(run, order, 100, 128, HOT_ALGORITHM_GNOMONIC, HOT_SHIFT_NONE);
            check_sshopm_neighbours(run, order, 1024, 128, HOT_ALGORITHM_GNOMONIC, HOT_SHIFT_NONE);
            check_sshopm_neighbours(run, order, 20000, 100, HOT_ALGORITHM_GNOMONIC, HOT_SHIFT_NONE);
        }
    }
    check_sshopm_closed(run);
    if (run->cuda) { /* more starts than are done at once; few that are left */
        check_converged(run, 4, 7, 0, 5, 300, HOT_SHIFT_ADAPTIVE, HOT_MAXIMA);
        check_converged(run, 3, 9, 0, 3, 200, HOT_SHIFT_ADAPTIVE, HOT_MAXIMA);
        check_converged(run, 3, 9, 1, 3, 200, HOT_SHIFT_FIXED, HOT_MAXIMA);
        check_sshopm_wide(run);
    }
    check_options(run);
    check_alone(run);
}

/* Few limits of all cases together are others than the reference's. */
static void check_limits(check_run *run)
{
    if (!check_begin(run, limits.compared, "limits of all cases"))
        return;
    CHECK_ITEM(run, 0, limits.elsewhere <= limits.compared / 200 + 1, "%zu of %zu are not the reference's",
               limits.elsewhere, limits.compared);
    check_case_end(run);
}

static void check(check_run *run)
{
    limits.compared = limits.elsewhere = 0;
    check_cases(run);
    check_limits(run);
}

const check_family family_sshopm = {"sshopm", 0, 1, check, NULL};
