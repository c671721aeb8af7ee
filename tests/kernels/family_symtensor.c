/* Symmetric tensors at many points, against the loops over all n^m entries. One backend: plain C. */
#include "checker.h"

#include <hotfiber/symtensor.h>
#include "symtensor/symtensor_ref.h"

static void check_values(check_run *run, int order, int dim, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "values, order %d dim %d", order, dim);
    check_case_begin(run, name, size);
    size_t unique = hot_symtensor_count(order, dim);
    double tensor[600], *points = malloc((size * (size_t)dim + 1) * sizeof *points);
    for (size_t i = 0; i < unique; i++)
        tensor[i] = check_random_normal(&run->seed);
    for (size_t i = 0; i < size * (size_t)dim; i++)
        points[i] = check_random_normal(&run->seed);
    const double *a = check_input(run, tensor, unique * sizeof *tensor);
    const double *x = check_input(run, points, size * (size_t)dim * sizeof *points);
    double *values = check_output(run, size * sizeof *values);
    hot_symtensor_values_f64(order, dim, a, size, x, values);
    CHECK_ITEM(run, 0, check_unwritten(values, size, sizeof *values) == 0, "values were not written");
    for (size_t p = 0; p < size; p += size > 300 ? 97 : 1) {
        long double wide[8], expected, magnitude;
        for (int d = 0; d < dim; d++)
            wide[d] = x[p * (size_t)dim + (size_t)d];
        hot_symtensor_contract_ref(order, dim, 0, a, wide, &expected, &magnitude);
        double error = fabs(values[p] - (double)expected);
        CHECK_ITEM(run, p, error <= 1e-14 * order * (double)magnitude, "%.17g, not %.17Lg", values[p], expected);
    }
    check_case_end(run);
    free(points);
}

static void check(check_run *run)
{
    const int shapes[][2] = {{2, 3}, {4, 3}, {6, 3}, {8, 3}, {3, 3}, {5, 3}, {3, 2}, {4, 6}, {1, 4}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t i = 0; i < CHECK_SIZES; i++)
            check_values(run, shapes[s][0], shapes[s][1], check_sizes[i]);
}

const check_family family_symtensor = {"symtensor", 1, 0, check, NULL};
