/* Masks: which voxels to compute. */
#include <string.h>

#include "common/arguments.h"
#include "core/fields.h"
#include "common/entry.h"

hot_status hot_mask_full(hot_context *context, const hot_grid *grid, hot_mask **mask)
{
    HOT_ENTRY(context);
    HOT_CLEAR(mask);
    HOT_NEED(context, grid, mask);
    HOT_TRY(hot_grid_check(context, grid));
    const size_t voxels = hot_grid_voxels(grid);
    hot_mask *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = (hot_mask){.context = context, .grid = *grid, .inside = voxels};
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
    HOT_ENTRY(context);
    HOT_CLEAR(mask);
    HOT_NEED(context, grid, inside, mask);
    HOT_TRY(hot_mask_full(context, grid, mask));
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

hot_status hot_mask_take(hot_context *context, const hot_mask **mask, const hot_grid *grid, hot_mask **made)
{
    *made = NULL;
    if (*mask)
        return hot_mask_check(context, *mask, grid);
    const hot_status status = hot_mask_full(context, grid, made);
    *mask = *made;
    return status;
}

hot_status hot_mask_copy(hot_context *context, const hot_mask *from, const hot_grid *grid, hot_mask **mask)
{
    *mask = NULL;
    HOT_TRY(hot_mask_check(context, from, grid));
    HOT_TRY(hot_mask_full(context, grid, mask));
    memcpy((*mask)->bytes, from->bytes, hot_grid_voxels(grid));
    (*mask)->inside = from->inside;
    return HOT_OK;
}

void hot_mask_destroy(hot_mask **mask)
{
    HOT_DESTROY_BEGIN(hot_mask, mask);
    hot_context *context = gone->context;
    HOT_FREE(context, gone->bytes, gone);
}

const uint8_t *hot_mask_bytes(const hot_mask *mask) { return mask ? mask->bytes : NULL; }
size_t hot_mask_count(const hot_mask *mask) { return mask ? mask->inside : 0; }
