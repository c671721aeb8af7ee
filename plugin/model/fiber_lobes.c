#include "fiber_lobes.h"

#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#define PI 3.14159265358979323846

/* K(t) = (T(s t) - 1) / (T(s) - 1) with Chebyshev's T of degree lmax: of all functions with this lmax and a lobe this
 * narrow, T has the lowest ripples outside the lobe (as Dolph's windows have). Minus 1, the ripples are nowhere above 0
 * and make no peaks. The stretch s puts the first ripple's edge here: */
static const double edge = 30; /* degrees; the ripples are then .013 deep */

typedef struct curve {
    double value, slope, bend; /* K, K', K'' */
} curve;

static curve lobe_at(const hot_lobe *lobe, double t)
{
    const double y = lobe->stretch * t;
    double t0 = 1, t1 = y, d0 = 0, d1 = 1, b0 = 0, b1 = 0;
    for (int n = 1; n < HOT_LOBES_LMAX; n++) {
        const double t2 = 2 * y * t1 - t0, d2 = 2 * t1 + 2 * y * d1 - d0, b2 = 4 * d1 + 2 * y * b1 - b0;
        t0 = t1, t1 = t2, d0 = d1, d1 = d2, b0 = b1, b1 = b2;
    }
    return (curve){(t1 - 1) / lobe->height, lobe->stretch * d1 / lobe->height,
                   lobe->stretch * lobe->stretch * b1 / lobe->height};
}

void hot_lobe_make(hot_lobe *lobe)
{
    enum { STEPS = 2000 };
    *lobe = (hot_lobe){.stretch = cos(PI / HOT_LOBES_LMAX) / cos(edge * PI / 180), .height = 1};
    lobe->height = lobe_at(lobe, 1).value;
    /* gain[l / 2] = 2 pi times the integral of K P_l over -1 ... 1, by Simpson's rule */
    for (int i = 0; i <= STEPS; i++) {
        const double t = -1 + 2.0 * i / STEPS, weight = (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * 2.0 / STEPS / 3;
        const double value = 2 * PI * weight * lobe_at(lobe, t).value;
        double before = 0, now = 1;
        for (int l = 0; l <= HOT_LOBES_LMAX; l++) {
            if (l % 2 == 0)
                lobe->gain[l / 2] += value * now;
            const double next = ((2 * l + 1) * t * now - l * before) / (l + 1);
            before = now, now = next;
        }
    }
}

enum { FIBERS_MAX = 255 };

typedef struct lobes {
    int count;
    double axis[FIBERS_MAX][3], height[FIBERS_MAX]; /* of the lobes */
} lobes;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The sum of all lobes at x: its value, its gradient on the sphere; returns whether it is concave there. */
static int sum_at(const hot_lobe *lobe, const lobes *all, const double x[3], double *value, double gradient[3])
{
    double along = 0, h[3][3] = {{0}};
    *value = 0;
    gradient[0] = gradient[1] = gradient[2] = 0;
    for (int j = 0; j < all->count; j++) {
        const double *u = all->axis[j], t = dot(x, u), c = all->height[j];
        const curve k = lobe_at(lobe, t);
        *value += c * k.value;
        along += c * k.slope * t;
        for (int d = 0; d < 3; d++) {
            gradient[d] += c * k.slope * (u[d] - t * x[d]);
            for (int e = 0; e < 3; e++)
                h[d][e] += c * k.bend * (u[d] - t * x[d]) * (u[e] - t * x[e]);
        }
    }
    /* the Hessian on the sphere: h has the eigenvalue 0 along x, so that its other two follow from trace and minors */
    const double trace = h[0][0] + h[1][1] + h[2][2];
    const double minors = h[0][0] * h[1][1] - h[0][1] * h[0][1] + h[0][0] * h[2][2] - h[0][2] * h[0][2] +
                          h[1][1] * h[2][2] - h[1][2] * h[1][2];
    return trace / 2 + sqrt(fmax(trace * trace / 4 - minors, 0)) - along < 0;
}

/* Moves axes and heights until the sum has its maxima where and as high as the fibres. Each lobe answers for its own
 * fibre alone: what the others add there is taken into account by repeating. */
static int fit(const hot_lobe *lobe, int count, const double (*fiber)[3], const double *length, lobes *all)
{
    enum { STEPS = 60 };
    const double stiff = lobe_at(lobe, 1).slope;
    all->count = count;
    memcpy(all->axis, fiber, (size_t)count * sizeof *fiber);
    memcpy(all->height, length, (size_t)count * sizeof *length);
    for (int step = 0; step < STEPS; step++) {
        double value[FIBERS_MAX], gradient[FIBERS_MAX][3], off = 0;
        int concave = 1;
        for (int i = 0; i < count; i++) {
            concave &= sum_at(lobe, all, fiber[i], &value[i], gradient[i]);
            off = fmax(off, fabs(value[i] - length[i]) / length[i]);
            off = fmax(off, sqrt(dot(gradient[i], gradient[i])) / (stiff * length[i]));
        }
        if (off < 1e-6)
            return concave;
        for (int i = 0; i < count; i++) {
            double *u = all->axis[i], size;
            for (int d = 0; d < 3; d++)
                u[d] -= gradient[i][d] / (stiff * all->height[i]);
            size = sqrt(dot(u, u));
            for (int d = 0; d < 3; d++)
                u[d] /= size;
            all->height[i] = fmax(all->height[i] + length[i] - value[i], 0.05 * length[i]);
        }
    }
    return 0;
}

int hot_lobe_sum(const hot_lobe *lobe, const double axes[3][3], const float *peaks, size_t count, float *coefficients)
{
    double fiber[FIBERS_MAX][3], length[FIBERS_MAX], values[HOT_LOBES_TERMS], sum[HOT_LOBES_TERMS] = {0};
    lobes all;
    int found = 0;
    for (size_t f = 0; f < count; f++) {
        const double v[3] = {(double)peaks[3 * f], (double)peaks[3 * f + 1], (double)peaks[3 * f + 2]};
        if (!(dot(v, v) > 0))
            continue;
        length[found] = sqrt(dot(v, v));
        for (int a = 0; a < 3; a++)
            fiber[found][a] = dot(axes[a], v) / length[found];
        found++;
    }
    const int exact = fit(lobe, found, (const double (*)[3])fiber, length, &all);
    if (!exact) { /* the fibres themselves */
        memcpy(all.axis, fiber, (size_t)found * sizeof *fiber);
        memcpy(all.height, length, (size_t)found * sizeof *length);
    }
    for (int f = 0; f < found; f++) {
        hot_sh_values_f64(HOT_LOBES_LMAX, 1, all.axis[f], values);
        for (int l = 0, k = 0; l <= HOT_LOBES_LMAX; l += 2)
            for (int m = -l; m <= l; m++, k++)
                sum[k] += all.height[f] * lobe->gain[l / 2] * values[k];
    }
    for (int k = 0; k < HOT_LOBES_TERMS; k++)
        coefficients[k] = (float)sum[k];
    return exact;
}
