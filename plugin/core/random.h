/* Random numbers that are the same on every machine: counter-like streams (seed, stream, item), so that a voxel's
 * numbers do not depend on which thread makes them or how many voxels there are. The bits come from splitmix64; the
 * logarithm, sine and cosine are spelled out here because those of C libraries differ in the last digit. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct hot_random {
    uint64_t state;
} hot_random;

static inline uint64_t hot_random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The start of stream `stream` of item `item` (a voxel, say) under a seed. */
static inline hot_random hot_random_start(uint64_t seed, uint64_t stream, uint64_t item)
{
    uint64_t state = hot_random_mix(seed + 0x9e3779b97f4a7c15u);
    state = hot_random_mix(state ^ (stream * 0xd1342543de82ef95u + 1));
    state = hot_random_mix(state ^ (item * 0xaf251af3b0f025b5u + 7));
    return (hot_random){state};
}

static inline uint64_t hot_random_bits(hot_random *random)
{
    return hot_random_mix(random->state += 0x9e3779b97f4a7c15u);
}

/* Uniform in [0, 1). */
static inline double hot_random_uniform(hot_random *random)
{
    return (double)(hot_random_bits(random) >> 11) * 0x1p-53;
}

/* Uniform in [range[0], range[1]); takes one number from the stream whether or not the range is a point. */
static inline double hot_random_between(hot_random *random, const double range[2])
{
    return range[0] + (range[1] - range[0]) * hot_random_uniform(random);
}

/* ln(x) for 0 < x <= 1: x = m 2^e with m near 1, and the series of 2 artanh((m - 1) / (m + 1)). */
static inline double hot_random_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return 2 * s * sum + exponent * 0.69314718055994531;
}

/* cos and sin of 2 pi v, 0 <= v < 1: within an eighth of a turn of a multiple of a quarter, then Taylor. */
static inline void hot_random_turn(double v, double *cosine, double *sine)
{
    int quarter = (int)(4 * v + 0.5);
    double t = (v - 0.25 * quarter) * 6.2831853071795865, square = t * t, c = 1, s = 1;
    for (int k = 16; k >= 2; k -= 2) {
        c = 1 - c * square / ((k - 1) * k);
        s = 1 - s * square / (k * (k + 1));
    }
    s *= t;
    switch (quarter & 3) {
    case 0: *cosine = c, *sine = s; break;
    case 1: *cosine = -s, *sine = c; break;
    case 2: *cosine = -c, *sine = -s; break;
    default: *cosine = s, *sine = -c; break;
    }
}

/* Two independent standard normal numbers (Box and Muller). */
static inline void hot_random_normals(hot_random *random, double *a, double *b)
{
    double radius = sqrt(-2 * hot_random_log(1 - hot_random_uniform(random)));
    double cosine, sine;
    hot_random_turn(hot_random_uniform(random), &cosine, &sine);
    *a = radius * cosine;
    *b = radius * sine;
}

/* A rotation matrix, uniform over all rotations: the unit quaternion of four normal numbers. */
static inline void hot_random_rotation(hot_random *random, double rotation[3][3])
{
    double q[4], norm = 0;
    hot_random_normals(random, &q[0], &q[1]);
    hot_random_normals(random, &q[2], &q[3]);
    for (int i = 0; i < 4; i++)
        norm += q[i] * q[i];
    norm = norm > 0 ? sqrt(norm) : (q[0] = 1);
    for (int i = 0; i < 4; i++)
        q[i] /= norm;
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double turned[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                                 {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                                 {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(rotation, turned, sizeof turned);
}
