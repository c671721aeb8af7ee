#define _GNU_SOURCE /* dladdr */
#include "program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* folder/between/name, if it can be run. length: of the folder. */
static int try_folder(const char *folder, size_t length, const char *between, const char *name, char path[PATH_MAX])
{
    const int written = snprintf(path, PATH_MAX, "%.*s/%s%s", (int)length, folder, between, name);
    if (folder[0] == '/' && length < PATH_MAX && written < PATH_MAX && access(path, X_OK) == 0)
        return 1;
    path[0] = '\0';
    return 0;
}

static size_t folder_length(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? (size_t)(slash - file) : 0;
}

int hot_program_find(const char *name, char path[PATH_MAX])
{
    static const char *const near[] = {"bin/", "../bin/", "../../bin/", "../../../bin/", "../../../../bin/"};
    char here[PATH_MAX], library[PATH_MAX];
    Dl_info about = {0};
    const ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    here[length > 0 ? length : 0] = '\0';
    if (try_folder(here, folder_length(here), "", name, path))
        return 1;
    if (dladdr((const void *)&near, &about) && about.dli_fname && realpath(about.dli_fname, library) &&
        strcmp(library, here) != 0) /* else it is linked into the program */
        for (size_t i = 0; i < sizeof near / sizeof *near; i++)
            if (try_folder(about.dli_fname, folder_length(about.dli_fname), near[i], name, path))
                return 1;
    for (const char *at = getenv("PATH"); at && *at; at += strcspn(at, ":"), at += *at == ':')
        if (try_folder(at, strcspn(at, ":"), "", name, path))
            return 1;
    return 0;
}
