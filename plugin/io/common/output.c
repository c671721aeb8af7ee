#define _GNU_SOURCE /* fopencookie, renameat2 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fields.h"
#include "parents.h"
#include "temporary.h"

hot_status hot_output_check_distinct(hot_context *context, const char *input, const char *output)
{
    struct stat in, out;
    if (!input || !output || strcmp(input, "-") == 0 || strcmp(output, "-") == 0 || stat(input, &in) != 0 ||
        stat(output, &out) != 0 || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
        return HOT_OK;
    if (!S_ISREG(in.st_mode) && !S_ISDIR(in.st_mode)) /* reading and writing one device is the user's affair */
        return HOT_OK;
    if (strcmp(input, output) == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "the output '%s' is the input, or a file of it; give it another name",
                                output);
    return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                            "the output '%s' is the same file as the input '%s'; give it another name", output, input);
}

/* Annexed content belongs to every link to it and is kept by its sum; a file without permission to write root would
 * replace all the same. */
hot_status hot_output_check_link(hot_context *context, const char *path, const char *target)
{
    static const char annex[] = "/.git/annex/objects/";
    char folder[PATH_MAX], real[PATH_MAX + sizeof annex] = "";
    struct stat there;
    snprintf(folder, sizeof folder, "%.*s", hot_path_folder_length(target), target);
    if (realpath(folder[0] ? folder : ".", real))
        strcat(real, "/");
    char given[PATH_MAX + 2];
    snprintf(given, sizeof given, "/%s", target); /* the object need not be there, nor its folder */
    const int annexed = strstr(real, annex) || strstr(given, annex);
    const int fixed = strcmp(path, target) != 0 && stat(target, &there) == 0 && !(there.st_mode & 0222);
    if (!annexed && !fixed)
        return HOT_OK;
    const char *way = annexed ? "`datalad unlock` or `git annex unlock` makes a file of it" : "make that writable";
    return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': it is a link to a file that must stay as it "
                            "is ('%s'); %s, or remove the link, or give another name", path, target, way);
}

hot_status hot_output_cannot(hot_context *context, const char *write, const char *path)
{
    return errno == ENOMEM ? HOT_ERROR_MEMORY
                           : hot_context_fail(context, HOT_ERROR_FILE, "cannot %s '%s': %s", write, path,
                                              strerror(errno));
}

hot_status hot_output_begin(hot_context *context, const char *path, hot_output *output)
{
    memset(output, 0, sizeof *output);
    if (!path || !path[0])
        return hot_context_fail(context, HOT_ERROR_FILE, "an output needs a file name");
    output->path = hot_string_copy(context, path);
    if (!output->path)
        return HOT_ERROR_MEMORY;
    if (strcmp(path, "-") == 0)
        return HOT_OK;
    hot_status status = HOT_OK;
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        if (S_ISDIR(there.st_mode))
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': it is a folder", path);
        else
            return HOT_OK; /* a device or pipe (/dev/stdout): written straight */
    }
    if (status == HOT_OK && !(output->target = hot_links_follow(context, path)))
        status = hot_output_cannot(context, "write", path);
    if (status == HOT_OK)
        status = hot_output_check_link(context, path, output->target);
    if (status == HOT_OK)
        status = hot_parents_make(context, output->target, &output->parents);
    if (status == HOT_OK) {
        /* Made at once, so that a folder that cannot be written is known before hours of work. */
        int handle = hot_temporary_make(context, output->target, &output->temporary);
        if (handle >= 0) {
            output->handle = handle;
            hot_temporary_sweep(output->target);
        } else {
            status = hot_output_cannot(context, "write", path);
        }
    }
    if (status != HOT_OK)
        hot_output_discard(context, output);
    return status;
}

/* ---- The stream: it checks for cancellation after every portion ------------------------------------------------- */

enum { PORTION = 1 << 16 };

typedef struct hot_output_stream {
    hot_context *context;
    int handle;
    int reason;   /* errno of the first write that failed: it may be long until somebody asks */
    int borrowed; /* standard output, or the output's own handle: not ours to close */
    char buffer[PORTION];
} stream;

static ssize_t stream_write(void *cookie, const char *data, size_t bytes)
{
    stream *to = cookie;
    size_t done = 0;
    while (done < bytes) {
        if (hot_context_cancelled(to->context)) {
            errno = ECANCELED;
            return 0; /* an error for the C library, unlike a negative number */
        }
        size_t part = bytes - done < PORTION ? bytes - done : PORTION;
        ssize_t wrote = write(to->handle, data + done, part);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            to->reason = to->reason ? to->reason : errno;
            return 0;
        }
        done += (size_t)wrote;
    }
    return (ssize_t)done;
}

static int stream_close(void *cookie)
{
    stream *to = cookie;
    int bad = to->borrowed ? 0 : close(to->handle), reason = errno;
    hot_context_free(to->context, to);
    errno = reason;
    return bad;
}

/* A stream into an open file, or into the device or pipe `path`. */
static FILE *stream_open(hot_context *context, int handle, const char *path, stream **opened)
{
    stream *to = hot_context_alloc(context, 1, sizeof *to);
    if (!to)
        return NULL;
    to->context = context;
    to->reason = 0;
    to->borrowed = path == NULL;
    to->handle = path ? open(path, O_WRONLY | O_CLOEXEC) : handle;
    FILE *file = to->handle < 0 ? NULL : fopencookie(to, "wb", (cookie_io_functions_t){.write = stream_write,
                                                                                      .close = stream_close});
    if (!file) {
        int reason = errno;
        if (to->handle >= 0 && !to->borrowed)
            close(to->handle);
        hot_context_free(context, to);
        errno = reason;
        return NULL;
    }
    setvbuf(file, to->buffer, _IOFBF, PORTION);
    *opened = to;
    return file;
}

hot_status hot_output_file(hot_context *context, hot_output *output, FILE **file)
{
    if (!output->file) {
        errno = 0;
        if (output->temporary)
            output->file = stream_open(context, output->handle, NULL, &output->stream);
        else if (strcmp(output->path, "-") != 0)
            output->file = stream_open(context, -1, output->path, &output->stream);
        else if (fflush(stdout) == 0)
            output->file = stream_open(context, STDOUT_FILENO, NULL, &output->stream);
        if (!output->file)
            return hot_context_fail(context, errno ? HOT_ERROR_FILE : HOT_ERROR_MEMORY, "cannot write '%s': %s",
                                    hot_output_name(output->path), errno ? strerror(errno) : "out of memory");
    }
    *file = output->file;
    return HOT_OK;
}

const char *hot_output_name(const char *path) { return strcmp(path, "-") == 0 ? "standard output" : path; }

hot_status hot_output_finish(hot_context *context, hot_output *output)
{
    int bad = 0, reason = 0;
    errno = 0;
    if (output->file) {
        bad = ferror(output->file) || fflush(output->file) != 0;
        reason = output->stream->reason ? output->stream->reason : errno;
        if (fclose(output->file) != 0) {
            bad = 1;
            reason = reason ? reason : errno;
        }
        output->file = NULL;
    }
    /* On the disk before it gets its name: after a power cut the name has the old content or all of the new. */
    if (!bad && output->handle && !output->synced && hot_temporary_holds(output->target)) {
        hot_sync_begin(output->handle);
    } else if (!bad && output->handle && !output->synced) {
        bad = hot_sync_file(output->handle) != 0;
        reason = errno;
        output->synced = !bad;
    }
    if (!bad)
        return HOT_OK;
    if (hot_context_cancelled(context))
        return hot_context_check(context, "writing");
    return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", hot_output_name(output->path),
                            reason ? strerror(reason) : "write error");
}

/* After its rename: the folder that now names it. */
static void sync_place(hot_context *context, hot_output *output)
{
    output->parents = 0;
    if (hot_temporary_holds(output->target))
        return;
    if (hot_sync_folder_of(output->target) != 0)
        hot_context_log(context, HOT_LOG_WARNING,
                        "'%s' is written, but its folder could not be brought to the disk: %s", output->path,
                        strerror(errno));
}

hot_status hot_output_commit(hot_context *context, hot_output *output)
{
    hot_status status = hot_output_finish(context, output);
    if (status == HOT_OK && output->temporary) {
        if (rename(output->temporary, output->target) != 0)
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", output->path, strerror(errno));
        else {
            sync_place(context, output);
            hot_context_free(context, output->temporary);
            output->temporary = NULL;
        }
    }
    hot_output_discard(context, output);
    return status;
}

void hot_output_discard(hot_context *context, hot_output *output)
{
    if (output->file)
        fclose(output->file);
    if (output->temporary)
        remove(output->temporary);
    if (output->handle)
        close(output->handle);
    if (output->target)
        hot_parents_remove(output->target, output->parents);
    HOT_FREE(context, output->temporary, output->target, output->path);
    memset(output, 0, sizeof *output);
}

hot_status hot_output_end(hot_context *context, hot_output *output, hot_status status)
{
    if (status == HOT_OK)
        return hot_output_commit(context, output);
    hot_output_discard(context, output);
    return status;
}

/* Puts an output in its place such that it can be taken back: what stood there is kept under the temporary name. */
static int put_in_place(hot_output *output)
{
    if (renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->target, RENAME_EXCHANGE) == 0)
        output->placed = 2;
    else if (rename(output->temporary, output->target) == 0) /* nothing stood there, or no exchange on this drive */
        output->placed = 1;
    return output->placed ? 0 : -1;
}

static void take_back(hot_output *output)
{
    if (output->placed == 2)
        (void)renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->target, RENAME_EXCHANGE);
    else if (output->placed)
        (void)unlink(output->target);
}

hot_status hot_output_end_all(hot_context *context, hot_output *const outputs[], size_t count, hot_status status)
{
    for (size_t i = 0; i < count && status == HOT_OK; i++)
        status = hot_output_finish(context, outputs[i]);
    for (size_t i = 0; i < count && status == HOT_OK; i++)
        if (outputs[i]->temporary && put_in_place(outputs[i]) != 0)
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", outputs[i]->path,
                                      strerror(errno));
    for (size_t i = count; i-- > 0;) {
        if (status != HOT_OK)
            take_back(outputs[i]);
        else if (outputs[i]->placed)
            sync_place(context, outputs[i]);
        if (outputs[i]->temporary)
            remove(outputs[i]->temporary);
    }
    for (size_t i = 0; i < count; i++) /* now that no file is left, the folders that any of them made */
        hot_output_discard(context, outputs[i]);
    return status;
}

hot_status hot_output_write(hot_context *context, const char *path, hot_output_put *put, const void *what)
{
    hot_output output = {0};
    FILE *file = NULL;
    hot_status status = hot_output_begin(context, path, &output);
    if (status == HOT_OK)
        status = hot_output_file(context, &output, &file);
    if (status == HOT_OK)
        status = put(context, file, what);
    return hot_output_end(context, &output, status);
}
