/* Arguments of the module: the table, and reading argv by it. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/entry.h"
#include "module.h"

#define AT(name) offsetof(hot_module_values, name)
#define GROUP(label, about, advanced)
#define END_GROUP
#define ARGUMENT(name, type, suffixes, label, about) {#name, MODULE_INPUT, AT(name), suffixes, NULL, 0, 0, about},
#define CHANNEL(channel) (channel[0] == 'o' ? MODULE_OUTPUT : MODULE_INPUT)
#define IMAGE(name, type, channel, suffixes, label, about)                                                             \
    {#name, CHANNEL(channel), AT(name), suffixes, NULL, 0, 0, about},
#define GEOMETRY(name, type, channel, suffixes, label, about)                                                          \
    {#name, CHANNEL(channel), AT(name), suffixes, NULL, 0, 0, about},
#define PATH(name, channel, suffixes, label, about) {#name, CHANNEL(channel), AT(name), suffixes, NULL, 0, 0, about},
#define HIDDEN(name, about) {#name, MODULE_SWITCH, AT(name), "hidden", NULL, 0, 0, about},
#define F(word) #word "|"
#define E(word) F(word)
#define FLAG(group, member, option, use, shown, label, help)                                                           \
    {#option, MODULE_SWITCH, AT(option), NULL, NULL, 0, 0, help},
#define CHOICE(group, member, option, kind, use, shown, preset, label, help, words)                                    \
    {#option, MODULE_CHOICE, AT(option), words, preset, 0, 0, help},
#define NUMBER(group, member, option, use, shown, value, low, high, step, label, help)                                 \
    {#option, MODULE_NUMBER, AT(option), NULL, "-1", -1, high, help},
#define COUNT(group, member, option, kind, use, shown, low, high, label, help)                                         \
    {#option, MODULE_INTEGER, AT(option), NULL, "0", 0, high, help},
#define WORD(group, member, option, kind, use, shown, value, preset, label, help)                                      \
    {#option, MODULE_WORD, AT(option), NULL, preset, 0, 0, help},
#define PAIR(group, member, second, option, use, shown, value, low, high, step, label, help)                           \
    {#option, MODULE_PAIR, AT(option), NULL, "0,0", 0, high, help},
#define FILE_OPTION(group, member, option, kind, use, shown, value, suffixes, label, help)                             \
    PATH(option, "input", suffixes, label, help)
#define IMAGE_OPTION FILE_OPTION

static const hot_module_parameter parameters[] = {
#include "parameters.inc"
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

const hot_module_parameter *hot_module_parameters(size_t *count)
{
    *count = PARAMETERS;
    return parameters;
}

static int refuse(char message[MODULE_MESSAGE], const char *format, ...) HOT_PRINTF(2, 3);
static int refuse(char message[MODULE_MESSAGE], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, MODULE_MESSAGE, format, arguments);
    va_end(arguments);
    return 1;
}

/* "a|b|c|" as "a, b or c". */
static void list_words(const char *words, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = words; *at && used < size;) {
        const size_t length = strcspn(at, "|");
        const char *join = used == 0 ? "" : at[length + 1] == '\0' ? " or " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", join, (int)length, at);
        at += length + 1;
    }
}

static int is_word(const char *words, const char *text)
{
    const size_t length = strlen(text);
    for (const char *at = words; *at; at += strcspn(at, "|") + 1)
        if (strcspn(at, "|") == length && strncmp(at, text, length) == 0)
            return 1;
    return 0;
}

/* One number up to the end of the text or to `until`, within the bounds; NULL when it is none. */
static const char *number(const hot_module_parameter *parameter, const char *text, char until, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || !isfinite(*value) || *value < parameter->low || *value > parameter->high)
        return NULL;
    while (isspace((unsigned char)*end))
        end++;
    return *end == until ? end : NULL;
}

static int store(const hot_module_parameter *parameter, const char *text, hot_module_values *values,
                 char message[MODULE_MESSAGE])
{
    void *target = (char *)values + parameter->offset;
    const char *end;
    double value[2];
    char words[256];
    switch (parameter->kind) {
    case MODULE_INPUT:
    case MODULE_OUTPUT:
        if (strncmp(text, "slicer:", 7) == 0)
            return refuse(message,
                          "%s: '%.200s' is a volume in the host's memory; HotFiber reads and writes files (its "
                          "parameter AllowInMemoryTransfer says so)",
                          parameter->name, text);
        if (strcmp(text, "-") == 0)
            return refuse(message, "%s: '-' is not a file; a module reads no standard input", parameter->name);
        *(const char **)target = text;
        return 0;
    case MODULE_WORD:
        *(const char **)target = text;
        return 0;
    case MODULE_CHOICE:
        list_words(parameter->words, words, sizeof words);
        if (!is_word(parameter->words, text))
            return refuse(message, "%s: '%.200s' is not %s", parameter->name, text, words);
        *(const char **)target = text;
        return 0;
    case MODULE_INTEGER:
        if (!number(parameter, text, '\0', value) || value[0] != floor(value[0]))
            return refuse(message, "%s: '%.200s' is not a whole number from %.10g to %.10g", parameter->name, text,
                          parameter->low, parameter->high);
        *(int *)target = (int)value[0];
        return 0;
    case MODULE_NUMBER:
        if (!number(parameter, text, '\0', value))
            return refuse(message, "%s: '%.200s' is not a number from %.10g to %.10g", parameter->name, text,
                          parameter->low, parameter->high);
        *(double *)target = value[0];
        return 0;
    case MODULE_PAIR:
        end = number(parameter, text, ',', &value[0]);
        if (!end || !number(parameter, end + 1, '\0', &value[1]))
            return refuse(message, "%s: '%.200s' is not two numbers from %.10g to %.10g with a comma between them",
                          parameter->name, text, parameter->low, parameter->high);
        memcpy(target, value, sizeof value);
        return 0;
    case MODULE_SWITCH:
        break;
    }
    *(int *)target = 1;
    return 0;
}

/* `-` and `_` are the same, as in the command. */
static int same_name(const char *known, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (known[i] != name[i] && !(known[i] == '_' && name[i] == '-'))
            return 0;
    return known[length] == '\0';
}

static const hot_module_parameter *find(const char *name, size_t length)
{
    for (size_t i = 1; i < PARAMETERS; i++) /* the first has no flag */
        if (same_name(parameters[i].name, name, length))
            return &parameters[i];
    return NULL;
}

static int ends_in(const char *path, const char *suffixes)
{
    const size_t length = strlen(path);
    for (const char *at = suffixes; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        const size_t part = strcspn(at, ",");
        if (length > part && strncmp(path + length - part, at, part) == 0)
            return 1;
    }
    return 0;
}

/* Whether there is something to read and something to write. Which options go together is checked with the run. */
static int check_files(const hot_module_values *values, char message[MODULE_MESSAGE])
{
    int outputs = 0;
    if (!values->dwi || !values->dwi[0])
        return refuse(message, "dwi: no diffusion-weighted volume was given");
    for (size_t i = 0; i < PARAMETERS; i++) {
        const char *path = parameters[i].kind == MODULE_OUTPUT
            ? *(char *const *)((const char *)values + parameters[i].offset)
            : NULL;
        if (!path || !path[0])
            continue;
        outputs++;
        if (!ends_in(path, parameters[i].words))
            return refuse(message, "%s: '%.400s' must end in one of %s", parameters[i].name, path, parameters[i].words);
    }
    if (outputs == 0)
        return refuse(message, "fibers, dec, peaks, nfibers, tissues, tensors, report: at least one of these outputs "
                               "is needed");
    return 0;
}

/* A plain argument: the volume. Short options, of which we have none, and "--" are ignored. */
static int parse_plain(const char *text, int own_process, hot_module_values *values, char message[MODULE_MESSAGE])
{
    if (!text[0] || (text[0] == '-' && text[1] && !text[2]))
        return 0;
    if (values->dwi && !own_process)
        return refuse(message, "dwi: one volume is taken, '%.200s'; what is '%.200s'?", values->dwi, text);
    return values->dwi ? 0 /* hosts append a value that we do not need */
                       : store(&parameters[0], text, values, message);
}

static int is(const char *word, const char *name, size_t length)
{
    return length == strlen(word) && strncmp(name, word, length) == 0;
}

/* Options that are not parameters. *skip: whether the next argument is this one's value. *maybe: the value of an
 * unknown option, which is our volume if no other argument is. */
static void parse_other(const char *text, size_t length, const char *value, int equals, hot_module_request *request,
                        int *skip, const char **maybe)
{
    const char *name = text + 2;
    *skip = 0;
    if (is("xml", name, length))
        request->xml = 1;
    else if (is("version", name, length))
        request->version = 1;
    else if (is("help", name, length))
        request->help = 1;
    else if (is("processinformationaddress", name, length) || is("returnparameterfile", name, length))
        *skip = !equals; /* we have no return parameters */
    else {
        if (!request->unknown[0])
            snprintf(request->unknown, sizeof request->unknown, "%.*s", 2 + (int)length, text);
        *skip = !equals && value && value[0] != '-';
        if (*skip)
            *maybe = value;
    }
}

static int parse_flag(int argc, char *const *argv, int *at, hot_module_values *values, hot_module_request *request,
                      const char **maybe, char message[MODULE_MESSAGE])
{
    const char *text = argv[*at], *name = text + 2, *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const char *value = equals ? equals + 1 : *at + 1 < argc ? argv[*at + 1] : NULL;
    const hot_module_parameter *parameter = find(name, length);
    int skip = !equals;
    if (!parameter) {
        parse_other(text, length, value, equals != NULL, request, &skip, maybe);
        *at += skip;
        return 0;
    }
    if (parameter->kind == MODULE_SWITCH)
        return store(parameter, "", values, message);
    if (!value)
        return refuse(message, "%s: its value is missing", parameter->name);
    *at += skip;
    if (!value[0] && (parameter->kind == MODULE_INPUT || parameter->kind == MODULE_OUTPUT))
        return 0; /* a file that was not chosen */
    return store(parameter, value, values, message);
}

static int parse(int argc, char *const *argv, int own_process, hot_module_values *values, hot_module_request *request,
                 char message[MODULE_MESSAGE])
{
    /* The process information first, so that a bad value can be reported to the host. */
    for (int i = 1; i + 1 < argc && argv[i + 1] && own_process; i++)
        if (strcmp(argv[i], "--processinformationaddress") == 0) {
            void *address = NULL;
            if (sscanf(argv[i + 1], "%p", &address) == 1)
                request->process = address;
        }
    const char *maybe = NULL;
    int bad = 0;
    for (int i = 1; i < argc && argv[i] && !bad; i++) {
        const int is_flag = argv[i][0] == '-' && argv[i][1] == '-' && argv[i][2];
        bad = is_flag ? parse_flag(argc, argv, &i, values, request, &maybe, message)
                      : parse_plain(argv[i], own_process, values, message);
    }
    if (!bad && !values->dwi && maybe)
        bad = store(&parameters[0], maybe, values, message);
    return bad || request->xml || request->version || request->help ? bad : check_files(values, message);
}

int hot_module_parse(int argc, char *const *argv, int own_process, hot_module_values *values,
                     hot_module_request *request, char message[MODULE_MESSAGE])
{
    memset(values, 0, sizeof *values);
    memset(request, 0, sizeof *request);
    message[0] = '\0';
    HOT_ENTRY(NULL); /* a German desktop would read 0.5 as 0 */
    int bad = 0;
    for (size_t i = 0; i < PARAMETERS && !bad; i++)
        bad = parameters[i].preset ? store(&parameters[i], parameters[i].preset, values, message) : 0;
    if (!bad)
        bad = parse(argc, argv, own_process, values, request, message);
    return bad;
}
