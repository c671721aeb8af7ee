/* Masks, images and maps of one value per voxel: NRRD or NIfTI by the file's name. */
#include <string.h>

#include "core/fields.h"
#include "io/common/paths.h"
#include "io/nifti/nifti_image.h"
#include "io/nrrd/nrrd_image.h"
#include "io/nrrd/nrrd_values.h"

hot_status hot_mask_load(hot_context *context, const char *path, const hot_grid *grid, hot_mask **mask)
{
    hot_status status = hot_mask_full(context, grid, mask);
    if (status == HOT_OK)
        status = hot_path_is_nifti(path) ? hot_nifti_load_mask(context, path, *mask)
                                         : hot_nrrd_load_mask(context, path, *mask);
    if (status == HOT_OK && (*mask)->inside == 0)
        status = hot_context_fail(context, HOT_ERROR_DATA, "mask '%s' is empty: all its voxels are 0", path);
    if (status != HOT_OK)
        hot_mask_destroy(mask);
    return status;
}

/* Frees what was read before a failure. */
static hot_status all_or_none(hot_context *context, hot_status status, float **values)
{
    if (status != HOT_OK) {
        hot_context_free(context, *values);
        *values = NULL;
    }
    return status;
}

hot_status hot_image_load(hot_context *context, const char *path, hot_grid *grid, float **values)
{
    *values = NULL;
    return all_or_none(context, hot_path_is_nifti(path) ? hot_nifti_load_image(context, path, grid, values)
                                                        : hot_nrrd_load_image(context, path, grid, values), values);
}

hot_status hot_noise_map_load(hot_context *context, const char *path, const hot_grid *grid, float **map)
{
    const size_t voxels = hot_grid_voxels(grid);
    *map = hot_context_alloc(context, voxels, sizeof **map);
    if (!*map)
        return HOT_ERROR_MEMORY;
    return all_or_none(context, hot_path_is_nifti(path) ? hot_nifti_load_map(context, path, voxels, *map)
                                                        : hot_nrrd_load_map(context, path, voxels, *map), map);
}

/* Floats as they are in memory, `per` for each voxel. */
typedef struct interleaved {
    const float *values;
    size_t per;
} interleaved;

static void fill(hot_context *context, const void *from, size_t number, size_t voxels, float *volume)
{
    const interleaved *map = from;
    (void)context;
    for (size_t v = 0; v < voxels; v++)
        volume[v] = map->values[v * map->per + number];
}

hot_status hot_signal_map_save(hot_context *context, const hot_signal_maps *maps, const char *name, const char *path)
{
    const struct { const char *name; const void *values; size_t per; } all[] = {
        {"probability", maps->probability, 4}, {"margin", maps->margin, 1}, {"residual", maps->residual, 1},
        {"width", maps->width, 1},             {"flags", maps->flags, 1},
    };
    const size_t count = sizeof all / sizeof *all;
    size_t which = 0;
    while (which < count && strcmp(all[which].name, name) != 0)
        which++;
    if (which == count || !all[which].values)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "there is no map '%s': probability, margin, residual, width or flags", name);
    const int bytes = all[which].values == maps->flags;
    const size_t per = all[which].per;
    if (hot_path_is_nifti(path) && bytes)
        return hot_nifti_save_bytes(context, path, &maps->grid, maps->flags);
    if (hot_path_is_nifti(path))
        return hot_nifti_save_volumes(context, path, &maps->grid, per, fill,
                                      &(interleaved){all[which].values, per});
    return hot_nrrd_save_values(context, &(hot_nrrd_values){.grid = &maps->grid, .data = all[which].values,
                                                            .bytes = bytes, .per = {per > 1 ? per : 0}, .compress = 1,
                                                            .key = "hotfiber_map", .value = name}, path);
}

hot_status hot_phantom_save_tissue(hot_context *context, const hot_phantom *phantom, const char *path)
{
    const hot_grid *grid = hot_dwi_grid(hot_phantom_dwi(phantom));
    const float *map = hot_phantom_tissue_map(phantom);
    return hot_path_is_nifti(path)
        ? hot_nifti_save_volumes(context, path, grid, HOT_PHANTOM_MAP, fill, &(interleaved){map, HOT_PHANTOM_MAP})
        : hot_nrrd_save_values(context, &(hot_nrrd_values){.grid = grid, .data = map, .per = {HOT_PHANTOM_MAP},
                                                           .compress = 1}, path);
}

hot_status hot_dwi_save_noise(hot_context *context, const hot_dwi *dwi, const float *noise, const char *path)
{
    hot_status status = hot_dwi_check_distinct(context, dwi, path);
    if (status != HOT_OK)
        return status;
    return hot_path_is_nifti(path)
        ? hot_nifti_save_volumes(context, path, &dwi->grid, 1, fill, &(interleaved){noise, 1})
        : hot_nrrd_save_values(context, &(hot_nrrd_values){.grid = &dwi->grid, .data = noise}, path);
}
