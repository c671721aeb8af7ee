/* The reference of the mass operators: the matrix B of all basis functions at all points, written out, in long
 * double. */
#include "fem.h"

static long double value(const hot_fem_job *job, const void *array, size_t at)
{
    return job->f64 ? ((const double *)array)[at] : ((const float *)array)[at];
}

/* The product of the 1-D basis functions: dof i at point k, both with their indices along the axes, the first
 * fastest. */
static long double basis_at(const hot_fem_job *job, size_t k, size_t i)
{
    long double product = 1;
    for (int axis = 0; axis < job->dim; axis++) {
        product *= value(job, job->basis, k % job->points + job->points * (i % job->dofs));
        k /= job->points;
        i /= job->dofs;
    }
    return product;
}

/* M[i, j] of an element. */
static long double matrix_at(const hot_fem_job *job, size_t element, size_t i, size_t j)
{
    const size_t points = hot_fem_power(job->points, job->dim);
    long double sum = 0;
    for (size_t k = 0; k < points; k++)
        sum += basis_at(job, k, i) * basis_at(job, k, j) * value(job, job->d, element * points + k);
    return sum;
}

hot_status hot_fem_ref(hot_context *context, void *call_pointer)
{
    const hot_fem_call *call = call_pointer;
    const hot_fem_job *job = &call->job;
    const size_t dofs = hot_fem_power(job->dofs, job->dim);
    (void)context;
    for (size_t e = 0; e < job->elements; e++)
        for (size_t i = 0; i < dofs; i++) {
            long double sum = 0;
            for (size_t j = 0; j < dofs; j++) {
                const long double entry = matrix_at(job, e, i, j);
                if (call->assemble && job->f64)
                    ((double *)job->out)[(e * dofs + j) * dofs + i] = (double)entry;
                else if (call->assemble)
                    ((float *)job->out)[(e * dofs + j) * dofs + i] = (float)entry;
                else
                    sum += entry * value(job, job->v, e * dofs + j);
            }
            if (!call->assemble && job->f64)
                ((double *)job->out)[e * dofs + i] = (double)sum;
            else if (!call->assemble)
                ((float *)job->out)[e * dofs + i] = (float)sum;
        }
    return HOT_OK;
}
