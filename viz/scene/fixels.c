#include "fixels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/free.h"

/* An image of the folder, with all its values. */
typedef struct part {
    char path[4096];
    hot_grid grid;
    float *values;
    size_t count; /* values of a voxel */
} part;

static int find(const char *folder, const char *name, part *found)
{
    static const char *const suffixes[] = {".mif", ".nii.gz", ".nii", ".mif.gz", ".mih"};
    struct stat info;
    for (size_t s = 0; s < sizeof suffixes / sizeof suffixes[0]; s++) {
        const int length = snprintf(found->path, sizeof found->path, "%s/%s%s", folder, name, suffixes[s]);
        if (length > 0 && (size_t)length < sizeof found->path && stat(found->path, &info) == 0 &&
            S_ISREG(info.st_mode))
            return 1;
    }
    found->path[0] = '\0';
    return 0;
}

int hot_fixels_named(const char *path)
{
    part index;
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) && find(path, "index", &index);
}

const char *hot_fixels_index(const char *path)
{
    static _Thread_local part index;
    return find(path, "index", &index) ? index.path : "";
}

/* Where number `row` of column `column` of a list is: images are stored in any order of their axes, and backwards. */
static size_t place(const part *list, size_t row, size_t column)
{
    size_t at = 0, stride = 1;
    for (int a = 0; a < 3; a++) {
        int axis = 0;
        for (int r = 1; r < 3; r++)
            if (fabs(list->grid.to_world[r][a]) > fabs(list->grid.to_world[axis][a]))
                axis = r;
        const size_t size = list->grid.size[a], wanted = axis == 0 ? row : axis == 1 ? column : 0;
        const int reversed = list->grid.to_world[axis][a] < 0;
        at += stride * (wanted >= size ? size - 1 : reversed ? size - 1 - wanted : wanted);
        stride *= size;
    }
    return at;
}

static hot_status load_part(hot_context *context, part *of)
{
    return hot_image_load_values(context, of->path, &of->grid, &of->values, &of->count);
}

/* The largest number of fixels in a voxel and of all; floats count exactly up to 2^24. */
static hot_status measure(hot_context *context, const part *index, size_t *most, size_t *all)
{
    const size_t voxels = index->grid.size[0] * index->grid.size[1] * index->grid.size[2];
    if (index->count != 2)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %zu values per voxel; an index of fixels has 2",
                                index->path, index->count);
    *most = *all = 0;
    for (size_t v = 0; v < voxels; v++) {
        const float count = index->values[2 * v], first = index->values[2 * v + 1];
        if (!(count >= 0 && count <= 255 && first >= 0 && first < 16777216))
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': voxel %zu has %g fixels from number %g on; "
                                    "0 to 255 of fewer than 16777216 can be read", index->path, v, (double)count,
                                    (double)first);
        *most = (size_t)count > *most ? (size_t)count : *most;
        *all = count > 0 && (size_t)first + (size_t)count > *all ? (size_t)first + (size_t)count : *all;
    }
    if (*most == 0)
        return hot_context_fail(context, HOT_ERROR_DATA, "'%s' has no fixels", index->path);
    return HOT_OK;
}

static hot_status check_list(hot_context *context, const part *list, size_t all, size_t columns)
{
    const size_t samples = list->grid.size[0] * list->grid.size[1] * list->grid.size[2];
    if (list->count == 1 && samples % columns == 0 && samples / columns >= all)
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %zu numbers, and the index names %zu fixels of %zu",
                            list->path, samples * list->count, all, columns);
}

static void fill(const part *index, const part *directions, const part *lengths, size_t most, float *peaks)
{
    const size_t voxels = index->grid.size[0] * index->grid.size[1] * index->grid.size[2];
    double sign[3];
    hot_space_ras_sign(index->grid.space, sign);
    for (size_t v = 0; v < voxels; v++)
        for (size_t f = 0; f < (size_t)index->values[2 * v]; f++) {
            const size_t fixel = (size_t)index->values[2 * v + 1] + f;
            const float length = lengths->values ? lengths->values[place(lengths, fixel, 0)] : 1;
            for (size_t d = 0; d < 3; d++)
                peaks[3 * (v * most + f) + d] = (float)sign[d] * length *
                                                directions->values[place(directions, fixel, d)];
        }
}

hot_status hot_fixels_load(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    part index = {.values = NULL}, directions = {.values = NULL}, lengths = {.values = NULL};
    size_t most = 0, all = 0;
    float *peaks = NULL;
    hot_status status = HOT_OK;
    *fibers = NULL;
    if (!find(path, "index", &index) || !find(path, "directions", &directions))
        return hot_context_fail(context, HOT_ERROR_FILE, "'%s' is no fixel directory: it lacks an index or directions "
                                "(.mif, .nii)", path);
    status = load_part(context, &index);
    if (status == HOT_OK)
        status = measure(context, &index, &most, &all);
    if (status == HOT_OK)
        status = load_part(context, &directions);
    if (status == HOT_OK)
        status = check_list(context, &directions, all, 3);
    if (status == HOT_OK && (find(path, "amplitude", &lengths) || find(path, "afd", &lengths) ||
                             find(path, "fd", &lengths))) {
        status = load_part(context, &lengths);
        if (status == HOT_OK)
            status = check_list(context, &lengths, all, 1);
    }
    const size_t voxels = index.grid.size[0] * index.grid.size[1] * index.grid.size[2];
    if (status == HOT_OK) {
        peaks = hot_context_calloc(context, voxels, 3 * most * sizeof *peaks);
        status = peaks ? HOT_OK : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK) {
        fill(&index, &directions, &lengths, most, peaks);
        status = hot_fiber_field_create(context, &index.grid, (int)most, peaks, fibers);
    }
    HOT_FREE(context, peaks, index.values, directions.values, lengths.values);
    return status;
}
