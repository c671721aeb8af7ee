/* Volumes that were computed from the others: means, traces, maps of the ADC. Scanners append them to a series. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_rows.h"
#include "common/compare.h"
#include "common/linear.h"

enum { SHELL_MIN = 6, FOUND_MAX = 3 };
enum { THIN = 8, THIN_VOXELS = 1000 }; /* of more voxels every so many are looked at first */
static const double thin_margin = 2; /* by which a coefficient of variation from few voxels may be too large */
static const double dark = 0.05; /* of a voxel's mean: less has no logarithm worth taking */
static const double alike = 0.25; /* of the spread that a volume of a shell has about the shell's mean */
static const double noiseless = 0.1; /* of the least variance that any combination of a shell's volumes has */
static const double level_off = 0.1;
static const double few_patterns = 3.3; /* fibres in a plane have fewer */
static const double few_exact = 2, exact = 1e-5; /* patterns, where an ADC leaves less than this share of the square */

typedef struct work {
    const hot_rows *rows;
    size_t thin;          /* step from voxel to voxel in a first look */
    float *log;           /* voxels x volumes: of the signals */
    double *sum, *logs;   /* voxels: of the volumes of a set, and of their logarithms */
    double *none, *raw, *few; /* voxels: sum and mean of the b=0 volumes, geometric mean of a set */
    double *spread;       /* volumes: a set's own spreads */
    double *products;     /* volumes x volumes, and volumes */
} work;

/* Sets: all volumes (-2), those with b > 0 (-1), groups, and from `groups` on the shells that are parts of groups. */
static int in_set(const hot_rows *rows, int set, size_t i)
{
    if (set < 0)
        return set == -2 || rows->group[i] >= 0;
    return set < rows->groups ? rows->group[i] == set : rows->group[i] >= 0 && rows->shell[i] == set - rows->groups;
}

/* How a volume goes with a reference that it is no part of. */
typedef struct fit {
    double variation, level; /* coefficient of variation of their ratio, and its mean */
    double residual;         /* mean squared difference, the reference scaled to fit best */
} fit;

static fit compare(const work *w, size_t i, const double *sum, double count, int member, int geometric, size_t step)
{
    const hot_rows *rows = w->rows;
    double n = 0, s = 0, ss = 0, yy = 0, yr = 0, rr = 0;
    for (size_t x = 0; x < rows->voxels; x += step) {
        const double y = (double)rows->signals[x * rows->volumes + i];
        const double own = geometric ? (double)w->log[x * rows->volumes + i] : y;
        const double mean = (sum[x] - (member ? own : 0)) / (count - member), of = geometric ? exp(mean) : mean;
        if (!(of > 1e-12))
            continue;
        n++, s += y / of, ss += y / of * y / of;
        yy += y * y, yr += y * of, rr += of * of;
    }
    return (fit){n > 1 && s != 0 ? sqrt(fmax(0, ss / n - s / n * s / n)) / fabs(s / n) : INFINITY, s / n,
                 rr > 0 ? fmax(0, yy - yr * yr / rr) / n : INFINITY};
}

/* The least variance, over the voxels, of any contrast between the volumes of a group: at most that of the noise. A
 * measured volume differs from the mean of others by at least that, since the difference is such a contrast. Without
 * noise and with few fibre directions it is 0, and no volume counts as computed. */
static double least_variance(const work *w, int group, size_t without)
{
    const hot_rows *rows = w->rows;
    const size_t all = rows->volumes;
    double *k = w->products, *mean = k + all * all, total = 0;
    size_t n = 0;
    for (size_t i = 0; i < all; i++) {
        if (rows->group[i] != group || i == without)
            continue;
        size_t m = 0;
        for (size_t j = 0; j < all; j++)
            if (rows->group[j] == group && j != without)
                k[n * all + m++] = rows->gram[i * all + j];
        n++;
    }
    if (n < 2)
        return 0;
    for (size_t i = 0; i < n; i++) {
        mean[i] = 0;
        for (size_t j = 0; j < n; j++)
            mean[i] += k[i * all + j] / (double)n;
        total += mean[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) /* rows close up: never written before they are read */
        for (size_t j = 0; j < n; j++)
            k[i * n + j] = k[i * all + j] - mean[i] - mean[j] + total;
    hot_symmetric_eigen((int)n, k, mean, NULL);
    return fmax(0, mean[1]); /* the first is that of the mean itself, 0 */
}

/* The group that tells how much noise a member of a set has. */
static int group_of_set(const hot_rows *rows, int set)
{
    int largest = 0;
    size_t most = 0;
    for (int group = 0; group < rows->groups; group++) {
        size_t count = 0;
        for (size_t i = 0; i < rows->volumes; i++)
            count += rows->group[i] == group;
        if (count > most)
            most = count, largest = group;
    }
    for (size_t i = 0; i < rows->volumes && set >= rows->groups; i++)
        if (in_set(rows, set, i))
            return rows->group[i];
    return set >= 0 && set < rows->groups ? set : largest;
}

/* The median, over a set, of how its volumes vary about the mean of the others. */
static double usual_variation(const work *w, int set, const double *sum, double count, int geometric, size_t step)
{
    size_t members = 0;
    for (size_t i = 0; i < w->rows->volumes; i++)
        if (in_set(w->rows, set, i))
            w->spread[members++] = compare(w, i, sum, count, 1, geometric, step).variation;
    qsort(w->spread, members, sizeof *w->spread, hot_ascending_f64);
    return w->spread[members / 2];
}

/* Means of a set. */
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
            w->logs[x] += (double)w->log[x * n + i];
        }
    }
    if (count < SHELL_MIN)
        return;
    for (int geometric = 0; geometric < 2; geometric++) {
        const double *sum = geometric ? w->logs : w->sum;
        const double roughly = usual_variation(w, set, sum, count, geometric, w->thin);
        double usual = 0;
        for (size_t i = 0; i < n; i++) {
            const int member = in_set(rows, set, i);
            if (kind[i] || count - member < SHELL_MIN ||
                !(compare(w, i, sum, count, member, geometric, w->thin).variation <
                  thin_margin * alike * roughly))
                continue;
            usual = usual > 0 ? usual : usual_variation(w, set, sum, count, geometric, 1);
            const fit with = compare(w, i, sum, count, member, geometric, 1);
            if (with.variation < alike * usual && fabs(with.level - 1) < level_off &&
                with.residual < noiseless * least_variance(w, group_of_set(rows, set), i))
                kind[i] = set == -2 ? "the mean of the volumes"
                          : set == -1 ? "the mean of the volumes with b > 0" : "the mean of a shell (trace)";
        }
    }
}

static hot_status patterns_without(const hot_rows *rows, size_t i, double *patterns)
{
    double variance;
    hot_rows rest = *rows;
    size_t *order = hot_context_alloc(rows->context, rows->volumes, sizeof *order);
    rest.group = hot_context_alloc(rows->context, rows->volumes, sizeof *rest.group);
    hot_status status = order && rest.group ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t v = 0; v < rows->volumes && status == HOT_OK; v++) {
        order[v] = v;
        rest.group[v] = v == i ? -1 : rows->group[v];
    }
    if (status == HOT_OK)
        status = hot_rows_contrast(&rest, order, &variance, patterns);
    HOT_FREE(rows->context, rest.group, order);
    return status;
}

static const char *const adc_map = "a map of the diffusivity (ADC)";

/* ln(S0 / S) of a set without volume i, of every `step`-th voxel: as a reference of volume i. Whether that explains it,
 * and neither S0 nor S does. plain, count: b=0 volumes and those of the set. */
static int is_adc(const work *w, size_t i, int here, double plain, double count, size_t step, double margin, fit *adc)
{
    const hot_rows *rows = w->rows;
    const size_t n = rows->volumes;
    const int b0 = rows->group[i] < 0;
    for (size_t x = 0; x < rows->voxels; x += step) {
        const double y = fmax((double)rows->signals[x * n + i], dark);
        const double none = (w->none[x] - (b0 ? y : 0)) / (plain - b0);
        w->few[x] = exp((w->logs[x] - (here ? (double)w->log[x * n + i] : 0)) / (count - here));
        const double value = log(fmax(none, dark) / w->few[x]);
        w->sum[x] = value > 0.05 ? value / (double)rows->level[x] : 0; /* as the signals are */
        w->raw[x] = none;
    }
    *adc = compare(w, i, w->sum, 1, 0, 0, step);
    return adc->variation < 0.3 * margin &&
           adc->variation < 0.4 * margin * compare(w, i, w->raw, 1, 0, 0, step).variation &&
           adc->variation < 0.4 * margin * compare(w, i, w->few, 1, 0, 0, step).variation;
}

/* Maps of the ADC: ln(S0 / S) of a shell's geometric mean explains them (or of all with b > 0), and neither S0 nor S
 * does. */
static hot_status find_adc(const work *w, int set, const char **kind)
{
    const hot_rows *rows = w->rows;
    const size_t n = rows->volumes;
    double plain = 0, count = 0;
    memset(w->none, 0, rows->voxels * sizeof *w->none);
    memset(w->logs, 0, rows->voxels * sizeof *w->logs);
    for (size_t i = 0; i < n; i++) {
        const int b0 = rows->group[i] < 0, here = in_set(rows, set, i);
        if (kind[i] || (!b0 && !here))
            continue;
        plain += b0, count += here;
        for (size_t x = 0; x < rows->voxels; x++) {
            w->none[x] += b0 ? fmax((double)rows->signals[x * n + i], dark) : 0;
            w->logs[x] += here ? (double)w->log[x * n + i] : 0;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const int b0 = rows->group[i] < 0, here = in_set(rows, set, i);
        double error, patterns;
        fit adc;
        if (kind[i] || count - here < SHELL_MIN || plain - b0 < 1 ||
            !is_adc(w, i, here, plain, count, w->thin, thin_margin, &adc) ||
            !is_adc(w, i, here, plain, count, 1, 1, &adc))
            continue;
        hot_status status = hot_rows_error(rows, i, kind, &error);
        if (status == HOT_OK)
            status = patterns_without(rows, i, &patterns);
        if (status != HOT_OK)
            return status;
        /* Else its row explains it as well, or fibres of few directions make volumes of any kind. */
        const double own = rows->gram[i * n + i];
        if (error > 2 * adc.residual && (b0 || error > 0.1 * own) &&
            patterns > (adc.residual < exact * own ? few_exact : few_patterns))
            kind[i] = adc_map;
    }
    return HOT_OK;
}

hot_status hot_rows_computed(const hot_rows *rows, const char **kind)
{
    const size_t n = rows->volumes, voxels = rows->voxels;
    const size_t thin = voxels > THIN_VOXELS ? THIN : 1;
    double *space = hot_context_alloc(rows->context, 5 * voxels + 2 * n + n * n + 1, sizeof *space);
    float *logs = hot_context_alloc(rows->context, voxels * n + 1, sizeof *logs);
    if (!space || !logs) {
        HOT_FREE(rows->context, logs, space);
        return HOT_ERROR_MEMORY;
    }
    for (size_t x = 0; x < voxels * n; x++)
        logs[x] = logf(fmaxf(rows->signals[x], (float)dark));
    const work w = {rows, thin, logs, space, space + voxels, space + 2 * voxels, space + 3 * voxels,
                    space + 4 * voxels, space + 5 * voxels, space + 5 * voxels + n};
    int shells = 0, weighted = 0;
    for (size_t i = 0; i < n; i++) {
        shells = rows->shell[i] < shells ? shells : rows->shell[i] + 1;
        weighted |= rows->group[i] >= 0 && rows->shell[i] == 0;
    }
    const int sets = rows->groups + (shells - !weighted > rows->groups ? shells : 0);
    for (int set = sets - 1; set >= -2 && rows->voxels > 1; set--) /* shells first */
        find_means(&w, set, kind);
    hot_status status = HOT_OK;
    for (int set = -1; set < rows->groups && rows->groups > 0 && rows->voxels > 1 && status == HOT_OK; set++)
        status = find_adc(&w, set, kind);
    size_t found = 0, maps = 0;
    for (size_t i = 0; i < rows->volumes; i++) {
        found += kind[i] != NULL;
        maps += kind[i] == adc_map;
    }
    for (size_t i = 0; i < rows->volumes; i++) /* many "computed" volumes are a wrong table instead */
        if (found > FOUND_MAX || (maps > 1 && kind[i] == adc_map))
            kind[i] = NULL;
    HOT_FREE(rows->context, logs, space);
    return status != HOT_OK ? status : hot_context_check(rows->context, "comparing volumes with the gradient table");
}
