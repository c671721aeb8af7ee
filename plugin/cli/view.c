/* hotfiber view: hands over to hotfiber-view, which stands beside this command and draws. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const cli_command cli_view_command = {
    "view", "look at tensors and directions, in a window or as pictures", "FILE... [options]", NULL, CLI_ARGUMENTS};

static const char viewer[] = "hotfiber-view";

/* The viewer in the folder of this very command, "" when the system does not say where that is. */
static void beside_us(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + sizeof viewer > PATH_MAX)
        path[0] = '\0';
    else
        strcpy(slash + 1, viewer);
}

int cli_view(int argc, char **argv)
{
    char path[PATH_MAX];
    (void)argc;
    argv[0] = (char *)(uintptr_t)viewer;
    beside_us(path);
    if (path[0] && access(path, F_OK) == 0)
        execv(path, argv);
    else
        execvp(viewer, argv);
    if (errno == ENOENT)
        fprintf(stderr,
                "hotfiber view: the viewer (%s) is not here: it is built where libepoxy, EGL and GLFW are (Debian: "
                "libepoxy-dev libegl-dev libglfw3-dev)\n",
                viewer);
    else
        fprintf(stderr, "hotfiber view: cannot start %s: %s\n", cli_shown(path[0] ? path : viewer), strerror(errno));
    return HOT_EXIT_FAILED;
}
