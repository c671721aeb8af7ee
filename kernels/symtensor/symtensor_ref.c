/* The definition itself (definition 2 of the Ballard paper): loops over all n^m index tuples, each looked up in the
 * packed tensor by sorting it and counting how many sorted tuples come before. Shares nothing with the fast code. */
#include "symtensor_ref.h"

#include <math.h>

#include <hotfiber/symtensor.h>

static size_t binomial(int n, int k)
{
    size_t result = 1;
    k = k < n - k ? k : n - k;
    for (int j = 1; j <= k; j++)
        result = result * (size_t)(n - k + j) / (size_t)j;
    return result;
}

size_t hot_symtensor_place_ref(int order, int dim, const int *tuple)
{
    int sorted[HOT_ORDER_MAX];
    for (int j = 0; j < order; j++) {
        int at = j;
        for (; at > 0 && sorted[at - 1] > tuple[j]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = tuple[j];
    }
    size_t place = 0;
    int least = 0; /* before `sorted`: tuples equal up to j whose index at j is smaller */
    for (int j = 0; j < order; j++) {
        for (int smaller = least; smaller < sorted[j]; smaller++)
            place += binomial(order - j - 1 + dim - smaller - 1, order - j - 1);
        least = sorted[j];
    }
    return place;
}

void hot_symtensor_contract_ref(int order, int dim, int p, const double *tensor, const long double *x,
                                long double *result, long double *magnitude)
{
    int results = p == 0 ? 1 : p == 1 ? dim : dim * dim;
    for (int r = 0; r < results; r++) {
        result[r] = 0;
        if (magnitude)
            magnitude[r] = 0;
    }
    int tuple[HOT_ORDER_MAX] = {0};
    for (;;) {
        long double term = tensor[hot_symtensor_place_ref(order, dim, tuple)];
        for (int j = p; j < order; j++)
            term *= x[tuple[j]];
        int r = p == 0 ? 0 : p == 1 ? tuple[0] : tuple[0] * dim + tuple[1];
        result[r] += term;
        if (magnitude)
            magnitude[r] += fabsl(term);
        int at = order - 1;
        while (at >= 0 && tuple[at] == dim - 1)
            tuple[at--] = 0;
        if (at < 0)
            return;
        tuple[at]++;
    }
}
