#include "nrrd_read.h"

#include <math.h>
#include <string.h>

#include "nrrd_file.h"
#include "response_keys.h"

static int is_space(const Nrrd *nrrd, unsigned int axis, int directed)
{
    const int kind = nrrd->axis[axis].kind;
    return directed ? isfinite(nrrd->axis[axis].spaceDirection[0])
                    : kind == nrrdKindSpace || kind == nrrdKindDomain;
}

/* The axes of space of an array that does not say which they are: all of up to three; of more, those longer than one
 * sample (the others are left over by cropping) or, where these are more than three, the last three, as Teem and
 * this program lay values out. */
static unsigned int guess_axes(const Nrrd *nrrd, int values_first, unsigned int axes[3])
{
    unsigned int found = 0, longer = values_first ? 4 : 0;
    for (unsigned int axis = 0; axis < nrrd->dim; axis++)
        longer += nrrd->axis[axis].size != 1;
    for (unsigned int axis = 0; axis < nrrd->dim; axis++)
        if (nrrd->dim <= 3 || (longer <= 3 ? nrrd->axis[axis].size != 1 : axis + 3 >= nrrd->dim))
            axes[found++] = axis;
    return found;
}

static unsigned int find_axes(const Nrrd *nrrd, int values_first, unsigned int axes[3])
{
    for (int directed = nrrd->spaceDim >= 3; directed >= 0; directed--) {
        unsigned int found = 0;
        for (unsigned int axis = 0; axis < nrrd->dim; axis++)
            if (is_space(nrrd, axis, directed) && found++ < 3)
                axes[found - 1] = axis;
        if (found == 3)
            return 3;
    }
    return guess_axes(nrrd, values_first, axes);
}

/* Geometry of an array of fewer than three axes: the sizes alone. */
static hot_status set_grid(const Nrrd *nrrd, const unsigned int *axes, unsigned int found, hot_image *image)
{
    hot_grid *grid = &image->grid;
    if (found == 3) {
        hot_status status = hot_nrrd_get_grid(image->context, nrrd, axes, grid);
        return status == HOT_OK ? HOT_OK : hot_context_add(image->context, status, "in '%s'", image->name);
    }
    for (unsigned int axis = 0; axis < 3; axis++) {
        grid->size[axis] = axis < found ? nrrd->axis[axes[axis]].size : 1;
        grid->to_world[axis][axis] = 1;
    }
    return HOT_OK;
}

static hot_status read_samples(hot_image *image, void *data)
{
    return hot_nrrd_read(image->context, image->reader, data);
}

static void close_reader(hot_image *image)
{
    hot_nrrd_close(image->context, image->reader);
    hot_context_free(image->context, image->reader);
}

/* The content by an axis' kind and label. */
static hot_content content_of_axis(int kind, const char *label)
{
    switch (kind) {
    case nrrdKind3DSymMatrix:
    case nrrdKind3DMaskedSymMatrix:
    case nrrdKind3DMatrix:
    case nrrdKind3DMaskedMatrix:
        return HOT_CONTENT_TENSOR;
    case nrrdKind3Vector:
    case nrrdKind3Gradient:
    case nrrdKind3Normal:
        return HOT_CONTENT_PEAKS;
    case nrrdKind3Color:
    case nrrdKind4Color:
    case nrrdKindRGBColor:
    case nrrdKindHSVColor:
    case nrrdKindXYZColor:
    case nrrdKindRGBAColor:
        return HOT_CONTENT_RGB;
    default:
        return label && strncmp(label, "tijk", 4) == 0 ? HOT_CONTENT_TENSOR : HOT_CONTENT_UNKNOWN;
    }
}

/* The content by the header: by an axis' kind, other programs' axis labels, our own keys. Kinds come first, because
 * programs copy keys that they do not know. */
static hot_status set_content(const Nrrd *nrrd, hot_image *image)
{
    hot_context *context = image->context;
    char *word = NULL, *map = NULL, *modality = NULL, *phantom = NULL;
    hot_status status = hot_nrrd_find_key(context, nrrd, HOT_NRRD_CONTENT_KEY, &word);
    if (status == HOT_OK)
        status = hot_nrrd_find_key(context, nrrd, "hotfiber_map", &map);
    if (status == HOT_OK)
        status = hot_nrrd_find_key(context, nrrd, "modality", &modality);
    if (status == HOT_OK)
        status = hot_nrrd_find_key(context, nrrd, "hotfiber_phantom_layout", &phantom);
    image->content = HOT_CONTENT_UNKNOWN;
    image->layout = HOT_LAYOUT_WORLD;
    for (unsigned int axis = 0; axis < nrrd->dim && !image->content; axis++) {
        image->content = content_of_axis(nrrd->axis[axis].kind, nrrd->axis[axis].label);
        if (image->content)
            image->content_said = "the kind of its first axis";
    }
    if (modality && strcmp(modality, "DWMRI") == 0) {
        image->content = HOT_CONTENT_DWI;
        image->content_said = "its key modality";
    } else if (!image->content && hot_content_find(word)) {
        image->content = hot_content_find(word);
        image->content_said = "its key " HOT_NRRD_CONTENT_KEY;
    } else if (!image->content && map) {
        image->content = HOT_CONTENT_MAP;
        image->content_said = "its key hotfiber_map";
    } else if (!image->content && nrrd->dim == 5 && nrrd->axis[0].size == 4) {
        image->content = HOT_CONTENT_PEAKS; /* bonndit: an amplitude and a unit vector per fibre */
        image->content_said = "the shape of its axes";
    } else if (!image->content &&
               (phantom || (nrrd->axis[0].label && strcmp(nrrd->axis[0].label, "directions") == 0))) {
        image->content = HOT_CONTENT_PEAKS; /* as this program wrote them before it had the key: truth, and peaks */
        image->content_said = "its header";
    }
    HOT_FREE(context, phantom, word, map, modality);
    return status;
}

/* Grid, values, strides and content; `samples`: how many the array has; values_first: where it does not say which axes
 * are space, it is the last three, however short they are. */
static hot_status describe(const Nrrd *nrrd, size_t samples, int values_first, hot_image *image)
{
    hot_context *context = image->context;
    unsigned int axes[3] = {0, 0, 0};
    size_t stride[NRRD_DIM_MAX] = {0}, total = 1;
    int in_space[NRRD_DIM_MAX] = {0};
    if (!hot_nrrd_to_sample(nrrd->type, &image->sample))
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has samples that are no numbers", image->name);
    const unsigned int found = find_axes(nrrd, values_first, axes);
    hot_status status = set_grid(nrrd, axes, found, image);
    for (unsigned int axis = 0; axis < nrrd->dim; axis++) {
        stride[axis] = total;
        total *= nrrd->axis[axis].size;
        image->value_axes += nrrd->axis[axis].size > 1;
    }
    image->samples = image->values = samples;
    for (unsigned int a = 0; a < found; a++) {
        image->stride[a] = stride[axes[a]];
        image->values /= nrrd->axis[axes[a]].size;
        image->value_axes -= nrrd->axis[axes[a]].size > 1;
        in_space[axes[a]] = 1;
    }
    image->last_values = 1;
    for (unsigned int axis = 0; axis < nrrd->dim; axis++)
        if (!in_space[axis] && nrrd->axis[axis].size > 1)
            image->last_values = nrrd->axis[axis].size;
    if (status == HOT_OK)
        status = hot_image_check_values(image);
    if (status == HOT_OK)
        status = set_content(nrrd, image);
    if (status != HOT_OK)
        return status;
    image->position = hot_context_calloc(context, image->values, sizeof *image->position);
    if (!image->position)
        return HOT_ERROR_MEMORY;
    for (size_t value = 0; value < image->values; value++) {
        size_t rest = value;
        for (unsigned int axis = 0; axis < nrrd->dim; axis++)
            if (!in_space[axis]) {
                image->position[value] += rest % nrrd->axis[axis].size * stride[axis];
                rest /= nrrd->axis[axis].size;
            }
    }
    return HOT_OK;
}

hot_status hot_nrrd_open_image(hot_context *context, hot_input *input, hot_image *image)
{
    hot_nrrd_file *file = hot_context_calloc(context, 1, sizeof *file);
    if (!file)
        return HOT_ERROR_MEMORY;
    image->reader = file;
    image->read = read_samples;
    image->close = close_reader;
    HOT_TRY(hot_nrrd_open_from(context, input->path, hot_input_take_file(input), file));
    HOT_TRY(hot_nrrd_fits(context, file));
    hot_status status = describe(file->nrrd, file->samples, 0, image);
    if (status == HOT_OK)
        status = hot_image_add_file(image, input->path);
    for (size_t i = 0; i < file->count && status == HOT_OK; i++)
        status = hot_image_add_file(image, file->names[i]);
    return status;
}

hot_status hot_nrrd_image(hot_context *context, const char *path, const Nrrd *nrrd, hot_image *image)
{
    memset(image, 0, sizeof *image);
    image->context = context;
    image->slope = 1;
    image->name = hot_string_copy(context, path);
    image->data = nrrd->data;
    return image->name ? describe(nrrd, nrrdElementNumber(nrrd), 1, image) : HOT_ERROR_MEMORY;
}
