/* Threads compress pieces of the contents in parallel, as Adler's pigz does. Each piece has the end of the piece before
 * as its dictionary, so that cutting costs nothing in size. A piece ends on a byte (Z_SYNC_FLUSH), and all pieces form
 * one gzip member. The cuts depend on the contents only: any number of threads writes the same bytes. */
#include "gzip_writer.h"
#include "common/entry.h"
#include "common/flow.h"
#include "common/free.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

enum { PIECE = 1 << 18, WINDOW = 1 << 15 }; /* some ms of compressing; the reach of deflate */

struct hot_gzip_writer {
    hot_context *context;
    FILE *file;
    const char *name;
    int pieces;             /* that are compressed at once: one per thread */
    int ready;              /* compressors that are initialised */
    z_stream *deflater;     /* pieces */
    unsigned char *packed;  /* pieces x capacity */
    size_t capacity;        /* the most that a piece can become */
    size_t *packed_bytes;   /* pieces */
    unsigned long *check;   /* pieces */
    unsigned char *held;    /* the window before the first piece, then the pieces */
    size_t window, bytes;   /* how much of each there is */
    unsigned long crc;
    size_t total;
};

static hot_status cannot_write(const hot_gzip_writer *writer)
{
    if (hot_context_cancelled(writer->context))
        return hot_context_check(writer->context, "writing");
    return hot_context_fail(writer->context, HOT_ERROR_FILE, "cannot write '%s': %s", writer->name,
                            errno ? strerror(errno) : "write error");
}

static hot_status put(const hot_gzip_writer *writer, const void *data, size_t bytes)
{
    errno = 0;
    return fwrite(data, 1, bytes, writer->file) == bytes ? HOT_OK : cannot_write(writer);
}

hot_status hot_gzip_begin(hot_context *context, FILE *file, const char *name, hot_gzip_writer **writer)
{
    static const unsigned char head[10] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 4, 3}; /* no date; fast; Unix */
    hot_gzip_writer *made = hot_context_calloc(context, 1, sizeof *made);
    *writer = NULL;
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = (hot_gzip_writer){.context = context, .file = file, .name = name, .pieces = hot_context_threads(context)};
    const size_t pieces = (size_t)made->pieces;
    made->deflater = hot_context_calloc(context, pieces, sizeof *made->deflater);
    made->packed_bytes = hot_context_alloc(context, pieces, sizeof *made->packed_bytes);
    made->check = hot_context_alloc(context, pieces, sizeof *made->check);
    made->held = hot_context_alloc(context, WINDOW + pieces * PIECE, 1);
    made->capacity = compressBound(PIECE) + 16; /* room for the flush */
    made->packed = hot_context_alloc(context, pieces, made->capacity);
    made->crc = crc32(0, NULL, 0);
    hot_status status = made->deflater && made->packed_bytes && made->check && made->held && made->packed
                            ? put(made, head, sizeof head) : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        return hot_gzip_end(&made, status);
    *writer = made;
    return HOT_OK;
}

/* As many compressors as pieces; small files need one. */
static hot_status make_ready(hot_gzip_writer *writer, int pieces)
{
    for (; writer->ready < pieces; writer->ready++)
        /* Fast compression, and of repetitions only runs: what else repeats in samples does so by chance. Looking for
         * it takes half as long again or more, and makes directions larger; slow levels five times, for a few percent
         * (docs/decisions/022-run-on-gpu.md). */
        if (deflateInit2(&writer->deflater[writer->ready], Z_BEST_SPEED, Z_DEFLATED, -15, 8, Z_RLE) != Z_OK)
            return hot_context_fail(writer->context, HOT_ERROR_MEMORY, "out of memory to compress '%s'",
                                    writer->name);
    return HOT_OK;
}

/* Compresses piece number `piece` of the buffer; 0 if zlib fails, which it cannot with this much room. */
static int compress_piece(hot_gzip_writer *writer, int piece)
{
    z_stream *z = &writer->deflater[piece];
    const size_t at = (size_t)piece * PIECE, left = writer->bytes - at, bytes = left < PIECE ? left : PIECE;
    unsigned char *from = writer->held + WINDOW + at;
    const size_t before = piece > 0 ? WINDOW : writer->window;
    if (deflateReset(z) != Z_OK ||
        (before > 0 && deflateSetDictionary(z, from - before, (unsigned int)before) != Z_OK))
        return 0;
    z->next_in = from;
    z->avail_in = (unsigned int)bytes;
    z->next_out = writer->packed + (size_t)piece * writer->capacity;
    z->avail_out = (unsigned int)writer->capacity;
    const int state = deflate(z, Z_SYNC_FLUSH);
    writer->packed_bytes[piece] = writer->capacity - z->avail_out;
    writer->check[piece] = crc32(crc32(0, NULL, 0), from, (unsigned int)bytes);
    return state == Z_OK && z->avail_in == 0 && z->avail_out > 0;
}

/* Compresses and writes what is held. */
static hot_status flush(hot_gzip_writer *writer)
{
    const int pieces = (int)((writer->bytes + PIECE - 1) / PIECE);
    int good = 1;
    hot_status status = hot_context_check(writer->context, "writing");
    if (status == HOT_OK)
        status = make_ready(writer, pieces);
    if (status != HOT_OK || pieces == 0)
        return status;
#pragma omp parallel for num_threads(hot_team(writer->pieces)) schedule(dynamic, 1) reduction(& : good)
    for (int piece = 0; piece < pieces; piece++)
        good &= compress_piece(writer, piece);
    if (!good)
        return hot_context_fail(writer->context, HOT_ERROR_FILE, "cannot write '%s': compression failed",
                                writer->name);
    for (int piece = 0; piece < pieces && status == HOT_OK; piece++) {
        const size_t left = writer->bytes - (size_t)piece * PIECE;
        status = put(writer, writer->packed + (size_t)piece * writer->capacity, writer->packed_bytes[piece]);
        writer->crc = crc32_combine(writer->crc, writer->check[piece], (z_off_t)(left < PIECE ? left : PIECE));
    }
    /* the end of the buffer is the dictionary of the next piece */
    writer->window = writer->bytes < WINDOW ? writer->bytes : WINDOW;
    memmove(writer->held + WINDOW - writer->window, writer->held + WINDOW + writer->bytes - writer->window,
            writer->window);
    writer->total += writer->bytes;
    writer->bytes = 0;
    return status;
}

hot_status hot_gzip_write(hot_gzip_writer *writer, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    const size_t room = (size_t)writer->pieces * PIECE;
    while (bytes > 0) {
        const size_t left = room - writer->bytes, part = bytes < left ? bytes : left;
        memcpy(writer->held + WINDOW + writer->bytes, from, part);
        writer->bytes += part;
        from += part;
        bytes -= part;
        if (writer->bytes == room) {
            HOT_TRY(flush(writer));
        }
    }
    return HOT_OK;
}

hot_status hot_gzip_end(hot_gzip_writer **writer, hot_status status)
{
    hot_gzip_writer *gone = *writer;
    if (!gone)
        return status;
    *writer = NULL;
    if (status == HOT_OK)
        status = flush(gone);
    if (status == HOT_OK) {
        unsigned char tail[10] = {3, 0}; /* an empty last block; then checksum and length, lowest byte first */
        for (int i = 0; i < 4; i++) {
            tail[2 + i] = (unsigned char)(gone->crc >> 8 * i);
            tail[6 + i] = (unsigned char)(gone->total >> 8 * i);
        }
        status = put(gone, tail, sizeof tail);
    }
    for (int i = 0; i < gone->ready; i++)
        deflateEnd(&gone->deflater[i]);
    hot_context *context = gone->context;
    HOT_FREE(context, gone->deflater, gone->packed_bytes, gone->check, gone->held, gone->packed, gone);
    return status;
}
