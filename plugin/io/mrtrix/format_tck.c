/* tck: every fibre as a track of two points in MRtrix's tracks format, scanner RAS mm. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "io/output.h"
#include "io/formats.h"
#include "geometry/segments.h"

enum { START = 256 /* where the points begin: well after the header */, BLOCK = 1024 };

static void put_header(FILE *file, size_t count)
{
    const uint16_t one = 1;
    int at = fprintf(file, "mrtrix tracks\ndatatype: Float32%s\ncount: %zu\ntotal_count: %zu\nhotfiber_version: %s\n"
                           "file: . %d\nEND\n",
                     *(const uint8_t *)&one ? "LE" : "BE", count, count, hot_version(), START);
    for (; at >= 0 && at < START; at++)
        fputc(0, file);
}

static void put_tracks(FILE *file, hot_segments *segments, float (*buffer)[9])
{
    size_t held = 0;
    for (int more = hot_segments_first(segments); more; more = hot_segments_next(segments)) {
        hot_segment_ends(segments, buffer[held]);
        buffer[held][6] = buffer[held][7] = buffer[held][8] = NAN; /* the end of a track */
        if (++held == BLOCK) {
            fwrite(buffer, sizeof *buffer, held, file);
            held = 0;
        }
    }
    fwrite(buffer, sizeof *buffer, held, file);
    const float end[3] = {INFINITY, INFINITY, INFINITY};
    fwrite(end, sizeof end, 1, file);
}

static hot_status write_tck(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    hot_output output = {0};
    FILE *file = NULL;
    hot_segments segments;
    hot_segments_begin(fibers, HOT_SPACE_RAS, &segments);
    float(*buffer)[9] = hot_context_alloc(context, BLOCK, sizeof *buffer);
    if (!buffer)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_output_begin(context, path, &output);
    if (status == HOT_OK)
        status = hot_output_file(context, &output, &file);
    if (status == HOT_OK) {
        put_header(file, segments.count);
        put_tracks(file, &segments, buffer);
    }
    status = hot_output_end(context, &output, status); /* a write that failed shows here */
    hot_context_free(context, buffer);
    return status;
}

const hot_export_format hot_format_tck = {
    .name = "tck",
    .suffix = ".tck",
    .help = "each fibre as a short track in scanner mm (mrview, tckinfo, tckmap)",
    .write = write_tck,
};
