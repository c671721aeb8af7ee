/* The reference of the mass operators: the matrix B of all basis functions at all points, written out, in long
 * double. */
#include "fem_args.h"

static long double value(const hot_fem_args *args, const void *array, size_t at)
{
    return args->f64 ? ((const double *)array)[at] : ((const float *)array)[at];
}

/* The product of the 1-D basis functions: dof i at point k, both with their indices along the axes, the first
 * fastest. */
static long double basis_at(const hot_fem_args *args, size_t k, size_t i)
{
    long double product = 1;
    for (int axis = 0; axis < args->dim; axis++) {
        product *= value(args, args->basis, k % args->points + args->points * (i % args->dofs));
        k /= args->points;
        i /= args->dofs;
    }
    return product;
}

/* M[i, j] of an element. */
static long double matrix_at(const hot_fem_args *args, size_t element, size_t i, size_t j)
{
    const size_t points = hot_fem_power(args->points, args->dim);
    long double sum = 0;
    for (size_t k = 0; k < points; k++)
        sum += basis_at(args, k, i) * basis_at(args, k, j) * value(args, args->d, element * points + k);
    return sum;
}

hot_status hot_fem_ref(hot_context *context, void *args_pointer)
{
    const hot_fem_args *args = args_pointer;
    const size_t dofs = hot_fem_power(args->dofs, args->dim);
    (void)context;
    for (size_t e = 0; e < args->elements; e++)
        for (size_t i = 0; i < dofs; i++) {
            long double sum = 0;
            for (size_t j = 0; j < dofs; j++) {
                const long double entry = matrix_at(args, e, i, j);
                if (args->assemble && args->f64)
                    ((double *)args->out)[(e * dofs + j) * dofs + i] = (double)entry;
                else if (args->assemble)
                    ((float *)args->out)[(e * dofs + j) * dofs + i] = (float)entry;
                else
                    sum += entry * value(args, args->v, e * dofs + j);
            }
            if (!args->assemble && args->f64)
                ((double *)args->out)[e * dofs + i] = (double)sum;
            else if (!args->assemble)
                ((float *)args->out)[e * dofs + i] = (float)sum;
        }
    return HOT_OK;
}
