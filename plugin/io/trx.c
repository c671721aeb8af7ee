/* TRX archives in: a zip file with positions.3.float16|32|64 (scanner RAS mm) and offsets.uint32|64 (each streamline's
 * first point), stored or deflated. */
#include "io/common/tracks.h"
#include "common/free.h"
#include "io/common/zip_archive.h"

static hot_status fill(const hot_zip *in, const hot_zip_entry *of_positions, const unsigned char *positions,
                       const hot_zip_entry *of_offsets, const unsigned char *offsets, hot_tracks *tracks)
{
    const int each = hot_zip_sample(of_positions->name, "positions.3.float");
    const int wide = hot_zip_sample(of_offsets->name, "offsets.uint");
    if (!each || wide < 4 || of_positions->bytes % (3 * (uint64_t)each) || of_offsets->bytes % (uint64_t)wide)
        return hot_zip_fail(in, "its positions or offsets are of no type or size that TRX has");
    const size_t points = (size_t)(of_positions->bytes / (3 * (uint64_t)each));
    size_t count = (size_t)(of_offsets->bytes / (uint64_t)wide), before = 0;
    tracks->point = hot_context_alloc(in->context, points, sizeof *tracks->point);
    tracks->first = hot_context_calloc(in->context, count + 2, sizeof *tracks->first); /* the last end may be missing */
    if (!tracks->point || !tracks->first)
        return HOT_ERROR_MEMORY;
    for (size_t n = 0; n < 3 * points; n++)
        tracks->point[n / 3][n % 3] = (float)hot_zip_float(positions + n * (size_t)each, each);
    for (size_t n = 0; n < count; n++) {
        const uint64_t at = hot_zip_little(offsets + n * (size_t)wide, wide);
        if (at < before || at > points || (n == 0 && at != 0))
            return hot_zip_fail(in, "an offset is not in order, or beyond the last point");
        if (at > before)
            tracks->first[++tracks->count] = (size_t)at;
        before = (size_t)at;
    }
    if (points > before) /* offsets may end with the number of points or without it */
        tracks->first[++tracks->count] = points;
    tracks->points = points;
    return HOT_OK;
}

hot_status hot_trx_load(hot_context *context, const char *path, hot_tracks *tracks)
{
    hot_zip in;
    unsigned char *positions = NULL, *offsets = NULL;
    hot_status status = hot_zip_open(context, path, "TRX", &in);
    if (status != HOT_OK)
        return status;
    const hot_zip_entry *of_positions = hot_zip_find(&in, "positions.3.float");
    const hot_zip_entry *of_offsets = hot_zip_find(&in, "offsets.uint");
    if (!of_positions || !of_offsets)
        status = hot_zip_fail(&in, "it has no positions.3.float* or no offsets.uint*");
    if (status == HOT_OK)
        status = hot_zip_load(&in, of_positions, &positions);
    if (status == HOT_OK)
        status = hot_zip_load(&in, of_offsets, &offsets);
    if (status == HOT_OK)
        status = fill(&in, of_positions, positions, of_offsets, offsets, tracks);
    hot_zip_close(&in);
    HOT_FREE(context, positions, offsets);
    return status;
}
