#include "single_fiber.h"

#include <math.h>

#include "symtensor/sphere.h"

enum { NEAREST = 6 };

/* Peaks closer than this to a higher one are part of it. */
static const double neighbour_cosine = .94; /* 20 degrees */

/* Up to sign. */
static double cosine(const hot_peak_grid *grid, size_t j, size_t k)
{
    const double *u = grid->directions[j], *w = grid->directions[k];
    return fabs(u[0] * w[0] + u[1] * w[1] + u[2] * w[2]);
}

static void make_near(hot_peak_grid *grid)
{
    for (size_t j = 0; j < HOT_PEAK_DIRECTIONS; j++) {
        size_t count = 0;
        for (size_t k = 0; k < HOT_PEAK_DIRECTIONS && count < HOT_PEAK_NEAR; k++) {
            if (!(cosine(grid, j, k) >= neighbour_cosine))
                continue;
            size_t at = count++;
            for (; at > 0 && cosine(grid, j, grid->near[j][at - 1]) < cosine(grid, j, k); at--)
                grid->near[j][at] = grid->near[j][at - 1];
            grid->near[j][at] = (unsigned short)k;
        }
        while (count < HOT_PEAK_NEAR)
            grid->near[j][count++] = (unsigned short)j;
    }
}

hot_status hot_peak_grid_make(int order, hot_peak_grid *grid)
{
    const size_t terms = hot_model_terms(order);
    int exponents[3 * HOT_PEAK_TERMS];
    double multiplicity[HOT_PEAK_TERMS];
    grid->order = order;
    hot_sphere_lattice(HOT_PEAK_DIRECTIONS, grid->directions[0]);
    make_near(grid);
    hot_status status = hot_symtensor_exponents(order, 3, exponents);
    if (status == HOT_OK)
        status = hot_symtensor_multiplicity(order, 3, multiplicity);
    for (size_t j = 0; j < HOT_PEAK_DIRECTIONS && status == HOT_OK; j++)
        for (size_t t = 0; t < terms; t++) {
            double value = multiplicity[t];
            for (int d = 0; d < 3; d++)
                for (int k = 0; k < exponents[3 * t + (size_t)d]; k++)
                    value *= grid->directions[j][d];
            grid->monomials[t * HOT_PEAK_DIRECTIONS + j] = value;
        }
    return status;
}

/* A u^m along all directions. Those of a tile are summed side by side, in registers. */
static void evaluate(const hot_peak_grid *grid, const float *tensor, double value[HOT_PEAK_DIRECTIONS])
{
    enum { TILE = 10 };
    _Static_assert(HOT_PEAK_DIRECTIONS % TILE == 0, "whole tiles");
    const size_t terms = hot_model_terms(grid->order);
    for (size_t j = 0; j < HOT_PEAK_DIRECTIONS; j += TILE) {
        double sum[TILE];
        for (size_t i = 0; i < TILE; i++)
            sum[i] = grid->monomials[j + i] * (double)tensor[0];
        for (size_t t = 1; t < terms; t++) {
            const double *monomial = grid->monomials + t * HOT_PEAK_DIRECTIONS + j, factor = tensor[t];
            for (size_t i = 0; i < TILE; i++)
                sum[i] += monomial[i] * factor;
        }
        for (size_t i = 0; i < TILE; i++)
            value[j + i] = sum[i];
    }
}

double hot_peak_merit(const hot_peak_grid *grid, const float *tensor, size_t *highest)
{
    double value[HOT_PEAK_DIRECTIONS], second = 0;
    size_t best = 0;
    evaluate(grid, tensor, value);
    for (size_t j = 1; j < HOT_PEAK_DIRECTIONS; j++)
        if (value[j] > value[best])
            best = j;
    *highest = best;
    if (!(value[best] > 0))
        return 0;
    for (size_t j = 0; j < HOT_PEAK_DIRECTIONS; j++) {
        /* nearly all are below one of the nearest: no branch before that is known */
        const unsigned short *near = grid->near[j];
        double higher = second;
        for (int k = 1; k <= NEAREST; k++)
            higher = value[near[k]] > higher ? value[near[k]] : higher;
        if (value[j] < higher || value[j] <= second || cosine(grid, j, best) > neighbour_cosine)
            continue;
        int peak = 1;
        for (size_t k = 1 + NEAREST; k < HOT_PEAK_NEAR && peak; k++)
            peak = value[grid->near[j][k]] <= value[j];
        if (peak)
            second = value[j];
    }
    const double share = 1 - second / value[best];
    return value[best] * share * share;
}

size_t hot_peak_count(const hot_peak_grid *grid, int order, const float *tensor, double share, double floor)
{
    double a[HOT_MODEL_TERMS_MAX], value[HOT_PEAK_DIRECTIONS], highest = -INFINITY;
    size_t count = 0;
    for (size_t t = 0; t < hot_model_terms(order); t++)
        a[t] = (double)tensor[t];
    hot_symtensor_values_f64(order, 3, a, HOT_PEAK_DIRECTIONS, grid->directions[0], value);
    for (size_t j = 0; j < HOT_PEAK_DIRECTIONS; j++)
        highest = fmax(highest, value[j]);
    for (size_t j = 0; j < HOT_PEAK_DIRECTIONS; j++) {
        int peak = value[j] > 0 && value[j] >= share * highest && value[j] >= floor;
        for (size_t k = 1; k < HOT_PEAK_NEAR && peak; k++)
            peak = value[grid->near[j][k]] <= value[j];
        count += (size_t)peak;
    }
    return count;
}

void hot_peak_climb(int order, const float *tensor, double x[3])
{
    double a[HOT_MODEL_TERMS_MAX], step[3], scale = 0; /* of any order: sharpness is taken at more than the grid's */
    for (size_t t = 0; t < hot_model_terms(order); t++) {
        a[t] = (double)tensor[t];
        scale = fmax(scale, fabs(a[t]));
    }
    for (int i = 0; i < 200; i++) {
        double length = 0, moved = 0;
        const double lambda = hot_symtensor_gradient_f64(order, 3, a, x, step);
        for (int d = 0; d < 3; d++) {
            step[d] += (lambda + .5 * scale) * x[d];
            length += step[d] * step[d];
        }
        if (!(length > 0))
            return;
        for (int d = 0; d < 3; d++) {
            const double next = step[d] / sqrt(length);
            moved = fmax(moved, fabs(next - x[d]));
            x[d] = next;
        }
        if (moved < 1e-7)
            return;
    }
}

double hot_tensor_principal_axis(const float *tensor, double axis[3])
{
    const double t[6] = {tensor[0], tensor[1], tensor[2], tensor[3], tensor[4], tensor[5]};
    double m[3][3] = {{t[0], t[1], t[2]}, {t[1], t[3], t[4]}, {t[2], t[4], t[5]}};
    const double trace = t[0] + t[3] + t[5];
    const double norm2 = t[0] * t[0] + t[3] * t[3] + t[5] * t[5] + 2 * (t[1] * t[1] + t[2] * t[2] + t[4] * t[4]);
    const double minors = t[0] * t[3] - t[1] * t[1] + t[0] * t[5] - t[2] * t[2] + t[3] * t[5] - t[4] * t[4];
    const double determinant = t[0] * (t[3] * t[5] - t[4] * t[4]) - t[1] * (t[1] * t[5] - t[4] * t[2]) +
                               t[2] * (t[1] * t[4] - t[3] * t[2]);
    axis[0] = axis[1] = 0, axis[2] = 1;
    if (!(trace > 0) || !(minors > 0) || !(determinant > 0))
        return 0;
    /* by squaring the tensor until one direction is left */
    for (int round = 0; round < 12; round++) {
        double square[3][3], largest = 0;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                square[a][b] = m[a][0] * m[0][b] + m[a][1] * m[1][b] + m[a][2] * m[2][b];
                largest = fmax(largest, fabs(square[a][b]));
            }
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                m[a][b] = square[a][b] / largest;
    }
    int row = 0;
    for (int a = 1; a < 3; a++)
        row = m[a][a] > m[row][row] ? a : row;
    const double length = sqrt(m[row][0] * m[row][0] + m[row][1] * m[row][1] + m[row][2] * m[row][2]);
    for (int d = 0; d < 3; d++)
        axis[d] = m[row][d] / length;
    return sqrt(fmax(0, 1.5 * (1 - trace * trace / (3 * norm2))));
}
