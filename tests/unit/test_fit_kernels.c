/* The fit family against its long double references: every instruction set, sizes around the blocks, bad voxels. */
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

static void poison(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = -12345.f;
}

static void test_linear(hot_context *context)
{
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 31, 255, 256, 257, 4099};
    static const size_t shapes[][2] = {{1, 1}, {6, 6}, {15, 64}, {28, 64}, {29, 65}, {45, 288}, {16, 7}, {17, 3}};
    uint64_t state = 1;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++)
            for (int level = 0; level <= (int)hot_cpu_best(); level++) {
                const size_t rows = shapes[s][0], columns = shapes[s][1], count = counts[n];
                const size_t in_stride = columns + 3, out_stride = rows + 1;
                double *matrix = random_doubles(&state, rows * columns);
                float *input = random_floats(&state, count * in_stride);
                float *want = random_floats(&state, count * out_stride),
                      *got = random_floats(&state, count * out_stride);
                poison(want, count * out_stride);
                poison(got, count * out_stride);
                hot_fit_linear_f32_ref(rows, columns, matrix, count, input, in_stride, want, out_stride);
                hot_status status = hot_fit_linear_f32_cpu(context, (hot_cpu_level)level, rows, columns, matrix, count,
                                                           input, in_stride, got, out_stride);
                CHECK(status == HOT_OK, "%s", hot_context_message(context));
                double worst = 0;
                for (size_t i = 0; i < count; i++) {
                    CHECK(got[i * out_stride + rows] == -12345.f, "written behind row %zu", i);
                    for (size_t r = 0; r < rows; r++) {
                        double scale = 0;
                        for (size_t c = 0; c < columns; c++)
                            scale += fabs(matrix[r * columns + c] * (double)input[i * in_stride + c]);
                        const double a = want[i * out_stride + r], b = got[i * out_stride + r];
                        const double error = fabs(a - b) / (scale * 1e-14 + fabs(a) * 0x1p-23);
                        if (!(error <= worst))
                            worst = error;
                    }
                }
                CHECK(worst <= 1, "%zu x %zu, %zu voxels, level %d: error %g of the tolerance", rows, columns, count,
                      level, worst);
                free(matrix), free(input), free(want), free(got);
            }
}

static void test_pseudo_inverse(hot_context *context)
{
    static const size_t shapes[][2] = {{1, 1}, {6, 6}, {30, 15}, {64, 28}, {64, 45}, {288, 45}};
    uint64_t state = 2;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int with_penalty = 0; with_penalty < 2; with_penalty++) {
            const size_t rows = shapes[s][0], columns = shapes[s][1];
            double *design = random_doubles(&state, rows * columns), *penalty = random_doubles(&state, columns);
            double *want = random_doubles(&state, rows * columns), *got = random_doubles(&state, rows * columns);
            double condition = NAN, worst = 0, largest = 0;
            for (size_t c = 0; c < columns; c++)
                penalty[c] *= penalty[c];
            hot_status status = hot_fit_pseudo_inverse(context, rows, columns, design, with_penalty ? penalty : NULL,
                                                       got, &condition);
            CHECK(status == HOT_OK, "%s", hot_context_message(context));
            status = hot_fit_pseudo_inverse_ref(context, rows, columns, design, with_penalty ? penalty : NULL, want);
            CHECK(status == HOT_OK, "%s", hot_context_message(context));
            for (size_t i = 0; i < rows * columns; i++) {
                largest = fmax(largest, fabs(want[i]));
                const double error = fabs(want[i] - got[i]);
                if (!(error <= worst))
                    worst = error;
            }
            CHECK(condition >= 1 - 1e-12 && condition < 1e6, "condition %g", condition);
            CHECK(worst <= 1e-15 * condition * condition * largest + 1e-13 * largest, "%zu x %zu: error %g of %g", rows,
                  columns, worst, largest);
            free(design), free(penalty), free(want), free(got);
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

static void test_weighted(hot_context *context)
{
    static const size_t counts[] = {0, 1, 7, 8, 9, 257};
    static const size_t shapes[][2] = {{3, 1}, {7, 7}, {30, 15}, {66, 29}, {96, 46}};
    uint64_t state = 3;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++)
            for (int level = 0; level <= (int)hot_cpu_best(); level++) {
                const size_t rows = shapes[s][0], columns = shapes[s][1], count = counts[n], stride = columns + 2;
                double *design = random_doubles(&state, rows * columns);
                float *input = random_floats(&state, count * rows), *weight = random_floats(&state, count * rows);
                float *want = random_floats(&state, count * stride), *got = random_floats(&state, count * stride);
                uint8_t *want_flags = malloc(count + 1), *got_flags = malloc(count + 1);
                poison(got, count * stride);
                got_flags[count] = 99;
                for (size_t i = 0; i < count * rows; i++)
                    weight[i] = expf(-fabsf(weight[i])) * 1e4f;
                /* voxel 3: NaN; 5: a negative weight; 6: no weights at all; 4: as many weights as columns */
                if (count > 6) {
                    input[3 * rows] = NAN;
                    weight[5 * rows + rows / 2] = -1;
                    memset(weight + 6 * rows, 0, rows * sizeof *weight);
                    memset(weight + 4 * rows + columns, 0, (rows - columns) * sizeof *weight);
                }
                hot_status status = hot_fit_weighted_f32_ref(context, rows, columns, design, count, input, weight, want,
                                                             stride, want_flags);
                CHECK(status == HOT_OK, "%s", hot_context_message(context));
                status = hot_fit_weighted_f32_cpu(context, (hot_cpu_level)level, rows, columns, design, count, input,
                                                  weight, got, stride, got_flags);
                CHECK(status == HOT_OK, "%s", hot_context_message(context));
                CHECK(got_flags[count] == 99, "flags overrun");
                for (size_t i = 0; i < count; i++) {
                    double scale = 0, error = 0;
                    CHECK(want_flags[i] == got_flags[i], "voxel %zu flagged %d, not %d", i, got_flags[i],
                          want_flags[i]);
                    for (size_t c = 0; c < columns; c++) {
                        scale = fmax(scale, fabs((double)want[i * stride + c]));
                        const double e = fabs((double)want[i * stride + c] - (double)got[i * stride + c]);
                        if (!(e <= error))
                            error = e;
                    }
                    CHECK(error <= 2e-6 * scale, "%zu x %zu, voxel %zu of %zu, level %d: error %g of %g", rows, columns,
                          i, count, level, error, scale);
                    CHECK(got[i * stride + columns] == -12345.f, "written behind voxel %zu", i);
                }
                if (count > 6)
                    CHECK(got_flags[3] && got_flags[5] && got_flags[6] && !got_flags[2], "flags");
                free(design), free(input), free(weight), free(want), free(got), free(want_flags), free(got_flags);
            }
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

static void test_public(hot_context *context)
{
    const double matrix[6] = {1, 2, 3, 4, 5, 6};
    const float input[3] = {1, 10, 100};
    float output[2] = {-1, -1};
    CHECK(hot_fit_linear_f32(context, 2, 3, matrix, 1, input, 3, output, 2) == HOT_OK, "public");
    CHECK(output[0] == 321 && output[1] == 654, "%g %g", (double)output[0], (double)output[1]);
    CHECK(hot_fit_linear_f32(context, 2, 3, matrix, 1, input, 2, output, 2) == HOT_ERROR_ARGUMENT, "stride");
    CHECK(hot_fit_linear_f32(context, 0, 3, matrix, 1, input, 3, output, 2) == HOT_ERROR_ARGUMENT, "no rows");
    CHECK(hot_fit_linear_f32(context, 2, 3, NULL, 1, input, 3, output, 2) == HOT_ERROR_ARGUMENT, "no matrix");
    CHECK(hot_fit_linear_f32(context, 2, 3, NULL, 0, NULL, 0, NULL, 0) == HOT_OK, "nothing to do");
    hot_context_cancel(context);
    CHECK(hot_fit_linear_f32(context, 2, 3, matrix, 1, input, 3, output, 2) == HOT_ERROR_CANCELLED, "cancelled");
}

int main(void)
{
    hot_context *context;
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 3}, &context);
    test_linear(context);
    test_pseudo_inverse(context);
    test_weighted(context);
    test_same_bits();
    test_public(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
