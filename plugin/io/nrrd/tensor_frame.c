#include "tensor_frame.h"

#include <string.h>

#include "common/free.h"
#include "symtensor/sphere.h"

/* design[p * terms + j]: the factor of value j of a tensor in A x_p^m, for directions rotated by the transposed `frame`
 * (NULL = not rotated). */
static void fill_design(size_t terms, const int *exponents, const double *multiplicity, const double (*frame)[3],
                        size_t points, const double *directions, double *design)
{
    for (size_t p = 0; p < points; p++) {
        const double *x = directions + 3 * p;
        double y[3] = {x[0], x[1], x[2]};
        for (int d = 0; frame && d < 3; d++)
            y[d] = frame[0][d] * x[0] + frame[1][d] * x[1] + frame[2][d] * x[2];
        for (size_t j = 0; j < terms; j++) {
            double product = multiplicity[j];
            for (int d = 0; d < 3; d++)
                for (int e = 0; e < exponents[3 * j + (size_t)d]; e++)
                    product *= y[d];
            design[p * terms + j] = product;
        }
    }
}

hot_status hot_tensor_frame_matrix(hot_context *context, int order, const double frame[3][3], double *matrix)
{
    hot_status status = HOT_ERROR_MEMORY;
    const size_t terms = hot_symtensor_count(order, 3), points = 3 * terms;
    int *exponents = hot_context_alloc(context, terms, 3 * sizeof *exponents);
    double *multiplicity = hot_context_alloc(context, terms, sizeof *multiplicity);
    double *directions = hot_context_alloc(context, points, 3 * sizeof *directions);
    double *design = hot_context_alloc(context, points, terms * sizeof *design);
    double *turned = hot_context_alloc(context, points, terms * sizeof *turned);
    double *inverse = hot_context_alloc(context, terms, points * sizeof *inverse);
    if (!exponents || !multiplicity || !directions || !design || !turned || !inverse)
        goto cleanup;
    status = hot_symtensor_exponents(order, 3, exponents);
    if (status == HOT_OK)
        status = hot_symtensor_multiplicity(order, 3, multiplicity);
    if (status != HOT_OK)
        goto cleanup;
    /* The tensor whose values at many directions are those of the given one at the turned directions. */
    hot_sphere_lattice(points, directions);
    fill_design(terms, exponents, multiplicity, NULL, points, directions, design);
    fill_design(terms, exponents, multiplicity, frame, points, directions, turned);
    status = hot_fit_pseudo_inverse(context, points, terms, design, NULL, inverse, NULL);
    for (size_t i = 0; i < terms && status == HOT_OK; i++)
        for (size_t j = 0; j < terms; j++) {
            double sum = 0;
            for (size_t p = 0; p < points; p++)
                sum += inverse[i * points + p] * turned[p * terms + j];
            matrix[i * terms + j] = sum;
        }
cleanup:
    HOT_FREE(context, exponents, multiplicity, directions, design, turned, inverse);
    return status;
}

hot_status hot_tensor_frame_apply(hot_context *context, int order, const double frame[3][3], size_t count,
                                  float *values, size_t stride)
{
    enum { CHUNK = 4096 };
    const size_t terms = hot_symtensor_count(order, 3);
    double *matrix = hot_context_alloc(context, terms, terms * sizeof *matrix);
    float *buffer = hot_context_alloc(context, CHUNK, terms * sizeof *buffer);
    hot_status status = matrix && buffer ? hot_tensor_frame_matrix(context, order, frame, matrix) : HOT_ERROR_MEMORY;
    for (size_t first = 0; status == HOT_OK && first < count; first += CHUNK) {
        size_t some = count - first < CHUNK ? count - first : CHUNK;
        status = hot_fit_linear_f32(context, terms, terms, matrix, some, values + first * stride + 1, stride, buffer,
                                    terms);
        for (size_t i = 0; status == HOT_OK && i < some; i++)
            memcpy(values + (first + i) * stride + 1, buffer + i * terms, terms * sizeof *buffer);
    }
    HOT_FREE(context, matrix, buffer);
    return status;
}
