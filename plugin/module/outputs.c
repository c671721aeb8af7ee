/* Outputs of the module that appear together: each is written into a temporary folder next to its final path, under its
 * final name (which tells its format), and moved when all are complete. */
#define _GNU_SOURCE /* renameat2 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fields.h"
#include "io/common/output.h"
#include "io/common/parents.h"
#include "io/common/paths.h"
#include "io/common/temporary.h"
#include "module.h"

/* One file that has its name. */
typedef struct hot_module_moved {
    struct hot_module_moved *next;
    char *from, *place;
    int exchanged; /* what stood there has the name `from` now */
} moved_file;

hot_status hot_module_outputs_add(hot_module_outputs *outputs, const char *name, const char *path)
{
    hot_context *context = outputs->context;
    if (!path || !path[0])
        return HOT_OK;
    struct stat there;
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        return hot_context_fail(context, HOT_ERROR_FILE, "%s: '%s' is a folder", name, path);
    for (size_t i = 0; i < outputs->count; i++)
        if (strcmp(outputs->item[i].path, path) == 0)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "%s: '%s' is the file of %s already", name, path,
                                    outputs->item[i].name);
    char *target = hot_links_follow(context, path), *folder = NULL, *file = NULL;
    int lock = 0, made = 0, parents = 0;
    hot_status status = target           ? hot_output_check_link(context, path, target)
                        : hot_output_cannot(context, "write", path);
    if (status == HOT_OK)
        status = hot_parents_make(context, target, &parents);
    if (status == HOT_OK) {
        hot_temporary_folder_sweep(target);
        made = hot_temporary_folder_make(context, target, &folder, &lock) == 0;
        if (!made)
            status = hot_output_cannot(context, "write", path);
    }
    if (status == HOT_OK && !(file = hot_path_join(context, folder, path + hot_path_folder_length(path))))
        status = HOT_ERROR_MEMORY;
    if (status != HOT_OK) {
        hot_context_set_parameter(context, status, name);
        if (made)
            hot_temporary_folder_remove(folder);
        if (lock > 0)
            close(lock);
        if (target)
            hot_parents_remove(target, parents);
        HOT_FREE(context, folder, target);
        return status;
    }
    outputs->item[outputs->count].name = name;
    outputs->item[outputs->count].path = path;
    outputs->item[outputs->count].target = target;
    outputs->item[outputs->count].folder = folder;
    outputs->item[outputs->count].lock = lock;
    outputs->item[outputs->count].made = parents;
    outputs->item[outputs->count++].file = file;
    return HOT_OK;
}

const char *hot_module_outputs_file(const hot_module_outputs *outputs, const char *name)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (strcmp(outputs->item[i].name, name) == 0)
            return outputs->item[i].file;
    return NULL;
}

/* The final path of a file in the output's temporary folder: the output's own, with links resolved; for other files
 * (the samples of a detached header), the folder of the requested name. The caller frees it. */
static char *place_of(const hot_module_outputs *outputs, size_t which, const char *name)
{
    hot_context *context = outputs->context;
    const char *path = outputs->item[which].path;
    const int folder = hot_path_folder_length(path);
    const size_t size = (size_t)folder + strlen(name) + 1;
    char *beside = hot_context_alloc(context, size, 1);
    if (!beside)
        return NULL;
    snprintf(beside, size, "%.*s%s", folder, path, name);
    char *place = hot_links_follow(context, beside);
    hot_context_free(context, beside);
    return place;
}

/* Gives one file its name, such that it can be taken back: what stood there is kept in the temporary folder. */
static hot_status move_file(hot_module_outputs *outputs, size_t which, const char *name)
{
    hot_context *context = outputs->context;
    moved_file *moved = hot_context_alloc(context, 1, sizeof *moved);
    char *from = hot_path_join(context, outputs->item[which].folder, name), *place = place_of(outputs, which, name);
    hot_status status = moved && from && place ? HOT_OK : HOT_ERROR_MEMORY;
    char given[PATH_MAX];
    snprintf(given, sizeof given, "%.*s%s", hot_path_folder_length(outputs->item[which].path),
             outputs->item[which].path, name);
    if (status == HOT_OK)
        status = hot_output_check_link(context, given, place);
    if (status == HOT_OK) {
        const int exchanged = renameat2(AT_FDCWD, from, AT_FDCWD, place, RENAME_EXCHANGE) == 0;
        if (!exchanged && rename(from, place) != 0)
            status = hot_context_fail(context, HOT_ERROR_FILE, "%s: cannot write '%s': %s", outputs->item[which].name,
                                      place, strerror(errno));
        else
            *moved = (moved_file){outputs->moved, from, place, exchanged};
    }
    if (status == HOT_OK) {
        outputs->moved = moved;
        return HOT_OK;
    }
    HOT_FREE(context, place, from, moved);
    return status;
}

/* Frees the list of moved files; `back`: after moving them back. */
static void forget_moved(hot_module_outputs *outputs, int back)
{
    while (outputs->moved) {
        moved_file *moved = outputs->moved;
        outputs->moved = moved->next;
        if (back && moved->exchanged)
            (void)renameat2(AT_FDCWD, moved->from, AT_FDCWD, moved->place, RENAME_EXCHANGE);
        else if (back)
            (void)unlink(moved->place);
        HOT_FREE(outputs->context, moved->from, moved->place, moved);
    }
}

/* Lists the files in an output's temporary folder, which is synced by then: a detached header has a second file with
 * its samples. They are listed before any is moved, because moving changes the folder. */
static hot_status move_files(hot_module_outputs *outputs, size_t which)
{
    enum { MOST = 4 };
    hot_context *context = outputs->context;
    hot_status status = HOT_OK;
    char names[MOST][NAME_MAX + 1];
    int count = 0;
    DIR *open = opendir(outputs->item[which].folder);
    if (!open)
        return hot_context_fail(context, HOT_ERROR_FILE, "%s: '%s': %s", outputs->item[which].name,
                                outputs->item[which].folder, strerror(errno));
    for (struct dirent *entry; count < MOST && (entry = readdir(open));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            snprintf(names[count++], sizeof names[0], "%s", entry->d_name);
    closedir(open);
    for (int i = 0; i < count && status == HOT_OK; i++)
        status = move_file(outputs, which, names[i]);
    return status;
}

hot_status hot_module_outputs_commit(hot_module_outputs *outputs)
{
    hot_context *context = outputs->context;
    hot_status status = HOT_OK;
    for (size_t i = 0; i < outputs->count && status == HOT_OK; i++)
        if (hot_temporary_folder_sync(outputs->item[i].folder) != 0)
            status = hot_context_fail(context, HOT_ERROR_FILE, "%s: cannot write '%s': %s", outputs->item[i].name,
                                      outputs->item[i].path, strerror(errno));
    for (size_t i = 0; i < outputs->count && status == HOT_OK; i++)
        status = move_files(outputs, i);
    forget_moved(outputs, status != HOT_OK);
    for (size_t i = 0; i < outputs->count && status == HOT_OK; i++)
        if (hot_sync_folder_of(outputs->item[i].target) != 0)
            hot_context_log(context, HOT_LOG_WARNING, "%s: the folder of '%s' could not be brought to the disk: %s",
                            outputs->item[i].name, outputs->item[i].path, strerror(errno));
    hot_module_outputs_discard(outputs);
    return status;
}

void hot_module_outputs_discard(hot_module_outputs *outputs)
{
    hot_context *context = outputs->context;
    for (size_t i = 0; i < outputs->count; i++) {
        hot_temporary_folder_remove(outputs->item[i].folder);
        if (outputs->item[i].lock > 0)
            close(outputs->item[i].lock);
        HOT_FREE(context, outputs->item[i].folder, outputs->item[i].file);
    }
    for (size_t i = 0; i < outputs->count; i++) {
        hot_parents_remove(outputs->item[i].target, outputs->item[i].made); /* but those that hold something now */
        hot_context_free(context, outputs->item[i].target);
    }
    outputs->count = 0;
}
