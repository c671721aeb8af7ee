/* The averages of a data set against sums over its voxels, for every memory layout; the median of 27 neighbours against
 * sorting. */
#include "check.h"
#include "core/fields.h"
#include "dwi/gather.h"
#include "dwi/median.h"
#include "dwi/summary.h"

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float slow_median(const size_t size[3], const float *from, long i, long j, long k)
{
    float near[27];
    size_t count = 0;
    for (long z = k - 1; z <= k + 1; z++)
        for (long y = j - 1; y <= j + 1; y++)
            for (long x = i - 1; x <= i + 1; x++)
                if (x >= 0 && y >= 0 && z >= 0 && x < (long)size[0] && y < (long)size[1] && z < (long)size[2])
                    near[count++] = from[x + (long)size[0] * (y + (long)size[1] * z)];
    qsort(near, count, sizeof *near, by_value);
    return near[count / 2];
}

static void test_median(hot_context *context)
{
    const size_t sizes[][3] = {{1, 1, 1}, {3, 3, 3}, {5, 4, 3}, {6, 5, 4}, {7, 3, 5}, {18, 5, 4}, {19, 3, 3},
                               {37, 6, 5}, {40, 1, 7}, {33, 9, 1}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kinds = 3; kinds <= 1 << 20; kinds *= 40) { /* few different values, and many */
            const size_t *size = sizes[s], voxels = size[0] * size[1] * size[2];
            float *from = malloc(voxels * sizeof *from), *to = malloc(voxels * sizeof *to);
            uint64_t state = 3 + s;
            size_t wrong = 0;
            for (size_t n = 0; n < voxels; n++) {
                from[n] = (float)(check_random_bits(&state) % (uint64_t)kinds);
                to[n] = -1;
            }
            CHECK(hot_median_3x3x3(context, size, from, to) == HOT_OK, "%s", hot_context_message(context));
            for (size_t n = 0; n < voxels; n++)
                wrong += !(to[n] == slow_median(size, from, (long)(n % size[0]), (long)(n / size[0] % size[1]),
                                                (long)(n / size[0] / size[1])));
            CHECK(wrong == 0, "%zu x %zu x %zu: %zu medians are wrong", size[0], size[1], size[2], wrong);
            free(from), free(to);
        }
}

enum { NX = 41, NY = 13, NZ = 7, VOXELS = NX * NY * NZ, VOLUMES = 12 };

/* The averages of summary.h, voxel by voxel, from signals with contiguous volumes. */
static void check_summary(const hot_dwi *dwi, const hot_dwi_summary *summary, const float *signals, const char *what)
{
    size_t wrong = 0;
    for (size_t n = 0; n < VOXELS; n++) {
        const float *s = signals + n * VOLUMES;
        double sum[3] = {0}, squares = 0, finite[3] = {0};
        size_t members[3] = {0};
        for (size_t v = 0; v < VOLUMES; v++) {
            const int shell = dwi->shell_of[v];
            sum[shell] += (double)s[v];
            finite[shell] += isfinite(s[v]) ? (double)s[v] : 0;
            members[shell]++;
        }
        const double mean = sum[0] / (double)members[0];
        for (size_t v = 0; v < VOLUMES; v++)
            squares += dwi->shell_of[v] == 0 ? (s[v] - mean) * (s[v] - mean) : 0;
        const double low = fmax(finite[0] / (double)members[0], 0), high = fmax(finite[2] / (double)members[2], 0);
        const double deviation = sqrt(squares / (double)(members[0] - 1));
        wrong += isfinite(mean) ? !(fabs(summary->mean[n] - mean) <= 1e-7 * fabs(mean)) : isfinite(summary->mean[n]);
        wrong += isfinite(deviation) ? !(fabs(summary->deviation[n] - deviation) <= 1e-5 * deviation)
                                     : !isnan(summary->deviation[n]);
        wrong += !(fabs(summary->low[n] - low) <= 1e-5 * low) + !(fabs(summary->high[n] - high) <= 1e-5 * high);
    }
    CHECK(wrong == 0, "%s: %zu averages are wrong", what, wrong);
}

/* The same samples in another type and order: axis[0] runs fastest; 0 to 2 are i j k, 3 the volumes. */
static void test_layout(hot_context *context, const hot_dwi *like, const float *signals, const int axis[4],
                        hot_sample sample, double slope, const char *what)
{
    const size_t size[4] = {NX, NY, NZ, VOLUMES};
    size_t stride[4], position[VOLUMES], step = 1;
    for (int a = 0; a < 4; a++) {
        stride[axis[a]] = step;
        step *= size[axis[a]];
    }
    uint16_t *shorts = malloc(VOXELS * VOLUMES * sizeof *shorts);
    float *floats = malloc(VOXELS * VOLUMES * sizeof *floats), *meant = malloc(VOXELS * VOLUMES * sizeof *meant);
    for (size_t n = 0; n < VOXELS; n++)
        for (size_t v = 0; v < VOLUMES; v++) {
            const size_t at = n % NX * stride[0] + n / NX % NY * stride[1] + n / NX / NY * stride[2] + v * stride[3];
            floats[at] = signals[n * VOLUMES + v];
            shorts[at] = isfinite(floats[at]) ? (uint16_t)fmaxf(floats[at], 0) : 0;
            meant[n * VOLUMES + v] = (float)(slope * (sample == HOT_SAMPLE_F32 ? (double)floats[at] : shorts[at]));
        }
    for (size_t v = 0; v < VOLUMES; v++)
        position[v] = v * stride[3];
    hot_dwi dwi = *like;
    dwi.data = sample == HOT_SAMPLE_F32 ? (void *)floats : shorts;
    dwi.sample = sample;
    dwi.slope = slope;
    dwi.position = position;
    memcpy(dwi.stride, stride, sizeof dwi.stride);
    dwi.summary = NULL;
    const hot_dwi_summary *summary;
    hot_dwi_summary *made;
    CHECK(hot_dwi_summary_get(context, &dwi, &summary, &made) == HOT_OK, "%s", hot_context_message(context));
    check_summary(&dwi, summary, meant, what);
    float row[100];
    hot_dwi_read_row(&dwi, 5, 3 * NX - 20, 100, row); /* over the ends of lines */
    for (size_t n = 0; n < 100; n++) {
        const float expected = meant[(3 * NX - 20 + n) * VOLUMES + 5];
        CHECK(row[n] == expected || (isnan(row[n]) && isnan(expected)), "%s: sample %zu of a row", what, n);
    }
    hot_dwi_summary_free(&made);
    free(shorts), free(floats), free(meant);
}

int main(void)
{
    static const int ways[][4] = {{0, 1, 2, 3}, {3, 0, 1, 2}, {2, 3, 0, 1}, {1, 0, 3, 2}};
    const hot_grid grid = {.size = {NX, NY, NZ}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}},
                           .space = HOT_SPACE_RAS};
    double b[VOLUMES], g[3 * VOLUMES] = {0};
    float *signals = malloc(VOXELS * VOLUMES * sizeof *signals);
    uint64_t state = 17;
    hot_context *context;
    hot_dwi *dwi = NULL;
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 2}, &context);
    for (size_t v = 0; v < VOLUMES; v++) {
        b[v] = v % 4 == 0 ? 0 : v % 4 == 1 ? 1000 : 2500; /* shells of 3, 3 and 6 volumes */
        check_random_unit(&state, g + 3 * v);
    }
    for (size_t i = 0; i < VOXELS * VOLUMES; i++)
        signals[i] = (float)(700 + 900 * check_random_normal(&state)); /* some below 0 */
    signals[7 * VOLUMES] = NAN;
    signals[2000 * VOLUMES + 5] = INFINITY;
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_OK, "%s", hot_context_message(context));
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        char what[64];
        snprintf(what, sizeof what, "axes %d %d %d %d", ways[w][0], ways[w][1], ways[w][2], ways[w][3]);
        test_layout(context, dwi, signals, ways[w], HOT_SAMPLE_F32, 1, what);
        test_layout(context, dwi, signals, ways[w], HOT_SAMPLE_U16, 1, what);
        test_layout(context, dwi, signals, ways[w], HOT_SAMPLE_U16, .25, what);
    }
    test_median(context);
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&context);
    free(signals);
    HOT_TEST_END();
}
