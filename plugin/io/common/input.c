#include "input.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
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

/* Whether the file that holds the name is a pipe on standard input: MRtrix's programs hand names on by no other way. */
static int is_piped(const char *path)
{
    struct stat about;
    return strcmp(path, "-") == 0 && fstat(STDIN_FILENO, &about) == 0 && S_ISFIFO(about.st_mode);
}

/* Whether a name is of MRtrix's own temporary files, "mrtrix-tmp-XXXXXX.mif" with six letters or digits, and the file
 * an ordinary one of this user's. */
static int is_temporary(const char *path)
{
    static const char begin[] = "mrtrix-tmp-";
    enum { LETTERS = 6 };
    struct stat about;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strncmp(name, begin, sizeof begin - 1) != 0)
        return 0;
    name += sizeof begin - 1;
    for (int i = 0; i < LETTERS; i++)
        if (!isalnum((unsigned char)name[i]))
            return 0;
    return strcmp(name + LETTERS, ".mif") == 0 && lstat(path, &about) == 0 && S_ISREG(about.st_mode) &&
           about.st_uid == geteuid();
}

/* Standard input holds the name of a file, as MRtrix's programs pipe it: the file in place of the name. */
static hot_status follow_name(hot_context *context, hot_input *input)
{
    const int piped = is_piped(input->path);
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
    hot_status status = hot_stream_open(context, copy, HOT_FILE_FOUND, &input->stream);
    if (status == HOT_OK && piped && is_temporary(copy))
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
    HOT_TRY(hot_stream_open_file(context, path, HOT_FILE_GIVEN, &file));
    int byte = getc(file);
    if (byte != EOF)
        ungetc(byte, file);
    input->kind = HOT_FILE_NIFTI;
    if (byte == EOF || byte == 'N' || !strchr("\x1f\x5c\x1c" "m/", byte)) { /* '\0' is found as well */
        input->kind = HOT_FILE_NRRD;
        input->file = file;
        return HOT_OK;
    }
    hot_status status = hot_stream_begin(context, file, hot_input_name(path), &input->stream);
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
    hot_status status =
        input->stream ? HOT_OK : hot_stream_open(context, input->path, HOT_FILE_GIVEN, &input->stream);
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
    if (input->file)
        fclose(input->file);
    hot_context_free(context, input->path);
    memset(input, 0, sizeof *input);
}
