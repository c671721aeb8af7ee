/* The file that a fuzz target puts its bytes in. Define _GNU_SOURCE first. */
#ifndef HOT_TESTS_FUZZ_FILE_H
#define HOT_TESTS_FUZZ_FILE_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Its descriptor: in memory; `name`, in the current folder, leads to it. A name of /proc/self/fd would do but for the
 * data files of headers: those called "0" or "6" would be the process's own descriptors there, and the read of a pipe
 * (libFuzzer's to a symbolizer) does not end. -1: cannot be made. */
static inline int fuzz_file(const char *name)
{
    char path[64];
    const int descriptor = memfd_create(name, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    unlink(name);
    return descriptor >= 0 && symlink(path, name) == 0 ? descriptor : -1;
}

#endif
