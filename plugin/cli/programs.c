/* Subcommands that are programs next to this one: hotfiber view starts hotfiber-view, hotfiber bench hotfiber-bench. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const cli_command cli_view_command = {
    "view", "look at tensors and directions, in a window or as pictures", "FILE... [options]", NULL, CLI_ARGUMENTS};
const cli_command cli_bench_command = {
    "bench", "measure the speed of the kernels and of the pipeline", "[NAME ...] [options]", NULL, CLI_ARGUMENTS};

/* The path of a program in the folder of this command; "" if the system does not tell where that is. */
static void path_next_to_us(char path[PATH_MAX], const char *program)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + strlen(program) + 1 > PATH_MAX)
        path[0] = '\0';
    else
        strcpy(slash + 1, program);
}

/* Becomes the program; returns only if it could not be started. `missing` says how to get it. */
static int become(char **argv, const char *program, const char *missing)
{
    const char *subcommand = argv[0];
    char path[PATH_MAX];
    argv[0] = (char *)(uintptr_t)program;
    path_next_to_us(path, program);
    if (path[0] && access(path, F_OK) == 0)
        execv(path, argv);
    else
        execvp(program, argv);
    if (errno == ENOENT)
        fprintf(stderr, "hotfiber %s: %s is not installed: %s\n", subcommand, program, missing);
    else
        fprintf(stderr, "hotfiber %s: cannot start %s: %s\n", subcommand, cli_shown(path[0] ? path : program),
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
