/* Symmetric tensors and spherical harmonics against full sums, MRtrix and each other. */
#include "check.h"

#include <hotfiber/symtensor.h>
#include "symtensor/symtensor_ref.h"

enum { POISON_VALUE = 12345 };

static void test_counts(void)
{
    const struct { int order, dim; size_t count; } known[] = {
        {1, 1, 1}, {1, 16, 16}, {2, 3, 6}, {4, 3, 15}, {6, 3, 28}, {8, 3, 45}, {3, 2, 4}, {4, 6, 126}, {16, 1, 1},
        {16, 16, 300540195}, {0, 3, 0}, {17, 3, 0}, {4, 0, 0}, {4, 17, 0}, {-1, -1, 0}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK(hot_symtensor_count(known[i].order, known[i].dim) == known[i].count, "order %d dim %d gives %zu",
              known[i].order, known[i].dim, hot_symtensor_count(known[i].order, known[i].dim));
    int exponents[45];
    double multiplicity[15];
    CHECK(hot_symtensor_exponents(4, 3, exponents) == HOT_OK, "exponents");
    CHECK(hot_symtensor_multiplicity(4, 3, multiplicity) == HOT_OK, "multiplicity");
    const int expected[15] = {400, 310, 301, 220, 211, 202, 130, 121, 112, 103, 40, 31, 22, 13, 4};
    const int times[15] = {1, 4, 4, 6, 12, 6, 4, 12, 12, 4, 1, 4, 6, 4, 1};
    for (int i = 0; i < 15; i++) {
        const int *k = exponents + 3 * i;
        CHECK(k[0] * 100 + k[1] * 10 + k[2] == expected[i], "class %d is %d%d%d", i, k[0], k[1], k[2]);
        CHECK(multiplicity[i] == times[i], "class %d has multiplicity %g", i, multiplicity[i]);
    }
    CHECK(hot_symtensor_exponents(0, 3, exponents) == HOT_ERROR_ARGUMENT, "order 0");
    CHECK(hot_symtensor_multiplicity(4, 99, multiplicity) == HOT_ERROR_ARGUMENT, "dim 99");
    for (int order = 1; order <= 6; order++)
        for (int dim = 1; dim <= 6; dim++) {
            double all[500], sum = 0;
            hot_symtensor_multiplicity(order, dim, all);
            for (size_t i = 0; i < hot_symtensor_count(order, dim); i++)
                sum += all[i];
            CHECK(sum == pow(dim, order), "multiplicities of order %d dim %d sum to %g", order, dim, sum);
        }
}

/* Value, gradient and Hessian against the loops over all n^m entries. */
static void test_forms(uint64_t *seed)
{
    enum { MANY = 11 };
    for (int order = 1; order <= 9; order++)
        for (int dim = 1; dim <= 6; dim++) {
            if (pow(dim, order) > 300000)
                continue;
            size_t count = hot_symtensor_count(order, dim);
            double *tensor = malloc(count * sizeof *tensor);
            for (int round = 0; round < 3; round++) {
                double x[6], gradient[7], hessian[37], value;
                long double wide[6], expected[36], magnitude[36];
                for (size_t i = 0; i < count; i++)
                    tensor[i] = check_random_normal(seed) * (round == 2 ? 1e30 : 1);
                for (int d = 0; d < dim; d++)
                    wide[d] = x[d] = round == 1 && d == 0 ? 0 : 2 * check_random(seed) - 1;
                hot_symtensor_contract_ref(order, dim, 0, tensor, wide, expected, magnitude);
                value = hot_symtensor_value_f64(order, dim, tensor, x);
                CHECK_NEAR(value, expected[0], 1e-14 * (double)magnitude[0] * order, "value, order %d dim %d: %g %Lg",
                           order, dim, value, expected[0]);
                double points[MANY * 6], values[MANY + 1];
                for (int i = 0; i < MANY * dim; i++)
                    points[i] = i < dim ? x[i] : check_random_normal(seed);
                values[MANY] = POISON_VALUE;
                hot_symtensor_values_f64(order, dim, tensor, MANY, points, values);
                for (int p = 0; p < MANY; p++)
                    CHECK(values[p] == (p ? hot_symtensor_value_f64(order, dim, tensor, points + p * dim) : value),
                          "values, order %d dim %d, point %d", order, dim, p);
                CHECK(values[MANY] == POISON_VALUE, "values wrote beyond their end");
                hot_symtensor_contract_ref(order, dim, 1, tensor, wide, expected, magnitude);
                for (int d = 0; d <= dim; d++)
                    gradient[d] = POISON_VALUE;
                hot_symtensor_gradient_f64(order, dim, tensor, x, gradient);
                for (int d = 0; d < dim; d++)
                    CHECK_NEAR(gradient[d], expected[d], 1e-14 * (double)magnitude[d] * order,
                               "gradient[%d], order %d dim %d: %g %Lg", d, order, dim, gradient[d], expected[d]);
                CHECK(gradient[dim] == POISON_VALUE, "gradient wrote beyond its end");
                if (order < 2)
                    continue;
                hot_symtensor_contract_ref(order, dim, 2, tensor, wide, expected, magnitude);
                for (int d = 0; d <= dim * dim; d++)
                    hessian[d] = POISON_VALUE;
                hot_symtensor_hessian_f64(order, dim, tensor, x, hessian);
                for (int d = 0; d < dim * dim; d++)
                    CHECK_NEAR(hessian[d], expected[d], 1e-14 * (double)magnitude[d] * order,
                               "hessian[%d], order %d dim %d", d, order, dim);
                CHECK(hessian[dim * dim] == POISON_VALUE, "hessian wrote beyond its end");
            }
            free(tensor);
        }
    double x = 1, nothing[1];
    CHECK(isnan(hot_symtensor_value_f64(0, 3, &x, &x)), "order 0 has no value");
    nothing[0] = 0;
    hot_symtensor_gradient_f64(99, 1, &x, &x, nothing);
    CHECK(isnan(nothing[0]), "order 99 has no gradient");
}

/* The first harmonics as MRtrix's documentation and Legendre code define them, written out in x, y, z. */
static void test_harmonics_by_formula(uint64_t *seed)
{
    const double pi = 3.14159265358979323846;
    for (int round = 0; round < 20; round++) {
        double u[3], y[6], all[45];
        check_random_unit(seed, u);
        CHECK(hot_sh_values_f64(2, 1, u, y) == HOT_OK, "harmonics of order 2");
        const double a = sqrt(15 / (4 * pi));
        const double expected[6] = {sqrt(1 / (4 * pi)),  a * u[0] * u[1],
                                    -a * u[1] * u[2],    sqrt(5 / (16 * pi)) * (3 * u[2] * u[2] - 1),
                                    -a * u[0] * u[2],    a / 2 * (u[0] * u[0] - u[1] * u[1])};
        for (int i = 0; i < 6; i++)
            CHECK_NEAR(y[i], expected[i], 1e-14, "harmonic %d: %g, not %g", i, y[i], expected[i]);
        hot_sh_values_f64(8, 1, u, all);
        for (int i = 0; i < 6; i++)
            CHECK(all[i] == y[i], "harmonic %d does not depend on the maximum order", i);
        int at = 0; /* addition theorem: the squares of one degree sum to (2l + 1) / (4 pi) */
        for (int l = 0; l <= 8; l += 2) {
            double sum = 0;
            for (int m = -l; m <= l; m++, at++)
                sum += all[at] * all[at];
            CHECK_NEAR(sum, (2 * l + 1) / (4 * pi), 1e-13, "addition theorem at degree %d: %g", l, sum);
        }
    }
    double pole[3] = {0, 0, 1}, values[45];
    hot_sh_values_f64(8, 1, pole, values);
    for (int i = 0; i < 45; i++)
        CHECK(isfinite(values[i]), "harmonic %d at the pole", i);
    CHECK(hot_sh_values_f64(3, 1, pole, values) == HOT_ERROR_ARGUMENT, "odd order");
}

/* Every harmonic up to degree 8 through MRtrix's own sh2amp, where it is installed. */
static void test_harmonics_by_mrtrix(uint64_t *seed)
{
    enum { TERMS = 45, DIRECTIONS = 10 };
    if (system("command -v sh2amp >/dev/null 2>&1") != 0) {
        printf("sh2amp is not installed: harmonics not compared with MRtrix\n");
        return;
    }
    char folder[] = "/tmp/hotfiber_sh_XXXXXX", path[64], command[300];
    CHECK(mkdtemp(folder) != NULL, "temporary folder");
    double u[DIRECTIONS * 3], expected[DIRECTIONS * TERMS];
    snprintf(path, sizeof path, "%s/d.txt", folder);
    FILE *file = fopen(path, "w");
    for (int p = 0; p < DIRECTIONS; p++) {
        check_random_unit(seed, u + 3 * p);
        fprintf(file, "%.17g %.17g %.17g\n", u[3 * p], u[3 * p + 1], u[3 * p + 2]);
    }
    fclose(file);
    snprintf(path, sizeof path, "%s/sh.mih", folder);
    file = fopen(path, "w");
    fprintf(file, "mrtrix image\ndim: %d,1,1,%d\nvox: 1,1,1,1\nlayout: +0,+1,+2,+3\ndatatype: Float64LE\n"
            "file: sh.dat\n", TERMS, TERMS);
    fclose(file);
    snprintf(path, sizeof path, "%s/sh.dat", folder);
    file = fopen(path, "wb");
    for (int t = 0; t < TERMS; t++)
        for (int v = 0; v < TERMS; v++) {
            double one = t == v;
            fwrite(&one, sizeof one, 1, file);
        }
    fclose(file);
    snprintf(command, sizeof command,
             "cd %s && sh2amp -quiet sh.mih d.txt a.mih -datatype float64le && mv a.dat out.dat", folder);
    CHECK(system(command) == 0, "sh2amp ran");
    snprintf(path, sizeof path, "%s/out.dat", folder);
    file = fopen(path, "rb");
    CHECK(file != NULL, "sh2amp wrote");
    hot_sh_values_f64(8, DIRECTIONS, u, expected);
    if (file) { /* amplitudes: TERMS voxels x DIRECTIONS, whichever axis sh2amp stored fastest */
        double amplitude[DIRECTIONS * TERMS] = {0};
        CHECK(fread(amplitude, sizeof(double), DIRECTIONS * TERMS, file) == DIRECTIONS * TERMS, "sh2amp's output");
        fclose(file);
        double across = 0, along = 0;
        for (int p = 0; p < DIRECTIONS; p++)
            for (int t = 0; t < TERMS; t++) {
                across = fmax(across, fabs(amplitude[p * TERMS + t] - expected[p * TERMS + t]));
                along = fmax(along, fabs(amplitude[t * DIRECTIONS + p] - expected[p * TERMS + t]));
            }
        CHECK(fmin(across, along) <= 1e-6, "largest difference from MRtrix: %g", fmin(across, along));
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0, "clean up");
}

static void test_change_of_basis(hot_context *context, uint64_t *seed)
{
    for (int order = 2; order <= HOT_ORDER_MAX; order += 2) {
        size_t terms = hot_symtensor_count(order, 3);
        double *forth = malloc(terms * terms * sizeof *forth), *back = malloc(terms * terms * sizeof *back);
        double *sh = malloc(terms * sizeof *sh), *tensor = malloc(terms * sizeof *tensor);
        double *values = malloc(terms * sizeof *values);
        CHECK(hot_sh_to_symtensor(context, order, forth) == HOT_OK, "order %d", order);
        CHECK(hot_symtensor_to_sh(context, order, back) == HOT_OK, "order %d", order);
        double worst = 0;
        for (size_t i = 0; i < terms; i++)
            for (size_t j = 0; j < terms; j++) {
                double sum = i == j ? -1 : 0;
                for (size_t k = 0; k < terms; k++)
                    sum += back[i * terms + k] * forth[k * terms + j];
                worst = fmax(worst, fabs(sum));
            }
        CHECK(worst <= 1e-15 * pow(3, order) + 1e-13, "round trip at order %d is off by %g", order, worst);
        for (int round = 0; round < 10; round++) {
            double u[3], by_sh = 0, by_tensor, size = 0;
            check_random_unit(seed, u);
            for (size_t j = 0; j < terms; j++)
                sh[j] = check_random_normal(seed);
            for (size_t i = 0; i < terms; i++) {
                tensor[i] = 0;
                for (size_t j = 0; j < terms; j++)
                    tensor[i] += forth[i * terms + j] * sh[j];
            }
            hot_sh_values_f64(order, 1, u, values);
            for (size_t j = 0; j < terms; j++) {
                by_sh += sh[j] * values[j];
                size += fabs(sh[j] * values[j]);
            }
            by_tensor = hot_symtensor_value_f64(order, 3, tensor, u);
            CHECK_NEAR(by_tensor, by_sh, 1e-13 * size * pow(1.5, order), "order %d: %.15g, not %.15g", order, by_tensor,
                       by_sh);
        }
        free(forth), free(back), free(sh), free(tensor), free(values);
    }
    double matrix[4];
    CHECK(hot_sh_to_symtensor(context, 5, matrix) == HOT_ERROR_ARGUMENT, "odd order");
    CHECK(strstr(hot_context_message(context), "5") != NULL, "the message says which: %s",
          hot_context_message(context));
}

static int stop_now(void *user) { return user == NULL; }

/* One thread and several, and a call that is cancelled. */
static void check_contract_threads(uint64_t *seed)
{
    enum { COUNT = 40, POINTS = 50, VALUES = 70, SIZE = COUNT * POINTS * 5 };
    static double tensors[COUNT * VALUES], points[POINTS * 5], results[3][SIZE];
    hot_status status[3];
    for (int i = 0; i < COUNT * VALUES; i++)
        tensors[i] = check_random_normal(seed);
    for (int i = 0; i < POINTS * 5; i++)
        points[i] = check_random_normal(seed);
    for (int run = 0; run < 3; run++) {
        hot_context_options how = {.size = sizeof how, .threads = 1 + 3 * (run == 1),
                                   .stop = run == 2 ? stop_now : NULL};
        hot_context *context = NULL;
        CHECK(hot_context_create(&how, &context) == HOT_OK, "context");
        status[run] = hot_symtensor_contract_f64(context, 4, 5, 3, COUNT, tensors, VALUES, POINTS, points,
                                                 results[run]);
        hot_context_destroy(&context);
    }
    CHECK(status[0] == HOT_OK && status[1] == HOT_OK, "threads: %d %d", status[0], status[1]);
    CHECK(memcmp(results[0], results[1], COUNT * POINTS * 5 * sizeof(double)) == 0, "the number of threads matters");
    CHECK(status[2] == HOT_ERROR_CANCELLED, "cancelled: %d", status[2]);
}

/* Its values: family_forms.c. */
static void test_contract(hot_context *context, uint64_t *seed)
{
    check_contract_threads(seed);
    double a[15] = {0}, x[3] = {0}, y[15];
    CHECK(hot_symtensor_contract_f64(context, 4, 3, 5, 1, a, 15, 1, x, y) == HOT_ERROR_ARGUMENT, "p above the order");
    CHECK(hot_symtensor_contract_f64(context, 4, 3, -1, 1, a, 15, 1, x, y) == HOT_ERROR_ARGUMENT, "p below 0");
    CHECK(hot_symtensor_contract_f64(context, 0, 3, 0, 1, a, 15, 1, x, y) == HOT_ERROR_ARGUMENT, "order 0");
    CHECK(hot_symtensor_contract_f64(context, 4, 3, 1, 1, a, 14, 1, x, y) == HOT_ERROR_ARGUMENT, "stride 14");
    CHECK(hot_symtensor_contract_f64(context, 4, 3, 1, 1, NULL, 15, 1, x, y) == HOT_ERROR_ARGUMENT, "no tensors");
    CHECK(hot_symtensor_contract_f64(context, 4, 3, 0, SIZE_MAX / 8, a, 15, 8, x, y) == HOT_ERROR_MEMORY, "too many");
    CHECK(hot_symtensor_contract_f64(context, 4, 3, 1, 0, NULL, 15, 1, NULL, NULL) == HOT_OK, "nothing");
}

int main(void)
{
    uint64_t seed = 20110516;
    hot_context *context = NULL;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    test_counts();
    test_forms(&seed);
    test_contract(context, &seed);
    test_harmonics_by_formula(&seed);
    test_harmonics_by_mrtrix(&seed);
    test_change_of_basis(context, &seed);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
