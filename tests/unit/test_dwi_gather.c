/* Signals of chosen voxels are those of hot_dwi_read for every memory layout; iterating over a mask visits each voxel
 * once; a sample is evenly spread; a cached summary gives the same mask and noise as none. */
#include "check.h"
#include "core/fields.h"
#include "dwi/dwi_private.h"
#include "dwi/gather.h"
#include "dwi/summary.h"

enum { SIDE = 11, VOXELS = SIDE * SIDE * SIDE, VOLUMES = 19 };

static const hot_grid grid = {.size = {SIDE, SIDE, SIDE},
                              .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}},
                              .space = HOT_SPACE_RAS};

/* A bright ball in the dark: three b=0 volumes, the others weighted. */
static hot_dwi *make_dwi(hot_context *context)
{
    double b[VOLUMES], g[3 * VOLUMES] = {0};
    float *signals = malloc(VOXELS * VOLUMES * sizeof *signals);
    uint64_t state = 5;
    hot_dwi *dwi = NULL;
    for (size_t v = 0; v < VOLUMES; v++) {
        b[v] = v < 3 ? 0 : 1000;
        check_random_unit(&state, g + 3 * v);
        for (size_t n = 0; n < VOXELS; n++) {
            const double x = (double)(n % SIDE) - 5, y = (double)(n / SIDE % SIDE) - 5;
            const double z = (double)(n / SIDE / SIDE) - 5;
            const double bright = x * x + y * y + z * z < 18 ? (v < 3 ? 1000 : 400) : 20;
            signals[v * VOXELS + n] = (float)(bright + 10 * check_random_normal(&state));
        }
    }
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_OK, "%s", hot_context_message(context));
    free(signals);
    return dwi;
}

static void test_gather(hot_context *context, const hot_dwi *dwi, const char *what)
{
    float *all = malloc(VOXELS * VOLUMES * sizeof *all), *some = malloc(VOXELS * VOLUMES * sizeof *some);
    size_t voxel[VOXELS], wrong = 0;
    for (size_t i = 0; i < VOXELS; i++)
        voxel[i] = i * 691 % VOXELS; /* in no order that memory has */
    CHECK(hot_dwi_read(context, dwi, 0, VOXELS, all) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_dwi_read_list(context, dwi, voxel, VOXELS, some) == HOT_OK, "%s", hot_context_message(context));
    for (size_t i = 0; i < VOXELS; i++)
        wrong += memcmp(some + i * VOLUMES, all + voxel[i] * VOLUMES, VOLUMES * sizeof *some) != 0;
    CHECK(wrong == 0, "%s: %zu voxels differ", what, wrong);
    free(all), free(some);
}

static void test_walk(const hot_mask *mask)
{
    size_t voxel[VOXELS], next = 0, met = 0, count, last = 0;
    while ((count = hot_mask_next(mask->bytes, VOXELS, &next, 37, voxel)) > 0)
        for (size_t i = 0; i < count; i++, met++) {
            CHECK(mask->bytes[voxel[i]] && (met == 0 || voxel[i] > last), "voxel %zu", voxel[i]);
            last = voxel[i];
        }
    CHECK(met == mask->inside && next == VOXELS, "%zu of %zu voxels", met, mask->inside);
    count = hot_mask_sample(mask, 10, voxel);
    CHECK(count > 5 && count <= 10, "%zu voxels of 10", count);
    for (size_t i = 0; i < count; i++)
        CHECK(mask->bytes[voxel[i]], "voxel %zu of the sample is outside", voxel[i]);
}

/* A sample is every so many voxels of the mask, from the first on, whether stretches of it are full, empty or neither.
 */
static void test_sample(hot_context *context)
{
    static const size_t most[] = {1, 7, 50, 400, 2 * VOXELS};
    uint8_t inside[VOXELS];
    size_t found[2 * VOXELS];
    uint64_t state = 9;
    for (int kind = 0; kind < 6; kind++) {
        hot_mask *mask;
        for (size_t n = 0; n < VOXELS; n++) {
            const uint64_t bits = check_random_bits(&state) % 100;
            inside[n] = kind < 3 ? bits < 40 * (uint64_t)kind + 20 : n / 300 % 2 == (size_t)kind % 2 || bits < 3;
        }
        CHECK(hot_mask_create(context, &grid, inside, &mask) == HOT_OK, "%s", hot_context_message(context));
        for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
            const size_t step = mask->inside / most[i] + 1, count = hot_mask_sample(mask, most[i], found);
            size_t seen = 0, expected = 0, wrong = 0;
            for (size_t n = 0; n < VOXELS && expected < most[i]; n++)
                if (inside[n] && seen++ % step == 0) {
                    wrong += expected >= count || found[expected] != n;
                    expected++;
                }
            CHECK(wrong == 0 && count == expected, "mask %d, at most %zu: %zu wrong, %zu instead of %zu", kind, most[i],
                  wrong, count, expected);
        }
        hot_mask_destroy(&mask);
    }
}

/* Only samples before `end` are released: the others do not change. */
static void test_forget(hot_context *context, hot_dwi *dwi, size_t end, int gone, const char *what)
{
    const size_t voxels = hot_grid_voxels(&dwi->grid), count = voxels * dwi->volumes, before_end = end * dwi->volumes;
    float *before = malloc(count * sizeof *before), *after = malloc(count * sizeof *after);
    size_t there = 0, wrong = 0;
    CHECK(hot_dwi_read(context, dwi, 0, voxels, before) == HOT_OK, "%s", hot_context_message(context));
    hot_dwi_release_pages(dwi, end);
    CHECK(hot_dwi_read(context, dwi, 0, voxels, after) == HOT_OK, "%s", hot_context_message(context));
    for (size_t i = 0; i < count; i++) {
        there += i < before_end && after[i] == before[i];
        wrong += i >= before_end && after[i] != before[i];
    }
    CHECK(wrong == 0, "%s: %zu samples of other voxels changed", what, wrong);
    CHECK(gone ? there < before_end / 2 : there == before_end, "%s: %zu of %zu samples are there", what, there,
          before_end);
    free(before), free(after);
}

static void test_forget_all(hot_context *context)
{
    enum { ENTRIES = 4 };
    const hot_grid large = {.size = {64, 128, 20},
                            .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}},
                            .space = HOT_SPACE_RAS};
    const size_t voxels = hot_grid_voxels(&large);
    const double b[ENTRIES] = {0, 1000, 1000, 1000}, g[3 * ENTRIES] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    float *signals = malloc(voxels * ENTRIES * sizeof *signals);
    for (size_t i = 0; i < voxels * ENTRIES; i++)
        signals[i] = (float)(1 + i % 1009);
    for (int by_voxel = 0; by_voxel < 2; by_voxel++) {
        hot_dwi *dwi;
        CHECK(hot_dwi_create(context, &large, ENTRIES, b, g, signals, &dwi) == HOT_OK, "%s",
              hot_context_message(context));
        const char *what = by_voxel ? "voxel by voxel" : "volume by volume";
        for (int axis = 0; axis < 3 && by_voxel; axis++)
            dwi->stride[axis] *= ENTRIES;
        for (size_t v = 0; v < ENTRIES && by_voxel; v++)
            dwi->position[v] = v;
        hot_dwi view = *dwi;
        view.release_data = NULL; /* somebody else's */
        test_forget(context, &view, voxels, 0, what);
        view = *dwi;
        view.stride[1] = dwi->stride[2], view.stride[2] = dwi->stride[1]; /* columns that are far apart */
        view.grid.size[1] = large.size[2], view.grid.size[2] = large.size[1];
        test_forget(context, &view, voxels / 2, 0, what);
        test_forget(context, dwi, 0, 0, what);
        test_forget(context, dwi, voxels - voxels / 3, 1, what);
        hot_dwi_destroy(&dwi);
    }
    free(signals);
}

int main(void)
{
    hot_context *context;
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 2}, &context);
    hot_dwi *dwi = make_dwi(context), *by_voxel = NULL;
    hot_mask *mask[2] = {NULL};
    double sigma[2], snr[2];
    size_t repeats[2];
    test_gather(context, dwi, "volume by volume");
    CHECK(hot_dwi_denoise(context, dwi, NULL, NULL, &by_voxel, NULL) == HOT_OK, "%s", hot_context_message(context));
    test_gather(context, by_voxel, "voxel by voxel");
    for (int kept = 0; kept < 2; kept++) {
        CHECK(!kept || hot_dwi_keep_summary(context, dwi) == HOT_OK, "%s", hot_context_message(context));
        CHECK(hot_mask_estimate(context, dwi, &mask[kept]) == HOT_OK, "%s", hot_context_message(context));
        CHECK(hot_dwi_noise(context, dwi, mask[kept], &sigma[kept], &snr[kept], &repeats[kept]) == HOT_OK, "%s",
              hot_context_message(context));
    }
    CHECK(memcmp(mask[0]->bytes, mask[1]->bytes, VOXELS) == 0 && mask[0]->inside > 100, "masks");
    CHECK(sigma[0] == sigma[1] && snr[0] == snr[1] && repeats[1] == 3, "noise %g and %g", sigma[0], sigma[1]);
    CHECK_NEAR(sigma[0], 10, 2, "sigma");
    test_walk(mask[0]);
    test_sample(context);
    test_forget_all(context);
    hot_mask_destroy(&mask[0]);
    hot_mask_destroy(&mask[1]);
    hot_dwi_destroy(&by_voxel);
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
