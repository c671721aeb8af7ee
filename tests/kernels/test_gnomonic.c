/* The gnomonic projection's arithmetic (kernels/sshopm/gpu/gnomonic.h), which the GPU uses, on the CPU: a step in it is
 * a step of SS-HOPM, whatever the tensor, and the frame is a rotation. */
#include "check.h"

#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include "sshopm/gpu/gnomonic_table.h"

#define HOT_GNOMONIC(name) HOT_JOIN(gnomonic_##name##_, HOT_ORDER)
#define HOT_ORDER_TEMPLATE "sshopm/gpu/gnomonic.h"
#include "common/orders.h"

static float polynomial(int order, const float *c, float u, float v)
{
    return order == 4   ? gnomonic_polynomial_4(c, u, v)
           : order == 6 ? gnomonic_polynomial_6(c, u, v)
                        : gnomonic_polynomial_8(c, u, v);
}

static void pair(int order, const float *c, const float *u, const float *v, float *g)
{
    if (order == 4)
        gnomonic_polynomial_pair_4(c, u, v, g);
    else if (order == 6)
        gnomonic_polynomial_pair_6(c, u, v, g);
    else
        gnomonic_polynomial_pair_8(c, u, v, g);
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
            float u = (float)(p[0] / p[2]), v = (float)(p[1] / p[2]), us[2] = {u, 0.3f}, vs[2] = {v, -0.2f}, two[2];
            for (int k = 0; k < 3; k++) {
                step[k] = polynomial(order, c + (size_t)k * part, u, v);
                pair(order, c + (size_t)k * part, us, vs, two);
                CHECK(two[0] == (float)step[k] && two[1] == polynomial(order, c + (size_t)k * part, 0.3f, -0.2f),
                      "two points at once are two points");
            }
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
    }
    HOT_TEST_END();
}
