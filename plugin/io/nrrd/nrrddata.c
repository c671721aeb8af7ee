/* The samples of an NRRD into memory: raw and gzip through one source, numbers as text, the rest by Teem. */
#define _GNU_SOURCE /* fopencookie */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "nrrdfile.h"
#include "io/plain_numbers.h"

enum { INPUT_BYTES = 1 << 18, PORTION = 1 << 20 };

/* Bytes of a file, inflated on the way when it is gzip. */
typedef struct source {
    FILE *file;
    int packed, ended, whole, bad; /* whole: the stream ended where it should, checksum right */
    z_stream z;
    unsigned char *input;
} source;

static hot_status source_begin(hot_context *context, source *from, FILE *file, int packed)
{
    memset(from, 0, sizeof *from);
    from->file = file;
    from->packed = packed;
    if (!packed)
        return HOT_OK;
    from->input = hot_context_alloc(context, INPUT_BYTES, 1);
    if (!from->input)
        return HOT_ERROR_MEMORY;
    if (inflateInit2(&from->z, 15 + 32) != Z_OK) {
        hot_context_free(context, from->input);
        from->input = NULL;
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for zlib");
    }
    return HOT_OK;
}

static void source_end(hot_context *context, source *from)
{
    if (from->input) {
        inflateEnd(&from->z);
        hot_context_free(context, from->input);
        from->input = NULL;
    }
}

/* Like fread: fewer bytes than asked for mean the end, or damage (from->bad). */
static size_t source_read(source *from, unsigned char *to, size_t bytes)
{
    if (!from->packed)
        return fread(to, 1, bytes, from->file);
    size_t done = 0;
    while (done < bytes && !from->ended) {
        if (from->z.avail_in == 0) {
            from->z.next_in = from->input;
            from->z.avail_in = (uInt)fread(from->input, 1, INPUT_BYTES, from->file);
            if (from->z.avail_in == 0) {
                from->ended = 1; /* the stream was cut off */
                break;
            }
        }
        size_t want = bytes - done;
        uInt room = want > PORTION ? PORTION : (uInt)want;
        from->z.next_out = to + done;
        from->z.avail_out = room;
        int state = inflate(&from->z, Z_NO_FLUSH);
        done += room - from->z.avail_out;
        if (state == Z_STREAM_END) {
            /* gzip files may be several members in a row; anything else behind the last one is ignored. */
            if (from->z.avail_in == 0) {
                from->z.next_in = from->input;
                from->z.avail_in = (uInt)fread(from->input, 1, INPUT_BYTES, from->file);
            }
            if (from->z.avail_in == 0 || from->z.next_in[0] != 0x1f || inflateReset(&from->z) != Z_OK)
                from->ended = from->whole = 1;
        } else if (state != Z_OK && state != Z_BUF_ERROR) {
            from->bad = from->ended = 1;
        }
    }
    return done;
}

static hot_status too_short(hot_context *context, const char *name, size_t got, size_t wanted, int damaged)
{
    return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' %s: %zu bytes of data where the header asks for %zu", name,
                            damaged ? "is damaged (its gzip stream is broken)" : "is truncated", got, wanted);
}

static void reverse(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        unsigned char kept = bytes[i];
        bytes[i] = bytes[count - 1 - i];
        bytes[count - 1 - i] = kept;
    }
}

/* The last `bytes` bytes before the last `behind` ones, of a source whose length is not known: a ring that is turned
 * into place at the end (`byte skip: -1`). */
static hot_status read_from_end(hot_context *context, source *from, const char *name, unsigned char *data, size_t bytes,
                                size_t behind)
{
    unsigned char *ring = data;
    size_t room = bytes + behind, total = 0, got;
    hot_status status = HOT_OK;
    if (behind) {
        ring = hot_context_alloc(context, room, 1);
        if (!ring)
            return HOT_ERROR_MEMORY;
    }
    do {
        size_t at = total % room, want = room - at;
        want = want > PORTION ? PORTION : want;
        got = source_read(from, ring + at, want);
        total += got;
        if (status == HOT_OK)
            status = hot_context_progress(context, "reading", total < bytes ? (double)total / (double)bytes : 1);
    } while (got > 0 && status == HOT_OK);
    int damaged = from->bad || (from->packed && !from->whole);
    if (status == HOT_OK && (damaged || total < room))
        status = too_short(context, name, total, room, damaged);
    if (status == HOT_OK) {
        size_t turn = total % room;
        reverse(ring, turn);
        reverse(ring + turn, room - turn);
        reverse(ring, room);
        if (behind)
            memcpy(data, ring, bytes);
    }
    if (behind)
        hot_context_free(context, ring);
    return status;
}

hot_status hot_stream_read(hot_context *context, FILE *file, int packed, const char *name, long skip, void *to,
                           size_t bytes)
{
    unsigned char *data = to;
    int seekable = hot_stream_remaining(file) != SIZE_MAX;
    source from;
    hot_status status = source_begin(context, &from, file, packed);
    if (status != HOT_OK)
        return status;
    if (skip < 0 && !packed && seekable) {
        off_t back = (off_t)bytes + (off_t)(-(skip + 1));
        if (fseeko(file, -back, SEEK_END) != 0)
            status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                      "'%s' is too short: the header asks for %zu bytes at its end", name, bytes);
        skip = 0;
    }
    if (status == HOT_OK && skip < 0) {
        status = read_from_end(context, &from, name, data, bytes, (size_t)(-(skip + 1)));
    } else if (status == HOT_OK) {
        size_t left = (size_t)skip, done = 0;
        while (left) {
            unsigned char scrap[4096];
            size_t got = source_read(&from, scrap, left < sizeof scrap ? left : sizeof scrap);
            if (got == 0) {
                status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                          "'%s' ends within the %ld bytes that are to be skipped", name, skip);
                break;
            }
            left -= got;
        }
        while (status == HOT_OK && done < bytes) {
            size_t want = bytes - done > PORTION ? PORTION : bytes - done;
            size_t got = source_read(&from, data + done, want);
            done += got;
            if (got < want)
                status = too_short(context, name, done, bytes, from.bad);
            else
                status = hot_context_progress(context, "reading", (double)done / (double)bytes);
        }
    }
    if (status == HOT_OK && packed && !from.whole) {
        /* The checksum stands behind the last sample; further samples than asked for are no harm by themselves. */
        unsigned char scrap[4096];
        while (source_read(&from, scrap, sizeof scrap) > 0) {}
        if (!from.whole)
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is damaged: %s", name,
                                      from.bad ? "its gzip stream is broken or its checksum wrong"
                                               : "its gzip stream is cut off at the end");
    }
    source_end(context, &from);
    return status;
}

/* Numbers as text, separated by white space or commas. */
static hot_status read_numbers(hot_context *context, FILE *file, const char *name, int type, size_t count,
                               unsigned char *data)
{
    for (size_t i = 0; i < count; i++) {
        char word[512], *end;
        size_t length = 0;
        int c;
        while ((c = getc(file)) == ' ' || (c >= '\t' && c <= '\r') || c == ',') {}
        for (; c != EOF && c != ' ' && !(c >= '\t' && c <= '\r') && c != ','; c = getc(file))
            if (length < sizeof word - 1)
                word[length++] = (char)c;
        word[length] = '\0';
        if (length == 0)
            return hot_context_fail(context, HOT_ERROR_FORMAT,
                                    "'%s' is truncated: %zu numbers where the header asks for %zu", name, i, count);
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
        if (*end || (errno == ERANGE && !is_real))
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': sample %zu is '%.40s', not a number of type %s",
                                    name, i, word, airEnumStr(nrrdType, type));
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
        if ((i & 0xffff) == 0) {
            hot_status status = hot_context_progress(context, "reading", (double)i / (double)count);
            if (status != HOT_OK)
                return status;
        }
    }
    return HOT_OK;
}

static hot_status read_hex(hot_context *context, FILE *file, const char *name, size_t bytes, unsigned char *data)
{
    for (size_t i = 0; i < bytes; i++) {
        if ((i & 0xfffff) == 0) {
            hot_status status = hot_context_progress(context, "reading", (double)i / (double)bytes);
            if (status != HOT_OK)
                return status;
        }
        int value = 0;
        for (int digit = 0; digit < 2;) {
            int c = getc(file);
            if (c == EOF)
                return too_short(context, name, i, bytes, 0);
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

hot_status hot_swap_bytes(hot_context *context, void *samples, size_t count, size_t one)
{
    unsigned char *data = samples;
    for (size_t n = 0; n < count && one > 1; n++, data += one) {
        if ((n & 0xfffff) == 0) {
            hot_status status = hot_context_check(context, "reading");
            if (status != HOT_OK)
                return status;
        }
        reverse(data, one);
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

static hot_status read_part(hot_context *context, hot_nrrd_file *file, FILE *from, const char *name, long skip,
                            unsigned char *data, size_t samples, size_t bytes)
{
    const NrrdEncoding *encoding = file->nio->encoding;
    for (long line = 0; line < file->line_skip; line++) {
        int c;
        while ((c = getc(from)) != '\n')
            if (c == EOF)
                return hot_context_fail(context, HOT_ERROR_FORMAT,
                                        "'%s' ends within the %ld lines that are to be skipped", name, file->line_skip);
    }
    int packed = encoding == nrrdEncodingGzip;
    if (packed || encoding == nrrdEncodingRaw)
        return hot_stream_read(context, from, packed, name, skip, data, bytes);
    if (skip < 0)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s': `byte skip: %ld` goes with raw and gzip data, not with %s", file->path, skip,
                                encoding->name);
    if (!encoding->isCompression)
        for (long i = 0; i < skip; i++)
            if (getc(from) == EOF)
                return hot_context_fail(context, HOT_ERROR_FORMAT,
                                        "'%s' ends within the %ld bytes that are to be skipped", name, skip);
    if (encoding == nrrdEncodingAscii)
        return read_numbers(context, from, name, file->nrrd->type, samples, data);
    if (encoding == nrrdEncodingHex)
        return read_hex(context, from, name, bytes, data);
    return read_by_teem(context, file, from, name, skip, data, samples);
}

hot_status hot_nrrd_read(hot_context *context, hot_nrrd_file *file, void *data)
{
    hot_status status = HOT_OK;
    locale_t before = hot_plain_numbers_begin();
    if (!file->count) {
        status = read_part(context, file, file->stream, file->path, file->skips[0], data, file->samples, file->bytes);
    } else {
        size_t samples = file->samples / file->count, bytes = file->bytes / file->count;
        for (size_t i = 0; i < file->count && status == HOT_OK; i++) {
            FILE *from = fopen(file->names[i], "rb");
            if (!from) {
                status = hot_context_fail(context, HOT_ERROR_FILE, "cannot open data file '%s' of '%s': %s",
                                          file->names[i], file->path, strerror(errno));
                break;
            }
            status = read_part(context, file, from, file->names[i], file->skips[i],
                               (unsigned char *)data + i * bytes, samples, bytes);
            fclose(from);
        }
    }
    if (status == HOT_OK && file->nio->encoding->endianMatters && file->nio->endian != airEndianUnknown &&
        file->nio->endian != airMyEndian())
        status = hot_swap_bytes(context, data, file->samples, nrrdElementSize(file->nrrd));
    hot_plain_numbers_end(before);
    return status;
}
