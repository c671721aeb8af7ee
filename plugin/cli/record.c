/* The options of a command as words, so that it can be run again. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/common/report.h"
#include "run/option_table.h"

static void add_word(cJSON *words, const char *word) { cJSON_AddItemToArray(words, cJSON_CreateString(word)); }

/* A text; the path of an existing file becomes absolute. */
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

char *cli_record_write(const cli_option *options, const cli_common *common, unsigned kept_by)
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

/* Whether a word is the value of an option: "-" and numbers below zero are the ones that begin like one. */
static int is_value(const cJSON *word)
{
    const char *text = cJSON_IsString(word) ? word->valuestring : NULL;
    return text && (text[0] != '-' || !text[1] || (text[1] >= '0' && text[1] <= '9') || text[1] == '.');
}

/* The option of a word: one that cli_record_write may have written; none that replaces, removes or names an output. */
static int is_kept(const char *word, int *is_flag)
{
    const char *name = word + strspn(word, "-");
    const hot_run_row *row;
    *is_flag = 0;
    for (size_t i = 0; (row = hot_run_row_at(i)); i++)
        if (row->help && strcmp(row->option, name) == 0 && (row->use & (HOT_PART_KEEPS | HOT_MODEL_KEEPS)) &&
            name - word == (name[0] && name[1] ? 2 : 1)) {
            *is_flag = row->type == HOT_IS_FLAG;
            return 1;
        }
    return strcmp(word, "--seed") == 0;
}

hot_status cli_record_read(hot_context *context, const char *text, const char *from, cli_record *record)
{
    static cJSON *words; /* the options' texts */
    words = hot_report_parse(text, strlen(text));
    const cJSON *word = cJSON_IsArray(words) ? words->child : NULL;
    char **all = record->argv = calloc((size_t)cJSON_GetArraySize(words) + 2, sizeof *all);
    if (!all)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory");
    if (!cJSON_IsArray(words))
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' does not say how it was made", from);
    for (record->argc = 1; word; word = word->next) {
        const char *name = cJSON_IsString(word) ? word->valuestring : "";
        int is_flag;
        if (!is_kept(name, &is_flag))
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' cannot be trusted: it has the option '%s', which "
                                    "does not decide a result; make it again", from, name);
        all[record->argc++] = word->valuestring;
        if (!is_flag && !is_value(word->next))
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not to be trusted: the option '%s' it was "
                                    "made with has no value; make it again", from, name);
        if (!is_flag)
            all[record->argc++] = (word = word->next)->valuestring;
    }
    return HOT_OK;
}
