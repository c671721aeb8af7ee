/* Small dense systems: the identities that define each result, on random matrices of every size. */
#include "check.h"

#include "common/linear.h"

enum { N_MAX = 45, WIDE = N_MAX + 3 };

/* b b^T + 1: symmetric, eigenvalues from 1 on. */
static void make_definite(int n, int stride, uint64_t *seed, double *a)
{
    double b[N_MAX * N_MAX];
    for (int i = 0; i < n * n; i++)
        b[i] = check_random_normal(seed);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i * stride + j] = i == j;
            for (int k = 0; k < n; k++)
                a[i * stride + j] += b[i * n + k] * b[j * n + k];
        }
}

/* L L^T = a, and both substitutions solve with it; elements above the diagonal and beyond row n do not change. */
static void test_cholesky(uint64_t *seed)
{
    for (int n = 1; n <= N_MAX; n += 4) {
        static double a[WIDE * WIDE], factor[WIDE * WIDE];
        double x[N_MAX], b[N_MAX], size = 0, worst = 0;
        for (int i = 0; i < WIDE * WIDE; i++)
            a[i] = 12345;
        make_definite(n, WIDE, seed, a);
        memcpy(factor, a, sizeof a);
        CHECK(hot_cholesky_factor((size_t)n, WIDE, factor, 1e-12) == (size_t)n, "n = %d", n);
        for (int i = 0; i < WIDE; i++)
            for (int j = 0; j < WIDE; j++) {
                double sum = 0;
                if (i >= n || j > i) {
                    CHECK(factor[i * WIDE + j] == a[i * WIDE + j], "n = %d: element %d %d was written", n, i, j);
                    continue;
                }
                for (int k = 0; k <= j; k++)
                    sum += factor[i * WIDE + k] * factor[j * WIDE + k];
                worst = fmax(worst, fabs(sum - a[i * WIDE + j]));
                size = fmax(size, fabs(a[i * WIDE + j]));
            }
        CHECK(worst <= 1e-14 * n * size, "n = %d: L L^T is %g off", n, worst);
        for (int i = 0; i < n; i++)
            x[i] = check_random_normal(seed);
        for (int i = 0; i < n; i++) {
            b[i] = 0;
            for (int j = 0; j < n; j++)
                b[i] += a[i * WIDE + j] * x[j];
        }
        hot_cholesky_forward((size_t)n, WIDE, factor, b);
        hot_cholesky_backward((size_t)n, WIDE, factor, b);
        /* relative error: rounding times the condition number, at most the largest eigenvalue (trace <= n size) */
        for (int i = 0; i < n; i++)
            CHECK(fabs(b[i] - x[i]) <= 1e-14 * n * n * size, "n = %d: x[%d] is %g, not %g", n, i, b[i], x[i]);
    }
}

/* The first pivot that fails: where the leading block ends. */
static void test_pivots(void)
{
    const double semidefinite[9] = {4, 0, 0, 2, 1, 0, 2, 1, 7}; /* lower triangle; rank 2: row 1 is half of row 0 */
    double a[9], b[2] = {4, 1};
    memcpy(a, semidefinite, sizeof a);
    CHECK(hot_cholesky_factor(3, 3, a, 0) == 1 && a[0] == 2 && a[3] == 1, "the pivot is 0");
    hot_cholesky_forward(1, 3, a, b);
    hot_cholesky_backward(1, 3, a, b);
    CHECK(b[0] == 1 && b[1] == 1, "the leading block is factored: %g %g", b[0], b[1]);
    const double tolerances[] = {1e-3, 1e-1};
    for (int k = 0; k < 2; k++) { /* a pivot of 1/100 of its diagonal element */
        double c[4] = {1, 0, sqrt(0.99), 1};
        CHECK(hot_cholesky_factor(2, 2, c, tolerances[k]) == (k ? 1 : 2), "tolerance %g", tolerances[k]);
    }
    double wrong[1] = {NAN}, negative[1] = {-1};
    CHECK(hot_cholesky_factor(1, 1, wrong, 0) == 0 && hot_cholesky_factor(1, 1, negative, 0) == 0, "NaN, negative");
}

static void test_elimination(uint64_t *seed)
{
    for (int n = 1; n <= N_MAX; n += 4) {
        double a[N_MAX * N_MAX], kept[N_MAX * N_MAX], b[N_MAX], right[N_MAX];
        for (int i = 0; i < n * n; i++)
            a[i] = check_random_normal(seed);
        a[0] = 0; /* the first pivot is found below */
        if (n == 1)
            a[0] = 3;
        for (int i = 0; i < n; i++)
            right[i] = b[i] = check_random_normal(seed);
        memcpy(kept, a, sizeof a);
        CHECK(hot_eliminate(n, a, b), "n = %d", n);
        double largest = 0;
        for (int i = 0; i < n; i++)
            largest = fmax(largest, fabs(b[i]));
        for (int i = 0; i < n; i++) { /* elimination with pivots is backward stable: residual ~ rounding |a| |x| */
            double r = -right[i];
            for (int j = 0; j < n; j++)
                r += kept[i * n + j] * b[j];
            CHECK(fabs(r) <= 1e-13 * n * (1 + largest), "n = %d: equation %d is off by %g", n, i, r);
        }
    }
    double singular[4] = {1, 2, 2, 4}, b[2] = {1, 1};
    CHECK(!hot_eliminate(2, singular, b), "rank 1");
}

static void test_eigen(uint64_t *seed)
{
    for (int n = 1; n <= N_MAX; n += 11) {
        double a[N_MAX * N_MAX], kept[N_MAX * N_MAX], alone[N_MAX * N_MAX], values[N_MAX], vectors[N_MAX * N_MAX];
        double only[N_MAX], worst = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                a[i * n + j] = a[j * n + i] = check_random_normal(seed);
        memcpy(kept, a, sizeof a);
        memcpy(alone, a, sizeof a);
        hot_symmetric_eigen(n, a, values, vectors);
        hot_symmetric_eigen(n, alone, only, NULL);
        for (int e = 0; e < n; e++) {
            CHECK(e == 0 || values[e - 1] <= values[e], "ascending");
            CHECK(values[e] == only[e], "without vectors the values are the same");
            for (int i = 0; i < n; i++) {
                double r = -values[e] * vectors[e * n + i], dot = 0;
                for (int j = 0; j < n; j++) {
                    r += kept[i * n + j] * vectors[e * n + j];
                    dot += vectors[e * n + j] * vectors[i * n + j];
                }
                worst = fmax(worst, fmax(fabs(r), fabs(dot - (i == e))));
            }
        }
        CHECK(worst <= 1e-12, "n = %d: %g", n, worst);
    }
}

int main(void)
{
    uint64_t seed = 20261128;
    test_cholesky(&seed);
    test_pivots();
    test_elimination(&seed);
    test_eigen(&seed);
    HOT_TEST_END();
}
