/* Fuzz target: bval and bvec files. */
#include <stdlib.h>
#include <string.h>

#include "io/common/gradient_files.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hot_context *context = fuzz_context(NULL);
    char *text = malloc(size + 1); /* of its very size, so that reading past it is seen */
    if (!text || !context) {
        fuzz_context_end(&context);
        free(text);
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    double *values = NULL;
    size_t count = 0;
    if (hot_bval_parse(context, "fuzz", text, &values, &count) == HOT_OK)
        hot_context_free(context, values);
    if (hot_bvec_parse(context, "fuzz", text, &values, &count) == HOT_OK)
        hot_context_free(context, values);
    fuzz_context_end(&context);
    free(text);
    return 0;
}
