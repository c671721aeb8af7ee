/* MRtrix images in: the header's text, then the samples from this file or from those it names. */
#include "mif_read.h"

#include <string.h>

#include "mif_header.h"

/* A header longer than this is no header. */
static const size_t header_limit = (size_t)32 << 20;

typedef struct reader {
    hot_stream *stream; /* this file, standing behind its header */
    hot_mif_header header;
    char *folder;       /* where the names of data files start */
} reader;

/* The text up to END, or to the end of a header file, without the first line. */
static hot_status read_text(hot_context *context, hot_stream *stream, char **text)
{
    static const char magic[] = "mrtrix image";
    size_t used = 0, capacity = 8192, line = 0, lines = 0, passed = 0;
    *text = hot_context_alloc(context, capacity, 1);
    if (!*text)
        return HOT_ERROR_MEMORY;
    for (char c;;) {
        const int ended = hot_stream_take(stream, &c, 1) != 1;
        if ((++passed & 0xffff) == 0 && hot_context_cancelled(context))
            return hot_context_check(context, "reading");
        if (ended && lines > 0) {
            (*text)[used] = '\0';
            return HOT_OK;
        }
        if (used + 2 > capacity) {
            char *grown = capacity > header_limit ? NULL : hot_context_alloc(context, 2 * capacity, 1);
            if (!grown)
                return capacity > header_limit
                    ? hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has a header of more than %zu bytes",
                                       hot_stream_name(stream), header_limit)
                    : HOT_ERROR_MEMORY;
            memcpy(grown, *text, used);
            hot_context_free(context, *text);
            *text = grown;
            capacity *= 2;
        }
        (*text)[used++] = ended ? '\0' : c;
        if (ended || (lines == 0 && used > sizeof magic + 1))
            c = '\n'; /* no first line, or too long for it */
        if (c != '\n' && c != '\0')
            continue;
        (*text)[used] = '\0';
        if (lines == 0 && strncmp(*text, magic, sizeof magic - 1) != 0)
            return hot_context_fail(context, HOT_ERROR_FORMAT,
                                    "'%s' is not an MRtrix image: its first line is not `mrtrix image`",
                                    hot_stream_name(stream));
        const char *word = *text + line; /* MRtrix survives blanks behind END, and no line end */
        const int end = strncmp(word, "END", 3) == 0 && word[3 + strspn(word + 3, " \t\r\n")] == '\0';
        if (c == '\0' && !end)
            continue;
        if (lines++ == 0)
            used = 0;
        line = used;
        if (end)
            return HOT_OK;
    }
}

/* Bits come eight to a byte, the first in the highest. From behind, since a sample takes more room than its bit. */
static void unpack_bits(uint8_t *data, size_t samples)
{
    for (size_t n = samples; n-- > 0;)
        data[n] = data[n / 8] >> (7 - n % 8) & 1;
}

static hot_status read_part(hot_image *image, size_t number, char *data, size_t bytes)
{
    reader *from = image->reader;
    hot_context *context = image->context;
    const char *name = from->header.file[number];
    const size_t at = from->header.file_offset[number];
    if (strcmp(name, ".") == 0)
        return hot_stream_samples(context, from->stream, at, data, bytes);
    hot_stream *stream = NULL;
    hot_status status = hot_context_check(context, "reading");
    if (status == HOT_OK)
        status = hot_stream_open(context, image->files[number + 1], HOT_FILE_FOUND, &stream);
    if (status == HOT_OK)
        status = hot_stream_samples(context, stream, at, data, bytes);
    hot_stream_close(context, &stream);
    return status;
}

static hot_status read_samples(hot_image *image, void *data)
{
    const hot_mif_header *header = &((reader *)image->reader)->header;
    const size_t one = hot_sample_bytes(image->sample), part = image->samples / header->files;
    const size_t bytes = header->bits ? (part + 7) / 8 : part * one;
    hot_status status = HOT_OK;
    for (size_t i = 0; i < header->files && status == HOT_OK; i++) {
        char *to = (char *)data + i * part * one;
        status = read_part(image, i, to, bytes);
        if (status == HOT_OK && header->bits)
            unpack_bits((uint8_t *)to, part);
    }
    if (status == HOT_OK && header->swapped)
        status = hot_swap_bytes(image->context, data, image->samples, one);
    return status;
}

static void close_reader(hot_image *image)
{
    reader *from = image->reader;
    hot_stream_close(image->context, &from->stream);
    hot_mif_header_free(image->context, &from->header);
    HOT_FREE(image->context, from->folder, from);
}

/* The largest content of a data file: deflate shrinks at most 1032-fold. */
static hot_status find_capacity(const hot_image *image, const char *path, size_t *bytes)
{
    FILE *file = NULL;
    hot_status status = hot_file_open(image->context, path, HOT_FILE_FOUND, &file);
    if (status != HOT_OK)
        return hot_context_add(image->context, status, "a data file of '%s'", image->name);
    if (getc(file) == 0x1f)
        *bytes = *bytes < SIZE_MAX / 1032 ? 1032 * *bytes : SIZE_MAX;
    fclose(file);
    return HOT_OK;
}

static hot_status too_short(const hot_image *image, const char *path, size_t bytes, size_t at, size_t most)
{
    return hot_context_fail(image->context, HOT_ERROR_FORMAT, "'%s' is too short: the header of '%s' speaks of %zu "
                            "bytes of samples in it from byte %zu on, and it can hold %zu", path, image->name, bytes,
                            at, most);
}

/* Data file `number` by its name from the header's folder: it must be there and can hold its part. */
static hot_status find_file(hot_image *image, size_t number, size_t bytes, size_t *names, hot_data_file *file)
{
    const reader *from = image->reader;
    const char *name = from->header.file[number], *folder = name[0] == '/' ? "" : from->folder;
    const size_t at = from->header.file_offset[number], length = strlen(folder), all = length + strlen(name) + 1;
    const char *before = number ? from->header.file[number - 1] : "";
    if (strcmp(name, ".") == 0) {
        file->bytes = hot_stream_at_most(from->stream);
        hot_status status = hot_image_add_file(image, image->files[0]);
        if (status == HOT_OK && (at > file->bytes || bytes > file->bytes - at))
            status = too_short(image, image->name, bytes, at, file->bytes);
        return status;
    }
    if ((*names += all) > HOT_DATA_NAMES_MAX)
        return hot_context_fail(image->context, HOT_ERROR_FORMAT, "'%s': the names of its data files take more than %d "
                                "bytes", image->name, (int)HOT_DATA_NAMES_MAX);
    char *full = hot_context_alloc(image->context, all, 1);
    if (!full)
        return HOT_ERROR_MEMORY;
    memcpy(full, folder, length);
    strcpy(full + length, name);
    hot_status status = hot_image_add_file(image, full);
    if (status == HOT_OK && strcmp(name, before) == 0) {
        *file = file[-1];
    } else if (status == HOT_OK) {
        status = hot_file_check_data(image->context, image->files[0], name, full, file);
        if (status == HOT_OK)
            status = find_capacity(image, full, &file->bytes);
    }
    if (status == HOT_OK && (at > file->bytes || bytes > file->bytes - at))
        status = too_short(image, full, bytes, at, file->bytes);
    hot_context_free(image->context, full);
    return status == HOT_OK && (number & 0xff) == 0 ? hot_context_check(image->context, "reading") : status;
}

/* Notes the data files and refuses those that cannot hold the samples, before there is memory for these. */
static hot_status find_files(hot_image *image)
{
    const hot_mif_header *header = &((reader *)image->reader)->header;
    const size_t one = hot_sample_bytes(image->sample), count = header->files, part = image->samples / count;
    const size_t bytes = header->bits ? (part + 7) / 8 : part * one;
    size_t names = 0;
    if (image->samples % count != 0)
        return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                                "'%s': its %zu samples do not divide into %zu data files", image->name, image->samples,
                                count);
    hot_data_file *files = hot_context_calloc(image->context, count, sizeof *files);
    hot_status status = files ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t i = 0; i < count && status == HOT_OK; i++)
        status = find_file(image, i, bytes, &names, &files[i]);
    const size_t most = status == HOT_OK ? hot_data_files_size(files, count) : SIZE_MAX;
    if (status == HOT_OK && (most / count < bytes))
        status = hot_context_fail(image->context, HOT_ERROR_FORMAT, "'%s' is too short: its header speaks of %zu x %zu "
                                  "bytes of samples, and its data files can hold %zu together", image->name, count,
                                  bytes, most);
    hot_context_free(image->context, files);
    return status;
}

hot_status hot_mif_open(hot_context *context, hot_input *input, hot_image *image)
{
    char *text = NULL;
    reader *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    image->reader = made;
    image->read = read_samples;
    image->close = close_reader;
    const char *slash = strrchr(input->path, '/');
    const size_t folder = slash ? (size_t)(slash - input->path) + 1 : 0;
    made->folder = hot_context_calloc(context, folder + 1, 1);
    if (!made->folder)
        return HOT_ERROR_MEMORY;
    memcpy(made->folder, input->path, folder);
    hot_status status = hot_input_take_stream(context, input, &made->stream);
    if (status == HOT_OK)
        status = hot_image_add_file(image, input->path);
    if (status == HOT_OK)
        status = read_text(context, made->stream, &text);
    if (status == HOT_OK)
        status = hot_mif_header_parse(context, image->name, text, &made->header);
    hot_context_free(context, text);
    if (status == HOT_OK)
        status = hot_mif_header_apply(&made->header, image);
    if (status == HOT_OK)
        status = find_files(image);
    if (status == HOT_OK)
        status = hot_mif_header_place(&made->header, image);
    image->scheme = made->header.scheme;
    return status;
}
