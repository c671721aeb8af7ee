/* Mass operators of finite elements: every backend against sums over all functions and points in long double, and
 * against what the operators mean. */
#include "values.h"

#include <hotfiber/fem.h>

/* The 1-D bases' product at a point, in long double. */
static long double basis_product(const double *basis, int dim, size_t dofs, size_t points, size_t k, size_t i)
{
    long double product = 1;
    for (int axis = 0; axis < dim; axis++, k /= points, i /= dofs)
        product *= basis[k % points + points * (i % dofs)];
    return product;
}

static size_t power(size_t n, int dim) { return dim == 2 ? n * n : n * n * n; }

static void check_fem(check_run *run, int f64, int dim, size_t dofs, size_t points, size_t elements, int assemble,
                      int symmetric)
{
    if (!check_begin(run, elements, "%s %d-D, %zu functions, %zu points%s, f%d", assemble ? "assembly" : "action", dim,
                     dofs, points, symmetric ? ", symmetric" : "", f64 ? 64 : 32))
        return;
    const size_t bytes = f64 ? 8 : 4, nd = power(dofs, dim), nq = power(points, dim),
                 out_each = assemble ? nd * nd : nd;
    const double eps = f64 ? 0x1p-53 : 0x1p-24;
    double *basis = malloc(dofs * points * sizeof *basis);
    double *d = malloc((elements * nq + 1) * sizeof *d), *v = malloc((elements * nd + 1) * sizeof *v);
    void *narrow[3] = {malloc(dofs * points * 8), malloc((elements * nq + 1) * 8), malloc((elements * nd + 1) * 8)};
    double *const wide[3] = {basis, d, v};
    const size_t counts[3] = {dofs * points, elements * nq, elements * nd};
    for (int o = 0; o < 3; o++)
        for (size_t i = 0; i < counts[o]; i++) {
            put(f64, narrow[o], i, check_random_normal(&run->seed));
            wide[o][i] = get(f64, narrow[o], i);
        }
    for (size_t i = 0; i < counts[0] / 2 && symmetric; i++) { /* about the middle of the element */
        const size_t mirror = counts[0] - 1 - i;
        wide[0][mirror] = wide[0][i];
        put(f64, narrow[0], mirror, wide[0][i]);
    }
    const void *b_in = check_input(run, narrow[0], counts[0] * bytes),
               *d_in = check_input(run, narrow[1], counts[1] * bytes);
    const void *v_in = check_input(run, narrow[2], counts[2] * bytes);
    void *out = check_output(run, elements * out_each * bytes);
    hot_status status =
        assemble ? f64 ? hot_fem_mass_assemble_f64(run->context, dim, dofs, points, b_in, elements, d_in, out)
                       : hot_fem_mass_assemble_f32(run->context, dim, dofs, points, b_in, elements, d_in, out)
        : f64    ? hot_fem_mass_action_f64(run->context, dim, dofs, points, b_in, elements, d_in, v_in, out)
                 : hot_fem_mass_action_f32(run->context, dim, dofs, points, b_in, elements, d_in, v_in, out);
    long double *table = malloc(nq * nd * sizeof *table); /* every function at every point */
    for (size_t k = 0; k < nq; k++)
        for (size_t i = 0; i < nd; i++)
            table[k * nd + i] = basis_product(basis, dim, dofs, points, k, i);
    if (check_call(run, status)) {
        CHECK_ITEM(run, 0, check_unwritten(out, elements * out_each, bytes) == 0, "values were not written");
        for (size_t e = 0; e < elements; e += elements > 40 ? elements / 7 : 1) {
            /* B V at every point and its magnitude, then its way back; or single entries of the matrix. */
            long double *at_points = malloc(2 * nq * sizeof *at_points), *size_there = at_points + nq;
            for (size_t k = 0; k < nq && !assemble; k++) {
                at_points[k] = size_there[k] = 0;
                for (size_t j = 0; j < nd; j++) {
                    const long double term = table[k * nd + j] * v[e * nd + j];
                    at_points[k] += term;
                    size_there[k] += fabsl(term);
                }
            }
            const size_t step = out_each > 300 ? out_each / 50 + 1 : 1;
            for (size_t x = 0; x < out_each; x += step) {
                long double sum = 0, magnitude = 0;
                for (size_t k = 0; k < nq; k++) {
                    const long double factor = table[k * nd + x % nd] * d[e * nq + k];
                    const long double other = assemble ? table[k * nd + x / nd] : at_points[k];
                    sum += factor * other;
                    magnitude += fabsl(factor) * (assemble ? fabsl(other) : size_there[k]);
                }
                const double got = get(f64, out, e * out_each + x);
                CHECK_ITEM(run, e, fabs(got - (double)sum) <= 2 * (double)(dofs + points + 8) * eps * (double)magnitude,
                           "value %zu: %.17g, not %.17Lg", x, got, sum);
            }
            free(at_points);
        }
    }
    check_case_end(run);
    FREE(table, basis, d, v);
    for (int o = 0; o < 3; o++)
        free(narrow[o]);
}

/* The assembled matrix times V is the action on V; the mass matrix of p = 1 on one square is the textbook's. */
static void check_fem_meaning(check_run *run)
{
    check_case_begin(run, "meaning of the operators", 1);
    for (int dim = 2; dim <= 3; dim++)
        for (size_t p = 1; p <= 8; p += 1) {
            const size_t dofs = p + 1, points = p + 2, nd = power(dofs, dim), nq = power(points, dim), elements = 3;
            double basis[HOT_FEM_POINTS * HOT_FEM_POINTS], *d = malloc(elements * nq * sizeof *d);
            double *v = malloc(elements * nd * sizeof *v), *u = malloc(elements * nd * sizeof *u);
            double *m = malloc(elements * nd * nd * sizeof *m);
            check_call(run, hot_fem_basis(run->context, dofs, points, basis, NULL));
            for (size_t i = 0; i < elements * nq; i++)
                d[i] = check_random(&run->seed);
            for (size_t i = 0; i < elements * nd; i++)
                v[i] = check_random_normal(&run->seed);
            check_call(run, hot_fem_mass_action_f64(run->context, dim, dofs, points, basis, elements, d, v, u));
            check_call(run, hot_fem_mass_assemble_f64(run->context, dim, dofs, points, basis, elements, d, m));
            for (size_t e = 0; e < elements; e++)
                for (size_t i = 0; i < nd; i++) {
                    double sum = 0, magnitude = 0;
                    for (size_t j = 0; j < nd; j++) {
                        sum += m[(e * nd + j) * nd + i] * v[e * nd + j];
                        magnitude += fabs(m[(e * nd + j) * nd + i] * v[e * nd + j]);
                        CHECK_ITEM(run, e, fabs(m[(e * nd + j) * nd + i] - m[(e * nd + i) * nd + j]) <= 1e-14,
                                   "symmetry");
                    }
                    CHECK_ITEM(run, e, fabs(sum - u[e * nd + i]) <= 1e-13 * magnitude,
                               "p %zu, %d-D: M V %.17g, action %.17g", p, dim, sum, u[e * nd + i]);
                }
            FREE(d, v, u, m);
        }
    /* Unit square, density 1: (1/36) [4 2 2 1; 2 4 1 2; 2 1 4 2; 1 2 2 4]. */
    double basis[4], weight[2], d[4], m[16];
    static const double textbook[16] = {4, 2, 2, 1, 2, 4, 1, 2, 2, 1, 4, 2, 1, 2, 2, 4};
    check_call(run, hot_fem_basis(run->context, 2, 2, basis, weight));
    for (int k = 0; k < 4; k++)
        d[k] = weight[k % 2] * weight[k / 2];
    check_call(run, hot_fem_mass_assemble_f64(run->context, 2, 2, 2, basis, 1, d, m));
    for (size_t i = 0; i < 16; i++)
        CHECK_ITEM(run, i, fabs(m[i] - textbook[i] / 36) <= 1e-16, "textbook: %.17g, not %.17g", m[i],
                   textbook[i] / 36);
    /* The basis: partition of unity; its functions integrate polynomials exactly (x^3 from its nodes, order 8). */
    double wide_basis[9 * 10], wide_weight[10];
    check_call(run, hot_fem_basis(run->context, 9, 10, wide_basis, wide_weight));
    double total = 0;
    for (int k = 0; k < 10; k++) {
        double sum = 0;
        for (int i = 0; i < 9; i++)
            sum += wide_basis[k + 10 * i];
        total += wide_weight[k];
        CHECK_ITEM(run, (size_t)k, fabs(sum - 1) <= 1e-13, "the basis sums to %.17g", sum);
    }
    CHECK_ITEM(run, 0, fabs(total - 1) <= 1e-14, "the weights sum to %.17g", total);
    check_case_end(run);
}

static void check_all_fem(check_run *run, int f64)
{
    const char *wanted = getenv("HOT_TEST_FULL");
    const int full = run->cuda || (wanted && wanted[0] == '1'); /* enough to fill a GPU */
    for (int dim = 2; dim <= 3; dim++)
        for (int assemble = 0; assemble < 2; assemble++) {
            for (size_t p = 1; p <= 8; p++)
                for (size_t more = 0; more < 2; more++)
                    check_fem(run, f64, dim, p + 1, p + 1 + more, assemble && dim == 3 && p > 5 ? 2 : 19, assemble, 0);
            static const size_t odd[][2] = {{1, 1}, {1, 4}, {3, 2}, {4, 9}, {11, 12}, {5, 16}};
            for (size_t s = 0; s < sizeof odd / sizeof odd[0]; s++)
                if (dim == 2 || !assemble || odd[s][0] < 11)
                    check_fem(run, f64, dim, odd[s][0], odd[s][1], 3, assemble, 0);
            for (size_t i = 0; i < check_size_count(run); i++)
                check_fem(run, f64, dim, 3, 3, check_sizes[i], assemble, 0);
            check_fem(run, f64, dim, 2, 2, full ? 70001 : 8209, assemble, 0);
            for (size_t p = 1; p <= 8; p++)
                check_fem(run, f64, dim, p + 1, p + 1, assemble ? 2 : 20, assemble, 1);
            for (size_t p = 6; p <= 8 && dim == 3 && !assemble; p++) /* several rounds of every block */
                check_fem(run, f64, dim, p + 1, p + 1, full ? 5003 : 211, 0, 1);
        }
}

static void check(check_run *run)
{
    for (int f64 = 0; f64 < 2; f64++)
        check_all_fem(run, f64);
    check_fem_meaning(run);
}

const check_family family_fem = {"fem", 0, 1, check, NULL};
