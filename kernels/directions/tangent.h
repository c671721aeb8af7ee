/* A form of even order on the sphere around a point, in double, in the tangent plane: for the reference and for telling
 * maxima from saddles. Shares no formula with the gnomonic code of the fast backends. */
#pragma once

typedef struct hot_tangent {
    double value;          /* A x^m */
    double axis[2][3];     /* an orthonormal basis of the tangent plane at x */
    double slope[2];       /* A x^(m-1) along the axes; times m it is the gradient */
    double curve[3];       /* (m - 1) A x^(m-2) - value I along the axes: 11 12 22; times m it is the Hessian */
    double low, high;      /* the eigenvalues of `curve` */
} hot_tangent;

/* x: unit vector. tensor: packed values. */
void hot_tangent_at(int order, const double *tensor, const double x[3], hot_tangent *t);

/* Climbs from x (unit; replaced) to a critical point: Newton where the form is concave, shifted Newton elsewhere, never
 * downhill. Returns 1 when it got there: slope below 1e-12 of `scale` (the size of the tensor's values). */
int hot_tangent_climb(int order, const double *tensor, double scale, double x[3], hot_tangent *t);
