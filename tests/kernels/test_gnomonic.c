/* The GPU's arithmetic in the gnomonic projection (kernels/sshopm/gpu/gnomonic_step.cuh), on the CPU: a step in it is a
 * step of SS-HOPM, whatever the tensor, and the frame is a rotation; and the shift of a tensor makes its maxima
 * attract. */
#include "check.h"
#include "forms3.h"

#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include "sshopm/gpu/gnomonic_table.h"

/* gnomonic_arithmetic.cc */
float gnomonic_test_polynomial(int order, const float *c, float u, float v);
void gnomonic_test_step(int order, const float *c, float *u, float *v);
void gnomonic_test_judge(int order, const float *c, float u, float v, float *residual, float *turn);
float gnomonic_test_shift(int order, const float *tensor, const float *x);
float gnomonic_test_least_eigenvalue(const float *h);

/* The larger magnitude of the derivative of the step x <- A x^(m-1) + alpha x at an eigenvector, from the step itself
 * at neighbouring points. */
static double derivative(int order, const double *tensor, double alpha, const double *x)
{
    double a[3], b[3], j[2][2], z[3] = {x[0], x[1], x[2]};
    int least = 0;
    for (int d = 1; d < 3; d++)
        least = fabs(z[d]) < fabs(z[least]) ? d : least;
    z[least] += 1;
    double dot = 0, length = 0;
    for (int d = 0; d < 3; d++)
        dot += z[d] * x[d];
    for (int d = 0; d < 3; d++)
        a[d] = z[d] - dot * x[d], length += a[d] * a[d];
    for (int d = 0; d < 3; d++)
        a[d] /= sqrt(length);
    for (int d = 0; d < 3; d++)
        b[d] = x[(d + 1) % 3] * a[(d + 2) % 3] - x[(d + 2) % 3] * a[(d + 1) % 3];
    for (int k = 0; k < 2; k++) {
        const double e = 1e-5, *to = k ? b : a;
        double at[2][2];
        for (int side = 0; side < 2; side++) {
            double y[3], g[3], along = 0, norm = 0;
            for (int d = 0; d < 3; d++)
                y[d] = x[d] + (side ? e : -e) * to[d], norm += y[d] * y[d];
            for (int d = 0; d < 3; d++)
                y[d] /= sqrt(norm);
            hot_symtensor_gradient_f64(order, 3, tensor, y, g);
            for (int d = 0; d < 3; d++)
                g[d] += alpha * y[d], along += g[d] * x[d];
            for (int i = 0; i < 2; i++) {
                const double *on = i ? b : a;
                at[side][i] = (g[0] * on[0] + g[1] * on[1] + g[2] * on[2]) / along;
            }
        }
        j[0][k] = (at[1][0] - at[0][0]) / (2 * e), j[1][k] = (at[1][1] - at[0][1]) / (2 * e);
    }
    const double middle = (j[0][0] + j[1][1]) / 2, off = (j[0][1] + j[1][0]) / 2;
    return fabs(middle) + sqrt((j[0][0] - j[1][1]) * (j[0][0] - j[1][1]) / 4 + off * off);
}

/* With a tensor's shift every maximum above zero attracts, though without one many do not; and the form whose tensor is
 * added is 1 on the sphere. */
static void check_shift(int order, double noise)
{
    enum { TENSORS = 40 };
    const form_basis basis = form_basis_make(order);
    float sphere[FORM_TERMS], points[3 * HOT_GNOMONIC_POINTS];
    hot_context *context = NULL;
    size_t maxima = 0, repel = 0, repel_unshifted = 0;
    uint64_t seed = (uint64_t)order;
    hot_gnomonic_shift_table(order, sphere, points);
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    for (int i = 0; i < TENSORS; i++) {
        double tensor[FORM_TERMS] = {0}, ball[FORM_TERMS], x[3], g[3], pairs[40 * 6];
        float narrow[FORM_TERMS], shift = 0;
        if (noise < 1)
            form_crossing(&basis, (size_t)i, noise, &seed, tensor);
        else
            form_add_noise(&basis, noise, &seed, tensor);
        for (size_t k = 0; k < basis.terms; k++) {
            narrow[k] = (float)tensor[k];
            ball[k] = (double)sphere[k];
        }
        check_random_unit(&seed, x);
        hot_symtensor_gradient_f64(order, 3, ball, x, g);
        CHECK_NEAR(g[0] * x[0] + g[1] * x[1] + g[2] * x[2], 1, 1e-6, "order %d: the sphere's form", order);
        for (int p = 0; p < HOT_GNOMONIC_POINTS; p++)
            shift = fmaxf(shift, gnomonic_test_shift(order, narrow, points + 3 * p));
        int32_t found = 0;
        CHECK(hot_eigenpairs_f64(context, NULL, order, 3, 1, tensor, basis.terms, 0, NULL, 40, pairs, &found) == HOT_OK,
              "eigenpairs");
        for (int k = 0; k < found && k < 40; k++)
            if (pairs[6 * k] > 0 && pairs[6 * k + 5] > 0) {
                maxima++;
                repel += !(derivative(order, tensor, (double)shift, pairs + 6 * k + 1) < 1);
                repel_unshifted += !(derivative(order, tensor, 0, pairs + 6 * k + 1) < 1);
            }
    }
    hot_context_destroy(&context);
    printf("order %d, noise %g: %zu of %zu maxima do not attract; without a shift %zu\n", order, noise, repel, maxima,
           repel_unshifted);
    CHECK(maxima >= TENSORS && repel <= maxima / 500, "%zu of %zu maxima do not attract", repel, maxima);
    CHECK(noise < 1 || repel_unshifted > maxima / 20, "%zu of %zu without a shift", repel_unshifted, maxima);
}

/* The bound of the smallest eigenvalue, compared with the eigenvalue (in double, by the cosine formula): never above
 * it, and below it by .08 p at most (two equal small ones), p being the spread of all three. */
static void test_least_eigenvalue(void)
{
    uint64_t seed = 71;
    for (int trial = 0; trial < 2000; trial++) {
        double m[6], above = 0;
        float h[6];
        for (int i = 0; i < 6; i++) {
            h[i] = (float)check_random_normal(&seed);
            h[i] = trial % 4 == 0 && i != 0 && i != 3 && i != 5 ? 0 : h[i]; /* some are diagonal */
        }
        if (trial % 8 == 0) /* and two equal */
            h[3] = h[0];
        for (int i = 0; i < 6; i++)
            m[i] = (double)h[i];
        const double q = (m[0] + m[3] + m[5]) / 3, b0 = m[0] - q, b3 = m[3] - q, b5 = m[5] - q;
        const double p = sqrt((b0 * b0 + b3 * b3 + b5 * b5 + 2 * (m[1] * m[1] + m[2] * m[2] + m[4] * m[4])) / 6);
        const double det = b0 * (b3 * b5 - m[4] * m[4]) - m[1] * (m[1] * b5 - m[4] * m[2]) +
                           m[2] * (m[1] * m[4] - b3 * m[2]);
        const double least = q + 2 * p * cos((acos(fmin(fmax(det / (2 * p * p * p), -1), 1)) + 6.283185307179586) / 3);
        above = (double)gnomonic_test_least_eigenvalue(h) - least;
        CHECK(above <= 1e-5 * p && above >= -.08 * p, "trial %d: %g above the smallest eigenvalue, p = %g", trial,
              above, p);
    }
}

/* A step's residual, and that over lambda, near the horizon too, where the step leads far away from (u, v) though x
 * turns little, or the other way round. Their noise is that of g, of the size of the coefficients. */
static void test_motion(void)
{
    uint64_t seed = 73;
    for (int trial = 0; trial < 6000; trial++) {
        const int order = 4 + trial % 3 * 2;
        const size_t terms = hot_gnomonic_terms(order), part = terms / 3;
        float c[108], residual, turn;
        double size = 0, g[3], at[3] = {0, 0, 1};
        for (size_t j = 0; j < terms; j++) {
            c[j] = (float)check_random_normal(&seed);
            size += fabs((double)c[j]);
        }
        const double far = trial % 2 ? pow(10, 3 * check_random(&seed)) : 1;
        for (int d = 0; d < 2; d++)
            at[d] = (double)(float)(far * check_random_normal(&seed));
        for (int k = 0; k < 3; k++) { /* Horner's rule in double: polynomial() */
            const float *from = c + (size_t)k * part;
            g[k] = (double)from[0];
            for (int s = 1; s < order; s++) {
                double row = (double)from[s * (s + 1) / 2];
                for (int t = 1; t <= s; t++)
                    row = row * at[1] + (double)from[s * (s + 1) / 2 + t];
                g[k] = g[k] * at[0] + row;
            }
        }
        const double length = sqrt(at[0] * at[0] + at[1] * at[1] + 1), scale = pow(length, order);
        const double cross[3] = {at[1] * g[2] - g[1], g[0] - at[0] * g[2], at[0] * g[1] - at[1] * g[0]};
        const double wanted = sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]) / scale;
        const double lambda = (at[0] * g[0] + at[1] * g[1] + g[2]) / scale;
        gnomonic_test_judge(order, c, (float)at[0], (float)at[1], &residual, &turn);
        /* what a step leads to is g over g_z */
        const double noise = 1e-6 * size * (1 + length * fabs(lambda) * scale / length / fmax(fabs(g[2]), 1e-30));
        CHECK(fabs((double)residual - wanted) <= 1e-4 * wanted + noise, "order %d at %g %g: residual %g, not %g", order,
              at[0], at[1], (double)residual, wanted);
        if (fabs(lambda) > 1e-3 * size)
            CHECK(fabs((double)turn - wanted / fabs(lambda)) <= 1e-3 * (wanted + noise) / fabs(lambda) + noise,
                  "order %d at %g %g: turn %g, not %g", order, at[0], at[1], (double)turn, wanted / fabs(lambda));
    }
}

int main(void)
{
    uint64_t seed = 99;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double dot = 0;
            for (int d = 0; d < 3; d++)
                dot += hot_gnomonic_frame[i][d] * hot_gnomonic_frame[j][d];
            CHECK_NEAR(dot, i == j, 1e-15, "rows %d and %d of the frame: %g", i, j, dot);
        }
    for (int order = 4; order <= 8; order += 2) {
        size_t unique = hot_symtensor_count(order, 3), terms = hot_gnomonic_terms(order), part = terms / 3;
        float *matrix = malloc(unique * terms * sizeof *matrix), c[108];
        double tensor[45], times[45];
        hot_gnomonic_matrix(order, matrix);
        hot_symtensor_multiplicity(order, 3, times);
        for (int round = 0; round < 500; round++) {
            double x[3], g[3], value = 0, dot = 0, size = 0, scale = 0;
            check_random_unit(&seed, x);
            for (size_t i = 0; i < unique; i++) {
                tensor[i] = check_random_normal(&seed) / sqrt(times[i]);
                scale += fabs(tensor[i]) * times[i];
            }
            for (size_t j = 0; j < terms; j++) {
                double sum = 0;
                for (size_t i = 0; i < unique; i++)
                    sum += tensor[i] * matrix[i * terms + j];
                c[j] = (float)sum;
            }
            /* x in the frame, a step in the projection, and back. */
            double p[3], step[3], y[3] = {0};
            for (int k = 0; k < 3; k++)
                p[k] = hot_gnomonic_frame[k][0] * x[0] + hot_gnomonic_frame[k][1] * x[1] +
                       hot_gnomonic_frame[k][2] * x[2];
            const float u = (float)(p[0] / p[2]), v = (float)(p[1] / p[2]);
            for (int k = 0; k < 3; k++)
                step[k] = (double)gnomonic_test_polynomial(order, c + (size_t)k * part, u, v);
            float to_u = u, to_v = v;
            gnomonic_test_step(order, c, &to_u, &to_v);
            const double width = fabs(step[0]) + fabs(step[1]) + fabs(step[2]);
            CHECK(fabs((double)to_u * step[2] - step[0]) <= 1e-6 * width &&
                      fabs((double)to_v * step[2] - step[1]) <= 1e-6 * width,
                  "order %d: the step leads to %g %g, not %g %g", order, (double)to_u, (double)to_v,
                  step[0] / step[2], step[1] / step[2]);
            for (int d = 0; d < 3; d++)
                for (int k = 0; k < 3; k++)
                    y[d] += hot_gnomonic_frame[k][d] * step[k];
            hot_symtensor_gradient_f64(order, 3, tensor, x, g);
            for (int d = 0; d < 3; d++) {
                value += g[d] * g[d];
                dot += g[d] * y[d];
                size += y[d] * y[d];
            }
            /* The same direction up to sign: the sine of the angle between them. */
            double sine2 = 1 - dot * dot / value / size, allowed = 1e-6 * order * scale / sqrt(value);
            CHECK(sine2 <= allowed * allowed + 1e-13, "order %d: the step turns by %g, allowed %g", order,
                  sqrt(fabs(sine2)), allowed);
        }
        free(matrix);
        check_shift(order, 0.1);
        check_shift(order, 1);
    }
    test_least_eigenvalue();
    test_motion();
    HOT_TEST_END();
}
