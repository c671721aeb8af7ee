/* Batched least squares: every backend against long double, and its speed against what the machine could do. */
#include "values.h"

#include "common/cpu.h"
#include <hotfiber/fit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float *floats(check_run *run, size_t count)
{
    float *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)check_random_normal(&run->seed);
    return values;
}

static void check_linear(check_run *run, size_t rows, size_t columns, size_t count)
{
    const size_t in_stride = columns + 1, out_stride = rows + 2;
    check_case_begin(run, "linear", count);
    double *matrix_values = normals(run, rows * columns);
    float *input_values = floats(run, count * in_stride);
    const double *matrix = check_input(run, matrix_values, rows * columns * sizeof *matrix);
    const float *input = check_input(run, input_values, count * in_stride * sizeof *input);
    float *output = check_output(run, count * out_stride * sizeof *output);
    if (check_call(
            run, hot_fit_linear_f32(run->context, rows, columns, matrix, count, input, in_stride, output, out_stride)))
        for (size_t i = 0; i < count; i++)
            for (size_t r = 0; r < rows; r++) {
                long double sum = 0, magnitude = 0;
                for (size_t c = 0; c < columns; c++) {
                    const long double term = (long double)matrix[r * columns + c] *
                        (long double)input[i * in_stride + c];
                    sum += term;
                    magnitude += fabsl(term);
                }
                const double bound = 1e-14 * (double)magnitude + 0x1p-24 * fabs((double)sum);
                CHECK_ITEM(run, i, fabs((double)output[i * out_stride + r] - (double)sum) <= bound,
                           "row %zu: %.9g, not %.9g", r, (double)output[i * out_stride + r], (double)sum);
            }
    if (count > 0)
        CHECK_ITEM(run, count, check_unwritten(output, count * out_stride, sizeof *output) == 2 * count,
                   "the gaps between the rows were written");
    check_case_end(run);
    FREE(matrix_values, input_values);
}

/* every: of so many voxels one has hardly any weight but for as few rows as can be. */
static void check_weighted(check_run *run, size_t rows, size_t columns, size_t count, size_t every)
{
    check_case_begin(run, every == 1 ? "weighted by few" : "weighted", count);
    double *design_values = normals(run, rows * columns);
    float *input_values = floats(run, count * rows), *weight_values = floats(run, count * rows);
    float *want = malloc((count * columns + 1) * sizeof *want);
    uint8_t *want_flags = malloc(count + 1);
    for (size_t i = 0; i < count * rows; i++)
        weight_values[i] = expf(-2 * fabsf(weight_values[i]));
    /* and hardly any weight but for too few rows: normal equations do not do */
    for (size_t i = every == 1 ? 0 : 7; i < count; i += every)
        for (size_t r = columns - 1; r < rows; r++)
            weight_values[i * rows + r] *= 1e-9f;
    for (size_t i = 5; i < count; i += 50) /* now and then: NaN, no weight, a weight below zero */
        (i % 3 == 0 ? input_values : weight_values)[i * rows + rows / 2] = i % 3 == 1 ? -1.f : NAN;
    const double *design = check_input(run, design_values, rows * columns * sizeof *design);
    const float *input = check_input(run, input_values, count * rows * sizeof *input);
    const float *weight = check_input(run, weight_values, count * rows * sizeof *weight);
    float *output = check_output(run, count * columns * sizeof *output);
    uint8_t *flags = check_output(run, count);
    const int called =
        check_call(run, hot_fit_weighted_f32(run->reference, rows, columns, design, count, input, weight, want, columns,
                                             want_flags)) &&
        check_call(run, hot_fit_weighted_f32(run->context, rows, columns, design, count, input, weight, output, columns,
                                             flags));
    for (size_t i = 0; i < count && called; i++) {
        double largest = 0;
        CHECK_ITEM(run, i, flags[i] == want_flags[i], "flag %d, not %d", flags[i], want_flags[i]);
        for (size_t c = 0; c < columns; c++)
            largest = fmax(largest, fabs((double)want[i * columns + c]));
        for (size_t c = 0; c < columns; c++)
            CHECK_ITEM(run, i, fabs((double)output[i * columns + c] - (double)want[i * columns + c]) <= 1e-6 * largest,
                       "coefficient %zu: %.9g, not %.9g", c, (double)output[i * columns + c],
                       (double)want[i * columns + c]);
    }
    check_case_end(run);
    FREE(design_values, input_values, weight_values, want, want_flags);
}

/* So many that arrays of the host go to the GPU, too: the same bits as on the CPU. */
static void check_many(check_run *run)
{
    const size_t rows = 65, columns = 28, count = 50001;
    check_case_begin(run, "weighted, many", count);
    double *design = normals(run, rows * columns);
    float *input = floats(run, count * rows), *weight = floats(run, count * rows);
    float *want = malloc(count * columns * sizeof *want);
    for (size_t i = 0; i < count * rows; i++)
        weight[i] = expf(-fabsf(weight[i]));
    for (size_t i = 3; i < count; i += 1000)
        for (size_t r = columns - 1; r < rows; r++)
            weight[i * rows + r] *= 1e-9f;
    float *output = check_output(run, count * columns * sizeof *output);
    hot_context *cpu = check_cpu_context(HOT_CPU_AVX512);
    if (check_call(run, hot_fit_weighted_f32(cpu, rows, columns, design, count, input, weight, want, columns, NULL)) &&
        check_call(run, hot_fit_weighted_f32(run->context, rows, columns, design, count, input, weight, output,
                                             columns, NULL)))
        for (size_t i = 0; i < count; i++)
            CHECK_ITEM(run, i, memcmp(output + i * columns, want + i * columns, columns * sizeof *want) == 0,
                       "coefficients from %.9g, not %.9g", (double)output[i * columns], (double)want[i * columns]);
    check_case_end(run);
    hot_context_destroy(&cpu);
    FREE(design, input, weight, want);
}

static void check(check_run *run)
{
    static const size_t shapes[][2] = {{28, 64}, {45, 65}, {6, 7}, {1, 1}, {15, 200}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t i = 0; i < check_size_count(run); i++) {
            check_linear(run, shapes[s][0], shapes[s][1], check_sizes[i]);
            if (check_sizes[i] < 1000)
                check_weighted(run, shapes[s][1], shapes[s][0], check_sizes[i], 50);
        }
    check_weighted(run, 7, 6, 3000, 1);
    check_weighted(run, 65, 45, 20, 1);
    if (run->cuda)
        check_many(run);
}

const check_family family_fit = {"fit", 0, 1, check, NULL};
