/* The options of a command as words, so that it can be run again. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/common/report.h"
#include "run/option_table.h"

static void add_word(cJSON *words, const char *word) { cJSON_AddItemToArray(words, cJSON_CreateString(word)); }

/* A text; that of a file that is there is found from anywhere. */
static void add_text(cJSON *words, const cli_option *option, const char *text)
{
    const int is_file = option->kind == CLI_TEXT && option->value &&
        (strcmp(option->value, "FILE") == 0 || strcmp(option->value, "DWI") == 0);
    char *absolute = is_file ? realpath(text, NULL) : NULL;
    add_word(words, absolute ? absolute : text);
    free(absolute);
}

/* The value as the user could have typed it, without loss. */
static void add_value(cJSON *words, const cli_option *option)
{
    char text[256 * 26] = "";
    const cli_list *list = option->target;
    switch (option->kind) {
    case CLI_FLAG: return;
    case CLI_INT: snprintf(text, sizeof text, "%d", *(const int *)option->target); break;
    case CLI_DOUBLE: snprintf(text, sizeof text, "%.17g", *(const double *)option->target); break;
    case CLI_SIZE: snprintf(text, sizeof text, "%zu", *(const size_t *)option->target); break;
    case CLI_LIST:
        for (size_t i = 0, at = 0; i < list->count && at < sizeof text; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%.17g", i ? "," : "", list->values[i]);
        break;
    default: add_text(words, option, *(const char *const *)option->target); return;
    }
    add_word(words, text);
}

char *cli_record(const cli_option *options, const cli_common *common, unsigned kept_by)
{
    char name[80];
    cJSON *words = cJSON_CreateArray();
    for (const cli_option *option = options; words && option->name; option++) {
        if (!cli_given(option->target) || !(hot_run_option_use(option->name) & kept_by))
            continue;
        snprintf(name, sizeof name, "%s%s", option->name[1] ? "--" : "-", option->name);
        add_word(words, name);
        add_value(words, option);
    }
    add_word(words, "--seed");
    snprintf(name, sizeof name, "%llu", (unsigned long long)hot_context_seed(common->context));
    add_word(words, name);
    char *text = hot_report_line(words);
    cJSON_Delete(words);
    return text;
}

/* What cli_record may have written for a part of a run or for hotfiber learn: options that decide what is found and
 * which files show it. None that replaces, removes or names an output. */
static const struct { const char *name; int flag; } harmless[] = {
    {"-i", 0}, {"--bval", 0}, {"--bvec", 0}, {"--grad", 0}, {"--memory", 0}, {"--mask", 0}, {"--denoise", 1},
    {"--model", 0}, {"--order", 0}, {"--response", 0}, {"--diffusivities", 0}, {"--regularise", 0},
    {"--known_b0", 0}, {"--weights", 0}, {"--positive", 1}, {"--constraint", 0}, {"--kernel", 0}, {"--normalise", 1},
    {"--method", 0}, {"--max_fibers", 0}, {"--threshold", 0}, {"--min_angle", 0}, {"--min_amplitude", 0},
    {"--starts", 0}, {"--shift", 0}, {"--noise_model", 0}, {"--sigma", 0}, {"--samples", 0},
    {"--outputs", 0}, {"--report", 1}, {"--learned", 0}, {"--seed", 0},
    {"--force_table", 1}};

/* A value is not looked at as an option: "-" and numbers below zero are the ones that begin like one. */
static int is_value(const cJSON *word)
{
    const char *text = cJSON_IsString(word) ? word->valuestring : NULL;
    return text && (text[0] != '-' || !text[1] || (text[1] >= '0' && text[1] <= '9') || text[1] == '.');
}

hot_status cli_record_check(hot_context *context, const char *record, const char *from)
{
    enum { OPTIONS = sizeof harmless / sizeof *harmless };
    cJSON *words = hot_report_parse(record, strlen(record));
    const cJSON *word = cJSON_IsArray(words) ? words->child : NULL;
    hot_status status = cJSON_IsArray(words) ? HOT_OK
        : hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' does not say how it was made", from);
    while (word && status == HOT_OK) {
        const char *name = cJSON_IsString(word) ? word->valuestring : "";
        size_t which = 0;
        while (which < OPTIONS && strcmp(harmless[which].name, name) != 0)
            which++;
        word = word->next;
        if (which == OPTIONS)
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not to be trusted: '%s' among the options it "
                                      "was made with is none of what a run finds; make it again", from, name);
        else if (!harmless[which].flag && !is_value(word))
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not to be trusted: the option '%s' it was "
                                      "made with has no value; make it again", from, name);
        else if (!harmless[which].flag)
            word = word->next;
    }
    cJSON_Delete(words);
    return status;
}

int cli_run_again(const cli_command *command, const char *record, int argc, char **argv)
{
    cJSON *words = cJSON_Parse(record), *word;
    char **all = calloc((size_t)(cJSON_GetArraySize(words) + argc + 1), sizeof *all);
    int n = 0, ended = HOT_EXIT_FAILED;
    if (all) {
        all[n++] = argv[0];
        cJSON_ArrayForEach(word, words)
            if (cJSON_IsString(word))
                all[n++] = word->valuestring;
        for (int i = 1; i < argc; i++)
            all[n++] = argv[i];
        ended = cli_run_as(command, n, all);
    }
    free(all);
    cJSON_Delete(words);
    return ended;
}
