/* odx: an ODX archive, a zip file without compression. header.json (grid and counts), mask.uint8 (1 in voxels with
 * fibres, k fastest), offsets.uint32 (a voxel's first fibre; voxels in the order of the mask), directions.3.float32
 * (unit, scanner RAS), dpf/amplitude.float32. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "io/common/formats.h"
#include "common/entry.h"
#include "io/common/output.h"
#include "io/common/stream.h"

enum { HEADER, MASK, OFFSETS, DIRECTIONS, AMPLITUDE, ENTRIES, LOCAL_BYTES = 30, CENTRAL_BYTES = 46, END_BYTES = 22,
       JSON_MAX = 2048 };

typedef struct entry {
    const char *name;
    void *data;
    size_t bytes, sample; /* sample: bytes of one number */
    uint32_t crc, at;
} entry;

/* ---- The archive ------------------------------------------------------------------------------------------- */

/* Little-endian fields of 2 and 4 bytes. */
static unsigned char *put2(unsigned char *to, uint32_t value)
{
    to[0] = (unsigned char)value;
    to[1] = (unsigned char)(value >> 8);
    return to + 2;
}

static unsigned char *put4(unsigned char *to, uint32_t value) { return put2(put2(to, value), value >> 16); }

/* The common part of an entry's local and central headers, from "version needed" to the name's length. */
static unsigned char *put_common(unsigned char *to, const entry *e)
{
    to = put2(to, 20); /* version */
    to = put2(to, 0);  /* flags */
    to = put2(to, 0);  /* stored */
    to = put2(to, 0);  /* time and date: 1980, so that the same directions give the same bytes */
    to = put2(to, 33);
    to = put4(to, e->crc);
    to = put4(to, (uint32_t)e->bytes);
    to = put4(to, (uint32_t)e->bytes);
    to = put2(to, (uint32_t)strlen(e->name));
    return put2(to, 0); /* no extra field */
}

static hot_status put_archive(hot_context *context, FILE *file, const void *what)
{
    const entry *entries = what;
    unsigned char head[CENTRAL_BYTES];
    uint32_t start = 0, bytes = 0;
    for (int i = 0; i < ENTRIES; i++) {
        put_common(put4(head, 0x04034b50), &entries[i]);
        fwrite(head, 1, LOCAL_BYTES, file);
        fputs(entries[i].name, file);
        for (size_t done = 0; done < entries[i].bytes;) {
            const size_t part = entries[i].bytes - done < 1 << 20 ? entries[i].bytes - done : 1 << 20;
            HOT_TRY(hot_context_check(context, "writing"));
            fwrite((const char *)entries[i].data + done, 1, part, file);
            done += part;
        }
        start = entries[i].at + LOCAL_BYTES + (uint32_t)(strlen(entries[i].name) + entries[i].bytes);
    }
    for (int i = 0; i < ENTRIES; i++) {
        unsigned char *to = put_common(put2(put4(head, 0x02014b50), 20), &entries[i]);
        to = put2(to, 0);        /* no comment */
        to = put4(to, 0);        /* disk 0, binary */
        to = put4(to, 0);        /* attributes */
        put4(to, entries[i].at); /* where the local header is */
        fwrite(head, 1, CENTRAL_BYTES, file);
        fputs(entries[i].name, file);
        bytes += CENTRAL_BYTES + (uint32_t)strlen(entries[i].name);
    }
    unsigned char *to = put4(put4(head, 0x06054b50), 0);
    to = put2(put2(to, ENTRIES), ENTRIES);
    put2(put4(put4(to, bytes), start), 0);
    fwrite(head, 1, END_BYTES, file);
    return HOT_OK;
}

/* ---- What is in it ----------------------------------------------------------------------------------------- */

static size_t put_json(const hot_grid *grid, size_t voxels, size_t fibers, char *text)
{
    double ras[3][4];
    hot_grid_to_ras(grid, ras);
    int at = snprintf(text, JSON_MAX, "{\"VOXEL_TO_RASMM\": [");
    for (int r = 0; r < 3; r++)
        at += snprintf(text + at, (size_t)(JSON_MAX - at), "[%.17g, %.17g, %.17g, %.17g], ", ras[r][0], ras[r][1],
                       ras[r][2], ras[r][3]);
    at += snprintf(text + at, (size_t)(JSON_MAX - at),
                   "[0, 0, 0, 1]],\n \"DIMENSIONS\": [%zu, %zu, %zu], \"NB_VOXELS\": %zu, \"NB_PEAKS\": %zu,\n"
                   " \"HOTFIBER_VERSION\": \"%s\"}\n",
                   grid->size[0], grid->size[1], grid->size[2], voxels, fibers, hot_version());
    return (size_t)at;
}

/* Mask, offsets, directions and amplitudes, voxel by voxel, k fastest. */
static void fill(const hot_fiber_field *fibers, entry *entries)
{
    const size_t *size = fibers->grid.size;
    uint8_t *mask = entries[MASK].data;
    uint32_t *offset = entries[OFFSETS].data, number = 0;
    float *direction = entries[DIRECTIONS].data, *amplitude = entries[AMPLITUDE].data;
    double sign[3];
    hot_space_ras_sign(fibers->grid.space, sign);
    for (size_t i = 0; i < size[0]; i++)
        for (size_t j = 0; j < size[1]; j++)
            for (size_t k = 0; k < size[2]; k++) {
                const size_t voxel = i + size[0] * (j + size[1] * k);
                const uint8_t count = fibers->counts[voxel];
                *mask++ = count > 0;
                if (count > 0)
                    *offset++ = number;
                for (uint8_t f = 0; f < count; f++, number++) {
                    const float *v = fibers->peaks + 3 * (voxel * (size_t)fibers->max_fibers + f);
                    const double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
                    for (int d = 0; d < 3; d++)
                        *direction++ = v[d] == 0 ? 0 : (float)(sign[d] * v[d] / length);
                    *amplitude++ = (float)length;
                }
            }
    *offset = number;
}

hot_status hot_write_odx(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    const size_t voxels = hot_grid_voxels(&fibers->grid);
    size_t inside = 0, count = 0, total = 0;
    const uint16_t one = 1;
    for (size_t v = 0; v < voxels; v++) {
        inside += fibers->counts[v] > 0;
        count += fibers->counts[v];
    }
    entry entries[ENTRIES] = {
        [HEADER] = {"header.json", NULL, JSON_MAX, 1, 0, 0},
        [MASK] = {"mask.uint8", NULL, voxels, 1, 0, 0},
        [OFFSETS] = {"offsets.uint32", NULL, (inside + 1) * sizeof(uint32_t), sizeof(uint32_t), 0, 0},
        [DIRECTIONS] = {"directions.3.float32", NULL, count * 3 * sizeof(float), sizeof(float), 0, 0},
        [AMPLITUDE] = {"dpf/amplitude.float32", NULL, count * sizeof(float), sizeof(float), 0, 0},
    };
    hot_status status = HOT_OK;
    for (int i = 0; i < ENTRIES; i++)
        total += entries[i].bytes + 256;
    if (total > UINT32_MAX)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "%zu voxels with %zu fibres need %zu bytes, but an ODX archive without zip64 holds 4 "
                                "GiB", voxels, count, total);
    for (int i = 0; i < ENTRIES && status == HOT_OK; i++) {
        entries[i].data = hot_context_alloc(context, entries[i].bytes ? entries[i].bytes : 1, 1);
        status = entries[i].data ? HOT_OK : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK) {
        fill(fibers, entries);
        entries[HEADER].bytes = put_json(&fibers->grid, inside, count, entries[HEADER].data);
    }
    uint32_t at = 0;
    for (int i = 0; i < ENTRIES && status == HOT_OK; i++) {
        if (!*(const uint8_t *)&one && entries[i].sample > 1) /* the archive is little-endian */
            status = hot_swap_bytes(context, entries[i].data, entries[i].bytes / entries[i].sample, entries[i].sample);
        entries[i].at = at;
        entries[i].crc = (uint32_t)crc32_z(0, entries[i].data, entries[i].bytes);
        at += LOCAL_BYTES + (uint32_t)(strlen(entries[i].name) + entries[i].bytes);
    }
    if (status == HOT_OK)
        status = hot_output_write(context, path, put_archive, entries);
    for (int i = 0; i < ENTRIES; i++)
        hot_context_free(context, entries[i].data);
    return status;
}
