/* See gnomonic_table.h. A form in the turned frame is the old one with three linear forms substituted for x, y, z;
 * the monomials are multiplied out one by one. */
#include "gnomonic_table.h"

#include <math.h>
#include <string.h>

#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>

/* The pole, the last row, is far from being at right angles with any direction of small whole numbers. */
const double hot_gnomonic_frame[3][3] = {
    {0.42829065795800403, -0.2999354588675852, 0.852411774214664},
    {0.9010542746073639, 0.07042653354449602, -0.42795011109322467},
    {0.06832500653272804, 0.951356307535088, 0.30042115370843253},
};

size_t hot_gnomonic_terms(int order) { return 3 * (size_t)order * (size_t)(order + 1) / 2; }

static size_t place(int order, int kx, int kz)
{
    size_t s = (size_t)(order - kx);
    return s * (s + 1) / 2 + (size_t)kz;
}

enum { UNIQUE_MAX = 45 };

/* polynomial (degree d) times the linear form sum_k row[k] x_k, in place (degree d + 1). */
static void times_linear(int degree, const double *row, double *polynomial)
{
    double product[UNIQUE_MAX] = {0};
    for (int kx = 0; kx <= degree; kx++)
        for (int kz = 0; kx + kz <= degree; kz++) {
            double value = polynomial[place(degree, kx, kz)];
            product[place(degree + 1, kx + 1, kz)] += value * row[0];
            product[place(degree + 1, kx, kz)] += value * row[1];
            product[place(degree + 1, kx, kz + 1)] += value * row[2];
        }
    memcpy(polynomial, product, sizeof product);
}

void hot_gnomonic_matrix(int order, float *matrix)
{
    size_t unique = hot_symtensor_count(order, 3), terms = hot_gnomonic_terms(order), part = terms / 3;
    int exponents[3 * UNIQUE_MAX], lower[3 * UNIQUE_MAX];
    double times[UNIQUE_MAX], times_lower[UNIQUE_MAX];
    hot_symtensor_exponents(order, 3, exponents);
    hot_symtensor_multiplicity(order, 3, times);
    hot_symtensor_exponents(order - 1, 3, lower);
    hot_symtensor_multiplicity(order - 1, 3, times_lower);
    for (size_t i = 0; i < unique; i++) {
        /* The old monomial in the new coordinates: old x_d = sum_k frame[k][d] new x_k. */
        double polynomial[UNIQUE_MAX] = {1};
        int degree = 0;
        for (int d = 0; d < 3; d++) {
            const double row[3] = {hot_gnomonic_frame[0][d], hot_gnomonic_frame[1][d], hot_gnomonic_frame[2][d]};
            for (int k = 0; k < exponents[3 * i + (size_t)d]; k++)
                times_linear(degree++, row, polynomial);
        }
        for (size_t j = 0; j < part; j++)
            for (int d = 0; d < 3; d++) {
                /* The class one order up; its value is its monomial's coefficient over its multiplicity. */
                size_t up = place(order, lower[3 * j] + (d == 0), lower[3 * j + 2] + (d == 2));
                matrix[i * terms + (size_t)d * part + j] =
                    (float)(times[i] * polynomial[up] / times[up] * times_lower[j]);
            }
    }
}

void hot_gnomonic_shift_table(int order, float *sphere, float *points)
{
    int exponents[3 * UNIQUE_MAX];
    double times[UNIQUE_MAX], even[3 * HOT_GNOMONIC_POINTS];
    hot_symtensor_exponents(order, 3, exponents);
    hot_symtensor_multiplicity(order, 3, times);
    for (size_t i = 0; i < hot_symtensor_count(order, 3); i++) {
        const int *k = exponents + 3 * i;
        const int has = k[0] % 2 == 0 && k[1] % 2 == 0 && k[2] % 2 == 0;
        const double coefficient =
            tgamma(order / 2 + 1) / tgamma(k[0] / 2 + 1) / tgamma(k[1] / 2 + 1) / tgamma(k[2] / 2 + 1);
        sphere[i] = has ? (float)(coefficient / times[i]) : 0;
    }
    hot_starts_even(HOT_GNOMONIC_POINTS, even);
    for (size_t i = 0; i < 3 * HOT_GNOMONIC_POINTS; i++)
        points[i] = (float)even[i];
}
