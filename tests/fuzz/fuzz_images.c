/* Fuzz target: what the commands read besides data: tensors, directions, harmonics, images, of every format. */
#define _GNU_SOURCE
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char path[] = "images.link";
    if (!fuzz_file(path, "", 0, data, size))
        return 0;
    const hot_sh_options bases[] = {{.size = sizeof *bases, .basis = "tournier07"},
                                    {.size = sizeof *bases, .basis = "descoteaux07", .frame = "image"}};
    hot_context *context = fuzz_context(NULL);
    hot_tensor_field *tensors = NULL;
    hot_fiber_field *fibers = NULL;
    hot_grid grid;
    float *values = NULL;
    if (!context)
        return 0;
    if (hot_tensor_field_load(context, path, &tensors) == HOT_OK)
        hot_tensor_field_destroy(&tensors);
    for (int b = 0; b < 2; b++)
        if (hot_tensor_field_load_sh(context, path, &bases[b], &tensors) == HOT_OK)
            hot_tensor_field_destroy(&tensors);
    if (hot_fiber_field_load(context, path, &fibers) == HOT_OK)
        hot_fiber_field_destroy(&fibers);
    if (hot_image_load(context, path, &grid, &values) == HOT_OK)
        hot_context_free(context, values);
    fuzz_context_end(&context);
    return 0;
}
