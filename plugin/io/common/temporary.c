#define _GNU_SOURCE /* sync_file_range */
#include "temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/fields.h"

int hot_path_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

char *hot_links_follow(hot_context *context, const char *path)
{
    enum { MOST = 40 }; /* the kernel's own limit */
    struct stat there;
    char *at = hot_string_copy(context, path);
    /* Links that others planted in a shared folder are refused by the system, if asked to follow them. */
    if (at && stat(path, &there) != 0 && errno != ENOENT && errno != ENOTDIR) {
        int reason = errno;
        hot_context_free(context, at);
        errno = reason;
        return NULL;
    }
    for (int links = 0; at && links <= MOST; links++) {
        char to[PATH_MAX];
        ssize_t length = readlink(at, to, sizeof to - 1);
        if (length <= 0)
            return at;
        to[length] = '\0';
        const int folder = to[0] == '/' ? 0 : hot_path_folder_length(at);
        const size_t bytes = (size_t)folder + (size_t)length + 1;
        char *next = hot_context_alloc(context, bytes, 1);
        if (next)
            snprintf(next, bytes, "%.*s%s", folder, at, to);
        hot_context_free(context, at);
        at = next;
    }
    const int reason = at ? ELOOP : ENOMEM;
    hot_context_free(context, at);
    errno = reason;
    return NULL;
}

static unsigned int draw(void)
{
    unsigned int number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (unsigned int)now.tv_nsec ^ (unsigned int)(uintptr_t)&number;
    }
    return number;
}

void hot_temporary_name(const char *path, char *name, size_t capacity)
{
    const int folder = hot_path_folder_length(path);
    snprintf(name, capacity, "%.*s.part-%ld-%u-%s", folder, path, (long)getpid(), draw(), path + folder);
}

int hot_temporary_is_of(const char *entry, const char *name)
{
    long process;
    unsigned int number;
    int at = 0;
    return sscanf(entry, ".part-%ld-%u-%n", &process, &number, &at) == 2 && at > 0 && strcmp(entry + at, name) == 0;
}

/* Whether the file just made is ours for good: a sweeper may come between making and locking, and then removes it. */
static int lock_new(int handle)
{
    struct stat about;
    if (flock(handle, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK; /* without locks nobody sweeps */
    return fstat(handle, &about) != 0 || about.st_nlink > 0;
}

int hot_temporary_make(hot_context *context, const char *path, char **name)
{
    enum { TRIES = 100 };
    const size_t capacity = strlen(path) + HOT_TEMPORARY_EXTRA;
    int handle = -1, reason = ENOMEM;
    char *made = hot_context_alloc(context, capacity, 1);
    *name = NULL;
    for (int tries = 0; made && handle < 0 && tries < TRIES; tries++) {
        hot_temporary_name(path, made, capacity);
        handle = open(made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        reason = errno;
        if (handle >= 0 && handle <= STDERR_FILENO) { /* a caller without standard streams: 0 means none to others */
            int higher = fcntl(handle, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
            reason = errno;
            close(handle);
            if (higher < 0)
                unlink(made);
            handle = higher;
        }
        if (handle < 0 && reason != EEXIST)
            break;
        if (handle >= 0 && !lock_new(handle)) {
            close(handle);
            handle = -1;
        }
    }
    if (handle < 0)
        hot_context_free(context, made);
    else
        *name = made;
    errno = reason;
    return handle;
}

void hot_temporary_each_left(const char *path, int flags, void (*remove)(int folder, int handle, const char *name))
{
    char name[PATH_MAX];
    const int length = hot_path_folder_length(path);
    if (length >= PATH_MAX)
        return;
    snprintf(name, sizeof name, "%.*s", length, path);
    DIR *folder = opendir(length ? name : ".");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        if (!hot_temporary_is_of(entry->d_name, path + length))
            continue;
        int handle = openat(dirfd(folder), entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);
        if (handle < 0)
            continue;
        if (flock(handle, LOCK_EX | LOCK_NB) == 0)
            remove(dirfd(folder), handle, entry->d_name);
        close(handle);
    }
    if (folder)
        closedir(folder);
}

static void remove_file(int folder, int handle, const char *name)
{
    struct stat about;
    if (fstat(handle, &about) == 0 && S_ISREG(about.st_mode))
        unlinkat(folder, name, 0);
}

void hot_temporary_sweep(const char *path) { hot_temporary_each_left(path, O_NONBLOCK, remove_file); }

int hot_temporary_holds(const char *path)
{
    for (int up = 0, length = hot_path_folder_length(path); up < 2 && length > 1; up++) {
        const int end = length - 1; /* its slash */
        for (length = end; length > 0 && path[length - 1] != '/'; length--)
            ;
        if (strncmp(path + length, ".part-", 6) == 0)
            return 1;
    }
    return 0;
}

void hot_sync_begin(int handle) { (void)sync_file_range(handle, 0, 0, SYNC_FILE_RANGE_WRITE); }

int hot_sync_file(int handle)
{
    if (fsync(handle) == 0 || errno == EINVAL || errno == EROFS || errno == ENOSYS || errno == EOPNOTSUPP)
        return 0;
    return -1;
}

int hot_sync_folder_of(const char *path)
{
    char name[PATH_MAX];
    const int length = hot_path_folder_length(path);
    if (length >= PATH_MAX)
        return 0;
    snprintf(name, sizeof name, "%.*s", length, path);
    int handle = open(length ? name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) /* a folder to write in, but not to read */
        return 0;
    int bad = hot_sync_file(handle), reason = errno;
    close(handle);
    errno = reason;
    return bad;
}
