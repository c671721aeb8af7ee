/* Temporary folders with hidden names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/common/temporary.h"

/* Asks for no memory of ours, so that it works when memory is what ran out. */
static void remove_in(int parent, const char *name)
{
    int handle = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = handle >= 0 ? fdopendir(handle) : NULL;
    if (!folder) {
        if (handle >= 0)
            close(handle);
        unlinkat(parent, name, AT_REMOVEDIR); /* fdopendir had no memory: an empty one goes all the same */
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(handle, entry->d_name, 0) != 0)
            remove_in(handle, entry->d_name);
    }
    closedir(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void hot_temporary_folder_remove(const char *path) { remove_in(AT_FDCWD, path); }

static int sync_in(int parent, const char *name)
{
    int handle = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), bad = handle < 0, reason = errno;
    struct stat about;
    if (!bad && fstat(handle, &about) == 0 && S_ISDIR(about.st_mode)) {
        int again = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); /* closedir closes it */
        DIR *folder = again >= 0 ? fdopendir(again) : NULL;
        bad = !folder;
        reason = errno;
        for (struct dirent *entry; !bad && (entry = readdir(folder));)
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
                bad = sync_in(handle, entry->d_name);
                reason = errno;
            }
        if (folder)
            closedir(folder);
        else if (again >= 0)
            close(again);
    }
    if (!bad) {
        bad = hot_sync_file(handle) != 0;
        reason = errno;
    }
    if (handle >= 0)
        close(handle);
    errno = reason;
    return bad ? -1 : 0;
}

int hot_temporary_folder_sync(const char *path) { return sync_in(AT_FDCWD, path); }

static void remove_folder(int folder, int handle, const char *name)
{
    (void)handle;
    remove_in(folder, name);
}

void hot_temporary_folder_sweep(const char *path) { hot_temporary_each_left(path, O_DIRECTORY, remove_folder); }

/* Locks a folder that was just made. Returns 1 when a sweeper came between and it is gone. */
static int lock_new(const char *path, int *lock)
{
    struct stat about;
    *lock = 0;
    int handle = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (handle < 0)
        return errno == ENOENT;
    const int locked = flock(handle, LOCK_EX | LOCK_NB) == 0;
    const int gone = locked ? fstat(handle, &about) == 0 && about.st_nlink == 0 : errno == EWOULDBLOCK;
    if (locked && !gone && handle > 0)
        *lock = handle;
    else
        close(handle);
    return gone;
}

int hot_temporary_folder_make(hot_context *context, const char *path, char **name, int *lock)
{
    enum { TRIES = 100 };
    const size_t capacity = strlen(path) + HOT_TEMPORARY_EXTRA;
    char *made = hot_context_alloc(context, capacity, 1);
    int gone = 1, reason = ENOMEM;
    *name = NULL;
    *lock = 0;
    for (int tries = 0; made && gone && tries < TRIES; tries++) {
        hot_temporary_name(path, made, capacity);
        if (mkdir(made, 0777) == 0)
            gone = lock_new(made, lock);
        reason = errno;
        if (gone && reason != EEXIST && reason != ENOENT && reason != EWOULDBLOCK)
            break;
    }
    if (gone)
        hot_context_free(context, made);
    else
        *name = made;
    errno = reason;
    return gone ? -1 : 0;
}
