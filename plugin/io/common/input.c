#include "input.h"

#include <string.h>
#include <unistd.h>

#include "core/fields.h"
#include "paths.h"

enum { NAME_BYTES = 4096 };

const char *hot_input_name(const char *path) { return strcmp(path, "-") == 0 ? "standard input" : path; }

static int ends_in_nifti(const char *path)
{
    static const char *const suffixes[] = {".hdr", ".img", ".hdr.gz", ".img.gz"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (hot_path_has_suffix(path, suffixes[i]))
            return 1;
    return hot_path_is_nifti(path);
}

/* 0 when the name says nothing. */
static int kind_of_name(const char *path, hot_file_kind *kind)
{
    const int nrrd = hot_path_has_suffix(path, ".nrrd") || hot_path_has_suffix(path, ".nhdr");
    *kind = nrrd ? HOT_FILE_NRRD : hot_path_is_mif(path) ? HOT_FILE_MIF : HOT_FILE_NIFTI;
    return nrrd || *kind == HOT_FILE_MIF || ends_in_nifti(path);
}

/* Standard input holds the name of a file, as MRtrix's programs pipe it: the file in place of the name. */
static hot_status follow_name(hot_context *context, hot_input *input)
{
    char name[NAME_BYTES + 1];
    size_t length = hot_stream_take(input->stream, name, NAME_BYTES);
    hot_stream_close(context, &input->stream);
    name[length] = '\0';
    name[strcspn(name, "\r\n")] = '\0';
    if (!hot_path_is_mif(name))
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds neither an image nor the name of a .mif file",
                                hot_input_name(input->path));
    char *copy = hot_string_copy(context, name);
    if (!copy)
        return HOT_ERROR_MEMORY;
    hot_context_free(context, input->path);
    input->path = copy;
    hot_status status = hot_stream_open(context, copy, &input->stream);
    const char *slash = strrchr(copy, '/');
    if (status == HOT_OK && strncmp(slash ? slash + 1 : copy, "mrtrix-tmp-", 11) == 0)
        unlink(copy); /* its content stays until the stream is closed */
    return status;
}

hot_status hot_input_open(hot_context *context, const char *path, hot_input *input)
{
    static const char magic[] = "mrtrix image";
    char first[sizeof magic - 1];
    memset(input, 0, sizeof *input);
    input->path = hot_string_copy(context, path);
    if (!input->path)
        return HOT_ERROR_MEMORY;
    if (kind_of_name(path, &input->kind))
        return HOT_OK;
    FILE *file;
    hot_status status = hot_stream_open_file(context, path, &file);
    if (status != HOT_OK)
        return status;
    int byte = getc(file);
    if (byte != EOF)
        ungetc(byte, file);
    input->kind = HOT_FILE_NIFTI;
    if (byte == EOF || byte == 'N' || !strchr("\x1f\x5c\x1c" "m/", byte)) { /* '\0' is found as well */
        input->kind = HOT_FILE_NRRD;
        input->file = file;
        return HOT_OK;
    }
    status = hot_stream_begin(context, file, hot_input_name(path), &input->stream);
    if (status != HOT_OK)
        return status;
    if (byte == '/' || byte == 'm' || byte == 0x1f) {
        size_t got = hot_stream_look(input->stream, first, sizeof first);
        if (got == sizeof first && memcmp(first, magic, got) == 0)
            input->kind = HOT_FILE_MIF;
        else if (byte == '/' || byte == 'm') {
            input->kind = HOT_FILE_MIF;
            status = follow_name(context, input);
        }
    }
    return status;
}

hot_status hot_input_take_stream(hot_context *context, hot_input *input, hot_stream **stream)
{
    hot_status status = input->stream ? HOT_OK : hot_stream_open(context, input->path, &input->stream);
    *stream = input->stream;
    input->stream = NULL;
    return status;
}

FILE *hot_input_take_file(hot_input *input)
{
    FILE *file = input->file;
    input->file = NULL;
    return file;
}

void hot_input_close(hot_context *context, hot_input *input)
{
    hot_stream_close(context, &input->stream);
    if (input->file && input->file != stdin)
        fclose(input->file);
    hot_context_free(context, input->path);
    memset(input, 0, sizeof *input);
}
