/* From where SS-HOPM stopped to a maximum: a template per order, compiled as C11 (common/orders.h) and by nvcc
 * (starts_form<ORDER> in gpu/deduplicate.cuh).
 *
 *   #define HOT_STARTS(name)   the names made: name##_4, say
 *   #define HOT_FORM(name)     the forms of the order in double (symtensor/form3.h) */

/* Moves x (unit; replaced) to the nearest maximum, by Newton's method in the tangent plane, in double: SS-HOPM stops at
 * a small residual, which in flat parts of the form is not yet near the maximum. Every step must end at no lower value
 * and in the concave part; longer steps are shortened. Returns 1 and A x^m at a maximum; 0 if x is not in the concave
 * part of the form around one (saddles and minima), or on a shoulder: a concave part without a maximum, at whose edge
 * the steps become ever shorter while the form still rises. `scale` is the tensor's largest |value|. */
HOT_FN int HOT_STARTS(settle)(const double *tensor, double scale, double x[3], double *value)
{
    enum { STEPS = 16 }; /* mostly two or three */
    double y[3] = {x[0], x[1], x[2]}, move[3] = {0, 0, 0}, far = 0, part = 1;
    *value = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int step = 0; step <= STEPS; step++) {
        double h[6], g[3], a[3], b[3];
        double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
        for (int d = 0; d < 3; d++)
            y[d] /= length;
        HOT_FORM(hessian)(tensor, y[0], y[1], y[2], h);
        g[0] = h[0] * y[0] + h[1] * y[1] + h[2] * y[2];
        g[1] = h[1] * y[0] + h[3] * y[1] + h[4] * y[2];
        g[2] = h[2] * y[0] + h[4] * y[1] + h[5] * y[2];
        const double lambda = g[0] * y[0] + g[1] * y[1] + g[2] * y[2];
        /* an orthonormal basis of the tangent plane (Duff et al., Building an Orthonormal Basis, Revisited, 2017) */
        const double sign = y[2] < 0 ? -1 : 1, p = -1 / (sign + y[2]), q = y[0] * y[1] * p;
        a[0] = 1 + sign * y[0] * y[0] * p, a[1] = sign * q, a[2] = -sign * y[0];
        b[0] = q, b[1] = sign + y[1] * y[1] * p, b[2] = -y[1];
        double slope[2] = {0, 0}, ha[3], hb[3], curve[3] = {0, 0, 0};
        ha[0] = h[0] * a[0] + h[1] * a[1] + h[2] * a[2], hb[0] = h[0] * b[0] + h[1] * b[1] + h[2] * b[2];
        ha[1] = h[1] * a[0] + h[3] * a[1] + h[4] * a[2], hb[1] = h[1] * b[0] + h[3] * b[1] + h[4] * b[2];
        ha[2] = h[2] * a[0] + h[4] * a[1] + h[5] * a[2], hb[2] = h[2] * b[0] + h[4] * b[1] + h[5] * b[2];
        for (int d = 0; d < 3; d++) {
            slope[0] += g[d] * a[d];
            slope[1] += g[d] * b[d];
            curve[0] += a[d] * ha[d];
            curve[1] += a[d] * hb[d];
            curve[2] += b[d] * hb[d];
        }
        /* the Hessian on the sphere, over m */
        curve[0] = (HOT_ORDER - 1) * curve[0] - lambda;
        curve[1] = (HOT_ORDER - 1) * curve[1];
        curve[2] = (HOT_ORDER - 1) * curve[2] - lambda;
        double det = curve[0] * curve[2] - curve[1] * curve[1];
        const double trace = curve[0] + curve[2];
        if (step == 0 && !(trace < 0 && det > 0))
            return 0;
        /* Along a ring of maxima det is 0, with either sign by rounding: there only the curvature across it counts. */
        if (step > 0 && !(trace < 0 && det > -1e-12 * trace * trace && lambda >= *value - 1e-13 * scale)) {
            part *= 0.25;
        } else {
            *value = lambda;
            for (int d = 0; d < 3; d++)
                x[d] = y[d];
            if (slope[0] * slope[0] + slope[1] * slope[1] <= 1e-18 * scale * scale)
                return 1;
            if (det < 1e-9 * trace * trace) {
                curve[0] += 1e-9 * trace, curve[2] += 1e-9 * trace;
                det = curve[0] * curve[2] - curve[1] * curve[1];
            }
            const double u = (curve[1] * slope[1] - curve[2] * slope[0]) / det;
            const double v = (curve[1] * slope[0] - curve[0] * slope[1]) / det;
            far = sqrt(u * u + v * v), part = far > HOT_STARTS_LEAP ? HOT_STARTS_LEAP / far : 1;
            for (int d = 0; d < 3; d++)
                move[d] = u * a[d] + v * b[d];
        }
        for (int d = 0; d < 3; d++)
            y[d] = x[d] + part * move[d];
    }
    return far <= HOT_STARTS_NEAR;
}
