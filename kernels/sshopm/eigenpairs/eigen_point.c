/* Critical points of one form on the sphere: see eigen_point.h. */
#include "eigen_point.h"

#include <float.h>
#include <math.h>

#include "common/linear.h"
#include "symtensor/classes.h"

enum {
    N = HOT_DIM_MAX,
    STEP = 8 /* units of hot_poll: a step apart from its forms */
};

void hot_eigen_evaluate(const hot_eigen_tensor *tensor, hot_eigen_point *point)
{
    int n = tensor->dim;
    double norm = 0, sum = 0, residual = 0;
    for (int d = 0; d < n; d++)
        norm += point->x[d] * point->x[d];
    norm = sqrt(norm);
    for (int d = 0; d < n; d++)
        point->x[d] /= norm;
    hot_symtensor_hessian_polled(tensor->poll, tensor->order, n, tensor->values, point->x, point->hessian);
    for (int i = 0; i < n; i++) {
        double g = 0;
        for (int j = 0; j < n; j++)
            g += point->hessian[i * n + j] * point->x[j];
        point->gradient[i] = g;
        sum += g * point->x[i];
    }
    for (int d = 0; d < n; d++) {
        double off = point->gradient[d] - sum * point->x[d];
        residual += off * off;
    }
    point->lambda = sum;
    point->residual = sqrt(residual);
}

/* An orthonormal basis of the tangent space, basis[k * n + d] for k < n - 1: columns of the Householder reflection that
 * takes x to an axis. */
static void tangent_basis(int n, const double *x, double *basis)
{
    double v[N], norm2 = 0, sign = x[n - 1] < 0 ? -1 : 1;
    for (int d = 0; d < n; d++) {
        v[d] = x[d] + (d == n - 1 ? sign : 0);
        norm2 += v[d] * v[d];
    }
    for (int k = 0; k < n - 1; k++)
        for (int d = 0; d < n; d++)
            basis[k * n + d] = (k == d ? 1 : 0) - 2 * v[k] * v[d] / norm2;
}

/* M = (m - 1) A x^(m-2) - lambda I on the tangent space: the Hessian of the form on the sphere, divided by m. */
static void tangent_hessian(const hot_eigen_tensor *tensor, const hot_eigen_point *point, const double *basis,
                            double *m)
{
    int n = tensor->dim;
    for (int k = 0; k < n - 1; k++) {
        double hb[N];
        for (int i = 0; i < n; i++) {
            hb[i] = 0;
            for (int j = 0; j < n; j++)
                hb[i] += point->hessian[i * n + j] * basis[k * n + j];
        }
        for (int l = 0; l < n - 1; l++) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += hb[i] * basis[l * n + i];
            m[k * (n - 1) + l] = (tensor->order - 1) * sum - (k == l ? point->lambda : 0);
        }
    }
}

/* Whether sign * m is negative definite, by Cholesky. */
static int is_concave(int n, const double *m, int sign)
{
    double l[N * N];
    for (int i = 0; i < n * n; i++)
        l[i] = -sign * m[i];
    return hot_cholesky_factor((size_t)n, (size_t)n, l, 0) == (size_t)n;
}

/* Takes one Newton step to `next` and returns its length, negative if there is no step. With a sign other than 0, steps
 * only if sign * form is concave. */
static double newton_step(const hot_eigen_tensor *tensor, const hot_eigen_point *point, int sign, double longest,
                          hot_eigen_point *next)
{
    int n = tensor->dim, t = n - 1;
    double basis[N * N], m[N * N], y[N], length = 0;
    tangent_basis(n, point->x, basis);
    tangent_hessian(tensor, point, basis, m);
    if (sign && !is_concave(t, m, sign))
        return -1;
    for (int k = 0; k < t; k++) {
        y[k] = 0;
        for (int d = 0; d < n; d++)
            y[k] -= basis[k * n + d] * point->gradient[d];
    }
    if (!hot_eliminate(t, m, y))
        return -1;
    for (int k = 0; k < t; k++)
        length += y[k] * y[k];
    length = sqrt(length);
    if (!isfinite(length))
        return -1;
    double shorten = length > longest ? longest / length : 1;
    for (int d = 0; d < n; d++) {
        next->x[d] = point->x[d];
        for (int k = 0; k < t; k++)
            next->x[d] += shorten * y[k] * basis[k * n + d];
    }
    hot_eigen_evaluate(tensor, next);
    return length;
}

/* The smallest eigenvalue of sign * hessian: in closed form for n = 3. */
static double min_eigenvalue(int n, const double *hessian, int sign)
{
    if (n == 3) {
        double q = (hessian[0] + hessian[4] + hessian[8]) / 3, a = hessian[0] - q, b = hessian[4] - q,
               c = hessian[8] - q;
        double d = hessian[1], e = hessian[2], f = hessian[5];
        double p = sqrt((a * a + b * b + c * c + 2 * (d * d + e * e + f * f)) / 6);
        if (!(p > 0))
            return sign * q;
        double det = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e);
        double r = sign * det / (2 * p * p * p);
        return sign * q + 2 * p * cos(acos(fmax(-1, fmin(1, r))) / 3 + 2.09439510239319549231);
    }
    double copy[N * N], values[N];
    for (int i = 0; i < n * n; i++)
        copy[i] = sign * hessian[i];
    hot_symmetric_eigen(n, copy, values, NULL);
    return values[0];
}

static double rounding(const hot_eigen_tensor *tensor) { return 8 * DBL_EPSILON * tensor->scale; }

void hot_eigen_climb(const hot_eigen_tensor *tensor, int sign, hot_eigen_point *point)
{
    int n = tensor->dim;
    hot_eigen_point next;
    for (int k = 0; k < tensor->max_iterations && point->residual > rounding(tensor); k++) {
        if (hot_poll_after(tensor->poll, STEP))
            return;
        /* Where the form bends the right way Newton's step climbs; it is taken when it is short and does climb. */
        double length = newton_step(tensor, point, sign, 0.3, &next);
        if (length >= 0 && length <= 0.3 && sign * (next.lambda - point->lambda) >= -rounding(tensor)) {
            int stuck = !(next.residual < point->residual) && length < 1e-7;
            *point = next;
            if (stuck)
                return;
            continue;
        }
        double shift = tensor->shift == HOT_SHIFT_FIXED ? tensor->alpha : 0;
        if (tensor->shift == HOT_SHIFT_ADAPTIVE)
            shift = fmax(0, 1e-6 * tensor->scale / tensor->order -
                                (tensor->order - 1) * min_eigenvalue(n, point->hessian, sign));
        double norm = 0;
        for (int d = 0; d < n; d++) {
            next.x[d] = sign * point->gradient[d] + shift * point->x[d];
            norm += next.x[d] * next.x[d];
        }
        if (!(norm > 0))
            return;
        *point = next;
        hot_eigen_evaluate(tensor, point);
    }
}

int hot_eigen_newton(const hot_eigen_tensor *tensor, hot_eigen_point *point)
{
    hot_eigen_point next;
    for (int k = 0; k < 60; k++) {
        if (hot_poll_after(tensor->poll, STEP))
            return 0;
        if (point->residual <= rounding(tensor))
            return 1;
        double length = newton_step(tensor, point, 0, 0.4, &next);
        if (length < 0)
            return point->residual <= 1e-10 * tensor->scale;
        if (length < 1e-9) {
            if (next.residual < point->residual)
                *point = next;
            return 1;
        }
        *point = next;
    }
    return point->residual <= 1e-10 * tensor->scale;
}

void hot_eigen_polish(const hot_eigen_tensor *tensor, hot_eigen_point *point)
{
    hot_eigen_point next;
    for (int k = 0; k < 4; k++) {
        double length = newton_step(tensor, point, 0, 1e-3, &next);
        if (length < 0 || length > 1e-3 || !(next.residual < point->residual))
            return;
        *point = next;
    }
}

void hot_eigen_classify(const hot_eigen_tensor *tensor, hot_eigen_point *point)
{
    int t = tensor->dim - 1, down = 0, up = 0;
    double basis[N * N], m[N * N], values[N], vectors[N * N];
    tangent_basis(tensor->dim, point->x, basis);
    tangent_hessian(tensor, point, basis, m);
    hot_symmetric_eigen(t, m, values, vectors);
    for (int d = 0; d < tensor->dim; d++) {
        point->rise[d] = 0;
        for (int k = 0; k < t; k++)
            point->rise[d] += vectors[(t - 1) * t + k] * basis[k * tensor->dim + d];
    }
    double zero = 1e-8 * tensor->scale * tensor->order;
    for (int k = 0; k < t; k++) {
        down += values[k] < -zero;
        up += values[k] > zero;
    }
    point->descents = down;
    point->degenerate = down + up < t;
    point->kind = down == t ? 1 : up == t ? -1 : 0;
}
