/* The promises of cpd.h and msmt.h about defaults, what the report says, weights beyond the precision, ridge and
 * directions of the constraint. */

#include <hotfiber/cpd.h>
#include <hotfiber/msmt.h>
#include <hotfiber/symtensor.h>

#include "symtensor/sphere.h"
#include "threads.h"

enum { SIDE = 4, RANK = 3 };

typedef struct terms {
    double lambda[RANK], a[SIDE * RANK], b[SIDE * RANK], c[SIDE * RANK];
} terms;

static void decompose(hot_context *context, const hot_cpd_options *o, const double *x, terms *t, hot_cpd_report *report)
{
    CHECK(hot_cpd_f64(context, o, SIDE, SIDE, SIDE, x, t->lambda, t->a, t->b, t->c, report) == HOT_OK, "%s",
          hot_context_message(context));
}

static void test_iterations(hot_context *context, const double *x)
{
    static double fits[501];
    hot_cpd_report report;
    terms t;
    for (int most = 0; most <= 7; most += 7) {
        hot_cpd_options o = {.size = sizeof o, .rank = 2, .iterations = most, .tolerance = HOT_ZERO, .fits = fits};
        const int right = most ? most : 500;
        for (int i = 0; i <= 500; i++)
            fits[i] = -7;
        decompose(context, &o, x, &t, &report);
        CHECK(report.iterations == right && !report.converged, "%d iterations of %d", report.iterations, right);
        CHECK(fits[right - 1] != -7 && fits[right] == -7, "fits of %d iterations", right);
    }
    const hot_cpd_options usual = {.size = sizeof usual, .rank = 2};
    decompose(context, &usual, x, &t, &report);
    CHECK(report.converged && report.iterations < 500, "by the tolerance: %d", report.iterations);
}

/* regularised: a rank above the tensor's leaves the problems singular; congruence: the largest product of cosines. */
static void test_report(hot_context *context, const double *x)
{
    static double one[SIDE * SIDE * SIDE];
    hot_cpd_report report;
    terms t;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        one[i] = (1 + i % SIDE) * (2 - i / SIDE % SIDE) * (1. + i / SIDE / SIDE);
    for (size_t rank = 1; rank <= RANK; rank++) {
        const hot_cpd_options o = {.size = sizeof o, .rank = rank, .iterations = 30};
        decompose(context, &o, one, &t, &report);
        CHECK((report.regularised > 0) == (rank > 1) && report.regularised <= 3 * report.iterations,
              "rank %zu of 1: %d regularised in %d iterations", rank, report.regularised, report.iterations);
        decompose(context, &o, x, &t, &report);
        CHECK(report.regularised == 0, "rank %zu of many: %d regularised", rank, report.regularised);
        double most = 0;
        for (size_t r = 0; r < rank; r++)
            for (size_t q = 0; q < r; q++) {
                double cosine[3] = {0};
                for (size_t i = 0; i < SIDE; i++) {
                    cosine[0] += t.a[i + SIDE * r] * t.a[i + SIDE * q];
                    cosine[1] += t.b[i + SIDE * r] * t.b[i + SIDE * q];
                    cosine[2] += t.c[i + SIDE * r] * t.c[i + SIDE * q];
                }
                most = fmax(most, fabs(cosine[0] * cosine[1] * cosine[2]));
            }
        CHECK_NEAR(report.congruence, most, 1e-12, "rank %zu: congruence", rank);
    }
    hot_cpd_options o = {.size = sizeof o, .rank = 2, .iterations = 1, .start = HOT_CPD_GIVEN};
    for (int i = 0; i < SIDE; i++) /* two terms that are one */
        t.a[i] = t.a[SIDE + i] = 1 + i, t.b[i] = t.b[SIDE + i] = 2 - i, t.c[i] = t.c[SIDE + i] = 1 + i;
    decompose(context, &o, one, &t, &report);
    CHECK(report.congruence > .999 && report.congruence <= 1 && report.regularised > 0, "collinear: %.17g",
          report.congruence);
}

/* Values near the largest float: their norm is none, so a weight is infinite; a power of two below, it is finite. */
static void test_large(hot_context *context)
{
    float x[SIDE * SIDE * SIDE], lambda, a[SIDE], b[SIDE], c[SIDE];
    const hot_cpd_options o = {.size = sizeof o, .rank = 1};
    hot_cpd_report report;
    for (int large = 0; large < 2; large++) {
        for (int i = 0; i < SIDE * SIDE * SIDE; i++)
            x[i] = ldexpf(i % SIDE ? 1 : .5f, large ? 127 : 120);
        CHECK(hot_cpd_f32(context, &o, SIDE, SIDE, SIDE, x, &lambda, a, b, c, &report) == HOT_OK, "%s",
              hot_context_message(context));
        const double norm = ldexp(sqrt(16 * (.25 + 3)), large ? 127 : 120);
        CHECK_NEAR(report.norm / norm, 1, 1e-6, "the norm %g", report.norm);
        CHECK(large ? isinf(lambda) && lambda > 0 : fabs((double)lambda / norm - 1) < 1e-5, "weight %g",
              (double)lambda);
        for (int i = 0; i < SIDE; i++)
            CHECK(isfinite(a[i]) && isfinite(b[i]) && isfinite(c[i]), "directions stay finite");
    }
}

/* ---- msmt -------------------------------------------------------------------------------------------------------- */

/* The signals are harmonics of the tensor, and twice the amount of a tissue: the normal matrix is diag(1 ... 1, 4), and
 * a ridge of r shrinks coefficients by 1 / (1 + 4 r), the amount by 1 / (1 + r). */
static void test_ridge(hot_context *context)
{
    enum { TERMS = 6 };
    double to_sh[TERMS * TERMS], from_sh[TERMS * TERMS], design[(TERMS + 1) * (TERMS + 1)] = {0};
    float signals[TERMS + 1], tensor[TERMS], amount;
    CHECK(hot_symtensor_to_sh(context, 2, to_sh) == HOT_OK && hot_sh_to_symtensor(context, 2, from_sh) == HOT_OK, "sh");
    for (int r = 0; r < TERMS; r++)
        for (int t = 0; t < TERMS; t++)
            design[r * (TERMS + 1) + t] = to_sh[r * TERMS + t];
    design[TERMS * (TERMS + 1) + TERMS] = 2;
    for (int r = 0; r <= TERMS; r++)
        signals[r] = (float)(1 + r);
    for (double ridge = 0; ridge < 3; ridge = 2 * ridge + .125) {
        const hot_msmt_problem problem = {.size = sizeof problem,
                                          .order = 2,
                                          .tissues = 1,
                                          .rows = TERMS + 1,
                                          .design = design,
                                          .constraint = HOT_CONSTRAINT_NONE,
                                          .ridge = ridge};
        CHECK(hot_msmt_f32(context, &problem, 1, signals, TERMS + 1, NULL, tensor, TERMS, &amount, NULL, NULL) ==
                  HOT_OK,
              "%s", hot_context_message(context));
        for (int t = 0; t < TERMS; t++) {
            double right = 0;
            for (int r = 0; r < TERMS; r++)
                right += from_sh[t * TERMS + r] * (double)signals[r] / (1 + 4 * ridge);
            CHECK_NEAR(tensor[t], right, 1e-6 * 8, "ridge %g: value %d", ridge, t);
        }
        CHECK_NEAR(amount, 2 * 7 / (4 + 4 * ridge), 1e-6 * 4, "ridge %g: amount", ridge);
    }
    /* an amount that the data hardly determine: the ridge decides */
    design[TERMS * (TERMS + 1) + TERMS] = 1e-7;
    const hot_msmt_problem weak = {.size = sizeof weak,
                                   .order = 2,
                                   .tissues = 1,
                                   .rows = TERMS + 1,
                                   .design = design,
                                   .constraint = HOT_CONSTRAINT_NONE};
    CHECK(hot_msmt_f32(context, &weak, 1, signals, TERMS + 1, NULL, tensor, TERMS, &amount, NULL, NULL) == HOT_OK, "w");
    CHECK_NEAR(amount, 7e-7 / (1e-14 + 1e-10), 1, "0 = 1e-10: amount %g", (double)amount);
}

static hot_status deconvolve(hot_context *context, size_t count, const double *direction, float tensors[20][15])
{
    enum { ROWS = 25, TERMS = 15 };
    static double design[ROWS * TERMS];
    static float signals[20 * ROWS];
    uint64_t state = 14;
    for (int i = 0; i < ROWS * TERMS; i++)
        design[i] = check_random_normal(&state);
    for (int i = 0; i < 20 * ROWS; i++)
        signals[i] = (float)check_random_normal(&state);
    const hot_msmt_problem problem = {.size = sizeof problem,
                                      .order = 4,
                                      .rows = ROWS,
                                      .design = design,
                                      .directions = count,
                                      .direction = direction};
    return hot_msmt_f32(context, &problem, 20, signals, ROWS, NULL, tensors[0], TERMS, NULL, NULL, NULL);
}

/* NULL with 0: 300 directions, no point of the sphere is far from all of them, and the form is not negative there. */
static void test_directions(hot_context *context)
{
    static float usual[20][15], given[20][15];
    double lattice[3 * 300], x[3];
    uint64_t state = 2;
    hot_sphere_lattice(300, lattice);
    CHECK(deconvolve(context, 0, NULL, usual) == HOT_OK && deconvolve(context, 300, lattice, given) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK(memcmp(usual, given, sizeof usual) == 0, "NULL is not the lattice of 300");
    for (int n = 0; n < 1000; n++) { /* 300 on the half sphere: each has an area of radius 4.7 degrees */
        double near = 0;
        check_random_unit(&state, x);
        for (int p = 0; p < 300; p++)
            near = fmax(near, fabs(x[0] * lattice[3 * p] + x[1] * lattice[3 * p + 1] + x[2] * lattice[3 * p + 2]));
        CHECK(near > cos(8 / 57.29577951), "a point %g degrees from all", 57.29577951 * acos(near));
    }
    double least = 0;
    for (int n = 0; n < 20; n++)
        for (int p = 0; p < 300; p++) {
            double packed[15];
            for (int t = 0; t < 15; t++)
                packed[t] = (double)usual[n][t];
            least = fmin(least, hot_symtensor_value_f64(4, 3, packed, lattice + 3 * p));
        }
    CHECK(least > -1e-5, "a form of %g", least);
    const double none[3] = {0};
    CHECK(deconvolve(context, 0, lattice, given) == HOT_ERROR_ARGUMENT, "directions whose number is 0");
    CHECK(deconvolve(context, 300, NULL, given) == HOT_ERROR_ARGUMENT, "300, but which?");
    CHECK(deconvolve(context, 1, none, given) == HOT_ERROR_ARGUMENT, "a direction of length 0");
    static double many[3 * 4097];
    for (int i = 0; i < 4097; i++)
        many[3 * i] = 1;
    CHECK(deconvolve(context, 4096, many, given) == HOT_OK &&
              deconvolve(context, 4097, many, given) == HOT_ERROR_ARGUMENT,
          "at most 4096");
}

int main(void)
{
    hot_context *context = context_of(2);
    double x[SIDE * SIDE * SIDE];
    uint64_t state = 8;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        x[i] = check_random_normal(&state);
    test_iterations(context, x);
    test_report(context, x);
    test_large(context);
    test_ridge(context);
    test_directions(context);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
