/* fz in: the records of format_fz.c. Files in which DSI Studio itself has stored the voxels of a mask alone, or numbers
 * of a tessellation instead of directions, are refused. */
#include <math.h>
#include <string.h>

#include "core/fields.h"
#include "io/common/fiber_archive.h"
#include "io/common/stream.h"

enum { HEAD = 20, NAME = 64, FIBERS = 8, BLOCK = 1 << 16 };

typedef struct reader {
    hot_context *context;
    hot_stream *stream;
    const char *path;
    hot_grid grid;
    size_t voxels;            /* 0: no dimension yet */
    int placed;               /* trans was read */
    float *amplitude[FIBERS]; /* voxels */
    float *direction[FIBERS]; /* 3 x voxels */
    unsigned char block[BLOCK];
} reader;

/* A record's head. MATLAB's level 4 MAT-files: type is 1000 machine + 100 + 10 precision + kind. */
typedef struct record {
    char name[NAME];
    int precision; /* 0 to 5: double, float, int32, int16, uint16, uint8 */
    uint64_t count;
} record;

static const size_t sizes[6] = {8, 4, 4, 2, 2, 1};

static uint64_t little(const unsigned char *from, size_t bytes)
{
    uint64_t value = 0;
    for (size_t b = 0; b < bytes; b++)
        value |= (uint64_t)from[b] << 8 * b;
    return value;
}

static double number(const unsigned char *from, int precision)
{
    const uint64_t bits = little(from, sizes[precision]);
    const uint32_t half = (uint32_t)bits;
    double wide;
    float narrow;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &half, sizeof narrow);
    switch (precision) {
    case 0: return wide;
    case 1: return (double)narrow;
    case 2: return (int32_t)half;
    case 3: return (int16_t)bits;
    default: return (double)bits;
    }
}

static hot_status fail(const reader *in, const char *what)
{
    return hot_context_fail(in->context, HOT_ERROR_FORMAT, "'%s' is no fibre file of DSI Studio that can be shown: %s",
                            in->path, what);
}

/* *ended: there is no further record. */
static hot_status read_head(reader *in, record *next, int *ended)
{
    unsigned char head[HEAD];
    const size_t got = hot_stream_take(in->stream, head, sizeof head);
    *ended = got == 0;
    if (got == 0)
        return HOT_OK;
    const uint64_t type = little(head, 4), rows = little(head + 4, 4), columns = little(head + 8, 4);
    const uint64_t length = little(head + 16, 4);
    if (got < sizeof head || type > 50 || type % 10 || little(head + 12, 4) || length < 1 || length > NAME)
        return fail(in, "a record is truncated, or of no known type");
    if (hot_stream_take(in->stream, next->name, (size_t)length) != length || next->name[length - 1])
        return fail(in, "a record is truncated, or its name has no end");
    next->precision = (int)(type / 10);
    next->count = rows * columns; /* below 2^64 */
    return HOT_OK;
}

/* The next `count` numbers; to = NULL: they are skipped. */
static hot_status read_numbers(reader *in, const record *of, uint64_t count, float *to)
{
    const size_t each = sizes[of->precision], room = BLOCK / each;
    for (uint64_t done = 0; done < count;) {
        const size_t part = count - done < room ? (size_t)(count - done) : room;
        if (hot_stream_take(in->stream, in->block, part * each) != part * each)
            return fail(in, "it is truncated or damaged");
        for (size_t n = 0; n < part && to; n++)
            *to++ = (float)number(in->block + n * each, of->precision);
        done += part;
        HOT_TRY(hot_context_check(in->context, "reading"));
    }
    return HOT_OK;
}

static hot_status read_dimension(reader *in, const record *of)
{
    enum { MAX_SIDE = 65535 };
    float size[3];
    if (of->count != 3 || in->voxels)
        return fail(in, "its dimension is no list of three numbers");
    hot_status status = read_numbers(in, of, 3, size);
    in->voxels = 1;
    for (int a = 0; a < 3 && status == HOT_OK; a++) {
        if (!(size[a] >= 1 && size[a] <= MAX_SIDE))
            return fail(in, "its dimension is not of 1 to 65535 voxels a side");
        in->grid.size[a] = (size_t)size[a];
        in->voxels *= in->grid.size[a];
    }
    return status;
}

static hot_status read_trans(reader *in, const record *of)
{
    float matrix[16];
    if (of->count != 16)
        return fail(in, "its trans is no matrix of 4 x 4 numbers");
    const hot_status status = read_numbers(in, of, 16, matrix);
    for (int v = 0; v < 12; v++)
        in->grid.to_world[v / 4][v % 4] = (double)matrix[v];
    in->placed = 1;
    return status;
}

/* fa0, dir0 and so on: `each` numbers per voxel. */
static hot_status read_fibers(reader *in, const record *of, size_t each, float **to)
{
    if (!in->voxels)
        return fail(in, "its dimension does not come first");
    if (*to || of->count != each * in->voxels)
        return fail(in, "fa0, dir0, ... have other numbers of values than voxels (DSI Studio may store those of a mask "
                        "alone)");
    if (of->count > hot_stream_at_most(in->stream) / sizes[of->precision])
        return fail(in, "it is truncated");
    HOT_TRY(hot_memory_check(in->context, in->path, "directions", 4. * (double)of->count));
    *to = hot_context_alloc(in->context, (size_t)of->count, sizeof **to);
    return *to ? read_numbers(in, of, of->count, *to) : HOT_ERROR_MEMORY;
}

/* N of "faN" or "dirN"; -1: it is neither. */
static int number_of(const char *name, const char *before)
{
    const size_t length = strlen(before);
    return strncmp(name, before, length) == 0 && name[length] >= '0' && name[length] < '0' + FIBERS && !name[length + 1]
        ? name[length] - '0' : -1;
}

static hot_status read_records(reader *in)
{
    record next;
    int ended = 0;
    hot_status status = read_head(in, &next, &ended);
    while (status == HOT_OK && !ended) {
        const int fa = number_of(next.name, "fa"), direction = number_of(next.name, "dir");
        status = strcmp(next.name, "dimension") == 0 ? read_dimension(in, &next)
                 : strcmp(next.name, "trans") == 0   ? read_trans(in, &next)
                 : fa >= 0                           ? read_fibers(in, &next, 1, &in->amplitude[fa])
                 : direction >= 0                    ? read_fibers(in, &next, 3, &in->direction[direction])
                                                     : read_numbers(in, &next, next.count, NULL);
        if (status == HOT_OK)
            status = read_head(in, &next, &ended);
    }
    return status;
}

/* Directions are along the grid's axes. */
static hot_status assemble(reader *in, hot_fiber_field **fibers)
{
    double axes[3][3] = {{0}}, length[3];
    size_t count = 0;
    while (count < FIBERS && in->amplitude[count] && in->direction[count])
        count++;
    if (!count || !in->placed)
        return fail(in, count ? "it has no trans, which says where the voxels are" : "it has no fa0 and dir0");
    for (int a = 0; a < 3; a++) {
        const double *const row[3] = {in->grid.to_world[0], in->grid.to_world[1], in->grid.to_world[2]};
        length[a] = sqrt(row[0][a] * row[0][a] + row[1][a] * row[1][a] + row[2][a] * row[2][a]);
        for (int r = 0; r < 3; r++)
            axes[r][a] = row[r][a] / length[a];
    }
    in->grid.space = HOT_SPACE_RAS;
    hot_status status = hot_grid_check(in->context, &in->grid);
    if (status != HOT_OK)
        return hot_context_add(in->context, HOT_ERROR_FORMAT, "in '%s'", in->path);
    float *peaks = hot_context_calloc(in->context, in->voxels, 3 * count * sizeof *peaks);
    if (!peaks)
        return HOT_ERROR_MEMORY;
    for (size_t v = 0; v < in->voxels; v++)
        for (size_t f = 0; f < count; f++) {
            const float *d = in->direction[f] + 3 * v, amplitude = in->amplitude[f][v];
            for (int r = 0; r < 3 && amplitude > 0; r++) {
                const double along = axes[r][0] * (double)d[0] + axes[r][1] * (double)d[1] + axes[r][2] * (double)d[2];
                peaks[3 * (v * count + f) + (size_t)r] = (float)((double)amplitude * along);
            }
        }
    status = hot_fiber_field_adopt(in->context, &in->grid, (int)count, &peaks, fibers);
    hot_context_free(in->context, peaks);
    return status;
}

hot_status hot_fz_load(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    *fibers = NULL;
    reader *in = hot_context_calloc(context, 1, sizeof *in);
    if (!in)
        return HOT_ERROR_MEMORY;
    in->context = context;
    in->path = path;
    hot_status status = hot_stream_open(context, path, HOT_FILE_FOUND, &in->stream);
    if (status == HOT_OK)
        status = read_records(in);
    if (status == HOT_OK)
        status = assemble(in, fibers);
    hot_stream_close(context, &in->stream);
    for (int f = 0; f < FIBERS; f++)
        HOT_FREE(context, in->amplitude[f], in->direction[f]);
    hot_context_free(context, in);
    return status;
}
