/* Zip files in: entries stored or deflated, also of more than 4 GiB. */
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "common/flow.h"
#include "io/common/file_open.h"
#include "io/common/zip_archive.h"

enum { TAIL = 1 << 16 };

uint64_t hot_zip_little(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    for (int b = 0; b < bytes; b++)
        value |= (uint64_t)from[b] << 8 * b;
    return value;
}

hot_status hot_zip_fail(const hot_zip *in, const char *what)
{
    return hot_context_fail(in->context, HOT_ERROR_FORMAT, "'%s' is no %s archive: %s", in->path, in->kind, what);
}

static int read_at(const hot_zip *in, uint64_t at, void *to, size_t bytes)
{
    return at <= in->size && bytes <= in->size - at && fseeko(in->file, (off_t)at, SEEK_SET) == 0 &&
           fread(to, 1, bytes, in->file) == bytes;
}

/* ---- The directory ---------------------------------------------------------------------------------------- */

/* Where the central directory is, and how many entries it has; for a large archive from the 64-bit record. */
static hot_status find_directory(const hot_zip *in, uint64_t *at, uint64_t *bytes, uint64_t *entries)
{
    unsigned char tail[TAIL], record[56];
    const size_t room = in->size < sizeof tail ? (size_t)in->size : sizeof tail;
    if (room < 22 || !read_at(in, in->size - room, tail, room))
        return hot_zip_fail(in, "it is too short");
    size_t end = room - 22 + 1;
    while (end-- > 0 && hot_zip_little(tail + end, 4) != 0x06054b50) {
    }
    if (end > room)
        return hot_zip_fail(in, "it is not a zip file, or truncated");
    *entries = hot_zip_little(tail + end + 10, 2);
    *bytes = hot_zip_little(tail + end + 12, 4);
    *at = hot_zip_little(tail + end + 16, 4);
    if (end >= 20 && hot_zip_little(tail + end - 20, 4) == 0x07064b50 &&
        read_at(in, hot_zip_little(tail + end - 12, 8), record, sizeof record) &&
        hot_zip_little(record, 4) == 0x06064b50) {
        *entries = hot_zip_little(record + 32, 8);
        *bytes = hot_zip_little(record + 40, 8);
        *at = hot_zip_little(record + 48, 8);
    }
    return *at <= in->size && *bytes <= in->size - *at ? HOT_OK : hot_zip_fail(in, "its directory is outside the file");
}

/* Sizes and place that do not fit in 32 bits are in an extra field, in this order. */
static void read_extra(const unsigned char *extra, size_t length, hot_zip_entry *e)
{
    while (length >= 4) {
        const size_t part = (size_t)hot_zip_little(extra + 2, 2), whole = part + 4;
        if (whole > length)
            return;
        uint64_t *const wide[3] = {&e->bytes, &e->packed, &e->at};
        size_t used = 0;
        for (int w = 0; w < 3 && hot_zip_little(extra, 2) == 1; w++)
            if (*wide[w] == 0xffffffff && used + 8 <= part) {
                *wide[w] = hot_zip_little(extra + 4 + used, 8);
                used += 8;
            }
        extra += whole;
        length -= whole;
    }
}

/* Keeps an entry; of many, the first. */
static void keep(hot_zip *in, const hot_zip_entry *e)
{
    if (in->count < HOT_ZIP_ENTRIES)
        in->entries[in->count++] = *e;
}

static hot_status read_directory(hot_zip *in)
{
    unsigned char head[46], rest[1024];
    uint64_t at, bytes, entries;
    hot_status status = find_directory(in, &at, &bytes, &entries);
    for (uint64_t n = 0; n < entries && status == HOT_OK; n++) {
        hot_zip_entry e = {.method = 0};
        if (!read_at(in, at, head, sizeof head) || hot_zip_little(head, 4) != 0x02014b50)
            return hot_zip_fail(in, "its directory is damaged");
        const size_t name = (size_t)hot_zip_little(head + 28, 2), extra = (size_t)hot_zip_little(head + 30, 2);
        e.method = (int)hot_zip_little(head + 10, 2);
        e.packed = hot_zip_little(head + 20, 4);
        e.bytes = hot_zip_little(head + 24, 4);
        e.at = hot_zip_little(head + 42, 4);
        if (name < HOT_ZIP_NAME && name + extra <= sizeof rest) { /* the names that are needed are short */
            if (!read_at(in, at + sizeof head, rest, name + extra))
                return hot_zip_fail(in, "its directory is truncated");
            memcpy(e.name, rest, name);
            read_extra(rest + name, extra, &e);
            keep(in, &e);
        }
        at += sizeof head + name + extra + (size_t)hot_zip_little(head + 32, 2);
        if ((n & 0xfff) == 0)
            status = hot_context_check(in->context, "reading");
    }
    return status;
}

/* ---- Contents --------------------------------------------------------------------------------------------- */

static hot_status inflate_into(const hot_zip *in, const hot_zip_entry *e, uint64_t at, unsigned char *to)
{
    unsigned char block[1 << 14];
    z_stream z;
    memset(&z, 0, sizeof z);
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return HOT_ERROR_MEMORY;
    uint64_t left = e->packed, done = 0;
    int ended = Z_OK;
    while (ended == Z_OK && left > 0 && !hot_context_cancelled(in->context)) {
        const size_t part = left < sizeof block ? (size_t)left : sizeof block;
        if (!read_at(in, at, block, part))
            break;
        at += part;
        left -= part;
        z.next_in = block;
        z.avail_in = (uInt)part;
        while (ended == Z_OK && z.avail_in > 0) {
            const uint64_t room = e->bytes - done;
            z.next_out = to + done;
            z.avail_out = room < 1 << 20 ? (uInt)room : 1 << 20;
            const uInt before = z.avail_out;
            ended = before ? inflate(&z, Z_NO_FLUSH) : Z_BUF_ERROR;
            done += before - z.avail_out;
        }
    }
    inflateEnd(&z);
    const hot_status status = hot_context_check(in->context, "reading");
    return status != HOT_OK || (done == e->bytes && (ended == Z_STREAM_END || ended == Z_BUF_ERROR || left == 0))
        ? status : hot_zip_fail(in, "its compressed data are damaged");
}

/* An entry's bytes, in context memory. */
hot_status hot_zip_load(const hot_zip *in, const hot_zip_entry *e, unsigned char **bytes)
{
    unsigned char head[30];
    *bytes = NULL;
    if (!read_at(in, e->at, head, sizeof head) || hot_zip_little(head, 4) != 0x04034b50)
        return hot_zip_fail(in, "an entry is damaged");
    const uint64_t at = e->at + sizeof head + hot_zip_little(head + 26, 2) + hot_zip_little(head + 28, 2);
    /* deflate shrinks at most 1032-fold */
    if (at > in->size || e->packed > in->size - at || (e->method == 0 && e->packed != e->bytes) ||
        e->bytes / 1032 > e->packed)
        return hot_zip_fail(in, "an entry is truncated");
    if (e->method != 0 && e->method != Z_DEFLATED)
        return hot_zip_fail(in, "an entry is compressed by another method than deflate");
    *bytes = hot_context_alloc(in->context, (size_t)e->bytes, 1);
    if (!*bytes)
        return HOT_ERROR_MEMORY;
    if (e->method == Z_DEFLATED)
        return inflate_into(in, e, at, *bytes);
    return read_at(in, at, *bytes, (size_t)e->bytes) ? HOT_OK : hot_zip_fail(in, "an entry is truncated");
}

/* A number of 2, 4 or 8 bytes, little-endian. */
double hot_zip_float(const unsigned char *from, int bytes)
{
    const uint64_t bits = hot_zip_little(from, bytes);
    if (bytes == 2) {
        const int exponent = (int)(bits >> 10 & 31);
        const double fraction = (double)(bits & 1023), sign = bits >> 15 ? -1 : 1;
        return exponent == 31 ? (fraction > 0 ? (double)NAN : sign * HUGE_VAL)
               : exponent     ? sign * ldexp(1024 + fraction, exponent - 25)
                              : sign * ldexp(fraction, -24);
    }
    if (bytes == 4) {
        const uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The number's bytes by the end of the name: "float16" has 2. 0 = another type. */
int hot_zip_sample(const char *name, const char *before)
{
    const char *bits = name + strlen(before);
    return strcmp(bits, "16") == 0 ? 2 : strcmp(bits, "32") == 0 ? 4 : strcmp(bits, "64") == 0 ? 8 : 0;
}

const hot_zip_entry *hot_zip_find(const hot_zip *in, const char *begin)
{
    for (int n = 0; n < in->count; n++)
        if (strncmp(in->entries[n].name, begin, strlen(begin)) == 0)
            return &in->entries[n];
    return NULL;
}

hot_status hot_zip_open(hot_context *context, const char *path, const char *kind, hot_zip *in)
{
    memset(in, 0, sizeof *in);
    in->context = context;
    in->path = path;
    in->kind = kind;
    HOT_TRY(hot_file_open(context, path, HOT_FILE_FOUND, &in->file));
    const off_t end = fseeko(in->file, 0, SEEK_END) == 0 ? ftello(in->file) : -1;
    in->size = end > 0 ? (uint64_t)end : 0;
    hot_status status = read_directory(in);
    if (status != HOT_OK)
        hot_zip_close(in);
    return status;
}

void hot_zip_close(hot_zip *in)
{
    if (in->file)
        fclose(in->file);
    in->file = NULL;
}
