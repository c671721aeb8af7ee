/* Eigenpairs against a paper's table, matrices, and a brute-force search for maxima that is itself checked against a
 * finer one. HOT_TEST_LONG=1 in the environment makes it 10,000 tensors per order. */
#include "check.h"

#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>

/* ---- Brute force: every local maximum on a dense lattice of the sphere, refined ------------------------------ */

typedef struct lattice {
    size_t points;
    double *x;       /* points x 3, the whole sphere */
    int *neighbours; /* points x NEIGHBOURS, the nearest others */
} lattice;

enum { NEIGHBOURS = 6, MAXIMA_MAX = 64 };

static lattice lattice_create(size_t points)
{
    lattice made = {points, malloc(points * 3 * sizeof(double)), malloc(points * NEIGHBOURS * sizeof(int))};
    for (size_t i = 0; i < points; i++) {
        double z = 1 - (2 * (double)i + 1) / (double)points, r = sqrt(1 - z * z), turn = 2.399963229728653 * (double)i;
        made.x[3 * i] = r * cos(turn), made.x[3 * i + 1] = r * sin(turn), made.x[3 * i + 2] = z;
    }
    /* The lattice is sorted by z: only a band of it can be near. */
    double reach = 4 * sqrt(4 * 3.14159265358979 / (double)points);
    for (size_t i = 0; i < points; i++) {
        double best[NEIGHBOURS];
        int *list = made.neighbours + i * NEIGHBOURS, count = 0;
        size_t band = (size_t)(reach * (double)points / 2) + 2;
        for (size_t j = i > band ? i - band : 0; j < points && j <= i + band; j++) {
            double d = 0;
            for (int k = 0; k < 3; k++)
                d += (made.x[3 * i + k] - made.x[3 * j + k]) * (made.x[3 * i + k] - made.x[3 * j + k]);
            if (j == i || d > reach * reach || (count == NEIGHBOURS && d >= best[count - 1]))
                continue;
            int at = count < NEIGHBOURS ? count++ : count - 1;
            for (; at > 0 && best[at - 1] > d; at--)
                best[at] = best[at - 1], list[at] = list[at - 1];
            best[at] = d, list[at] = (int)j;
        }
        while (count < NEIGHBOURS) {
            list[count] = list[0];
            count++;
        }
    }
    return made;
}

static void lattice_destroy(lattice *self)
{
    FREE(self->x, self->neighbours);
}

/* The tangent plane at x: basis u, v; gradient there, and the Hessian of the form on the sphere over m. */
typedef struct tangent {
    double u[3], v[3], gu, gv, uu, uv, vv, top, det, value;
} tangent;

static tangent tangent_at(int order, const double *tensor, const double *x)
{
    tangent t = {.value = 0};
    double g[3], h[9], norm = 0;
    t.value = hot_symtensor_gradient_f64(order, 3, tensor, x, g);
    hot_symtensor_hessian_f64(order, 3, tensor, x, h);
    int least = fabs(x[0]) < fabs(x[1]) ? (fabs(x[0]) < fabs(x[2]) ? 0 : 2) : (fabs(x[1]) < fabs(x[2]) ? 1 : 2);
    for (int d = 0; d < 3; d++)
        t.u[d] = (d == least) - x[least] * x[d], norm += t.u[d] * t.u[d];
    for (int d = 0; d < 3; d++)
        t.u[d] /= sqrt(norm);
    for (int d = 0; d < 3; d++)
        t.v[d] = x[(d + 1) % 3] * t.u[(d + 2) % 3] - x[(d + 2) % 3] * t.u[(d + 1) % 3];
    t.uu = t.vv = -t.value;
    for (int a = 0; a < 3; a++) {
        t.gu += g[a] * t.u[a], t.gv += g[a] * t.v[a];
        for (int b = 0; b < 3; b++) {
            t.uu += (order - 1) * h[3 * a + b] * t.u[a] * t.u[b];
            t.uv += (order - 1) * h[3 * a + b] * t.u[a] * t.v[b];
            t.vv += (order - 1) * h[3 * a + b] * t.v[a] * t.v[b];
        }
    }
    t.top = (t.uu + t.vv) / 2 + sqrt((t.uu - t.vv) * (t.uu - t.vv) / 4 + t.uv * t.uv);
    t.det = t.uu * t.vv - t.uv * t.uv;
    return t;
}

static void move(double *x, const tangent *t, double su, double sv)
{
    double n = 0;
    for (int d = 0; d < 3; d++)
        x[d] += su * t->u[d] + sv * t->v[d], n += x[d] * x[d];
    for (int d = 0; d < 3; d++)
        x[d] /= sqrt(n);
}

/* Ascends from x to a local maximum: small steps along the gradient, Newton where it is concave, both halved until they
 * climb. Returns 1 and x when it ends at a strict one. */
static int ascend(int order, const double *tensor, double scale, double *x)
{
    for (int k = 0; k < 1000; k++) {
        tangent t = tangent_at(order, tensor, x);
        double slope = hypot(t.gu, t.gv), su = t.gu * 0.02 / slope, sv = t.gv * 0.02 / slope;
        if (slope <= 1e-12 * scale)
            return t.top < -1e-8 * scale * order;
        if (t.top < 0) {
            su = -(t.vv * t.gu - t.uv * t.gv) / t.det;
            sv = -(t.uu * t.gv - t.uv * t.gu) / t.det;
        }
        for (int half = 0; half < 60; half++, su /= 2, sv /= 2) {
            double y[3] = {x[0], x[1], x[2]};
            move(y, &t, su, sv);
            if (hot_symtensor_value_f64(order, 3, tensor, y) >= t.value - 1e-15 * scale) {
                memcpy(x, y, sizeof y);
                break;
            }
        }
    }
    return 0; /* crawling along a flat ridge: no strict maximum */
}

/* Newton to any critical point near x; 1 when it got there. */
static int newton(int order, const double *tensor, double scale, double *x)
{
    for (int k = 0; k < 40; k++) {
        tangent t = tangent_at(order, tensor, x);
        if (hypot(t.gu, t.gv) <= 1e-12 * scale)
            return 1;
        double su = -(t.vv * t.gu - t.uv * t.gv) / t.det, sv = -(t.uu * t.gv - t.uv * t.gu) / t.det, s = hypot(su, sv);
        if (!(s < 1e6))
            return 0;
        move(x, &t, s > 0.2 ? su * 0.2 / s : su, s > 0.2 ? sv * 0.2 / s : sv);
    }
    return 0;
}

static double tensor_scale(int order, const double *tensor)
{
    double times[45], scale = 0;
    hot_symtensor_multiplicity(order, 3, times);
    for (size_t i = 0; i < hot_symtensor_count(order, 3); i++)
        scale = fmax(scale, times[i] * fabs(tensor[i]));
    return scale;
}

static int add_maximum(double maxima[][3], int count, const double *x)
{
    for (int i = 0; i < count; i++)
        if (fabs(x[0] * maxima[i][0] + x[1] * maxima[i][1] + x[2] * maxima[i][2]) > cos(0.05 / 57.29578))
            return count;
    if (count < MAXIMA_MAX)
        memcpy(maxima[count++], x, 3 * sizeof *x);
    return count;
}

/* Returns how many maxima (axes) there are: ascents from every point of the lattice that is higher than its neighbours,
 * and from every one where the form is flatter than at its neighbours: shallow maxima on a sharp ridge have no lattice
 * point that stands out, whatever the lattice. */
static int brute_maxima(const lattice *self, int order, const double *tensor, double maxima[][3])
{
    double *values = malloc(2 * self->points * sizeof *values), *slopes = values + self->points;
    double scale = tensor_scale(order, tensor);
    int count = 0;
    for (size_t p = 0; p < self->points; p++) {
        const double *x = self->x + 3 * p;
        double g[3];
        values[p] = hot_symtensor_gradient_f64(order, 3, tensor, x, g);
        slopes[p] = 0;
        for (int d = 0; d < 3; d++)
            slopes[p] += pow(g[d] - values[p] * x[d], 2);
    }
    for (size_t p = 0; p < self->points * 11 / 20; p++) { /* the half sphere and a band beyond the equator */
        int highest = 1, flattest = 1;
        for (int k = 0; k < NEIGHBOURS; k++) {
            size_t q = (size_t)self->neighbours[p * NEIGHBOURS + (size_t)k];
            highest &= values[p] >= values[q] - 1e-14 * scale;
            flattest &= slopes[p] <= slopes[q];
        }
        if (!highest && !flattest)
            continue;
        const double *here = self->x + 3 * p;
        double x[3] = {here[0], here[1], here[2]};
        if (highest && ascend(order, tensor, scale, x))
            count = add_maximum(maxima, count, x);
        memcpy(x, here, sizeof x);
        if (flattest && newton(order, tensor, scale, x)) {
            /* From a saddle up to either side, and from a maximum back to it. */
            tangent t = tangent_at(order, tensor, x);
            double turn = 0.5 * atan2(2 * t.uv, t.uu - t.vv);
            for (int side = -1; side <= 1; side += 2) {
                double y[3] = {x[0], x[1], x[2]};
                move(y, &t, 1e-3 * side * cos(turn), 1e-3 * side * sin(turn));
                if (ascend(order, tensor, scale, y))
                    count = add_maximum(maxima, count, y);
            }
        }
    }
    free(values);
    return count;
}

/* ---- Random tensors of every sort ------------------------------------------------------------------------------ */

static void add_rank1(int order, const double *v, double weight, double *tensor)
{
    int exponents[135];
    hot_symtensor_exponents(order, 3, exponents);
    for (size_t i = 0; i < hot_symtensor_count(order, 3); i++)
        tensor[i] += weight * pow(v[0], exponents[3 * i]) * pow(v[1], exponents[3 * i + 1]) *
                     pow(v[2], exponents[3 * i + 2]);
}

static void add_isotropic(int order, double weight, double *tensor)
{
    static const double factorial[] = {1, 1, 2, 6, 24};
    int exponents[135];
    double times[45];
    hot_symtensor_exponents(order, 3, exponents);
    hot_symtensor_multiplicity(order, 3, times);
    for (size_t i = 0; i < hot_symtensor_count(order, 3); i++) {
        const int *k = exponents + 3 * i;
        if (k[0] % 2 == 0 && k[1] % 2 == 0 && k[2] % 2 == 0)
            tensor[i] += weight * factorial[order / 2] / factorial[k[0] / 2] / factorial[k[1] / 2] /
                         factorial[k[2] / 2] / times[i];
    }
}

/* 0 isotropic, 1 rank 1 aimed anywhere, 2 and 3 that many fibres, 4 noise alone; fibres with up to 10 % noise. */
static int random_tensor(int order, uint64_t *seed, double *tensor)
{
    size_t unique = hot_symtensor_count(order, 3);
    double times[45], u = check_random(seed), v[3];
    int sort = u < 0.05 ? 0 : u < 0.25 ? 1 : u < 0.55 ? 2 : u < 0.8 ? 3 : 4;
    hot_symtensor_multiplicity(order, 3, times);
    memset(tensor, 0, unique * sizeof *tensor);
    double noise = sort == 4 ? 1 : sort >= 2 && check_random(seed) < 0.6 ? 0.1 * check_random(seed) : 0;
    if (sort == 0 || (sort < 4 && check_random(seed) < 0.3))
        add_isotropic(order, sort == 0 ? 1 : check_random(seed), tensor);
    if (sort == 1 && check_random(seed) < 0.3) { /* at places where lattices have their seams */
        const double places[4][3] = {
            {0, 0, 1}, {1, 0, 0}, {M_SQRT1_2, 0, M_SQRT1_2}, {0.57735026919, 0.57735026919, 0.57735026919}};
        add_rank1(order, places[check_random_bits(seed) % 4], 1, tensor);
    } else {
        for (int f = 0; f < sort && sort < 4; f++) {
            check_random_unit(seed, v);
            add_rank1(order, v, 0.3 + check_random(seed), tensor);
        }
    }
    for (size_t i = 0; i < unique; i++)
        tensor[i] += noise * check_random_normal(seed) / sqrt(times[i]);
    return sort;
}

/* ---- Tests ----------------------------------------------------------------------------------------------------- */

static const double kofidis_regalia[15] = {.2883, -.0031, .1973, -.2485, -.2939, .3847, .2972, .1862,
                                           .0919, -.3619, .1241, -.3420, .2127, .2727, -.3054};

static void test_table(hot_context *context)
{
    const double lambda[11] = {.8893, .8169, .5105, .3633, .2682, .2628, .2433, .1735, -.0451, -.5629, -1.0954};
    const int kind[11] = {1, 1, 0, 1, 0, 0, 0, 0, -1, -1, -1};
    for (int seek = HOT_MAXIMA; seek <= HOT_ALL_PAIRS; seek++) {
        hot_sshopm_options options = {.size = sizeof options, .seek = (hot_extremum)seek};
        double pairs[13 * 6];
        int32_t found = 0;
        CHECK(hot_eigenpairs_f64(context, &options, 4, 3, 1, kofidis_regalia, 15, 0, NULL, 13, pairs, &found) == HOT_OK,
              "%s", hot_context_message(context));
        int row = 0;
        for (int i = 0; i < 11; i++) {
            if ((seek == HOT_MAXIMA && kind[i] != 1) || (seek == HOT_MINIMA && kind[i] != -1))
                continue;
            const double *pair = pairs + 6 * row++;
            CHECK_NEAR(pair[0], lambda[i], 5e-5, "lambda %d of kind %d: %.6f, not %.4f", i, seek, pair[0], lambda[i]);
            CHECK(pair[5] == kind[i], "pair %d is of kind %g, not %d", i, pair[5], kind[i]);
            double g[3], off = 0;
            hot_symtensor_gradient_f64(4, 3, kofidis_regalia, pair + 1, g);
            for (int d = 0; d < 3; d++)
                off += pow(g[d] - pair[0] * pair[1 + d], 2);
            CHECK(sqrt(off) <= 1e-10 && pair[4] <= 1e-10, "residual %g, said to be %g", sqrt(off), pair[4]);
        }
        CHECK(found == row, "%d pairs, not %d", found, row);
        for (int i = row; i < 13; i++)
            CHECK(isnan(pairs[6 * i]), "row %d is unused", i);
    }
}

static void test_matrices(hot_context *context, uint64_t *seed)
{
    for (int round = 0; round < 200; round++) {
        double q[3][3], eigen[3], matrix[6] = {0}, pairs[18];
        int32_t found;
        check_random_unit(seed, q[0]);
        check_random_unit(seed, q[1]);
        double dot = q[0][0] * q[1][0] + q[0][1] * q[1][1] + q[0][2] * q[1][2], norm = 0;
        for (int d = 0; d < 3; d++)
            q[1][d] -= dot * q[0][d], norm += q[1][d] * q[1][d];
        for (int d = 0; d < 3; d++)
            q[1][d] /= sqrt(norm);
        for (int d = 0; d < 3; d++)
            q[2][d] = q[0][(d + 1) % 3] * q[1][(d + 2) % 3] - q[0][(d + 2) % 3] * q[1][(d + 1) % 3];
        for (int k = 0; k < 3; k++) {
            eigen[k] = (k == 0 ? 1 : eigen[k - 1]) - 0.01 - check_random(seed);
            for (int i = 0, at = 0; i < 3; i++)
                for (int j = i; j < 3; j++, at++)
                    matrix[at] += eigen[k] * q[k][i] * q[k][j];
        }
        hot_sshopm_options options = {.size = sizeof options, .seek = HOT_ALL_PAIRS};
        CHECK(hot_eigenpairs_f64(context, &options, 2, 3, 1, matrix, 6, 0, NULL, 3, pairs, &found) == HOT_OK, "matrix");
        CHECK(found == 3, "%d eigenpairs of a matrix", found);
        for (int k = 0; k < 3; k++) {
            const double *p = pairs + 6 * k;
            CHECK_NEAR(p[0], eigen[k], 1e-13, "eigenvalue %d: %.15g, not %.15g", k, p[0], eigen[k]);
            CHECK_NEAR(fabs(p[1] * q[k][0] + p[2] * q[k][1] + p[3] * q[k][2]), 1, 1e-13, "eigenvector %d", k);
            CHECK(p[5] == 1 - k, "kind of eigenpair %d is %g", k, p[5]);
        }
    }
}

/* Forms whose pairs are known: a x^m + b y^m + c z^m, whose critical points are x_i^(m-2) = lambda / a_i or x_i = 0;
 * odd orders; other dimensions by the Euler characteristic, which every list must satisfy. */
static void test_known_forms(hot_context *context)
{
    for (int order = 3; order <= 6; order++)
        for (int dim = 2; dim <= 4; dim++) {
            size_t unique = hot_symtensor_count(order, dim);
            double tensor[126] = {0}, pairs[400 * 7];
            int exponents[126 * 4];
            int32_t found;
            hot_symtensor_exponents(order, dim, exponents);
            for (size_t i = 0; i < unique; i++)
                for (int d = 0; d < dim; d++)
                    if (exponents[i * (size_t)dim + (size_t)d] == order)
                        tensor[i] = 1 + 0.1 * d;
            hot_sshopm_options options = {.size = sizeof options, .seek = HOT_ALL_PAIRS};
            CHECK(hot_eigenpairs_f64(context, &options, order, dim, 1, tensor, unique, 0, NULL, 400, pairs, &found) ==
                      HOT_OK, "%s", hot_context_message(context));
            /* For every set of k nonzero components 2^(k-1) axes (even order; signs are free), or one (odd order, where
             * x_i^(m-2) has the sign of lambda). */
            int expected = 0;
            for (int set = 1; set < 1 << dim; set++) {
                int bits = __builtin_popcount((unsigned)set);
                expected += order % 2 ? 1 : 1 << (bits - 1);
            }
            CHECK(found == expected, "order %d dim %d: %d pairs, not %d", order, dim, found, expected);
            for (int i = 0; i < found && i < 400; i++) {
                const double *p = pairs + i * (dim + 3);
                CHECK(p[dim + 1] <= 1e-12, "residual %g", p[dim + 1]);
                CHECK(i == 0 || p[0] <= p[-(dim + 3)], "sorted");
                CHECK(order % 2 == 0 || p[0] >= 0, "odd order: lambda %g", p[0]);
            }
        }
}

static void test_special(hot_context *context)
{
    double tensors[6 * 15] = {0}, pairs[6 * 13 * 6];
    int32_t found[6];
    const double v[3] = {0.48, -0.6, 0.64};
    tensors[0] = NAN;                                   /* 0: NaN */
    memcpy(tensors + 15, kofidis_regalia, sizeof kofidis_regalia); /* 1: a neighbour */
    add_isotropic(4, 1, tensors + 30);                  /* 2 */
    add_rank1(4, v, 1e30, tensors + 45);                /* 3 */
    add_rank1(4, v, 5e-320, tensors + 60);              /* 4: denormal */
    /* 5: zero */
    for (int seek = HOT_MAXIMA; seek <= HOT_ALL_PAIRS; seek += HOT_ALL_PAIRS) {
        hot_sshopm_options options = {.size = sizeof options, .seek = (hot_extremum)seek};
        CHECK(hot_eigenpairs_f64(context, &options, 4, 3, 6, tensors, 15, 0, NULL, 13, pairs, found) == HOT_OK,
              "special");
        CHECK(found[0] == -1 && isnan(pairs[0]), "NaN is flagged");
        CHECK(found[1] == (seek == HOT_MAXIMA ? 3 : 11), "the neighbour of a NaN has %d", found[1]);
        CHECK(found[2] == (seek == HOT_MAXIMA ? 0 : 1), "isotropic: %d", found[2]);
        CHECK(found[5] == found[2], "zero, a continuum as the isotropic one is: %d", found[5]);
        if (found[5] == 1) {
            const double *p = pairs + 5 * 13 * 6;
            CHECK(p[0] == 0 && p[1] == 0 && p[2] == 0 && p[3] == 1 && p[4] == 0 && p[5] == 0 && isnan(p[6]), "zero");
        }
        for (int t = 3; t < 5; t++) {
            const double *p = pairs + t * 13 * 6;
            /* at 5e-320 four digits are left, and what was a circle of zeros is not one any more */
            CHECK(found[t] == (seek == HOT_MAXIMA ? 1 : 2) || (t == 4 && found[t] > 1), "rank 1: %d", found[t]);
            CHECK_NEAR(p[0] / (t == 3 ? 1e30 : 5e-320), 1, t == 3 ? 1e-12 : 1e-3, "lambda %g", p[0]);
            CHECK_NEAR(fabs(p[1] * v[0] + p[2] * v[1] + p[3] * v[2]), 1, t == 3 ? 1e-12 : 1e-3, "direction");
        }
    }
}

/* The zero matrix, as every multiple of the identity. */
static void test_zero_matrix(hot_context *context)
{
    const double matrices[2 * 6] = {2, 0, 0, 2, 0, 2};
    double pairs[2 * 3 * 6];
    int32_t found[2];
    const hot_sshopm_options options = {.size = sizeof options, .seek = HOT_ALL_PAIRS};
    CHECK(hot_eigenpairs_f64(context, &options, 2, 3, 2, matrices, 6, 0, NULL, 3, pairs, found) == HOT_OK, "matrices");
    CHECK(found[0] == 3 && found[1] == 3, "%d and %d pairs", found[0], found[1]);
    for (int i = 0; i < 6; i++)
        CHECK(pairs[6 * i] == (i < 3 ? 2 : 0) && pairs[6 * i + 4] == 0 && pairs[6 * i + 5] == 0, "pair %d: %g, %g, %g",
              i, pairs[6 * i], pairs[6 * i + 4], pairs[6 * i + 5]);
}

/* A start that is no direction: an error with the argument's name, whichever component it is. */
static void test_starts(hot_context *context)
{
    const double bad[4] = {0, NAN, INFINITY, -INFINITY};
    for (int sort = 0; sort < 4; sort++)
        for (int at = 0; at < 3; at++)
            for (int beside = 0; beside < 2; beside++) {
                double starts[6] = {1, 2, 3}, a[15] = {1}, lambda[2], pairs[6];
                float starts_f[6], a_f[15] = {1}, lambda_f[2];
                for (int d = 0; d < 3; d++)
                    starts[3 + d] = d == at ? bad[sort] : sort > 0 && beside;
                for (int i = 0; i < 6; i++)
                    starts_f[i] = (float)starts[i];
                const hot_status is[3] = {
                    hot_eigenpairs_f64(context, NULL, 4, 3, 1, a, 15, 2, starts, 1, pairs, NULL),
                    hot_sshopm_f32(context, NULL, 4, 3, 1, a_f, 15, 2, starts_f, lambda_f, NULL, NULL, NULL),
                    hot_sshopm_f64(context, NULL, 4, 3, 1, a, 15, 2, starts, lambda, NULL, NULL, NULL)};
                for (int call = 0; call < 3; call++)
                    CHECK(is[call] == HOT_ERROR_ARGUMENT, "call %d, %g at %d: %d", call, bad[sort], at, is[call]);
                CHECK(strcmp(hot_context_parameter(context), "starts") == 0 &&
                          strstr(hot_context_message(context), sort == 0 ? "1 is zero" : "1 holds NaN or Inf"),
                      "%g at %d: %s", bad[sort], at, hot_context_message(context));
            }
    /* sizes that are not 1 are no matter, whatever they are */
    double starts[3] = {1e308, 2e307, -1e307}, a[15] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, pairs[6];
    int32_t found = 0;
    CHECK(hot_eigenpairs_f64(context, NULL, 4, 3, 1, a, 15, 1, starts, 1, pairs, &found) == HOT_OK && found == 1,
          "large: %s", hot_context_message(context));
    for (int d = 0; d < 3; d++)
        starts[d] = ldexp(starts[d], -2040);
    CHECK(hot_eigenpairs_f64(context, NULL, 4, 3, 1, a, 15, 1, starts, 1, pairs, &found) == HOT_OK && found == 1,
          "small: %s", hot_context_message(context));
}

static void test_maxima(hot_context *context, uint64_t *seed, size_t count, const lattice *coarse, const lattice *fine)
{
    const char *sorts[5] = {"isotropic", "rank 1", "two fibres", "three fibres", "noise"};
    for (int order = 4; order <= 8; order += 2) {
        size_t unique = hot_symtensor_count(order, 3), disagree = 0, brute_disagrees = 0, by_sort[5] = {0};
        size_t checked_twice = 0;
        double *tensors = malloc(count * unique * sizeof *tensors);
        double *pairs = malloc(count * 57 * 6 * sizeof *pairs);
        int *sort = malloc(count * sizeof *sort);
        int32_t *found = malloc(count * sizeof *found);
        for (size_t t = 0; t < count; t++)
            sort[t] = random_tensor(order, seed, tensors + t * unique);
        hot_sshopm_options options = {.size = sizeof options, .seek = HOT_MAXIMA};
        CHECK(hot_eigenpairs_f64(context, &options, order, 3, count, tensors, unique, 0, NULL, 57, pairs, found) ==
                  HOT_OK,
              "%s", hot_context_message(context));
        for (size_t t = 0; t < count; t++) {
            double maxima[MAXIMA_MAX][3], again[MAXIMA_MAX][3];
            int brute = brute_maxima(coarse, order, tensors + t * unique, maxima);
            if (t % 10 == 0) {
                checked_twice++;
                brute_disagrees += brute_maxima(fine, order, tensors + t * unique, again) != brute;
            }
            int same = brute == found[t];
            for (int i = 0; i < brute && same; i++) {
                double nearest = 0;
                for (int j = 0; j < found[t]; j++) {
                    const double *x = pairs + (t * 57 + (size_t)j) * 6 + 1;
                    nearest = fmax(nearest, fabs(x[0] * maxima[i][0] + x[1] * maxima[i][1] + x[2] * maxima[i][2]));
                }
                same = nearest > cos(0.1 / 57.29578);
            }
            disagree += !same;
            by_sort[sort[t]] += !same;
        }
        printf("order %d: %zu of %zu tensors differ from brute force (", order, disagree, count);
        for (int s = 0; s < 5; s++)
            printf("%s %zu%s", sorts[s], by_sort[s], s < 4 ? ", " : ")");
        printf("; brute force differs from the finer one in %zu of %zu\n", brute_disagrees, checked_twice);
        CHECK(disagree <= count / 1000, "order %d: %zu of %zu disagree", order, disagree, count);
        CHECK(brute_disagrees <= checked_twice / 1000, "brute force, order %d: %zu of %zu", order, brute_disagrees,
              checked_twice);
        free(tensors), free(pairs), free(sort), free(found);
    }
}

int main(void)
{
    uint64_t seed = 4711;
    hot_context *context = NULL;
    hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU, .seed = 1};
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "context");
    test_table(context);
    test_matrices(context, &seed);
    test_known_forms(context);
    test_special(context);
    test_zero_matrix(context);
    test_starts(context);
    const char *full = getenv("HOT_TEST_LONG");
    lattice coarse = lattice_create(8000), fine = lattice_create(24000);
    test_maxima(context, &seed, full && *full && *full != '0' ? 10000 : 300, &coarse, &fine);
    lattice_destroy(&coarse);
    lattice_destroy(&fine);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
