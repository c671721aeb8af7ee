/* Tensors of order 2 as ellipsoids: the points D u of all unit vectors u. Compiled as C and by nvcc, so that tensors in
 * host and in CUDA memory give the same pictures. */
#pragma once

#include <math.h>

#ifdef __CUDACC__
#define HOT_ELLIPSOID_FUNCTION static __device__
#else
#define HOT_ELLIPSOID_FUNCTION static inline
#endif

/* The thinnest half axis as a fraction of the longest: flat and linear ellipsoids stay visible from every side. */
#define HOT_ELLIPSOID_THINNEST 0.02

/* One Jacobi rotation that makes a[p][q] zero; the columns of `axes` become eigenvectors. */
HOT_ELLIPSOID_FUNCTION void hot_ellipsoid_rotate(double a[3][3], double axes[3][3], int p, int q)
{
    if (a[p][q] == 0)
        return;
    const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        const double x = a[k][p], y = a[k][q], u = axes[k][p], v = axes[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
        axes[k][p] = c * u - s * v;
        axes[k][q] = s * u + c * v;
    }
    for (int k = 0; k < 3; k++) {
        const double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
    }
}

/* The tensor whose ellipsoid is drawn for d (xx xy xz yy yz zz): smaller eigenvalues, also negative ones, which noise
 * makes, become HOT_ELLIPSOID_THINNEST of the largest. Without such eigenvalues it is d itself; a largest one of 0 or
 * less, or NaN, leaves d as it is. */
HOT_ELLIPSOID_FUNCTION void hot_ellipsoid_tensor(const float d[6], float to[6])
{
    double a[3][3] = {{(double)d[0], (double)d[1], (double)d[2]},
                      {(double)d[1], (double)d[3], (double)d[4]},
                      {(double)d[2], (double)d[4], (double)d[5]}};
    double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 8; sweep++) { /* converges quadratically: 4 or 5 suffice in double */
        hot_ellipsoid_rotate(a, axes, 0, 1);
        hot_ellipsoid_rotate(a, axes, 0, 2);
        hot_ellipsoid_rotate(a, axes, 1, 2);
    }
    const double largest = fmax(a[0][0], fmax(a[1][1], a[2][2])), least = HOT_ELLIPSOID_THINNEST * largest;
    const int thin = largest > 0 && (a[0][0] < least || a[1][1] < least || a[2][2] < least);
    for (int i = 0, r = 0; r < 3; r++)
        for (int c = r; c < 3; c++, i++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += fmax(a[k][k], least) * axes[r][k] * axes[c][k];
            to[i] = thin ? (float)sum : d[i];
        }
}
