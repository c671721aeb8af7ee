/* Implicit QL with Wilkinson's shifts (after EISPACK's imtql2), a sweep at a time, compiled both as C11 and by nvcc:
 * the sweep leaves its rotations behind, and whoever called applies them to the vectors. The matrix's norm is near
 * 1. */
#pragma once

#include <math.h>

#ifdef __CUDACC__
#define HEEV_FN static __device__ __forceinline__
#else
#define HEEV_FN static inline
#endif

/* State between sweeps; all zero before the first. */
typedef struct heev_sweep {
    int at, tries;  /* index of the eigenvalue that is iterated for, and the sweeps made for it */
    int begin, end; /* out: rotations begin <= i < end, to be applied from the last to the first: vectors x = i and
                     * y = i + 1 become c x - s y and s x + c y */
} heev_sweep;

/* The next sweep over the n diagonal values d and off-diagonal ones e (e[i] couples i and i + 1): 1 when there was one,
 * 0 when d holds the eigenvalues, -1 when one of them does not come out. */
HEEV_FN int heev_sweep_next(heev_sweep *sweep, int n, double *d, double *e, double *cosine, double *sine)
{
    for (; sweep->at < n; sweep->at++, sweep->tries = 0) {
        const int l = sweep->at;
        int m = l;
        while (m + 1 < n && fabs(e[m]) > 2.2e-16 * fmax(sqrt(fabs(d[m])) * sqrt(fabs(d[m + 1])), .1))
            m++;
        if (m == l)
            continue;
        if (sweep->tries++ == 80)
            return -1;
        double g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1.0);
        g = d[m] - d[l] + e[l] / (g + copysign(r, g));
        double s = 1, c = 1, p = 0;
        int i = m - 1;
        for (; i >= l; i--) {
            const double f = s * e[i], b = c * e[i];
            r = hypot(f, g);
            e[i + 1] = r;
            if (r == 0) {
                d[i + 1] -= p;
                e[m] = 0;
                break;
            }
            s = f / r;
            c = g / r;
            g = d[i + 1] - p;
            r = (d[i] - g) * s + 2 * c * b;
            p = s * r;
            d[i + 1] = g + p;
            g = c * r - b;
            cosine[i] = c;
            sine[i] = s;
        }
        sweep->begin = i + 1;
        sweep->end = m;
        if (i < l) {
            d[l] -= p;
            e[l] = g;
            e[m] = 0;
        }
        return 1;
    }
    return 0;
}

/* order[k]: the place of the k-th of the values, ascending. */
HEEV_FN void heev_order(int n, const double *d, int *order)
{
    for (int k = 0; k < n; k++) {
        int at = k;
        for (; at > 0 && d[order[at - 1]] > d[k]; at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
}
