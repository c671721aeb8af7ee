/* Fuzz target: bval and bvec files. */
#include "io/common/gradient_files.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hot_context *context;
    char *text;
    if (!fuzz_text_begin(data, size, 0, &context, &text))
        return 0;
    double *values = NULL;
    size_t count = 0;
    if (hot_bval_parse(context, "fuzz", text, &values, &count) == HOT_OK)
        hot_context_free(context, values);
    if (hot_bvec_parse(context, "fuzz", text, &values, &count) == HOT_OK)
        hot_context_free(context, values);
    return fuzz_text_end(&context, text);
}
