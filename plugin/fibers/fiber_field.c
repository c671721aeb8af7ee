/* The fibre directions of a volume: memory, order and access. Every finder and reader hands its vectors to
 * hot_fiber_field_create or hot_fiber_field_adopt, which put them into the one form that everything after them relies
 * on. */
#include "common/arguments.h"
#include "core/fields.h"

#include <math.h>
#include <string.h>

#include "common/entry.h"
#include "model/model.h"
#include "symtensor/sphere.h"

static double length_squared(const float v[3])
{
    return (double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2];
}

/* One voxel's vectors into their order: absent ones (zero, NaN, Inf: other tools write any of them) last and 0,
 * longest first (equal lengths keep their order), one half sphere. from and to may be the same. Returns how many there
 * are. */
static int put_in_order(const float *from, int max_fibers, float *to)
{
    int count = 0;
    for (int f = 0; f < max_fibers; f++) {
        const float v[3] = {from[3 * f], from[3 * f + 1], from[3 * f + 2]};
        double length = length_squared(v);
        if (!(length > 0) || isinf(length))
            continue;
        int at = count++;
        for (; at > 0 && length_squared(to + 3 * (at - 1)) < length; at--)
            memcpy(to + 3 * at, to + 3 * (at - 1), 3 * sizeof *to);
        float sign = hot_sphere_upper(v[0], v[1], v[2]) ? 1.0f : -1.0f;
        for (int d = 0; d < 3; d++)
            to[3 * at + d] = v[d] == 0 ? 0 : sign * v[d]; /* no -0 */
    }
    memset(to + 3 * count, 0, 3 * (size_t)(max_fibers - count) * sizeof *to);
    return count;
}

/* A field with memory for its counts, and no vectors yet. */
static hot_status begin(hot_context *context, const hot_grid *grid, int max_fibers, hot_fiber_field **fibers)
{
    *fibers = NULL;
    if (max_fibers < 1 || max_fibers > 255)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a fibre field holds 1 to 255 fibres per voxel, not %d",
                                max_fibers);
    const size_t voxels = hot_grid_voxels(grid);
    if (!voxels)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a fibre field of %zu x %zu x %zu voxels cannot be",
                                grid->size[0], grid->size[1], grid->size[2]);
    hot_fiber_field *field = hot_context_calloc(context, 1, sizeof *field);
    if (!field)
        return HOT_ERROR_MEMORY;
    *field = (hot_fiber_field){.context = context, .grid = *grid, .max_fibers = max_fibers};
    field->counts = hot_context_alloc(context, voxels, 1);
    if (!field->counts)
        hot_fiber_field_destroy(&field);
    *fibers = field;
    return field ? HOT_OK : HOT_ERROR_MEMORY;
}

/* The vectors of `peaks` (which may be the field's own) in order, and their counts. */
static hot_status take_in_order(hot_fiber_field *field, const float *peaks)
{
    enum { BLOCK = 4096 };
    hot_context *context = field->context;
    const size_t voxels = hot_grid_voxels(&field->grid), row = 3 * (size_t)field->max_fibers;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t first = 0; first < voxels; first += BLOCK)
        for (size_t voxel = first; voxel < voxels && voxel < first + BLOCK && !hot_context_cancelled(context); voxel++)
            field->counts[voxel] =
                (uint8_t)put_in_order(peaks + voxel * row, field->max_fibers, field->peaks + voxel * row);
    return hot_context_check(context, "ordering fibres");
}

hot_status hot_fiber_field_create(hot_context *context, const hot_grid *grid, int max_fibers, const float *peaks,
                                  hot_fiber_field **fibers)
{
    HOT_ENTRY(context);
    HOT_CLEAR(fibers);
    HOT_NEED(context, grid, peaks, fibers);
    HOT_TRY(hot_grid_check(context, grid));
    HOT_TRY(begin(context, grid, max_fibers, fibers));
    (*fibers)->peaks = hot_context_alloc(context, hot_grid_voxels(grid), 3 * (size_t)max_fibers * sizeof *peaks);
    hot_status status = (*fibers)->peaks ? take_in_order(*fibers, peaks) : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        hot_fiber_field_destroy(fibers);
    return status;
}

hot_status hot_fiber_field_adopt(hot_context *context, const hot_grid *grid, int max_fibers, float **peaks,
                                 hot_fiber_field **fibers)
{
    HOT_TRY(begin(context, grid, max_fibers, fibers));
    (*fibers)->peaks = *peaks;
    *peaks = NULL;
    hot_status status = take_in_order(*fibers, (*fibers)->peaks);
    if (status != HOT_OK)
        hot_fiber_field_destroy(fibers);
    return status;
}

hot_status hot_fiber_field_keep_response(hot_fiber_field *fibers, const hot_response *response, int typical)
{
    hot_status status = response ? hot_response_copy(fibers->context, response, &fibers->response) : HOT_OK;
    if (fibers->response && !typical)
        fibers->response->typical = 1;
    return status;
}

void hot_fiber_field_destroy(hot_fiber_field **fibers)
{
    HOT_DESTROY_BEGIN(hot_fiber_field, fibers);
    HOT_FREE(gone->context, gone->peaks, gone->counts, gone->certainty, gone->probability, gone->cone);
    hot_response_destroy(&gone->response);
    hot_context_free(gone->context, gone);
}

const hot_grid *hot_fiber_field_grid(const hot_fiber_field *fibers) { return fibers ? &fibers->grid : NULL; }

int hot_fiber_field_max(const hot_fiber_field *fibers) { return fibers ? fibers->max_fibers : 0; }

const float *hot_fiber_field_peaks(const hot_fiber_field *fibers) { return fibers ? fibers->peaks : NULL; }

const uint8_t *hot_fiber_field_counts(const hot_fiber_field *fibers) { return fibers ? fibers->counts : NULL; }
