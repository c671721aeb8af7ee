#include "parents.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static hot_status fail(hot_context *context, const char *path, int reason)
{
    return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", path, strerror(reason));
}

/* Cuts the last name off: "a/b/" and "a/b" become "a", "a" becomes ".", "/a" becomes "/". 0 when nothing is above. */
static int cut(char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0) {
        const int is_here = strcmp(path, ".") == 0;
        strcpy(path, ".");
        return !is_here;
    }
    const int is_root = strcmp(path, "/") == 0;
    path[length] = '\0';
    return !is_root;
}

static int copy(char to[PATH_MAX], const char *path)
{
    if (strlen(path) >= PATH_MAX)
        return 0;
    strcpy(to, path);
    return 1;
}

hot_status hot_parents_check(hot_context *context, const char *path, int folder)
{
    char above[PATH_MAX];
    struct stat about;
    if (!path || strcmp(path, "-") == 0)
        return HOT_OK;
    if (!copy(above, path))
        return fail(context, path, ENAMETOOLONG);
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        if (S_ISDIR(about.st_mode) && !folder)
            return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': it is a folder", path);
        if (!S_ISDIR(about.st_mode))
            return HOT_OK; /* a device or pipe is written straight */
    }
    int bad = ENOENT;
    while (bad == ENOENT && cut(above))
        bad = stat(above, &about) != 0 ? errno : !S_ISDIR(about.st_mode) ? ENOTDIR
              : access(above, W_OK | X_OK) != 0 ? errno : 0;
    return bad ? fail(context, path, bad) : HOT_OK;
}

/* The folder so many levels above a path that is not too long. */
static void rise(char above[PATH_MAX], const char *path, int levels)
{
    strcpy(above, path);
    while (levels-- > 0 && cut(above)) {}
}

hot_status hot_parents_make(hot_context *context, const char *path, int *made)
{
    char above[PATH_MAX];
    struct stat about;
    int lacking = 0;
    *made = 0;
    if (!copy(above, path))
        return fail(context, path, ENAMETOOLONG);
    while (cut(above) && stat(above, &about) != 0 && errno == ENOENT)
        lacking++;
    for (int level = lacking; level > 0; level--) { /* the outermost first */
        rise(above, path, level);
        if (mkdir(above, 0777) == 0) {
            ++*made;
        } else if (errno != EEXIST) { /* which another command may have made meanwhile */
            const int reason = errno;
            for (int outer = level + 1; outer <= lacking; outer++) {
                rise(above, path, outer);
                rmdir(above);
            }
            *made = 0;
            return fail(context, path, reason);
        }
    }
    return HOT_OK;
}

void hot_parents_remove(const char *path, int made)
{
    char above[PATH_MAX];
    for (int level = 1; level <= made; level++) { /* the innermost first */
        rise(above, path, level);
        if (rmdir(above) != 0)
            return;
    }
}
