#include "recent.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/free.h"
#include "io/common/file_open.h"
#include "io/common/paths.h"
#include "scene_images.h"

enum { LARGEST = 1 << 20 }; /* bytes of a list that is read */

/* Makes the folders of a path, private ones; the last part is a file. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700); /* one that cannot be made shows when the file is opened */
        *slash = '/';
    }
}

/* XDG Base Directory Specification: relative paths are ignored. NULL: there is no such folder, or no memory. */
static char *list_path(hot_context *context)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        return hot_path_join(context, state, "hotfiber/recent");
    return home && home[0] == '/' ? hot_path_join(context, home, ".local/state/hotfiber/recent") : NULL;
}

void hot_recent_free(hot_context *context, hot_recent *recent)
{
    for (int n = 0; n < recent->count; n++)
        hot_context_free(context, recent->entry[n]);
    memset(recent, 0, sizeof *recent);
}

void hot_recent_load(hot_context *context, hot_recent *recent)
{
    char *path = list_path(context), *text = NULL;
    size_t length = 0;
    memset(recent, 0, sizeof *recent);
    if (path && access(path, R_OK) == 0 &&
        hot_file_load(context, path, HOT_FILE_FOUND, "a list of recent files", LARGEST, &text, &length) != HOT_OK)
        text = NULL;
    for (char *at = text, *end; at && *at == '/' && recent->count < HOT_RECENT; at = end ? end + 1 : NULL) {
        end = strchr(at, '\n');
        if (end)
            *end = '\0';
        char *entry = end ? hot_text_copy(context, at) : NULL; /* the last line has an end, too */
        if (entry)
            recent->entry[recent->count++] = entry;
    }
    HOT_FREE(context, text, path);
}

/* The scene's files as an entry; NULL = none. */
static char *entry_of(hot_context *context, const hot_scene *scene)
{
    char *real[HOT_SCENE_PATHS] = {NULL}, *entry = NULL;
    size_t length = 0;
    int valid = scene->paths > 0;
    for (int p = 0; p < scene->paths && valid; p++) {
        real[p] = realpath(scene->path[p], NULL);
        valid = real[p] && !strpbrk(real[p], "\t\n");
        length += valid ? strlen(real[p]) + 1 : 0;
    }
    entry = valid ? hot_context_calloc(context, length, 1) : NULL;
    for (int p = 0; p < scene->paths; p++) {
        if (entry)
            strcat(strcat(entry, p ? "\t" : ""), real[p]);
        free(real[p]);
    }
    return entry;
}

static void write_list(hot_context *context, const hot_recent *recent)
{
    char *path = list_path(context), *made = NULL;
    FILE *file = NULL;
    if (path) {
        char number[32];
        snprintf(number, sizeof number, "recent.%ld", (long)getpid());
        make_folders(path);
        char *slash = strrchr(path, '/');
        *slash = '\0';
        made = hot_path_join(context, path, number);
        *slash = '/';
    }
    const int handle = made ? open(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    if (handle >= 0 && !(file = fdopen(handle, "w")))
        close(handle);
    for (int n = 0; n < recent->count && file; n++)
        fprintf(file, "%s\n", recent->entry[n]);
    const int failed = file && ferror(file);
    if (handle >= 0 && (!file || fclose(file) != 0 || failed || rename(made, path) != 0))
        unlink(made);
    HOT_FREE(context, made, path);
}

void hot_recent_add(hot_context *context, const hot_scene *scene, hot_recent *recent)
{
    char *entry = entry_of(context, scene);
    int place = 0;
    if (!entry)
        return;
    hot_recent_free(context, recent);
    hot_recent_load(context, recent); /* other windows have added theirs */
    while (place < recent->count && strcmp(recent->entry[place], entry) != 0)
        place++;
    if (place < recent->count)
        hot_context_free(context, recent->entry[place]);
    else if (recent->count < HOT_RECENT)
        recent->count++;
    else
        hot_context_free(context, recent->entry[--place]);
    memmove(recent->entry + 1, recent->entry, (size_t)place * sizeof *recent->entry);
    recent->entry[0] = entry;
    write_list(context, recent);
}

int hot_recent_split(char *entry, const char *paths[HOT_SCENE_PATHS])
{
    int count = 0;
    for (char *rest = entry; rest && count < HOT_SCENE_PATHS; count++) {
        paths[count] = rest;
        rest = strchr(rest, '\t');
        if (rest)
            *rest++ = '\0';
    }
    return count;
}
