/* Mass operators: arguments, the choice of a backend, and a basis to use. */
#include "fem_args.h"

#include <math.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/entry.h"

static const hot_backends backends = {"finite elements", hot_fem_ref, hot_fem_cpu, HOT_CUDA_BACKEND(hot_fem_cuda), 1};

static hot_status run(hot_context *context, hot_fem_args *args)
{
    if (args->dim != 2 && args->dim != 3)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "elements of dimension %d: 2 and 3 are known", args->dim);
    if (args->dofs < 1 || args->dofs > HOT_FEM_POINTS || args->points < 1 || args->points > HOT_FEM_POINTS)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "%zu basis functions and %zu points along an axis: 1 to %d of "
                                "each are possible",
                                args->dofs, args->points, HOT_FEM_POINTS);
    const size_t dofs = hot_fem_power(args->dofs, args->dim), points = hot_fem_power(args->points, args->dim);
    const size_t most = args->assemble && dofs * dofs > points ? dofs * dofs : dofs > points ? dofs : points;
    if (args->elements > SIZE_MAX / 32 / most)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "%zu elements are more than memory can hold",
                                args->elements);
    if (args->elements == 0)
        return HOT_OK;
    if (!args->basis || !args->d || !args->out || (!args->assemble && !args->v))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "an array of the finite elements is NULL");
    return hot_backend_run(context, &backends, args);
}

/* What the four public functions share. */
static hot_status enter(hot_context *context, hot_fem_args args)
{
    const void *basis = args.basis, *d = args.d, *v = args.v, *u = args.out, *m = args.out;
    HOT_NEED(context);
    if (args.elements > 0 && args.assemble)
        HOT_NEED(context, basis, d, m);
    else if (args.elements > 0)
        HOT_NEED(context, basis, d, v, u);
    return run(context, &args);
}

hot_status hot_fem_mass_action_f64(hot_context *context, int dim, size_t dofs, size_t points, const double *basis,
                                   size_t elements, const double *d, const double *v, double *u)
{
    HOT_ENTRY(context);
    return enter(context, (hot_fem_args){1, dim, dofs, points, elements, basis, d, v, u, 0});
}

hot_status hot_fem_mass_action_f32(hot_context *context, int dim, size_t dofs, size_t points, const float *basis,
                                   size_t elements, const float *d, const float *v, float *u)
{
    HOT_ENTRY(context);
    return enter(context, (hot_fem_args){0, dim, dofs, points, elements, basis, d, v, u, 0});
}

hot_status hot_fem_mass_assemble_f64(hot_context *context, int dim, size_t dofs, size_t points, const double *basis,
                                     size_t elements, const double *d, double *m)
{
    HOT_ENTRY(context);
    return enter(context, (hot_fem_args){1, dim, dofs, points, elements, basis, d, NULL, m, 1});
}

hot_status hot_fem_mass_assemble_f32(hot_context *context, int dim, size_t dofs, size_t points, const float *basis,
                                     size_t elements, const float *d, float *m)
{
    HOT_ENTRY(context);
    return enter(context, (hot_fem_args){0, dim, dofs, points, elements, basis, d, NULL, m, 1});
}

/* ---- A basis ----------------------------------------------------------------------------------------------------- */

/* P_n(x) and its derivative, by the three-term recurrence; |x| < 1. */
static void legendre(int n, double x, double *value, double *slope)
{
    double before = 1, now = x;
    for (int k = 2; k <= n; k++) {
        const double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
        before = now;
        now = next;
    }
    *value = n == 0 ? 1 : now;
    *slope = n == 0 ? 0 : n * (before - x * now) / (1 - x * x);
}

/* The Gauss-Legendre rule of n points in [0, 1], ascending: Newton's method from Chebyshev's guess. */
static void gauss_legendre(int n, double *points, double *weights)
{
    for (int i = 0; i < n; i++) {
        double x = -cos(acos(-1.) * (i + .75) / (n + .5)), value = 0, slope = 1;
        for (int step = 0; step < 20; step++) {
            legendre(n, x, &value, &slope);
            x -= value / slope;
        }
        legendre(n, x, &value, &slope);
        points[i] = .5 * (1 + x);
        weights[i] = 1 / ((1 - x * x) * slope * slope);
    }
}

/* The n Gauss-Lobatto nodes in [0, 1]: the ends, and the zeros of P'_(n-1) by Newton with Legendre's equation. */
static void gauss_lobatto(int n, double *nodes)
{
    nodes[0] = 0;
    nodes[n - 1] = 1;
    for (int i = 1; i < n - 1; i++) {
        double x = -cos(acos(-1.) * i / (n - 1)), value, slope;
        for (int step = 0; step < 20; step++) {
            legendre(n - 1, x, &value, &slope);
            x -= (1 - x * x) * slope / (2 * x * slope - (double)(n - 1) * n * value);
        }
        nodes[i] = .5 * (1 + x);
    }
}

hot_status hot_fem_basis(hot_context *context, size_t dofs, size_t points, double *basis, double *weights)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    double nodes[HOT_FEM_POINTS], at[HOT_FEM_POINTS], weight[HOT_FEM_POINTS];
    if (dofs < 2 || dofs > HOT_FEM_POINTS || points < 1 || points > HOT_FEM_POINTS)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a basis of %zu functions at %zu points: 2 to %d functions and 1 "
                                "to %d points are possible",
                                dofs, points, HOT_FEM_POINTS, HOT_FEM_POINTS);
    gauss_lobatto((int)dofs, nodes);
    gauss_legendre((int)points, at, weight);
    for (size_t k = 0; k < points; k++) {
        if (weights)
            weights[k] = weight[k];
        for (size_t i = 0; i < dofs && basis; i++) {
            double product = 1;
            for (size_t j = 0; j < dofs; j++)
                product *= j == i ? 1 : (at[k] - nodes[j]) / (nodes[i] - nodes[j]);
            basis[k + points * i] = product;
        }
    }
    /* The nodes and the points lie symmetrically, to rounding: the values do to the last bit, which is faster to
     * use. */
    for (size_t k = 0; k < points / 2 && weights; k++)
        weights[points - 1 - k] = weights[k];
    for (size_t x = 0; x < dofs * points / 2 && basis; x++)
        basis[dofs * points - 1 - x] = basis[x];
    return HOT_OK;
}
