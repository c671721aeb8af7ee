/* The options of run, learn and merge: the table of run/options.inc, with values as typed. */
#pragma once

#include "cli.h"

enum { CLI_RUN_ROWS = 80 };

typedef struct cli_run_options {
    hot_run_options run; /* points to the next three members: do not move the struct */
    hot_fit_options fit;
    hot_peaks_options peaks;
    hot_signal_find_options signal;
    union {
        const char *text;
        int whole;
        size_t size;
        double number;
    } typed[CLI_RUN_ROWS]; /* by row of the table */
    cli_list pair;         /* the one option of two numbers */
    char outputs[4096];    /* help of --outputs */
    cli_option options[CLI_RUN_ROWS];
} cli_run_options;

/* Every option at its default, and own->options: those of `use` (HOT_LEARN_TAKES ...), 0 = all. */
void cli_run_options_init(cli_run_options *own, unsigned use);

/* Copies those called `names` (each with a blank after it) to `options`, with CLI_END. */
void cli_run_options_pick(const cli_run_options *own, const char *names, cli_option *options);

/* Checks the typed values and copies them to own->run. Returns -1, or on errors the exit status. */
int cli_run_options_read(const cli_command *command, cli_common *common, cli_run_options *own);

/* The run, and what it prints; ends the command. */
int cli_run_finish(const cli_command *command, cli_common *common, cli_run_options *own);
