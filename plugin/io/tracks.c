/* MRtrix's tracks in: a text header, then points; NaN ends a streamline, Inf the file. */
#include "io/common/tracks.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/entry.h"
#include "common/flow.h"
#include "common/free.h"
#include "io/common/file_open.h"
#include "io/common/paths.h"

enum { LINE = 4096, HEADER = 1 << 20, BLOCK = 4096 };

typedef struct tck {
    hot_context *context;
    const char *path;
    FILE *file;
    int doubles, big; /* numbers of 8 bytes; big-endian */
    long start;       /* byte of the first point */
} tck;

int hot_tracks_named(const char *path)
{
    return hot_path_has_suffix(path, ".tck") || hot_path_has_suffix(path, ".trx");
}

void hot_tracks_free(hot_context *context, hot_tracks *tracks)
{
    HOT_FREE(context, tracks->point, tracks->first);
    memset(tracks, 0, sizeof *tracks);
}

/* ---- Header ----------------------------------------------------------------------------------------------- */

static hot_status read_datatype(tck *in, const char *text)
{
    in->doubles = strncmp(text, "Float64", 7) == 0;
    in->big = strcmp(text + 7 * (strlen(text) > 7), "BE") == 0;
    if ((in->doubles || strncmp(text, "Float32", 7) == 0) && (in->big || strcmp(text + 7, "LE") == 0))
        return HOT_OK;
    return hot_context_fail(in->context, HOT_ERROR_FORMAT, "'%s': datatype '%s' is none of Float32LE, Float32BE, "
                            "Float64LE, Float64BE", in->path, text);
}

static hot_status read_header(tck *in)
{
    char line[LINE];
    int typed = 0;
    hot_status status = HOT_OK;
    size_t lines = 0, bytes = 0;
    while (status == HOT_OK && fgets(line, sizeof line, in->file) && bytes < HEADER) {
        bytes += strlen(line);
        size_t length = strlen(line);
        while (length > 0 && isspace((unsigned char)line[length - 1])) /* MRtrix puts blanks behind its first line */
            length--;
        line[length] = '\0';
        if (lines++ == 0 && strcmp(line, "mrtrix tracks") != 0)
            return hot_context_fail(in->context, HOT_ERROR_FORMAT, "'%s' holds no MRtrix tracks: its first line is "
                                    "not `mrtrix tracks`", in->path);
        if (strcmp(line, "END") == 0) {
            if (typed && in->start > 0)
                return HOT_OK;
            break;
        }
        if (strncmp(line, "datatype: ", 10) == 0)
            typed = 1, status = read_datatype(in, line + 10);
        if (strncmp(line, "file: . ", 8) == 0)
            in->start = strtol(line + 8, NULL, 10);
    }
    return status != HOT_OK ? status
                            : hot_context_fail(in->context, HOT_ERROR_FORMAT, "'%s': the header has no `datatype:`, no "
                                               "`file: . OFFSET` or no END", in->path);
}

/* ---- Points ----------------------------------------------------------------------------------------------- */

static double number_at(const unsigned char *bytes, int doubles, int big)
{
    uint64_t bits = 0;
    const int size = doubles ? 8 : 4;
    for (int b = 0; b < size; b++)
        bits |= (uint64_t)bytes[big ? size - 1 - b : b] << 8 * b;
    if (doubles) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    const uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    return (double)value;
}

/* One pass over the points: counts them, or (tracks->point set) stores them. */
static hot_status read_points(const tck *in, hot_tracks *tracks)
{
    const size_t bytes = in->doubles ? 24 : 12;
    unsigned char block[BLOCK * 24];
    size_t began = 0, got;
    tracks->points = tracks->count = 0;
    if (fseek(in->file, in->start, SEEK_SET) != 0)
        return hot_context_fail(in->context, HOT_ERROR_FILE, "cannot read '%s': %s", in->path, strerror(errno));
    while ((got = fread(block, bytes, BLOCK, in->file)) > 0) {
        for (size_t n = 0; n < got; n++) {
            double p[3];
            for (int d = 0; d < 3; d++)
                p[d] = number_at(block + n * bytes + (size_t)d * (bytes / 3), in->doubles, in->big);
            if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2])) {
                for (int d = 0; d < 3 && tracks->point; d++)
                    tracks->point[tracks->points][d] = (float)p[d];
                tracks->points++;
                continue;
            }
            if (tracks->points > began) {
                if (tracks->first)
                    tracks->first[tracks->count + 1] = tracks->points;
                tracks->count++;
                began = tracks->points;
            }
            if (isinf(p[0]))
                return HOT_OK;
        }
        if (hot_context_cancelled(in->context))
            return hot_context_check(in->context, "reading");
    }
    return hot_context_fail(in->context, HOT_ERROR_FORMAT, "'%s' is truncated: the points do not end with Inf after "
                            "%zu streamlines", in->path, tracks->count);
}

static hot_status load_tck(hot_context *context, const char *path, hot_tracks *tracks)
{
    tck in = {.context = context, .path = path};
    HOT_TRY(hot_file_open(context, path, HOT_FILE_GIVEN, &in.file));
    hot_status status = read_header(&in);
    if (status == HOT_OK)
        status = read_points(&in, tracks);
    if (status == HOT_OK) {
        tracks->point = hot_context_alloc(context, tracks->points, sizeof *tracks->point);
        tracks->first = hot_context_calloc(context, tracks->count + 1, sizeof *tracks->first);
        status = tracks->point && tracks->first ? HOT_OK : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK)
        status = read_points(&in, tracks);
    fclose(in.file);
    return status;
}

hot_status hot_tracks_load(hot_context *context, const char *path, hot_tracks *tracks)
{
    HOT_ENTRY(context);
    memset(tracks, 0, sizeof *tracks);
    const hot_status status = hot_path_has_suffix(path, ".trx") ? hot_trx_load(context, path, tracks)
                                                                : load_tck(context, path, tracks);
    if (status != HOT_OK)
        hot_tracks_free(context, tracks);
    return status;
}
