/* Fuzz target: NRRD by its structure. The first bytes make a valid header (type, sizes, encoding, byte order, skips,
 * position of an additional line), so that the samples are reached every time. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "fuzz_file.h"

enum { BYTES = 12 };

static size_t make_header(const uint8_t *b, const char *line, int length, char *to, size_t capacity)
{
    static const char *const types[] = {"int8", "uint8", "short", "ushort", "int", "uint", "longlong", "ulonglong",
                                        "float", "double"},
                            *const encodings[] = {"raw", "gzip", "ascii", "hex", "bzip2"},
                            *const spaces[] = {"left-posterior-superior", "RAS", "LAS", "scanner-xyz"};
    const unsigned int volumes = 2 + b[5] % 3;
    int used = snprintf(to, capacity,
                        "NRRD0005\n%.*s%stype: %s\ndimension: 4\nspace: %s\nsizes: %u %u %u %u\n"
                        "space directions: (%d,0,0) (0,%d,0) (0,0,%d) none\nspace origin: (0,0,0)\n"
                        "kinds: space space space %s\nendian: %s\nencoding: %s\nmodality:=DWMRI\nDWMRI_b-value:=%u\n",
                        length, line, length ? "\n" : "", types[b[0] % 10], spaces[b[1] % 4], 1 + b[2] % 4u,
                        1 + b[3] % 4u, 1 + b[4] % 4u, volumes, 1 + b[6] % 3, b[6] & 64 ? -2 : 2, 3,
                        b[7] & 1 ? "list" : "vector",
                        b[7] & 2 ? "big" : "little", encodings[b[8] % 5], 100u * b[9]);
    if (b[10])
        used += snprintf(to + used, capacity - (size_t)used, "%s skip: %d\n", b[10] & 1 ? "byte" : "line",
                         (int8_t)b[10] / 2);
    for (unsigned int v = 0; v < volumes; v++)
        used += snprintf(to + used, capacity - (size_t)used, "DWMRI_gradient_%04u:=%u %u %u\n", v, v & 1,
                         (b[11] >> v) & 1, v / 2);
    used += snprintf(to + used, capacity - (size_t)used, "\n");
    return (size_t)used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char path[] = "nrrd_body.link";
    static char header[2048];
    if (size < BYTES + 1)
        return 0;
    /* a line of the fuzzer's own: the length of it, itself */
    size_t length = data[BYTES] % 100, rest = size - BYTES - 1;
    length = length < rest ? length : rest;
    const char *line = (const char *)data + BYTES + 1;
    if (memchr(line, '\0', length) || memchr(line, '\n', length))
        length = 0;
    const size_t head = make_header(data, line, (int)length, header, sizeof header);
    const uint8_t *body = data + size - rest + length;
    if (!fuzz_file(path, header, head, body, rest - length))
        return 0;
    hot_context *context = fuzz_context(NULL);
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    if (!context)
        return 0;
    if (hot_dwi_load(context, path, NULL, NULL, &dwi) == HOT_OK && hot_mask_estimate(context, dwi, &mask) == HOT_OK)
        hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    fuzz_context_end(&context);
    return 0;
}
