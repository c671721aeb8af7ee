/* Clipped samples share one value, the file's largest or nearly so, while the histogram thins out below it.
 *
 * Only each voxel's largest sample counts, so that repeated volumes do not make a plateau. The number of voxels at a
 * value is compared with the number expected from the values just below it. */
#include "ceiling.h"

#include <math.h>
#include <stdlib.h>

enum {
    MIN_VOXELS = 3,     /* at a value, to call it a plateau; 2 at the limit of the type */
    MIN_BELOW = 30,     /* voxels below the plateau that are compared with it */
    NEAR_VALUES = 8,    /* of the histogram, below the plateau: as many voxels share each of them as by chance */
    MAX_SPIKES = 16,    /* values above the plateau: voxels damaged after clipping, */
    MAX_SPIKED = 10,    /* and at most one in so many */
    MIN_SHARED = 50     /* voxels, to call a value that most of them share a ceiling */
};
/* The range of the values just below, relative to the value. */
static const double window[] = {0.9, 0.8, 0.65, 0.5};
/* Signals computed without noise are alike up to rounding. */
static const double rounding = 1e-6;
/* ln of the odds against so many voxels by chance: one in 10^6. */
static const double evidence = 14;

static int descending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* Moves the voxels in [low, high) to the front. Returns how many they are. */
static size_t gather(float *largest, size_t voxels, double low, double high)
{
    size_t found = 0;
    for (size_t n = 0; n < voxels; n++)
        if ((double)largest[n] >= low && (double)largest[n] < high) {
            const float here = largest[found];
            largest[found++] = largest[n];
            largest[n] = here;
        }
    return found;
}

/* Voxels expected at one value of the histogram, from those in the window below it; 0: nothing there. */
static double expected(float *largest, size_t voxels, double value)
{
    size_t below = 0;
    double low = value, step = INFINITY, above = value;
    size_t near = 0, distinct = 0; /* voxels of the nearest values, and how many these are */
    for (size_t w = 0; w < sizeof window / sizeof *window && below < MIN_BELOW; w++) {
        low = window[w] * value;
        below = gather(largest, voxels, low, value);
    }
    if (below == 0)
        return 0;
    qsort(largest, below, sizeof *largest, descending);
    for (size_t i = 0; i < below; i++) { /* the spacing of the values: 1 for integers */
        const double gap = above - (double)largest[i];
        step = gap > 0 && gap < step ? gap : step;
        distinct += gap > rounding * value;
        near += distinct <= NEAR_VALUES;
        above = (double)largest[i];
    }
    const size_t nearest = distinct < NEAR_VALUES ? distinct : NEAR_VALUES;
    return fmax((double)(below + 1) / ((value - low) / step + 1), (double)near / (double)(nearest ? nearest : 1));
}

/* Whether more than half of the voxels share the largest value. 1: they were clipped there, as diffusion-weighted
 * samples are at it, too; -1: they were not, but divided by their b=0 signal, or made without noise. */
static int is_shared(const float *largest, const uint8_t *weighted, size_t voxels, size_t positive, double *value,
                     size_t *count)
{
    static const double min_weighted = 0.05;
    size_t with = 0;
    *value = 0;
    *count = 0;
    for (size_t n = 0; n < voxels; n++)
        *value = isfinite(largest[n]) ? fmax(*value, (double)largest[n]) : *value;
    for (size_t n = 0; n < voxels; n++)
        if ((double)largest[n] == *value) {
            ++*count;
            with += weighted[n] != 0;
        }
    if (2 * *count <= positive)
        return 0;
    return *count >= MIN_SHARED && (double)with >= min_weighted * (double)*count ? 1 : -1;
}

double hot_ceiling_find(float *largest, const uint8_t *weighted, size_t voxels, double type_limit, size_t *reached)
{
    double above = INFINITY, shared;
    size_t positive = 0, seen = 0, sharing;
    *reached = 0;
    for (size_t n = 0; n < voxels; n++)
        positive += largest[n] > 0 && isfinite(largest[n]);
    const int clipped = is_shared(largest, weighted, voxels, positive, &shared, &sharing);
    if (clipped != 0) {
        *reached = clipped > 0 ? sharing : 0;
        return clipped > 0 ? shared : INFINITY;
    }
    for (int spikes = 0; spikes <= MAX_SPIKES && seen < positive; spikes++) {
        float value = 0;
        size_t count = 0;
        for (size_t n = 0; n < voxels; n++)
            value = (double)largest[n] < above && largest[n] > value ? largest[n] : value;
        for (size_t n = 0; n < voxels; n++)
            count += largest[n] == value;
        above = (double)value;
        seen += count;
        if (count < 2 || seen - count > count / MAX_SPIKED)
            continue;
        const double chance = expected(largest, voxels, above), many = (double)count;
        if (chance > 0 && ((count >= MIN_VOXELS && many > chance &&
                            many * log(many / chance) - many + chance > evidence) || above >= type_limit)) {
            *reached = seen;
            return above;
        }
    }
    return INFINITY;
}
