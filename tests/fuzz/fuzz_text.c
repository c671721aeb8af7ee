/* Fuzz target: all that is read as text. The first byte says what the rest is: a response, a table of gradients, JSON,
 * tuning of contractions, the spec of a contraction, or what a contraction is tuned for (five numbers). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
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

/* Tunes one shape, and uses the resulting table for a product. */
static void tune(hot_context *context, const char *text)
{
    static float a[64], b[64], c[64];
    int precision = 0;
    size_t size[4] = {0};
    hot_contract_tuning *tuning = NULL;
    const char *chosen = NULL;
    double best, usual;
    if (sscanf(text, "%d %zu %zu %zu %zu", &precision, &size[0], &size[1], &size[2], &size[3]) != 5)
        return;
    for (int i = 0; i < 4; i++)
        if (size[i] > 8 && size[i] <= 4096)
            size[i] %= 8; /* refused values stay */
    if (hot_contract_tuning_create(context, NULL, &tuning) == HOT_OK &&
        hot_contract_tune(context, tuning, precision, size[0], size[1], size[2], size[3] % 9, 0, &chosen, &best,
                          &usual) == HOT_OK) {
        char *table = hot_contract_tuning_text(context, tuning);
        hot_contract_tuning *again = NULL;
        if (table && hot_contract_tuning_create(context, table, &again) == HOT_OK) {
            const hot_contract_options options = {.size = sizeof options, .tuning = again};
            const size_t left[] = {size[0], size[2]}, right[] = {size[2], size[1]}, out[] = {size[0], size[1]};
            const hot_contract_layout x = hot_contract_dense(2, left), y = hot_contract_dense(2, right),
                                      z = hot_contract_dense(2, out);
            (void)hot_contract_f32(context, &options, "ik,kj->ij", 1, 1, a, &x, b, &y, 0, c, &z);
        }
        hot_contract_tuning_destroy(&again);
        hot_context_free(context, table);
    }
    hot_contract_tuning_destroy(&tuning);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hot_context *context;
    char *text;
    if (!fuzz_text_begin(data, size, 1, &context, &text))
        return 0;
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
            hot_contract_tuning_destroy(&tuning);
        }
        break;
    case 'u': tune(context, text); break;
    case 'c': contract(context, text); break;
    default: break;
    }
    return fuzz_text_end(&context, text);
}
