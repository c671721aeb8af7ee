/* What the fit family needs (kernels_checker_fit has the family): the pseudoinverse; the same bits by every instruction
 * set. */
#include <hotfiber/fit.h>

#include "check.h"
#include "fit/fit.h"

static float *random_floats(uint64_t *state, size_t count)
{
    float *values = malloc((count ? count : 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)check_random_normal(state);
    return values;
}

static double *random_doubles(uint64_t *state, size_t count)
{
    double *values = malloc((count ? count : 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = check_random_normal(state);
    return values;
}

static void test_pseudo_inverse(hot_context *context)
{
    static const size_t shapes[][2] = {{1, 1}, {6, 6}, {30, 15}, {64, 28}, {64, 45}, {288, 45}};
    uint64_t state = 2;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int with_penalty = 0; with_penalty < 2; with_penalty++) {
            const size_t rows = shapes[s][0], columns = shapes[s][1];
            double *design = random_doubles(&state, rows * columns), *penalty = random_doubles(&state, columns);
            double *got = random_doubles(&state, rows * columns);
            double condition = NAN, worst = 0;
            for (size_t c = 0; c < columns; c++)
                penalty[c] *= penalty[c];
            hot_status status = hot_fit_pseudo_inverse(context, rows, columns, design, with_penalty ? penalty : NULL,
                                                       got, &condition);
            CHECK(status == HOT_OK, "%s", hot_context_message(context));
            for (size_t c = 0; c < columns; c++) /* (D^T D + penalty) G = D^T, each sum relative to its terms */
                for (size_t r = 0; r < rows; r++) {
                    long double sum = -(long double)design[r * columns + c], terms = fabsl(sum);
                    for (size_t k = 0; k < columns; k++) {
                        long double product = with_penalty && k == c ? penalty[k] : 0;
                        for (size_t i = 0; i < rows; i++)
                            product += (long double)design[i * columns + c] * (long double)design[i * columns + k];
                        sum += product * (long double)got[k * rows + r];
                        terms += fabsl(product * (long double)got[k * rows + r]);
                    }
                    const double error = (double)(fabsl(sum) / terms);
                    if (!(error <= worst))
                        worst = error;
                }
            CHECK(condition >= 1 - 1e-12 && condition < 1e6, "condition %g", condition);
            CHECK(worst <= 1e-15 * condition + 1e-13, "%zu x %zu: error %g", rows, columns, worst);
            FREE(design, penalty, got);
        }
    /* the condition number of a known matrix: diag(3, 1, 0.5) under a rotation */
    const double known[9] = {3 * .6, -.8, 0, 3 * .8, .6, 0, 0, 0, .5};
    double inverse[9], condition;
    CHECK(hot_fit_pseudo_inverse(context, 3, 3, known, NULL, inverse, &condition) == HOT_OK, "known");
    CHECK_NEAR(condition, 6, 1e-12, "condition %.17g, not 6", condition);
    /* deficient rank, too few rows, NaN: errors; a penalty makes up for missing rows */
    const double twice[6] = {1, 2, 2, 4, 3, 6};
    CHECK(hot_fit_pseudo_inverse(context, 3, 2, twice, NULL, inverse, NULL) == HOT_ERROR_DATA, "rank 1 accepted");
    CHECK(hot_fit_pseudo_inverse(context, 1, 2, twice, NULL, inverse, NULL) == HOT_ERROR_DATA, "1 row accepted");
    const double ones[3] = {1, 1, 1}, nan_matrix[2] = {1, NAN};
    CHECK(hot_fit_pseudo_inverse(context, 1, 2, twice, ones, inverse, NULL) == HOT_OK, "penalty: %s",
          hot_context_message(context));
    CHECK_NEAR(inverse[0], 1. / 6, 1e-15, "ridge %g", inverse[0]); /* D^T (D D^T + 1)^-1 = (1, 2) / 6 */
    CHECK_NEAR(inverse[1], 2. / 6, 1e-15, "ridge %g", inverse[1]);
    CHECK(hot_fit_pseudo_inverse(context, 2, 1, nan_matrix, NULL, inverse, NULL) == HOT_ERROR_ARGUMENT, "NaN accepted");
}

/* Any number of threads, any instruction set: the same bits. */
static void test_same_bits(void)
{
    enum { ROWS = 28, COLUMNS = 64, COUNT = 1500 };
    uint64_t state = 4;
    double *matrix = random_doubles(&state, ROWS * COLUMNS);
    float *input = random_floats(&state, COUNT * COLUMNS), *weight = random_floats(&state, COUNT * COLUMNS);
    float *first = NULL, *first_weighted = NULL;
    for (size_t i = 0; i < COUNT * COLUMNS; i++)
        weight[i] *= weight[i];
    for (int threads = 1; threads <= 5; threads += 2)
        for (int level = 0; level <= (int)hot_cpu_best(); level++) {
            hot_context *context;
            hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = threads},
                               &context);
            float *out = calloc(COUNT * ROWS, sizeof *out), *weighted = calloc(COUNT * ROWS, sizeof *out);
            double *design = malloc(ROWS * COLUMNS * sizeof *design);
            for (size_t r = 0; r < ROWS; r++)
                for (size_t c = 0; c < COLUMNS; c++)
                    design[c * ROWS + r] = matrix[r * COLUMNS + c];
            CHECK(hot_fit_linear_f32_cpu(context, (hot_cpu_level)level, ROWS, COLUMNS, matrix, COUNT, input, COLUMNS,
                                         out, ROWS) == HOT_OK,
                  "linear");
            CHECK(hot_fit_weighted_f32_cpu(context, (hot_cpu_level)level, COLUMNS, ROWS, design, COUNT, input, weight,
                                           weighted, ROWS, NULL) == HOT_OK, "weighted");
            if (!first) {
                first = out, first_weighted = weighted;
            } else {
                CHECK(memcmp(first, out, COUNT * ROWS * sizeof *out) == 0, "linear: %d threads, level %d", threads,
                      level);
                CHECK(memcmp(first_weighted, weighted, COUNT * ROWS * sizeof *out) == 0,
                      "weighted: %d threads, level %d", threads, level);
                free(out), free(weighted);
            }
            free(design);
            hot_context_destroy(&context);
        }
    free(first), free(first_weighted), free(matrix), free(input), free(weight);
}

int main(void)
{
    hot_context *context;
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 3}, &context);
    test_pseudo_inverse(context);
    test_same_bits();
    hot_context_destroy(&context);
    HOT_TEST_END();
}
