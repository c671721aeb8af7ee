/* The response from noisy single-fibre voxels, for the kernel's own tests: directions by the kernel (one fibre), then
 * the zonal coefficients through the Rician mean, in turn. */
#ifndef HOT_SIMULATED_RESPONSE_H
#define HOT_SIMULATED_RESPONSE_H

#include "simulated_voxels.h"

/* mean of a Rician magnitude with sigma = 1, by its slope's differential relation: a rational fit of
 * the mean's square */
static inline double ph_rician_mean(double t)
{
    double x = t * t;
    return sqrt(x + 1 + 0.570796327 * (1 + 0.07506814 * x) / (1 + x * (0.42645009 + x * 0.11427747)));
}

static inline hot_signal_scheme ph_signal_scheme(const ph_scheme *p, const double *rows)
{
    return (hot_signal_scheme){.size = sizeof(hot_signal_scheme), .volumes = PH_B0 + PH_VOLUMES, .b = p->b,
                               .gradients = p->gradient, .shells = p->shells, .shell_b = p->shell_b, .response = rows,
                               .lmax = 2 * (PH_TERMS - 1)};
}

/* rows: shells x PH_TERMS, out. Simulates `count` single fibres of the settings, without dispersion and free water. */
static inline int ph_response_estimate(hot_context *context, const ph_settings *settings, const ph_scheme *scheme,
                                       uint64_t seed, size_t count, double *rows)
{
    ph_settings plain = *settings;
    plain.csf = plain.dispersion = plain.hindered = plain.vary = 0;
    float *signals = malloc(count * (PH_B0 + PH_VOLUMES) * sizeof *signals), *fiber = malloc(count * 3 * sizeof *fiber);
    hot_signal_options options = {.size = sizeof options, .max_fibers = 1, .sigma = 1 / settings->snr};
    hot_signal_result result = {.size = sizeof result, .directions = fiber};
    int ok = signals && fiber;
    for (size_t i = 0; ok && i < count; i++) {
        ph_voxel v;
        ph_draw(&seed, &plain, PH_SINGLE, &v);
        ph_simulate(&seed, &plain, scheme, &v, signals + i * (PH_B0 + PH_VOLUMES));
    }
    ph_response_exact(scheme, 0.9 * settings->along, settings->across, rows);
    for (int round = 0; ok && round < 4; round++) {
        hot_signal_scheme model = ph_signal_scheme(scheme, rows);
        ok = hot_signal_fibers_f32(context, &options, &model, count, signals, NULL, NULL, NULL, &result) == HOT_OK;
        for (size_t shell = 0; ok && shell < scheme->shells; shell++)
            for (int newton = 0; newton < 6; newton++) {
                double A[PH_TERMS][PH_TERMS + 1] = {{0}}, *row = rows + shell * PH_TERMS;
                for (size_t i = 0; i < count; i++) {
                    const float *s = signals + i * (PH_B0 + PH_VOLUMES), *f = fiber + 3 * i;
                    double length = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]), s0 = 0;
                    for (int j = 0; j < PH_B0; j++)
                        s0 += s[j] / (double)PH_B0;
                    for (int j = PH_B0; j < PH_B0 + PH_VOLUMES && length > 0; j++) {
                        if (scheme->b[j] != scheme->shell_b[shell])
                            continue;
                        const double *g = scheme->gradient + 3 * j;
                        double u = (g[0] * f[0] + g[1] * f[1] + g[2] * f[2]) / length, eta = 0, p[PH_TERMS];
                        for (int l = 0; l < PH_TERMS; l++) {
                            p[l] = ph_legendre(2 * l, u) * sqrt((4 * l + 1) / (4 * 3.14159265358979323846)) * s0;
                            eta += row[l] * p[l];
                        }
                        double t = fmax(eta * settings->snr, 1e-3), mean = ph_rician_mean(t);
                        double slope = (ph_rician_mean(t + 1e-3) - mean) / 1e-3, variance = 2 + t * t - mean * mean;
                        double e = (s[j] * settings->snr - mean) / variance;
                        for (int a = 0; a < PH_TERMS; a++) {
                            double ja = slope * p[a] * settings->snr;
                            for (int b = 0; b < PH_TERMS; b++)
                                A[a][b] += ja * slope * p[b] * settings->snr / variance;
                            A[a][PH_TERMS] += ja * e;
                        }
                    }
                }
                for (int a = 0; a < PH_TERMS; a++)
                    for (int r = 0; r < PH_TERMS; r++) {
                        double factor = r == a ? 0 : A[r][a] / A[a][a];
                        for (int b = a; b <= PH_TERMS && factor != 0; b++)
                            A[r][b] -= factor * A[a][b];
                    }
                for (int a = 0; a < PH_TERMS; a++)
                    row[a] += A[a][PH_TERMS] / A[a][a];
            }
    }
    free(signals);
    free(fiber);
    return ok;
}

#endif
