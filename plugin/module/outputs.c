/* Outputs of the module that appear together: each is written into a temporary folder beside its place, under its own
 * name (which tells its format), and moved when all are complete. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fields.h"
#include "io/common/parents.h"
#include "io/common/temporary.h"
#include "module.h"
#include "run/folder.h"

hot_status hot_module_outputs_add(hot_module_outputs *outputs, const char *name, const char *path)
{
    static atomic_uint number; /* two runs at once use different folders */
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
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const int parent = (int)(base - path);
    const size_t size = strlen(path) + 48;
    char *folder = hot_context_alloc(context, size, 1), *file = hot_context_alloc(context, 2 * size, 1);
    if (!folder || !file) {
        hot_context_free(context, folder);
        hot_context_free(context, file);
        return HOT_ERROR_MEMORY;
    }
    snprintf(folder, size, "%.*s.part-%ld-m%u", parent, path, (long)getpid(), atomic_fetch_add(&number, 1));
    snprintf(file, 2 * size, "%s/%s", folder, base);
    int made = 0;
    hot_status status = hot_parents_make(context, path, &made);
    if (status == HOT_OK && mkdir(folder, 0777) != 0) {
        status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", path, strerror(errno));
        hot_parents_remove(path, made);
    }
    if (status != HOT_OK) {
        hot_context_blame(context, status, name);
        hot_context_free(context, folder);
        hot_context_free(context, file);
        return status;
    }
    outputs->item[outputs->count].name = name;
    outputs->item[outputs->count].path = path;
    outputs->item[outputs->count].folder = folder;
    outputs->item[outputs->count].made = made;
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

/* The final path of a file in the output's temporary folder; to be freed. */
static char *place_of(const hot_module_outputs *outputs, size_t which, const char *name)
{
    const char *path = outputs->item[which].path, *slash = strrchr(path, '/');
    const size_t size = strlen(path) + strlen(name) + 2;
    char *place = hot_context_alloc(outputs->context, size, 1);
    if (place)
        snprintf(place, size, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name);
    return place;
}

/* Moves every file of one output's folder to its place: a detached header has its data beside it. */
static hot_status move_files(const hot_module_outputs *outputs, size_t which)
{
    hot_context *context = outputs->context;
    hot_status status = HOT_OK;
    DIR *open = opendir(outputs->item[which].folder);
    if (!open)
        return hot_context_fail(context, HOT_ERROR_FILE, "%s: '%s': %s", outputs->item[which].name,
                                outputs->item[which].folder, strerror(errno));
    for (struct dirent *entry; status == HOT_OK && (entry = readdir(open));) {
        if (entry->d_name[0] == '.')
            continue;
        char *place = place_of(outputs, which, entry->d_name);
        if (!place)
            status = HOT_ERROR_MEMORY;
        else if (renameat(dirfd(open), entry->d_name, AT_FDCWD, place) != 0)
            status = hot_context_fail(context, HOT_ERROR_FILE, "%s: cannot write '%s': %s", outputs->item[which].name,
                                      place, strerror(errno));
        hot_context_free(context, place);
    }
    closedir(open);
    if (status == HOT_OK && hot_sync_folder_of(outputs->item[which].path) != 0)
        hot_context_log(context, HOT_LOG_WARNING, "%s: the folder of '%s' could not be brought to the disk: %s",
                        outputs->item[which].name, outputs->item[which].path, strerror(errno));
    return status;
}

hot_status hot_module_outputs_commit(hot_module_outputs *outputs)
{
    hot_status status = HOT_OK;
    size_t moved = 0;
    for (; moved < outputs->count && status == HOT_OK; moved++)
        status = move_files(outputs, moved);
    for (size_t i = 0; status != HOT_OK && i + 1 < moved; i++)
        unlink(outputs->item[i].path);
    hot_module_outputs_discard(outputs);
    return status;
}

void hot_module_outputs_discard(hot_module_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        hot_folder_remove_own(outputs->item[i].folder);
        hot_context_free(outputs->context, outputs->item[i].folder);
        hot_context_free(outputs->context, outputs->item[i].file);
    }
    for (size_t i = 0; i < outputs->count; i++)
        hot_parents_remove(outputs->item[i].path, outputs->item[i].made); /* but those that hold something now */
    outputs->count = 0;
}
