/* Fuzz target: a DWI as NRRD, header, keys and data. */
#define _GNU_SOURCE
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "fuzz.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int descriptor = -1;
    static const char path[] = "nrrd.link";
    if (descriptor < 0)
        descriptor = fuzz_file(path);
    if (descriptor < 0 || ftruncate(descriptor, 0) != 0 || pwrite(descriptor, data, size, 0) != (ssize_t)size)
        return 0;
    hot_context *context = fuzz_context(NULL);
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    if (!context)
        return 0;
    if (hot_dwi_load(context, path, NULL, NULL, &dwi) == HOT_OK && hot_dwi_volumes(dwi) < 200) {
        hot_dwi_highest_order(context, dwi, -1);
        if (hot_mask_load(context, path, hot_dwi_grid(dwi), &mask) == HOT_OK)
            hot_mask_destroy(&mask);
    }
    hot_dwi_destroy(&dwi);
    fuzz_context_end(&context);
    return 0;
}
