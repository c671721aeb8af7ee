#define _GNU_SOURCE /* renameat2 */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/fields.h"
#include "io/common/file_open.h"
#include "io/common/output.h"
#include "io/common/parents.h"
#include "io/common/paths.h"
#include "io/common/report.h"
#include "io/common/temporary.h"
#include "outputs.h"

static hot_status fail(hot_context *context, const char *what, const char *path)
{
    return hot_context_fail(context, HOT_ERROR_FILE, "%s '%s': %s", what, path, strerror(errno));
}

/* ---- Names in a directory ------------------------------------------------------------------------------------ */

typedef struct names {
    hot_context *context;
    size_t count, capacity;
    char **name;
} names;

static void names_free(names *list)
{
    for (size_t i = 0; i < list->count; i++)
        hot_context_free(list->context, list->name[i]);
    hot_context_free(list->context, list->name);
    list->name = NULL;
    list->count = list->capacity = 0;
}

static hot_status names_add(names *list, const char *prefix, const char *name)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 32;
        char **grown = hot_context_alloc(list->context, capacity, sizeof *grown);
        if (!grown)
            return HOT_ERROR_MEMORY;
        if (list->count)
            memcpy(grown, list->name, list->count * sizeof *grown);
        hot_context_free(list->context, list->name);
        list->name = grown;
        list->capacity = capacity;
    }
    char *copy = prefix ? hot_path_join(list->context, prefix, name) : hot_string_copy(list->context, name);
    if (!copy)
        return HOT_ERROR_MEMORY;
    list->name[list->count++] = copy;
    return HOT_OK;
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The entries of `path`, or of its subfolder `prefix` if given. Folders get a trailing slash. */
static hot_status list_folder(hot_context *context, const char *path, const char *prefix, names *list)
{
    char *full = prefix ? hot_path_join(context, path, prefix) : hot_string_copy(context, path);
    if (!full)
        return HOT_ERROR_MEMORY;
    hot_status status = HOT_OK;
    DIR *folder = opendir(full);
    if (!folder)
        status = fail(context, "cannot read the folder", full);
    struct dirent *entry;
    while (status == HOT_OK && (entry = readdir(folder))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        struct stat about;
        char name[sizeof entry->d_name + 2];
        int is_folder = fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(about.st_mode);
        snprintf(name, sizeof name, "%s%s", entry->d_name, is_folder ? "/" : "");
        status = names_add(list, prefix, name);
    }
    if (folder)
        closedir(folder);
    hot_context_free(context, full);
    if (list->count)
        qsort(list->name, list->count, sizeof *list->name, compare_names);
    return status;
}

/* Files of the folder and of the folders in it, one level deep; folders themselves come after all, with their slash. */
static hot_status list_tree(hot_context *context, const char *path, names *list)
{
    names top = {.context = context};
    hot_status status = list_folder(context, path, NULL, &top);
    for (size_t i = 0; i < top.count && status == HOT_OK; i++) {
        size_t length = strlen(top.name[i]);
        if (top.name[i][length - 1] != '/') {
            status = names_add(list, NULL, top.name[i]);
            continue;
        }
        top.name[i][length - 1] = '\0';
        status = list_folder(context, path, top.name[i], list);
        top.name[i][length - 1] = '/';
    }
    if (list->count)
        qsort(list->name, list->count, sizeof *list->name, compare_names);
    for (size_t i = 0; i < top.count && status == HOT_OK; i++)
        if (top.name[i][strlen(top.name[i]) - 1] == '/')
            status = names_add(list, NULL, top.name[i]);
    names_free(&top);
    return status;
}

/* Removes the files and folders listed; folders only when empty then. Goes on after a failure. */
static int remove_tree(hot_context *context, const char *path, const names *list)
{
    int left = 0;
    for (size_t i = 0; i < list->count; i++) {
        char *full = hot_path_join(context, path, list->name[i]);
        if (!full || (remove(full) != 0 && errno != ENOENT)) /* a sweeper may help */
            left++;
        hot_context_free(context, full);
    }
    return (rmdir(path) != 0 && errno != ENOENT) || left != 0;
}

/* ---- May it be replaced? --------------------------------------------------------------------------------- */

static int report_names(const cJSON *report, const char *name)
{
    const cJSON *file;
    cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(report, "files"))
        if (cJSON_IsString(file) && strcmp(file->valuestring, name) == 0)
            return 1;
    return 0;
}

/* Whether report.html is a page of `hotfiber report`, which may be newer than the run, by its head. */
static int is_page(hot_context *context, const char *folder)
{
    char head[512] = {0};
    char *path = hot_path_join(context, folder, "report.html");
    FILE *file = NULL;
    if (path && hot_file_open(context, path, HOT_FILE_FOUND, &file) == HOT_OK) {
        head[fread(head, 1, sizeof head - 1, file)] = '\0';
        fclose(file);
    }
    hot_context_free(context, path);
    return strstr(head, "<meta name=\"generator\" content=\"hotfiber\">") != NULL;
}

/* A folder may be replaced only if it is a run's and contains only the run's files: those in its report.json, which is
 * untrusted, that also have names of a run's files. */
static hot_status check_ours(hot_context *context, const char *path, const names *list)
{
    cJSON *report = NULL;
    char *name = hot_path_join(context, path, "report.json");
    if (!name)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_report_load(context, name, &report);
    if (status != HOT_ERROR_MEMORY &&
        (status != HOT_OK || !cJSON_IsString(cJSON_GetObjectItemCaseSensitive(report, "hotfiber"))))
        status = hot_context_fail(context, HOT_ERROR_FILE,
                                  "'%s' does not look like the result of a run (it has no report.json of hotfiber), "
                                  "so --force does not replace it",
                                  path);
    for (size_t i = 0; i < list->count && status == HOT_OK; i++) {
        size_t length = strlen(list->name[i]);
        int folder = list->name[i][length - 1] == '/';
        int known = strcmp(list->name[i], "report.json") == 0;
        if (!folder && !known)
            known = (hot_run_output_known(list->name[i]) && report_names(report, list->name[i])) ||
                (strcmp(list->name[i], "report.html") == 0 && is_page(context, path));
        for (size_t j = 0; j < list->count && folder && !known; j++) /* a folder with files in it is known by them */
            known = j != i && strncmp(list->name[j], list->name[i], length) == 0;
        if (!known)
            status = hot_context_fail(context, HOT_ERROR_FILE,
                                      "'%s' holds '%s', which no run of hotfiber wrote there, so --force does not "
                                      "replace it",
                                      path, list->name[i]);
    }
    cJSON_Delete(report);
    hot_context_free(context, name);
    return status;
}

/* Whether `inner` is `outer` or inside it; both resolved. */
static int lies_in(const char *inner, const char *outer)
{
    size_t length = strlen(outer);
    return strncmp(inner, outer, length) == 0 &&
           (inner[length] == '\0' || inner[length] == '/' || (length && outer[length - 1] == '/'));
}

static hot_status check_existing(hot_context *context, const char *path, int force)
{
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) && lies_in(here, path))
        return hot_context_fail(context, HOT_ERROR_FILE,
                                "'%s' is the current folder, or contains it; give another output folder", path);
    names list = {.context = context};
    hot_status status = list_tree(context, path, &list);
    if (status == HOT_OK && list.count > 0) {
        if (!force)
            status = hot_context_fail(context, HOT_ERROR_FILE,
                                      "'%s' exists and is not empty; --force replaces the result of an earlier "
                                      "run",
                                      path);
        else
            status = check_ours(context, path, &list);
    }
    names_free(&list);
    return status;
}

/* ---- Public -------------------------------------------------------------------------------------------------- */

/* The path with links resolved: of the folder itself when it exists, else of its parent. */
static hot_status resolve(hot_context *context, const char *path, hot_folder *folder)
{
    char real[PATH_MAX], parent[PATH_MAX];
    struct stat about;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0 || length >= sizeof parent - 64)
        return hot_context_fail(context, HOT_ERROR_FILE, "the name of the output folder is empty or too long");
    memcpy(parent, path, length);
    parent[length] = '\0';
    if (stat(parent, &about) == 0) {
        if (!S_ISDIR(about.st_mode))
            return hot_context_fail(context, HOT_ERROR_FILE, "'%s' is a file; the output of a run is a folder",
                                    path);
        if (!realpath(parent, real))
            return fail(context, "cannot use", path);
        folder->replaces = 1;
        folder->path = hot_string_copy(context, real);
        return folder->path ? HOT_OK : HOT_ERROR_MEMORY;
    }
    if (lstat(parent, &about) == 0)
        return hot_context_fail(context, HOT_ERROR_FILE, "'%s' is a broken link", path);
    HOT_TRY(hot_parents_make(context, parent, &folder->parents));
    char *slash = strrchr(parent, '/');
    const char *name = slash ? slash + 1 : parent;
    char *folder_name = hot_string_copy(context, name);
    if (!folder_name)
        return HOT_ERROR_MEMORY;
    if (slash)
        *(slash == parent ? slash + 1 : slash) = '\0';
    if (!realpath(slash ? parent : ".", real)) {
        hot_context_free(context, folder_name);
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot make '%s': its parent folder: %s", path,
                                strerror(errno));
    }
    folder->path = hot_path_join(context, strcmp(real, "/") == 0 ? "" : real, folder_name);
    hot_context_free(context, folder_name);
    return folder->path ? HOT_OK : HOT_ERROR_MEMORY;
}

hot_status hot_folder_begin(hot_context *context, const char *path, int force, hot_folder *folder)
{
    memset(folder, 0, sizeof *folder);
    if (!path || !path[0])
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a run needs an output folder");
    folder->force = force;
    hot_status status = resolve(context, path, folder);
    if (status == HOT_OK && folder->replaces)
        status = check_existing(context, folder->path, force);
    if (status == HOT_OK) {
        hot_temporary_folder_sweep(folder->path);
        if (hot_temporary_folder_make(context, folder->path, &folder->temporary, &folder->lock) != 0)
            status = hot_output_cannot(context, "make", path);
    }
    if (status != HOT_OK)
        hot_folder_discard(context, folder);
    return status;
}

hot_status hot_folder_check_input(hot_context *context, const hot_folder *folder, const char *input)
{
    char real[PATH_MAX];
    if (!folder->replaces || !input || strcmp(input, "-") == 0 || !realpath(input, real))
        return HOT_OK;
    if (lies_in(real, folder->path))
        return hot_context_fail(context, HOT_ERROR_FILE,
                                "the input '%s' is in the output folder '%s', which would be replaced", input,
                                folder->path);
    return HOT_OK;
}

char *hot_folder_file(hot_context *context, const hot_folder *folder, const char *name)
{
    return hot_path_join(context, folder->temporary, name);
}

hot_status hot_folder_walk(hot_context *context, const hot_folder *folder,
                           hot_status (*visit)(void *user, const char *name), void *user)
{
    names list = {.context = context};
    hot_status status = list_tree(context, folder->temporary, &list);
    for (size_t i = 0; i < list.count && status == HOT_OK; i++)
        if (list.name[i][strlen(list.name[i]) - 1] != '/')
            status = visit(user, list.name[i]);
    names_free(&list);
    return status;
}

/* Removes the folder at `path` that our list describes; a warning when something stays. */
static void remove_replaced(hot_context *context, const char *path, const names *list)
{
    if (list->count == 0 ? rmdir(path) != 0 : remove_tree(context, path, list) != 0)
        hot_context_log(context, HOT_LOG_WARNING,
                        "the earlier contents of the output folder could not be removed from '%s'", path);
}

/* Two runs that replace one folder do so one after the other: a second or so, unless somebody else holds the lock.
 * Returns a handle that has it, or -1. */
static int lock_parent(const char *path)
{
    enum { TRIES = 500, PAUSE = 10000000 /* ns */ };
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%.*s", hot_path_folder_length(path), path);
    const int handle = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int n = 0; handle >= 0 && n < TRIES && flock(handle, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; n++)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    return handle;
}

hot_status hot_folder_commit(hot_context *context, hot_folder *folder)
{
    hot_status status = HOT_OK;
    if (hot_temporary_folder_sync(folder->temporary) != 0) /* before it gets its name */
        status = fail(context, "cannot write", folder->path);
    names old = {.context = context};
    const int parent = status == HOT_OK ? lock_parent(folder->path) : -1;
    int replaces = access(folder->path, F_OK) == 0 && folder->replaces;
    if (status == HOT_OK && !replaces) {
        /* An empty folder may have appeared meanwhile and gives way; anything else is refused by the system. */
        replaces = rename(folder->temporary, folder->path) != 0;
        if (replaces && errno != ENOTEMPTY && errno != EEXIST)
            status = fail(context, "cannot make", folder->path);
        else if (replaces && !folder->force)
            status = hot_context_fail(context, HOT_ERROR_FILE, "'%s' has been made by somebody else while this run was "
                                      "at work, and stays as it is; --force replaces it", folder->path);
    }
    if (status == HOT_OK && replaces) {
        status = list_tree(context, folder->path, &old);
        if (status == HOT_OK && old.count > 0) /* still ours after the hours of work? */
            status = check_ours(context, folder->path, &old);
        if (status == HOT_OK &&
            renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_EXCHANGE) != 0) {
            /* A file system without exchange: there is a moment without either, but both are complete. */
            char aside[PATH_MAX];
            snprintf(aside, sizeof aside, "%s.old", folder->temporary);
            if (rename(folder->path, aside) != 0) {
                status = fail(context, "cannot replace", folder->path);
            } else if (rename(folder->temporary, folder->path) != 0) {
                status = fail(context, "cannot replace", folder->path);
                rename(aside, folder->path);
            } else {
                remove_replaced(context, aside, &old);
            }
        } else if (status == HOT_OK) {
            remove_replaced(context, folder->temporary, &old);
        }
    }
    if (status == HOT_OK) {
        if (hot_sync_folder_of(folder->path) != 0)
            hot_context_log(context, HOT_LOG_WARNING,
                            "'%s' is complete, but its folder could not be brought to the disk: %s", folder->path,
                            strerror(errno));
        hot_context_free(context, folder->temporary);
        folder->temporary = NULL;
        folder->parents = 0;
    }
    if (parent >= 0)
        close(parent);
    names_free(&old);
    hot_folder_discard(context, folder);
    return status;
}

void hot_folder_discard(hot_context *context, hot_folder *folder)
{
    if (folder->temporary)
        hot_temporary_folder_remove(folder->temporary);
    if (folder->lock > 0)
        close(folder->lock);
    if (folder->path)
        hot_parents_remove(folder->path, folder->parents);
    HOT_FREE(context, folder->temporary, folder->path);
    memset(folder, 0, sizeof *folder);
}
