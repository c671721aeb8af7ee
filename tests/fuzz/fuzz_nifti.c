/* Fuzz target: a DWI as NIfTI (with a table that fits the corpus). Works on files in the current folder, because
 * niftilib goes by names. */
#include <stdio.h>

#include <hotfiber/hotfiber.h>

#include "fuzz.h"

static int put(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return 0;
    size_t written = fwrite(data, 1, size, file);
    return fclose(file) == 0 && written == size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char b[] = "0 1000 1000\n", g[] = "0 1 0\n0 0 1\n0 0 0\n";
    hot_context *context = NULL;
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    static int tables;
    if (!tables)
        tables = put("fuzz.bval", b, sizeof b - 1) && put("fuzz.bvec", g, sizeof g - 1);
    if (!tables || !put("fuzz.nii", data, size) || !(context = fuzz_context(NULL)))
        return 0;
    if (hot_dwi_load(context, "fuzz.nii", NULL, NULL, &dwi) == HOT_OK &&
        hot_mask_load(context, "fuzz.nii", hot_dwi_grid(dwi), &mask) == HOT_OK)
        hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    fuzz_context_end(&context);
    return 0;
}
