/* A scheme of one shell with any number of directions, and how far P(k) is off. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Mean over ten bins of |P(k) said - share right|, of the most probable number. */
static inline double calibration_error(size_t count, const float *probability, const uint8_t *fibers)
{
    double said[10] = {0}, right[10] = {0}, error = 0;
    for (size_t i = 0; i < count; i++) {
        const float *p = probability + 4 * i;
        int k = 0;
        for (int j = 1; j < 4; j++)
            k = p[j] > p[k] ? j : k;
        const int bin = (int)fmin(10 * (double)p[k], 9);
        said[bin] += (double)p[k];
        right[bin] += k == fibers[i];
    }
    for (int bin = 0; bin < 10; bin++)
        error += fabs(said[bin] - right[bin]) / (double)count;
    return error;
}

enum { TERMS = 5 };

/* Two volumes of b=0 and `weighted` of b with directions on a spiral; the response of a tensor of 1.7 and .3e-3. */
static inline void make_scheme(int weighted, double shell, double *b, double *g, double response[TERMS])
{
    const double pi = 3.14159265358979323846;
    for (int v = 2; v < 2 + weighted; v++) {
        const double z = (v - 1.5) / weighted, r = sqrt(fmax(1 - z * z, 0)), turn = 2.399963229728653 * v;
        b[v] = shell, g[3 * v] = r * cos(turn), g[3 * v + 1] = r * sin(turn), g[3 * v + 2] = z;
    }
    for (int l = 0; l < TERMS; l++) { /* exp(-b (.3e-3 + 1.4e-3 u^2)) */
        response[l] = 0;
        for (int i = 0; i < 2000; i++) {
            const double u = (i + 0.5) / 2000, p[TERMS] = {1, (3 * u * u - 1) / 2,
                (35 * pow(u, 4) - 30 * u * u + 3) / 8, (231 * pow(u, 6) - 315 * pow(u, 4) + 105 * u * u - 5) / 16,
                (6435 * pow(u, 8) - 12012 * pow(u, 6) + 6930 * pow(u, 4) - 1260 * u * u + 35) / 128};
            response[l] += 4 * pi * sqrt((4 * l + 1) / (4 * pi)) * p[l] *
                           exp(-shell * (0.3e-3 + 1.4e-3 * u * u)) / 2000;
        }
    }
}
