/* Fuzz target: all that is read as text. The first byte says what the rest is: a response, a table of gradients, JSON,
 * tuning of contractions, or the spec of a contraction. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hotfiber/contract.h>
#include <hotfiber/hotfiber.h>

#include "fuzz.h"
#include "io/common/gradient_files.h"
#include "io/common/report.h"

static void read_file(hot_context *context, int kind, const char *text, size_t size)
{
    static int descriptor = -1;
    char path[64];
    if (descriptor < 0)
        descriptor = memfd_create("fuzz_text", 0);
    if (descriptor < 0 || ftruncate(descriptor, 0) != 0 || pwrite(descriptor, text, size, 0) != (ssize_t)size)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (kind == 'r') {
        hot_response *response = NULL;
        if (hot_response_load(context, path, &response) == HOT_OK)
            hot_response_destroy(&response);
    } else {
        cJSON *root = NULL;
        if (hot_report_load(context, path, &root) == HOT_OK) {
            char *again = hot_report_text(root);
            cJSON_free(again);
            cJSON_Delete(root);
        }
    }
}

static void contract(hot_context *context, const char *spec)
{
    static const size_t sizes[] = {2, 3, 2, 3};
    static float a[36], b[36], c[6 * 6 * 36];
    for (int axes = 1; axes <= 4; axes++) {
        const hot_contract_layout x = hot_contract_dense(axes, sizes), y = hot_contract_dense(5 - axes, sizes);
        hot_contract_layout z;
        if (hot_contract_shape(context, spec, &x, &y, &z) == HOT_OK)
            hot_contract_f32(context, NULL, spec, 1, 1, a, &x, b, &y, 0, c, &z);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const hot_context_options options = {.size = sizeof options, .threads = 1};
    hot_context *context = NULL;
    char *text = size ? malloc(size) : NULL; /* of its very size, so that reading past it is seen */
    if (!text || hot_context_create(&options, &context) != HOT_OK) {
        free(text);
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    double *values = NULL;
    size_t rows, columns;
    hot_contract_tuning *tuning = NULL;
    switch (data[0]) {
    case 'r':
    case 'j': read_file(context, data[0], text, size - 1); break;
    case 'g':
        if (hot_table_parse(context, "fuzz", text, &values, &rows, &columns) == HOT_OK)
            hot_context_free(context, values);
        break;
    case 't':
        if (hot_contract_tuning_create(context, text, &tuning) == HOT_OK) {
            char *again = hot_contract_tuning_text(context, tuning);
            hot_context_free(context, again);
            hot_contract_tuning_destroy(context, &tuning);
        }
        break;
    case 'c': contract(context, text); break;
    default: break;
    }
    hot_context_destroy(&context);
    free(text);
    return 0;
}
