/* Samples of the file's type, wherever their axes lie, to floats with the volumes of a voxel together. */
#include "gather.h"

#include <stdlib.h>

#include <omp.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "core/image.h"
#include "paged.h"

/* Voxels of one block, and volumes that are transposed together: TOGETHER rows of BLOCK samples, read as they lie, wait
 * in the first-level cache until a full cache line of each voxel is there to be written. */
enum { BLOCK = 256, TOGETHER = 16 };

typedef struct gather {
    const hot_dwi *dwi;
    const size_t *offset; /* of each voxel of the block */
    size_t voxels;
    int adjacent;         /* the block's voxels follow each other in memory */
    int together;         /* the volumes of a voxel follow each other in memory */
    float *signals;
} gather;

#define GATHER(NAME, TYPE)                                                                                             \
    static void gather_##NAME(const gather *g)                                                                         \
    {                                                                                                                  \
        const hot_dwi *dwi = g->dwi;                                                                                   \
        const TYPE *data = dwi->data;                                                                                  \
        const size_t volumes = dwi->volumes, *position = dwi->position;                                                \
        const double slope = dwi->slope, intercept = dwi->intercept;                                                   \
        const int plain = slope == 1 && intercept == 0;                                                                \
        float *to = g->signals;                                                                                        \
        if (!g->together) {                                                                                            \
            float tile[TOGETHER][BLOCK];                                                                               \
            for (size_t v0 = 0; v0 < volumes; v0 += TOGETHER) {                                                        \
                const size_t rows = volumes - v0 < TOGETHER ? volumes - v0 : TOGETHER;                                 \
                for (size_t r = 0; r < rows; r++) {                                                                    \
                    const TYPE *from = data + position[v0 + r];                                                        \
                    if (g->adjacent && plain)                                                                          \
                        for (size_t n = 0; n < g->voxels; n++)                                                         \
                            tile[r][n] = (float)from[g->offset[0] + n];                                                \
                    else if (g->adjacent)                                                                              \
                        for (size_t n = 0; n < g->voxels; n++)                                                         \
                            tile[r][n] = (float)(slope * (double)from[g->offset[0] + n] + intercept);                  \
                    else                                                                                               \
                        for (size_t n = 0; n < g->voxels; n++) {                                                       \
                            const TYPE sample = from[g->offset[n]];                                                    \
                            tile[r][n] = plain ? (float)sample : (float)(slope * (double)sample + intercept);          \
                        }                                                                                              \
                }                                                                                                      \
                if (rows == TOGETHER)                                                                                  \
                    for (size_t n = 0; n < g->voxels; n++)                                                             \
                        for (size_t r = 0; r < TOGETHER; r++)                                                          \
                            to[n * volumes + v0 + r] = tile[r][n];                                                     \
                else                                                                                                   \
                    for (size_t n = 0; n < g->voxels; n++)                                                             \
                        for (size_t r = 0; r < rows; r++)                                                              \
                            to[n * volumes + v0 + r] = tile[r][n];                                                     \
            }                                                                                                          \
        } else {                                                                                                       \
            for (size_t n = 0; n < g->voxels; n++)                                                                     \
                for (size_t v = 0; v < volumes; v++) {                                                                 \
                    const TYPE sample = data[g->offset[n] + position[v]];                                              \
                    to[n * volumes + v] = plain ? (float)sample : (float)(slope * (double)sample + intercept);         \
                }                                                                                                      \
        }                                                                                                              \
    }

/* `count` samples that are `step` apart. */
#define ROW(NAME, TYPE)                                                                                                \
    static void row_##NAME(const hot_dwi *dwi, size_t at, size_t step, size_t count, float *to)                        \
    {                                                                                                                  \
        const TYPE *from = (const TYPE *)dwi->data + at;                                                               \
        const double slope = dwi->slope, intercept = dwi->intercept;                                                   \
        if (slope == 1 && intercept == 0 && step == 1)                                                                 \
            for (size_t n = 0; n < count; n++)                                                                         \
                to[n] = (float)from[n];                                                                                \
        else if (slope == 1 && intercept == 0)                                                                         \
            for (size_t n = 0; n < count; n++)                                                                         \
                to[n] = (float)from[n * step];                                                                         \
        else                                                                                                           \
            for (size_t n = 0; n < count; n++)                                                                         \
                to[n] = (float)(slope * (double)from[n * step] + intercept);                                           \
    }

#define OF_EVERY_TYPE(MAKE)                                                                                            \
    MAKE(i8, int8_t)                                                                                                   \
    MAKE(u8, uint8_t)                                                                                                  \
    MAKE(i16, int16_t)                                                                                                 \
    MAKE(u16, uint16_t)                                                                                                \
    MAKE(i32, int32_t)                                                                                                 \
    MAKE(u32, uint32_t)                                                                                                \
    MAKE(i64, int64_t)                                                                                                 \
    MAKE(u64, uint64_t)                                                                                                \
    MAKE(f32, float)                                                                                                   \
    MAKE(f64, double)

OF_EVERY_TYPE(GATHER)
OF_EVERY_TYPE(ROW)

#define BY_SAMPLE(NAME)                                                                                                \
    {                                                                                                                  \
        [HOT_SAMPLE_I8] = NAME##_i8,   [HOT_SAMPLE_U8] = NAME##_u8,   [HOT_SAMPLE_I16] = NAME##_i16,                   \
        [HOT_SAMPLE_U16] = NAME##_u16, [HOT_SAMPLE_I32] = NAME##_i32, [HOT_SAMPLE_U32] = NAME##_u32,                   \
        [HOT_SAMPLE_I64] = NAME##_i64, [HOT_SAMPLE_U64] = NAME##_u64, [HOT_SAMPLE_F32] = NAME##_f32,                   \
        [HOT_SAMPLE_F64] = NAME##_f64,                                                                                 \
    }

static void (*const gathers[])(const gather *) = BY_SAMPLE(gather);
static void (*const rows[])(const hot_dwi *, size_t, size_t, size_t, float *) = BY_SAMPLE(row);

/* At most BLOCK voxels: those of `voxel`, or where it is NULL first ... first + count - 1. */
static void copy_block(const hot_dwi *dwi, const size_t *voxel, size_t first, size_t count, float *signals)
{
    const size_t nx = dwi->grid.size[0], ny = dwi->grid.size[1];
    const int together = dwi->volumes > 1 && dwi->position[1] == dwi->position[0] + 1;
    size_t offset[BLOCK];
    int adjacent = 1;
    for (size_t n = 0; n < count; n++) {
        const size_t number = voxel ? voxel[n] : first + n, row = number / nx;
        offset[n] = number % nx * dwi->stride[0] + row % ny * dwi->stride[1] + row / ny * dwi->stride[2];
        adjacent &= offset[n] == offset[0] + n;
    }
    const gather g = {dwi, offset, count, adjacent, together, signals};
    gathers[dwi->sample](&g);
}

void hot_dwi_read_range(const hot_dwi *dwi, size_t first, size_t count, float *signals)
{
    for (size_t at = 0; at < count; at += BLOCK)
        copy_block(dwi, NULL, first + at, count - at < BLOCK ? count - at : BLOCK, signals + at * dwi->volumes);
}

/* Reads voxels first ... first + count - 1, or those of `voxel` if it is not NULL. Listed voxels are scattered, so that
 * each sample is a cache miss: a thousand of them are worth all threads. */
static hot_status read_voxels(hot_context *context, const hot_dwi *dwi, const size_t *voxel, size_t first, size_t count,
                              float *signals)
{
    const size_t step = voxel ? BLOCK / 16 : BLOCK, blocks = (count + step - 1) / step;
#pragma omp parallel for schedule(static) num_threads(hot_team(blocks > 8 ? hot_context_threads(context) : 1))
    for (size_t block = 0; block < blocks; block++) {
        const size_t start = block * step, here = count - start < step ? count - start : step;
        if (!hot_context_cancelled(context))
            copy_block(dwi, voxel ? voxel + start : NULL, first + start, here, signals + start * dwi->volumes);
    }
    return hot_context_check(context, "reading signals");
}

hot_status hot_dwi_read(hot_context *context, const hot_dwi *dwi, size_t first, size_t count, float *signals)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi);
    if (count > 0)
        HOT_NEED(context, signals);
    size_t voxels = hot_grid_voxels(&dwi->grid);
    if (first > voxels || count > voxels - first)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "voxels %zu to %zu of a DWI of %zu voxels", first,
                                first + count, voxels);
    hot_status status = HOT_OK;
    for (size_t done = 0, here; done < count && status == HOT_OK; done += here) {
        hot_dwi_mapped held;
        status = hot_dwi_map(context, dwi, first + done, &held);
        here = held.count < count - done ? held.count : count - done;
        if (status == HOT_OK)
            status = read_voxels(context, &held.view, NULL, first + done - held.origin, here,
                                 signals + done * dwi->volumes);
    }
    return status;
}

typedef struct listed {
    size_t voxel, place;
} listed;

static int by_voxel(const void *left, const void *right)
{
    const size_t l = ((const listed *)left)->voxel, r = ((const listed *)right)->voxel;
    return (l > r) - (l < r);
}

/* Of samples that are in a file: each slice is read once, whatever the order of the list. */
static hot_status gather_held(hot_context *context, const hot_dwi *dwi, const size_t *voxel, size_t count,
                              float *signals)
{
    enum { MOST = 1024 };
    size_t local[MOST];
    listed *order = hot_context_alloc(context, count, sizeof *order);
    hot_status status = order ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t n = 0; n < count && order; n++)
        order[n] = (listed){voxel[n], n};
    if (order && count > 0)
        qsort(order, count, sizeof *order, by_voxel);
    for (size_t n = 0, here; n < count && status == HOT_OK; n += here) {
        hot_dwi_mapped held;
        status = hot_dwi_map(context, dwi, order[n].voxel, &held);
        here = 0;
        do { /* those that are held, and lie side by side in the list too */
            local[here] = order[n + here].voxel - held.origin;
            here++;
        } while (here < MOST && n + here < count && order[n + here].place == order[n].place + here &&
                 order[n + here].voxel < order[n].voxel + held.count);
        if (status == HOT_OK)
            status = read_voxels(context, &held.view, local, 0, here, signals + order[n].place * dwi->volumes);
    }
    hot_context_free(context, order);
    return status;
}

hot_status hot_dwi_read_list(hot_context *context, const hot_dwi *dwi, const size_t *voxel, size_t count,
                             float *signals)
{
    if (!dwi->paged)
        return read_voxels(context, dwi, voxel, 0, count, signals);
    hot_dwi *some;
    hot_status status = hot_dwi_read_selected(context, dwi, voxel, count, &some);
    if (status == HOT_OK)
        status = some ? read_voxels(context, some, NULL, 0, count, signals)
                      : gather_held(context, dwi, voxel, count, signals);
    hot_context_free(context, some);
    return status;
}

void hot_dwi_read_row(const hot_dwi *dwi, size_t volume, size_t first, size_t count, float *samples)
{
    const size_t nx = dwi->grid.size[0], ny = dwi->grid.size[1];
    for (size_t done = 0, run; done < count; done += run) { /* to the end of each line of voxels */
        const size_t voxel = first + done, i = voxel % nx, line = voxel / nx;
        const size_t at = i * dwi->stride[0] + line % ny * dwi->stride[1] + line / ny * dwi->stride[2];
        run = nx - i < count - done ? nx - i : count - done;
        rows[dwi->sample](dwi, at + dwi->position[volume], dwi->stride[0], run, samples + done);
    }
}

hot_status hot_image_values(const hot_image *image, size_t first, size_t count, float *to)
{
    /* the same samples, seen as data of as many volumes */
    const hot_dwi view = {.grid = image->grid, .volumes = image->values, .data = image->data, .sample = image->sample,
                          .stride = {image->stride[0], image->stride[1], image->stride[2]},
                          .position = image->position, .slope = image->slope, .intercept = image->intercept};
    return hot_dwi_read(image->context, &view, first, count, to);
}

hot_status hot_dwi_read_volumes(hot_context *context, const hot_dwi *dwi, float *samples)
{
    enum { CHUNK = 1024 };
    const size_t voxels = hot_grid_voxels(&dwi->grid), volumes = dwi->volumes;
    float *some = hot_context_alloc(context, CHUNK * volumes, sizeof *some);
    hot_status status = some ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t first = 0; first < voxels && status == HOT_OK; first += CHUNK) {
        const size_t count = voxels - first < CHUNK ? voxels - first : CHUNK;
        status = hot_dwi_read(context, dwi, first, count, some);
        for (size_t v = 0; v < volumes && status == HOT_OK; v++)
            for (size_t n = 0; n < count; n++)
                samples[v * voxels + first + n] = some[n * volumes + v];
        if (status == HOT_OK)
            status = hot_context_progress(context, "writing", (double)first / (double)voxels);
    }
    hot_context_free(context, some);
    return status;
}

size_t hot_mask_next(const uint8_t *inside, size_t voxels, size_t *next, size_t most, size_t *voxel)
{
    size_t count = 0;
    for (; *next < voxels && count < most; ++*next)
        if (inside[*next])
            voxel[count++] = *next;
    return count;
}

size_t hot_mask_sample(const hot_mask *mask, size_t most, size_t *voxel)
{
    enum { LOOKED_AT = 256 };
    const size_t voxels = hot_grid_voxels(&mask->grid), step = mask->inside / most + 1;
    size_t count = 0, before = 0; /* before: voxels inside that are passed by before the next one is taken */
    for (size_t first = 0; first < voxels && count < most; first += LOOKED_AT) {
        const size_t end = voxels - first < LOOKED_AT ? voxels : first + LOOKED_AT;
        size_t inside = 0;
        for (size_t n = first; n < end; n++)
            inside += mask->bytes[n] != 0;
        if (inside <= before) { /* none to be taken here */
            before -= inside;
        } else if (inside == end - first) { /* as most are */
            size_t n = first + before;
            for (; n < end && count < most; n += step)
                voxel[count++] = n;
            before = n - end;
        } else {
            for (size_t n = first; n < end && count < most; n++)
                if (mask->bytes[n] && before-- == 0) {
                    voxel[count++] = n;
                    before = step - 1;
                }
        }
    }
    return count;
}
