/* Whether the data files of an NRRD can hold as many samples as its header says. */
#include <stdio.h>
#include <string.h>

#include "core/fields.h"
#include "io/common/file_open.h"
#include "io/common/stream.h"
#include "nrrd_file.h"

static void sizes_text(const Nrrd *nrrd, char *buffer, size_t capacity)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned int axis = 0; axis < nrrd->dim && used < capacity; axis++)
        used += (size_t)snprintf(buffer + used, capacity - used, axis ? " x %zu" : "%zu", nrrd->axis[axis].size);
}

/* file->samples and file->bytes from the sizes. */
static hot_status count_samples(hot_context *context, hot_nrrd_file *file, const char *sizes)
{
    const Nrrd *nrrd = file->nrrd;
    if (nrrd->type == nrrdTypeBlock)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds blocks of bytes, not numbers", file->path);
    size_t one = nrrdElementSize(nrrd), samples = 1;
    for (unsigned int axis = 0; axis < nrrd->dim; axis++) {
        size_t size = nrrd->axis[axis].size;
        if (size == 0)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': an axis of size 0 in %s", file->path, sizes);
        if (samples > SIZE_MAX / 2 / one / size)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': %s samples are more than memory can address",
                                    file->path, sizes);
        samples *= size;
    }
    file->samples = samples;
    file->bytes = samples * one;
    return HOT_OK;
}

/* The least bytes of one of `files` data files in this encoding: deflate packs at best 1032 to 1, an ASCII number is
 * one character and a separator. */
static size_t least_bytes(const hot_nrrd_file *file, const NrrdEncoding *encoding, size_t files)
{
    const size_t part = file->bytes / files, samples = file->samples / files;
    return encoding == nrrdEncodingGzip    ? part / 1032
           : encoding == nrrdEncodingAscii ? samples + (samples - 1)
           : encoding == nrrdEncodingHex   ? 2 * part
           : encoding == nrrdEncodingRaw   ? part
                                           : part / 100000;
}

hot_status hot_nrrd_check_sizes(hot_context *context, hot_nrrd_file *file)
{
    const Nrrd *nrrd = file->nrrd;
    char sizes[NRRD_DIM_MAX * 24];
    sizes_text(nrrd, sizes, sizeof sizes);
    HOT_TRY(count_samples(context, file, sizes));
    const size_t samples = file->samples, files = file->count ? file->count : 1;
    if (samples % files)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': %s samples do not divide into %zu data files",
                                file->path, sizes, files);
    const NrrdEncoding *encoding = file->nio->encoding;
    if (!encoding->available())
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' is encoded as %s, which this build of Teem cannot read", file->path,
                                encoding->name);
    hot_data_file *data = hot_context_calloc(context, files, sizeof *data);
    hot_status status = data ? HOT_OK : HOT_ERROR_MEMORY;
    size_t together = 0; /* bytes that all files must have */
    for (size_t i = 0; i < files && status == HOT_OK; i++) {
        const char *name = file->count ? file->names[i] : file->path;
        const size_t folder = strlen(file->folder);
        if (file->count)
            status = hot_file_check_data(context, file->path, strncmp(name, file->folder, folder) == 0 ? name + folder
                                                                                                       : name,
                                         name, &data[i]);
        else
            data[i].bytes = hot_stream_remaining(file->stream);
        if (status == HOT_OK && (i & 0xff) == 0)
            status = hot_context_check(context, "reading");
        const size_t there = data[i].bytes;
        if (status != HOT_OK || there == SIZE_MAX)
            continue;
        const size_t part = file->bytes / files;
        size_t least = least_bytes(file, encoding, files);
        if (encoding == nrrdEncodingRaw && file->skips && file->skips[i] > 0)
            least += (size_t)file->skips[i];
        together = least < SIZE_MAX / 2 - together ? together + (encoding == nrrdEncodingRaw ? part : least)
                                                   : SIZE_MAX / 2;
        if (there < least)
            status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                      "'%s' is too short: %zu bytes of data, but %s samples of type %s as %s need at "
                                      "least %zu",
                                      name, there, sizes, airEnumStr(nrrdType, nrrd->type), encoding->name, least);
    }
    const size_t most = status == HOT_OK && file->count ? hot_data_files_size(data, files) : SIZE_MAX;
    if (status == HOT_OK && most < together) /* a file that is named again and again */
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "the data files of '%s' are too short: %zu bytes together, but %s samples of type %s "
                                  "as %s need at least %zu",
                                  file->path, most, sizes, airEnumStr(nrrdType, nrrd->type), encoding->name, together);
    hot_context_free(context, data);
    return status;
}

hot_status hot_nrrd_fits(hot_context *context, const hot_nrrd_file *file)
{
    char sizes[NRRD_DIM_MAX * 24], what[sizeof sizes + 64];
    sizes_text(file->nrrd, sizes, sizeof sizes);
    snprintf(what, sizeof what, "%s samples of type %s", sizes, airEnumStr(nrrdType, file->nrrd->type));
    return hot_memory_check(context, file->path, what, (double)file->bytes);
}
