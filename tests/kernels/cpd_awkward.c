/* CP decomposition of awkward tensors, of those that tensor cores multiply, and of very large and very small ones. */
#include "cpd_results.h"

void check_cpd_awkward(check_run *run, int f64, hot_cpd_arithmetic arithmetic)
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
                x[i] = cases[c].kind == 1 ? 0 : cases[c].kind == 3 ? (i == 17) * 3. : x[i];
            const int scaled = cases[c].kind >= 4;
            result plain = scaled ? make_result(run, f64, n, cases[c].rank, x) : (result){0};
            for (size_t i = 0; i < total && scaled; i++)
                x[i] *= cases[c].kind == 4 ? 0x1p-50 : 0x1p50;
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
                else if (scaled && check_call(run, decompose(run->context, &options, &plain))) {
                    const double unscaled = judge(run, &plain); /* a local minimum, at times */
                    CHECK_ITEM(run, 0, fabs(residual - unscaled) <= 1e-3, "residual %g, %g at scale 1", residual,
                               unscaled);
                } else if (!scaled)
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
void check_cpd_arithmetic(check_run *run, int brief)
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
                 * so do results rounded to 11 bits on their way through a swamp. With 22 bits 24 seeds gave at most
                 * 2.1e-4, a hundred times the error of a product. Two terms with 3 and 5 numbers to tell them apart may
                 * be nearly collinear: with 11 bits one of 33 seeds was off by 2.3e-2. */
                const int rounded = arithmetic == HOT_CPD_TF32, compared = rounded ? 5 : ITERATIONS;
                const double near = rank > 12 ? .03 : !rounded ? 4e-4 : n[0] * n[1] < 64 ? .05 : 5e-3;
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

/* The terms of a tensor times a power of two are its terms, the weights times that: also where squares overflow or
 * vanish. To the last bit, for rounding is the same in any such unit: where a swamp makes much of little, one rounding
 * that differs shows in the fit. */
void check_cpd_scales(check_run *run, int f64)
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
