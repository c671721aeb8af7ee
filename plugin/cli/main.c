/* hotfiber: one command, one subcommand per stage. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "common/cpu.h"
#include "common/entry.h"
#include "io/libraries.h"

/* To add a subcommand: its file, CLI_DECLARE here, one line in the list (in the order of the pipeline). */

CLI_DECLARE(info);
CLI_DECLARE(check);
CLI_DECLARE(convert);
CLI_DECLARE(phantom);
CLI_DECLARE(response);
CLI_DECLARE(fit);
CLI_DECLARE(peaks);
CLI_DECLARE(eig);
CLI_DECLARE(denoise);
CLI_DECLARE(heev);
CLI_DECLARE(tridiag);
CLI_DECLARE(contract);
CLI_DECLARE(cpd);
CLI_DECLARE(score);
CLI_DECLARE(learn);
CLI_DECLARE(run);
CLI_DECLARE(merge);
CLI_DECLARE(report);
CLI_DECLARE(export);
CLI_DECLARE(view);
CLI_DECLARE(bench);
CLI_DECLARE(cite);

static const cli_entry entries[] = {
    CLI_ENTRY(info),
    CLI_ENTRY(check),
    CLI_ENTRY(convert),
    CLI_ENTRY(phantom),
    CLI_ENTRY(response),
    CLI_ENTRY(fit),
    CLI_ENTRY(peaks),
    CLI_ENTRY(eig),
    CLI_ENTRY(denoise),
    CLI_ENTRY(heev),
    CLI_ENTRY(tridiag),
    CLI_ENTRY(contract),
    CLI_ENTRY(cpd),
    CLI_ENTRY(score),
    CLI_ENTRY(learn),
    CLI_ENTRY(run),
    CLI_ENTRY(merge),
    CLI_ENTRY(report),
    CLI_ENTRY(export),
    CLI_ENTRY(view),
    CLI_ENTRY(bench),
    CLI_ENTRY(cite),
    {NULL, NULL},
};

static void list_subcommands(void)
{
    printf("hotfiber %s: fibre directions from diffusion MRI by higher-order tensors\n\n"
           "usage: hotfiber SUBCOMMAND [options]\n\n", hot_version());
    for (const cli_entry *entry = entries; entry->command; entry++)
        printf("  %-10s %s\n", entry->command->name, entry->command->summary);
    printf("\n`hotfiber help SUBCOMMAND` explains one. Stages read -i (default standard input) and write -o\n"
           "(default standard output) as NRRD, so they pipe into each other and into unu and tend.\n");
}

static int unknown(const char *word)
{
    cli_guess guess;
    cli_guess_begin(&guess, word);
    for (const cli_entry *entry = entries; entry->command; entry++)
        cli_guess_try(&guess, entry->command->name);
    if (guess.best)
        fprintf(stderr, "hotfiber: there is no subcommand '%s'; did you mean %s\n", cli_shown(word), guess.best);
    else
        fprintf(stderr, "hotfiber: there is no subcommand '%s'; `hotfiber` lists them\n", cli_shown(word));
    return HOT_EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    for (const cli_entry *entry = entries; entry->command; entry++)
        if (strcmp(argv[0], entry->command->name) == 0)
            return entry->run(argc, argv);
    return unknown(argv[0]);
}

static int is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "-help") == 0 ||
           strcmp(word, "help") == 0;
}

/* The first line for programs, then what a report of a fault should say of the build. */
static void show_version(void)
{
    printf("hotfiber %s\n", hot_version());
    printf("compiler     %s\n", __VERSION__);
    printf("built for    %s%s%s\n", HOTFIBER_SYSTEM, HOTFIBER_WITH_CUDA ? ", CUDA" : ", no CUDA",
           hot_export_format_find("pam5", NULL) ? "" : ", no .pam5 (HDF5)");
    printf("instructions %s (this machine's best)\n", hot_cpu_level_name(hot_cpu_best()));
    printf("libraries    Teem %s, zlib %s\n", hot_library_teem(), hot_library_zlib());
}

int main(int argc, char **argv)
{
    HOT_ENTRY(NULL); /* Python may be the process */
    static char help[] = "--help";
    if (argc > 2 && is_help(argv[1]) && argv[2][0] != '-') /* hotfiber help run */
        return run(2, (char *[]){argv[2], help, NULL});
    if (argc < 2 || is_help(argv[1])) {
        list_subcommands();
        return fflush(stdout) == 0 ? HOT_EXIT_DONE : HOT_EXIT_FAILED;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        show_version();
        return fflush(stdout) == 0 ? HOT_EXIT_DONE : HOT_EXIT_FAILED;
    }
    return run(argc - 1, argv + 1);
}
