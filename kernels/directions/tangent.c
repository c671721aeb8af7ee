/* See tangent.h. */
#include "tangent.h"

#include <math.h>

#include <hotfiber/symtensor.h>

void hot_tangent_at(int order, const double *tensor, const double x[3], hot_tangent *t)
{
    double h[9], g[3];
    hot_symtensor_hessian_f64(order, 3, tensor, x, h);
    t->value = 0;
    for (int i = 0; i < 3; i++) {
        g[i] = h[3 * i] * x[0] + h[3 * i + 1] * x[1] + h[3 * i + 2] * x[2];
        t->value += g[i] * x[i];
    }
    /* first axis: x cross the coordinate axis it is farthest from */
    int far = 0;
    for (int i = 1; i < 3; i++)
        far = fabs(x[i]) < fabs(x[far]) ? i : far;
    double e[3] = {0, 0, 0};
    e[far] = 1;
    double *a = t->axis[0], *b = t->axis[1];
    a[0] = x[1] * e[2] - x[2] * e[1];
    a[1] = x[2] * e[0] - x[0] * e[2];
    a[2] = x[0] * e[1] - x[1] * e[0];
    const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int i = 0; i < 3; i++)
        a[i] /= length;
    b[0] = x[1] * a[2] - x[2] * a[1];
    b[1] = x[2] * a[0] - x[0] * a[2];
    b[2] = x[0] * a[1] - x[1] * a[0];
    double curve[3] = {0, 0, 0};
    t->slope[0] = t->slope[1] = 0;
    for (int i = 0; i < 3; i++) {
        t->slope[0] += g[i] * a[i];
        t->slope[1] += g[i] * b[i];
        for (int j = 0; j < 3; j++) {
            curve[0] += a[i] * h[3 * i + j] * a[j];
            curve[1] += a[i] * h[3 * i + j] * b[j];
            curve[2] += b[i] * h[3 * i + j] * b[j];
        }
    }
    t->curve[0] = (order - 1) * curve[0] - t->value;
    t->curve[1] = (order - 1) * curve[1];
    t->curve[2] = (order - 1) * curve[2] - t->value;
    const double mean = 0.5 * (t->curve[0] + t->curve[2]), part = 0.5 * (t->curve[0] - t->curve[2]);
    const double spread = sqrt(part * part + t->curve[1] * t->curve[1]);
    t->low = mean - spread;
    t->high = mean + spread;
}

int hot_tangent_climb(int order, const double *tensor, double scale, double x[3], hot_tangent *t)
{
    hot_tangent_at(order, tensor, x, t);
    for (int step = 0; step < 300; step++) {
        if (hypot(t->slope[0], t->slope[1]) <= 1e-12 * scale)
            return 1;
        const double shift = t->high < 0 ? 0 : t->high + 0.05 * fmax(fabs(t->low), fabs(t->high)) + 1e-12 * scale;
        const double a = t->curve[0] - shift, b = t->curve[1], c = t->curve[2] - shift, det = a * c - b * b;
        if (!(det > 0))
            return 0;
        double s[2] = {(b * t->slope[1] - c * t->slope[0]) / det, (b * t->slope[0] - a * t->slope[1]) / det};
        double length = hypot(s[0], s[1]);
        for (double limit = fmin(length, 0.15);; limit *= 0.3) {
            if (limit < 1e-14)
                return hypot(t->slope[0], t->slope[1]) <= 1e-9 * scale; /* rounding stops it */
            double y[3], norm = 0;
            for (int i = 0; i < 3; i++) {
                const double along = (s[0] * t->axis[0][i] + s[1] * t->axis[1][i]) / length;
                y[i] = cos(limit) * x[i] + sin(limit) * along;
                norm += y[i] * y[i];
            }
            for (int i = 0; i < 3; i++)
                y[i] /= sqrt(norm);
            hot_tangent next;
            hot_tangent_at(order, tensor, y, &next);
            if (next.value >= t->value - 1e-13 * scale) {
                for (int i = 0; i < 3; i++)
                    x[i] = y[i];
                *t = next;
                break;
            }
        }
    }
    return hypot(t->slope[0], t->slope[1]) <= 1e-9 * scale;
}
