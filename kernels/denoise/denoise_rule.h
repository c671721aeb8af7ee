/* Which eigenvalues are noise: the rule of every backend but the reference. */
#pragma once

#include <math.h>

#include "common/portable.h"

/* Of `columns` eigenvalues of a Gram matrix over `rows` samples, with the `signal` largest treated as signal: whether
 * the others are noise. rest: their sum; next: the largest of them; least: the smallest (at least 0). *variance: the
 * noise's then. veraart: Exp1 instead of Exp2. */
HOT_FN int denoise_is_noise(int columns, int rows, int veraart, int signal, double rest, double next, double least,
                            double *variance)
{
    const double left = (double)(columns - signal), free_rows = (double)(veraart ? rows : rows - signal);
    *variance = rest / (free_rows * left);
    /* the width of a Marchenko-Pastur distribution is 4 sigma^2 sqrt(gamma) */
    return (next - least) / (4 * sqrt(left / free_rows)) < rest / left;
}
