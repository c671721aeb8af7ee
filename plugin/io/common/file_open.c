#define _GNU_SOURCE /* fopencookie */
#include "file_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

enum { PATIENCE = 50 /* ms between two looks at whether the caller wants to stop */, PORTION = 1 << 18 };

/* ---- Pipes ----------------------------------------------------------------------------------------------------- */

typedef struct watched_pipe {
    hot_context *context;
    int handle, borrowed; /* borrowed: standard input, which stays open */
} watched_pipe;

/* Waits for bytes in short steps: a pipe whose other end is silent would block for ever. */
static ssize_t read_pipe(void *cookie, char *to, size_t bytes)
{
    const watched_pipe *from = cookie;
    for (;;) {
        struct pollfd ready = {.fd = from->handle, .events = POLLIN};
        const int count = poll(&ready, 1, PATIENCE);
        if (hot_context_cancelled(from->context)) {
            errno = ECANCELED;
            return -1;
        }
        if (count == 0 || (count < 0 && errno == EINTR))
            continue;
        const ssize_t got = read(from->handle, to, bytes);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR))
            return got;
    }
}

static int close_pipe(void *cookie)
{
    watched_pipe *gone = cookie;
    if (!gone->borrowed)
        close(gone->handle);
    free(gone);
    return 0;
}

static FILE *open_pipe(hot_context *context, int handle, int borrowed)
{
    watched_pipe *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    *made = (watched_pipe){context, handle, borrowed};
    FILE *file = fopencookie(made, "rb", (cookie_io_functions_t){.read = read_pipe, .close = close_pipe});
    if (!file)
        free(made);
    return file;
}

/* ---- Opening --------------------------------------------------------------------------------------------------- */

static hot_status refuse(hot_context *context, const char *path, const char *why)
{
    return hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': %s", path, why);
}

/* The type of a file is checked before it is opened, too: opening a device can have effects. */
static hot_status check_kind(hot_context *context, const char *path, const struct stat *about, hot_file_source source)
{
    if (S_ISREG(about->st_mode) || (S_ISFIFO(about->st_mode) && source == HOT_FILE_GIVEN))
        return HOT_OK;
    return refuse(context, path,
                  S_ISDIR(about->st_mode) ? "it is a folder"
                  : S_ISFIFO(about->st_mode) ? "it is a pipe, and a regular file is needed"
                                             : "it is a device, not a file");
}

static hot_status open_standard_input(hot_context *context, FILE **file)
{
    struct stat about;
    if (fstat(STDIN_FILENO, &about) != 0)
        return refuse(context, "standard input", strerror(errno));
    if (S_ISDIR(about.st_mode))
        return refuse(context, "standard input", "it is a folder");
    if (S_ISREG(about.st_mode)) {
        const int handle = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        *file = handle >= 0 ? fdopen(handle, "rb") : NULL;
        if (!*file && handle >= 0)
            close(handle);
    } else
        *file = open_pipe(context, STDIN_FILENO, 1);
    return *file ? HOT_OK : refuse(context, "standard input", strerror(errno));
}

hot_status hot_file_open(hot_context *context, const char *path, hot_file_source source, FILE **file)
{
    struct stat about;
    *file = NULL;
    if (source == HOT_FILE_GIVEN && strcmp(path, "-") == 0)
        return open_standard_input(context, file);
    if (stat(path, &about) != 0)
        return refuse(context, path, strerror(errno));
    hot_status status = check_kind(context, path, &about, source);
    if (status != HOT_OK)
        return status;
    const int handle = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (handle < 0 || fstat(handle, &about) != 0)
        status = refuse(context, path, strerror(errno));
    else
        status = check_kind(context, path, &about, source);
    if (status == HOT_OK)
        *file = S_ISREG(about.st_mode) ? fdopen(handle, "rb") : open_pipe(context, handle, 0);
    if (status == HOT_OK && !*file)
        status = refuse(context, path, strerror(errno));
    if (status != HOT_OK && handle >= 0)
        close(handle);
    return status;
}

hot_status hot_file_open_update(hot_context *context, const char *path, FILE **file)
{
    struct stat about;
    *file = NULL;
    const int handle = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
    if (handle < 0)
        return refuse(context, path, strerror(errno));
    hot_status status = fstat(handle, &about) == 0 ? check_kind(context, path, &about, HOT_FILE_FOUND)
                                                   : refuse(context, path, strerror(errno));
    if (status == HOT_OK && !(*file = fdopen(handle, "r+b")))
        status = refuse(context, path, strerror(errno));
    if (status != HOT_OK)
        close(handle);
    return status;
}

size_t hot_file_line(FILE *file, char *line, size_t capacity)
{
    size_t length = 0;
    for (int c; length < capacity && (c = getc(file)) != EOF; length++) {
        line[length] = (char)c;
        if (c == '\n') {
            line[length] = '\0';
            return length + 1;
        }
    }
    return 0;
}

hot_status hot_file_read_failed(hot_context *context, hot_status status)
{
    if (status == HOT_OK || status == HOT_ERROR_MEMORY || !hot_context_cancelled(context))
        return status;
    return hot_context_check(context, "reading");
}

/* Doubles a buffer of which `used` bytes are used. */
static hot_status grow(hot_context *context, char **bytes, size_t used, size_t *capacity)
{
    char *grown = hot_context_alloc(context, 2 * *capacity, 1);
    if (!grown)
        return HOT_ERROR_MEMORY;
    memcpy(grown, *bytes, used);
    hot_context_free(context, *bytes);
    *bytes = grown;
    *capacity *= 2;
    return HOT_OK;
}

/* Reads up to `room` bytes; *got 0 at the end. */
static hot_status read_portion(hot_context *context, const char *path, FILE *file, char *to, size_t room, size_t *got)
{
    errno = 0;
    *got = fread(to, 1, room < PORTION ? room : PORTION, file);
    if (hot_context_cancelled(context))
        return hot_context_check(context, "reading");
    return *got == 0 && ferror(file) ? refuse(context, path, strerror(errno ? errno : EIO)) : HOT_OK;
}

hot_status hot_file_load(hot_context *context, const char *path, hot_file_source source, const char *what, size_t max,
                         char **bytes, size_t *length)
{
    FILE *file;
    struct stat about;
    *bytes = NULL;
    hot_status status = hot_file_open(context, path, source, &file);
    if (status != HOT_OK)
        return status;
    const int known = fileno(file) >= 0 && fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode);
    const int larger = known && (about.st_size < 0 || (size_t)about.st_size > max);
    size_t used = 0, capacity = larger ? 0 : known ? (size_t)about.st_size + 2 : PORTION, got = 1;
    char *all = larger ? NULL : hot_context_alloc(context, capacity, 1);
    if (!larger && !all)
        status = HOT_ERROR_MEMORY;
    while (status == HOT_OK && !larger && got > 0 && used <= max) {
        if (capacity - used < 2) /* a pipe, or a file that grows */
            status = grow(context, &all, used, &capacity);
        if (status != HOT_OK)
            break;
        status = read_portion(context, path, file, all + used, capacity - used - 1, &got);
        used += got;
    }
    if (status == HOT_OK && (larger || used > max))
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is larger than %zu bytes, too large for %s", path,
                                  max, what);
    fclose(file);
    if (status == HOT_OK) {
        all[used] = '\0';
        *bytes = all;
        *length = used;
    } else
        hot_context_free(context, all);
    return status;
}

/* ---- Data files of headers ------------------------------------------------------------------------------------- */

/* Whether a name leaves the folder that it starts from. */
static int leaves_folder(const char *name)
{
    if (name[0] == '/')
        return 1;
    for (const char *part = name; part; part = strchr(part, '/'), part += part != NULL)
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return 1;
    return 0;
}

/* Whether a file is inside a header's folder, with all links resolved. */
static int lies_below(const char *header, const char *path)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(header, '/');
    const size_t length = slash ? (size_t)(slash - header) + (slash == header) : 0;
    if (length >= sizeof folder)
        return 0;
    if (slash) {
        memcpy(folder, header, length);
        folder[length] = '\0';
    }
    char *top = realpath(folder, NULL), *real = realpath(path, NULL);
    const size_t above = top ? strlen(top) : 0;
    const int below = top && real && strncmp(real, top, above) == 0 && (real[above] == '/' || strcmp(top, "/") == 0);
    free(top);
    free(real);
    return below;
}

hot_status hot_file_check_data(hot_context *context, const char *header, const char *name, const char *path,
                               hot_data_file *file)
{
    struct stat about;
    if (hot_context_confined(context) && leaves_folder(name))
        return hot_context_fail(context, HOT_ERROR_FILE,
                                "'%s' names the data file '%s', which is not in its own folder; data files are "
                                "confined to it here", header, name);
    if (stat(path, &about) != 0)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot open data file '%s' of '%s': %s", path, header,
                                strerror(errno));
    if (!S_ISREG(about.st_mode))
        return hot_context_fail(context, HOT_ERROR_FILE, "data file '%s' of '%s' is a %s, not a file", path, header,
                                S_ISDIR(about.st_mode) ? "folder" : S_ISFIFO(about.st_mode) ? "pipe" : "device");
    if (hot_context_confined(context) && !lies_below(header, path))
        return hot_context_fail(context, HOT_ERROR_FILE,
                                "'%s' names the data file '%s', a link out of its own folder; data files are confined "
                                "to it here", header, name);
    *file = (hot_data_file){about.st_dev, about.st_ino, (size_t)about.st_size};
    return HOT_OK;
}

static int compare_files(const void *a, const void *b)
{
    const hot_data_file *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

size_t hot_data_files_size(hot_data_file *files, size_t count)
{
    size_t sum = 0;
    qsort(files, count, sizeof *files, compare_files);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare_files(&files[i], &files[i - 1]) != 0)
            sum = files[i].bytes < SIZE_MAX - sum ? sum + files[i].bytes : SIZE_MAX;
    return sum;
}
