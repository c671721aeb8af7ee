/* Fibre directions out and in: NRRD in the grid's own space, NIfTI in scanner RAS; by the file's name. Written with
 * 3N values per voxel; read from any tool that writes 3N values (or, in 5-D NRRD, an axis of 3 values, or of an
 * amplitude and a unit vector, and an axis of fibres). */
#include <math.h>
#include <string.h>

#include "core/fields.h"
#include "io/nrrd/nrrdio.h"
#include "directions_check.h"
#include "io/nifti/nifti_volume.h"
#include "io/nrrd/nrrd_frame.h"

/* ---- Saving ---------------------------------------------------------------------------------------------- */

static hot_status save_nifti(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    hot_nifti_writer writer;
    size_t voxels = hot_grid_voxels(&fibers->grid), row = 3 * (size_t)fibers->max_fibers;
    double sign[3];
    hot_space_ras_sign(fibers->grid.space, sign);
    float *volume = hot_context_alloc(context, voxels, sizeof *volume);
    if (!volume)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_nifti_begin(context, path, &fibers->grid, row, DT_FLOAT32, 0, 0, &writer);
    for (size_t value = 0; status == HOT_OK && value < row; value++) {
        float flip = (float)sign[value % 3];
        const float *from = fibers->peaks + value;
        for (size_t voxel = 0; voxel < voxels; voxel++)
            volume[voxel] = from[voxel * row] == 0 ? 0 : flip * from[voxel * row];
        status = hot_nifti_write(context, &writer, volume, voxels * sizeof *volume);
    }
    status = hot_nifti_end(context, &writer, status);
    hot_context_free(context, volume);
    return status;
}

static hot_status save_nrrd(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    Nrrd *nrrd = NULL;
    const size_t *size = fibers->grid.size;
    const size_t sizes[4] = {3 * (size_t)fibers->max_fibers, size[0], size[1], size[2]};
    hot_status status = hot_nrrd_wrap(context, fibers->peaks, nrrdTypeFloat, 4, sizes, &nrrd);
    if (status != HOT_OK)
        goto cleanup;
    nrrd->axis[0].kind = fibers->max_fibers == 1 ? nrrdKind3Vector : nrrdKindList;
    nrrd->axis[0].label = airStrdup("directions");
    status = hot_nrrd_set_grid(context, nrrd, 1, &fibers->grid);
    if (status != HOT_OK)
        goto cleanup;
    hot_nrrd_set_identity_frame(nrrd);
    status = hot_nrrd_set_key(context, nrrd, "hotfiber_version", hot_version());
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, 0);
cleanup:
    nrrdNix(nrrd);
    return status;
}

hot_status hot_fiber_field_save(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    return hot_path_is_nifti(path) ? save_nifti(context, fibers, path) : save_nrrd(context, fibers, path);
}

/* ---- Loading --------------------------------------------------------------------------------------------- */

static hot_status load_nifti(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    nifti_image *image = NULL;
    float *volume = NULL, *peaks = NULL;
    hot_grid grid;
    hot_status status = hot_directions_check_tables(context, path);
    if (status == HOT_OK)
        status = hot_nifti_load(context, path, &image);
    if (status != HOT_OK)
        return status;
    hot_nifti_grid(image, &grid);
    size_t voxels = hot_grid_voxels(&grid), row = voxels ? (size_t)image->nvox / voxels : 0;
    if (row < 3 || row % 3 != 0 || row > 3 * 255) {
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' holds no directions: %zu volumes, where 3 per fibre were expected", path, row);
        goto cleanup;
    }
    peaks = hot_context_alloc(context, voxels, row * sizeof *peaks);
    volume = hot_context_alloc(context, voxels, sizeof *volume);
    if (!peaks || !volume) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t value = 0; value < row; value++) {
        status = hot_nifti_floats(context, image, path, value * voxels, voxels, volume);
        if (status != HOT_OK)
            goto cleanup;
        for (size_t voxel = 0; voxel < voxels; voxel++)
            peaks[voxel * row + value] = volume[voxel];
    }
    status = hot_directions_check_values(context, path, peaks, voxels, row / 3);
    if (status == HOT_OK)
        status = hot_fiber_field_create(context, &grid, (int)(row / 3), peaks, fibers);
cleanup:
    nifti_image_free(image);
    hot_context_free(context, volume);
    hot_context_free(context, peaks);
    return status;
}

/* Where a NRRD keeps what: sample of a value, fibre and voxel at value * values + fibre * fibers_step
 * + voxel strides. */
struct plan {
    unsigned int space[3];
    size_t step[3];      /* of the three space axes */
    size_t value, fiber; /* steps from one value of a vector to the next, from one fibre to the next */
    size_t fibers;
    int amplitude;       /* vectors are preceded by their amplitude */
};

/* Files that have as many values as directions would, but say that they are something else. */
static hot_status check_content(hot_context *context, const char *path, const Nrrd *nrrd)
{
    int tensors = 0;
    for (unsigned int axis = 0; axis < nrrd->dim; axis++) {
        const char *label = nrrd->axis[axis].label;
        int kind = nrrd->axis[axis].kind;
        tensors |= (label && strncmp(label, "tijk", 4) == 0) || kind == nrrdKind3DSymMatrix ||
                   kind == nrrdKind3DMaskedSymMatrix;
    }
    if (tensors)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' holds tensors, not directions: `hotfiber peaks` finds these in them, and "
                                "`hotfiber export --format glyphs` (or ply, sh) takes them as they are", path);
    char *modality = nrrdKeyValueGet(nrrd, "modality");
    int dwi = modality && strcmp(modality, "DWMRI") == 0;
    airFree(modality);
    if (dwi)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' holds diffusion-weighted data, not directions; `hotfiber run` goes from one to "
                                "the other", path);
    return HOT_OK;
}

static hot_status make_plan(hot_context *context, const char *path, const Nrrd *nrrd, struct plan *plan)
{
    unsigned int other[NRRD_DIM_MAX], others = 0, spaces = 0;
    size_t step[NRRD_DIM_MAX], total = 1;
    if (nrrd->dim != 4 && nrrd->dim != 5)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' has %u axes; directions have 4 (3 values per fibre, then i j k)", path,
                                nrrd->dim);
    for (unsigned int axis = 0; axis < nrrd->dim; axis++) {
        step[axis] = total;
        total *= nrrd->axis[axis].size;
        int spatial = nrrd->spaceDim
            ? airExists(nrrd->axis[axis].spaceDirection[0])
            : nrrd->axis[axis].kind == nrrdKindSpace || nrrd->axis[axis].kind == nrrdKindDomain;
        if (spatial && spaces < 3) {
            plan->space[spaces] = axis;
            plan->step[spaces++] = step[axis];
        } else
            other[others++] = axis;
    }
    if (spaces != 3) { /* nothing said, or nonsense: the usual order */
        others = nrrd->dim - 3;
        for (unsigned int axis = 0; axis < nrrd->dim; axis++) {
            if (axis < others)
                other[axis] = axis;
            else
                plan->space[axis - others] = axis, plan->step[axis - others] = step[axis];
        }
    }
    size_t first = nrrd->axis[other[0]].size;
    plan->value = step[other[0]];
    plan->amplitude = 0;
    if (nrrd->dim == 4) {
        plan->fiber = 3 * plan->value;
        plan->fibers = first / 3;
    } else {
        plan->fiber = step[other[1]];
        plan->fibers = nrrd->axis[other[1]].size;
        plan->amplitude = first == 4;
    }
    int fits = nrrd->dim == 4 ? first % 3 == 0 : first == 3 || first == 4;
    if (!fits || plan->fibers < 1 || plan->fibers > 255)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' holds no directions: axis %u has %zu values, where 3 per fibre were expected",
                                path, other[0], first);
    if (nrrd->type == nrrdTypeBlock)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has samples of type block", path);
    return HOT_OK;
}

static void copy_directions(const Nrrd *nrrd, const struct plan *plan, const hot_grid *grid, float *peaks)
{
    float (*lookup)(const void *, size_t) = nrrdFLookup[nrrd->type];
    double frame[3][3];
    int turned = hot_nrrd_get_frame(nrrd, frame);
    for (size_t k = 0; k < grid->size[2]; k++)
        for (size_t j = 0; j < grid->size[1]; j++)
            for (size_t i = 0; i < grid->size[0]; i++)
                for (size_t fiber = 0; fiber < plan->fibers; fiber++, peaks += 3) {
                    size_t at = i * plan->step[0] + j * plan->step[1] + k * plan->step[2] + fiber * plan->fiber;
                    double amplitude = 1, v[3];
                    if (plan->amplitude) {
                        amplitude = lookup(nrrd->data, at);
                        at += plan->value;
                    }
                    for (int d = 0; d < 3; d++)
                        v[d] = amplitude * lookup(nrrd->data, at + (size_t)d * plan->value);
                    for (int d = 0; d < 3; d++)
                        peaks[d] = (float)(turned ? frame[d][0] * v[0] + frame[d][1] * v[1] + frame[d][2] * v[2]
                                                  : v[d]);
                }
}

static hot_status load_nrrd(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    Nrrd *nrrd = NULL;
    float *peaks = NULL;
    hot_grid grid;
    struct plan plan;
    hot_status status = hot_nrrd_load(context, path, &nrrd);
    if (status == HOT_OK)
        status = check_content(context, path, nrrd);
    if (status == HOT_OK)
        status = make_plan(context, path, nrrd, &plan);
    if (status != HOT_OK)
        goto cleanup;
    status = hot_nrrd_get_grid(context, nrrd, plan.space, &grid);
    if (status != HOT_OK) {
        status = hot_context_add(context, status, "in '%s'", path);
        goto cleanup;
    }
    peaks = hot_context_alloc(context, hot_grid_voxels(&grid), plan.fibers * 3 * sizeof *peaks);
    if (!peaks) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    copy_directions(nrrd, &plan, &grid, peaks);
    nrrdNuke(nrrd);
    nrrd = NULL;
    status = hot_directions_check_values(context, path, peaks, hot_grid_voxels(&grid), plan.fibers);
    if (status == HOT_OK)
        status = hot_fiber_field_create(context, &grid, (int)plan.fibers, peaks, fibers);
cleanup:
    hot_context_free(context, peaks);
    nrrdNuke(nrrd);
    return status;
}

hot_status hot_fiber_field_load(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    *fibers = NULL;
    return hot_path_is_nifti(path) ? load_nifti(context, path, fibers) : load_nrrd(context, path, fibers);
}
