/* Volumes that were computed from the others: means, traces, maps of the ADC. Scanners append them to a series. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_rows.h"

enum { SHELL_MIN = 6, FOUND_MAX = 3 };
static const double dark = 0.05; /* of a voxel's mean: less has no logarithm worth taking */
static const double alike = 0.25; /* of the spread that a volume of a shell has about the shell's mean: noise would be
                                     as large */

static const double level_off = 0.1;

typedef struct work {
    const hot_rows *rows;
    double *sum, *logs;   /* voxels: of the volumes of a set, and of their logarithms */
    double *none, *few;   /* voxels: mean of the b=0 volumes, geometric mean of a set */
    double *spread;       /* volumes: a set's own spreads */
} work;

static int in_set(const hot_rows *rows, int set, size_t i)
{
    return set == -2 || (set == -1 ? rows->group[i] >= 0 : rows->group[i] == set);
}

/* The coefficient of variation of volume i over a reference that it is no part of; *level: their mean ratio. */
static double variation(const hot_rows *rows, size_t i, const double *sum, double count, int member, int geometric,
                        double *level)
{
    double n = 0, s = 0, ss = 0;
    for (size_t x = 0; x < rows->voxels; x++) {
        const double y = (double)rows->signals[x * rows->volumes + i];
        const double own = geometric ? log(fmax(y, dark)) : y;
        const double mean = (sum[x] - (member ? own : 0)) / (count - member), of = geometric ? exp(mean) : mean;
        if (!(of > 1e-12))
            continue;
        n++, s += y / of, ss += y / of * y / of;
    }
    *level = s / n;
    return n > 1 && s != 0 ? sqrt(fmax(0, ss / n - s / n * s / n)) / fabs(s / n) : INFINITY;
}

static int by_size(const void *left, const void *right)
{
    const double l = *(const double *)left, r = *(const double *)right;
    return l < r ? -1 : l > r;
}

/* Means of a set: all volumes (-2), those with b > 0 (-1), a shell. */
static void find_means(const work *w, int set, const char **kind)
{
    const hot_rows *rows = w->rows;
    const size_t n = rows->volumes;
    double count = 0;
    memset(w->sum, 0, rows->voxels * sizeof *w->sum);
    memset(w->logs, 0, rows->voxels * sizeof *w->logs);
    for (size_t i = 0; i < n; i++) {
        if (!in_set(rows, set, i))
            continue;
        count++;
        for (size_t x = 0; x < rows->voxels; x++) {
            const double y = (double)rows->signals[x * n + i];
            w->sum[x] += y;
            w->logs[x] += log(fmax(y, dark));
        }
    }
    if (count < SHELL_MIN + 1)
        return;
    for (int geometric = 0; geometric < 2; geometric++) {
        const double *sum = geometric ? w->logs : w->sum;
        size_t members = 0;
        double level;
        for (size_t i = 0; i < n; i++)
            if (in_set(rows, set, i))
                w->spread[members++] = variation(rows, i, sum, count, 1, geometric, &level);
        qsort(w->spread, members, sizeof *w->spread, by_size);
        const double usual = w->spread[members / 2];
        for (size_t i = 0; i < n; i++)
            if (!kind[i] &&
                variation(rows, i, sum, count, in_set(rows, set, i), geometric, &level) < alike * usual &&
                fabs(level - 1) < level_off)
                kind[i] = set == -2 ? "the mean of the volumes"
                          : set == -1 ? "the mean of the volumes with b > 0" : "the mean of a shell (trace)";
    }
}

static const char *const adc_map = "a map of the diffusivity (ADC)";

/* Maps of the ADC: ln(S0 / S) of a shell's geometric mean explains them (or of all with b > 0), and neither S0 nor S
 * does. */
static void find_adc(const work *w, int set, const char **kind)
{
    const hot_rows *rows = w->rows;
    const size_t n = rows->volumes;
    for (size_t i = 0; i < n; i++) {
        double count = 0, plain = 0, level;
        memset(w->none, 0, rows->voxels * sizeof *w->none);
        memset(w->few, 0, rows->voxels * sizeof *w->few);
        for (size_t j = 0; j < n; j++) {
            const int b0 = rows->group[j] < 0, here = in_set(rows, set, j);
            if (j == i || kind[j] || (!b0 && !here))
                continue;
            count += here, plain += b0;
            for (size_t x = 0; x < rows->voxels; x++) {
                const double y = fmax((double)rows->signals[x * n + j], dark);
                w->none[x] += b0 ? y : 0;
                w->few[x] += here ? log(y) : 0;
            }
        }
        if (kind[i] || count < SHELL_MIN || plain < 1)
            continue;
        for (size_t x = 0; x < rows->voxels; x++) {
            w->none[x] /= plain;
            w->few[x] = exp(w->few[x] / count);
            const double adc = log(fmax(w->none[x], dark) / w->few[x]);
            w->sum[x] = adc > 0.05 ? adc / (double)rows->level[x] : 0; /* as the signals are */
        }
        const double adc = variation(rows, i, w->sum, 1, 0, 0, &level);
        if (adc < 0.3 && adc < 0.4 * variation(rows, i, w->none, 1, 0, 0, &level) &&
            adc < 0.4 * variation(rows, i, w->few, 1, 0, 0, &level))
            kind[i] = adc_map;
    }
}

hot_status hot_rows_computed(const hot_rows *rows, const char **kind)
{
    double *space = hot_context_alloc(rows->context, 4 * rows->voxels + rows->volumes + 1, sizeof *space);
    if (!space)
        return HOT_ERROR_MEMORY;
    const work w = {rows, space, space + rows->voxels, space + 2 * rows->voxels, space + 3 * rows->voxels,
                    space + 4 * rows->voxels};
    for (int set = rows->groups - 1; set >= -2 && rows->voxels > 1; set--) /* shells first */
        find_means(&w, set, kind);
    if (rows->groups > 0 && rows->voxels > 1)
        for (int set = -1; set < rows->groups; set++)
            if (set <= 0 || set == rows->groups - 1)
                find_adc(&w, set, kind);
    size_t found = 0, maps = 0;
    for (size_t i = 0; i < rows->volumes; i++) {
        found += kind[i] != NULL;
        maps += kind[i] == adc_map;
    }
    for (size_t i = 0; i < rows->volumes; i++) /* so many are none: the table is to blame */
        if (found > FOUND_MAX || (maps > 1 && kind[i] == adc_map))
            kind[i] = NULL;
    hot_context_free(rows->context, space);
    return hot_context_check(rows->context, "comparing volumes with the gradient table");
}
