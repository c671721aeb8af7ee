/* Model misfit. A fibre that fans out in a plane, or whose diffusivities are not the response's, leaves smooth
 * residuals that further fibres would fit. These have degree 4, because widths and isotropic compartments absorb
 * degrees 0 and 2. They are modelled as a random function on each shell: a sum of harmonics of degree 4 with normal
 * coefficients, in proportion to the response's part of degree 4. The evidence adds their variance to the noise's; the
 * fits ignore them. */
#include <math.h>

#include "common/linear.h"
#include "signal_plan.h"
#include "symtensor/sphere.h"

/* HOT_SIGNAL_MISFIT_SHARE: on simulated tissue any share up to .3 is harmless; in white matter, fits of two fibres
 * leave .16, of which fits of three absorb most (docs/decisions/003-signal-misfit.md). */

static double legendre_4(double u) { return (35 * u * u * u * u - 30 * u * u + 3) / 8; }

static double dot(const double *a, const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Functions of degree 4 that are orthogonal on the sphere and whose squares add to 1 everywhere: P_4 about 9
 * directions, made orthogonal by the Cholesky factor of their kernel. */
static void fill_harmonics(const float *g, size_t volumes, float *functions)
{
    double d[3 * SIGNAL_MISFIT], L[SIGNAL_MISFIT][SIGNAL_MISFIT];
    hot_sphere_lattice(SIGNAL_MISFIT, d);
    for (int i = 0; i < SIGNAL_MISFIT; i++)
        for (int j = 0; j <= i; j++)
            L[i][j] = legendre_4(d[3 * i] * d[3 * j] + d[3 * i + 1] * d[3 * j + 1] + d[3 * i + 2] * d[3 * j + 2]);
    hot_cholesky_factor(SIGNAL_MISFIT, SIGNAL_MISFIT, L[0], 0);
    for (size_t v = 0; v < volumes; v++) {
        double value[SIGNAL_MISFIT];
        for (int i = 0; i < SIGNAL_MISFIT; i++)
            value[i] = legendre_4(dot(d + 3 * i, g + 3 * v));
        hot_cholesky_forward(SIGNAL_MISFIT, SIGNAL_MISFIT, L[0], value);
        for (int i = 0; i < SIGNAL_MISFIT; i++)
            functions[v * SIGNAL_MISFIT + (size_t)i] = (float)value[i];
    }
}

void hot_signal_fill_misfit(const signal_scheme *s, float *functions, signal_learned *learned)
{
    fill_harmonics(s->g, (size_t)s->volumes, functions);
    learned->misfit = functions;
    for (int shell = 0; shell < s->shells; shell++) {
        double C[SIGNAL_MISFIT][SIGNAL_MISFIT] = {{0}}, V[SIGNAL_MISFIT][SIGNAL_MISFIT];
        double values[SIGNAL_MISFIT], row[SIGNAL_MISFIT];
        /* the response's mean square of degree 4: P_4's is 1/9, its highest coefficient 35/8 */
        const double amplitude = HOT_SIGNAL_MISFIT_SHARE * (double)s->zonal[shell][2][2] / (35 / 8.0);
        const double variance = amplitude * amplitude / 9;
        for (int j = s->first[shell]; j < s->first[shell + 1]; j++)
            for (int a = 0; a < SIGNAL_MISFIT; a++)
                for (int b = 0; b < SIGNAL_MISFIT; b++)
                    C[a][b] += (double)functions[j * SIGNAL_MISFIT + a] * functions[j * SIGNAL_MISFIT + b];
        hot_symmetric_eigen(SIGNAL_MISFIT, C[0], values, V[0]);
        /* orthonormal over the shell's volumes: then the covariance's inverse is a number for each function */
        for (int j = s->first[shell]; j < s->first[shell + 1]; j++) {
            for (int a = 0; a < SIGNAL_MISFIT; a++)
                row[a] = functions[j * SIGNAL_MISFIT + a];
            for (int a = 0; a < SIGNAL_MISFIT; a++) {
                double sum = 0;
                for (int b = 0; b < SIGNAL_MISFIT; b++)
                    sum += V[a][b] * row[b];
                functions[j * SIGNAL_MISFIT + a] = values[a] > 1e-6 ? (float)(sum / sqrt(values[a])) : 0;
            }
        }
        for (int a = 0; a < SIGNAL_MISFIT; a++)
            learned->misfit_variance[shell][a] = values[a] > 1e-6 ? (float)(variance * values[a]) : 0;
    }
}
