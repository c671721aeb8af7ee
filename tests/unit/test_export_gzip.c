/* Compressed output: zlib reads back what was written whatever the number of threads, the same bytes from all; a full
 * disk and a caller who stops are told. Large raw files are read by all threads. */
#include <unistd.h>
#include <zlib.h>

#include <hotfiber/hotfiber.h>

#include "check.h"
#include "io/common/gzip_writer.h"
#include "io/common/stream.h"

enum { PIECE = 1 << 18 };

static hot_context *context_of(int threads)
{
    hot_context *context = NULL;
    const hot_context_options options = {.size = sizeof options, .threads = threads};
    CHECK(hot_context_create(&options, &context) == HOT_OK, "no context");
    return context;
}

/* Part runs of one value, part noise: what a map and what floats look like. */
static unsigned char *make_contents(size_t bytes)
{
    unsigned char *data = malloc(bytes + 1);
    uint64_t state = 11;
    for (size_t i = 0; i < bytes; i++)
        data[i] = i / 1000 % 3 == 0 ? (unsigned char)(i / 5000) : (unsigned char)check_random_bits(&state);
    return data;
}

/* Writes `data` in parts of `part` bytes; returns the file, at its beginning. */
static FILE *write_gzip(int threads, const unsigned char *data, size_t bytes, size_t part)
{
    FILE *file = tmpfile();
    hot_context *context = context_of(threads);
    hot_gzip_writer *writer;
    hot_status status = hot_gzip_begin(context, file, "a.gz", &writer);
    for (size_t at = 0; status == HOT_OK && at < bytes; at += part)
        status = hot_gzip_write(writer, data + at, bytes - at < part ? bytes - at : part);
    status = hot_gzip_end(&writer, status);
    CHECK(status == HOT_OK && !writer, "%zu bytes, %d threads: %s", bytes, threads, hot_context_message(context));
    hot_context_destroy(&context);
    rewind(file);
    return file;
}

/* The file's bytes as they are; *size: how many. */
static unsigned char *raw_bytes(FILE *file, size_t *size)
{
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    CHECK(fread(bytes, 1, *size, file) == *size, "short read");
    rewind(file);
    return bytes;
}

static void check_contents(FILE *file, const unsigned char *data, size_t bytes)
{
    unsigned char *back = malloc(bytes + 1);
    const int handle = dup(fileno(file));
    lseek(handle, 0, SEEK_SET);
    gzFile zip = gzdopen(handle, "rb");
    size_t got = 0;
    for (int more = 1; more > 0 && got <= bytes; got += more > 0 ? (size_t)more : 0)
        more = gzread(zip, back + got, (unsigned int)(bytes + 1 - got));
    CHECK(got == bytes && memcmp(back, data, bytes) == 0, "%zu of %zu bytes, or others", got, bytes);
    CHECK(gzclose(zip) == Z_OK, "%zu bytes: checksum or length", bytes); /* zlib compares them at the end */
    free(back);
}

static void test_contents(void)
{
    const size_t sizes[] = {0, 1, 100, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 7, 10 * PIECE + 12345};
    unsigned char *data = make_contents(11 * PIECE);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t one_size, three_size;
        FILE *one = write_gzip(1, data, sizes[i], sizes[i] + 1), *three = write_gzip(3, data, sizes[i], 77777);
        unsigned char *one_bytes = raw_bytes(one, &one_size), *three_bytes = raw_bytes(three, &three_size);
        check_contents(three, data, sizes[i]);
        CHECK(one_size == three_size && memcmp(one_bytes, three_bytes, one_size) == 0,
              "%zu bytes: 1 and 3 threads differ", sizes[i]);
        /* two thirds of it are noise, the rest hardly takes room: cutting must not cost any */
        CHECK(one_size < sizes[i] * 7 / 10 + 64, "%zu bytes became %zu", sizes[i], one_size);
        free(one_bytes), free(three_bytes);
        fclose(one), fclose(three);
    }
    free(data);
}

static void test_trouble(void)
{
    unsigned char *data = make_contents(8 * PIECE);
    hot_context *context = context_of(2);
    hot_gzip_writer *writer;
    FILE *full = fopen("/dev/full", "wb");
    hot_status status = hot_gzip_begin(context, full, "full.gz", &writer);
    for (int i = 0; i < 3 && status == HOT_OK; i++)
        status = hot_gzip_write(writer, data, 8 * PIECE);
    status = hot_gzip_end(&writer, status);
    CHECK(status == HOT_ERROR_FILE && strstr(hot_context_message(context), "full.gz"), "%d: %s", (int)status,
          hot_context_message(context));
    fclose(full);

    FILE *file = tmpfile();
    CHECK(hot_gzip_begin(context, file, "a.gz", &writer) == HOT_OK, "%s", hot_context_message(context));
    hot_context_cancel(context);
    CHECK(hot_gzip_end(&writer, hot_gzip_write(writer, data, 8 * PIECE)) == HOT_ERROR_CANCELLED, "went on");
    fclose(file);
    hot_context_destroy(&context);
    free(data);
}

static void test_reading(void)
{
    const size_t bytes = ((size_t)17 << 20) + 3, skip = 5;
    unsigned char *data = make_contents(bytes + skip), *back = calloc(bytes, 1);
    FILE *file = tmpfile();
    hot_context *context = context_of(3);
    CHECK(fwrite(data, 1, bytes + skip, file) == bytes + skip && fflush(file) == 0, "no room");
    rewind(file);
    CHECK(hot_stream_read(context, file, 0, "a.raw", (long)skip, back, bytes) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK(memcmp(back, data + skip, bytes) == 0, "other bytes");
    CHECK(getc(file) == EOF, "the stream is not behind what was read");
    rewind(file);
    CHECK(ftruncate(fileno(file), (off_t)(bytes + skip) - 9) == 0, "cannot cut");
    CHECK(hot_stream_read(context, file, 0, "a.raw", (long)skip, back, bytes) == HOT_ERROR_FORMAT, "a cut file");
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%zu bytes of data where the header needs %zu", bytes - 9, bytes);
    CHECK(strstr(hot_context_message(context), wanted), "%s", hot_context_message(context));
    fclose(file);
    hot_context_destroy(&context);
    free(data), free(back);
}

int main(void)
{
    test_contents();
    test_trouble();
    test_reading();
    HOT_TEST_END();
}
