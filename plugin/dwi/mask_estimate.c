/* The built-in mask: Otsu's threshold on the median-smoothed b=0 mean, small islands dropped, holes filled; everything
 * inside where the dark part is tissue rather than background. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "median.h"
#include "common/entry.h"
#include "gather.h"
#include "summary.h"

enum { BINS = 1024 };

/* Where the highest shell keeps more than this part of the b=0 signal, there is noise, not tissue. */
static const float flat_ratio = 0.8f;

/* Otsu (1979): the cut that leaves the least variance within the two classes; bins 0 ... cut are the dark one. Means in
 * bins. Returns 0 when there is nothing to cut (one value only). */
static int otsu(const double *histogram, int bins, int *cut, double count[2], double mean[2])
{
    double all = 0, moment = 0, best = 0, below = 0, below_moment = 0;
    for (int b = 0; b < bins; b++) {
        all += histogram[b];
        moment += histogram[b] * b;
    }
    int first = -1, last = -1;
    for (int b = 0; b + 1 < bins; b++) {
        below += histogram[b];
        below_moment += histogram[b] * b;
        if (below == 0 || below == all)
            continue;
        double difference = below_moment / below - (moment - below_moment) / (all - below);
        double between = below * (all - below) * difference * difference;
        if (between > best * (1 + 1e-12)) {
            best = between;
            first = last = b;
            count[0] = below, count[1] = all - below;
            mean[0] = below_moment / below, mean[1] = (moment - below_moment) / (all - below);
        } else if (first >= 0 && histogram[b] == 0 && last == b - 1) {
            last = b; /* an empty gap between the classes: cut in its middle */
        }
    }
    *cut = first < 0 ? 0 : (first + last) / 2;
    return first >= 0;
}

/* A histogram; bin BINS - 1 holds `scale` and all larger values. */
static void count_values(int threads, const float *smooth, size_t voxels, double scale, double histogram[BINS])
{
    size_t count[BINS] = {0};
#pragma omp parallel for schedule(static) num_threads(hot_team(threads)) reduction(+ : count[:BINS])
    for (size_t n = 0; n < voxels; n++)
        count[smooth[n] >= scale ? BINS - 1 : (int)(smooth[n] / scale * (BINS - 1))]++;
    for (int b = 0; b < BINS; b++)
        histogram[b] = (double)count[b];
}

/* The value under which a voxel is background; 0 when there is no background. */
static double background_below(int threads, const float *smooth, const float *low, const float *high, size_t voxels,
                               float *scratch)
{
    float top = 0;
#pragma omp parallel for schedule(static) num_threads(hot_team(threads)) reduction(max : top)
    for (size_t n = 0; n < voxels; n++)
        top = smooth[n] > top ? smooth[n] : top;
    if (!(top > 0))
        return 0;
    /* A few very bright voxels must not stretch the scale: it ends at the 99th percentile. */
    double histogram[BINS], seen = 0, scale = top;
    count_values(threads, smooth, voxels, top, histogram);
    for (int b = 0; b < BINS; b++) {
        seen += histogram[b];
        if (seen >= 0.99 * (double)voxels) {
            scale = (b + 1.0) / (BINS - 1) * top;
            break;
        }
    }
    count_values(threads, smooth, voxels, scale, histogram);
    int cut, lower_cut;
    double count[2] = {0}, mean[2] = {0}, lower_count[2] = {0}, lower_mean[2] = {0};
    if (!otsu(histogram, BINS, &cut, count, mean))
        return 0;
    /* Where the bright class is only fluid (few voxels, several times as bright as tissue), tissue fell into the dark
     * class; it shows as that class's own bright part, and is then cut there. */
    if (otsu(histogram, cut + 1, &lower_cut, lower_count, lower_mean) && lower_count[1] > count[1] &&
        lower_mean[1] > 0.2 * mean[1] && lower_mean[0] < 0.15 * lower_mean[1]) {
        cut = lower_cut;
        mean[0] = lower_mean[0];
        mean[1] = lower_mean[1];
    }
    double threshold = (cut + 1.0) / (BINS - 1) * scale;
    if (mean[0] + 0.5 < 0.15 * (mean[1] + 0.5))
        return threshold;
    /* A dark class that is not very dark is background only if diffusion does nothing there: noise is the same at
     * every b, tissue is not. */
    size_t dark = 0;
    for (size_t n = 0; n < voxels; n++)
        if (smooth[n] < threshold)
            scratch[dark++] = low[n] > 0 ? high[n] / low[n] : 1;
    size_t flat = 0;
    for (size_t n = 0; n < dark; n++)
        flat += scratch[n] > flat_ratio;
    return 2 * flat > dark ? threshold : 0;
}

/* Voxels of a line that are equal and next to each other; runs that touch make a set. */
typedef struct run {
    size_t from, to; /* the first voxel, and the one behind the last */
    size_t set;      /* a run of the same set, with a lower number; its own: the first of the set */
} run;

static size_t first_of(run *runs, size_t r)
{
    while (runs[r].set != r)
        r = runs[r].set = runs[runs[r].set].set;
    return r;
}

/* Joins the runs of a line, from `here` on, with those of an earlier line, `apart` voxels before. */
static void join_lines(run *runs, size_t here, size_t here_end, size_t there, size_t there_end, size_t apart)
{
    while (here < here_end && there < there_end) {
        const size_t from = runs[there].from + apart, to = runs[there].to + apart;
        if (runs[here].from < to && from < runs[here].to) {
            const size_t a = first_of(runs, here), b = first_of(runs, there);
            runs[a > b ? a : b].set = a > b ? b : a;
        }
        if (runs[here].to < to)
            here++;
        else
            there++;
    }
}

/* The connected sets (sharing faces) of voxels whose byte is `value`, as runs: first[line] is the number of the first
 * run of each line, there is one line more. The caller frees *runs. */
static hot_status find_sets(hot_context *context, const size_t size[3], const uint8_t *bytes, uint8_t value,
                            size_t *first, run **runs)
{
    const size_t nx = size[0], lines = size[1] * size[2];
    size_t count = 0;
    for (size_t line = 0; line < lines; line++) {
        const uint8_t *at = bytes + line * nx;
        count += at[0] == value;
        for (size_t i = 1; i < nx; i++)
            count += (size_t)(at[i] == value) & (size_t)(at[i - 1] != value);
    }
    *runs = hot_context_alloc(context, count, sizeof **runs);
    if (!*runs)
        return HOT_ERROR_MEMORY;
    count = 0;
    for (size_t line = 0; line < lines; line++) {
        const size_t begin = line * nx, end = begin + nx;
        first[line] = count;
        for (size_t n = begin; n < end;) {
            const uint8_t *from = memchr(bytes + n, value, end - n);
            if (!from)
                break;
            run *new = &(*runs)[count];
            new->from = (size_t)(from - bytes);
            new->set = count++;
            const uint8_t *behind = memchr(from, !value, end - new->from); /* bytes are 0 or 1 */
            n = new->to = behind ? (size_t)(behind - bytes) : end;
        }
        if (line % size[1] > 0)
            join_lines(*runs, first[line], count, first[line - 1], first[line], nx);
        if (line >= size[1])
            join_lines(*runs, first[line], count, first[line - size[1]], first[line - size[1] + 1], nx * size[1]);
        if (line % 1024 == 0 && hot_context_cancelled(context))
            break;
    }
    first[lines] = count;
    return hot_context_check(context, "estimating the mask");
}

/* Removes islands smaller than a twentieth of the largest one (the separate pieces of a phantom stay), and fills holes
 * that do not reach the border of the volume. */
static hot_status tidy(hot_context *context, const size_t size[3], uint8_t *bytes)
{
    const size_t nx = size[0], ny = size[1], lines = ny * size[2];
    size_t *first = hot_context_alloc(context, lines + 1, sizeof *first), *told = NULL;
    hot_status status = first ? HOT_OK : HOT_ERROR_MEMORY;
    for (int value = 1; value >= 0 && status == HOT_OK; value--) {
        run *runs = NULL;
        size_t largest = 0;
        status = find_sets(context, size, bytes, (uint8_t)value, first, &runs);
        told = status == HOT_OK ? hot_context_calloc(context, first[lines], sizeof *told) : NULL;
        if (status == HOT_OK && !told)
            status = HOT_ERROR_MEMORY;
        /* of each set its voxels, or whether it reaches the border */
        for (size_t line = 0; line < lines && status == HOT_OK; line++)
            for (size_t r = first[line]; r < first[line + 1]; r++) {
                const size_t set = first_of(runs, r);
                const int border = line % ny == 0 || line % ny + 1 == ny || line < ny || line + ny >= lines ||
                                   runs[r].from == line * nx || runs[r].to == (line + 1) * nx;
                told[set] = value ? told[set] + runs[r].to - runs[r].from : told[set] | (size_t)border;
                largest = told[set] > largest ? told[set] : largest;
            }
        for (size_t r = 0; status == HOT_OK && r < first[lines]; r++) {
            const size_t of = told[first_of(runs, r)];
            if (value ? 20 * of < largest : !of)
                memset(bytes + runs[r].from, !value, runs[r].to - runs[r].from);
        }
        HOT_FREE(context, told, runs);
    }
    hot_context_free(context, first);
    return status;
}

/* A slice of the mask. */
typedef struct slice_plan {
    hot_context *context;
    size_t size[3], step[3]; /* of a slice, and from slice to slice */
    uint8_t *slice;
    size_t *first;
    double least; /* mean signal at low b of a hole that is tissue */
} slice_plan;

static size_t place_in(const slice_plan *plan, size_t k, size_t n)
{
    return n % plan->size[0] * plan->step[0] + n / plan->size[0] * plan->step[1] + k * plan->step[2];
}

/* Fills the holes of a slice that lose signal by diffusion, as tissue does and air does not, unless they are far darker
 * than the mask. filled: counts the voxels. Without signals all holes are counted and none is filled. */
static hot_status fill_slice(const slice_plan *plan, size_t k, const float *low, const float *high, uint8_t *bytes,
                             size_t *filled)
{
    const size_t nx = plan->size[0], ny = plan->size[1], size[3] = {nx, ny, 1};
    run *runs = NULL;
    for (size_t n = 0; n < nx * ny; n++)
        plan->slice[n] = bytes[place_in(plan, k, n)];
    hot_status status = find_sets(plan->context, size, plan->slice, 0, plan->first, &runs);
    const size_t count = status == HOT_OK ? plan->first[ny] : 0;
    double (*sums)[3] = hot_context_calloc(plan->context, count + 1, sizeof *sums); /* of low, high, voxels, by set */
    if (status == HOT_OK && !sums)
        status = HOT_ERROR_MEMORY;
    for (size_t line = 0; line < ny && status == HOT_OK; line++)
        for (size_t r = plan->first[line]; r < plan->first[line + 1]; r++) {
            double *sum = sums[first_of(runs, r)];
            if (line == 0 || line + 1 == ny || runs[r].from == line * nx || runs[r].to == (line + 1) * nx)
                sum[1] = INFINITY; /* no hole */
            sum[2] += (double)(runs[r].to - runs[r].from);
            for (size_t n = runs[r].from; low && n < runs[r].to; n++) {
                sum[0] += (double)low[place_in(plan, k, n)];
                sum[1] += (double)high[place_in(plan, k, n)];
            }
        }
    for (size_t r = 0; r < count && status == HOT_OK; r++) {
        const double *sum = sums[first_of(runs, r)];
        const int is_tissue = sum[1] < (double)flat_ratio * sum[0] && sum[0] >= plan->least * sum[2];
        const int is_filled = low ? is_tissue : sum[1] == 0;
        *filled += is_filled ? runs[r].to - runs[r].from : 0;
        for (size_t n = runs[r].from; low && is_filled && n < runs[r].to; n++)
            bytes[place_in(plan, k, n)] = 1;
    }
    HOT_FREE(plan->context, sums, runs);
    return status;
}

static double mean_inside(const size_t size[3], const float *low, const uint8_t *bytes)
{
    double sum = 0;
    size_t inside = 0;
    for (size_t n = 0; n < size[0] * size[1] * size[2]; n++)
        if (bytes[n])
            sum += (double)low[n], inside++;
    return inside ? sum / (double)inside : 0;
}

/* In a slab deep white matter, which is dark, may be open to the first or last slice, and in a volume to the horns of
 * the ventricles. Slices are taken across the axis with fewest voxels. */
static hot_status fill_slices(hot_context *context, const size_t size[3], const float *low, const float *high,
                              uint8_t *bytes, size_t *filled)
{
    const size_t steps[3] = {1, size[0], size[0] * size[1]};
    const int across = size[2] <= size[0] && size[2] <= size[1] ? 2 : size[1] <= size[0] ? 1 : 0;
    const int a = across == 0, b = across == 2 ? 1 : 2;
    slice_plan plan = {.context = context, .size = {size[a], size[b], size[across]},
                       .step = {steps[a], steps[b], steps[across]},
                       .least = low ? mean_inside(size, low, bytes) / 3 : 0};
    plan.slice = hot_context_alloc(context, size[a] * size[b], 1);
    plan.first = hot_context_alloc(context, size[b] + 1, sizeof *plan.first);
    hot_status status = plan.slice && plan.first ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t k = 0; k < size[across] && status == HOT_OK; k++)
        status = fill_slice(&plan, k, low, high, bytes, filled);
    HOT_FREE(context, plan.first, plan.slice);
    return status;
}

/* The median rounds off corners and thin ends: a bright voxel that shares a face with the mask belongs to it. regained:
 * a byte for each voxel. */
static void regain_edges(int threads, const size_t size[3], const float *low, double threshold, uint8_t *bytes,
                         uint8_t *regained)
{
    const size_t nx = size[0], nxy = size[0] * size[1], voxels = nxy * size[2];
#pragma omp parallel num_threads(hot_team(threads))
    {
#pragma omp for schedule(static)
        for (size_t n = 0; n < voxels; n++) {
            regained[n] = 0;
            if (bytes[n] || !(low[n] >= threshold))
                continue;
            const size_t i = n % nx, j = n / nx % size[1], k = n / nxy;
            regained[n] = (i > 0 && bytes[n - 1]) || (i + 1 < nx && bytes[n + 1]) || (j > 0 && bytes[n - nx]) ||
                          (j + 1 < size[1] && bytes[n + nx]) || (k > 0 && bytes[n - nxy]) ||
                          (k + 1 < size[2] && bytes[n + nxy]);
        }
#pragma omp for schedule(static)
        for (size_t n = 0; n < voxels; n++)
            bytes[n] |= regained[n];
    }
}

hot_status hot_mask_count_holes(hot_context *context, const hot_mask *mask, size_t *holes)
{
    *holes = 0;
    return fill_slices(context, mask->grid.size, NULL, NULL, mask->bytes, holes);
}

hot_status hot_mask_estimate(hot_context *context, const hot_dwi *dwi, hot_mask **mask)
{
    HOT_ENTRY(context);
    HOT_CLEAR(mask);
    HOT_NEED(context, dwi, mask);
    const size_t voxels = hot_grid_voxels(&dwi->grid), *size = dwi->grid.size;
    const hot_dwi_summary *summary;
    hot_dwi_summary *averages = NULL;
    hot_mask *made = NULL;
    const int threads = hot_context_threads(context);
    float *smooth = NULL, *scratch = NULL;
    size_t filled = 0;
    hot_status status = hot_mask_full(context, &dwi->grid, &made);
    if (status == HOT_OK)
        status = hot_dwi_summary_get(context, dwi, &summary, &averages);
    if (status != HOT_OK)
        goto cleanup;
    smooth = hot_context_alloc(context, voxels, sizeof *smooth);
    scratch = hot_context_alloc(context, voxels, sizeof *scratch);
    status = smooth && scratch ? hot_median_3x3x3(context, size, summary->low, smooth) : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    const double threshold = background_below(threads, smooth, summary->low, summary->high, voxels, scratch);
    for (size_t n = 0; n < voxels; n++)
        made->bytes[n] = smooth[n] >= threshold;
    if (threshold > 0) {
        regain_edges(threads, size, summary->low, threshold, made->bytes, (uint8_t *)scratch);
        status = tidy(context, size, made->bytes);
        if (status == HOT_OK)
            status = fill_slices(context, size, summary->low, summary->high, made->bytes, &filled);
    }
    made->inside = 0;
    for (size_t n = 0; n < voxels; n++)
        made->inside += made->bytes[n];
cleanup:
    HOT_FREE(context, smooth, scratch);
    hot_dwi_summary_free(&averages);
    if (status != HOT_OK)
        hot_mask_destroy(&made);
    *mask = made;
    return status;
}
