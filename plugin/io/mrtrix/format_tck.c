/* tck: every fibre as a track of two points in MRtrix's tracks format, scanner RAS mm. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "io/common/output.h"
#include "common/entry.h"
#include "io/common/formats.h"
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

static hot_status put_tracks(hot_context *context, FILE *file, const void *fibers)
{
    hot_segments segments;
    hot_segments_begin(fibers, HOT_SPACE_RAS, &segments);
    float(*buffer)[9] = hot_context_alloc(context, BLOCK, sizeof *buffer);
    size_t held = 0;
    if (!buffer)
        return HOT_ERROR_MEMORY;
    put_header(file, segments.count);
    for (int more = hot_segments_first(&segments); more; more = hot_segments_next(&segments)) {
        hot_segment_ends(&segments, buffer[held]);
        buffer[held][6] = buffer[held][7] = buffer[held][8] = NAN; /* the end of a track */
        if (++held == BLOCK) {
            fwrite(buffer, sizeof *buffer, held, file);
            held = 0;
        }
    }
    fwrite(buffer, sizeof *buffer, held, file);
    const float end[3] = {INFINITY, INFINITY, INFINITY};
    fwrite(end, sizeof end, 1, file);
    hot_context_free(context, buffer);
    return HOT_OK;
}

hot_status hot_write_tck(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    return hot_output_write(context, path, put_tracks, fibers);
}
