/* Random arrays of the families cpd and mttkrp, in both precisions. */
#ifndef HOT_TESTS_CPD_VALUES_H
#define HOT_TESTS_CPD_VALUES_H

#include "checker.h"

static inline double *normals(check_run *run, size_t count)
{
    double *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = check_random_normal(&run->seed);
    return values;
}

/* A copy in the precision of the call, and back. */
static inline void *narrow(const double *values, size_t count, int f64)
{
    void *copy = malloc((count + 1) * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        if (f64)
            ((double *)copy)[i] = values[i];
        else
            ((float *)copy)[i] = (float)values[i];
    }
    return copy;
}

static inline double get(int f64, const void *array, size_t at)
{
    return f64 ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

#endif
