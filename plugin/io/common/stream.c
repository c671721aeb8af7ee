#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { INPUT_BYTES = 1 << 18, PORTION = 1 << 20 };

size_t hot_stream_remaining(FILE *stream)
{
    struct stat there;
    off_t at = ftello(stream);
    if (at < 0 || fstat(fileno(stream), &there) != 0 || !S_ISREG(there.st_mode))
        return SIZE_MAX;
    return there.st_size > at ? (size_t)(there.st_size - at) : 0;
}

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
        uInt capacity = want > PORTION ? PORTION : (uInt)want;
        from->z.next_out = to + done;
        from->z.avail_out = capacity;
        int state = inflate(&from->z, Z_NO_FLUSH);
        done += capacity - from->z.avail_out;
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

/* The last `bytes` bytes before the last `behind` ones, of a source whose length is not known: a ring that is rotated
 * into place at the end (`byte skip: -1`). */
static hot_status read_from_end(hot_context *context, source *from, const char *name, unsigned char *data, size_t bytes,
                                size_t behind)
{
    unsigned char *ring = data;
    size_t capacity = bytes + behind, total = 0, got;
    hot_status status = HOT_OK;
    if (behind) {
        ring = hot_context_alloc(context, capacity, 1);
        if (!ring)
            return HOT_ERROR_MEMORY;
    }
    do {
        size_t at = total % capacity, want = capacity - at;
        want = want > PORTION ? PORTION : want;
        got = source_read(from, ring + at, want);
        total += got;
        if (status == HOT_OK)
            status = hot_context_progress(context, "reading", total < bytes ? (double)total / (double)bytes : 1);
    } while (got > 0 && status == HOT_OK);
    int damaged = from->bad || (from->packed && !from->whole);
    if (status == HOT_OK && (damaged || total < capacity))
        status = too_short(context, name, total, capacity, damaged);
    if (status == HOT_OK) {
        size_t turn = total % capacity;
        reverse(ring, turn);
        reverse(ring + turn, capacity - turn);
        reverse(ring, capacity);
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
