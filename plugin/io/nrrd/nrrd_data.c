/* The samples of an NRRD into memory: raw and gzip by hot_stream_read, numbers as text, the rest by Teem. */
#define _GNU_SOURCE /* fopencookie */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nrrd_file.h"
#include "io/common/stream.h"

/* Whether an integer type can represent this value; strtoull accepts a minus sign. */
static int type_holds(int type, long long whole, const char *word)
{
    const int is_unsigned = type == nrrdTypeUChar || type == nrrdTypeUShort || type == nrrdTypeUInt;
    if (type == nrrdTypeULLong)
        return *word != '-' || whole == 0;
    if (type == nrrdTypeLLong)
        return 1;
    const long long values = 1LL << 8 * nrrdTypeSize[type], low = is_unsigned ? 0 : -values / 2;
    return whole >= low && whole < low + values;
}

static int is_separator(int c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == ','; }

/* The next word, cut to its capacity; returns its length, 0 at the end. */
static size_t read_word(FILE *file, char *word, size_t capacity)
{
    size_t length = 0;
    int c;
    while (is_separator(c = getc(file))) {}
    for (; c != EOF && !is_separator(c); c = getc(file))
        if (length < capacity - 1)
            word[length++] = (char)c;
    word[length] = '\0';
    return length;
}

/* Stores value i of an array of this type. */
static void store_number(int type, unsigned char *data, size_t i, long long whole, double real)
{
    switch (type) {
    case nrrdTypeChar: ((signed char *)data)[i] = (signed char)whole; break;
    case nrrdTypeUChar: data[i] = (unsigned char)whole; break;
    case nrrdTypeShort: ((int16_t *)(void *)data)[i] = (int16_t)whole; break;
    case nrrdTypeUShort: ((uint16_t *)(void *)data)[i] = (uint16_t)whole; break;
    case nrrdTypeInt: ((int32_t *)(void *)data)[i] = (int32_t)whole; break;
    case nrrdTypeUInt: ((uint32_t *)(void *)data)[i] = (uint32_t)whole; break;
    case nrrdTypeLLong:
    case nrrdTypeULLong: ((int64_t *)(void *)data)[i] = whole; break;
    case nrrdTypeFloat: ((float *)(void *)data)[i] = (float)real; break;
    default: ((double *)(void *)data)[i] = real; break;
    }
}

/* Numbers as text, separated by white space or commas. */
static hot_status read_numbers(hot_context *context, FILE *file, const char *name, int type, size_t count,
                               unsigned char *data)
{
    for (size_t i = 0; i < count; i++) {
        char word[512], *end;
        if (read_word(file, word, sizeof word) == 0)
            return hot_context_fail(context, HOT_ERROR_FORMAT,
                                    "'%s' is truncated: %zu numbers where the header needs %zu", name, i, count);
        double real = 0;
        long long whole = 0;
        errno = 0;
        int is_real = type == nrrdTypeFloat || type == nrrdTypeDouble;
        if (is_real)
            real = strtod(word, &end);
        else if (type == nrrdTypeULLong)
            whole = (long long)strtoull(word, &end, 10);
        else
            whole = strtoll(word, &end, 10);
        if (*end || (is_real ? isinf(real) && errno == ERANGE : errno == ERANGE || !type_holds(type, whole, word)))
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': sample %zu is '%.40s', not a number of type %s",
                                    name, i, word, airEnumStr(nrrdType, type));
        store_number(type, data, i, whole, real);
        if ((i & 0xffff) == 0) {
            HOT_TRY(hot_context_progress(context, "reading", (double)i / (double)count));
        }
    }
    return HOT_OK;
}

static hot_status read_hex(hot_context *context, FILE *file, const char *name, size_t bytes, unsigned char *data)
{
    for (size_t i = 0; i < bytes; i++) {
        if ((i & 0xfffff) == 0) {
            HOT_TRY(hot_context_progress(context, "reading", (double)i / (double)bytes));
        }
        int value = 0;
        for (int digit = 0; digit < 2;) {
            int c = getc(file);
            if (c == EOF)
                return hot_context_fail(context, HOT_ERROR_FORMAT,
                                        "'%s' is truncated: %zu bytes of data where the header needs %zu", name, i,
                                        bytes);
            if (c == ' ' || (c >= '\t' && c <= '\r'))
                continue;
            int low = c | 0x20;
            int nibble = c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
            if (nibble < 0)
                return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': '%c' among the hex digits of byte %zu", name,
                                        c > ' ' && c < 127 ? c : '?', i);
            value = value * 16 + nibble;
            digit++;
        }
        data[i] = (unsigned char)value;
    }
    return HOT_OK;
}

/* A stream for Teem that ends, with an error, when the caller wants to stop. */
typedef struct watched {
    hot_context *context;
    FILE *from;
} watched;

static ssize_t read_watched(void *cookie, char *to, size_t bytes)
{
    watched *stream = cookie;
    if (hot_context_cancelled(stream->context))
        return -1;
    size_t got = fread(to, 1, bytes, stream->from);
    return got == 0 && ferror(stream->from) ? -1 : (ssize_t)got;
}

static hot_status read_by_teem(hot_context *context, hot_nrrd_file *file, FILE *from, const char *name, long skip,
                               unsigned char *data, size_t samples)
{
    char reason[512];
    watched stream = {context, from};
    FILE *through = fopencookie(&stream, "rb", (cookie_io_functions_t){.read = read_watched});
    if (!through)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for reading '%s'", name);
    hot_nrrd_lock();
    file->nio->byteSkip = skip;
    int bad = file->nio->encoding->read(through, data, samples, file->nrrd, file->nio);
    if (bad)
        hot_nrrd_reason(reason, sizeof reason);
    hot_nrrd_unlock();
    fclose(through);
    if (hot_context_cancelled(context))
        return hot_context_check(context, "reading");
    return bad ? hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' cannot be read as %s: %s", name,
                                  file->nio->encoding->name, reason)
               : HOT_OK;
}

/* Skips so many lines, or bytes, of the file before it is unpacked. */
static hot_status skip_plain(hot_context *context, FILE *from, const char *name, const char *unit, long count)
{
    hot_status status = HOT_OK;
    const int lines = strcmp(unit, "lines") == 0;
    size_t passed = 0;
    for (long done = 0; status == HOT_OK && done < count;) {
        const int c = getc(from);
        if (c == EOF)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' ends within the %ld %s to skip", name, count,
                                    unit);
        done += !lines || c == '\n';
        if (++passed % 0x100000 == 0)
            status = hot_context_check(context, "reading");
    }
    return status;
}

static hot_status read_part(hot_context *context, hot_nrrd_file *file, FILE *from, const char *name, long skip,
                            unsigned char *data, size_t samples, size_t bytes)
{
    const NrrdEncoding *encoding = file->nio->encoding;
    hot_status status = skip_plain(context, from, name, "lines", file->line_skip);
    if (status != HOT_OK)
        return status;
    int packed = encoding == nrrdEncodingGzip;
    if (packed || encoding == nrrdEncodingRaw)
        return hot_stream_read(context, from, packed, name, skip, data, bytes);
    if (skip < 0)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s': `byte skip: %ld` goes with raw and gzip data, not with %s", file->path, skip,
                                encoding->name);
    if (!encoding->isCompression)
        status = skip_plain(context, from, name, "bytes", skip);
    if (status != HOT_OK)
        return status;
    if (encoding == nrrdEncodingAscii)
        return read_numbers(context, from, name, file->nrrd->type, samples, data);
    if (encoding == nrrdEncodingHex)
        return read_hex(context, from, name, bytes, data);
    return read_by_teem(context, file, from, name, skip, data, samples);
}

int hot_nrrd_swapped(const hot_nrrd_file *file)
{
    return file->nio->encoding->endianMatters && file->nio->endian != airEndianUnknown &&
           file->nio->endian != airMyEndian();
}

/* ---- Spans ----------------------------------------------------------------------------------------------------- */

int hot_nrrd_spans(const hot_nrrd_file *file)
{
    const NrrdEncoding *encoding = file->nio->encoding;
    int anywhere = encoding == nrrdEncodingRaw, fine = anywhere || encoding == nrrdEncodingGzip;
    if (!file->count)
        anywhere = anywhere && hot_stream_remaining(file->stream) != SIZE_MAX;
    for (size_t i = 0; i < (file->count ? file->count : 1); i++)
        fine = fine && (file->skips[i] >= 0 || anywhere);
    return !fine ? 0 : anywhere ? HOT_NRRD_ANYWHERE : HOT_NRRD_FORWARD;
}

static hot_status open_data(hot_context *context, const hot_nrrd_file *file, size_t number, FILE **from)
{
    HOT_TRY(hot_context_check(context, "reading"));
    hot_status status = hot_file_open(context, file->names[number], HOT_FILE_FOUND, from);
    return status == HOT_OK ? HOT_OK : hot_context_add(context, status, "a data file of '%s'", file->path);
}

/* Opens the data file of this number if it is not open. */
static hot_status open_part(hot_context *context, hot_nrrd_file *file, size_t number)
{
    const char *name = file->count ? file->names[number] : file->path;
    const long skip = file->skips[number];
    const size_t bytes = file->bytes / (file->count ? file->count : 1);
    if (file->part && file->part_number == number)
        return HOT_OK;
    hot_stream_close(context, &file->part);
    FILE *from = file->stream;
    HOT_TRY(file->count ? open_data(context, file, number, &from) : HOT_OK);
    hot_status status = skip_plain(context, from, name, "lines", file->line_skip);
    const size_t there = status == HOT_OK && skip < 0 ? hot_stream_remaining(from) : 0, behind = (size_t)(-(skip + 1));
    if (status == HOT_OK && skip < 0 && (bytes > there || behind > there - bytes))
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is too short: %zu bytes of data where the header "
                                  "asks for %zu", name, there, bytes);
    if (status != HOT_OK) {
        if (file->count)
            fclose(from);
        return status;
    }
    if (!file->count)
        file->stream = NULL; /* the part's now */
    file->part_number = number;
    file->part_at = skip < 0 ? there - bytes - behind : (size_t)skip;
    return hot_stream_wrap(context, from, file->nio->encoding == nrrdEncodingGzip, name, &file->part);
}

hot_status hot_nrrd_read_span(hot_context *context, hot_nrrd_file *file, size_t at, void *to, size_t bytes)
{
    const size_t part = file->bytes / (file->count ? file->count : 1);
    char *data = to;
    hot_status status = HOT_OK;
    while (bytes > 0 && status == HOT_OK) {
        const size_t within = at % part, here = part - within < bytes ? part - within : bytes;
        status = open_part(context, file, at / part);
        if (status == HOT_OK)
            status = hot_stream_span(context, file->part, file->part_at + within, data, here);
        at += here;
        data += here;
        bytes -= here;
    }
    return status;
}

hot_status hot_nrrd_read(hot_context *context, hot_nrrd_file *file, void *data)
{
    hot_status status = HOT_OK;
    if (!file->count) {
        status = read_part(context, file, file->stream, file->path, file->skips[0], data, file->samples, file->bytes);
    } else {
        size_t samples = file->samples / file->count, bytes = file->bytes / file->count;
        for (size_t i = 0; i < file->count && status == HOT_OK; i++) {
            FILE *from;
            status = open_data(context, file, i, &from);
            if (status != HOT_OK)
                break;
            status = read_part(context, file, from, file->names[i], file->skips[i],
                               (unsigned char *)data + i * bytes, samples, bytes);
            fclose(from);
        }
    }
    if (status == HOT_OK && hot_nrrd_swapped(file))
        status = hot_swap_bytes(context, data, file->samples, nrrdElementSize(file->nrrd));
    status = hot_file_read_failed(context, status);
    return status;
}
