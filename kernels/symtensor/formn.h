/* Forms of order 3 and 4 in HOT_DIM dimensions, unrolled: a template like form3.h, for
 *
 *   #define HOT_ORDER 3 or 4
 *   #define HOT_DIM 2 ... 6
 *
 * (HOT_SCALAR, HOT_REAL, HOT_COEF and HOT_FORM as there.) The Hessian A x^(m-2) comes first, from x (order 3) or from
 * the products x_i x_j (order 4), and the gradient is the Hessian times x. */
#include "common/portable.h"

#define HOT_PAIRS (HOT_DIM * (HOT_DIM + 1) / 2)

/* The place of the pair i <= j among all pairs, and of a whole tuple in the packed tensor: the combinatorial number
 * system counts how many sorted tuples come after. */
HOT_FN int HOT_FORM(pair)(int i, int j) { return i * HOT_DIM - i * (i - 1) / 2 + j - i; }

#if HOT_ORDER == 3
HOT_FN int HOT_FORM(place)(int i, int j, int k)
{
    /* j <= k; sort i in */
    int first = i < j ? i : j, last = i > k ? i : k, middle = i + j + k - first - last;
    int p = HOT_DIM - 1 - first, q = HOT_DIM - 1 - middle, r = HOT_DIM - 1 - last;
    return HOT_DIM * (HOT_DIM + 1) * (HOT_DIM + 2) / 6 - 1 - p * (p + 1) * (p + 2) / 6 - q * (q + 1) / 2 - r;
}
#else
HOT_FN int HOT_FORM(place)(int i, int j, int k, int l)
{
    /* i <= j and k <= l: merge the two pairs */
    int first = i < k ? i : k, last = j > l ? j : l;
    int a = i < k ? k : i, b = j > l ? l : j; /* the two in the middle */
    int second = a < b ? a : b, third = a < b ? b : a;
    int p = HOT_DIM - 1 - first, q = HOT_DIM - 1 - second, r = HOT_DIM - 1 - third, s = HOT_DIM - 1 - last;
    return HOT_DIM * (HOT_DIM + 1) * (HOT_DIM + 2) * (HOT_DIM + 3) / 24 - 1 - p * (p + 1) * (p + 2) * (p + 3) / 24 -
           q * (q + 1) * (q + 2) / 6 - r * (r + 1) / 2 - s;
}
#endif

/* A x^(m-2) into h[HOT_PAIRS], the upper triangle row by row. */
HOT_FN void HOT_FORM(hessian)(const HOT_COEF *a, const HOT_REAL *x, HOT_REAL *h)
{
#if HOT_ORDER == 4
    HOT_REAL w[HOT_PAIRS];
    HOT_UNROLL
    for (int i = 0; i < HOT_DIM; i++) {
        HOT_REAL twice = x[i] * 2;
        HOT_UNROLL
        for (int j = 0; j < HOT_DIM; j++)
            if (j >= i)
                w[HOT_FORM(pair)(i, j)] = i == j ? x[i] * x[i] : twice * x[j];
    }
#endif
    HOT_UNROLL
    for (int k = 0; k < HOT_DIM; k++) {
        HOT_UNROLL
        for (int l = 0; l < HOT_DIM; l++) {
            if (l < k)
                continue;
#if HOT_ORDER == 3
            HOT_REAL sum = x[0] * a[HOT_FORM(place)(0, k, l)];
            HOT_UNROLL
            for (int i = 1; i < HOT_DIM; i++)
                sum += x[i] * a[HOT_FORM(place)(i, k, l)];
#else
            HOT_REAL sum = w[0] * a[HOT_FORM(place)(0, 0, k, l)];
            HOT_UNROLL
            for (int i = 0; i < HOT_DIM; i++) {
                HOT_UNROLL
                for (int j = 0; j < HOT_DIM; j++)
                    if (j >= i && i + j > 0)
                        sum += w[HOT_FORM(pair)(i, j)] * a[HOT_FORM(place)(i, j, k, l)];
            }
#endif
            h[HOT_FORM(pair)(k, l)] = sum;
        }
    }
}

/* A x^(m-1) = (A x^(m-2)) x into g[HOT_DIM]. */
HOT_FN void HOT_FORM(apply)(const HOT_REAL *h, const HOT_REAL *x, HOT_REAL *g)
{
    HOT_UNROLL
    for (int i = 0; i < HOT_DIM; i++) {
        HOT_REAL sum = h[HOT_FORM(pair)(0, i)] * x[0];
        HOT_UNROLL
        for (int j = 1; j < HOT_DIM; j++)
            sum += h[j < i ? HOT_FORM(pair)(j, i) : HOT_FORM(pair)(i, j)] * x[j];
        g[i] = sum;
    }
}
#undef HOT_PAIRS
