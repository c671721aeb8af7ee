/* Tensors with known fibres for tests: sums of rank-1 terms, an isotropic part, noise. Dimension 3, even orders. */
#pragma once

#include "check.h"

#include <hotfiber/symtensor.h>

enum { FORM_TERMS = 91 };

typedef struct form_basis {
    int order;
    size_t terms;
    int exponents[3 * FORM_TERMS];
    double multiplicity[FORM_TERMS];
} form_basis;

static inline form_basis form_basis_make(int order)
{
    form_basis basis = {.order = order, .terms = hot_symtensor_count(order, 3)};
    hot_symtensor_exponents(order, 3, basis.exponents);
    hot_symtensor_multiplicity(order, 3, basis.multiplicity);
    return basis;
}

/* tensor += weight v (x) v (x) ... (x) v */
static inline void form_add_line(const form_basis *basis, const double v[3], double weight, double *tensor)
{
    for (size_t k = 0; k < basis->terms; k++) {
        double value = weight;
        for (size_t d = 0; d < 3; d++)
            for (int e = 0; e < basis->exponents[3 * k + d]; e++)
                value *= v[d];
        tensor[k] += value;
    }
}

/* tensor += weight (x^2 + y^2 + z^2)^(m/2) */
static inline void form_add_sphere(const form_basis *basis, double weight, double *tensor)
{
    static const double factorial[9] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320};
    for (size_t k = 0; k < basis->terms; k++) {
        const int *e = basis->exponents + 3 * k;
        if ((e[0] | e[1] | e[2]) & 1)
            continue;
        tensor[k] += weight * factorial[basis->order / 2] /
                     (factorial[e[0] / 2] * factorial[e[1] / 2] * factorial[e[2] / 2]) / basis->multiplicity[k];
    }
}

/* tensor += noise, isotropic: a Gaussian form whose law no rotation changes */
static inline void form_add_noise(const form_basis *basis, double sigma, uint64_t *seed, double *tensor)
{
    for (size_t k = 0; k < basis->terms; k++)
        tensor[k] += sigma * check_random_normal(seed) / sqrt(basis->multiplicity[k]);
}

/* Up to three unit vectors, each `degrees` from the others, turned at random. */
static inline void form_fibers(uint64_t *seed, double degrees, double v[3][3])
{
    double b[3], c[3], r[3], dot = 0, norm = 0;
    const double angle = degrees * 3.14159265358979323846 / 180, cosine = cos(angle);
    check_random_unit(seed, v[0]);
    check_random_unit(seed, r);
    for (int d = 0; d < 3; d++)
        dot += r[d] * v[0][d];
    for (int d = 0; d < 3; d++) {
        b[d] = r[d] - dot * v[0][d];
        norm += b[d] * b[d];
    }
    for (int d = 0; d < 3; d++)
        b[d] /= sqrt(norm);
    for (int d = 0; d < 3; d++)
        c[d] = v[0][(d + 1) % 3] * b[(d + 2) % 3] - v[0][(d + 2) % 3] * b[(d + 1) % 3];
    const double along = cosine * (1 - cosine) / sin(angle);
    const double up = sqrt(fmax(0, 1 - cosine * cosine - along * along));
    for (int d = 0; d < 3; d++) {
        v[1][d] = cosine * v[0][d] + sin(angle) * b[d];
        v[2][d] = cosine * v[0][d] + along * b[d] + up * c[d];
    }
}

/* The tensor of test item i: 1 to 3 fibres 30, 45 or 60 degrees apart of unequal weight, 5 % isotropic, noise of
 * `sigma` relative to the whole. */
static inline void form_crossing(const form_basis *basis, size_t i, double sigma, uint64_t *seed, double *tensor)
{
    static const double apart[3] = {30, 45, 60};
    const int fibers = 1 + (int)(i % 3);
    double v[3][3], weight[3], sum = 0;
    form_fibers(seed, apart[i / 3 % 3], v);
    for (int f = 0; f < fibers; f++)
        sum += weight[f] = fibers == 1 ? 1 : 0.6 + 0.8 * check_random(seed);
    for (size_t k = 0; k < basis->terms; k++)
        tensor[k] = 0;
    for (int f = 0; f < fibers; f++)
        form_add_line(basis, v[f], 0.95 * weight[f] / sum, tensor);
    form_add_sphere(basis, 0.05, tensor);
    if (sigma > 0)
        form_add_noise(basis, sigma, seed, tensor);
}

/* The angle in degrees between two lines given by vectors of any length. */
static inline double form_angle(const float *a, const float *b)
{
    const double x[3] = {(double)a[0], (double)a[1], (double)a[2]}, y[3] = {(double)b[0], (double)b[1], (double)b[2]};
    const double cross[3] = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
    const double dot = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    return atan2(sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]), fabs(dot)) * 57.29577951308232;
}

/* The largest angle between one of k lines and the nearest of k others. */
static inline double form_farthest(int k, const float *a, const float *b)
{
    double most = 0;
    for (int i = 0; i < k; i++) {
        double least = 90;
        for (int j = 0; j < k; j++)
            least = fmin(least, form_angle(a + 3 * i, b + 3 * j));
        most = fmax(most, least);
    }
    return most;
}

static inline double form_length(const float *a)
{
    return sqrt((double)a[0] * (double)a[0] + (double)a[1] * (double)a[1] + (double)a[2] * (double)a[2]);
}
