/* Data files of detached headers that are larger than the header says. */
#include <string.h>
#include <sys/stat.h>

#include "io/common/file_open.h"
#include "io/common/stream.h"
#include "nrrd_file.h"

/* Whether a file begins as NIfTI, of either version and byte order. */
static int is_nifti(const unsigned char *head, size_t bytes)
{
    const int one = head[0] + head[1] * 256 == 348 || head[3] + head[2] * 256 == 348;
    const int two = head[0] + head[1] * 256 == 540 || head[3] + head[2] * 256 == 540;
    return bytes >= 348 && ((one && (memcmp(head + 344, "n+1", 4) == 0 || memcmp(head + 344, "ni1", 4) == 0)) ||
                            (two && (memcmp(head + 4, "n+2", 4) == 0 || memcmp(head + 4, "ni2", 4) == 0)));
}

/* The unpacked size of the file if it is known without unpacking: gzip's last four bytes count the last member's. */
static size_t bytes_known(FILE *file, size_t there, int packed)
{
    unsigned char count[4];
    if (!packed)
        return there;
    if (there < 18 || fseeko(file, -4, SEEK_END) != 0 || fread(count, 1, 4, file) != 4)
        return 0;
    return count[0] | (size_t)count[1] << 8 | (size_t)count[2] << 16 | (size_t)count[3] << 24;
}

hot_status hot_nrrd_check_rest(hot_context *context, const hot_nrrd_file *file)
{
    const NrrdEncoding *encoding = file->nio->encoding;
    const int packed = encoding == nrrdEncodingGzip;
    hot_status status = HOT_OK;
    if ((!packed && encoding != nrrdEncodingRaw) || file->line_skip > 0)
        return HOT_OK;
    for (size_t i = 0; i < file->count && status == HOT_OK; i++) {
        const char *name = file->names[i];
        const size_t part = file->bytes / file->count;
        unsigned char head[348];
        struct stat about;
        hot_stream *stream = NULL;
        if (file->skips[i] < 0 || stat(name, &about) != 0 || !S_ISREG(about.st_mode))
            continue;
        status = hot_stream_open(context, name, HOT_FILE_FOUND, &stream);
        if (status != HOT_OK)
            break;
        const size_t got = hot_stream_take(stream, head, sizeof head);
        hot_stream_close(context, &stream);
        if (file->skips[i] < (long)sizeof head && is_nifti(head, got))
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': its data file '%s' begins with a NIfTI header, "
                                    "which would be read as samples; add the line `byte skip: -1` above `data file`",
                                    file->path, name);
        FILE *again;
        status = hot_file_open(context, name, HOT_FILE_FOUND, &again);
        if (status != HOT_OK)
            break;
        const size_t known = bytes_known(again, (size_t)about.st_size, packed), needed = part + (size_t)file->skips[i];
        fclose(again);
        if (known > needed && known / 1032 <= (size_t)about.st_size)
            hot_context_log(context, HOT_LOG_WARNING, "'%s': its data file '%s' holds %zu bytes more than its "
                            "sizes need; if the samples are not at its beginning, a `byte skip` is missing",
                            file->path, name, known - needed);
    }
    return status;
}
