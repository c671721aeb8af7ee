/* See array.h. */
#include "array.h"

#include <string.h>

hot_status cli_array_double(hot_context *context, const Nrrd *nrrd, size_t count, double **values)
{
    double (*lookup)(const void *, size_t) = nrrd->type == nrrdTypeBlock ? NULL : nrrdDLookup[nrrd->type];
    if (!lookup)
        return hot_context_fail(context, HOT_ERROR_DATA, "values of type block are not numbers");
    *values = hot_context_alloc(context, count, sizeof **values);
    if (!*values)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        (*values)[i] = lookup(nrrd->data, i);
    return HOT_OK;
}

hot_status cli_array_wrap(hot_context *context, const Nrrd *input, unsigned int from, const void *values, int type,
                          unsigned int own, const size_t *sizes, Nrrd **wrapped)
{
    size_t all[NRRD_DIM_MAX];
    int axis_map[NRRD_DIM_MAX];
    Nrrd *nrrd = NULL;
    *wrapped = NULL;
    unsigned int axes = own + input->dim - from;
    if (axes > NRRD_DIM_MAX)
        return hot_context_fail(context, HOT_ERROR_DATA, "the result would have %u axes; %d can be written", axes,
                                NRRD_DIM_MAX);
    for (unsigned int a = 0; a < axes; a++) {
        all[a] = a < own ? sizes[a] : input->axis[from + a - own].size;
        axis_map[a] = a < own ? -1 : (int)(from + a - own);
    }
    HOT_TRY(hot_nrrd_wrap(context, values, type, axes, all, &nrrd));
    if (nrrdAxisInfoCopy(nrrd, input, axis_map, NRRD_AXIS_INFO_SIZE_BIT) == 0 && input->spaceDim) {
        /* The batch keeps its place in the world. */
        nrrd->space = input->space;
        nrrd->spaceDim = input->spaceDim;
        memcpy(nrrd->spaceOrigin, input->spaceOrigin, sizeof nrrd->spaceOrigin);
    }
    for (unsigned int a = 0; a < own; a++)
        nrrd->axis[a].kind = nrrdKindList;
    hot_status status = hot_nrrd_set_key(context, nrrd, "hotfiber_version", hot_version());
    if (status != HOT_OK)
        nrrdNix(nrrd);
    else
        *wrapped = nrrd;
    return status;
}

hot_status cli_array_save(hot_context *context, const Nrrd *input, unsigned int from, const void *values, int type,
                          unsigned int own, const size_t *sizes, const char *path)
{
    Nrrd *nrrd;
    hot_status status = cli_array_wrap(context, input, from, values, type, own, sizes, &nrrd);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, 0);
    nrrdNix(nrrd);
    return status;
}
