#include "nrrd_values.h"

#include "nrrd_frame.h"
#include "nrrd_image.h"

hot_status hot_nrrd_wrap_values(hot_context *context, const hot_nrrd_values *values, Nrrd **nrrd)
{
    static const int kinds[] = {
        [HOT_NRRD_LIST] = nrrdKindList, [HOT_NRRD_VECTOR] = nrrdKind3Vector, [HOT_NRRD_COLOR] = nrrdKindRGBColor};
    size_t sizes[5];
    unsigned int leading = 0;
    for (; leading < 2 && values->per[leading]; leading++)
        sizes[leading] = values->per[leading];
    for (unsigned int axis = 0; axis < 3; axis++)
        sizes[leading + axis] = values->grid->size[axis];
    hot_status status = hot_nrrd_wrap(context, values->data, values->bytes ? nrrdTypeUChar : nrrdTypeFloat,
                                      leading + 3, sizes, nrrd);
    if (status == HOT_OK)
        status = hot_nrrd_set_grid(context, *nrrd, leading, values->grid);
    if (status != HOT_OK) {
        *nrrd = nrrdNix(*nrrd);
        return status;
    }
    for (unsigned int axis = 0; axis < leading; axis++)
        (*nrrd)->axis[axis].kind = kinds[values->kind];
    if (values->label)
        (*nrrd)->axis[0].label = airStrdup(values->label);
    if (values->in_world)
        hot_nrrd_set_identity_frame(*nrrd);
    if (values->content == HOT_CONTENT_UNKNOWN)
        return HOT_OK;
    status = hot_nrrd_set_key(context, *nrrd, HOT_NRRD_CONTENT_KEY, hot_content_word(values->content));
    if (status != HOT_OK)
        *nrrd = nrrdNix(*nrrd);
    return status;
}

hot_status hot_nrrd_save_values(hot_context *context, const hot_nrrd_values *values, const char *path)
{
    Nrrd *nrrd = NULL;
    hot_status status = hot_nrrd_wrap_values(context, values, &nrrd);
    if (status == HOT_OK && values->key)
        status = hot_nrrd_set_key(context, nrrd, values->key, values->value);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, values->compress);
    nrrdNix(nrrd);
    return status;
}
