#include "run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fibers/method.h"
#include "run/option_table.h"

static cli_option option_of(const hot_run_row *row, void *target)
{
    cli_option option = {row->option, CLI_TEXT, target, row->value, row->help, row->low, row->high};
    if (row->words && row->words == row->value) /* help shows the words of a choice as its value */
        option.kind = CLI_CHOICE;
    else if (row->type == HOT_IS_FLAG)
        option.kind = CLI_FLAG;
    else if (row->type == HOT_IS_DOUBLE)
        option.kind = row->second ? CLI_LIST : CLI_DOUBLE;
    else if (row->type == HOT_IS_INT && row->low < row->high)
        option.kind = CLI_INT;
    else if (row->type == HOT_IS_SIZE && row->low < row->high)
        option.kind = CLI_SIZE;
    return option; /* K/N and sizes of memory are texts */
}

cli_option cli_row(const char *name, void *target)
{
    const hot_run_row *row;
    for (size_t i = 0; (row = hot_run_row_at(i)); i++)
        if (row->help && strcmp(row->option, name) == 0)
            return option_of(row, target);
    abort(); /* of the caller's own text */
}

/* The row whose member this one sets, too, or itself. --report and --no_report are told apart by what was typed. */
static size_t first_of(size_t which)
{
    const hot_run_row *row = hot_run_row_at(which);
    for (size_t i = 0; i < which; i++)
        if (hot_run_row_at(i)->group == row->group && hot_run_row_at(i)->offset == row->offset &&
            row->type != HOT_IS_FLAG)
            return i;
    return which;
}

/* The help of --outputs: what there is, a line each. */
static void describe_outputs(const char *help, char *text, size_t size)
{
    const char *name, *file, *about;
    size_t at = (size_t)snprintf(text, size, "%s", help);
    for (size_t i = 0; at < size && (name = hot_run_output_name(i, &file, &about)); i++)
        at += (size_t)snprintf(text + at, size - at, "\n  %-12s  %s (%s)", name, about, file);
}

void cli_run_options_init(cli_run_options *own, unsigned use)
{
    const hot_run_row *row;
    size_t count = 0;
    *own = (cli_run_options){.run = {.size = sizeof own->run, .input = "-", .fit = &own->fit, .peaks = &own->peaks,
                                     .signal = &own->signal, .report = 1},
                             .fit = HOT_FIT_OPTIONS_INIT, .peaks = HOT_PEAKS_OPTIONS_INIT,
                             .signal = HOT_SIGNAL_FIND_OPTIONS_INIT};
    for (size_t i = 0; (row = hot_run_row_at(i)) && i < CLI_RUN_ROWS && count + 1 < CLI_RUN_ROWS; i++) {
        if (!row->help || (use && !(row->use & use)))
            continue;
        own->options[count] = option_of(row, row->second ? (void *)&own->pair : &own->typed[first_of(i)]);
        if (strcmp(row->option, "i") == 0)
            own->typed[i].text = "-";
        if (strcmp(row->option, "outputs") == 0) {
            describe_outputs(row->help, own->outputs, sizeof own->outputs);
            own->options[count].help = own->outputs;
        }
        count++;
    }
}

void cli_run_options_pick(const cli_run_options *own, const char *names, cli_option *options)
{
    for (const cli_option *option = own->options; option->name; option++)
        if (hot_peaks_names_hold(names, option->name))
            *options++ = *option;
    *options = (cli_option)CLI_END;
}

/* Takes one option over. */
static int take(const cli_run_options *own, const hot_run_row *row, const cli_option *option)
{
    double numbers[2] = {0};
    const char *text = NULL;
    switch (option->kind) {
    case CLI_INT: numbers[0] = *(const int *)option->target; break;
    case CLI_SIZE: numbers[0] = (double)*(const size_t *)option->target; break;
    case CLI_DOUBLE: numbers[0] = *(const double *)option->target; break;
    case CLI_LIST:
        if (own->pair.count != 2)
            return 0;
        memcpy(numbers, own->pair.values, sizeof numbers);
        break;
    case CLI_FLAG: break;
    default: text = *(const char *const *)option->target;
    }
    return hot_run_option_set(&own->run, row, text, numbers);
}

static int refuse(const cli_command *command, cli_common *common, const cli_run_options *own, const cli_option *option)
{
    if (option->kind == CLI_LIST)
        return cli_refuse(command, common, "--diffusivities needs two numbers (1.7e-3,0.3e-3), not %zu",
                          own->pair.count);
    const char *text = *(const char *const *)option->target;
    return strcmp(option->name, "part") == 0
        ? cli_refuse(command, common, "--part is K/N, the K-th of N parts (3/16), not '%s'", text)
        : cli_refuse(command, common, "--shift is adaptive, none or a number of at least 0, not '%s'", text);
}

int cli_run_options_read(const cli_command *command, cli_common *common, cli_run_options *own)
{
    const hot_peaks_method *finder;
    const hot_run_row *row;
    for (const cli_option *option = own->options; option->name; option++) {
        size_t i = 0;
        while ((row = hot_run_row_at(i)) && !(row->help && strcmp(row->option, option->name) == 0))
            i++;
        if (!row || !cli_given(option->target))
            continue;
        if (strcmp(option->name, "memory") != 0 && !take(own, row, option))
            return refuse(command, common, own, option);
    }
    const char *memory = NULL;
    for (const cli_option *option = own->options; option->name; option++)
        if (strcmp(option->name, "memory") == 0)
            memory = *(const char *const *)option->target;
    const int ended = cli_memory_read(command, common, memory, own->run.output, &own->run.memory);
    if (ended >= 0)
        return ended;
    if (hot_run_check_options(common->context, &own->run, cli_option_given, own->options, &finder) != HOT_OK)
        return cli_refuse_option(command, common);
    return -1;
}
