/* Fuzz target: words of a command line. The first line says of what: a subcommand with options of every kind, the
 * module, or a text that an option takes (a shift, a size of memory, names of outputs); the others are the words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hotfiber/hotfiber.h>

#include "cli/cli.h"
#include "fibers/method.h"
#include "fuzz.h"
#include "module/module.h"
#include "run/outputs.h"

enum { WORDS = 40 };

static const cli_command command = {"demo", "a command", "-i FILE [options]", "A description.\n\nExample: demo", 2};

static void parse_command(int argc, char **argv)
{
    static int flag, whole;
    static size_t count;
    static double number;
    static const char *input, *choice, *memory;
    static cli_list list;
    static const cli_option table[] = {
        {"i", CLI_TEXT, &input, "FILE", "input", 0, 0},
        {"verbose", CLI_FLAG, &flag, NULL, "a flag", 0, 0},
        {"order", CLI_INT, &whole, "N", "order", 2, 8},
        {"count", CLI_SIZE, &count, "N", "count", 1, 1e12},
        {"threshold", CLI_DOUBLE, &number, "X", "a number", 0, 1},
        {"offset", CLI_DOUBLE, &number, "X", "without bounds", 0, 0},
        {"model", CLI_CHOICE, &choice, "adc|odf|fod", "model", 0, 0},
        {"angles", CLI_LIST, &list, "A,B", "list", 0, 90},
        {"memory", CLI_TEXT, &memory, "SIZE", "memory", 0, 0},
        CLI_END,
    };
    cli_common common;
    size_t bytes;
    input = choice = memory = NULL;
    if (cli_parse(&command, table, argc, argv, &common) >= 0)
        return;
    if (whole && cli_given(&whole) && (whole < 2 || whole > 8))
        abort(); /* bounds hold for whatever was taken */
    if (cli_given(&number) && number != number)
        abort();
    for (size_t i = 0; cli_given(&list) && i < list.count; i++)
        if (!(list.values[i] >= 0 && list.values[i] <= 90))
            abort();
    if (cli_memory_read(&command, &common, memory, "-", &bytes) < 0)
        hot_context_destroy(&common.context);
}

static void parse_module(int argc, char **argv)
{
    hot_module_values values;
    hot_module_request request;
    char message[MODULE_MESSAGE];
    if (hot_module_parse(argc, argv, 0, &values, &request, message) == 0 && !request.xml && !request.version &&
        !request.help && (!(values.threshold >= -1 && values.threshold <= 1) || values.max_fibers < 0))
        abort();
}

static void parse_texts(int argc, char **argv)
{
    const hot_context_options settings = {.size = sizeof settings, .threads = 1};
    hot_context *context = NULL;
    if (hot_context_create(&settings, &context) != HOT_OK)
        return;
    for (int i = 1; i < argc; i++) {
        hot_shift shift;
        double alpha;
        hot_run_outputs set;
        const hot_fit_options fit = HOT_FIT_OPTIONS_INIT;
        const hot_peaks_options peaks = HOT_PEAKS_OPTIONS_INIT;
        const hot_signal_find_options signal = HOT_SIGNAL_FIND_OPTIONS_INIT;
        const hot_run_options options = {.size = sizeof options, .outputs = argv[i], .fit = &fit, .peaks = &peaks,
                                         .signal = &signal};
        (void)hot_shift_parse(argv[i], &shift, &alpha);
        (void)hot_run_outputs_choose(context, &options, hot_peaks_method_find("signal"), &set);
    }
    hot_context_destroy(&context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere; /* what the parser says; sanitizers and fuzzers write to the descriptor */
    char *text = size ? malloc(size + 1) : NULL, *words[WORDS + 1];
    int argc = 0;
    if (!nowhere) {
        nowhere = fopen("/dev/null", "w");
        if (!nowhere || !freopen("/dev/null", "r", stdin))
            abort();
        stderr = stdout = nowhere;
    }
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *at = text; at && argc < WORDS;) {
        words[argc++] = at;
        at = strchr(at, '\n');
        if (at)
            *at++ = '\0';
    }
    words[argc] = NULL;
    switch (text[0]) {
    case 'c': parse_command(argc, words); break;
    case 'm': parse_module(argc, words); break;
    case 't': parse_texts(argc, words); break;
    default: break;
    }
    free(text);
    return 0;
}
