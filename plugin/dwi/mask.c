/* Masks: which voxels to compute. */
#include <math.h>
#include <string.h>

#include "core/fields.h"
#include "io/nrrd/nrrdfile.h"
#include "io/nifti/nifti_volume.h"

hot_status hot_mask_full(hot_context *context, const hot_grid *grid, hot_mask **mask)
{
    *mask = NULL;
    size_t voxels = hot_grid_voxels(grid);
    if (voxels == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a mask of %zu x %zu x %zu voxels", grid->size[0],
                                grid->size[1], grid->size[2]);
    hot_mask *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    made->grid = *grid;
    made->inside = voxels;
    made->bytes = hot_context_alloc(context, voxels, 1);
    if (!made->bytes) {
        hot_mask_destroy(&made);
        return HOT_ERROR_MEMORY;
    }
    memset(made->bytes, 1, voxels);
    *mask = made;
    return HOT_OK;
}

hot_status hot_mask_create(hot_context *context, const hot_grid *grid, const uint8_t *inside, hot_mask **mask)
{
    hot_status status = hot_mask_full(context, grid, mask);
    if (status != HOT_OK)
        return status;
    const size_t voxels = hot_grid_voxels(grid);
    (*mask)->inside = 0;
    for (size_t n = 0; n < voxels; n++)
        (*mask)->inside += (*mask)->bytes[n] = inside[n] != 0;
    return HOT_OK;
}

hot_status hot_mask_check(hot_context *context, const hot_mask *mask, const hot_grid *grid)
{
    const size_t *own = mask->grid.size, *size = grid->size;
    if (memcmp(own, size, sizeof grid->size) == 0)
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_DATA, "the mask has %zu x %zu x %zu voxels, the data %zu x %zu x %zu",
                            own[0], own[1], own[2], size[0], size[1], size[2]);
}

hot_status hot_mask_copy(hot_context *context, const hot_mask *from, const hot_grid *grid, hot_mask **mask)
{
    *mask = NULL;
    hot_status status = hot_mask_check(context, from, grid);
    if (status == HOT_OK)
        status = hot_mask_full(context, grid, mask);
    if (status != HOT_OK)
        return status;
    memcpy((*mask)->bytes, from->bytes, hot_grid_voxels(grid));
    (*mask)->inside = from->inside;
    return HOT_OK;
}

#define INSIDE(TYPE)                                      \
    do {                                                  \
        const TYPE *value = data;                         \
        for (size_t n = 0; n < count; n++) {              \
            bytes[n] = value[n] != 0 && value[n] == value[n]; \
            inside += bytes[n];                           \
        }                                                 \
    } while (0)

/* 1 where a sample is neither 0 nor NaN; SIZE_MAX when the type is no number. */
static size_t threshold(const void *data, int nrrd_type, size_t count, uint8_t *bytes)
{
    size_t inside = 0;
    switch (nrrd_type) {
    case nrrdTypeChar:
    case nrrdTypeUChar: INSIDE(uint8_t); break;
    case nrrdTypeShort:
    case nrrdTypeUShort: INSIDE(uint16_t); break;
    case nrrdTypeInt:
    case nrrdTypeUInt: INSIDE(uint32_t); break;
    case nrrdTypeLLong:
    case nrrdTypeULLong: INSIDE(uint64_t); break;
    case nrrdTypeFloat: INSIDE(float); break;
    case nrrdTypeDouble: INSIDE(double); break;
    default: return SIZE_MAX;
    }
    return inside;
}

static hot_status other_size(hot_context *context, const char *path, const size_t size[3], const hot_grid *grid)
{
    return hot_context_fail(context, HOT_ERROR_DATA,
                            "mask '%s' has %zu x %zu x %zu voxels, the data have %zu x %zu x %zu", path, size[0],
                            size[1], size[2], grid->size[0], grid->size[1], grid->size[2]);
}

/* The same sizes do not make the same place: a mask whose far corners lie elsewhere is most likely stored in another
 * order of axes. Said, not refused, because geometry gets lost in many tools. */
static void compare_places(hot_context *context, const char *path, const hot_grid *mask, const hot_grid *grid)
{
    double m[3][4], g[3][4], farthest = 0, voxel = 0;
    if (mask->space == HOT_SPACE_UNKNOWN || grid->space == HOT_SPACE_UNKNOWN)
        return;
    hot_grid_to_ras(mask, m);
    hot_grid_to_ras(grid, g);
    for (int corner = 0; corner < 8; corner++) {
        double squared = 0;
        for (int r = 0; r < 3; r++) {
            double apart = m[r][3] - g[r][3];
            for (int c = 0; c < 3; c++)
                apart += (m[r][c] - g[r][c]) * (corner >> c & 1 ? (double)grid->size[c] - 1 : 0);
            squared += apart * apart;
        }
        farthest = fmax(farthest, sqrt(squared));
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            voxel = fmax(voxel, fabs(g[r][c]));
    if (farthest > voxel / 2)
        hot_context_log(
            context, HOT_LOG_WARNING,
            "mask '%s' lies up to %.3g mm away from the data; its voxels are taken in the order they are stored", path,
            farthest);
}

static hot_status load_nrrd(hot_context *context, const char *path, hot_mask *mask)
{
    hot_nrrd_file file = {0};
    void *data = NULL;
    hot_status status = hot_nrrd_open(context, path, &file);
    if (status != HOT_OK)
        return status;
    /* Axes of size 1 (as left by cropping a larger array) do not count. */
    size_t size[3] = {1, 1, 1};
    unsigned int axes = 0;
    for (unsigned int axis = 0; axis < file.nrrd->dim; axis++)
        if (file.nrrd->axis[axis].size != 1 || file.nrrd->dim <= 3) {
            if (axes < 3)
                size[axes] = file.nrrd->axis[axis].size;
            axes++;
        }
    if (axes > 3)
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "mask '%s' has %u axes; a mask has one value per voxel, 3 axes", path,
                                  file.nrrd->dim);
    else if (file.samples != hot_grid_voxels(&mask->grid))
        status = other_size(context, path, size, &mask->grid);
    for (int a = 0; a < 3 && status == HOT_OK && file.nrrd->dim <= 3; a++)
        if (size[a] != mask->grid.size[a])
            status = other_size(context, path, size, &mask->grid);
    hot_grid place;
    if (status == HOT_OK && file.nrrd->dim == 3 &&
        hot_nrrd_get_grid(context, file.nrrd, (unsigned int[]){0, 1, 2}, &place) == HOT_OK)
        compare_places(context, path, &place, &mask->grid);
    if (status == HOT_OK) {
        data = hot_context_alloc(context, file.bytes, 1);
        status = data ? hot_nrrd_read(context, &file, data) : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK)
        mask->inside = threshold(data, file.nrrd->type, file.samples, mask->bytes);
    hot_context_free(context, data);
    hot_nrrd_close(context, &file);
    return status;
}

static hot_status load_nifti(hot_context *context, const char *path, hot_mask *mask)
{
    nifti_image *image = NULL;
    hot_grid grid;
    hot_status status = hot_nifti_load(context, path, &image);
    if (status != HOT_OK)
        return status;
    size_t voxels = hot_grid_voxels(&mask->grid);
    hot_nifti_grid(image, &grid);
    float *values = NULL;
    if (memcmp(grid.size, mask->grid.size, sizeof grid.size) != 0)
        status = other_size(context, path, grid.size, &mask->grid);
    else if ((size_t)image->nvox != voxels)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "mask '%s' has %zu volumes; a mask has one", path,
                                  (size_t)image->nvox / voxels);
    else if (!(values = hot_context_alloc(context, voxels, sizeof *values)))
        status = HOT_ERROR_MEMORY;
    else
        status = hot_nifti_floats(context, image, path, 0, voxels, values);
    if (status == HOT_OK)
        compare_places(context, path, &grid, &mask->grid);
    if (status == HOT_OK)
        mask->inside = threshold(values, nrrdTypeFloat, voxels, mask->bytes);
    hot_context_free(context, values);
    nifti_image_free(image);
    return status;
}

hot_status hot_mask_load(hot_context *context, const char *path, const hot_grid *grid, hot_mask **mask)
{
    hot_mask *made = NULL;
    *mask = NULL;
    hot_status status = hot_mask_full(context, grid, &made);
    if (status == HOT_OK)
        status = hot_path_is_nifti(path) ? load_nifti(context, path, made) : load_nrrd(context, path, made);
    if (status == HOT_OK && made->inside == 0)
        status = hot_context_fail(context, HOT_ERROR_DATA, "mask '%s' is empty: all its voxels are 0", path);
    if (status == HOT_OK)
        *mask = made;
    else
        hot_mask_destroy(&made);
    return status;
}

void hot_mask_destroy(hot_mask **mask)
{
    if (!mask || !*mask)
        return;
    hot_context *context = (*mask)->context;
    hot_context_free(context, (*mask)->bytes);
    hot_context_free(context, *mask);
    *mask = NULL;
}

const uint8_t *hot_mask_bytes(const hot_mask *mask) { return mask->bytes; }
size_t hot_mask_count(const hot_mask *mask) { return mask->inside; }
