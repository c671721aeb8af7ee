/* See signal_moments.h. */
#include "signal_moments.h"

#include <math.h>

/* 12 million draws. */
const double hot_separation_chance[2][HOT_SEPARATIONS] = {
    {0.09606, 0.12374, 0.14725, 0.16654, 0.18084, 0.28557}, {0.27573, 0.28317, 0.23375, 0.13527, 0.05664, 0.01544}};
/* Upper edges of all bins but the last, degrees. */
static const double edges[HOT_SEPARATIONS - 1] = {35, 45, 55, 65, 75};

/* A posterior is never wider than its prior, except by rounding if the data hardly determine it. */
void hot_moments_add(hot_moments *m, double weight, double value, double variance, const double prior[2])
{
    const double told = 1 - fmin(fmax(variance, 0) / (prior[1] * prior[1]), 1), off = value - prior[0];
    m->count += weight;
    m->told += weight * told;
    m->told_twice += weight * told * told;
    m->off += weight * off;
    m->off_told += weight * told * off;
    m->square += weight * off * off;
}

int hot_separation_bin(const float *v, int k, double *angle)
{
    double near = 0;
    int bin = 0;
    for (int i = 1; i < k; i++)
        for (int j = 0; j < i; j++)
            near = fmax(near, fabs((double)(v[3 * i] * v[3 * j] + v[3 * i + 1] * v[3 * j + 1] +
                                            v[3 * i + 2] * v[3 * j + 2])));
    *angle = acos(fmin(near, 1)) * 57.29577951308232;
    while (bin + 1 < HOT_SEPARATIONS && *angle >= edges[bin])
        bin++;
    return bin;
}

int hot_by_size(const void *left, const void *right)
{
    const double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}
