#include "volume_writer.h"

#include <errno.h>
#include <string.h>

#include "paths.h"

static hot_status write_bytes(hot_context *context, hot_volume_writer *writer, const void *data, size_t bytes)
{
    if (writer->zip)
        return hot_gzip_write(writer->zip, data, bytes);
    FILE *file;
    hot_status status = hot_output_file(context, &writer->output, &file);
    if (status == HOT_OK && bytes > 0 && fwrite(data, 1, bytes, file) != bytes)
        status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", writer->output.path,
                                  strerror(errno));
    return status;
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
        FILE *file;
        status = hot_output_file(context, &writer->output, &file);
        if (status == HOT_OK)
            status = hot_gzip_begin(context, file, writer->output.path, &writer->zip);
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
    status = hot_gzip_end(&writer->zip, status);
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
    enum { PORTION = 1 << 16 }; /* voxels; of tensors that is 8 MB, between which pages of large arrays are let go */
    float *samples = hot_context_alloc(context, voxels < PORTION ? voxels : PORTION, sizeof *samples);
    if (!samples)
        status = HOT_ERROR_MEMORY;
    for (size_t number = 0; number < volumes && status == HOT_OK; number++) {
        for (size_t first = 0; first < voxels && status == HOT_OK; first += PORTION) {
            const size_t count = voxels - first < PORTION ? voxels - first : PORTION;
            fill(context, from, number, first, count, samples);
            status = hot_volume_write(context, writer, samples, count * sizeof *samples);
            if (status == HOT_OK)
                status = hot_context_check(context, "writing");
        }
    }
    hot_context_free(context, samples);
    return hot_volume_end(context, writer, status);
}
