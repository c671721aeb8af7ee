/* Tensor fields as NRRD: axis 0 = confidence and unique values, labelled as Teem's tijk library names such tensors,
 * then i j k. The model's parameters are key/values that begin with "hotfiber_". */
#include <stdlib.h>
#include <string.h>

#include "nrrd_frame.h"
#include "nrrd_tensors.h"
#include "nrrd_image.h"
#include "response_keys.h"
#include "tensor_frame.h"

/* The orders a file can hold, with the name of their layout: with the confidence first, and without. */
static const struct layout {
    int order;
    size_t unique;
    int masked_kind, plain_kind; /* kinds of Teem's own for order 2; a list for the others */
    const char *masked, *plain;
} layouts[] = {
    {2, 6, nrrdKind3DMaskedSymMatrix, nrrdKind3DSymMatrix, "tijk_mask_2o3d_sym", "tijk_2o3d_sym"},
    {4, 15, nrrdKindList, nrrdKindList, "tijk_mask_4o3d_sym", "tijk_4o3d_sym"},
    {6, 28, nrrdKindList, nrrdKindList, "tijk_mask_6o3d_sym", "tijk_6o3d_sym"},
    {8, 45, nrrdKindList, nrrdKindList, "tijk_mask_8o3d_sym", "tijk_8o3d_sym"},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static const struct layout *layout_of_order(int order)
{
    for (int i = 0; i < LAYOUTS; i++)
        if (layouts[i].order == order)
            return &layouts[i];
    return NULL;
}

/* ---- Saving ---------------------------------------------------------------------------------------------- */

static hot_status set_keys(hot_context *context, Nrrd *nrrd, const hot_tensor_field *field)
{
    char number[32];
    hot_status status = hot_nrrd_set_key(context, nrrd, "hotfiber_version", hot_version());
    if (status == HOT_OK)
        status = hot_nrrd_set_key(context, nrrd, "hotfiber_model", field->model);
    snprintf(number, sizeof number, "%d", field->order);
    if (status == HOT_OK)
        status = hot_nrrd_set_key(context, nrrd, "hotfiber_order", number);
    snprintf(number, sizeof number, "%zu", field->flagged);
    if (status == HOT_OK)
        status = hot_nrrd_set_key(context, nrrd, "hotfiber_flagged", number);
    snprintf(number, sizeof number, "%.4g %.4g", field->recovered[0], field->recovered[1]);
    if (status == HOT_OK && field->judged)
        status = hot_nrrd_set_key(context, nrrd, "hotfiber_recovered", number);
    return status == HOT_OK ? hot_nrrd_set_response(context, nrrd, field->response) : status;
}

hot_status hot_nrrd_save_tensors(hot_context *context, const hot_tensor_field *field, const char *path)
{
    hot_status status = HOT_OK;
    Nrrd *nrrd = NULL;
    const struct layout *layout = layout_of_order(field->order);
    if (!layout)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tensors of order %d cannot be saved; 2, 4, 6 and 8 can",
                                field->order);
    const hot_nrrd_values values = {.grid = &field->grid, .data = field->values, .per = {1 + layout->unique},
                                    .label = layout->masked, .in_world = 1, .content = HOT_CONTENT_TENSOR};
    HOT_TRY(hot_nrrd_wrap_values(context, &values, &nrrd));
    nrrd->axis[0].kind = layout->masked_kind;
    status = set_keys(context, nrrd, field);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, 0);
    nrrdNix(nrrd);
    return status;
}

/* ---- Loading --------------------------------------------------------------------------------------------- */

/* Matrices of order 2 that are stored whole, as Slicer's: row by row. */
enum { WHOLE_MATRIX = 9 };
static const unsigned char upper_triangle[6] = {0, 1, 2, 4, 5, 8};

/* Which layout axis 0 has; *masked says whether the confidence comes first. */
static hot_status find_layout(hot_context *context, const char *path, const Nrrd *nrrd, const struct layout **layout,
                              int *masked)
{
    const char *label = nrrd->axis[0].label;
    *layout = NULL;
    if (nrrd->dim != 4)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' has %u axes; tensors have 4 (the values, then i j k)", path, nrrd->dim);
    if (nrrd->axis[0].size == WHOLE_MATRIX || nrrd->axis[0].size == WHOLE_MATRIX + 1) {
        *layout = &layouts[0];
        *masked = nrrd->axis[0].size == WHOLE_MATRIX + 1;
    }
    for (int i = 0; i < LAYOUTS; i++) {
        int with = nrrd->axis[0].size == layouts[i].unique + 1, without = nrrd->axis[0].size == layouts[i].unique;
        if (!with && !without)
            continue;
        const char *name = with ? layouts[i].masked : layouts[i].plain;
        if (label && strncmp(label, "tijk", 4) == 0 && strcmp(label, name) != 0)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': axis 0 is labelled '%s' but has %zu values", path,
                                    label, nrrd->axis[0].size);
        *layout = &layouts[i];
        *masked = with;
    }
    if (!*layout)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' holds no tensors: axis 0 has %zu values, where 7, 16, 29 or 46 (order 2, 4, 6, 8 "
                                "with a confidence) or one less were expected", path, nrrd->axis[0].size);
    if (nrrd->type == nrrdTypeBlock)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has samples of type block", path);
    return HOT_OK;
}

/* A whole number key: its value, -1 when absent. */
static hot_status get_count_key(hot_context *context, const char *path, const Nrrd *nrrd, const char *key, long *value)
{
    char *text, *end;
    *value = -1;
    hot_status status = hot_nrrd_find_key(context, nrrd, key, &text);
    if (!text)
        return status;
    *value = strtol(text, &end, 10);
    if (end == text || *end || *value < 0)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': key %s is '%s', not a count", path, key, text);
    hot_context_free(context, text);
    return status;
}

/* Shares of simulated voxels whose number of fibres the maxima tell; a text that is none says nothing. */
static hot_status get_recovered(hot_context *context, const Nrrd *nrrd, hot_tensor_field *field)
{
    char *text, *end;
    const hot_status status = hot_nrrd_find_key(context, nrrd, "hotfiber_recovered", &text);
    if (!text)
        return status;
    const double one = strtod(text, &end), two = strtod(end, NULL);
    field->judged = one >= 0 && one <= 1 && two >= 0 && two <= 1 && end != text;
    field->recovered[0] = one, field->recovered[1] = two;
    hot_context_free(context, text);
    hot_tensor_field_warn(context, field);
    return HOT_OK;
}

static hot_status get_keys(hot_context *context, const char *path, const Nrrd *nrrd, hot_tensor_field *field)
{
    long order, flagged;
    HOT_TRY(get_count_key(context, path, nrrd, "hotfiber_order", &order));
    HOT_TRY(get_count_key(context, path, nrrd, "hotfiber_flagged", &flagged));
    if (order >= 0 && order != field->order)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': key hotfiber_order is %ld but axis 0 has order %d",
                                path, order, field->order);
    field->flagged = flagged < 0 ? 0 : (size_t)flagged;
    char *model;
    hot_status status = hot_nrrd_find_key(context, nrrd, "hotfiber_model", &model);
    if (model && strlen(model) >= sizeof field->model)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': key hotfiber_model is too long for a model's name",
                                  path);
    else
        strcpy(field->model, model ? model : "unknown");
    hot_context_free(context, model);
    if (status == HOT_OK)
        status = get_recovered(context, nrrd, field);
    if (status == HOT_OK)
        status = hot_nrrd_get_response(context, path, nrrd, &field->response);
    return status;
}

/* The samples as floats, with a confidence in front of each tensor. In files without confidence, every tensor other
 * than 0 counts as fitted. */
static void copy_values(const Nrrd *nrrd, const struct layout *layout, int masked, size_t voxels, float *values)
{
    const size_t row = layout->unique + 1, from_row = nrrd->axis[0].size, before = masked ? 1 : 0;
    const int whole = from_row - before == WHOLE_MATRIX;
    float (*lookup)(const void *, size_t) = nrrdFLookup[nrrd->type];
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        float *to = values + voxel * row;
        int any = 0;
        for (size_t i = 0; i < layout->unique; i++) {
            const size_t at = whole ? upper_triangle[i] : i;
            to[1 + i] = lookup(nrrd->data, voxel * from_row + before + at);
            any |= to[1 + i] != 0;
        }
        to[0] = masked ? lookup(nrrd->data, voxel * from_row) : any ? 1.0f : 0.0f;
    }
}

/* Moves the values into the field and frees the rest. Files in our own layout need a whole brain's tensors in memory
 * only once, other files twice for a moment. */
static hot_status take_values(Nrrd *nrrd, const struct layout *layout, int masked, size_t voxels,
                              hot_tensor_field *field)
{
    const size_t row = layout->unique + 1;
    if (masked && nrrd->type == nrrdTypeFloat && nrrd->axis[0].size == row) {
        field->values = nrrd->data;
        nrrdNix(nrrd);
        return HOT_OK;
    }
    field->values = hot_context_alloc(field->context, voxels, row * sizeof *field->values);
    if (field->values)
        copy_values(nrrd, layout, masked, voxels, field->values);
    hot_nrrd_free(field->context, nrrd);
    return field->values ? HOT_OK : HOT_ERROR_MEMORY;
}

hot_status hot_nrrd_take_tensors(hot_context *context, const char *path, Nrrd **from, hot_tensor_field **field)
{
    Nrrd *nrrd = *from;
    hot_tensor_field *made = NULL;
    const struct layout *layout;
    int masked = 0;
    *field = NULL;
    hot_status status = find_layout(context, path, nrrd, &layout, &masked);
    if (status != HOT_OK)
        return status;

    made = hot_context_calloc(context, 1, sizeof *made);
    if (!made) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    made->context = context;
    made->order = layout->order;
    const unsigned int axes[3] = {1, 2, 3};
    status = hot_nrrd_get_grid(context, nrrd, axes, &made->grid);
    if (status != HOT_OK)
        status = hot_context_add(context, status, "in '%s'", path);
    if (status == HOT_OK)
        status = get_keys(context, path, nrrd, made);
    if (status != HOT_OK)
        goto cleanup;
    size_t voxels = hot_grid_voxels(&made->grid), row = layout->unique + 1;
    double frame[3][3];
    int turned = hot_nrrd_get_frame(nrrd, frame);
    status = take_values(nrrd, layout, masked, voxels, made);
    *from = NULL;
    if (status != HOT_OK)
        goto cleanup;
    if (turned)
        status = hot_tensor_frame_apply(context, made->order, (const double (*)[3])frame, voxels, made->values, row);
    if (status != HOT_OK)
        goto cleanup;
    for (size_t voxel = 0; voxel < voxels; voxel++)
        made->fitted += made->values[voxel * row] > 0;
    *field = made;
    made = NULL;
cleanup:
    hot_tensor_field_destroy(&made);
    return status;
}
