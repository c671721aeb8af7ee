/* Sets beside the scene's own: directions, tensors or harmonics in separate panes, each a scene on the same grid. */
#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "common/free.h"
#include "scene_images.h"

/* Rows of `from`, one per voxel of its grid, at the nearest voxels of `scene`; 0 outside. Returns how many voxels are
 * inside, and in *apart the largest distance to them, in voxels along an axis. */
static size_t take_rows(const hot_scene *scene, const hot_scene *from, size_t row, const float *values, float *to,
                        double *apart)
{
    size_t inside = 0;
    for (size_t v = 0; v < scene->voxels; v++, to += row) {
        double ras[3], at[3];
        int voxel[3];
        hot_scene_index_to_ras(scene, v, ras);
        if (hot_scene_voxel_at(from, ras, voxel)) {
            memset(to, 0, row * sizeof *to);
            continue;
        }
        memcpy(to, values + hot_scene_index(from, voxel) * row, row * sizeof *to);
        hot_scene_from_ras(from, ras, at);
        for (int d = 0; d < 3; d++)
            *apart = fmax(*apart, fabs(at[d] - voxel[d]));
        inside++;
    }
    return inside;
}

/* A copy of `rows` values per voxel on the scene's grid; NULL without memory. */
static float *copy_rows(const hot_scene *scene, const hot_scene *from, size_t row, const float *values, size_t *inside,
                        double *apart)
{
    float *to = hot_context_alloc(scene->context, scene->voxels, row * sizeof *to);
    if (to)
        *inside = take_rows(scene, from, row, values, to, apart);
    return to;
}

static hot_status move_tensors(const hot_scene *scene, const hot_scene *from, const hot_grid *grid, size_t *inside,
                               double *apart, hot_tensor_field **tensors)
{
    const size_t row = 1 + hot_symtensor_count(from->order, 3);
    float *values = copy_rows(scene, from, row, from->tensors, inside, apart);
    if (!values)
        return HOT_ERROR_MEMORY;
    const hot_status status = hot_tensor_field_create(scene->context, grid, from->order,
                                                      from->diffusion ? "adc" : "odf", values, tensors);
    hot_context_free(scene->context, values);
    return status;
}

static hot_status move_fibers(const hot_scene *scene, const hot_scene *from, const hot_grid *grid, size_t *inside,
                              double *apart, hot_fiber_field **fibers)
{
    const size_t max_fibers = (size_t)from->max_fibers;
    float *values = copy_rows(scene, from, 3 * max_fibers, from->peaks, inside, apart), *certainty = NULL;
    hot_status status = values ? hot_fiber_field_create(scene->context, grid, from->max_fibers, values, fibers)
                               : HOT_ERROR_MEMORY;
    if (status == HOT_OK && from->certainty) {
        certainty = copy_rows(scene, from, max_fibers, from->certainty, inside, apart);
        status = certainty ? hot_fiber_field_set_certainty(scene->context, *fibers, certainty) : HOT_ERROR_MEMORY;
    }
    HOT_FREE(scene->context, values, certainty);
    return status;
}

/* Replaces a set on another grid by one on the scene's: grids that differ by the order or direction of their axes
 * alone keep all values, others are resampled by the nearest voxel. */
static hot_status move_set(hot_scene *scene, const char *path, hot_scene **set)
{
    static const double SAME = 0.02; /* of a voxel */
    const hot_scene *from = *set;
    hot_tensor_field *tensors = NULL;
    hot_fiber_field *fibers = NULL;
    hot_scene *moved = NULL;
    hot_grid grid = scene->grid;
    size_t inside = 0;
    double apart = 0;
    grid.space = from->grid.space; /* vectors stay in their own space, and the grid is given in it */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            grid.to_world[r][c] = from->sign[r] * scene->to_ras[r][c];
    hot_status status = from->order ? move_tensors(scene, from, &grid, &inside, &apart, &tensors) : HOT_OK;
    if (status == HOT_OK && from->max_fibers)
        status = move_fibers(scene, from, &grid, &inside, &apart, &fibers);
    if (status == HOT_OK && !inside)
        status = hot_context_fail(scene->context, HOT_ERROR_DATA, "'%s' does not overlap the first set: their grids "
                                  "have no voxel in common", path);
    if (status == HOT_OK)
        status = hot_scene_from_fields(
            scene->context, &(const hot_view_fields){.size = sizeof(hot_view_fields), .tensors = tensors,
                                                     .fibers = fibers}, &moved);
    if (status != HOT_OK) {
        hot_tensor_field_destroy(&tensors);
        hot_fiber_field_destroy(&fibers);
        return status;
    }
    hot_scene_own_fields(moved, tensors, fibers, NULL);
    if (apart > SAME)
        hot_context_log(scene->context, HOT_LOG_NOTE, "'%s' is on another grid: each voxel shows the nearest there, "
                        "up to %.2g voxels away", path, apart);
    hot_scene_destroy(set);
    *set = moved;
    return HOT_OK;
}

hot_status hot_scene_load_set(hot_scene *scene, const char *path, const char *as, hot_scene **set)
{
    const char *held = as;
    double half = 0;
    int same = 1;
    hot_status status = HOT_OK;
    *set = NULL;
    if (scene->basis[0] || scene->frame[0]) /* of the scene's harmonics: for harmonics here, too */
        status = as ? HOT_OK : hot_file_content(scene->context, path, &held);
    const int harmonics = status == HOT_OK && held && strcmp(held, "sh") == 0;
    if (status == HOT_OK)
        status = hot_scene_load_with(scene->context, &path, 1,
                                     &(const hot_scene_reading){
                                         .content = as, .basis = harmonics && scene->basis[0] ? scene->basis : NULL,
                                         .frame = harmonics && scene->frame[0] ? scene->frame : NULL}, set);
    if (status == HOT_OK && !(*set)->order && !(*set)->max_fibers)
        status = hot_context_fail(scene->context, HOT_ERROR_ARGUMENT, "'%s' holds neither directions nor tensors: only "
                                  "these can be shown beside others", path);
    for (int d = 0; d < 3 && status == HOT_OK; d++)
        same &= (*set)->grid.size[d] == scene->grid.size[d];
    const double apart = status == HOT_OK && same ? hot_grids_apart(&scene->grid, &(*set)->grid, &half) : HUGE_VAL;
    if (status == HOT_OK && !(apart <= 0.04 * half))
        status = move_set(scene, path, set);
    if (status != HOT_OK) {
        hot_scene_destroy(set);
        return status;
    }
    (*set)->images = scene;
    (*set)->mask = scene->mask;
    return HOT_OK;
}
