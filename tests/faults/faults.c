/* To be preloaded: lets one call of the system fail. HOT_FAULT=NAME:N is the N-th call of that name, counted from 1;
 * HOT_FAULT_COUNT names a file that gets the number of its calls when the program ends. What a program says (to
 * standard output and error) is left alone, so that it can speak of what happened. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char call[16];
static int wanted, error = EIO;
static atomic_int calls;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("HOT_FAULT"), *colon = text ? strchr(text, ':') : NULL;
    if (!colon || (size_t)(colon - text) >= sizeof call)
        return;
    memcpy(call, text, (size_t)(colon - text));
    wanted = atoi(colon + 1);
    if (strcmp(call, "write") == 0)
        error = ENOSPC;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("HOT_FAULT_COUNT");
    char text[16];
    const int length = snprintf(text, sizeof text, "%d", atomic_load(&calls));
    const long file = path ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (file >= 0) {
        (void)!syscall(SYS_write, file, text, length);
        syscall(SYS_close, file);
    }
}

static int fails(const char *name)
{
    if (strcmp(name, call) != 0 || atomic_fetch_add(&calls, 1) + 1 != wanted)
        return 0;
    errno = error;
    return 1;
}

#define REAL(result, name, ...) ((result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return fails("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return fails("openat") ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

ssize_t write(int file, const void *data, size_t bytes)
{
    if (file > STDERR_FILENO && fails("write"))
        return -1;
    return REAL(ssize_t, write, int, const void *, size_t)(file, data, bytes);
}

int close(int file)
{
    const int bad = REAL(int, close, int)(file); /* as of a network drive: closed, and the data are not there */
    return fails("close") ? -1 : bad;
}

int fsync(int file) { return fails("fsync") ? -1 : REAL(int, fsync, int)(file); }
int mkdir(const char *path, mode_t mode)
{
    return fails("mkdir") ? -1 : REAL(int, mkdir, const char *, mode_t)(path, mode);
}

DIR *opendir(const char *path) { return fails("opendir") ? NULL : REAL(DIR *, opendir, const char *)(path); }
FILE *fopen(const char *path, const char *mode)
{
    return fails("fopen") ? NULL : REAL(FILE *, fopen, const char *, const char *)(path, mode);
}

size_t fread(void *to, size_t one, size_t count, FILE *file)
{
    return fails("fread") ? 0 : REAL(size_t, fread, void *, size_t, size_t, FILE *)(to, one, count, file);
}

int rename(const char *from, const char *to)
{
    return fails("rename") ? -1 : REAL(int, rename, const char *, const char *)(from, to);
}

int renameat(int old, const char *from, int new, const char *to)
{
    return fails("rename") ? -1 : REAL(int, renameat, int, const char *, int, const char *)(old, from, new, to);
}

int renameat2(int old, const char *from, int new, const char *to, unsigned int flags)
{
    if (fails("rename"))
        return -1;
    return REAL(int, renameat2, int, const char *, int, const char *, unsigned int)(old, from, new, to, flags);
}
