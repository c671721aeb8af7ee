#include "rows.h"

#include <string.h>

#include "core/samples.h"

size_t hot_run_columns(const hot_signal_found *found, hot_run_column columns[HOT_RUN_COLUMNS])
{
    const size_t most = (size_t)found->max_fibers;
    const hot_signal_maps none = {0}, *maps = found->maps ? found->maps : &none;
    const hot_signal_samples *samples = maps->samples;
    const hot_run_column all[HOT_RUN_COLUMNS] = {
        {.values = found->peaks, .per = 3 * most}, {.bytes = found->flags, .per = 1},
        {.values = found->residual, .per = 1}, {.values = maps->probability, .per = 4},
        {.values = maps->margin, .per = 1}, {.values = maps->width, .per = 1}, {.values = maps->cone, .per = most},
        {.values = maps->cone_axes, .per = 6 * most}, {.values = maps->fraction_sd, .per = most},
        {.values = maps->isotropic, .per = 1}, {.values = maps->free_water, .per = 1},
        {.values = maps->noise_sd, .per = 1},
        {.shorts = samples ? &samples->values->theta : NULL, .place = samples ? samples->place : NULL,
         .per = samples ? 3 * (size_t)samples->samples * (size_t)samples->fibers : 0}};
    memcpy(columns, all, sizeof all);
    size_t width = 0;
    for (int c = 0; c < HOT_RUN_COLUMNS; c++)
        width += all[c].per;
    return width;
}

void hot_run_take_row(const hot_run_column columns[HOT_RUN_COLUMNS], size_t voxel, float *row)
{
    for (int c = 0; c < HOT_RUN_COLUMNS; row += columns[c++].per) {
        const hot_run_column *from = &columns[c];
        const size_t at = (from->place ? from->place[voxel] : voxel) * from->per;
        for (size_t n = 0; n < from->per; n++)
            row[n] = from->values   ? from->values[at + n]
                     : from->bytes  ? from->bytes[at + n]
                     : from->shorts ? from->shorts[at + n]
                                    : 0;
    }
}

/* A file may hold any float; those that are none of ours have no value as an integer. */
static uint16_t whole(float x, float most) { return x >= 0 && x <= most ? (uint16_t)x : 0; }

void hot_run_give_row(const hot_run_column columns[HOT_RUN_COLUMNS], size_t voxel, const float *row)
{
    for (int c = 0; c < HOT_RUN_COLUMNS; row += columns[c++].per) {
        const hot_run_column *to = &columns[c];
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
