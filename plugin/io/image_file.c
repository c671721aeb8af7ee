/* Masks, images and maps of one value per voxel, of any format, put into the order of the data's voxels. */
#include <string.h>

#include "common/arguments.h"
#include "core/grid_match.h"
#include "common/entry.h"
#include "core/image.h"
#include "io/common/image_save.h"
#include "io/common/paths.h"
#include "io/nrrd/nrrd_values.h"
#include "map_save.h"

/* The image of one value per voxel in `path`, as floats in its own order. several: there may be more, and the first
 * counts. */
static hot_status load_single(hot_context *context, const char *what, const char *path, int several, hot_grid *grid,
                              float **values)
{
    hot_image image;
    *values = NULL;
    hot_status status = hot_image_open(context, path, &image);
    if (status == HOT_OK && image.values > 1 && several)
        hot_context_log(context, HOT_LOG_NOTE, "'%s' has %zu volumes: the first is taken", path, image.values);
    else if (status == HOT_OK && image.values != 1)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "%s '%s' has %zu values per voxel; one was expected", what,
                                  path, image.values);
    if (status == HOT_OK)
        status = hot_image_read(&image);
    if (status == HOT_OK) {
        const size_t voxels = hot_grid_voxels(&image.grid);
        *grid = image.grid;
        image.values = 1;
        *values = hot_context_alloc(context, voxels, sizeof **values);
        status = *values ? hot_image_values(&image, 0, voxels, *values) : HOT_ERROR_MEMORY;
    }
    hot_image_close(&image);
    if (status != HOT_OK) {
        hot_context_free(context, *values);
        *values = NULL;
    }
    return status;
}

hot_status hot_image_load_values(hot_context *context, const char *path, hot_grid *grid, float **values,
                                 size_t *count)
{
    HOT_ENTRY(context);
    HOT_CLEAR(values);
    HOT_NEED(context, path, grid, values, count);
    hot_image image;
    hot_status status = hot_image_load_all(context, path, &image);
    if (status == HOT_OK) {
        const size_t voxels = hot_grid_voxels(&image.grid);
        *grid = image.grid;
        *count = image.values;
        *values = hot_context_alloc(context, voxels, image.values * sizeof **values);
        status = *values ? hot_image_values(&image, 0, voxels, *values) : HOT_ERROR_MEMORY;
    }
    hot_image_close(&image);
    if (status != HOT_OK) {
        hot_context_free(context, *values);
        *values = NULL;
    }
    return status;
}

/* An image of one value per voxel at the voxels of a grid; 0 where the image has none. `found`, of the grid `own`, is
 * freed. */
static hot_status put_on_grid(hot_context *context, const char *what, const char *path, const hot_grid *own,
                              float *found, const hot_grid *grid, float **values)
{
    size_t *index = NULL;
    *values = NULL;
    hot_status status = hot_grid_match(context, what, path, own, "the data", grid, &index);
    if (status == HOT_OK && index) {
        const size_t voxels = hot_grid_voxels(grid);
        *values = hot_context_alloc(context, voxels, sizeof **values);
        if (!*values)
            status = HOT_ERROR_MEMORY;
        for (size_t v = 0; v < voxels && *values; v++)
            (*values)[v] = index[v] == HOT_OUTSIDE ? 0 : found[index[v]];
    } else if (status == HOT_OK) {
        *values = found;
        found = NULL;
    }
    HOT_FREE(context, found, index);
    return status;
}

/* Bytes of a mask (NULL: only counted), NaN is outside. Returns how many voxels are inside. */
static size_t threshold(const float *values, size_t voxels, uint8_t *bytes)
{
    size_t inside = 0;
    for (size_t v = 0; v < voxels; v++) {
        const uint8_t byte = values[v] != 0 && values[v] == values[v];
        inside += byte;
        if (bytes)
            bytes[v] = byte;
    }
    return inside;
}

hot_status hot_mask_load(hot_context *context, const char *path, const hot_grid *grid, hot_mask **mask)
{
    HOT_ENTRY(context);
    HOT_CLEAR(mask);
    HOT_NEED(context, path, grid, mask);
    HOT_TRY(hot_grid_check(context, grid));
    hot_grid own;
    float *found = NULL, *values = NULL;
    hot_status status = load_single(context, "mask", path, 0, &own, &found);
    /* told before anything about its place; other sizes are the more telling fault */
    if (status == HOT_OK && memcmp(own.size, grid->size, sizeof own.size) == 0 &&
        threshold(found, hot_grid_voxels(&own), NULL) == 0) {
        status = hot_context_fail(context, HOT_ERROR_DATA, "mask '%s' is empty: all its voxels are 0", path);
        hot_context_free(context, found);
    } else if (status == HOT_OK)
        status = put_on_grid(context, "mask", path, &own, found, grid, &values);
    if (status == HOT_OK)
        status = hot_mask_full(context, grid, mask);
    if (status == HOT_OK) {
        (*mask)->inside = threshold(values, hot_grid_voxels(grid), (*mask)->bytes);
        if ((*mask)->inside == 0)
            status = hot_context_fail(context, HOT_ERROR_DATA, "mask '%s' is 0 at every voxel of the data", path);
    }
    hot_context_free(context, values);
    if (status != HOT_OK)
        hot_mask_destroy(mask);
    return status;
}

hot_status hot_image_load(hot_context *context, const char *path, hot_grid *grid, float **values)
{
    HOT_ENTRY(context);
    HOT_CLEAR(values);
    HOT_NEED(context, path, grid, values);
    return load_single(context, "image", path, 1, grid, values);
}

hot_status hot_map_save_bytes(hot_context *context, const hot_grid *grid, const uint8_t *values, const char *path)
{
    HOT_TRY(hot_path_check_image(context, path));
    return hot_path_has_volumes(path)
        ? hot_image_save_bytes(context, path, grid, values)
        : hot_nrrd_save_values(context, &(hot_nrrd_values){.grid = grid, .data = values, .bytes = 1, .compress = 1,
                                                            .content = HOT_CONTENT_MAP},
                               path);
}

hot_status hot_mask_save(hot_context *context, const hot_mask *mask, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, mask, path);
    return hot_map_save_bytes(context, &mask->grid, mask->bytes, path);
}

hot_status hot_noise_map_load(hot_context *context, const char *path, const hot_grid *grid, float **map)
{
    HOT_ENTRY(context);
    HOT_CLEAR(map);
    HOT_NEED(context, path, grid, map);
    HOT_TRY(hot_grid_check(context, grid));
    hot_grid own;
    float *found = NULL;
    hot_status status = load_single(context, "noise map", path, 0, &own, &found);
    return status == HOT_OK ? put_on_grid(context, "noise map", path, &own, found, grid, map) : status;
}

/* Floats in memory's layout, `per` for each voxel. */
typedef struct interleaved {
    const float *values;
    size_t per;
} interleaved;

typedef struct vectors {
    interleaved as_they_are;
    double sign[3];
} vectors;

static void fill(hot_context *context, const void *from, size_t number, size_t first, size_t count, float *samples)
{
    const interleaved *map = from;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t v = first; v < first + count; v++)
        samples[v - first] = map->values[v * map->per + number];
}

hot_status hot_map_save(hot_context *context, const hot_grid *grid, const float *values, size_t per, const char *what,
                        const char *path)
{
    HOT_TRY(hot_path_check_image(context, path));
    if (hot_path_has_volumes(path))
        return hot_image_save(context, path, grid, HOT_CONTENT_MAP, per, fill, &(interleaved){values, per});
    return hot_nrrd_save_values(context, &(hot_nrrd_values){.grid = grid, .data = values, .per = {per > 1 ? per : 0},
                                                            .compress = what != NULL,
                                                            .content = HOT_CONTENT_MAP,
                                                            .key = what ? "hotfiber_map" : NULL, .value = what}, path);
}

/* The same of vectors in the grid's axes, which become RAS: in images of volumes all vectors are in scanner axes. */
static void fill_vectors(hot_context *context, const void *from, size_t number, size_t first, size_t count,
                         float *samples)
{
    const vectors *map = from;
    fill(context, &map->as_they_are, number, first, count, samples);
    if (map->sign[number % 3] > 0)
        return;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t v = first; v < first + count; v++)
        samples[v - first] = 0 - samples[v - first]; /* not -0 */
}

hot_status hot_signal_map_save(hot_context *context, const hot_signal_maps *maps, const char *name, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, maps, name, path);
    const size_t fibers = (size_t)maps->max_fibers;
    const struct { const char *name; const void *values; size_t per; } all[] = {
        {"probability", maps->probability, 4}, {"margin", maps->margin, 1}, {"residual", maps->residual, 1},
        {"width", maps->width, 1},             {"flags", maps->flags, 1},   {"cone", maps->cone, fibers},
        {"cone_axes", maps->cone_axes, 6 * fibers}, {"fraction_sd", maps->fraction_sd, fibers},
        {"isotropic", maps->isotropic, 1},     {"free_water", maps->free_water, 1},
        {"noise_sd", maps->noise_sd, 1},
    };
    const size_t count = sizeof all / sizeof *all;
    size_t which = 0;
    while (which < count && strcmp(all[which].name, name) != 0)
        which++;
    if (which == count || !all[which].values)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "there is no map '%s': probability, margin, residual, width or flags, and with cones "
                                "cone, cone_axes, fraction_sd, isotropic, free_water or noise_sd", name);
    HOT_TRY(hot_path_check_image(context, path));
    const int bytes = all[which].values == maps->flags;
    const size_t per = all[which].per;
    if (bytes && hot_path_has_volumes(path))
        return hot_image_save_bytes(context, path, &maps->grid, maps->flags);
    if (all[which].values == maps->cone_axes && hot_path_has_volumes(path)) {
        vectors map = {{maps->cone_axes, per}, {1, 1, 1}};
        hot_space_ras_sign(maps->grid.space, map.sign);
        return hot_image_save(context, path, &maps->grid, HOT_CONTENT_MAP, per, fill_vectors, &map);
    }
    if (!bytes)
        return hot_map_save(context, &maps->grid, all[which].values, per, name, path);
    return hot_nrrd_save_values(context, &(hot_nrrd_values){.grid = &maps->grid, .data = all[which].values,
                                                            .bytes = 1, .compress = 1,
                                                            .content = HOT_CONTENT_MAP, .key = "hotfiber_map",
                                                            .value = name}, path);
}

hot_status hot_phantom_save_tissue(hot_context *context, const hot_phantom *phantom, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, phantom, path);
    return hot_map_save(context, hot_dwi_grid(hot_phantom_dwi(phantom)), hot_phantom_tissue_map(phantom),
                        HOT_PHANTOM_MAP, NULL, path);
}

hot_status hot_dwi_save_noise(hot_context *context, const hot_dwi *dwi, const float *noise, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, noise, path);
    HOT_TRY(hot_dwi_check_distinct(context, dwi, path));
    return hot_map_save(context, &dwi->grid, noise, 1, NULL, path);
}
