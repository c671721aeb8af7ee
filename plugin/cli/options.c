/* Parsing of options from tables; beginning and end of a subcommand. */
#include "cli.h"
#include "progress.h"
#include "common/backend.h"
#include "common/foreign_text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GIVEN_MAX = 64 };
static struct { const void *target; const char *name; } given[GIVEN_MAX];
static int given_count;
static const cli_option *table; /* of the subcommand that runs */

int cli_given(const void *target)
{
    for (int i = 0; i < given_count; i++)
        if (given[i].target == target)
            return 1;
    return 0;
}

double cli_number(const double *target) { return cli_given(target) && *target == 0 ? HOT_ZERO : *target; }

static int same_name(const char *a, const char *b, size_t length_b)
{
    if (strlen(a) != length_b)
        return 0;
    for (size_t i = 0; i < length_b; i++) {
        char x = a[i] == '_' ? '-' : a[i], y = b[i] == '_' ? '-' : b[i];
        if (x != y)
            return 0;
    }
    return 1;
}

static const cli_option *find_named(const cli_option *options, const char *name, size_t length)
{
    for (const cli_option *option = options; option->name; option++)
        if (same_name(option->name, name, length))
            return option;
    return NULL;
}

int cli_option_given(const void *options, const char *name)
{
    const cli_option *option = find_named(options, name, strlen(name));
    return option && cli_given(option->target);
}

/* The context's message, beginning with the option at fault as the user wrote it: several may set one value. */
static void print_message(FILE *file, const hot_context *context)
{
    const char *parameter = hot_context_parameter(context), *message = hot_context_message(context);
    const cli_option *option = parameter[0] ? find_named(table, parameter, strlen(parameter)) : NULL;
    if (option && strncmp(message, parameter, strlen(parameter)) == 0) {
        const char *name = option->name;
        for (int i = 0; i < given_count; i++)
            name = given[i].target == option->target ? given[i].name : name;
        fprintf(file, "%s%s", name[1] ? "--" : "-", name);
        message += strlen(parameter);
    }
    fputs(message, file);
}

static int usage_error(const cli_command *command, const char *format, ...) HOT_PRINTF(2, 3);

const char *cli_shown(const char *text)
{
    enum { PLACES = 4, LONGEST = 8192 };
    static char place[PLACES][LONGEST];
    static int next;
    char *to = place[next++ % PLACES];
    hot_text_escape(to, LONGEST, text);
    return to;
}

static void usage_error_list(const cli_command *command, const char *format, va_list arguments)
{
    char text[4096];
    vsnprintf(text, sizeof text, format, arguments);
    fprintf(stderr, "hotfiber %s: %s", command->name, cli_shown(text));
    fprintf(stderr, "; see `hotfiber %s --help`\n", command->name);
}

static int usage_error(const cli_command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    usage_error_list(command, format, arguments);
    va_end(arguments);
    return HOT_EXIT_USAGE;
}

void cli_print_bounds(const cli_option *option, char *text, size_t size)
{
    enum { NO_LIMIT = 1000000000 }; /* larger bounds only keep numbers finite: messages do not name them */
    text[0] = '\0';
    if (option->low == option->high)
        return;
    if (option->high < NO_LIMIT)
        snprintf(text, size, " from %.10g to %.10g", option->low, option->high);
    else if (option->low > 0 && option->low < 1e-9)
        snprintf(text, size, " above 0");
    else
        snprintf(text, size, " of at least %.10g", option->low);
}

static int number_error(const cli_command *command, const cli_option *option, const char *text, const char *what)
{
    const char *dashes = option->name[1] ? "--" : "-";
    fprintf(stderr, "hotfiber %s: %s%s needs %s", command->name, dashes, option->name, what);
    char bounds[64];
    cli_print_bounds(option, bounds, sizeof bounds);
    fprintf(stderr, "%s, not '%s'\n", bounds, cli_shown(text));
    return HOT_EXIT_USAGE;
}

static int parse_number(const char *text, const char **end, double *value)
{
    char *stop;
    errno = 0;
    *value = strtod(text, &stop);
    if (stop == text || errno == ERANGE || isnan(*value))
        return 0;
    *end = stop;
    return 1;
}

static int in_bounds(const cli_option *option, double value)
{
    return (option->low == 0 && option->high == 0) || (value >= option->low && value <= option->high);
}

static int is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    while (*choices) {
        size_t part = strcspn(choices, "|");
        if (part == length && strncmp(choices, text, part) == 0)
            return 1;
        choices += part + (choices[part] == '|');
    }
    return 0;
}

/* "a|b|c" reads better as "a, b or c". */
static int choice_error(const cli_command *command, const cli_option *option, const char *text)
{
    char words[256];
    size_t used = 0;
    for (const char *at = option->value; *at && used < sizeof words - 8;) {
        size_t part = strcspn(at, "|");
        int last = at[part] == '\0';
        const char *join = used == 0 ? "" : last ? " or " : ", ";
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%.*s", join, (int)part, at);
        at += part + !last;
    }
    return usage_error(command, "%s%s is %s, not '%s'", option->name[1] ? "--" : "-", option->name, words, text);
}

static int store_whole(const cli_command *command, const cli_option *option, const char *text)
{
    const char *end;
    double value;
    const int is_size = option->kind == CLI_SIZE;
    const double low = is_size ? 0 : -2147483647.0, high = is_size ? 9e15 : 2147483647.0;
    if (!parse_number(text, &end, &value) || *end || value != floor(value) || value < low || value > high ||
        !in_bounds(option, value))
        return number_error(command, option, text, "a whole number");
    if (option->kind == CLI_INT)
        *(int *)option->target = (int)value;
    else
        *(size_t *)option->target = (size_t)value;
    return -1;
}

static int store_number(const cli_command *command, const cli_option *option, const char *text)
{
    const char *end;
    double value;
    if (!parse_number(text, &end, &value) || *end || isinf(value) || !in_bounds(option, value))
        return number_error(command, option, text, "a number");
    *(double *)option->target = value;
    return -1;
}

static int store_list(const cli_command *command, const cli_option *option, const char *text)
{
    cli_list *list = option->target;
    const char *end = "";
    list->count = 0;
    for (const char *at = text; at; at = *end ? end + 1 : NULL) {
        double value;
        if (!parse_number(at, &end, &value) || isinf(value) || !in_bounds(option, value) || (*end && *end != ',') ||
            list->count == sizeof list->values / sizeof list->values[0])
            return number_error(command, option, text, "numbers separated by commas, each");
        list->values[list->count++] = value;
    }
    return -1;
}

static int store_text(const cli_command *command, const cli_option *option, const char *text)
{
    if (option->kind == CLI_CHOICE && !is_choice(option->value, text))
        return choice_error(command, option, text);
    if (!text[0])
        return usage_error(command, "%s%s needs a value (%s), not an empty one", option->name[1] ? "--" : "-",
                           option->name, option->value ? option->value : "VALUE");
    *(const char **)option->target = text;
    return -1;
}

static int store_one_more(const cli_command *command, const cli_option *option, const char *text)
{
    cli_texts *texts = option->target;
    const size_t most = sizeof texts->text / sizeof texts->text[0];
    if (texts->count == most)
        return usage_error(command, "--%s is given more than %zu times", option->name, most);
    const cli_option one = {option->name, CLI_TEXT, &texts->text[texts->count], option->value, NULL, 0, 0};
    const int ended = store_text(command, &one, text);
    texts->count += ended < 0;
    return ended;
}

static int store(const cli_command *command, const cli_option *option, const char *text)
{
    int ended = -1;
    switch (option->kind) {
    case CLI_FLAG: *(int *)option->target = 1; break;
    case CLI_INT: case CLI_SIZE: ended = store_whole(command, option, text); break;
    case CLI_DOUBLE: ended = store_number(command, option, text); break;
    case CLI_LIST: ended = store_list(command, option, text); break;
    case CLI_TEXTS: ended = store_one_more(command, option, text); break;
    default: ended = store_text(command, option, text);
    }
    if (ended < 0 && given_count < GIVEN_MAX) {
        given[given_count].target = option->target;
        given[given_count++].name = option->name;
    }
    return ended;
}

/* The option that `text` ("-i", "--min_angle", "--order=4") names, or NULL. */
static const cli_option *find_option(const cli_option *own, const cli_option *shared, const char *text)
{
    const char *name = text + 1 + (text[1] == '-');
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const cli_option *found = find_named(own, name, length);
    return found ? found : find_named(shared, name, length);
}

static int unknown_option(const cli_command *command, const cli_option *own, const cli_option *shared, const char *text)
{
    char word[64];
    snprintf(word, sizeof word, "%s", text + 1 + (text[1] == '-'));
    word[strcspn(word, "=")] = '\0';
    cli_guess guess;
    cli_guess_begin(&guess, word);
    for (const cli_option *option = own; option->name; option++)
        cli_guess_try(&guess, option->name);
    for (const cli_option *option = shared; option->name; option++)
        cli_guess_try(&guess, option->name);
    if (access(text, F_OK) == 0)
        return usage_error(command, "there is no option '%s'; for the file of this name write ./%s", text, text);
    if (guess.best)
        return usage_error(command, "there is no option '%s'; did you mean %s%s", text, guess.best[1] ? "--" : "-",
                           guess.best);
    return usage_error(command, "there is no option '%s'", text);
}

/* auto, cpu, cuda, cuda:N; reference is for tests. */
static int parse_device(const char *text, hot_context_options *settings)
{
    settings->device_number = -1;
    if (strcmp(text, "auto") == 0) {
        settings->device = HOT_DEVICE_AUTO;
    } else if (strcmp(text, "cpu") == 0) {
        settings->device = HOT_DEVICE_CPU;
    } else if (strcmp(text, "reference") == 0) {
        settings->device = HOT_DEVICE_REFERENCE;
    } else if (strcmp(text, "cuda") == 0) {
        settings->device = HOT_DEVICE_CUDA;
    } else if (strncmp(text, "cuda:", 5) == 0 && text[5] >= '0' && text[5] <= '9' && strlen(text) < 9) {
        char *end;
        settings->device = HOT_DEVICE_CUDA;
        settings->device_number = (int)strtol(text + 5, &end, 10);
        return *end == '\0';
    } else {
        return 0;
    }
    return 1;
}

/* An explicit GPU needs a driver, which is checked before anything is read. The GPU itself is checked on first use: the
 * driver takes .2 s to start, and hot_run reads meanwhile. */
static hot_status check_device(hot_context *context, const char *text)
{
    if (hot_context_device(context) != HOT_DEVICE_CUDA || hot_cuda_has_driver())
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_DEVICE,
                            "--device %s: no GPU that CUDA can use was found; --device cpu needs none", text);
}

/* Parses one word that begins with a dash, and the next as its value if it needs one. fill: options that were given
 * before are skipped. Returns -1 on success. */
static int parse_option(const cli_command *command, const cli_option *options, const cli_option *shared, int argc,
                        char **argv, int *at, int fill)
{
    const char *text = argv[*at], *equals = strchr(text, '='), *value = NULL;
    const cli_option *found = find_option(options, shared, text);
    if (!found)
        return unknown_option(command, options, shared, text);
    const char *dashes = found->name[1] ? "--" : "-", *wanted = found->value ? found->value : "VALUE";
    if (found->kind == CLI_FLAG) {
        if (equals)
            return usage_error(command, "%s%s takes no value", dashes, found->name);
    } else if (equals) {
        value = equals + 1;
    } else if (*at + 1 < argc) {
        value = argv[++*at];
        if (value[0] == '-' && value[1] != '\0' && find_option(options, shared, value))
            return usage_error(command, "%s%s needs a value (%s), and the option '%s' follows it", dashes,
                               found->name, wanted, value);
    } else {
        return usage_error(command, "%s%s needs a value (%s)", dashes, found->name, wanted);
    }
    return fill && cli_given(found->target) ? -1 : store(command, found, value);
}

/* A word that is no option: an argument, or the input of a command whose input is -i. */
static int parse_argument(const cli_command *command, const cli_option *options, const char *text, cli_common *common)
{
    const cli_option *input = command->arguments_max ? NULL : find_named(options, "i", 1);
    if (input && !cli_given(input->target)) {
        common->arguments[0] = text; /* not counted: kept to be compared with a later -i */
        return store(command, input, text);
    }
    if (input)
        return usage_error(command, "'%s' is one argument too many: the input is '%s'%s", text,
                           *(const char **)input->target,
                           find_named(options, "o", 1) ? ", and the output is named by -o" : "");
    if (command->arguments_max == 0)
        return usage_error(command, "'%s' is not an option, and no plain argument is expected", text);
    if (common->argument_count >= command->arguments_max || common->argument_count >= CLI_ARGUMENTS)
        return usage_error(command, "'%s' is one argument too many", text);
    common->arguments[common->argument_count++] = text;
    return -1;
}

static int parse_words(const cli_command *command, const cli_option *options, const cli_option *shared, int argc,
                       char **argv, cli_common *common)
{
    int only_arguments = 0, ended = -1;
    for (int i = 1; i < argc && ended < 0; i++) {
        const char *text = argv[i];
        if (only_arguments || text[0] != '-' || text[1] == '\0')
            ended = parse_argument(command, options, text, common);
        else if (strcmp(text, "--") == 0)
            only_arguments = 1;
        else
            ended = parse_option(command, options, shared, argc, argv, &i, 0);
    }
    const cli_option *input = find_named(options, "i", 1);
    if (ended < 0 && input && common->argument_count == 0 && common->arguments[0] &&
        *(const char **)input->target != common->arguments[0])
        return usage_error(command, "both '%s' and '-i %s' name the input", common->arguments[0],
                           *(const char **)input->target);
    return ended;
}

static int wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-help") == 0)
            return 1;
    return 0;
}

/* Nobody types an NRRD: -i was forgotten. */
static int lacks_input(const cli_option *options)
{
    for (const cli_option *option = options; option->name; option++)
        if (strcmp(option->name, "i") == 0 && option->kind == CLI_TEXT && isatty(STDIN_FILENO)) {
            const char *input = *(const char **)option->target;
            return input && strcmp(input, "-") == 0;
        }
    return 0;
}

/* The words of the record in the place of options that were not given. */
static int take_record(const cli_command *command, const cli_option *shared, const cli_common *common,
                       cli_load_record *load, void *user)
{
    cli_record record = {0};
    hot_context *context = NULL;
    int ended = -1;
    hot_status status = hot_context_create(NULL, &context);
    if (status == HOT_OK)
        status = load(user, context, common, &record);
    if (record.options)
        table = record.options;
    if (status != HOT_OK) {
        fprintf(stderr, "hotfiber %s: %s\n", command->name, hot_context_message(context));
        ended = HOT_EXIT_FAILED;
    }
    for (int i = 1; i < record.argc && ended < 0; i++)
        ended = parse_option(command, record.options, shared, record.argc, record.argv, &i, 1);
    free(record.argv);
    hot_context_destroy(&context);
    return ended;
}

int cli_parse(const cli_command *command, const cli_option *options, int argc, char **argv, cli_common *common)
{
    return cli_parse_with(command, options, argc, argv, common, NULL, NULL);
}

int cli_parse_with(const cli_command *command, const cli_option *options, int argc, char **argv, cli_common *common,
                   cli_load_record *load, void *user)
{
    int help = 0, quiet = 0, threads = 0, confine = 0;
    size_t seed = 1;
    const char *device = "auto", *progress = NULL;
    const cli_option shared[] = {
        {"device", CLI_TEXT, &device, "DEVICE",
         "auto (default: the GPU when there is one), cpu, cuda, or cuda:N", 0, 0},
        {"threads", CLI_INT, &threads, "N", "CPU threads; default: all of the machine's", 1, 4096},
        {"seed", CLI_SIZE, &seed, "N", "seed of everything random; default 1", 0, 9e15},
        {"progress", CLI_CHOICE, &progress, CLI_FORMS,
         "how progress is shown on standard error: a bar, a line a minute, lines of JSON (with notes, warnings and "
         "errors), or not; auto (default): a bar at a terminal, lines elsewhere", 0, 0},
        {"confine", CLI_FLAG, &confine, NULL,
         "refuse headers (NRRD, MIF) with data files outside of the header's folder: for data of unknown origin", 0,
         0},
        {"quiet", CLI_FLAG, &quiet, NULL, "no progress, notes or warnings: nothing but errors", 0, 0},
        {"help", CLI_FLAG, &help, NULL, "this text", 0, 0},
        CLI_END,
    };
    given_count = 0;
    table = options;
    memset(common, 0, sizeof *common);
    if (wants_help(argc, argv)) { /* whatever else is on the line */
        cli_print_help(command, options, shared);
        return cli_flush(command);
    }
    int ended = parse_words(command, options, shared, argc, argv, common);
    if (ended < 0 && load)
        ended = take_record(command, shared, common, load, user);
    if (ended >= 0)
        return ended;
    cli_take_run_folders(command, table);
    if (lacks_input(options))
        return usage_error(command, "an input is needed: standard input is a terminal");
    hot_context_options settings = {.size = sizeof settings, .threads = threads, .seed = seed, .log = cli_log,
                                    .progress = cli_progress, .stop = cli_stop};
    if (!parse_device(device, &settings))
        return usage_error(command, "--device is auto, cpu, cuda or cuda:N, not '%s'", device);
    common->quiet = quiet;
    if (hot_context_create(&settings, &common->context) != HOT_OK) {
        fprintf(stderr, "hotfiber %s: out of memory\n", command->name);
        return HOT_EXIT_FAILED;
    }
    hot_context_confine(common->context, confine);
    cli_terminal_start(quiet, progress);
    hot_status status = cli_check_files(table, common->context);
    if (status == HOT_OK)
        status = check_device(common->context, device);
    return status == HOT_OK ? -1 : cli_finish(command, common, status);
}

int cli_flush(const cli_command *command)
{
    errno = 0;
    if (!ferror(stdout) && fflush(stdout) == 0)
        return HOT_EXIT_DONE;
    fprintf(stderr, "hotfiber %s: cannot write to standard output: %s\n", command->name,
            errno ? strerror(errno) : "write error");
    return HOT_EXIT_FAILED;
}

int cli_refuse(const cli_command *command, cli_common *common, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    usage_error_list(command, format, arguments);
    va_end(arguments);
    hot_context_destroy(&common->context);
    return HOT_EXIT_USAGE;
}

int cli_refuse_option(const cli_command *command, cli_common *common)
{
    fprintf(stderr, "hotfiber %s: ", command->name);
    print_message(stderr, common->context);
    fprintf(stderr, "; see `hotfiber %s --help`\n", command->name);
    hot_context_destroy(&common->context);
    return HOT_EXIT_USAGE;
}

int cli_finish(const cli_command *command, cli_common *common, hot_status status)
{
    cli_terminal_newline();
    int leave = HOT_EXIT_FAILED;
    if (status == HOT_OK) {
        leave = cli_flush(command);
    } else {
        /* the terminal shows a typed Ctrl-C as ^C where the cursor stands: the message is written over it */
        const char *over = cli_interrupted() && isatty(STDERR_FILENO) ? "\r" : "";
        char lead[64], *text = NULL, suggestion[PATH_MAX + 32];
        size_t size;
        FILE *file = open_memstream(&text, &size);
        cli_suggest_file(table, common, status, suggestion, sizeof suggestion);
        if (file && hot_context_message(common->context)[0])
            print_message(file, common->context);
        else if (file)
            fputs(hot_status_text(status), file);
        if (file)
            fputs(suggestion, file);
        const int made = file && fclose(file) == 0 && text; /* glibc: without memory 0, and no text */
        snprintf(lead, sizeof lead, "%shotfiber %s: ", over, command->name);
        const char *said = made ? text : hot_status_text(HOT_ERROR_MEMORY);
        const size_t name = strlen(command->name); /* a parameter may be called as the command is */
        cli_terminal_error(lead, strncmp(said, command->name, name) == 0 && strncmp(said + name, ": ", 2) == 0
                                     ? said + name + 2 : said);
        free(text);
        fflush(stdout);
    }
    cli_terminal_end(leave);
    hot_context_destroy(&common->context);
    return leave;
}
