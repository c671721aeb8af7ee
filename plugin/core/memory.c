#define _DEFAULT_SOURCE /* madvise */
#include "memory.h"

#include <inttypes.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/spill.h"

/* The number at the beginning of a file; `otherwise` if the file is missing or contains "max". */
static size_t read_number(const char *folder, const char *name, size_t otherwise)
{
    char path[PATH_MAX];
    uintmax_t value = 0;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return otherwise;
    FILE *file = fopen(path, "r");
    const int fine = file && fscanf(file, "%ju", &value) == 1;
    if (file)
        fclose(file);
    return fine && value < SIZE_MAX ? (size_t)value : otherwise;
}

void hot_memory_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void hot_memory_release(void *array, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (page - (uintptr_t)array % page) % page;
    if (bytes > before)
        madvise((char *)array + before, (bytes - before) / page * page, MADV_DONTNEED);
}

/* The bytes of a line "NAME: ... kB"; `otherwise` without such a line. */
static size_t read_kilobytes(const char *path, const char *name, size_t otherwise)
{
    char line[256];
    const size_t length = strlen(name);
    size_t bytes = otherwise;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            bytes = (size_t)strtoull(line + length + 1, NULL, 10) * 1024;
    if (file)
        fclose(file);
    return bytes;
}

size_t hot_memory_peak(void)
{
    struct rusage usage;
    const size_t own = read_kilobytes("/proc/self/status", "VmHWM", 0);
    if (own > 0)
        return own;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (size_t)usage.ru_maxrss : 0;
}

/* The free memory within the limits of a cgroup and its parents; cached files count as free. */
static size_t left_by(const char *root, const char *group, const char *limit, const char *used)
{
    char folder[PATH_MAX];
    size_t least = SIZE_MAX;
    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder)
        return least;
    for (;;) {
        const size_t most = read_number(folder, limit, SIZE_MAX), now = read_number(folder, used, 0);
        uintmax_t cached = 0;
        char line[256], name[PATH_MAX];
        snprintf(name, sizeof name, "%.*s/memory.stat", PATH_MAX - 20, folder);
        FILE *file = fopen(name, "r");
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "inactive_file %ju", &cached) == 1)
                break;
        if (file)
            fclose(file);
        const size_t kept = now > cached ? now - (size_t)cached : 0, left = most > kept ? most - kept : 0;
        least = left < least ? left : least;
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= strlen(root) || !slash)
            return least;
        *slash = '\0';
    }
}

size_t hot_memory_free(void)
{
    char line[PATH_MAX];
    size_t least = read_kilobytes("/proc/meminfo", "MemAvailable", SIZE_MAX);
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) { /* "0::/group", or "7:memory:/group" of version 1 */
        line[strcspn(line, "\n")] = '\0';
        const char *group = strrchr(line, ':');
        const int second = strncmp(line, "0::", 3) == 0;
        if (!group || (!second && !strstr(line, ":memory:")))
            continue;
        const size_t left = second ? left_by("/sys/fs/cgroup", group + 1, "memory.max", "memory.current")
                                   : left_by("/sys/fs/cgroup/memory", group + 1, "memory.limit_in_bytes",
                                             "memory.usage_in_bytes");
        least = left < least ? left : least;
    }
    if (file)
        fclose(file);
    return least;
}

/* The parent folder of a file or folder; 0 if it is unknown or not writable. */
static int folder_of(const char *output, char folder[HOT_MEMORY_FOLDER])
{
    if (!output || strcmp(output, "-") == 0 || strlen(output) >= HOT_MEMORY_FOLDER)
        return 0;
    size_t length = strlen(output);
    while (length > 1 && output[length - 1] == '/')
        length--;
    while (length > 0 && output[length - 1] != '/')
        length--;
    snprintf(folder, HOT_MEMORY_FOLDER, "%.*s", length ? (int)length : 1, length ? output : ".");
    return access(folder, W_OK | X_OK) == 0;
}

size_t hot_memory_bound(hot_context *context, size_t memory, const char *output, char folder[HOT_MEMORY_FOLDER])
{
    const char *own = getenv("TMPDIR");
    char there[HOT_MEMORY_FOLDER];
    const size_t most = memory ? memory : hot_memory_free() / 5 * 3;
    if (!folder)
        folder = there;
    if (!folder_of(output, folder))
        snprintf(folder, HOT_MEMORY_FOLDER, "%s", own && own[0] ? own : "/var/tmp");
    hot_context_bound(context, most, folder);
    return most;
}
