/* To be preloaded: lets one call of the system fail. HOT_FAULT=NAME:N is the N-th call of that name, counted from 1;
 * HOT_FAULT=all:0 lets none fail, "most" does not count those for memory besides. HOT_FAULT_COUNT names a file that
 * gets the numbers of calls when the program ends. Writes to standard output and error never fail, so that the program
 * can report errors. Calls count from main() on, with HOT_FAULT_LATER from the first attempt to open
 * "/hot_fault_begin". HOT_FAULT_ONLY=WORD: only calls by libraries with that word in their names. "malloc" is every
 * allocation, except those of libraries that crash or exit without memory (Teem, fonts, drawing, OpenMP). "finish" is
 * the allocation of fclose() for a stream in memory, whose failure glibc ignores. With HOT_FAULT_TRACE standard error
 * gets the callers of the call that fails, and those of a crash. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char call[16];
static int wanted, error = EIO;

static int traced;
static const char *only;
static int all; /* nothing fails, everything is counted */

static void show_callers(int number)
{
    void *callers[64];
    backtrace_symbols_fd(callers, backtrace(callers, 64), STDERR_FILENO);
    if (number)
        _exit(128 + number);
}

__attribute__((constructor)) static void begin(void)
{
    void *callers[1];
    (void)backtrace(callers, 1); /* it allocates memory the first time */
    only = getenv("HOT_FAULT_ONLY");
    if (getenv("HOT_FAULT_TRACE")) {
        traced = 1;
        signal(SIGSEGV, show_callers);
        signal(SIGABRT, show_callers);
    }

    const char *text = getenv("HOT_FAULT"), *colon = text ? strchr(text, ':') : NULL;
    if (!colon || (size_t)(colon - text) >= sizeof call)
        return;
    memcpy(call, text, (size_t)(colon - text));
    wanted = atoi(colon + 1);
    all = strcmp(call, "all") == 0 || strcmp(call, "most") == 0;
    if (strcmp(call, "write") == 0 || strcmp(call, "fwrite") == 0)
        error = ENOSPC;
    if (strcmp(call, "malloc") == 0 || strcmp(call, "mmap") == 0 || strcmp(call, "finish") == 0)
        error = ENOMEM;
}

static int started;
static int (*real_main)(int argc, char **argv, char **environment);

static int counted_main(int argc, char **argv, char **environment)
{
    started = !getenv("HOT_FAULT_LATER");
    return real_main(argc, argv, environment);
}

int __libc_start_main(int (*first)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*end_of_loader)(void), void *stack_end)
{
    real_main = first;
    return ((int (*)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
                     void *))dlsym(RTLD_NEXT, "__libc_start_main"))(counted_main, argc, argv, init, fini,
                                                                    end_of_loader, stack_end);
}

/* Whether a code address is of one of these libraries. dladdr() goes through all symbols of one: what it said is kept,
 * for the calls come from the same places again and again. set: 0 to 2, for three sets of names. */
static int belongs(void *address, const char *const *names, size_t count, int set)
{
    enum { KEPT = 1024 };
    static __thread struct { void *address; int found; } kept[3][KEPT];
    const size_t slot = ((uintptr_t)address ^ (uintptr_t)address >> 10) % KEPT;
    if (kept[set][slot].address != address) {
        Dl_info about;
        kept[set][slot].address = address;
        kept[set][slot].found = 0;
        for (size_t t = 0; t < count; t++)
            kept[set][slot].found |= dladdr(address, &about) && about.dli_fname && strstr(about.dli_fname, names[t]);
    }
    return kept[set][slot].found;
}

/* Whether one of these libraries is among the callers. */
static int is_of(const char *const *names, size_t count, int set)
{
    static __thread int inside;
    void *callers[48];
    int found = 0;
    if (inside++ == 0)
        for (int i = 0, depth = backtrace(callers, 48); i < depth && !found; i++)
            found = belongs(callers[i], names, count, set);
    inside--;
    return found;
}

static const char *const names[] = {"open", "openat", "write", "close", "fsync", "mkdir", "opendir", "fopen", "rename",
                                    "fread", "fwrite", "fclose", "read", "pread", "pwrite", "mmap", "malloc", "finish"};
enum { NAMES = sizeof names / sizeof *names };
static atomic_int calls[NAMES];

static int fails(const char *name)
{
    static const char *const theirs[] = {"libteem",   "fontconfig", "libcairo", "freetype", "libexpat",
                                         "libpixman", "libgomp",    "libEGL",   "libGL",    "_dri",
                                         "gallium",   "libLLVM",    "libgbm",   "libX",     "libxcb",
                                         "libomp"};
    int which = 0;
    static const char *const openmp[] = {"libomp"}; /* clang's maps a file at its start, and aborts without */
    const int memory = strcmp(name, "malloc") == 0 || strcmp(name, "finish") == 0;
    if (!started || (!all && strcmp(name, call) != 0) || (all && memory && call[0] == 'm'))
        return 0;
    while (which < NAMES && strcmp(names[which], name) != 0)
        which++;
    if (which == NAMES || (!all && atomic_load(&calls[which]) >= wanted) /* it has failed: count no more */ ||
        (only && !is_of(&only, 1, 0)) || (memory && is_of(theirs, sizeof theirs / sizeof *theirs, 1)) ||
        (strcmp(name, "mmap") == 0 && is_of(openmp, 1, 2)))
        return 0;
    if (atomic_fetch_add(&calls[which], 1) + 1 != wanted || all)
        return 0;
    if (traced)
        show_callers(0);
    errno = error;
    return 1;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("HOT_FAULT_COUNT");
    const long file = path ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    for (int i = 0; i < NAMES && file >= 0; i++) {
        char text[48];
        const int length = snprintf(text, sizeof text, "%s %d\n", names[i], atomic_load(&calls[i]));
        (void)!syscall(SYS_write, file, text, length);
    }
    if (file >= 0)
        syscall(SYS_close, file);
}

#define REAL(result, name, ...) ((result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = va_arg(more, mode_t);
    va_end(more);
    started |= strcmp(path, "/hot_fault_begin") == 0;
    return fails("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* of programs for large files */
int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return open(path, flags, mode);
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

/* The result of ferror() afterwards. */
static size_t error_of(FILE *file)
{
    file->_flags |= 0x20;
    return 0;
}

size_t fread(void *to, size_t one, size_t count, FILE *file)
{
    return fails("fread") ? error_of(file) : REAL(size_t, fread, void *, size_t, size_t, FILE *)(to, one, count, file);
}

size_t fwrite(const void *data, size_t one, size_t count, FILE *file)
{
    return file != stderr && file != stdout && fails("fwrite")
        ? error_of(file) : REAL(size_t, fwrite, const void *, size_t, size_t, FILE *)(data, one, count, file);
}

static __thread int closing;

int fclose(FILE *file)
{
    closing++;
    const int bad = REAL(int, fclose, FILE *)(file);
    closing--;
    return fails("fclose") ? EOF : bad;
}

ssize_t read(int file, void *to, size_t bytes)
{
    return fails("read") ? -1 : REAL(ssize_t, read, int, void *, size_t)(file, to, bytes);
}

ssize_t pread(int file, void *to, size_t bytes, off_t at)
{
    return fails("pread") ? -1 : REAL(ssize_t, pread, int, void *, size_t, off_t)(file, to, bytes, at);
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t at)
{
    return fails("pwrite") ? -1 : REAL(ssize_t, pwrite, int, const void *, size_t, off_t)(file, data, bytes, at);
}

/* The functions that fortified programs call instead. */
int __open_2(const char *path, int flags) { return open(path, flags, 0); }
ssize_t __read_chk(int file, void *to, size_t bytes, size_t room)
{
    return bytes <= room ? read(file, to, bytes) : (abort(), -1);
}

ssize_t __pread_chk(int file, void *to, size_t bytes, off_t at, size_t room)
{
    return bytes <= room ? pread(file, to, bytes, at) : (abort(), -1);
}

size_t __fread_chk(void *to, size_t room, size_t one, size_t count, FILE *file)
{
    return one == 0 || count <= room / one ? fread(to, one, count, file) : (abort(), (size_t)0);
}

void *mmap(void *at, size_t bytes, int access, int flags, int file, off_t from)
{
    if (fails("mmap"))
        return MAP_FAILED;
    return REAL(void *, mmap, void *, size_t, int, int, int, off_t)(at, bytes, access, flags, file, from);
}

/* The C library's own, so that looking it up needs no memory. */
extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes), *__libc_memalign(size_t align, size_t bytes);
void *malloc(size_t bytes) { return fails("malloc") ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return fails("malloc") ? NULL : __libc_calloc(count, bytes); }
void *realloc(void *old, size_t bytes)
{
    return fails(closing ? "finish" : "malloc") ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t align, size_t bytes) { return fails("malloc") ? NULL : __libc_memalign(align, bytes); }
int posix_memalign(void **made, size_t align, size_t bytes)
{
    if (fails("malloc"))
        return ENOMEM;
    *made = __libc_memalign(align, bytes);
    return *made ? 0 : ENOMEM;
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
