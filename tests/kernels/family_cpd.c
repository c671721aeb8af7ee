/* CP decomposition against the plain one of cpd_reference.h; on awkward tensors: cpd_awkward.c. */
#include "cpd_results.h"

#include <hotfiber/lowrank.h>

/* 40 x 50 x 60 of rank 5, from 20 random starts. How many of them alternating least squares leads to the terms is the
 * tensor's own (14 with seed 3): check_textbook compares the count with the textbook's. In floats one of 12 is enough;
 * of 4, one seed of 37 had none. */
static void check_recovery(check_run *run, int f64, hot_cpd_start start)
{
    check_case_begin(run, start == HOT_CPD_HOSVD ? "recovery, HOSVD" : "recovery, random", 20);
    const size_t n[3] = {40, 50, 60};
    double *x = malloc(120000 * sizeof *x);
    int recovered = 0;
    const int trials = start != HOT_CPD_RANDOM ? 4 : f64 ? 20 : 12;
    random_tensor(run, n, 5, 0, x);
    result r = make_result(run, f64, n, 5, x);
    for (int seed = 1; seed <= trials && (f64 || !recovered); seed++) {
        hot_context *context = seeded(run, (uint64_t)seed, 0);
        const hot_cpd_options options = {.size = sizeof options, .rank = 5, .iterations = 1000, .start = start,
                                         .tolerance = f64 ? 1e-12 : 1e-7};
        if (check_call(run, decompose(context, &options, &r)))
            recovered += judge(run, &r) <= (f64 ? 1e-6 : 1e-5);
        hot_context_destroy(&context);
    }
    CHECK_ITEM(run, 0, recovered >= (trials == 20 ? 10 : 1), "%d of %d recovered", recovered, trials);
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
    const hot_cpd_options options = {.size = sizeof options, .rank = rank, .iterations = 400, .start = HOT_CPD_GIVEN,
                                     .tolerance = HOT_ZERO, .fits = fits};
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
        const hot_lowrank_options lowrank = {.size = sizeof lowrank, .max_rank = 2, .exact_rank = 1,
                                             .min_weight = HOT_ZERO, .min_angle = HOT_ZERO};
        const hot_cpd_options options = {.size = sizeof options, .rank = 2, .iterations = 3000, .tolerance = 1e-14,
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

static void check(check_run *run)
{
    const char *said = getenv("HOT_TEST_BRIEF"); /* for the sanitizers' tools, which take 100 times as long */
    const int brief = said && said[0] == '1';
    if (brief && run->cuda) {
        check_cpd_arithmetic(run, 1);
        return;
    }
    if (check_wanted(run, "recovery")) {
        check_recovery(run, 1, HOT_CPD_RANDOM);
        check_recovery(run, 1, HOT_CPD_HOSVD);
        check_recovery(run, 0, HOT_CPD_RANDOM);
        check_non_negative(run);
        check_textbook(run);
    }
    check_cpd_scales(run, 1);
    check_cpd_scales(run, 0);
    check_cpd_awkward(run, 1, HOT_CPD_FULL);
    check_cpd_awkward(run, 0, HOT_CPD_FULL);
    if (run->cuda) {
        check_cpd_awkward(run, 0, HOT_CPD_TF32);
        check_cpd_awkward(run, 0, HOT_CPD_SPLIT);
        check_cpd_arithmetic(run, 0);
    }
    if (check_wanted(run, "other")) {
        check_noise(run);
        check_running(run);
        check_lowrank(run);
    }
}

const check_family family_cpd = {"cpd", 0, 1, check, NULL};
