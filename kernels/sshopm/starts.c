/* Starting vectors: random as in the Ballard paper (section V), or evenly spread. */
#include <math.h>

#include <hotfiber/sshopm.h>

#include "common/entry.h"

/* splitmix64 (Steele, Lea, Flood 2014): the same numbers on every machine. */
static uint64_t next_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void hot_starts_random(uint64_t seed, int dim, size_t count, double *starts)
{
    HOT_ENTRY(NULL);
    uint64_t state = seed;
    for (size_t s = 0; starts && dim > 0 && s < count; s++, starts += dim) {
        double sum;
        do {
            sum = 0;
            for (int d = 0; d < dim; d++) {
                starts[d] = (double)(next_bits(&state) >> 11) * 0x1p-52 - 1; /* [-1, 1) */
                sum += starts[d] * starts[d];
            }
        } while (!(sum > 1e-8)); /* too short to say a direction; once in a million years */
        double norm = sqrt(sum);
        for (int d = 0; d < dim; d++)
            starts[d] /= norm;
    }
}

void hot_starts_even(size_t count, double *starts)
{
    HOT_ENTRY(NULL);
    /* Equal steps in z make equal areas; the golden angle keeps neighbours apart. Between z = 0 and 1: each point
     * represents also its mirror image. */
    const double golden = 2.39996322972865332223;
    for (size_t s = 0; starts && s < count; s++) {
        double z = 1 - ((double)s + 0.5) / (double)count, r = sqrt(1 - z * z);
        double turn = fmod(golden * (double)s, 6.28318530717958647693);
        starts[3 * s] = r * cos(turn);
        starts[3 * s + 1] = r * sin(turn);
        starts[3 * s + 2] = z;
    }
}
