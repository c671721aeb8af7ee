/* Fuzz target: a DWI as MIF, also as a mask of itself, from a file in the current folder. */
#include <stdio.h>

#include <hotfiber/hotfiber.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hot_context *context = NULL;
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    FILE *file = fopen("fuzz.mif", "wb");
    if (!file)
        return 0;
    size_t written = fwrite(data, 1, size, file);
    if (fclose(file) != 0 || written != size || !(context = fuzz_context(NULL)))
        return 0;
    if (hot_dwi_load(context, "fuzz.mif", NULL, NULL, &dwi) == HOT_OK &&
        hot_mask_load(context, "fuzz.mif", hot_dwi_grid(dwi), &mask) == HOT_OK)
        hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    fuzz_context_end(&context);
    return 0;
}
