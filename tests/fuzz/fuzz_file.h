/* The file that a fuzz target puts its bytes in. Define _GNU_SOURCE first. */
#pragma once

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "fuzz.h"

/* Whether a file of these bytes, a head and a body, was made. It is in memory; `name`, in the current folder, leads to
 * it, one name a program. A name of /proc/self/fd would do but for the data files of headers: those called "0" or "6"
 * would be the process's own descriptors there, and the read of a pipe (libFuzzer's to a symbolizer) does not end. */
static inline int fuzz_file(const char *name, const void *head, size_t head_bytes, const void *body, size_t body_bytes)
{
    static int descriptor = -1;
    if (descriptor < 0) {
        char path[64];
        descriptor = memfd_create(name, 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        unlink(name);
        if (descriptor >= 0 && symlink(path, name) != 0)
            close(descriptor), descriptor = -1;
    }
    return descriptor >= 0 && ftruncate(descriptor, 0) == 0 &&
           pwrite(descriptor, head, head_bytes, 0) == (ssize_t)head_bytes &&
           pwrite(descriptor, body, body_bytes, (off_t)head_bytes) == (ssize_t)body_bytes;
}

/* The same on the disk, for readers that want its ending. */
static inline int fuzz_disk_file(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(name, "wb");
    const int fine = file && fwrite(data, 1, size, file) == size;
    return file && fclose(file) == 0 && fine;
}

/* Reads it as data, and as a mask of these. */
static inline int fuzz_read_dwi(const char *path)
{
    hot_context *context = fuzz_context(NULL);
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    if (!context)
        return 0;
    if (hot_dwi_load(context, path, NULL, NULL, &dwi) == HOT_OK && hot_dwi_volumes(dwi) < 200) {
        hot_dwi_highest_order(context, dwi, -1);
        if (hot_mask_load(context, path, hot_dwi_grid(dwi), &mask) == HOT_OK)
            hot_mask_destroy(&mask);
    }
    hot_dwi_destroy(&dwi);
    fuzz_context_end(&context);
    return 0;
}
