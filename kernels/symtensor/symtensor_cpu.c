/* A x^m, A x^(m-1), A x^(m-2) on packed symmetric tensors: unrolled for three dimensions and orders 2 4 6 8, else by
 * walking the index classes (figures 2 and 3 of the Ballard paper). */
#include <math.h>

#include "classes.h"
#include "forms.h"

/* power[d][k] = x_d^k */
static void powers(int order, int dim, const double *x, double power[HOT_DIM_MAX][HOT_ORDER_MAX + 1])
{
    for (int d = 0; d < dim; d++) {
        power[d][0] = 1;
        for (int k = 1; k <= order; k++)
            power[d][k] = power[d][k - 1] * x[d];
    }
}

static double general_value(int order, int dim, const double *tensor, const double *x)
{
    double power[HOT_DIM_MAX][HOT_ORDER_MAX + 1], sum = 0;
    powers(order, dim, x, power);
    hot_class class;
    hot_class_first(&class, order, dim);
    do {
        double term = hot_class_multiplicity(&class) * *tensor++;
        for (int r = 0; r < class.runs; r++)
            term *= power[class.run_index[r]][class.run_length[r]];
        sum += term;
    } while (hot_class_next(&class));
    return sum;
}

static double general_gradient(int order, int dim, const double *tensor, const double *x, double *gradient)
{
    double power[HOT_DIM_MAX][HOT_ORDER_MAX + 1];
    powers(order, dim, x, power);
    for (int d = 0; d < dim; d++)
        gradient[d] = 0;
    hot_class class;
    hot_class_first(&class, order, dim);
    do {
        /* The class holds index d k_d times: k_d / m of its entries have d in the first place. */
        double weighted = hot_class_multiplicity(&class) * *tensor++ / order;
        for (int r = 0; r < class.runs; r++) {
            double term = weighted * class.run_length[r];
            for (int q = 0; q < class.runs; q++)
                term *= power[class.run_index[q]][class.run_length[q] - (q == r)];
            gradient[class.run_index[r]] += term;
        }
    } while (hot_class_next(&class));
    double value = 0;
    for (int d = 0; d < dim; d++)
        value += gradient[d] * x[d];
    return value;
}

static void general_hessian(hot_poll *poll, int order, int dim, const double *tensor, const double *x, double *hessian)
{
    double power[HOT_DIM_MAX][HOT_ORDER_MAX + 1];
    powers(order, dim, x, power);
    for (int d = 0; d < dim * dim; d++)
        hessian[d] = 0;
    hot_class class;
    hot_class_first(&class, order, dim);
    do {
        double weighted = hot_class_multiplicity(&class) * *tensor++ / ((double)order * (order - 1));
        for (int r = 0; r < class.runs; r++) {
            for (int q = 0; q <= r; q++) {
                double pairs = (double)class.run_length[r] * (class.run_length[q] - (q == r));
                if (pairs == 0)
                    continue;
                double term = weighted * pairs;
                for (int s = 0; s < class.runs; s++)
                    term *= power[class.run_index[s]][class.run_length[s] - (s == r) - (s == q)];
                int i = class.run_index[r], j = class.run_index[q];
                hessian[i * dim + j] += term;
                if (i != j)
                    hessian[j * dim + i] += term;
            }
        }
    } while (!hot_poll_after(poll, 1) && hot_class_next(&class));
}

double hot_symtensor_value_f64(int order, int dim, const double *tensor, const double *x)
{
    if (!hot_class_valid(order, dim) || !tensor || !x)
        return NAN;
    if (dim == 3) {
        switch (order) {
        case 2: return hot_form_value_2_f64(tensor, x[0], x[1], x[2]);
        case 4: return hot_form_value_4_f64(tensor, x[0], x[1], x[2]);
        case 6: return hot_form_value_6_f64(tensor, x[0], x[1], x[2]);
        case 8: return hot_form_value_8_f64(tensor, x[0], x[1], x[2]);
        }
    }
    return general_value(order, dim, tensor, x);
}

double hot_symtensor_gradient_f64(int order, int dim, const double *tensor, const double *x, double *gradient)
{
    if (!hot_class_valid(order, dim) || !tensor || !x || !gradient) {
        for (int d = 0; gradient && d < dim; d++)
            gradient[d] = NAN;
        return NAN;
    }
    if (dim == 3 && order <= 8 && order % 2 == 0) {
        switch (order) {
        case 2: hot_form_gradient_2_f64(tensor, x[0], x[1], x[2], gradient); break;
        case 4: hot_form_gradient_4_f64(tensor, x[0], x[1], x[2], gradient); break;
        case 6: hot_form_gradient_6_f64(tensor, x[0], x[1], x[2], gradient); break;
        default: hot_form_gradient_8_f64(tensor, x[0], x[1], x[2], gradient); break;
        }
        return gradient[0] * x[0] + gradient[1] * x[1] + gradient[2] * x[2];
    }
    return general_gradient(order, dim, tensor, x, gradient);
}

void hot_symtensor_hessian_f64(int order, int dim, const double *tensor, const double *x, double *hessian)
{
    hot_symtensor_hessian_polled(NULL, order, dim, tensor, x, hessian);
}

void hot_symtensor_hessian_polled(hot_poll *poll, int order, int dim, const double *tensor, const double *x,
                                  double *hessian)
{
    if (!hot_class_valid(order, dim) || order < 2 || !tensor || !x || !hessian) {
        for (int d = 0; hessian && d < dim * dim; d++)
            hessian[d] = NAN;
        return;
    }
    if (dim == 3 && order <= 8 && order % 2 == 0) {
        double h[6];
        switch (order) {
        case 2: hot_form_hessian_2_f64(tensor, x[0], x[1], x[2], h); break;
        case 4: hot_form_hessian_4_f64(tensor, x[0], x[1], x[2], h); break;
        case 6: hot_form_hessian_6_f64(tensor, x[0], x[1], x[2], h); break;
        default: hot_form_hessian_8_f64(tensor, x[0], x[1], x[2], h); break;
        }
        const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
        for (int k = 0; k < 9; k++)
            hessian[k] = h[place[k]];
        return;
    }
    general_hessian(poll, order, dim, tensor, x, hessian);
}

void hot_symtensor_values_f64(int order, int dim, const double *tensor, size_t count, const double *x, double *values)
{
    for (size_t p = 0; values && p < count; p++)
        values[p] = !x ? NAN : hot_symtensor_value_f64(order, dim, tensor, x + p * (size_t)dim);
}
