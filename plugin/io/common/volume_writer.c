#include "volume_writer.h"

#include <errno.h>
#include <string.h>

#include "paths.h"

static hot_status write_bytes(hot_context *context, hot_volume_writer *writer, const void *data, size_t bytes)
{
    const char *at = data;
    if (!writer->zip) {
        FILE *file;
        hot_status status = hot_output_file(context, &writer->output, &file);
        if (status == HOT_OK && fwrite(at, 1, bytes, file) != bytes)
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", writer->output.path,
                                      strerror(errno));
        return status;
    }
    while (bytes > 0) {
        unsigned int part = bytes < (1u << 18) ? (unsigned int)bytes : 1u << 18; /* some ms of compressing */
        hot_status status = hot_context_check(context, "writing");
        if (status != HOT_OK)
            return status;
        errno = 0;
        if (gzwrite(writer->zip, at, part) != (int)part)
            return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", writer->output.path,
                                    errno ? strerror(errno) : "compression failed");
        at += part;
        bytes -= part;
    }
    return HOT_OK;
}

hot_status hot_volume_begin(hot_context *context, const char *path, const void *head, size_t head_bytes,
                            size_t expected, hot_volume_writer *writer)
{
    memset(writer, 0, sizeof *writer);
    writer->expected = expected;
    hot_status status = hot_output_begin(context, path, &writer->output);
    if (status != HOT_OK)
        return status;
    if (hot_path_has_suffix(path, ".gz")) {
        errno = 0;
        /* Fast compression: on float data the slow levels take five times as long to save a few percent. */
        writer->zip = gzopen(writer->output.temporary ? writer->output.temporary : path, "wb1");
        if (!writer->zip)
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", path,
                                      errno ? strerror(errno) : "no memory to compress");
        else
            gzbuffer(writer->zip, 1 << 18);
    }
    if (status == HOT_OK)
        status = write_bytes(context, writer, head, head_bytes);
    if (status != HOT_OK)
        return hot_volume_end(context, writer, status);
    return HOT_OK;
}

hot_status hot_volume_write(hot_context *context, hot_volume_writer *writer, const void *samples, size_t bytes)
{
    if (bytes > writer->expected - writer->written)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "more samples for '%s' than its header says",
                                writer->output.path);
    writer->written += bytes;
    return write_bytes(context, writer, samples, bytes);
}

hot_status hot_volume_finish(hot_context *context, hot_volume_writer *writer, hot_status status)
{
    if (status == HOT_OK && writer->written != writer->expected)
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "%zu of %zu bytes of samples given for '%s'",
                                  writer->written, writer->expected, writer->output.path);
    if (writer->zip) {
        errno = 0;
        int closed = gzclose(writer->zip);
        writer->zip = NULL;
        if (status == HOT_OK && closed != Z_OK)
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", writer->output.path,
                                      closed == Z_ERRNO && errno ? strerror(errno) : "compression failed");
    }
    if (status == HOT_OK)
        status = hot_output_finish(context, &writer->output);
    return status == HOT_OK && writer->header.path ? hot_output_finish(context, &writer->header) : status;
}

hot_status hot_volume_end(hot_context *context, hot_volume_writer *writer, hot_status status)
{
    status = hot_volume_finish(context, writer, status);
    status = hot_output_end(context, &writer->output, status);
    status = hot_output_end(context, &writer->header, status);
    memset(writer, 0, sizeof *writer);
    return status;
}

hot_status hot_volume_save(hot_context *context, hot_volume_writer *writer, hot_status status, size_t voxels,
                           size_t volumes, hot_volume_fill *fill, const void *from)
{
    if (status != HOT_OK)
        return status;
    float *volume = hot_context_alloc(context, voxels, sizeof *volume);
    if (!volume)
        status = HOT_ERROR_MEMORY;
    for (size_t number = 0; number < volumes && status == HOT_OK; number++) {
        fill(context, from, number, voxels, volume);
        status = hot_volume_write(context, writer, volume, voxels * sizeof *volume);
    }
    hot_context_free(context, volume);
    return hot_volume_end(context, writer, status);
}
