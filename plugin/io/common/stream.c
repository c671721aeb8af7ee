#define _DEFAULT_SOURCE /* posix_fadvise */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/entry.h"
#include "common/spill.h"
#include "core/fields.h"

enum { INPUT_BYTES = 1 << 18, PORTION = 1 << 20 };
/* The largest number of compressed bytes skipped before the samples: longer than any header with its extensions. */
enum { UNPACKED_SKIP_MAX = 256 << 20 };

size_t hot_stream_remaining(FILE *stream)
{
    struct stat there;
    off_t at = ftello(stream);
    if (at < 0 || fstat(fileno(stream), &there) != 0 || !S_ISREG(there.st_mode))
        return SIZE_MAX;
    return there.st_size > at ? (size_t)(there.st_size - at) : 0;
}

hot_status hot_memory_check(hot_context *context, const char *name, const char *what, double bytes)
{
    const double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (there > 0 && bytes > there && !hot_context_bounded(context))
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s': %s are %.4g GB, more than this machine's memory of %.4g GB", name, what,
                                bytes * 1e-9, there * 1e-9);
    return HOT_OK;
}

/* Bytes of a file, inflated on the way when it is gzip. */
typedef struct source {
    FILE *file;
    int packed, ended, whole, bad; /* whole: the stream ended where it should, checksum right */
    int error;                     /* errno of a read that failed */
    z_stream z;
    unsigned char *input;
    unsigned char small[4096];     /* unpacked ahead for reads of a few bytes, from `from` to `to` */
    size_t from, to;
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

static size_t take(source *from, void *to, size_t bytes)
{
    errno = 0;
    const size_t got = fread(to, 1, bytes, from->file);
    if (got < bytes && ferror(from->file))
        from->error = errno ? errno : EIO;
    return got;
}

static size_t unpack(source *from, unsigned char *to, size_t bytes)
{
    size_t done = 0;
    while (done < bytes && !from->ended) {
        if (from->z.avail_in == 0) {
            from->z.next_in = from->input;
            from->z.avail_in = (uInt)take(from, from->input, INPUT_BYTES);
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
                from->z.avail_in = (uInt)take(from, from->input, INPUT_BYTES);
            }
            if (from->z.avail_in == 0 || from->z.next_in[0] != 0x1f || inflateReset(&from->z) != Z_OK)
                from->ended = from->whole = 1;
        } else if (state != Z_OK && state != Z_BUF_ERROR) {
            from->bad = from->ended = 1;
        }
    }
    return done;
}

/* Like fread: a short count means the end, damage (from->bad), or an error (from->error). */
static size_t source_read(source *from, unsigned char *to, size_t bytes)
{
    if (!from->packed)
        return take(from, to, bytes);
    size_t done = 0;
    while (done < bytes) {
        const size_t left = bytes - done;
        if (from->from == from->to && left >= sizeof from->small)
            return done + unpack(from, to + done, left);
        if (from->from == from->to) {
            from->from = 0;
            from->to = unpack(from, from->small, sizeof from->small);
            if (from->to == 0)
                break;
        }
        const size_t there = from->to - from->from, count = there < left ? there : left;
        memcpy(to + done, from->small + from->from, count);
        from->from += count;
        done += count;
    }
    return done;
}

static hot_status too_short(hot_context *context, const source *from, const char *name, size_t got, size_t wanted,
                            int damaged)
{
    if (hot_context_cancelled(context))
        return hot_context_check(context, "reading");
    if (from->error)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': %s", name, strerror(from->error));
    return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' %s: %zu bytes of data where the header needs %zu", name,
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
    if (behind > UNPACKED_SKIP_MAX)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': its header skips %zu bytes after the samples; the "
                                "limit is %zu", name, behind, (size_t)UNPACKED_SKIP_MAX);
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
        if (status == HOT_OK && total > capacity && total - capacity > UNPACKED_SKIP_MAX)
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has more than %zu bytes before its samples; at "
                                      "most so many are read past", name, (size_t)UNPACKED_SKIP_MAX);
    } while (got > 0 && status == HOT_OK);
    int damaged = from->bad || (from->packed && !from->whole);
    if (status == HOT_OK && (damaged || total < capacity))
        status = too_short(context, from, name, total, capacity, damaged);
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

/* Reads a large file's samples in portions by all threads. Returns the number of bytes before the first portion that
 * failed; 0 for a pipe. */
static size_t read_portions(hot_context *context, FILE *file, unsigned char *data, size_t bytes)
{
    const off_t start = ftello(file);
    const size_t portions = (bytes + PORTION - 1) / PORTION;
    size_t good = portions;
    if (start < 0 || hot_stream_remaining(file) == SIZE_MAX)
        return 0;
#pragma omp parallel for num_threads(hot_team(hot_context_threads(context))) schedule(dynamic, 4) reduction(min : good)
    for (size_t portion = 0; portion < portions; portion++) {
        const size_t from = portion * PORTION, count = bytes - from < PORTION ? bytes - from : PORTION;
        size_t done = 0;
        ssize_t got = 1;
        while (done < count && got > 0 && !hot_context_cancelled(context)) {
            got = pread(fileno(file), data + from + done, count - done, start + (off_t)(from + done));
            if (got < 0 && errno == EINTR)
                got = 1;
            else
                done += got > 0 ? (size_t)got : 0;
        }
        if (done < count && portion < good)
            good = portion;
    }
    const size_t read = good * PORTION < bytes ? good * PORTION : bytes;
    return fseeko(file, start + (off_t)read, SEEK_SET) == 0 ? read : 0;
}

/* Reads to the end of a source, but at most `most` bytes: unpacked data can be a thousand times longer than their
 * file. */
static hot_status read_rest(hot_context *context, source *from, size_t most)
{
    unsigned char scrap[4096];
    hot_status status = HOT_OK;
    for (size_t done = 0, got = 1; status == HOT_OK && got > 0 && done < most; done += got) {
        got = source_read(from, scrap, sizeof scrap);
        if (done % PORTION == 0) /* every portion but the last is whole */
            status = hot_context_check(context, "reading");
    }
    return status;
}

/* Reads `bytes` bytes of a source, and checks a compressed source's checksum, which follows its last sample. A source
 * may hold more samples than the header needs; at most as many again are unpacked. */
static hot_status read_samples(hot_context *context, source *from, const char *name, unsigned char *data, size_t bytes)
{
    enum { LARGE = 1 << 24 };
    size_t done = !from->packed && bytes >= LARGE ? read_portions(context, from->file, data, bytes) : 0;
    hot_status status = hot_context_check(context, "reading");
    while (status == HOT_OK && done < bytes) { /* truncated files and pipes continue here */
        size_t want = bytes - done > PORTION ? PORTION : bytes - done;
        size_t got = source_read(from, data + done, want);
        done += got;
        if (got < want)
            status = too_short(context, from, name, done, bytes, from->bad);
        else
            status = hot_context_progress(context, "reading", (double)done / (double)bytes);
    }
    if (status == HOT_OK && from->packed && !from->whole) {
        status = read_rest(context, from, bytes > SIZE_MAX / 2 ? bytes : bytes + PORTION);
        if (status == HOT_OK && !from->ended)
            hot_context_log(context, HOT_LOG_WARNING, "'%s' holds more than twice the data that its header needs; the "
                            "rest and the checksum are not read", name);
        else if (status == HOT_OK && !from->whole)
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is damaged: %s", name,
                                      from->bad ? "its gzip stream is broken or its checksum wrong"
                                                : "its gzip stream is cut off at the end");
    }
    return status;
}

static hot_status skip_bytes(hot_context *context, source *from, const char *name, size_t skip)
{
    size_t left = skip;
    const size_t there = from->packed || skip < PORTION ? SIZE_MAX : hot_stream_remaining(from->file);
    if (from->packed && skip > UNPACKED_SKIP_MAX)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' says that its samples start %zu bytes further on in "
                                "compressed data; the limit is %zu", name, skip, (size_t)UNPACKED_SKIP_MAX);
    if (there != SIZE_MAX && there >= skip && fseeko(from->file, (off_t)skip, SEEK_CUR) == 0)
        return HOT_OK;
    while (left) {
        unsigned char scrap[4096];
        size_t got = source_read(from, scrap, left < sizeof scrap ? left : sizeof scrap);
        if (got == 0 && from->error)
            return too_short(context, from, name, 0, 0, 0);
        if (got == 0)
            return hot_context_fail(context, HOT_ERROR_FORMAT,
                                    "'%s' ends within the %zu bytes to skip", name, skip);
        left -= got;
        if ((skip - left) % PORTION == 0) {
            HOT_TRY(hot_context_check(context, "reading"));
        }
    }
    return HOT_OK;
}

hot_status hot_stream_read(hot_context *context, FILE *file, int packed, const char *name, long skip, void *to,
                           size_t bytes)
{
    unsigned char *data = to;
    const size_t there = hot_stream_remaining(file);
    const int seekable = there != SIZE_MAX;
    source from;
    hot_status status = source_begin(context, &from, file, packed);
    if (status != HOT_OK)
        return status;
    if (skip < 0 && !packed && seekable) {
        /* Counted from the end, but never back into the header. */
        const size_t behind = (size_t)(-(skip + 1));
        if (bytes > there || behind > there - bytes ||
            fseeko(file, -(off_t)bytes - (off_t)behind, SEEK_END) != 0)
            status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                      "'%s' is too short: `byte skip: %ld` needs %zu bytes, and %zu after them, of "
                                      "the %zu there are",
                                      name, skip, bytes, behind, there);
        skip = 0;
    }
    if (status == HOT_OK && skip < 0) {
        status = read_from_end(context, &from, name, data, bytes, (size_t)(-(skip + 1)));
    } else if (status == HOT_OK) {
        status = skip_bytes(context, &from, name, (size_t)skip);
        if (status == HOT_OK)
            status = read_samples(context, &from, name, data, bytes);
    }
    source_end(context, &from);
    return status;
}

hot_status hot_swap_bytes(hot_context *context, void *samples, size_t count, size_t one)
{
    unsigned char *data = samples;
    for (size_t n = 0; n < count && one > 1; n++, data += one) {
        if ((n & 0xfffff) == 0) {
            HOT_TRY(hot_context_check(context, "reading"));
        }
        reverse(data, one);
    }
    return HOT_OK;
}

/* ---- header and samples in one stream ---- */

struct hot_stream {
    source from;
    char *name; /* for messages */
    FILE *file;
    size_t at;  /* bytes taken so far */
    off_t base; /* where byte 0 is in the file; < 0: it is none that has places */
    char ahead[16]; /* looked at, not taken */
    size_t looked;
};

hot_status hot_stream_open_file(hot_context *context, const char *path, hot_file_source where, FILE **file)
{
    hot_status status = hot_file_open(context, path, where, file);
    if (status == HOT_OK && hot_stream_remaining(*file) == 0) {
        fclose(*file);
        *file = NULL;
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is empty", path);
    }
    return status;
}

hot_status hot_stream_wrap(hot_context *context, FILE *file, int packed, const char *name, hot_stream **stream)
{
    *stream = NULL;
    hot_stream *made = hot_context_calloc(context, 1, sizeof *made);
    hot_status status = made && (made->name = hot_string_copy(context, name)) ? HOT_OK : HOT_ERROR_MEMORY;
    if (made) {
        made->file = file;
        made->base = hot_stream_remaining(file) == SIZE_MAX ? -1 : ftello(file);
    }
    if (status == HOT_OK)
        status = source_begin(context, &made->from, file, packed);
    if (status == HOT_OK) {
        *stream = made;
        return HOT_OK;
    }
    if (made)
        hot_context_free(context, made->name);
    hot_context_free(context, made);
    fclose(file);
    return status;
}

hot_status hot_stream_begin(hot_context *context, FILE *file, const char *name, hot_stream **stream)
{
    const int first = getc(file);
    if (first != EOF)
        ungetc(first, file);
    return hot_stream_wrap(context, file, first == 0x1f, name, stream);
}

hot_status hot_stream_open(hot_context *context, const char *path, hot_file_source where, hot_stream **stream)
{
    FILE *file;
    *stream = NULL;
    hot_status status = hot_stream_open_file(context, path, where, &file);
    return status == HOT_OK ? hot_stream_begin(context, file, path, stream) : status;
}

const char *hot_stream_name(const hot_stream *stream) { return stream->name; }

size_t hot_stream_take(hot_stream *stream, void *to, size_t bytes)
{
    char *data = to;
    size_t ahead = stream->looked < bytes ? stream->looked : bytes;
    memcpy(data, stream->ahead, ahead);
    stream->looked -= ahead;
    memmove(stream->ahead, stream->ahead + ahead, stream->looked);
    size_t got = ahead + source_read(&stream->from, (unsigned char *)data + ahead, bytes - ahead);
    stream->at += got;
    return got;
}

size_t hot_stream_look(hot_stream *stream, void *to, size_t bytes)
{
    if (bytes > sizeof stream->ahead)
        bytes = sizeof stream->ahead;
    if (bytes > stream->looked)
        stream->looked += source_read(&stream->from, (unsigned char *)stream->ahead + stream->looked,
                                      bytes - stream->looked);
    bytes = bytes < stream->looked ? bytes : stream->looked;
    memcpy(to, stream->ahead, bytes);
    return bytes;
}

size_t hot_stream_at_most(const hot_stream *stream)
{
    struct stat about;
    if (fstat(fileno(stream->file), &about) != 0 || !S_ISREG(about.st_mode))
        return SIZE_MAX;
    /* deflate shrinks at most 1032-fold */
    const size_t there = (size_t)about.st_size, most = SIZE_MAX / 1032;
    return !stream->from.packed ? there : there < most ? there * 1032 : SIZE_MAX;
}

hot_status hot_stream_samples(hot_context *context, hot_stream *stream, size_t at, void *to, size_t bytes)
{
    if (at < stream->at)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' says that its samples start at byte %zu, which is within its header of %zu bytes",
                                stream->name, at, stream->at);
    hot_status status = skip_bytes(context, &stream->from, stream->name, at - stream->at);
    if (status == HOT_OK)
        status = read_samples(context, &stream->from, stream->name, to, bytes);
    stream->at = at + bytes;
    return status;
}

int hot_stream_seeks(const hot_stream *stream) { return stream->base >= 0 && !stream->from.packed; }

hot_status hot_stream_span(hot_context *context, hot_stream *stream, size_t at, void *to, size_t bytes)
{
    unsigned char *data = to;
    hot_status status = HOT_OK;
    size_t done = 0;
    if (hot_stream_seeks(stream)) {
        for (ssize_t got = 1; done < bytes && got > 0;) {
            got = pread(fileno(stream->file), data + done, bytes - done, stream->base + (off_t)(at + done));
            done += got > 0 ? (size_t)got : 0;
            if (got < 0 && errno == EINTR)
                got = 1;
            else if (got < 0)
                stream->from.error = errno;
        }
        if (bytes >= INPUT_BYTES) /* what is likely wanted next is read while these are worked on */
            posix_fadvise(fileno(stream->file), stream->base + (off_t)(at + bytes), (off_t)bytes, POSIX_FADV_WILLNEED);
        status = hot_context_check(context, "reading");
    } else {
        status = at >= stream->at ? skip_bytes(context, &stream->from, stream->name, at - stream->at)
                                  : hot_context_fail(context, HOT_ERROR_FORMAT,
                                                     "'%s' says that its samples start at byte %zu, which is within "
                                                     "what was read before", stream->name, at);
        while (status == HOT_OK && done < bytes) {
            const size_t want = bytes - done > PORTION ? PORTION : bytes - done;
            const size_t got = source_read(&stream->from, data + done, want);
            done += got;
            if (got < want)
                break;
            status = hot_context_check(context, "reading");
        }
        stream->at = at + done;
    }
    return status == HOT_OK && done < bytes ? too_short(context, &stream->from, stream->name, at + done, at + bytes,
                                                          stream->from.bad)
                                            : status;
}

void hot_stream_close(hot_context *context, hot_stream **stream)
{
    HOT_DESTROY_BEGIN(hot_stream, stream);
    source_end(context, &gone->from);
    fclose(gone->file);
    HOT_FREE(context, gone->name, gone);
}
