/* A sample of large data: every value is that of the whole at the same place, whatever bound is set; allocations that
 * fail lose nothing. */
#include "check.h"
#include "starve.h"

#include <unistd.h>

#include "io/dwi_load.h"

static char name[2][64];

static hot_context *context_new(starved *count)
{
    hot_context *context = NULL;
    const hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = 1,
                                         .allocate = count ? starved_take : NULL,
                                         .release = count ? starved_give : NULL, .allocator_user = count};
    CHECK(hot_context_create(&options, &context) == HOT_OK, "context");
    return context;
}

/* The number of the volume with this gradient and b, from `from` on. */
static size_t find_volume(const hot_dwi *whole, const hot_dwi *some, size_t v, size_t from)
{
    while (from < whole->volumes && (whole->b[from] != some->b[v] ||
                                     memcmp(whole->gradients + 3 * from, some->gradients + 3 * v, 3 * sizeof(double))))
        from++;
    return from;
}

/* The voxel of the whole that lies where a voxel of the sample lies, along each axis; the slice as near as can be. */
static size_t find_voxel(const hot_dwi *whole, const hot_dwi *some, const size_t at[3], int *outside)
{
    size_t index[3];
    for (int axis = 0; axis < 3; axis++) {
        double along = 0, square = 0; /* the phantom's axes are at right angles */
        for (int r = 0; r < 3; r++) {
            double place = some->grid.to_world[r][3] - whole->grid.to_world[r][3];
            for (int a = 0; a < 3; a++)
                place += (double)at[a] * some->grid.to_world[r][a];
            along += place * whole->grid.to_world[r][axis];
            square += whole->grid.to_world[r][axis] * whole->grid.to_world[r][axis];
        }
        const double number = along / square;
        *outside |= axis < 2 ? fabs(number - round(number)) > 1e-6 : 0;
        *outside |= number < -1e-6 || number > (double)whole->grid.size[axis] - 1 + 1e-6;
        index[axis] = (size_t)lround(fmax(0, number));
    }
    return index[0] + whole->grid.size[0] * (index[1] + whole->grid.size[1] * index[2]);
}

static void test_values(const char *path)
{
    hot_context *context = context_new(NULL);
    hot_dwi *whole = NULL, *header = NULL;
    CHECK(hot_dwi_load(context, path, NULL, NULL, &whole) == HOT_OK, "%s", hot_context_message(context));
    const size_t one = whole->volumes, voxels = hot_grid_voxels(&whole->grid);
    float *row = malloc(one * sizeof *row), *all = malloc(one * voxels * sizeof *all);
    CHECK(hot_dwi_read(context, whole, 0, voxels, all) == HOT_OK, "read");
    for (size_t most = 16; most < 4 * voxels * one; most *= 2) {
        hot_dwi_sample sample = {.small = 100, .most = most};
        CHECK(hot_dwi_load_sample(context, path, NULL, NULL, &sample, &header) == HOT_OK, "%zu: %s", most,
              hot_context_message(context));
        CHECK(sample.partial && !sample.forward && !header->data && header->volumes == one, "%zu: a part", most);
        hot_dwi *some = sample.dwi;
        if (!some) { /* less than one voxel of these volumes */
            CHECK(most < 4 * 2 * one, "%zu: nothing", most);
            hot_dwi_destroy(&header);
            continue;
        }
        const size_t count = hot_grid_voxels(&some->grid);
        CHECK(count * some->volumes * 4 <= most, "%zu: %zu voxels of %zu volumes", most, count, some->volumes);
        CHECK(some->shells == whole->shells && some->has_b0 == whole->has_b0, "%zu: all shells", most);
        size_t volume[64], from = 0, wrong = 0;
        int outside = 0;
        for (size_t v = 0; v < some->volumes; v++, from++)
            volume[v] = from = find_volume(whole, some, v, from);
        CHECK(from <= one, "%zu: volumes in their order", most);
        const int exact = some->grid.size[2] == whole->grid.size[2] || count == 0;
        for (size_t n = 0; n < count; n++) {
            const size_t nx = some->grid.size[0], nxy = nx * some->grid.size[1];
            const size_t at[3] = {n % nx, n / nx % some->grid.size[1], n / nxy};
            size_t there = find_voxel(whole, some, at, &outside);
            CHECK(hot_dwi_read(context, some, n, 1, row) == HOT_OK, "read");
            if (!exact) { /* where the slice is: known from the rule alone */
                const size_t slices = some->grid.size[2], plane = whole->grid.size[0] * whole->grid.size[1];
                there = there % plane + plane * ((2 * at[2] + 1) * whole->grid.size[2] / (2 * slices));
            }
            for (size_t v = 0; v < some->volumes; v++)
                wrong += row[v] != all[there * one + volume[v]];
        }
        CHECK(wrong == 0 && !outside, "%zu: %zu values are others", most, wrong);
        hot_dwi_destroy(&sample.dwi);
        hot_dwi_destroy(&header);
    }
    hot_dwi_sample large = {.small = 1 << 30, .most = 100};
    CHECK(hot_dwi_load_sample(context, path, NULL, NULL, &large, &header) == HOT_OK && !large.partial && !large.dwi &&
              header->data, "small data are read");
    hot_dwi_destroy(&header);
    hot_dwi_destroy(&whole);
    FREE(all, row);
    hot_context_destroy(&context);
}

static void test_memory(const char *path)
{
    starved count = {.fail_at = -1};
    long failed = 0, all = 0;
    for (long k = -1, calls = 0; k < calls; k++) {
        count = (starved){.fail_at = k < 1 ? -1 : k};
        hot_context *context = context_new(&count);
        hot_dwi_sample sample = {.small = 100, .most = 4000};
        hot_dwi *dwi = NULL;
        const hot_status status = hot_dwi_load_sample(context, path, NULL, NULL, &sample, &dwi);
        const int refused = status == HOT_ERROR_MEMORY && !dwi && !sample.dwi;
        CHECK(refused || (status == HOT_OK && dwi && sample.dwi), "allocation %ld: %d", k, (int)status);
        failed += refused;
        hot_dwi_destroy(&sample.dwi);
        hot_dwi_destroy(&dwi);
        hot_context_destroy(&context);
        CHECK(count.live == 0, "allocation %ld: %ld blocks lost", k, count.live);
        if (k < 0)
            all = calls = count.calls;
    }
    CHECK(all > 10 && failed > all - 5, "%ld of %ld failures were seen", failed, all); /* a note may be left out */
}

int main(void)
{
    char folder[] = "/tmp/hotfiber-sample-XXXXXX", other[80];
    hot_context *context = context_new(NULL);
    hot_phantom *phantom = NULL;
    CHECK(mkdtemp(folder) != NULL, "a folder");
    const hot_phantom_options options = {.size = sizeof options, .layout = HOT_PHANTOM_BUNDLES, .volume = {13, 12, 9},
                                         .directions = 30, .b0 = 3};
    CHECK(hot_phantom_create(context, &options, &phantom) == HOT_OK, "%s", hot_context_message(context));
    static const char *const endings[2] = {"dwi.nrrd", "dwi.nii"};
    for (int i = 0; i < 2; i++) {
        snprintf(name[i], sizeof name[i], "%s/%s", folder, endings[i]);
        CHECK(hot_dwi_save(context, hot_phantom_dwi(phantom), name[i]) == HOT_OK, "%s", hot_context_message(context));
    }
    hot_phantom_destroy(&phantom);
    hot_context_destroy(&context);
    for (int i = 0; i < 2; i++) {
        test_values(name[i]);
        test_memory(name[i]);
        unlink(name[i]);
    }
    snprintf(other, sizeof other, "%s/dwi.bval", folder);
    unlink(other);
    snprintf(other, sizeof other, "%s/dwi.bvec", folder);
    unlink(other);
    rmdir(folder);
    HOT_TEST_END();
}
