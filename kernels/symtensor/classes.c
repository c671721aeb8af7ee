/* Index classes: see classes.h. */
#include "classes.h"
#include "common/entry.h"

#include <stdint.h>

static const double factorial[HOT_ORDER_MAX + 1] = {
    1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600, 6227020800, 87178291200,
    1307674368000, 20922789888000};

static void find_runs(hot_class *self)
{
    self->runs = 0;
    for (int j = 0; j < self->order; j++) {
        if (self->runs && self->run_index[self->runs - 1] == self->index[j]) {
            self->run_length[self->runs - 1]++;
        } else {
            self->run_index[self->runs] = self->index[j];
            self->run_length[self->runs++] = 1;
        }
    }
}

void hot_class_first(hot_class *self, int order, int dim)
{
    self->order = order;
    self->dim = dim;
    for (int j = 0; j < order; j++)
        self->index[j] = 0;
    find_runs(self);
}

int hot_class_next(hot_class *self)
{
    int at = self->order - 1;
    while (at >= 0 && self->index[at] == self->dim - 1)
        at--;
    if (at < 0)
        return 0;
    int value = self->index[at] + 1;
    for (; at < self->order; at++)
        self->index[at] = value;
    find_runs(self);
    return 1;
}

double hot_class_multiplicity(const hot_class *self)
{
    double result = factorial[self->order];
    for (int r = 0; r < self->runs; r++)
        result /= factorial[self->run_length[r]]; /* every quotient on the way is a whole number */
    return result;
}

int hot_class_valid(int order, int dim)
{
    return order >= 1 && order <= HOT_ORDER_MAX && dim >= 1 && dim <= HOT_DIM_MAX;
}

size_t hot_symtensor_count(int order, int dim)
{
    if (!hot_class_valid(order, dim))
        return 0;
    size_t count = 1; /* C(dim - 1 + j, j) for j = 1 ... order; C(31, 16) is 3.0e8 */
    for (int j = 1; j <= order; j++)
        count = count * (size_t)(dim - 1 + j) / (size_t)j;
    return count;
}

hot_status hot_symtensor_exponents(int order, int dim, int *exponents)
{
    HOT_ENTRY(NULL);
    if (!hot_class_valid(order, dim) || !exponents)
        return HOT_ERROR_ARGUMENT;
    hot_class class;
    hot_class_first(&class, order, dim);
    do {
        for (int d = 0; d < dim; d++)
            exponents[d] = 0;
        for (int r = 0; r < class.runs; r++)
            exponents[class.run_index[r]] = class.run_length[r];
        exponents += dim;
    } while (hot_class_next(&class));
    return HOT_OK;
}

void hot_class_multiplicities(hot_poll *poll, int order, int dim, double *multiplicity)
{
    hot_class class;
    hot_class_first(&class, order, dim);
    do
        *multiplicity++ = hot_class_multiplicity(&class);
    while (!hot_poll_after(poll, 1) && hot_class_next(&class));
}

hot_status hot_symtensor_multiplicity(int order, int dim, double *multiplicity)
{
    HOT_ENTRY(NULL);
    if (!hot_class_valid(order, dim) || !multiplicity)
        return HOT_ERROR_ARGUMENT;
    hot_class_multiplicities(NULL, order, dim, multiplicity);
    return HOT_OK;
}

/* The tuples after all that have `index` at `position` and begin alike: those with a larger index there. */
static size_t places_after(int order, int dim, int position, int index)
{
    return index == dim - 1 ? 0 : hot_class_count(order - position, dim - 1 - index);
}

int hot_class_prefixes(int degree, int dim, uint64_t *prefix)
{
    int count = 0;
    hot_class class;
    prefix[0] = 0;
    if (degree == 1)
        return 1;
    hot_class_first(&class, degree - 1, dim);
    do {
        prefix[count] = 0;
        for (int j = 0; j < degree - 1; j++)
            prefix[count] = prefix[count] << 4 | (uint64_t)class.index[j];
        count++;
    } while (hot_class_next(&class));
    return count;
}

void hot_class_places(int order, int dim, const int *tuple, int first, uint32_t *places)
{
    const int given = order - 1;
    size_t after[HOT_ORDER_MAX + 1], before = 0; /* of the indices behind the new one, and of those in front */
    after[given] = 0;
    for (int p = given - 1; p >= 0; p--)
        after[p] = after[p + 1] + places_after(order, dim, p + 1, tuple[p]);
    const size_t last = hot_class_count(order, dim) - 1;
    int at = 0;
    for (int r = 0; r < dim; r++) {
        for (; at < given && tuple[at] <= r; at++)
            before += places_after(order, dim, at, tuple[at]);
        if (r >= first)
            *places++ = (uint32_t)(last - before - places_after(order, dim, at, r) - after[at]);
    }
}
