/* Common code of the image readers. */
#include "image.h"

#include <string.h>

#include "grid_match.h"

static const char *const content_words[] = {
    [HOT_CONTENT_PEAKS] = "peaks", [HOT_CONTENT_DYADS] = "dyads", [HOT_CONTENT_SH] = "sh",
    [HOT_CONTENT_TENSOR] = "tensor", [HOT_CONTENT_RGB] = "rgb", [HOT_CONTENT_DWI] = "dwi", [HOT_CONTENT_MAP] = "map",
};

const char *hot_content_word(hot_content content) { return content_words[content]; }

hot_content hot_content_find(const char *word)
{
    for (int c = HOT_CONTENT_UNKNOWN + 1; word && c <= HOT_CONTENT_MAP; c++)
        if (strcmp(content_words[c], word) == 0)
            return (hot_content)c;
    return HOT_CONTENT_UNKNOWN;
}

hot_status hot_image_add_file(hot_image *image, const char *path)
{
    const size_t count = image->file_count;
    char *copy = hot_string_copy(image->context, path);
    if (!copy)
        return HOT_ERROR_MEMORY;
    if ((count & (count - 1)) == 0) { /* the capacity is the next power of two */
        char **grown = hot_context_alloc(image->context, count ? 2 * count : 1, sizeof *grown);
        if (!grown) {
            hot_context_free(image->context, copy);
            return HOT_ERROR_MEMORY;
        }
        if (count)
            memcpy(grown, image->files, count * sizeof *grown);
        hot_context_free(image->context, image->files);
        image->files = grown;
    }
    image->files[image->file_count++] = copy;
    return HOT_OK;
}

hot_status hot_image_check_values(const hot_image *image)
{
    return image->values <= HOT_IMAGE_VALUES_MAX
        ? HOT_OK
        : hot_context_fail(image->context, HOT_ERROR_FORMAT, "'%s': %zu values per voxel; at most %d are read",
                           image->name, image->values, (int)HOT_IMAGE_VALUES_MAX);
}

void hot_image_warn_unplaced(const hot_image *image)
{
    if (!hot_grid_placed(&image->grid))
        hot_context_log(image->context, HOT_LOG_WARNING,
                        "'%s' has no position (no sform, qform or space): its axes are read as right, anterior, "
                        "superior; if that is wrong, directions are wrong", image->name);
}

hot_status hot_image_check_one_list(const hot_image *image, const char *what)
{
    return image->value_axes <= 1
        ? HOT_OK
        : hot_context_fail(image->context, HOT_ERROR_FORMAT,
                           "'%s' has its %zu values per voxel along %d axes; %s lie along one, the fourth", image->name,
                           image->values, image->value_axes, what);
}

hot_status hot_image_is_contiguous(hot_image *image)
{
    const size_t voxels = hot_grid_voxels(&image->grid), one = hot_sample_bytes(image->sample);
    if (voxels == 0 || image->values == 0 || voxels > SIZE_MAX / 2 / one / image->values)
        return hot_context_fail(image->context, HOT_ERROR_FORMAT, "'%s': its sizes are more than memory can address",
                                image->name);
    if (hot_image_check_values(image) != HOT_OK)
        return HOT_ERROR_FORMAT;
    image->samples = voxels * image->values;
    image->stride[0] = 1;
    image->stride[1] = image->grid.size[0];
    image->stride[2] = image->grid.size[0] * image->grid.size[1];
    image->position = hot_context_alloc(image->context, image->values, sizeof *image->position);
    if (!image->position)
        return HOT_ERROR_MEMORY;
    for (size_t value = 0; value < image->values; value++)
        image->position[value] = value * voxels;
    return HOT_OK;
}
