/* Real even spherical harmonics in MRtrix's convention, and the change of basis to symmetric tensors.
 *
 * A harmonic of degree l times r^(m - l) is a homogeneous polynomial of degree m on which the unit sphere sees only the
 * harmonic: its coefficients, divided by the multiplicities, are the tensor. Backwards, a coefficient is the integral
 * of harmonic times form over the sphere, a sum of integrals of monomials known in closed form. Both are sums of exact
 * terms: no system is solved. */
#include <math.h>

#include "common/arguments.h"
#include "classes.h"
#include "common/entry.h"

enum { TERMS_MAX = (HOT_ORDER_MAX + 1) * (HOT_ORDER_MAX + 2) / 2 };

static int valid_order(int order) { return order >= 2 && order <= HOT_ORDER_MAX && order % 2 == 0; }

static size_t terms_of(int order) { return (size_t)(order + 1) * (size_t)(order + 2) / 2; }

static size_t place_xyz(int order, int kx, int kz)
{
    size_t s = (size_t)(order - kx);
    return s * (s + 1) / 2 + (size_t)kz;
}

static long double binomial(int n, int k)
{
    long double result = 1;
    for (int j = 1; j <= k; j++)
        result = result * (n - k + j) / j;
    return result;
}

/* sqrt((2l + 1) / (4 pi) (l - m)! / (l + m)!), times sqrt(2) for m > 0, times (-1)^m: MRtrix's Legendre functions carry
 * the Condon-Shortley phase (checked against its sh2amp in the tests). */
static long double norm_of(int l, int m)
{
    long double ratio = 1;
    for (int k = l - m + 1; k <= l + m; k++)
        ratio /= k;
    const long double pi = 3.14159265358979323846264338327950288L;
    long double norm = sqrtl((2 * l + 1) / (4 * pi) * ratio * (m ? 2 : 1));
    return m % 2 ? -norm : norm;
}

/* The coefficients of the harmonic (l, m), m in -l ... l, as a polynomial of degree `order`, by class. */
static void harmonic_polynomial(int order, int l, int m, long double *polynomial)
{
    for (size_t i = 0; i < terms_of(order); i++)
        polynomial[i] = 0;
    int a = m < 0 ? -m : m;
    long double norm = norm_of(l, a);
    /* The a-th derivative of the Legendre polynomial, degree by degree: z^(l - a - 2k). */
    for (int k = 0; l - a - 2 * k >= 0; k++) {
        long double c = norm * binomial(l, k) * binomial(2 * l - 2 * k, l) / powl(2, l) * (k % 2 ? -1 : 1);
        for (int f = l - 2 * k - a + 1; f <= l - 2 * k; f++)
            c *= f;
        /* times (x + iy)^a, real or imaginary part, times (x^2 + y^2 + z^2)^e */
        int e = (order - l) / 2 + k;
        for (int j = m < 0 ? 1 : 0; j <= a; j += 2) {
            long double cj = c * binomial(a, j) * (j / 2 % 2 ? -1 : 1);
            for (int ex = 0; ex <= e; ex++)
                for (int ey = 0; ex + ey <= e; ey++) {
                    int ez = e - ex - ey;
                    long double term = cj * binomial(e, ex) * binomial(e - ex, ey);
                    polynomial[place_xyz(order, a - j + 2 * ex, l - a - 2 * k + 2 * ez)] += term;
                }
        }
    }
}

static size_t harmonic_index(int l, int m) { return (size_t)(l * (l + 1) / 2 + m); }

hot_status hot_sh_values_f64(int order, size_t count, const double *directions, double *values)
{
    HOT_ENTRY(NULL);
    if ((order != 0 && !valid_order(order)) || (count && (!directions || !values)))
        return HOT_ERROR_ARGUMENT;
    double norm[HOT_ORDER_MAX + 1][HOT_ORDER_MAX + 1];
    for (int l = 0; l <= order; l += 2)
        for (int m = 0; m <= l; m++)
            norm[l][m] = (double)norm_of(l, m);
    for (size_t p = 0; p < count; p++, directions += 3, values += terms_of(order)) {
        double x = directions[0], y = directions[1], z = directions[2];
        double re = 1, im = 0, diagonal = 1; /* (x + iy)^m; (2m - 1)!! */
        for (int m = 0; m <= order; m++) {
            /* P_l^m / sin^m by the three-term recurrence in l; the sine is part of (x + iy)^m. */
            double before = 0, now = diagonal;
            for (int l = m; l <= order; l++) {
                if (l % 2 == 0) {
                    values[harmonic_index(l, m)] = norm[l][m] * now * re;
                    if (m)
                        values[harmonic_index(l, -m)] = norm[l][m] * now * im;
                }
                double next = ((2 * l + 1) * z * now - (l + m) * before) / (l + 1 - m);
                before = now;
                now = next;
            }
            double turned = re * x - im * y;
            im = re * y + im * x;
            re = turned;
            diagonal *= 2 * m + 1;
        }
    }
    return HOT_OK;
}

static hot_status order_error(hot_context *context, int order)
{
    return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                            "spherical harmonics of order %d: the order must be even, from 2 to %d", order,
                            HOT_ORDER_MAX);
}

hot_status hot_sh_to_symtensor(hot_context *context, int order, double *matrix)
{
    HOT_ENTRY(context);
    HOT_NEED(context, matrix);
    if (!valid_order(order))
        return order_error(context, order);
    size_t terms = terms_of(order);
    double multiplicity[TERMS_MAX];
    long double polynomial[TERMS_MAX];
    hot_symtensor_multiplicity(order, 3, multiplicity);
    for (int l = 0; l <= order; l += 2)
        for (int m = -l; m <= l; m++) {
            harmonic_polynomial(order, l, m, polynomial);
            for (size_t i = 0; i < terms; i++)
                matrix[i * terms + harmonic_index(l, m)] = (double)(polynomial[i] / multiplicity[i]);
        }
    return HOT_OK;
}

/* The integral of x^a y^b z^c over the unit sphere, exponents even: 4 pi (a-1)!! (b-1)!! (c-1)!! / (a+b+c+1)!! */
static long double sphere_integral(int a, int b, int c)
{
    if (a % 2 || b % 2 || c % 2)
        return 0;
    long double result = 4 * 3.14159265358979323846264338327950288L;
    int factor = 3; /* the denominators 3, 5, ... one per numerator, so that nothing grows */
    const int exponent[3] = {a, b, c};
    for (int d = 0; d < 3; d++)
        for (int k = 1; k < exponent[d]; k += 2, factor += 2)
            result *= (long double)k / factor;
    return result;
}

hot_status hot_symtensor_to_sh(hot_context *context, int order, double *matrix)
{
    HOT_ENTRY(context);
    HOT_NEED(context, matrix);
    if (!valid_order(order))
        return order_error(context, order);
    size_t terms = terms_of(order);
    double multiplicity[TERMS_MAX];
    int exponents[TERMS_MAX * 3];
    long double polynomial[TERMS_MAX];
    hot_symtensor_multiplicity(order, 3, multiplicity);
    hot_symtensor_exponents(order, 3, exponents);
    for (int l = 0; l <= order; l += 2)
        for (int m = -l; m <= l; m++) {
            /* As a polynomial of degree l: the fewest terms, the least cancellation. */
            harmonic_polynomial(l, l, m, polynomial);
            for (size_t j = 0; j < terms; j++) {
                const int *k = exponents + 3 * j;
                long double sum = 0;
                for (int kx = 0; kx <= l; kx++)
                    for (int kz = 0; kx + kz <= l; kz++)
                        sum += polynomial[place_xyz(l, kx, kz)] *
                               sphere_integral(kx + k[0], l - kx - kz + k[1], kz + k[2]);
                matrix[harmonic_index(l, m) * terms + j] = (double)(sum * multiplicity[j]);
            }
        }
    return HOT_OK;
}
