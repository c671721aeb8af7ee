/* One voxel of a phantom: what is in it, and the signals of that. */
#include "phantom.h"

#include <math.h>
#include <string.h>

enum { LAGUERRE = 8, AZIMUTHS = 16 };
static const double radian = 0.017453292519943295;

/* Unit vectors every two of which make an angle drawn from the range; the first along z. */
static void crossing(hot_random *random, const hot_phantom_condition *c, double direction[][3])
{
    memset(direction, 0, sizeof(double[HOT_PHANTOM_FIBERS][3]));
    direction[0][2] = 1;
    if (c->fibers < 2)
        return;
    for (int attempt = 0;; attempt++) {
        double a = radian * hot_random_between(random, c->angle);
        direction[1][0] = sin(a), direction[1][2] = cos(a);
        if (c->fibers < 3)
            return;
        double b = radian * hot_random_between(random, c->angle),
               between = radian * hot_random_between(random, c->angle);
        if (attempt > 1000) /* a range that hardly ever fits: an even trio always does */
            b = between = a;
        /* the third from its angles b to the first and `between` to the second */
        double x = (cos(between) - cos(a) * cos(b)) / sin(a), square = 1 - cos(b) * cos(b) - x * x;
        if (square > 1e-12) {
            direction[2][0] = x, direction[2][1] = sqrt(square), direction[2][2] = cos(b);
            return;
        }
    }
}

void hot_phantom_draw_condition(hot_random *random, const hot_phantom_condition *c, size_t column,
                                phantom_voxel *voxel)
{
    memset(voxel, 0, sizeof *voxel);
    voxel->s0 = 1;
    voxel->fibers = c->fibers;
    if (c->fibers == 0) {
        voxel->water = 1;
        voxel->water_diffusivity = c->isotropic[column % 2];
        return;
    }
    double local[HOT_PHANTOM_FIBERS][3], rotation[3][3];
    crossing(random, c, local);
    hot_random_rotation(random, rotation);
    double share = c->fibers > 1 ? hot_random_between(random, c->fraction) : 1;
    for (int i = 0; i < c->fibers; i++) {
        voxel->fraction[i] = i == 0 ? share : (1 - share) / (c->fibers - 1);
        for (int d = 0; d < 3; d++)
            voxel->direction[i][d] =
                rotation[d][0] * local[i][0] + rotation[d][1] * local[i][1] + rotation[d][2] * local[i][2];
    }
}

void hot_phantom_draw_tissue(hot_random *random, const hot_phantom_options *o, phantom_voxel *voxel)
{
    if (voxel->fibers == 0)
        return;
    double water = hot_random_between(random, o->csf);
    if (voxel->water == 0) {
        voxel->water = water;
        voxel->water_diffusivity = HOT_CSF_DIFFUSIVITY;
        for (int i = 0; i < voxel->fibers; i++)
            voxel->fraction[i] *= 1 - water;
    }
    for (int i = 0; i < voxel->fibers; i++) {
        double a, b;
        voxel->dispersion[i] = radian * hot_random_between(random, o->dispersion);
        hot_random_normals(random, &a, &b);
        voxel->axial[i] = o->axial * (1 + o->vary * fmin(fmax(a, -3), 3));
        voxel->radial[i] = o->radial * (1 + o->vary * fmin(fmax(b, -3), 3));
    }
}

/* Gauss-Laguerre nodes and weights, order 8 (Abramowitz and Stegun, table 25.9): tilt^2 / (2 s^2) of a normal tilt of
 * standard deviation s about two axes is exponentially distributed. */
static const double laguerre[LAGUERRE][2] = {
    {0.170279632305101, 3.69188589341638e-1}, {0.903701776799380, 4.18786780814343e-1},
    {2.251086629866131, 1.75794986637172e-1}, {4.266700170287659, 3.33434922612156e-2},
    {7.045905402393466, 2.79453623522567e-3}, {10.758516010180995, 9.07650877335821e-5},
    {15.740678641278005, 8.48574671627253e-7}, {22.863131736889264, 1.04800117487151e-9}};

/* The parts of a dispersed fibre: directions and weights. */
static void disperse(const double v[3], double deviation, double parts[LAGUERRE * AZIMUTHS][3],
                     double weight[LAGUERRE * AZIMUTHS])
{
    double e1[3], e2[3], norm = 0;
    int small = fabs(v[0]) < fabs(v[1]) ? (fabs(v[0]) < fabs(v[2]) ? 0 : 2) : (fabs(v[1]) < fabs(v[2]) ? 1 : 2);
    for (int d = 0; d < 3; d++) {
        e1[d] = (d == small) - v[small] * v[d];
        norm += e1[d] * e1[d];
    }
    for (int d = 0; d < 3; d++)
        e1[d] /= sqrt(norm);
    for (int d = 0; d < 3; d++)
        e2[d] = v[(d + 1) % 3] * e1[(d + 2) % 3] - v[(d + 2) % 3] * e1[(d + 1) % 3];
    for (int n = 0; n < LAGUERRE; n++) {
        double tilt = deviation * sqrt(2 * laguerre[n][0]);
        for (int a = 0; a < AZIMUTHS; a++) {
            double cosine, sine;
            hot_random_turn((double)a / AZIMUTHS, &cosine, &sine);
            weight[n * AZIMUTHS + a] = laguerre[n][1] / AZIMUTHS;
            for (int d = 0; d < 3; d++)
                parts[n * AZIMUTHS + a][d] = cos(tilt) * v[d] + sin(tilt) * (cosine * e1[d] + sine * e2[d]);
        }
    }
}

static double fiber_signal(double b, const double g[3], const double v[3], double axial, double radial)
{
    double dot = g[0] * v[0] + g[1] * v[1] + g[2] * v[2];
    return exp(-b * (radial + (axial - radial) * dot * dot));
}

void hot_phantom_signals(const phantom_voxel *voxel, size_t volumes, const double *b, const double *gradients,
                         double *signals)
{
    double parts[LAGUERRE * AZIMUTHS][3], weight[LAGUERRE * AZIMUTHS];
    for (size_t v = 0; v < volumes; v++)
        signals[v] = voxel->s0 * voxel->water * exp(-b[v] * voxel->water_diffusivity);
    for (int i = 0; i < voxel->fibers; i++) {
        double scale = voxel->s0 * voxel->fraction[i];
        if (voxel->dispersion[i] > 0)
            disperse(voxel->direction[i], voxel->dispersion[i], parts, weight);
        for (size_t v = 0; v < volumes; v++) {
            const double *g = gradients + 3 * v;
            double sum = 0;
            if (b[v] == 0)
                sum = 1;
            else if (voxel->dispersion[i] > 0)
                for (int p = 0; p < LAGUERRE * AZIMUTHS; p++)
                    sum += weight[p] * fiber_signal(b[v], g, parts[p], voxel->axial[i], voxel->radial[i]);
            else
                sum = fiber_signal(b[v], g, voxel->direction[i], voxel->axial[i], voxel->radial[i]);
            signals[v] += scale * sum;
        }
    }
}
