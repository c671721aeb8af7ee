/* odx in: the arrays of format_odx.c, as floats of any size; amplitudes are dpf/amplitude, or all 1 without it. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "core/fields.h"
#include "io/common/fiber_archive.h"
#include "io/common/stream.h"
#include "io/common/zip_archive.h"

enum { MASK, OFFSETS, DIRECTIONS, AMPLITUDE, ARRAYS, MAX_FIBERS = 64 };

typedef struct odx {
    hot_zip zip;
    hot_grid grid;
    size_t voxels;
    const hot_zip_entry *entry[ARRAYS];
    unsigned char *bytes[ARRAYS];
    int sample[ARRAYS];    /* bytes of a number */
    size_t fibers, inside; /* of all voxels; voxels of the mask */
} odx;

/* ---- Header ------------------------------------------------------------------------------------------------ */

static int read_numbers(const cJSON *list, int count, double *numbers)
{
    for (int n = 0; n < count; n++) {
        const cJSON *item = cJSON_GetArrayItem(list, n);
        if (!cJSON_IsNumber(item))
            return 0;
        numbers[n] = item->valuedouble;
    }
    return cJSON_GetArraySize(list) == count;
}

static int read_grid(const cJSON *json, odx *in)
{
    enum { MAX_SIDE = 65535 };
    const cJSON *matrix = cJSON_GetObjectItem(json, "VOXEL_TO_RASMM");
    double size[3], row[4];
    if (!read_numbers(cJSON_GetObjectItem(json, "DIMENSIONS"), 3, size) || cJSON_GetArraySize(matrix) != 4)
        return 0;
    in->voxels = 1;
    for (int d = 0; d < 3; d++) {
        if (!(size[d] >= 1 && size[d] <= MAX_SIDE) || !read_numbers(cJSON_GetArrayItem(matrix, d), 4, row))
            return 0;
        in->grid.size[d] = (size_t)size[d];
        in->voxels *= in->grid.size[d];
        memcpy(in->grid.to_world[d], row, sizeof row);
    }
    in->grid.space = HOT_SPACE_RAS;
    return 1;
}

static hot_status read_header(odx *in)
{
    const hot_zip_entry *header = hot_zip_find(&in->zip, "header.json");
    unsigned char *text = NULL;
    hot_status status = header ? hot_zip_load(&in->zip, header, &text)
                               : hot_zip_fail(&in->zip, "it has no header.json");
    cJSON *json = status == HOT_OK ? cJSON_ParseWithLength((const char *)text, (size_t)header->bytes) : NULL;
    if (status == HOT_OK && !read_grid(json, in))
        status = hot_zip_fail(&in->zip, "its header.json has no DIMENSIONS of three numbers and no VOXEL_TO_RASMM of "
                                        "four rows");
    cJSON_Delete(json);
    hot_context_free(in->zip.context, text);
    if (status == HOT_OK && hot_grid_check(in->zip.context, &in->grid) != HOT_OK)
        status = hot_context_add(in->zip.context, HOT_ERROR_FORMAT, "in '%s'", in->zip.path);
    return status;
}

/* ---- Arrays ------------------------------------------------------------------------------------------------ */

/* The sizes of the arrays, and that they belong together. */
static hot_status check_sizes(odx *in)
{
    const unsigned char *mask = in->bytes[MASK];
    const uint64_t directions = in->entry[DIRECTIONS]->bytes, each = 3 * (uint64_t)in->sample[DIRECTIONS];
    if (in->entry[MASK]->bytes != in->voxels)
        return hot_zip_fail(&in->zip, "its mask has other numbers of voxels than its header");
    for (size_t v = 0; v < in->voxels; v++)
        in->inside += mask[v] != 0;
    in->fibers = (size_t)(directions / each);
    if (directions % each || in->entry[OFFSETS]->bytes != (in->inside + 1) * (uint64_t)in->sample[OFFSETS])
        return hot_zip_fail(&in->zip, "its offsets or directions have other sizes than its mask says");
    if (in->entry[AMPLITUDE] && in->entry[AMPLITUDE]->bytes != in->fibers * (uint64_t)in->sample[AMPLITUDE])
        return hot_zip_fail(&in->zip, "it has other numbers of amplitudes than of directions");
    return HOT_OK;
}

static hot_status load_arrays(odx *in)
{
    static const struct { const char *name, *before; int needed; } arrays[ARRAYS] = {
        [MASK] = {"mask.uint8", "mask.uint", 1}, [OFFSETS] = {"offsets.uint", "offsets.uint", 1},
        [DIRECTIONS] = {"directions.3.float", "directions.3.float", 1},
        [AMPLITUDE] = {"dpf/amplitude.float", "dpf/amplitude.float", 0}};
    hot_status status = HOT_OK;
    for (int a = 0; a < ARRAYS && status == HOT_OK; a++) {
        in->entry[a] = hot_zip_find(&in->zip, arrays[a].name);
        if (!in->entry[a] && !arrays[a].needed)
            continue;
        in->sample[a] = !in->entry[a] ? 0 : a == MASK ? 1 : hot_zip_sample(in->entry[a]->name, arrays[a].before);
        if (!in->sample[a] || (a == OFFSETS && in->sample[a] < 4))
            return hot_zip_fail(&in->zip, "it needs mask.uint8, offsets.uint32 or .uint64, and directions.3 of "
                                          "float16, 32 or 64");
        status = hot_zip_load(&in->zip, in->entry[a], &in->bytes[a]);
    }
    return status == HOT_OK ? check_sizes(in) : status;
}

static uint64_t offset_at(const odx *in, size_t n)
{
    return hot_zip_little(in->bytes[OFFSETS] + n * (size_t)in->sample[OFFSETS], in->sample[OFFSETS]);
}

/* The most fibres of a voxel; 0: the offsets are not in order, or there are too many. */
static size_t most_fibers(const odx *in)
{
    size_t most = 1;
    for (size_t n = 0; n < in->inside; n++) {
        const uint64_t first = offset_at(in, n), end = offset_at(in, n + 1);
        if (first > end || end > in->fibers || end - first > MAX_FIBERS)
            return 0;
        most = end - first > most ? (size_t)(end - first) : most;
    }
    return most;
}

static void put_fiber(const odx *in, size_t fiber, float *to)
{
    const size_t each = (size_t)in->sample[DIRECTIONS];
    const double amplitude = !in->entry[AMPLITUDE] ? 1
        : hot_zip_float(in->bytes[AMPLITUDE] + fiber * (size_t)in->sample[AMPLITUDE], in->sample[AMPLITUDE]);
    for (size_t d = 0; d < 3; d++)
        to[d] = (float)(amplitude *
                        hot_zip_float(in->bytes[DIRECTIONS] + (3 * fiber + d) * each, in->sample[DIRECTIONS]));
}

/* Voxels in the archive's order: k fastest. */
static hot_status assemble(const odx *in, hot_fiber_field **fibers)
{
    const size_t *size = in->grid.size, most = most_fibers(in);
    const unsigned char *mask = in->bytes[MASK];
    size_t n = 0;
    hot_context *context = in->zip.context;
    if (!most)
        return hot_zip_fail(&in->zip, "its offsets are not in order, beyond the last direction, or more than 64 apart");
    HOT_TRY(hot_memory_check(context, in->zip.path, "directions", 12. * (double)in->voxels * (double)most));
    float *peaks = hot_context_calloc(context, in->voxels, 3 * most * sizeof *peaks);
    if (!peaks)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; i < size[0]; i++)
        for (size_t j = 0; j < size[1]; j++)
            for (size_t k = 0; k < size[2]; k++) {
                if (!*mask++)
                    continue;
                const size_t voxel = i + size[0] * (j + size[1] * k), first = (size_t)offset_at(in, n);
                const size_t count = (size_t)offset_at(in, ++n) - first;
                for (size_t f = 0; f < count; f++)
                    put_fiber(in, first + f, peaks + 3 * (voxel * most + f));
            }
    hot_status status = hot_fiber_field_adopt(context, &in->grid, (int)most, &peaks, fibers);
    hot_context_free(context, peaks);
    return status;
}

hot_status hot_odx_load(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    *fibers = NULL;
    odx *in = hot_context_calloc(context, 1, sizeof *in);
    if (!in)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_zip_open(context, path, "ODX", &in->zip);
    if (status == HOT_OK) {
        status = read_header(in);
        if (status == HOT_OK)
            status = load_arrays(in);
        if (status == HOT_OK)
            status = assemble(in, fibers);
        hot_zip_close(&in->zip);
    }
    for (int a = 0; a < ARRAYS; a++)
        hot_context_free(context, in->bytes[a]);
    hot_context_free(context, in);
    return status;
}
