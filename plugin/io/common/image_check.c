#include "image_check.h"

#include <math.h>

hot_status hot_mask_other_size(hot_context *context, const char *path, const size_t size[3], const hot_grid *grid)
{
    return hot_context_fail(context, HOT_ERROR_DATA,
                            "mask '%s' has %zu x %zu x %zu voxels, the data have %zu x %zu x %zu", path, size[0],
                            size[1], size[2], grid->size[0], grid->size[1], grid->size[2]);
}

/* A mask whose far corners lie elsewhere is most likely stored in another order of axes. Said, not refused, because
 * geometry gets lost in many tools. */
void hot_mask_compare_places(hot_context *context, const char *path, const hot_grid *mask, const hot_grid *grid)
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

#define COUNT_INSIDE(TYPE)                                                \
    for (size_t n = 0; n < voxels; n++) {                                 \
        const TYPE value = ((const TYPE *)samples)[n];                    \
        mask->inside += mask->bytes[n] = value != 0 && value == value;    \
    }                                                                     \
    break

void hot_mask_threshold(const void *samples, hot_sample type, hot_mask *mask)
{
    const size_t voxels = hot_grid_voxels(&mask->grid);
    mask->inside = 0;
    switch (type) {
    case HOT_SAMPLE_I8:
    case HOT_SAMPLE_U8: COUNT_INSIDE(uint8_t);
    case HOT_SAMPLE_I16:
    case HOT_SAMPLE_U16: COUNT_INSIDE(uint16_t);
    case HOT_SAMPLE_I32:
    case HOT_SAMPLE_U32: COUNT_INSIDE(uint32_t);
    case HOT_SAMPLE_I64:
    case HOT_SAMPLE_U64: COUNT_INSIDE(uint64_t);
    case HOT_SAMPLE_F32: COUNT_INSIDE(float);
    case HOT_SAMPLE_F64: COUNT_INSIDE(double);
    }
}

hot_status hot_map_check_count(hot_context *context, const char *path, size_t samples, size_t voxels)
{
    return samples == voxels ? HOT_OK
                             : hot_context_fail(context, HOT_ERROR_DATA,
                                                "'%s' has %zu values; one for each of %zu voxels was expected", path,
                                                samples, voxels);
}
