/* Images of any format: opening, reading, closing. */
#include <string.h>

#include "core/image.h"
#include "io/common/input.h"
#include "io/common/stream.h"
#include "io/mrtrix/mif_read.h"
#include "io/nifti/nifti_read.h"
#include "io/nrrd/nrrd_read.h"

hot_status hot_image_open_input(hot_context *context, hot_input *input, hot_image *image)
{
    memset(image, 0, sizeof *image);
    image->context = context;
    image->slope = 1;
    image->name = hot_string_copy(context, hot_input_name(input->path));
    if (!image->name)
        return HOT_ERROR_MEMORY;
    hot_status status = input->kind == HOT_FILE_NIFTI ? hot_nifti_open(context, input, image)
                        : input->kind == HOT_FILE_MIF ? hot_mif_open(context, input, image)
                                                      : hot_nrrd_open_image(context, input, image);
    return status;
}

hot_status hot_image_fits(const hot_image *image)
{
    return hot_memory_check(image->context, image->name, "its samples",
                            (double)image->samples * (double)hot_sample_bytes(image->sample));
}

hot_status hot_image_open(hot_context *context, const char *path, hot_image *image)
{
    hot_input input;
    memset(image, 0, sizeof *image);
    hot_status status = hot_input_open(context, path, &input);
    if (status == HOT_OK)
        status = hot_image_open_input(context, &input, image);
    hot_input_close(context, &input);
    return hot_file_read_failed(context, status);
}

hot_status hot_image_read(hot_image *image)
{
    hot_context *context = image->context;
    if (image->data)
        return HOT_OK;
    HOT_TRY(hot_image_fits(image));
    image->data = hot_context_alloc(context, image->samples, hot_sample_bytes(image->sample));
    return image->data ? image->read(image, image->data) : HOT_ERROR_MEMORY;
}

hot_status hot_image_load_all(hot_context *context, const char *path, hot_image *image)
{
    hot_status status = hot_image_open(context, path, image);
    return status == HOT_OK ? hot_image_read(image) : status;
}

void hot_image_close(hot_image *image)
{
    hot_context *context = image->context;
    if (!context)
        return;
    if (image->reader)
        image->close(image);
    for (size_t i = 0; i < image->file_count; i++)
        hot_context_free(context, image->files[i]);
    HOT_FREE(context, image->files, image->name, image->position, image->data);
    memset(image, 0, sizeof *image);
}
