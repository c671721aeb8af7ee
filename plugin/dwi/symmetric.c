#include "symmetric.h"

#include <math.h>

static void rotate(double *x, double *y, double c, double s)
{
    double kept = *x;
    *x = c * kept - s * *y;
    *y = s * kept + c * *y;
}

void hot_symmetric_eigen(int n, double *a, double *values, double *vectors)
{
    for (int i = 0; vectors && i < n; i++)
        for (int j = 0; j < n; j++)
            vectors[i * n + j] = i == j;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, on = 0;
        for (int p = 0; p < n; p++) {
            on += a[p * n + p] * a[p * n + p];
            for (int q = p + 1; q < n; q++)
                off += a[p * n + q] * a[p * n + q];
        }
        if (!(off > 1e-32 * on))
            break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double pivot = a[p * n + q];
                if (pivot == 0)
                    continue;
                double theta = (a[q * n + q] - a[p * n + p]) / (2 * pivot);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + hypot(theta, 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++)
                    rotate(&a[k * n + p], &a[k * n + q], c, s);
                for (int k = 0; k < n; k++)
                    rotate(&a[p * n + k], &a[q * n + k], c, s);
                for (int k = 0; vectors && k < n; k++)
                    rotate(&vectors[p * n + k], &vectors[q * n + k], c, s);
            }
    }
    for (int i = 0; i < n; i++)
        values[i] = a[i * n + i];
    for (int i = 0; i < n; i++) { /* ascending, by selection: n is small */
        int least = i;
        for (int j = i + 1; j < n; j++)
            if (values[j] < values[least])
                least = j;
        double kept = values[i];
        values[i] = values[least];
        values[least] = kept;
        for (int k = 0; vectors && least != i && k < n; k++) {
            kept = vectors[i * n + k];
            vectors[i * n + k] = vectors[least * n + k];
            vectors[least * n + k] = kept;
        }
    }
}
