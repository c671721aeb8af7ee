/* Subcommands that are programs next to this one: hotfiber view starts hotfiber-view, hotfiber bench hotfiber-bench. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/common/program.h"

const cli_command cli_view_command = {
    "view", "look at tensors and directions, in a window or as pictures", "FILE... [options]", NULL, CLI_ARGUMENTS};
const cli_command cli_bench_command = {
    "bench", "measure the speed of the kernels and of the pipeline", "[NAME ...] [options]", NULL, CLI_ARGUMENTS};

/* Becomes the program; returns only if it could not be started. `missing` says how to get it. */
static int become(char **argv, const char *program, const char *missing)
{
    const char *subcommand = argv[0];
    char path[PATH_MAX];
    argv[0] = (char *)(uintptr_t)program;
    const int found = hot_program_find(program, path);
    if (found)
        execv(path, argv);
    if (!found)
        fprintf(stderr, "hotfiber %s: %s is not installed: %s\n", subcommand, program, missing);
    else
        fprintf(stderr, "hotfiber %s: cannot start %s: %s\n", subcommand, cli_shown(path),
                strerror(errno));
    return HOT_EXIT_FAILED;
}

int cli_view(int argc, char **argv)
{
    (void)argc;
    return become(argv, "hotfiber-view",
                  "it is built if libepoxy, EGL and GLFW are present (Debian: libepoxy-dev libegl-dev libglfw3-dev)");
}

int cli_bench(int argc, char **argv)
{
    (void)argc;
    return become(argv, "hotfiber-bench", "it is built from the sources, and not part of the Python package");
}
