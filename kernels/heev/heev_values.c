/* Matrices that are not finite: how they are recognised, and their results. */
#include "heev.h"

#include <float.h>
#include <math.h>

/* Whether `count` values are finite: without branches, for vectors. */
static int finite_f64(size_t count, const double *x)
{
    int bad = 0;
    for (size_t k = 0; k < count; k++)
        bad |= !(fabs(x[k]) <= DBL_MAX);
    return !bad;
}

static int finite_f32(size_t count, const float *x)
{
    int bad = 0;
    for (size_t k = 0; k < count; k++)
        bad |= !(fabsf(x[k]) <= FLT_MAX);
    return !bad;
}

int hot_heev_finite(const hot_heev_args *args, size_t i)
{
    const size_t n = args->n, parts = args->is_complex ? 2 : 1, matrix = i * n * n;
    for (size_t line = 0; line < n; line++) { /* numbers of the triangle that follow each other */
        size_t from = parts * (matrix + line * n + (args->upper ? 0 : line)), count = args->upper ? line + 1 : n - line;
        const size_t diagonal = parts * (matrix + line * (n + 1)); /* whose imaginary part does not count */
        count = parts * count - parts;
        from += args->upper ? 0 : parts;
        if (args->f64) {
            const double *a = args->matrices;
            if (!finite_f64(count, a + from) || !finite_f64(1, a + diagonal))
                return 0;
        } else {
            const float *a = args->matrices;
            if (!finite_f32(count, a + from) || !finite_f32(1, a + diagonal))
                return 0;
        }
    }
    return 1;
}

static void fill_nan(int f64, void *values, size_t from, size_t count)
{
    for (size_t k = from; k < from + count; k++) {
        if (f64)
            ((double *)values)[k] = NAN;
        else
            ((float *)values)[k] = NAN;
    }
}

void hot_heev_refuse(const hot_heev_args *args, size_t i)
{
    const size_t vector = args->kept * args->n * (args->is_complex ? 2 : 1);
    args->flags[i] = 1;
    fill_nan(args->f64, args->values, i * args->kept, args->kept);
    if (args->vectors)
        fill_nan(args->f64, args->vectors, i * vector, vector);
}
