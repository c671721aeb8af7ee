/* Fibre directions in NRRD: 3N values per voxel; read from any tool that writes 3N values, or, in 5-D, an axis of 3
 * values, or of an amplitude and a unit vector, and an axis of fibres. */
#include "nrrd_directions.h"

#include "nrrd_frame.h"
#include "nrrd_image.h"
#include "response_keys.h"

hot_status hot_nrrd_save_directions(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    const hot_nrrd_values values = {.grid = &fibers->grid, .data = fibers->peaks,
                                    .per = {3 * (size_t)fibers->max_fibers}, .label = "directions", .in_world = 1,
                                    .content = HOT_CONTENT_PEAKS,
                                    .kind = fibers->max_fibers == 1 ? HOT_NRRD_VECTOR : HOT_NRRD_LIST};
    Nrrd *nrrd = NULL;
    hot_status status = hot_nrrd_wrap_values(context, &values, &nrrd);
    if (status == HOT_OK)
        status = hot_nrrd_set_key(context, nrrd, "hotfiber_version", hot_version());
    if (status == HOT_OK) /* what the lengths are relative to */
        status = hot_nrrd_set_response(context, nrrd, fibers->response);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, 0);
    nrrdNix(nrrd);
    return status;
}

/* Where a NRRD keeps what: sample of a value, fibre and voxel at value * values + fibre * fibers_step
 * + voxel strides. */
struct layout {
    unsigned int space[3];
    size_t step[3];      /* of the three space axes */
    size_t value, fiber; /* steps from one value of a vector to the next, from one fibre to the next */
    size_t fibers;
    int amplitude;       /* vectors are preceded by their amplitude */
};

static hot_status find_layout(hot_context *context, const char *path, const Nrrd *nrrd, struct layout *layout)
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
            layout->space[spaces] = axis;
            layout->step[spaces++] = step[axis];
        } else
            other[others++] = axis;
    }
    if (spaces != 3) { /* nothing said, or nonsense: the usual order */
        others = nrrd->dim - 3;
        for (unsigned int axis = 0; axis < nrrd->dim; axis++) {
            if (axis < others)
                other[axis] = axis;
            else
                layout->space[axis - others] = axis, layout->step[axis - others] = step[axis];
        }
    }
    size_t first = nrrd->axis[other[0]].size;
    layout->value = step[other[0]];
    layout->amplitude = 0;
    if (nrrd->dim == 4) {
        layout->fiber = 3 * layout->value;
        layout->fibers = first / 3;
    } else {
        layout->fiber = step[other[1]];
        layout->fibers = nrrd->axis[other[1]].size;
        layout->amplitude = first == 4;
    }
    int fits = nrrd->dim == 4 ? first % 3 == 0 : first == 3 || first == 4;
    if (!fits || layout->fibers < 1 || layout->fibers > 255)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' holds no directions: axis %u has %zu values, where 3 per fibre were expected",
                                path, other[0], first);
    if (nrrd->type == nrrdTypeBlock)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has samples of type block", path);
    return HOT_OK;
}

static void copy_directions(const Nrrd *nrrd, const struct layout *layout, const hot_grid *grid, float *peaks)
{
    float (*lookup)(const void *, size_t) = nrrdFLookup[nrrd->type];
    double frame[3][3];
    int turned = hot_nrrd_get_frame(nrrd, frame);
    for (size_t k = 0; k < grid->size[2]; k++)
        for (size_t j = 0; j < grid->size[1]; j++)
            for (size_t i = 0; i < grid->size[0]; i++)
                for (size_t fiber = 0; fiber < layout->fibers; fiber++, peaks += 3) {
                    size_t at = i * layout->step[0] + j * layout->step[1] + k * layout->step[2] + fiber * layout->fiber;
                    double amplitude = 1, v[3];
                    if (layout->amplitude) {
                        amplitude = lookup(nrrd->data, at);
                        at += layout->value;
                    }
                    for (int d = 0; d < 3; d++)
                        v[d] = amplitude * lookup(nrrd->data, at + (size_t)d * layout->value);
                    for (int d = 0; d < 3; d++)
                        peaks[d] = (float)(turned ? frame[d][0] * v[0] + frame[d][1] * v[1] + frame[d][2] * v[2]
                                                  : v[d]);
                }
}

hot_status hot_nrrd_take_directions(hot_context *context, const char *path, Nrrd **from, hot_fiber_field **fibers)
{
    float *peaks = NULL;
    hot_response *response = NULL;
    hot_grid grid;
    struct layout layout;
    hot_status status = find_layout(context, path, *from, &layout);
    if (status == HOT_OK) {
        status = hot_nrrd_get_grid(context, *from, layout.space, &grid);
        if (status != HOT_OK)
            status = hot_context_add(context, status, "in '%s'", path);
    }
    if (status != HOT_OK)
        return status;
    peaks = hot_context_alloc(context, hot_grid_voxels(&grid), layout.fibers * 3 * sizeof *peaks);
    if (!peaks)
        return HOT_ERROR_MEMORY;
    copy_directions(*from, &layout, &grid, peaks);
    status = hot_nrrd_get_response(context, path, *from, &response);
    hot_nrrd_free(context, *from);
    *from = NULL;
    if (status == HOT_OK)
        status = hot_fiber_field_create(context, &grid, (int)layout.fibers, peaks, fibers);
    if (status == HOT_OK) {
        (*fibers)->response = response;
        response = NULL;
    }
    hot_response_destroy(&response);
    hot_context_free(context, peaks);
    return status;
}
