/* Arrays in either precision, as the families contract, fem, cpd and mttkrp use them. */
#pragma once

#include "checker.h"

static inline double *normals(check_run *run, size_t count)
{
    double *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = check_random_normal(&run->seed);
    return values;
}

static inline double get(int f64, const void *array, size_t at)
{
    return f64 ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static inline void put(int f64, void *array, size_t at, double value)
{
    if (f64)
        ((double *)array)[at] = value;
    else
        ((float *)array)[at] = (float)value;
}

/* A copy in the precision of the call. */
static inline void *narrow(const double *values, size_t count, int f64)
{
    void *copy = malloc((count + 1) * sizeof(double));
    for (size_t i = 0; i < count; i++)
        put(f64, copy, i, values[i]);
    return copy;
}
