/* The built-in mask: Otsu's threshold on the median-smoothed b=0 mean, small islands dropped, holes filled; everything
 * inside where the dark part is tissue rather than background. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "median.h"
#include "summary.h"

enum { BINS = 1024 };

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

/* The value under which a voxel is background; 0 when there is no background. */
static double background_below(const float *smooth, const float *low, const float *high, size_t voxels, float *scratch)
{
    float top = 0;
    for (size_t n = 0; n < voxels; n++)
        top = smooth[n] > top ? smooth[n] : top;
    if (!(top > 0))
        return 0;
    /* A few very bright voxels must not stretch the scale: it ends at the 99th percentile. */
    double histogram[BINS] = {0}, seen = 0, scale = top;
    for (size_t n = 0; n < voxels; n++)
        histogram[(int)(smooth[n] / top * (BINS - 1))]++;
    for (int b = 0; b < BINS; b++) {
        seen += histogram[b];
        if (seen >= 0.99 * (double)voxels) {
            scale = (b + 1.0) / (BINS - 1) * top;
            break;
        }
    }
    memset(histogram, 0, sizeof histogram);
    for (size_t n = 0; n < voxels; n++)
        histogram[smooth[n] >= scale ? BINS - 1 : (int)(smooth[n] / scale * (BINS - 1))]++;
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
        flat += scratch[n] > 0.8f;
    return 2 * flat > dark ? threshold : 0;
}

/* Labels the connected sets (sharing faces) of voxels whose byte is `value`, keeps in `labels` 1, 2, ...; returns how
 * many. queue and labels hold one number per voxel. When the caller wants to stop it stops, with what it has found. */
static size_t components(hot_context *context, const size_t size[3], const uint8_t *bytes, uint8_t value,
                         size_t *labels, size_t *queue)
{
    const size_t nx = size[0], nxy = size[0] * size[1], voxels = nxy * size[2];
    size_t found = 0;
    memset(labels, 0, voxels * sizeof *labels);
    for (size_t start = 0; start < voxels; start++) {
        if (bytes[start] != value || labels[start])
            continue;
        size_t head = 0, tail = 0;
        labels[start] = ++found;
        queue[tail++] = start;
        while (head < tail) {
            if (head % 4096 == 0 && hot_context_cancelled(context))
                return found;
            size_t n = queue[head++], i = n % nx, j = n / nx % size[1], k = n / nxy;
            const size_t near[6] = {n - 1, n + 1, n - nx, n + nx, n - nxy, n + nxy};
            const int there[6] = {i > 0, i + 1 < nx, j > 0, j + 1 < size[1], k > 0, k + 1 < size[2]};
            for (int s = 0; s < 6; s++)
                if (there[s] && bytes[near[s]] == value && !labels[near[s]]) {
                    labels[near[s]] = found;
                    queue[tail++] = near[s];
                }
        }
    }
    return found;
}

/* Islands of less than a twentieth of the largest one go; the separate pieces of a phantom stay. */
static void drop_islands(hot_context *context, const size_t size[3], uint8_t *bytes, size_t *labels, size_t *sizes)
{
    size_t voxels = size[0] * size[1] * size[2], largest = 0;
    size_t found = components(context, size, bytes, 1, labels, sizes);
    memset(sizes, 0, (found < voxels ? found + 1 : voxels) * sizeof *sizes);
    for (size_t n = 0; n < voxels; n++)
        if (labels[n])
            sizes[labels[n] - 1]++;
    for (size_t c = 0; c < found; c++)
        largest = sizes[c] > largest ? sizes[c] : largest;
    for (size_t n = 0; n < voxels; n++)
        if (labels[n] && 20 * sizes[labels[n] - 1] < largest)
            bytes[n] = 0;
}

/* What is outside but cannot reach the border of the volume is inside. */
static void fill_holes(hot_context *context, const size_t size[3], uint8_t *bytes, size_t *labels, size_t *reaches)
{
    const size_t nx = size[0], nxy = size[0] * size[1], voxels = nxy * size[2];
    size_t found = components(context, size, bytes, 0, labels, reaches);
    memset(reaches, 0, found * sizeof *reaches);
    for (size_t n = 0; n < voxels; n++) {
        size_t i = n % nx, j = n / nx % size[1], k = n / nxy;
        if (labels[n] && (i == 0 || i + 1 == nx || j == 0 || j + 1 == size[1] || k == 0 || k + 1 == size[2]))
            reaches[labels[n] - 1] = 1;
    }
    for (size_t n = 0; n < voxels; n++)
        if (labels[n] && !reaches[labels[n] - 1])
            bytes[n] = 1;
}

/* The median rounds off corners and thin ends: a bright voxel that shares a face with the mask belongs to it. */
static void regain_edges(const size_t size[3], const float *low, double threshold, uint8_t *bytes)
{
    const size_t nx = size[0], nxy = size[0] * size[1], voxels = nxy * size[2];
    for (size_t n = 0; n < voxels; n++) {
        size_t i = n % nx, j = n / nx % size[1], k = n / nxy;
        if (bytes[n] || !(low[n] >= threshold))
            continue;
        /* 1 = of the smoothed mask; 2 = regained, which does not spread further */
        if ((i > 0 && bytes[n - 1] == 1) || (i + 1 < nx && bytes[n + 1] == 1) || (j > 0 && bytes[n - nx] == 1) ||
            (j + 1 < size[1] && bytes[n + nx] == 1) || (k > 0 && bytes[n - nxy] == 1) ||
            (k + 1 < size[2] && bytes[n + nxy] == 1))
            bytes[n] = 2;
    }
    for (size_t n = 0; n < voxels; n++)
        bytes[n] = bytes[n] != 0;
}

hot_status hot_mask_estimate(hot_context *context, const hot_dwi *dwi, hot_mask **mask)
{
    const size_t voxels = hot_grid_voxels(&dwi->grid), *size = dwi->grid.size;
    const hot_dwi_summary *summary;
    hot_dwi_summary *averages = NULL;
    hot_mask *made = NULL;
    float *smooth = NULL;
    size_t *labels = NULL, *numbers = NULL;
    *mask = NULL;
    hot_status status = hot_mask_full(context, &dwi->grid, &made);
    if (status == HOT_OK)
        status = hot_dwi_summary_get(context, dwi, &summary, &averages);
    if (status != HOT_OK)
        goto cleanup;
    smooth = hot_context_alloc(context, voxels, sizeof *smooth);
    labels = hot_context_alloc(context, voxels, sizeof *labels);
    numbers = hot_context_alloc(context, voxels, sizeof *numbers);
    status = smooth && labels && numbers ? hot_median_3x3x3(context, size, summary->low, smooth) : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    const double threshold = background_below(smooth, summary->low, summary->high, voxels, (float *)(void *)numbers);
    for (size_t n = 0; n < voxels; n++)
        made->bytes[n] = smooth[n] >= threshold;
    if (threshold > 0) {
        regain_edges(size, summary->low, threshold, made->bytes);
        drop_islands(context, size, made->bytes, labels, numbers);
        fill_holes(context, size, made->bytes, labels, numbers);
        status = hot_context_check(context, "estimating the mask");
    }
    made->inside = 0;
    for (size_t n = 0; n < voxels; n++)
        made->inside += made->bytes[n];
cleanup:
    hot_context_free(context, smooth);
    hot_context_free(context, labels);
    hot_context_free(context, numbers);
    hot_dwi_summary_free(&averages);
    if (status != HOT_OK)
        hot_mask_destroy(&made);
    *mask = made;
    return status;
}
