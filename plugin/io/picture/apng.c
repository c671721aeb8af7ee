#include "apng.h"

#include <string.h>

enum { SIGNATURE = 8, AROUND = 12 /* length, type and checksum of a chunk */, IHDR = 25 /* with these */ };

static uint32_t read_32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void write_32(uint32_t value, unsigned char *bytes)
{
    for (int b = 0; b < 4; b++)
        bytes[b] = (unsigned char)(value >> (24 - 8 * b));
}

/* CRC-32 of further bytes, as in the PNG specification, annex D. */
static uint32_t add_to_crc(uint32_t crc, const unsigned char *bytes, size_t count)
{
    static const uint32_t POLYNOMIAL = 0xedb88320u;
    for (size_t n = 0; n < count; n++) {
        crc ^= bytes[n];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? POLYNOMIAL ^ crc >> 1 : crc >> 1;
    }
    return crc;
}

/* A chunk of two parts; head begins with its type. */
static void put_chunk(FILE *file, const unsigned char *head, size_t head_size, const unsigned char *rest,
                      size_t rest_size)
{
    unsigned char number[4];
    write_32((uint32_t)(head_size - 4 + rest_size), number);
    fwrite(number, 1, 4, file);
    fwrite(head, 1, head_size, file);
    fwrite(rest, 1, rest_size, file);
    write_32(~add_to_crc(add_to_crc(0xffffffffu, head, head_size), rest, rest_size), number);
    fwrite(number, 1, 4, file);
}

static void put_frame_control(hot_apng *movie, const unsigned char *png)
{
    unsigned char chunk[4 + 26] = "fcTL"; /* place 0,0; the next frame replaces it */
    write_32(movie->sequence++, chunk + 4);
    memcpy(chunk + 8, png + SIGNATURE + 8, 8); /* width and height, from IHDR */
    write_32((uint32_t)movie->milliseconds << 16 | 1000, chunk + 24);
    put_chunk(movie->file, chunk, sizeof chunk, chunk, 0);
}

hot_status hot_apng_add(hot_context *context, hot_apng *movie, const hot_png *png)
{
    const unsigned char *bytes = (const unsigned char *)png->bytes;
    unsigned char control[12] = "acTL", data[8] = "fdAT";
    const int first = movie->done == 0, last = movie->done + 1 == movie->frames;
    int begun = 0;
    if (png->size < SIGNATURE + IHDR + AROUND || memcmp(bytes + SIGNATURE + 4, "IHDR", 4) != 0)
        return hot_context_fail(context, HOT_ERROR_DATA, "a frame of a movie is no PNG");
    if (first)
        fwrite(bytes, 1, SIGNATURE + IHDR, movie->file);
    write_32((uint32_t)movie->frames, control + 4);
    if (first)
        put_chunk(movie->file, control, sizeof control, control, 0);
    for (size_t at = SIGNATURE + IHDR; at + AROUND <= png->size;) {
        const size_t size = read_32(bytes + at);
        const unsigned char *type = bytes + at + 4;
        const int image = memcmp(type, "IDAT", 4) == 0;
        if (size > png->size - at - AROUND)
            return hot_context_fail(context, HOT_ERROR_DATA, "a frame of a movie is cut off");
        if (image && !begun) {
            put_frame_control(movie, bytes);
            begun = 1;
        }
        if (image && !first) {
            write_32(movie->sequence++, data + 4);
            put_chunk(movie->file, data, sizeof data, bytes + at + 8, size);
        } else if (image || (first && memcmp(type, "IEND", 4) != 0) || (last && memcmp(type, "IEND", 4) == 0)) {
            fwrite(bytes + at, 1, size + AROUND, movie->file);
        }
        at += size + AROUND;
    }
    movie->done++;
    return HOT_OK;
}
