/* The orientations that a dispersed fibre is averaged over: nodes of a quadrature in the tilt from the fibre's axis,
 * and equal steps about it. */
#include <math.h>

#include "phantom.h"

enum { LAGUERRE = 8, AZIMUTHS = 16, LEGENDRE = 24, TURNS = 32 };

/* Gauss-Laguerre nodes and weights, order 8 (Abramowitz and Stegun, table 25.9): tilt^2 / (2 s^2) of a normal tilt of
 * standard deviation s about two axes is exponentially distributed. */
static const double laguerre[LAGUERRE][2] = {
    {0.170279632305101, 3.69188589341638e-1}, {0.903701776799380, 4.18786780814343e-1},
    {2.251086629866131, 1.75794986637172e-1}, {4.266700170287659, 3.33434922612156e-2},
    {7.045905402393466, 2.79453623522567e-3}, {10.758516010180995, 9.07650877335821e-5},
    {15.740678641278005, 8.48574671627253e-7}, {22.863131736889264, 1.04800117487151e-9}};

/* Two unit vectors at right angles to v and to each other. */
static void perpendicular(const double v[3], double e1[3], double e2[3])
{
    double norm = 0;
    int small = fabs(v[0]) < fabs(v[1]) ? (fabs(v[0]) < fabs(v[2]) ? 0 : 2) : (fabs(v[1]) < fabs(v[2]) ? 1 : 2);
    for (int d = 0; d < 3; d++) {
        e1[d] = (d == small) - v[small] * v[d];
        norm += e1[d] * e1[d];
    }
    for (int d = 0; d < 3; d++)
        e1[d] /= sqrt(norm);
    for (int d = 0; d < 3; d++)
        e2[d] = v[(d + 1) % 3] * e1[(d + 2) % 3] - v[(d + 2) % 3] * e1[(d + 1) % 3];
}

static void part(const double v[3], const double e1[3], const double e2[3], double tilt, double turn, double u[3])
{
    double cosine, sine;
    hot_random_turn(turn, &cosine, &sine);
    for (int d = 0; d < 3; d++)
        u[d] = cos(tilt) * v[d] + sin(tilt) * (cosine * e1[d] + sine * e2[d]);
}

int hot_phantom_normal_parts(const double v[3], double dispersion, double parts[HOT_PHANTOM_PARTS][3],
                             double weight[HOT_PHANTOM_PARTS])
{
    double e1[3], e2[3];
    perpendicular(v, e1, e2);
    for (int n = 0; n < LAGUERRE; n++) {
        double tilt = dispersion * sqrt(2 * laguerre[n][0]);
        for (int a = 0; a < AZIMUTHS; a++) {
            weight[n * AZIMUTHS + a] = laguerre[n][1] / AZIMUTHS;
            part(v, e1, e2, tilt, (double)a / AZIMUTHS, parts[n * AZIMUTHS + a]);
        }
    }
    return LAGUERRE * AZIMUTHS;
}

/* Node n of Gauss and Legendre's rule on -1 ... 1, by Newton's method on the recurrence of the polynomials. */
static void legendre(int n, double *node, double *weight)
{
    double x = cos(3.14159265358979323846 * (n + 0.75) / (LEGENDRE + 0.5)), slope = 1;
    for (int iteration = 0; iteration < 8; iteration++) {
        double before = 1, now = x;
        for (int l = 2; l <= LEGENDRE; l++) {
            double next = ((2 * l - 1) * x * now - (l - 1) * before) / l;
            before = now;
            now = next;
        }
        slope = LEGENDRE * (x * now - before) / (x * x - 1);
        x -= now / slope;
    }
    *node = x;
    *weight = 2 / ((1 - x * x) * slope * slope);
}

int hot_phantom_watson_parts(const double v[3], double dispersion, double parts[HOT_PHANTOM_PARTS][3],
                             double weight[HOT_PHANTOM_PARTS])
{
    /* density exp(-k sin^2 tilt) sin tilt; beyond 7 standard deviations it is below 1e-10 of its peak */
    const double k = 1 / (2 * dispersion * dispersion), most = fmin(7 * dispersion, 1.57079632679489662);
    double e1[3], e2[3], sum = 0;
    perpendicular(v, e1, e2);
    for (int n = 0; n < LEGENDRE; n++) {
        double x, w;
        legendre(n, &x, &w);
        double tilt = most * (1 + x) / 2, sine = sin(tilt);
        w *= exp(-k * sine * sine) * sine;
        sum += w;
        for (int a = 0; a < TURNS; a++) {
            weight[n * TURNS + a] = w / TURNS;
            part(v, e1, e2, tilt, (double)a / TURNS, parts[n * TURNS + a]);
        }
    }
    for (int p = 0; p < LEGENDRE * TURNS; p++)
        weight[p] /= sum;
    return LEGENDRE * TURNS;
}
