/* CP decomposition against the plain one of cpd_reference.h, and on tensors that are awkward for it. */
#include "cpd_reference.h"

#include "common/context_internal.h"
#include <hotfiber/cpd.h>
#include <hotfiber/lowrank.h>

/* ---- Decompositions ---------------------------------------------------------------------------------------------- */

typedef struct result {
    int f64;
    size_t n[3], rank;
    const void *x;
    void *lambda, *f[3];
    hot_cpd_report report;
} result;

static result make_result(check_run *run, int f64, const size_t n[3], size_t rank, const double *x)
{
    const size_t size = f64 ? sizeof(double) : sizeof(float), total = n[0] * n[1] * n[2];
    result r = {.f64 = f64, .n = {n[0], n[1], n[2]}, .rank = rank};
    void *values = narrow(x, total, f64);
    r.x = check_input(run, values, total * size);
    free(values);
    r.lambda = check_output(run, rank * size);
    for (int m = 0; m < 3; m++)
        r.f[m] = check_output(run, n[m] * rank * size);
    return r;
}

static hot_status decompose(hot_context *context, const hot_cpd_options *options, result *r)
{
    return r->f64 ? hot_cpd_f64(context, options, r->n[0], r->n[1], r->n[2], r->x, r->lambda, r->f[0], r->f[1], r->f[2],
                                &r->report)
                  : hot_cpd_f32(context, options, r->n[0], r->n[1], r->n[2], r->x, r->lambda, r->f[0], r->f[1], r->f[2],
                                &r->report);
}

/* The residual computed here, and that the result has the documented form: finite, unit columns, lambda falling. */
static double judge(check_run *run, const result *r)
{
    const size_t total = r->n[0] * r->n[1] * r->n[2];
    const double near = r->f64 ? 1e-12 : 1e-5;
    double *wide[3], *lambda = malloc(r->rank * sizeof *lambda), *approximation = malloc(total * sizeof *approximation);
    double norm = 0, rest = 0, lengths = 0;
    int nulls = 0;
    for (size_t q = 0; q < r->rank; q++) {
        lambda[q] = get(r->f64, r->lambda, q);
        nulls += lambda[q] == 0;
        lengths += lambda[q];
        CHECK_ITEM(run, q, isfinite(lambda[q]) && lambda[q] >= 0 && (q == 0 || lambda[q] <= lambda[q - 1]), "lambda %g",
                   lambda[q]);
    }
    CHECK_ITEM(run, 0, r->report.nulls == nulls, "%d terms of weight 0 reported, %d found", r->report.nulls, nulls);
    for (int m = 0; m < 3; m++) {
        wide[m] = malloc(r->n[m] * r->rank * sizeof **wide);
        for (size_t q = 0; q < r->rank; q++) {
            double sum = 0;
            for (size_t i = 0; i < r->n[m]; i++) {
                const double v = wide[m][i + r->n[m] * q] = get(r->f64, r->f[m], i + r->n[m] * q);
                sum += v * v;
            }
            CHECK_ITEM(run, q, fabs(sqrt(sum) - 1) <= near, "column %zu of factor %d has length %g", q, m, sqrt(sum));
        }
    }
    const double *const factors[3] = {wide[0], wide[1], wide[2]};
    compose(r->n, r->rank, lambda, factors, approximation);
    for (size_t i = 0; i < total; i++) {
        const double x = get(r->f64, r->x, i);
        norm += x * x;
        rest += (x - approximation[i]) * (x - approximation[i]);
    }
    for (int m = 0; m < 3; m++)
        free(wide[m]);
    free(lambda);
    free(approximation);
    const double residual = norm > 0 ? sqrt(rest / norm) : sqrt(rest);
    /* Each term is rounded, and their sum: of terms that cancel by their lengths, not the tensor's. */
    const double rounding = (r->f64 ? 0x1p-51 : 0x1p-22) * (norm > 0 ? lengths / sqrt(norm) : 0);
    CHECK_ITEM(run, 0, fabs(1 - residual - r->report.fit) <= (r->f64 ? 1e-9 : 1e-5) + rounding,
               "fit %.12g reported, %.12g found", r->report.fit, 1 - residual);
    CHECK_ITEM(run, 0, fabs(r->report.norm - sqrt(norm)) <= 1e-6 * sqrt(norm), "norm %g, not %g", r->report.norm,
               sqrt(norm));
    return residual;
}

static hot_context *seeded(const check_run *run, uint64_t seed, int threads)
{
    hot_context_options options = {.size = sizeof options,
                                   .device = run->cuda ? HOT_DEVICE_CUDA : HOT_DEVICE_CPU,
                                   .seed = seed,
                                   .threads = threads};
    hot_context *context = NULL;
    if (hot_context_create(&options, &context) != HOT_OK)
        exit(2);
    hot_context_set_cpu_limit(context, hot_context_cpu_limit(run->context));
    if (run->device && check_use_device(context) != HOT_OK)
        exit(2);
    return context;
}

static void random_tensor(check_run *run, const size_t n[3], size_t rank, double noise, double *x)
{
    double *f[3];
    double norm = 0, noise_norm = 0;
    const size_t total = n[0] * n[1] * n[2];
    for (int m = 0; m < 3; m++)
        f[m] = normals(run, n[m] * rank);
    const double *const factors[3] = {f[0], f[1], f[2]};
    compose(n, rank, NULL, factors, x);
    double *other = normals(run, total);
    for (size_t i = 0; i < total; i++)
        norm += x[i] * x[i], noise_norm += other[i] * other[i];
    for (size_t i = 0; i < total; i++)
        x[i] += noise * sqrt(norm / noise_norm) * other[i];
    free(other);
    for (int m = 0; m < 3; m++)
        free(f[m]);
}

/* 40 x 50 x 60 of rank 5, from 20 random starts. How many of them alternating least squares leads to the terms is the
 * tensor's own (14 with seed 3): check_textbook compares the count with the textbook's. */
static void check_recovery(check_run *run, int f64, hot_cpd_start start)
{
    check_case_begin(run, start == HOT_CPD_HOSVD ? "recovery, HOSVD" : "recovery, random", 20);
    const size_t n[3] = {40, 50, 60};
    double *x = malloc(120000 * sizeof *x);
    int recovered = 0;
    const int trials = f64 && start == HOT_CPD_RANDOM ? 20 : 4;
    random_tensor(run, n, 5, 0, x);
    result r = make_result(run, f64, n, 5, x);
    for (int seed = 1; seed <= trials; seed++) {
        hot_context *context = seeded(run, (uint64_t)seed, 0);
        const hot_cpd_options options = {.size = sizeof options, .rank = 5, .iterations = 1000, .start = start,
                                         .tolerance = f64 ? 1e-12 : 1e-7};
        if (check_call(run, decompose(context, &options, &r)))
            recovered += judge(run, &r) <= (f64 ? 1e-6 : 1e-5);
        hot_context_destroy(&context);
    }
    CHECK_ITEM(run, 0, recovered >= (trials > 4 ? trials / 2 : 1), "%d of %d recovered", recovered, trials);
    check_case_end(run);
    free(x);
}

/* Random starts lead to the terms as often as with the textbook's iteration. */
static void check_textbook(check_run *run)
{
    enum { STARTS = 16, ITERATIONS = 500 };
    check_case_begin(run, "recovery and the textbook's", STARTS);
    const size_t n[3] = {9, 10, 11}, rank = 4;
    double *x = malloc(n[0] * n[1] * n[2] * sizeof *x), *start[3];
    int mine = 0, plain = 0;
    random_tensor(run, n, rank, 0, x);
    result r = make_result(run, 1, n, rank, x);
    for (int trial = 0; trial < STARTS; trial++) {
        for (int m = 0; m < 3; m++) {
            start[m] = normals(run, n[m] * rank);
            memcpy(r.f[m], start[m], n[m] * rank * sizeof **start);
        }
        const hot_cpd_options options = {.size = sizeof options, .rank = rank, .iterations = ITERATIONS,
                                         .start = HOT_CPD_GIVEN, .tolerance = HOT_ZERO};
        if (check_call(run, decompose(run->context, &options, &r)))
            mine += judge(run, &r) <= 1e-4;
        plain += plain_als(n, rank, x, start, ITERATIONS) >= 1 - 1e-4;
        for (int m = 0; m < 3; m++)
            free(start[m]);
    }
    CHECK_ITEM(run, 0, plain > 0 && abs(mine - plain) <= 1, "%d of %d recovered, by the textbook's %d", mine, STARTS,
               plain);
    check_case_end(run);
    free(x);
}

/* With a tolerance the same iteration stops where its fit has changed by less. */
static void check_tolerance(check_run *run, result *r, double *const start[3], const double fits[400])
{
    const hot_cpd_options options = {
        .size = sizeof options, .rank = r->rank, .iterations = 400, .start = HOT_CPD_GIVEN, .tolerance = 1e-6};
    int stop = 1;
    while (stop < 399 && !(fabs(fits[stop] - fits[stop - 1]) < options.tolerance))
        stop++;
    for (int m = 0; m < 3; m++)
        memcpy(r->f[m], start[m], r->n[m] * r->rank * sizeof **start);
    if (check_call(run, decompose(run->context, &options, r)))
        CHECK_ITEM(run, 0, stop < 399 && r->report.iterations == stop + 1 && r->report.converged,
                   "%d iterations, converged %d, to a tolerance that is reached after %d", r->report.iterations,
                   r->report.converged, stop + 1);
}

/* A random start from which the textbook's iteration leads to the terms, not to a local minimum of the tensor's, as
 * one of several does. Returns the fit of that. */
static double good_start(check_run *run, const size_t n[3], size_t rank, const double *x, int iterations,
                         double *start[3])
{
    enum { STARTS = 16 };
    double fit = 0;
    for (int trial = 0; trial < STARTS && fit < .98; trial++) {
        double *copy[3];
        for (int m = 0; m < 3; m++) {
            if (trial > 0)
                free(start[m]);
            start[m] = normals(run, n[m] * rank);
            copy[m] = malloc(n[m] * rank * sizeof **copy);
            memcpy(copy[m], start[m], n[m] * rank * sizeof **copy);
        }
        fit = plain_als(n, rank, x, copy, iterations);
        for (int m = 0; m < 3; m++)
            free(copy[m]);
    }
    return fit;
}

/* With noise: as good a fit as the textbook's iteration from the same start. */
static void check_noise(check_run *run)
{
    check_case_begin(run, "1 % noise", 1);
    const size_t n[3] = {14, 11, 17}, rank = 4;
    double *x = malloc(n[0] * n[1] * n[2] * sizeof *x), *start[3], fits[400];
    random_tensor(run, n, rank, .01, x);
    result r = make_result(run, 1, n, rank, x);
    const double plain = good_start(run, n, rank, x, 400, start);
    for (int m = 0; m < 3; m++)
        memcpy(r.f[m], start[m], n[m] * rank * sizeof **start);
    const hot_cpd_options options = {.size = sizeof options,
                                     .rank = rank,
                                     .iterations = 400,
                                     .start = HOT_CPD_GIVEN,
                                     .tolerance = HOT_ZERO,
                                     .fits = fits};
    if (check_call(run, decompose(run->context, &options, &r))) {
        const double mine = 1 - judge(run, &r);
        CHECK_ITEM(run, 0, fabs(mine - .99) < .002, "fit %.6g with 1 %% noise", mine);
        CHECK_ITEM(run, 0, r.report.iterations == 400 && !r.report.converged, "%d iterations", r.report.iterations);
        for (int i = 1; i < 400; i++) /* least squares never loses */
            CHECK_ITEM(run, (size_t)i, fits[i] >= fits[i - 1] - 1e-9, "the fit falls from %.12g to %.12g", fits[i - 1],
                       fits[i]);
        CHECK_ITEM(run, 0, fabs(fits[399] - r.report.fit) <= 1e-7, "the last fit is %.12g, the report's %.12g",
                   fits[399], r.report.fit);
        check_tolerance(run, &r, start, fits);
        CHECK_ITEM(run, 0, fabs(mine - plain) <= 1e-7, "fit %.12g, the textbook's %.12g", mine, plain);
    }
    check_case_end(run);
    free(x);
    for (int m = 0; m < 3; m++)
        free(start[m]);
}

static void check_awkward(check_run *run, int f64, hot_cpd_arithmetic arithmetic)
{
    static const struct {
        const char *name;
        size_t n[3], rank, true_rank;
        int kind; /* 0 plain, 1 zero, 2 collinear factors, 3 one value, 4 tiny, 5 huge */
    } cases[] = {
        {"zero tensor", {5, 6, 7}, 3, 1, 1},
        {"collinear", {20, 21, 22}, 4, 4, 2},
        {"rank above", {3, 4, 5}, 9, 3, 0},
        {"dimension 1", {1, 8, 9}, 2, 2, 0},
        {"two of 1", {1, 1, 9}, 2, 1, 0},
        {"1 x 1 x 1", {1, 1, 1}, 1, 1, 0},
        {"1 x 1 x 1, rank 3", {1, 1, 1}, 3, 1, 0},
        {"last is 1", {12, 13, 1}, 5, 3, 0},
        {"one value", {6, 7, 8}, 3, 1, 3},
        {"rank above true", {10, 11, 12}, 6, 2, 0},
        {"tiny", {6, 7, 8}, 2, 2, 4},
        {"huge", {6, 7, 8}, 2, 2, 5},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int variant = 0; variant < 4; variant++) { /* random, HOSVD; and both not negative */
            char name[100];
            snprintf(name, sizeof name, "%s, f%d, arithmetic %d, %s%s", cases[c].name, f64 ? 64 : 32, arithmetic,
                     variant & 1 ? "HOSVD" : "random", variant & 2 ? ", not negative" : "");
            if (!check_wanted(run, name))
                continue;
            check_case_begin(run, name, cases[c].rank);
            const size_t *n = cases[c].n, total = n[0] * n[1] * n[2];
            double *x = malloc(total * sizeof *x), *f[3];
            for (int m = 0; m < 3; m++) {
                f[m] = normals(run, n[m] * cases[c].true_rank);
                for (size_t i = 0; i < n[m] * cases[c].true_rank; i++) {
                    f[m][i] = variant & 2 ? fabs(f[m][i]) : f[m][i];
                    if (cases[c].kind == 2 && i >= n[m]) /* terms 1e-9 from the first */
                        f[m][i] = f[m][i % n[m]] + 1e-9 * f[m][i];
                }
            }
            const double *const factors[3] = {f[0], f[1], f[2]};
            compose(n, cases[c].true_rank, NULL, factors, x);
            for (size_t i = 0; i < total; i++)
                x[i] = cases[c].kind == 1 ? 0 : cases[c].kind == 3 ? (i == 17) * 3. : cases[c].kind == 4 ? 1e-15 * x[i]
                       : cases[c].kind == 5 ? 1e15 * x[i] : x[i];
            result r = make_result(run, f64, n, cases[c].rank, x);
            const hot_cpd_options options = {.size = sizeof options,
                                             .rank = cases[c].rank,
                                             .iterations = 150,
                                             .start = variant & 1 ? HOT_CPD_HOSVD : HOT_CPD_RANDOM,
                                             .non_negative = variant >> 1,
                                             .arithmetic = arithmetic};
            if (check_call(run, decompose(run->context, &options, &r))) {
                const double residual = judge(run, &r);
                if (cases[c].kind == 1)
                    CHECK_ITEM(
                        run, 0, get(f64, r.lambda, 0) == 0 && r.report.fit == 1 && r.report.nulls == (int)cases[c].rank,
                        "zero: lambda %g, fit %g, %d nulls", get(f64, r.lambda, 0), r.report.fit, r.report.nulls);
                else
                    CHECK_ITEM(run, 0, residual <= .35, "residual %g", residual); /* some end in a local minimum */
                if (cases[c].kind == 2 && variant == 0) {
                    /* Collinear terms are reported as such. With 11 bits the residual is a hundredth: the square root
                     * of a product's error. */
                    CHECK_ITEM(run, 0, residual <= (arithmetic == HOT_CPD_TF32 ? 3e-2 : 1e-3), "collinear: residual %g",
                               residual);
                    CHECK_ITEM(run, 0, r.report.regularised > 0 || r.report.nulls > 0 || r.report.congruence > .9,
                               "collinear: nothing reported, residual %g", residual);
                }
                if (variant & 2)
                    for (int m = 0; m < 3; m++)
                        for (size_t i = 0; i < n[m] * cases[c].rank; i++)
                            CHECK_ITEM(run, i, get(f64, r.f[m], i) >= 0, "factor %d holds %g", m, get(f64, r.f[m], i));
            }
            check_case_end(run);
            free(x);
            for (int m = 0; m < 3; m++)
                free(f[m]);
        }
}

/* Tensor cores go the way that plain floats go, from the same start: ranks and sides around what their kernels are cut
 * in. */
static void check_arithmetic(check_run *run, int brief)
{
    static const struct {
        size_t n[3], rank;
        int non_negative;
    } cases[] = {{{60, 52, 44}, 5, 0},   {{37, 29, 41}, 3, 0},   {{64, 64, 64}, 10, 0},  {{100, 100, 100}, 10, 0},
                 {{129, 66, 70}, 20, 0}, {{70, 130, 65}, 40, 0}, {{72, 80, 90}, 48, 0},  {{72, 80, 90}, 49, 0},
                 {{60, 70, 80}, 100, 0}, {{50, 60, 70}, 121, 0}, {{1100, 20, 30}, 6, 0}, {{20, 1100, 30}, 6, 0},
                 {{20, 30, 1100}, 6, 0}, {{3, 5, 300}, 2, 0},    {{30, 20, 700}, 100, 0}, {{20, 700, 30}, 100, 0},
                 {{700, 30, 20}, 100, 0}, {{200, 190, 50}, 24, 0},    {{60, 52, 44}, 5, 1},   {{72, 80, 90}, 49, 1}};
    enum { ITERATIONS = 11 };
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t c = 0; c < count; c++) {
        if (brief && c % 4 != 1)
            continue;
        const size_t *n = cases[c].n, total = n[0] * n[1] * n[2], rank = cases[c].rank;
        double *x = malloc(total * sizeof *x), plain[ITERATIONS], fits[ITERATIONS], *start[3];
        char name[100];
        snprintf(name, sizeof name, "%zu x %zu x %zu, rank %zu%s", n[0], n[1], n[2], rank,
                 cases[c].non_negative ? ", not negative" : "");
        if (!check_wanted(run, name)) {
            free(x);
            continue;
        }
        random_tensor(run, n, rank < 12 ? rank : 12, .02, x);
        for (size_t i = 0; i < total && cases[c].non_negative; i++)
            x[i] = fabs(x[i]);
        for (int m = 0; m < 3; m++)
            start[m] = normals(run, n[m] * rank);
        for (int arithmetic = HOT_CPD_FULL; arithmetic <= HOT_CPD_SPLIT; arithmetic++) {
            check_case_begin(run, name, (size_t)arithmetic);
            result r = make_result(run, 0, n, rank, x);
            const hot_cpd_options options = {.size = sizeof options,
                                             .rank = rank,
                                             .iterations = ITERATIONS,
                                             .tolerance = HOT_ZERO,
                                             .start = HOT_CPD_GIVEN,
                                             .non_negative = cases[c].non_negative,
                                             .arithmetic = (hot_cpd_arithmetic)arithmetic,
                                             .fits = arithmetic == HOT_CPD_FULL ? plain : fits};
            for (int m = 0; m < 3; m++)
                for (size_t i = 0; i < n[m] * rank; i++)
                    ((float *)r.f[m])[i] = (float)(cases[c].non_negative ? fabs(start[m][i]) : start[m][i]);
            if (check_call(run, decompose(run->context, &options, &r))) {
                judge(run, &r);
                CHECK_ITEM(run, 0, r.report.iterations == ITERATIONS, "%d iterations", r.report.iterations);
                /* Small pivots are lifted earlier where products are rounded more: ranks above the data's differ; and
                 * so do results rounded to 11 bits on their way through a swamp. */
                const int rounded = arithmetic == HOT_CPD_TF32, compared = rounded ? 5 : ITERATIONS;
                const double near = rank > 12 ? .03 : rounded ? 5e-3 : 2e-4;
                for (int i = 0; i < compared && arithmetic != HOT_CPD_FULL; i++) {
                    /* An iterate that is rounded lies elsewhere on its way: its fit may be that of floats within an
                     * iteration, of which the first gain the most. */
                    const double before = plain[i - (i && rounded)], after = plain[i + rounded];
                    const double square = (1 - fits[i]) * (1 - fits[i]),
                                 most = (1 - fmin(before, plain[i])) * (1 - fmin(before, plain[i])),
                                 least = (1 - fmax(after, plain[i])) * (1 - fmax(after, plain[i]));
                    CHECK_ITEM(run, (size_t)i, square <= most + near && square >= least - near,
                               "fit %.7f, that of floats %.7f", fits[i], plain[i]);
                }
                const double *last = arithmetic == HOT_CPD_FULL ? plain : fits;
                double lengths = 0;
                for (size_t q = 0; q < rank; q++)
                    lengths += get(0, r.lambda, q);
                const double ended = (1 - last[ITERATIONS - 1]) * (1 - last[ITERATIONS - 1]),
                             rest = (1 - r.report.fit) * (1 - r.report.fit);
                /* The fits come from <x, model>, a sum over the terms, in which TF32 rounds both factors of a product
                 * to 11 bits: 2 x 2^-11 of the terms' lengths, many times the tensor's where they cancel. */
                const double loss = 1e-3 * fmax(1, lengths / r.report.norm);
                CHECK_ITEM(run, 0, fabs(ended - rest) <= (rounded ? loss : 1e-4),
                           "the last fit is %.7f, the report's %.7f; the terms' lengths are %g of the tensor's",
                           last[ITERATIONS - 1], r.report.fit, lengths / r.report.norm);
            }
            check_case_end(run);
        }
        free(x);
        for (int m = 0; m < 3; m++)
            free(start[m]);
    }
}

/* Non-negative data of rank 3: found again. */
static void check_non_negative(check_run *run)
{
    check_case_begin(run, "non-negative recovery", 10);
    const size_t n[3] = {20, 24, 28}, rank = 3;
    double *x = malloc(n[0] * n[1] * n[2] * sizeof *x), *f[3];
    int found = 0;
    for (int m = 0; m < 3; m++) {
        f[m] = normals(run, n[m] * rank);
        for (size_t i = 0; i < n[m] * rank; i++)
            f[m][i] = f[m][i] > 0 ? f[m][i] : 0; /* half of them on the bound */
    }
    const double *const factors[3] = {f[0], f[1], f[2]};
    compose(n, rank, NULL, factors, x);
    result r = make_result(run, 1, n, rank, x);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        hot_context *context = seeded(run, seed, 0);
        const hot_cpd_options options = {.size = sizeof options, .rank = rank, .iterations = 1000, .non_negative = 1,
                                         .tolerance = 1e-10};
        if (check_call(run, decompose(context, &options, &r)))
            found += judge(run, &r) <= 1e-4;
        hot_context_destroy(&context);
    }
    CHECK_ITEM(run, 0, found >= 8, "%d of 10", found);
    check_case_end(run);
    free(x);
    for (int m = 0; m < 3; m++)
        free(f[m]);
}

/* Stops at the ninth look. */
static int stop_early(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    return ++*(int *)user > 8;
}

static void check_running(check_run *run)
{
    check_case_begin(run, "threads, cancelling, arguments", 1);
    const size_t n[3] = {30, 31, 32};
    double *x = malloc(n[0] * n[1] * n[2] * sizeof *x);
    random_tensor(run, n, 6, .1, x);
    result r = make_result(run, 1, n, 6, x), s = make_result(run, 1, n, 6, x);
    hot_cpd_options options = {.size = sizeof options, .rank = 6, .iterations = 40, .tolerance = HOT_ZERO};
    hot_context *one = seeded(run, 3, 1), *many = seeded(run, 3, 7);
    if (check_call(run, decompose(one, &options, &r)) && check_call(run, decompose(many, &options, &s))) {
        CHECK_ITEM(run, 0, memcmp(r.lambda, s.lambda, 6 * sizeof(double)) == 0, "threads matter");
        for (int m = 0; m < 3; m++)
            CHECK_ITEM(run, 0, memcmp(r.f[m], s.f[m], n[m] * 6 * sizeof(double)) == 0, "threads matter");
    }
    const double whole = r.report.fit;
    hot_context_destroy(&one);
    hot_context_destroy(&many);
    int looks = 0;
    hot_context_options settings = {.size = sizeof settings,
                                    .device = run->cuda ? HOT_DEVICE_CUDA : HOT_DEVICE_CPU,
                                    .seed = 3,
                                    .progress = stop_early,
                                    .progress_user = &looks};
    hot_context *impatient = NULL;
    CHECK_ITEM(run, 0, hot_context_create(&settings, &impatient) == HOT_OK, "context");
    CHECK_ITEM(run, 0, decompose(impatient, &options, &s) == HOT_ERROR_CANCELLED, "not cancelled");
    const double early = 1 - judge(run, &s);
    CHECK_ITEM(run, 0, s.report.iterations >= 2 && s.report.iterations < 40 && early > .2 && early <= whole + 1e-6,
               "cancelled after %d iterations with fit %g of %g", s.report.iterations, early, whole);
    hot_context_destroy(&impatient);
    options.rank = 0;
    CHECK_ITEM(run, 0, decompose(run->context, &options, &r) == HOT_ERROR_ARGUMENT, "rank 0");
    options.rank = 2;
    CHECK_ITEM(run, 0, hot_cpd_f64(run->context, &options, 0, 1, 1, x, x, x, x, x, NULL) == HOT_ERROR_ARGUMENT,
               "empty tensor");
    CHECK_ITEM(run, 0, hot_cpd_f64(run->context, &options, SIZE_MAX / 4, 9, 9, x, x, x, x, x, NULL) == HOT_ERROR_MEMORY,
               "overflow");
    CHECK_ITEM(run, 0, hot_mttkrp_f64(run->context, 4, 1, 1, 1, 1, x, x, x, x, x) == HOT_ERROR_ARGUMENT, "mode 4");
    options.arithmetic = HOT_CPD_TF32;
    CHECK_ITEM(run, 0, decompose(run->context, &options, &r) == HOT_ERROR_ARGUMENT, "TF32 of doubles");
    options.arithmetic = HOT_CPD_FULL;
    x[77] = NAN;
    result bad = make_result(run, 1, n, 2, x);
    CHECK_ITEM(run, 0, decompose(run->context, &options, &bad) == HOT_ERROR_DATA, "NaN was taken");
    x[77] = INFINITY;
    bad = make_result(run, 1, n, 2, x);
    CHECK_ITEM(run, 0, decompose(run->context, &options, &bad) == HOT_ERROR_DATA, "Inf was taken");
    check_case_end(run);
    free(x);
}

/* A sum of two fibres of order 4, as a tensor 3 x 3 x 9: the factors are those of hot_lowrank_f32. */
static void check_lowrank(check_run *run)
{
    check_case_begin(run, "symmetric rank 2 beside lowrank", 20);
    for (int trial = 0; trial < 20; trial++) {
        double v[2][3], weight[2] = {1, .5 + .4 * check_random(&run->seed)}, x[81];
        float packed[15], directions[6];
        uint8_t found = 0;
        do {
            check_random_unit(&run->seed, v[0]);
            check_random_unit(&run->seed, v[1]);
        } while (fabs(v[0][0] * v[1][0] + v[0][1] * v[1][1] + v[0][2] * v[1][2]) > .7);
        for (int e = 0; e < 81; e++) {
            x[e] = 0;
            for (int t = 0; t < 2; t++)
                x[e] += weight[t] * v[t][e % 3] * v[t][e / 3 % 3] * v[t][e / 9 % 3] * v[t][e / 27];
        }
        for (int a = 0, at = 0; a < 3; a++)
            for (int b = a; b < 3; b++)
                for (int c = b; c < 3; c++)
                    for (int d = c; d < 3; d++)
                        packed[at++] = (float)x[a + 3 * b + 9 * c + 27 * d];
        const hot_lowrank_options lowrank = {.size = sizeof lowrank,
                                             .max_rank = 2,
                                             .exact_rank = 1,
                                             .min_weight = HOT_ZERO,
                                             .min_angle = HOT_ZERO};
        const hot_cpd_options options = {.size = sizeof options,
                                         .rank = 2,
                                         .iterations = 3000,
                                         .tolerance = 1e-14,
                                         .start = HOT_CPD_HOSVD};
        double lambda[2], a[6], b[6], c[18];
        hot_cpd_report report;
        if (!check_call(run,
                        hot_lowrank_f32(run->reference, &lowrank, 4, 1, packed, 15, NULL, directions, &found, NULL)) ||
            !check_call(run, hot_cpd_f64(run->context, &options, 3, 3, 9, x, lambda, a, b, c, &report)))
            continue;
        CHECK_ITEM(run, (size_t)trial, found == 2 && report.fit > 1 - 1e-4, "%d fibres, fit %g", found, report.fit);
        for (int t = 0; t < 2; t++) {
            const float *fibre = directions + 3 * t;
            const double length =
                sqrt((double)fibre[0] * fibre[0] + (double)fibre[1] * fibre[1] + (double)fibre[2] * fibre[2]);
            const double cosine =
                fabs(a[3 * t] * fibre[0] + a[3 * t + 1] * fibre[1] + a[3 * t + 2] * fibre[2]) / length;
            CHECK_ITEM(run, (size_t)trial, fabs(lambda[t] - length) <= 2e-3 && cosine >= 1 - 1e-5,
                       "term %d: %g and %g, cosine %g", t, lambda[t], length, cosine);
        }
    }
    check_case_end(run);
}

/* The terms of a tensor times a power of two are its terms, the weights times that: also where squares overflow or
 * vanish. To the last bit, for rounding is the same in any such unit: where a swamp makes much of little, one rounding
 * that differs shows in the fit. */
static void check_scales(check_run *run, int f64)
{
    if (!check_wanted(run, "scales"))
        return;
    static const int of_f64[] = {-900, -530, -301, -101, 101, 505, 510, 1000};
    static const int of_f32[] = {-90, -70, -50, 50, 63, 66, 90, 110};
    const size_t n[3] = {7, 6, 9}, rank = 3, total = 378;
    double *x = malloc(total * sizeof *x);
    check_case_begin(run, f64 ? "scales, f64" : "scales, f32", total);
    random_tensor(run, n, rank, .05, x);
    result plain = make_result(run, f64, n, rank, x);
    const double *const x_plain = x;
    for (int negative = 0; negative < 2; negative++)
        for (int start = HOT_CPD_RANDOM; start <= HOT_CPD_HOSVD; start++) {
            const hot_cpd_options options = {.size = sizeof options, .rank = rank, .iterations = 30,
                                             .tolerance = HOT_ZERO,
                                             .start = (hot_cpd_start)start, .non_negative = negative};
            if (!check_call(run, decompose(run->context, &options, &plain)))
                continue;
            for (int s = 0; s < 8; s++) {
                const int exponent = f64 ? of_f64[s] : of_f32[s];
                double *other = malloc(total * sizeof *other);
                for (size_t i = 0; i < total; i++)
                    other[i] = ldexp(x_plain[i], exponent);
                result r = make_result(run, f64, n, rank, other);
                free(other);
                if (!check_call(run, decompose(run->context, &options, &r)))
                    continue;
                CHECK_ITEM(run, (size_t)s, r.report.fit == plain.report.fit && r.report.fit < 1,
                           "2^%d: fit %.17g, not %.17g", exponent, r.report.fit, plain.report.fit);
                CHECK_ITEM(run, (size_t)s, ldexp(r.report.norm, -exponent) == plain.report.norm,
                           "2^%d: norm %g of %g", exponent, r.report.norm, plain.report.norm);
                for (size_t q = 0; q < rank; q++)
                    CHECK_ITEM(run, q, ldexp(get(f64, r.lambda, q), -exponent) == get(f64, plain.lambda, q),
                               "2^%d: weight %g, not %g", exponent, get(f64, r.lambda, q), get(f64, plain.lambda, q));
            }
        }
    check_case_end(run);
    free(x);
}

static void check(check_run *run)
{
    const char *said = getenv("HOT_TEST_BRIEF"); /* for the sanitizers' tools, which take 100 times as long */
    const int brief = said && said[0] == '1';
    if (brief && run->cuda) {
        check_arithmetic(run, 1);
        return;
    }
    if (check_wanted(run, "recovery")) {
        check_recovery(run, 1, HOT_CPD_RANDOM);
        check_recovery(run, 1, HOT_CPD_HOSVD);
        check_recovery(run, 0, HOT_CPD_RANDOM);
        check_non_negative(run);
        check_textbook(run);
    }
    check_scales(run, 1);
    check_scales(run, 0);
    check_awkward(run, 1, HOT_CPD_FULL);
    check_awkward(run, 0, HOT_CPD_FULL);
    if (run->cuda) {
        check_awkward(run, 0, HOT_CPD_TF32);
        check_awkward(run, 0, HOT_CPD_SPLIT);
        check_arithmetic(run, 0);
    }
    if (check_wanted(run, "other")) {
        check_noise(run);
        check_running(run);
        check_lowrank(run);
    }
}

void check_cpd_bench(check_run *run); /* cpd_bench.c */

const check_family family_cpd = {"cpd", 0, 1, check, check_cpd_bench};
