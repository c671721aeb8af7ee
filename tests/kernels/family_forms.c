/* Forms A x^p of every order, dimension and p, on every backend, against the loops over all entries. */
#include "checker.h"

#include <float.h>
#include <hotfiber/symtensor.h>
#include "symtensor/symtensor_ref.h"

/* A x^p at one index tuple, whose first `given` indices are filled in: the sum over the others; and of magnitudes. */
static long double contracted(int order, int dim, const double *tensor, const double *x, int *tuple, int given,
                              long double *magnitude)
{
    if (given == order) {
        const double value = tensor[hot_symtensor_place_ref(order, dim, tuple)];
        *magnitude = fabs(value);
        return value;
    }
    long double sum = 0;
    *magnitude = 0;
    for (int i = 0; i < dim; i++) {
        long double part;
        tuple[given] = i;
        sum += x[i] * contracted(order, dim, tensor, x, tuple, given + 1, &part);
        *magnitude += fabs(x[i]) * part;
    }
    return sum;
}

typedef struct forms_case {
    int order, dim, times, f64;
    size_t count, stride, points, width;
    const void *tensors, *x;
    void *result;
} forms_case;

static double at(const forms_case *c, const void *array, size_t i)
{
    return c->f64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

/* An input of this precision, from doubles. */
static const void *input(check_run *run, const forms_case *c, const double *values, size_t count)
{
    float *narrow = malloc((count + 1) * sizeof *narrow);
    for (size_t i = 0; i < count; i++)
        narrow[i] = (float)values[i];
    const void *made = c->f64 ? check_input(run, values, count * sizeof *values)
                              : check_input(run, narrow, count * sizeof *narrow);
    free(narrow);
    return made;
}

static void check_results(check_run *run, const forms_case *c, double size)
{
    const size_t all = c->count * c->points * c->width, step = all / (pow(c->dim, c->times) > 300 ? 30 : 300) + 1;
    const size_t unique = hot_symtensor_count(c->order, c->dim);
    int *exponents = malloc((c->width + 1) * (size_t)c->dim * sizeof *exponents);
    double *tensor = malloc(unique * sizeof *tensor), x[HOT_DIM_MAX];
    if (c->times < c->order)
        hot_symtensor_exponents(c->order - c->times, c->dim, exponents);
    for (size_t item = 0; item < all; item += step) {
        const size_t t = item / c->width / c->points, point = item / c->width % c->points;
        int tuple[HOT_ORDER_MAX], given = 0, bad = 0;
        for (size_t i = 0; i < unique; i++)
            tensor[i] = at(c, c->tensors, t * c->stride + i), bad |= !isfinite(tensor[i]);
        for (int d = 0; d < c->dim; d++)
            x[d] = at(c, c->x, point * (size_t)c->dim + (size_t)d), bad |= c->times > 0 && !isfinite(x[d]);
        if (bad)
            continue;
        for (int d = 0; d < c->dim && c->times < c->order; d++)
            for (int k = 0; k < exponents[item % c->width * (size_t)c->dim + (size_t)d]; k++)
                tuple[given++] = d;
        long double magnitude;
        const long double expected = contracted(c->order, c->dim, tensor, x, tuple, given, &magnitude);
        /* a contraction rounds dim products and sums; an unfolded product p factors and a sum of all columns; what is
         * denormal is rounded besides */
        const double slack = (double)magnitude * (c->dim + 2) * (c->times + 1) * (c->f64 ? DBL_EPSILON : FLT_EPSILON) +
            (c->times + 1) * (c->f64 ? DBL_TRUE_MIN : (double)FLT_TRUE_MIN);
        CHECK_ITEM(run, item, fabs(at(c, c->result, item) - (double)expected) <= slack, "%.9g, not %.9Lg (size %g)",
                   at(c, c->result, item), expected, size);
    }
    FREE(exponents, tensor);
}

/* size: of the points; one tensor and one point hold NaN and harm no other. */
static void check_case(check_run *run, int order, int dim, int times, int f64, size_t count, size_t points, double size)
{
    if (!check_begin(run, count * points, "order %d dim %d p %d f%d, %zu x %zu, points of %g", order, dim, times,
                     f64 ? 64 : 32, count, points, size))
        return;
    forms_case c = {.order = order, .dim = dim, .times = times, .f64 = f64, .count = count, .points = points};
    const size_t unique = hot_symtensor_count(order, dim), bytes = f64 ? sizeof(double) : sizeof(float);
    c.stride = unique + count % 2;
    c.width = times == order ? 1 : hot_symtensor_count(order - times, dim);
    const size_t all = count * points * c.width;
    double *tensors = malloc((count * c.stride + 1) * sizeof *tensors),
           *x = malloc((points * (size_t)dim + 1) * sizeof *x);
    for (size_t i = 0; i < count * c.stride; i++)
        tensors[i] = i % c.stride < unique ? check_random_normal(&run->seed) : NAN;
    for (size_t i = 0; i < points * (size_t)dim; i++)
        x[i] = size * (2 * check_random(&run->seed) - 1);
    if (count > 2)
        tensors[c.stride + unique - 1] = NAN;
    if (points > 2)
        x[2 * (size_t)dim - 1] = NAN;
    c.tensors = input(run, &c, tensors, count * c.stride);
    c.x = input(run, &c, x, points * (size_t)dim);
    c.result = check_output(run, all * bytes);
    const hot_status status =
        f64 ? hot_symtensor_contract_f64(run->context, order, dim, times, count, c.tensors, c.stride, points, c.x,
                                         c.result)
            : hot_symtensor_contract_f32(run->context, order, dim, times, count, c.tensors, c.stride, points, c.x,
                                         c.result);
    if (check_call(run, status)) {
        CHECK_ITEM(run, 0, check_unwritten(c.result, all, bytes) == 0, "values were not written");
        check_results(run, &c, size);
        for (size_t i = 0; i < c.width && points > 2 && times > 0 && count > 0; i++)
            CHECK_ITEM(run, i, isnan(at(&c, c.result, c.width + i)), "a point with NaN gives %g",
                       at(&c, c.result, c.width + i));
        if (count > 2 && points > 0)
            CHECK_ITEM(run, 0, isnan(at(&c, c.result, (points + 1) * c.width - 1)), "a tensor with NaN gives %g",
                       at(&c, c.result, (points + 1) * c.width - 1));
    }
    FREE(tensors, x);
    check_case_end(run);
}

static void check(check_run *run)
{
    for (int order = 1; order <= 8; order++)
        for (int dim = 1; dim <= HOT_DIM_MAX; dim++)
            for (int times = 0; times <= order && pow(dim, order) <= 5000; times++)
                for (int f64 = 0; f64 < 2; f64++)
                    check_case(run, order, dim, times, f64, 3, dim % 3 == 0 ? 70 : 19, 1);
    for (int f64 = 0; f64 < 2; f64++) {
        check_case(run, 12, 2, 9, f64, 2, 5, 1);
        check_case(run, 5, 6, 2, f64, 5, 131, 1);
        check_case(run, 4, 3, 3, f64, 40, 257, 1);
        check_case(run, 4, 3, 4, f64, 1, 4099, 1);
        check_case(run, 8, 5, 8, f64, 2, 3, 1);
        check_case(run, 4, 16, 2, f64, 1, 33, 1);
        check_case(run, 4, 3, 0, f64, 0, 3, 1);
        check_case(run, 4, 3, 1, f64, 3, 0, 1);
        /* monomials of these are out of the range of float, results are not */
        check_case(run, 4, 4, 3, f64, 3, 35, 1e-12);
        check_case(run, 4, 4, 3, f64, 3, 35, 1e12);
        check_case(run, 8, 3, 8, f64, 2, 35, 3e-5);
    }
}

const check_family family_forms = {"forms", 0, 1, check, NULL};
