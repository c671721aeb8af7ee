/* See store.h. */
#include "store.h"

#include <errno.h>
#include <string.h>

#include "core/samples.h"
#include "io/common/file_open.h"

/* MAX_ROW: of 3 fibres with 1000 samples. BLOCK: floats that are written at a time. */
enum { MAX_LINE = 1 << 20, MAX_LINES = 20, MAX_ROW = 16384, COLUMNS = 13, BLOCK = 1 << 22 };
static const char key[] = "hotfiber_part:=";

/* One array of a row; a voxel's values are at values[voxel * per], or at its index among those of the mask. */
typedef struct column {
    float *values;
    uint8_t *bytes;   /* instead: flags */
    uint16_t *shorts; /* instead: samples */
    const size_t *place;
    size_t per;
} column;

/* The arrays that a row consists of; those that the run lacks are NULL: 0 in rows, and passed over when these are
 * loaded. Returns the width. */
static size_t list_columns(const hot_signal_output *found, column columns[COLUMNS])
{
    const size_t fibers = (size_t)found->max_fibers;
    const hot_signal_maps none = {0}, *maps = found->maps ? found->maps : &none;
    const hot_signal_samples *samples = maps->samples;
    const column all[COLUMNS] = {
        {.values = found->peaks, .per = 3 * fibers}, {.bytes = found->flags, .per = 1},
        {.values = found->residual, .per = 1}, {.values = maps->probability, .per = 4},
        {.values = maps->margin, .per = 1}, {.values = maps->width, .per = 1}, {.values = maps->cone, .per = fibers},
        {.values = maps->cone_axes, .per = 6 * fibers}, {.values = maps->fraction_sd, .per = fibers},
        {.values = maps->isotropic, .per = 1}, {.values = maps->free_water, .per = 1},
        {.values = maps->noise_sd, .per = 1},
        {.shorts = samples ? &samples->values->theta : NULL, .place = samples ? samples->place : NULL,
         .per = samples ? 3 * (size_t)samples->samples * (size_t)samples->fibers : 0}};
    size_t width = 0;
    memcpy(columns, all, sizeof all);
    for (int c = 0; c < COLUMNS; c++)
        width += all[c].per;
    return width;
}

size_t hot_run_row_width(const hot_signal_output *found)
{
    column columns[COLUMNS];
    return list_columns(found, columns);
}

static void pack_row(const column columns[COLUMNS], size_t voxel, float *row)
{
    for (int c = 0; c < COLUMNS; row += columns[c++].per) {
        const column *from = &columns[c];
        const size_t at = (from->place ? from->place[voxel] : voxel) * from->per;
        for (size_t n = 0; n < from->per; n++)
            row[n] = from->values   ? from->values[at + n]
                     : from->bytes  ? from->bytes[at + n]
                     : from->shorts ? from->shorts[at + n]
                                    : 0;
    }
}

/* A file may hold any float; those that are none of ours have no value as an integer. */
static uint16_t whole(float x, float max) { return x >= 0 && x <= max ? (uint16_t)x : 0; }

static void unpack_row(const column columns[COLUMNS], size_t voxel, const float *row)
{
    for (int c = 0; c < COLUMNS; row += columns[c++].per) {
        const column *to = &columns[c];
        const size_t at = (to->place ? to->place[voxel] : voxel) * to->per;
        for (size_t n = 0; n < to->per; n++) {
            if (to->values)
                to->values[at + n] = row[n];
            else if (to->bytes)
                to->bytes[at + n] = (uint8_t)whole(row[n], UINT8_MAX);
            else if (to->shorts)
                to->shorts[at + n] = whole(row[n], UINT16_MAX);
        }
    }
}

/* FNV-1a of the row's words, folded to as many bits as a float has. */
static uint32_t sum_row(const float *row, size_t width)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < width; i++) {
        uint32_t word;
        memcpy(&word, &row[i], sizeof word);
        sum = (sum ^ word) * 1099511628211u;
    }
    return (uint32_t)(sum ^ sum >> 32);
}

static const char *endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one ? "little" : "big";
}

hot_status hot_run_store_begin(hot_context *context, FILE *file, const cJSON *about, size_t width, size_t count)
{
    char *text = hot_report_line(about);
    if (!text)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for what a run keeps");
    fprintf(file, "NRRD0004\ntype: float\ndimension: 2\nsizes: %zu %zu\nendian: %s\nencoding: raw\n%s", width + 1,
            count, endian(), key);
    for (const char *at = text; *at; at++) /* a key's value has backslashes escaped */
        fputs(*at == '\\' ? "\\\\" : (const char[]){*at, '\0'}, file);
    fputs("\n\n", file);
    cJSON_free(text);
    return HOT_OK;
}

static void read_key(char *text, hot_run_store *store)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        at += at[0] == '\\' && at[1] == '\\';
        *to++ = *at;
    }
    *to = '\0';
    cJSON_Delete(store->about); /* a file that is not ours may have it twice */
    store->about = hot_report_parse(text, strlen(text));
}

hot_status hot_run_store_open(hot_context *context, FILE *file, const char *name, hot_run_store *store)
{
    char order[32];
    const char *const lines[] = {"NRRD0004", "type: float", "dimension: 2", "encoding: raw", order};
    size_t length = 0, fields = 0;
    char *line = hot_context_alloc(context, MAX_LINE, 1);
    *store = (hot_run_store){.file = file};
    snprintf(order, sizeof order, "endian: %s", endian());
    for (int n = 0; line && n < MAX_LINES && (length = hot_file_line(file, line, MAX_LINE)) > 1; n++) {
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
            fields += strcmp(line, lines[i]) == 0;
        if (strncmp(line, "sizes: ", 7) == 0)
            fields += sscanf(line + 7, "%zu %zu", &store->width, &store->count) == 2;
        if (strncmp(line, key, strlen(key)) == 0)
            read_key(line + strlen(key), store);
    }
    const int fine = fields == 6 && length == 1 && cJSON_IsObject(store->about) && store->width-- > 0;
    hot_context_free(context, line);
    if (fine)
        return HOT_OK;
    hot_run_store_close(store);
    return !line ? HOT_ERROR_MEMORY
                 : hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not a part of a run on this kind of machine",
                                    name);
}

void hot_run_store_close(hot_run_store *store)
{
    if (store->file)
        fclose(store->file);
    cJSON_Delete(store->about);
    *store = (hot_run_store){.file = NULL};
}

size_t hot_run_store_load(const hot_run_store *store, const hot_signal_output *found, const uint8_t *inside,
                          size_t first, size_t count)
{
    column columns[COLUMNS];
    float row[MAX_ROW];
    size_t loaded = 0;
    const size_t width = list_columns(found, columns);
    if (width != store->width || width >= MAX_ROW)
        return 0;
    for (size_t voxel = first; voxel < first + count; voxel++) {
        if (!inside[voxel])
            continue;
        if (fread(row, sizeof *row, width + 1, store->file) != width + 1)
            break;
        const uint32_t sum = sum_row(row, width);
        if (memcmp(&sum, &row[width], sizeof sum) != 0)
            break;
        unpack_row(columns, voxel, row);
        loaded++;
    }
    return loaded;
}

hot_status hot_run_store_save(hot_context *context, FILE *file, const hot_signal_output *found, const uint8_t *inside,
                              size_t first, size_t count)
{
    column columns[COLUMNS];
    const size_t width = list_columns(found, columns), row = width + 1;
    const size_t max = BLOCK / row + 1, room = max < count ? max : count;
    int fine = width < MAX_ROW;
    /* written at once, so that a kill leaves whole slabs */
    float *block = hot_context_alloc(context, room, row * sizeof *block);
    if (!block)
        return HOT_ERROR_MEMORY;
    for (size_t voxel = first, rows = 0; voxel < first + count && fine; voxel++) {
        if (inside[voxel]) {
            float *to = block + row * rows++;
            pack_row(columns, voxel, to);
            const uint32_t sum = sum_row(to, width);
            memcpy(&to[width], &sum, sizeof sum);
        }
        if (rows < room && voxel + 1 < first + count)
            continue;
        fine = fwrite(block, row * sizeof *block, rows, file) == rows;
        rows = 0;
    }
    hot_context_free(context, block);
    return fine && fflush(file) == 0 ? HOT_OK : hot_context_fail(context, HOT_ERROR_FILE, "cannot write what a run "
                                                                 "keeps: %s", strerror(errno));
}
