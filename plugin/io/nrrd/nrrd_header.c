/* The header of an NRRD: the text is read and the fields about data files taken out here; Teem parses the rest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <teem/biff.h>

#include "core/fields.h"
#include "io/common/file_open.h"
#include "io/common/stream.h"
#include "nrrd_file.h"

/* A header longer than this is no header: 10^5 gradients of 200 characters fit. */
static const size_t header_limit = (size_t)32 << 20;

static pthread_mutex_t teem_lock = PTHREAD_MUTEX_INITIALIZER;

/* Messages that stood on the stack under NRRD's key when we came: a host that uses Teem itself may not have read them
 * yet. Set aside while we are at work and put back, so that neither sees the other's. */
static char *of_host;

void hot_nrrd_lock(void)
{
    pthread_mutex_lock(&teem_lock);
    of_host = biffCheck(NRRD) ? biffGetDone(NRRD) : NULL;
}

void hot_nrrd_unlock(void)
{
    if (biffCheck(NRRD))
        biffDone(NRRD);
    static const char label[] = "[nrrd] "; /* before every line; the last one is the oldest */
    for (char *end = of_host ? of_host + strlen(of_host) : NULL; end && end > of_host;) {
        if (end[-1] == '\n')
            *--end = '\0';
        char *line = end;
        while (line > of_host && line[-1] != '\n')
            line--;
        biffAdd(NRRD, strncmp(line, label, strlen(label)) == 0 ? line + strlen(label) : line);
        end = line;
    }
    free(of_host);
    of_host = NULL;
    pthread_mutex_unlock(&teem_lock);
}

const char *hot_nrrd_reason(char *buffer, size_t capacity)
{
    snprintf(buffer, capacity, "unknown reason");
    if (!biffCheck(NRRD))
        return buffer;
    char *text = biffGetDone(NRRD);
    if (!text)
        return buffer;
    /* Lines go from the outermost function to the deepest one, which knows what was wrong; the one that names the field
     * of the header is kept as well. */
    char field[160] = "";
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *said = strstr(line, "] ");
        said = said ? said + 2 : line;
        char *colon = strstr(said, ": ");
        said = colon ? colon + 2 : said;
        if (strncmp(said, "trouble parsing ", 16) == 0 && strchr(said, '|'))
            snprintf(field, sizeof field, "%s", said + 16);
        if (*said)
            snprintf(buffer, capacity, "%s", said);
    }
    size_t used = strlen(buffer);
    if (field[0] && !strstr(buffer, field))
        snprintf(buffer + used, capacity - used, " (%s)", field);
    free(text);
    for (char *c = buffer; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return buffer;
}

/* ---- the text ---- */

typedef struct text {
    char *bytes;
    size_t used, capacity;
} text;

static hot_status text_append(hot_context *context, text *to, const char *bytes, size_t count)
{
    if (to->used + count + 1 > to->capacity) {
        size_t capacity = 2 * (to->used + count) + 4096;
        char *grown = hot_context_alloc(context, capacity, 1);
        if (!grown)
            return HOT_ERROR_MEMORY;
        if (to->used)
            memcpy(grown, to->bytes, to->used);
        hot_context_free(context, to->bytes);
        to->bytes = grown;
        to->capacity = capacity;
    }
    memcpy(to->bytes + to->used, bytes, count);
    to->used += count;
    to->bytes[to->used] = '\0';
    return HOT_OK;
}

/* All lines up to the first empty one (consumed, not kept) or the end, line ends made "\n". */
static hot_status read_text(hot_context *context, hot_nrrd_file *file, FILE *from, text *header, int *blank)
{
    char line[4096];
    /* length of the current line so far (magic included), even where `line` holds only a part of it */
    size_t length = header->used;
    size_t held = 0, passed = 0;
    *blank = 0;
    for (;;) {
        if ((++passed & 0xffff) == 0 && hot_context_cancelled(context))
            return hot_context_check(context, "reading");
        int c = getc(from);
        if (c == '\n' || c == EOF || held == sizeof line) {
            if (c != '\n' && c != EOF)
                ungetc(c, from);
            size_t keep = held;
            if (c == '\n' && keep && line[keep - 1] == '\r')
                keep--;
            if (c == '\n' && length - (held - keep) == 0) {
                *blank = 1;
                return HOT_OK;
            }
            hot_status status = text_append(context, header, line, keep);
            if (status == HOT_OK && (c == '\n' || (c == EOF && length)))
                status = text_append(context, header, "\n", 1);
            if (status != HOT_OK)
                return status;
            if (header->used > header_limit)
                return hot_context_fail(context, HOT_ERROR_FORMAT,
                                        "'%s' has a header of more than %zu bytes: not an NRRD", file->path,
                                        header_limit);
            if (c == EOF)
                return !ferror(from) ? HOT_OK
                    : hot_file_read_failed(context, hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': %s",
                                                                     file->path, strerror(errno)));
            held = 0;
            if (c == '\n')
                length = 0;
            continue;
        }
        if (c == '\0')
            return hot_context_fail(context, HOT_ERROR_FORMAT,
                                    "'%s' has a zero byte in its header: not an NRRD, or a damaged one", file->path);
        line[held++] = (char)c;
        length++;
    }
}

/* ---- where the data lie ---- */

/* The value of a "name: value" line when the line is that field (spaces in the name do not count), else NULL. */
static const char *field_value(const char *line, const char *name)
{
    while (*name) {
        while (*line == ' ')
            line++;
        if ((*line | 0x20) != *name)
            return NULL;
        line++, name++;
    }
    while (*line == ' ')
        line++;
    if (line[0] != ':' || line[1] == '=')
        return NULL;
    for (line++; *line == ' ' || *line == '\t'; line++) {}
    return line;
}

static hot_status add_name(hot_context *context, hot_nrrd_file *file, const char *name, size_t length, long skip)
{
    const size_t folder = name[0] == '/' ? 0 : strlen(file->folder);
    file->names_bytes += folder + length + 1;
    if (file->count == HOT_DATA_FILES_MAX || file->names_bytes > HOT_DATA_NAMES_MAX)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' names more than %d data files, or their names take "
                                "more than %d bytes", file->path, (int)HOT_DATA_FILES_MAX, (int)HOT_DATA_NAMES_MAX);
    /* Grown by doubling: capacity is the next power of two. */
    if ((file->count & (file->count - 1)) == 0) {
        size_t capacity = file->count ? 2 * file->count : 1;
        char **names = hot_context_alloc(context, capacity, sizeof *names);
        long *skips = hot_context_alloc(context, capacity, sizeof *skips);
        if (!names || !skips) {
            HOT_FREE(context, names, skips);
            return HOT_ERROR_MEMORY;
        }
        if (file->count) {
            memcpy(names, file->names, file->count * sizeof *names);
            memcpy(skips, file->skips, file->count * sizeof *skips);
        }
        HOT_FREE(context, file->names, file->skips);
        file->names = names;
        file->skips = skips;
    }
    char *full = hot_context_alloc(context, folder + length + 2, 1);
    if (!full)
        return HOT_ERROR_MEMORY;
    if (folder)
        memcpy(full, file->folder, folder);
    memcpy(full + folder, name, length);
    full[folder + length] = '\0';
    file->names[file->count] = full;
    file->skips[file->count] = skip;
    file->count++;
    return HOT_OK;
}

/* "name%03d.raw 1 40 1 [dim]": the number format is expanded here, never handed to printf. Sets *taken when the value
 * is of that form. */
static hot_status expand_names(hot_context *context, hot_nrrd_file *file, const char *value, int *taken)
{
    size_t length = strcspn(value, " \t");
    const char *percent = memchr(value, '%', length);
    long min, max, step;
    *taken = 0;
    if (!percent || sscanf(value + length, "%ld %ld %ld", &min, &max, &step) != 3)
        return HOT_OK;
    *taken = 1;
    const char *at = percent + 1;
    int zero = *at == '0';
    char *end;
    long width = strtol(at, &end, 10);
    if (width < 0 || width > 32 || *end != 'd' || end >= value + length ||
        memchr(end, '%', length - (size_t)(end - value)))
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s': data file '%.*s' must hold one %%d (as in %%03d) for the file's number",
                                file->path, (int)(length < 200 ? length : 200), value);
    /* Before anything is computed with the file's numbers. */
    const long far = 1000000000, most = HOT_DATA_FILES_MAX;
    const int bounded = min >= -far && min <= far && max >= -far && max <= far && step >= -far && step <= far;
    long number = bounded && step != 0 ? (max - min) / step + 1 : 0;
    if (number <= 0 || number > most)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s': data files numbered from %ld to %ld by %ld; 1 to %ld files, with numbers of up "
                                "to %ld, can be read",
                                file->path, min, max, step, most, far);
    for (long i = 0; i < number; i++) {
        char name[4400], digits[64];
        if (length > 4000)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': the name of the data file is too long",
                                    file->path);
        snprintf(digits, sizeof digits, zero ? "%0*ld" : "%*ld", (int)width, min + i * step);
        int made = snprintf(name, sizeof name, "%.*s%s%.*s", (int)(percent - value), value, digits,
                            (int)(length - (size_t)(end + 1 - value)), end + 1);
        hot_status status = add_name(context, file, name, (size_t)made, 0);
        hot_data_file about;
        if (status == HOT_OK) /* before the next: a short line names many */
            status = hot_file_check_data(context, file->path, name, file->names[file->count - 1], &about);
        if (status == HOT_OK && (i & 0xff) == 0)
            status = hot_context_check(context, "reading");
        if (status != HOT_OK)
            return status;
    }
    return HOT_OK;
}

/* Sizes are counted in digits before anyone computes with them: Teem takes "-4" for a number. */
static hot_status check_size_words(hot_context *context, const hot_nrrd_file *file, const char *value)
{
    for (const char *word = value + strspn(value, " \t"); *word; word += strspn(word, " \t")) {
        size_t length = strcspn(word, " \t"), digits = strspn(word, "0123456789");
        if (digits != length || length > 19)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': '%.*s' in its sizes is not the size of an axis",
                                    file->path, (int)(length < 40 ? length : 40), word);
        word += length;
    }
    return HOT_OK;
}

/* Teem quotes a line that it cannot read in a message of 1,024 bytes, however long the line is (_biffMsgAddVL): longer
 * ones do not reach it, but for those that it takes whatever they say. */
static hot_status check_length(hot_context *context, const hot_nrrd_file *file, const char *line, size_t length)
{
    enum { MOST = 800 };
    const char *key = strstr(line, ":="), *field = strstr(line, ": ");
    if (length <= MOST || (key && (!field || key < field)) || field_value(line, "content"))
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_FORMAT,
                            "'%s' has a line of %zu characters in its header, '%.40s...'; a field has at most %d",
                            file->path, length, line, (int)MOST);
}

/* Teem compares each key with all before it, and the reader of gradients looks each one up: that many take a tenth of a
 * second. No scan has so many volumes. */
enum { KEYS_MAX = 10000, TEEM_TEXT_MAX = 4 << 20 };

/* A line of a LIST (list 1) or SKIPLIST (2) of data files. */
static hot_status read_list_line(hot_context *context, hot_nrrd_file *file, const char *line, int list, long skip)
{
    const char *name = line;
    if (list == 2) {
        char *after;
        skip = strtol(line, &after, 10);
        if (after == line)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': '%.200s' in a SKIPLIST has no byte count",
                                    file->path, line);
        name = after + strspn(after, " \t");
    }
    return add_name(context, file, name, strlen(name), skip);
}

/* The value of `data file:`. *list: 1 if a LIST follows, 2 for a SKIPLIST. */
static hot_status read_data_file(hot_context *context, hot_nrrd_file *file, const char *value, int *list)
{
    int taken = 0;
    if (file->count)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has two `data file:` fields", file->path);
    if (strncmp(value, "LIST", 4) == 0 && (!value[4] || value[4] == ' '))
        *list = 1;
    else if (strncmp(value, "SKIPLIST", 8) == 0 && (!value[8] || value[8] == ' '))
        *list = 2;
    if (*list)
        return HOT_OK;
    hot_status status = expand_names(context, file, value, &taken);
    if (status != HOT_OK || taken)
        return status;
    size_t used = strlen(value);
    while (used && (value[used - 1] == ' ' || value[used - 1] == '\t'))
        used--;
    return used ? add_name(context, file, value, used, 0)
                : hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has an empty `data file:`", file->path);
}

/* `byte skip:` and `line skip:`. Returns 0 for other lines. */
static int read_skip(hot_context *context, hot_nrrd_file *file, const char *line, long *byte_skip, hot_status *status)
{
    const char *value = field_value(line, "byteskip");
    const int bytes = value != NULL;
    if (!value && !(value = field_value(line, "lineskip")))
        return 0;
    char *after;
    errno = 0;
    const long number = strtol(value, &after, 10);
    if (after == value || errno || (!bytes && number < 0))
        *status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': '%.200s' is not a number to skip", file->path,
                                   line);
    else
        *(bytes ? byte_skip : &file->line_skip) = number;
    return 1;
}

/* Checks a line that Teem will parse; keys, bytes: those of the header so far, this line included. */
static hot_status check_line(hot_context *context, const hot_nrrd_file *file, const char *line, size_t length,
                             size_t keys, size_t bytes)
{
    const char *value;
    hot_status status = check_length(context, file, line, length);
    if (status == HOT_OK && (keys > KEYS_MAX || bytes > TEEM_TEXT_MAX))
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has a header of more than %d keys, or %d bytes of "
                                  "them: more than is read", file->path, (int)KEYS_MAX, (int)TEEM_TEXT_MAX);
    if (status == HOT_OK && (value = field_value(line, "sizes")) != NULL)
        status = check_size_words(context, file, value);
    return status;
}

/* Removes the fields about data files from the header text; Teem parses the others. A LIST runs to the end of the text.
 * Also checks that the required fields exist (Teem does not, for text in memory). */
static hot_status take_data_fields(hot_context *context, hot_nrrd_file *file, text *header, long *byte_skip)
{
    hot_status status = HOT_OK;
    static const char *const required[] = {"type", "dimension", "sizes", "encoding"};
    int seen[4] = {0}, list = 0;
    size_t keys = 0, lines = 0;
    char *write = header->bytes, *line = header->bytes;
    while (*line) {
        char *end = strchr(line, '\n');
        size_t length = (size_t)(end - line);
        *end = '\0';
        const char *value = NULL;
        int ours = 1;
        if ((++lines & 0xfff) == 0)
            status = hot_context_check(context, "reading");
        if (status != HOT_OK)
            return status;
        if (list) {
            status = read_list_line(context, file, line, list, *byte_skip);
        } else if (line[0] == '#') {
            /* Teem gets no comments: it strips trailing blanks, and of a comment of blanks alone also the bytes in
             * front of its copy (airOneLinify; on big-endian machines a chunk's size may be a blank). */
        } else if ((value = field_value(line, "datafile"))) {
            status = read_data_file(context, file, value, &list);
        } else if (!read_skip(context, file, line, byte_skip, &status)) {
            ours = 0;
            keys += strstr(line, ":=") != NULL;
            status = check_line(context, file, line, length, keys, (size_t)(write - header->bytes) + length);
            for (size_t i = 0; i < sizeof required / sizeof *required; i++)
                seen[i] |= field_value(line, required[i]) != NULL;
        }
        if (status != HOT_OK)
            return status;
        *end = '\n';
        if (!ours) {
            memmove(write, line, length + 1);
            write += length + 1;
        }
        line = end + 1;
    }
    *write = '\0';
    header->used = (size_t)(write - header->bytes);
    if (list && !file->count)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' says `data file: LIST` but lists none", file->path);
    if (list != 2)
        for (size_t i = 0; i < file->count; i++)
            file->skips[i] = *byte_skip;
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!seen[i])
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has no `%s:` field in its NRRD header", file->path,
                                    required[i]);
    return HOT_OK;
}

hot_status hot_nrrd_open(hot_context *context, const char *path, hot_nrrd_file *file)
{
    return hot_nrrd_open_from(context, path, NULL, file);
}

/* Reads the magic first, so that a large file of another kind is not read as text. */
static hot_status read_magic(hot_context *context, const hot_nrrd_file *file, int from_stdin, char magic[5])
{
    size_t got = 0;
    for (int c; got < 4 && (c = getc(file->stream)) != EOF; got++)
        magic[got] = (char)c;
    if (got > 0 && memcmp(magic, "NRRD", 4) == 0)
        return HOT_OK;
    if (hot_context_cancelled(context))
        return hot_context_check(context, "reading");
    if (got == 0)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "%s%s%s is empty", from_stdin ? "" : "'", file->path,
                                from_stdin ? "" : "'");
    return hot_context_fail(context, HOT_ERROR_FORMAT,
                            "'%s' is not an NRRD file, nor NIfTI or MIF: its first line is not NRRD0001 to NRRD0006",
                            file->path);
}

/* Teem parses the header's description of the array. */
static hot_status parse_array(hot_context *context, hot_nrrd_file *file, const char *header)
{
    char reason[512];
    hot_nrrd_lock();
    file->nrrd = nrrdNew();
    file->nio = nrrdIoStateNew();
    int bad = !file->nrrd || !file->nio;
    if (!bad) {
        file->nio->skipData = 1;
        bad = nrrdStringRead(file->nrrd, header, file->nio) != 0;
    }
    if (bad)
        hot_nrrd_reason(reason, sizeof reason);
    hot_nrrd_unlock();
    if (bad)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has a header that cannot be used: %s", file->path,
                                reason);
    return HOT_OK;
}

hot_status hot_nrrd_open_from(hot_context *context, const char *path, FILE *from, hot_nrrd_file *file)
{
    hot_status status = HOT_ERROR_MEMORY;
    text header = {0};
    memset(file, 0, sizeof *file);
    int from_stdin = strcmp(path, "-") == 0;
    const char *slash = strrchr(path, '/');
    size_t folder = slash && !from_stdin ? (size_t)(slash - path) + 1 : 0;
    file->stream = from;
    file->path = hot_string_copy(context, from_stdin ? "standard input" : path);
    file->folder = hot_context_calloc(context, folder + 1, 1);
    if (!file->path || !file->folder)
        goto cleanup;
    memcpy(file->folder, path, folder);
    if (!from && (status = hot_file_open(context, path, HOT_FILE_GIVEN, &file->stream)) != HOT_OK)
        goto cleanup;
    char magic[5] = "";
    if ((status = read_magic(context, file, from_stdin, magic)) != HOT_OK)
        goto cleanup;
    int blank = 0;
    long byte_skip = 0;
    status = text_append(context, &header, magic, 4);
    if (status == HOT_OK)
        status = read_text(context, file, file->stream, &header, &blank);
    if (status == HOT_OK)
        status = take_data_fields(context, file, &header, &byte_skip);
    if (status != HOT_OK)
        goto cleanup;
    if (!file->count && !blank) {
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' ends with its header: no data and no `data file:` field", file->path);
        goto cleanup;
    }
    if (!file->count) {
        /* One "data file", the stream itself; kept in skips only. */
        file->skips = hot_context_alloc(context, 1, sizeof *file->skips);
        if (!file->skips) {
            status = HOT_ERROR_MEMORY;
            goto cleanup;
        }
        file->skips[0] = byte_skip;
    }
    status = parse_array(context, file, header.bytes);
    if (status == HOT_OK)
        status = hot_nrrd_check_sizes(context, file);
    if (status == HOT_OK)
        status = hot_nrrd_check_rest(context, file);
cleanup:
    hot_context_free(context, header.bytes);
    if (status != HOT_OK)
        hot_nrrd_close(context, file);
    return status;
}

void hot_nrrd_close(hot_context *context, hot_nrrd_file *file)
{
    if (file->stream)
        fclose(file->stream);
    hot_stream_close(context, &file->part);
    hot_nrrd_lock();
    if (file->nrrd)
        nrrdNix(file->nrrd);
    if (file->nio)
        nrrdIoStateNix(file->nio);
    hot_nrrd_unlock();
    for (size_t i = 0; i < file->count; i++)
        hot_context_free(context, file->names[i]);
    HOT_FREE(context, file->names, file->skips, file->folder, file->path);
    memset(file, 0, sizeof *file);
}
