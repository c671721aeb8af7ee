#include "empty.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dwi_private.h"
#include "gather.h"
#include "select.h"

/* LOOKED_AT: voxels; a prime, so that steps through an image do not meet one and the same column of each of its rows.
 * FIRST: of these few first: reading voxel by voxel from a file is slow, and mostly they show all volumes. */
enum { LOOKED_AT = 397, FIRST = 29, LEAST = 20, NAMED_MAX = 6 };
/* OF_SLICE: voxels checked in a slice if one of them lacks a signal; MIN_OF_SLICE of them must have other signals. */
enum { OF_SLICE = 25, MIN_OF_SLICE = 8 };

void hot_dwi_name_volumes(const size_t *volume, size_t count, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t n = 0; n < count && n < NAMED_MAX && used < bytes; n++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%zu", n ? ", " : "", volume[n]);
    if (count > NAMED_MAX && used < bytes)
        snprintf(text + used, bytes - used, " and %zu more", count - NAMED_MAX);
}

/* Marks the volumes that have a signal in some voxel of those where most have one; returns how many these are. */
static size_t mark(size_t volumes, size_t voxels, const float *signals, uint8_t *has_signal)
{
    size_t told = 0;
    memset(has_signal, 0, volumes);
    for (size_t n = 0; n < voxels; n++) {
        const float *s = signals + n * volumes;
        size_t here = 0;
        for (size_t v = 0; v < volumes; v++)
            here += s[v] != 0 && isfinite(s[v]);
        if (2 * here < volumes)
            continue;
        told++;
        for (size_t v = 0; v < volumes; v++)
            has_signal[v] |= s[v] != 0 && isfinite(s[v]);
    }
    return told;
}

/* what: of one volume, and of several. */
static void warn(hot_context *context, const hot_dwi *dwi, const size_t *lost, size_t count, const char *const what[2])
{
    char names[128];
    hot_dwi_name_volumes(lost, count, names, sizeof names);
    hot_context_log(context, HOT_LOG_WARNING, "volume%s %s (counted from 0) of '%s' %s left out",
                    count == 1 ? "" : "s", names, hot_dwi_name(dwi), what[count > 1]);
}

/* Marks the volumes that have a signal in one of so many voxels, spread over the image; told: how many have signals. */
static hot_status look(hot_context *context, const hot_dwi *dwi, size_t looked_at, float *signals, uint8_t *has_signal,
                       size_t *told)
{
    const size_t voxels = hot_grid_voxels(&dwi->grid);
    size_t voxel[LOOKED_AT];
    for (size_t n = 0; n < looked_at; n++)
        voxel[n] = (2 * n + 1) * voxels / (2 * looked_at);
    hot_status status = hot_dwi_read_list(context, dwi, voxel, looked_at, signals);
    if (status == HOT_OK)
        *told = mark(dwi->volumes, looked_at, signals, has_signal);
    return status;
}

/* The volumes that are not empty, ascending, into kept. */
static hot_status find_kept(hot_context *context, const hot_dwi *dwi, size_t *kept, size_t *count)
{
    const size_t volumes = dwi->volumes, voxels = hot_grid_voxels(&dwi->grid);
    const size_t most = voxels < LOOKED_AT ? voxels : LOOKED_AT, few = most < FIRST ? most : FIRST;
    size_t lost = 0, told = 0;
    float *signals = hot_context_alloc(context, most * volumes, sizeof *signals);
    size_t *empty = hot_context_alloc(context, volumes, sizeof *empty);
    uint8_t *has_signal = hot_context_alloc(context, volumes, 1);
    *count = 0;
    hot_status status = signals && empty && has_signal ? look(context, dwi, few, signals, has_signal, &told)
                                                       : HOT_ERROR_MEMORY;
    if (status == HOT_OK && memchr(has_signal, 0, volumes))
        status = look(context, dwi, most, signals, has_signal, &told);
    if (status == HOT_OK && told < LEAST)
        memset(has_signal, 1, volumes);
    for (size_t v = 0; v < volumes && status == HOT_OK; v++)
        *(has_signal[v] ? &kept[(*count)++] : &empty[lost++]) = v;
    if (lost > 0)
        warn(context, dwi, empty, lost, (const char *const[]){"has no signal, only zeros or NaN: it is",
                                                              "have no signal, only zeros or NaN: they are"});
    HOT_FREE(context, has_signal, empty, signals);
    return status;
}

hot_status hot_dwi_drop_empty(hot_context *context, hot_dwi *dwi)
{
    size_t count, *kept = hot_context_alloc(context, dwi->volumes, sizeof *kept);
    hot_status status = kept ? find_kept(context, dwi, kept, &count) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_dwi_keep(context, dwi, count, kept);
    hot_context_free(context, kept);
    return status;
}

hot_status hot_dwi_without_empty(hot_context *context, const hot_dwi *dwi, hot_dwi **rest)
{
    size_t count, *kept = hot_context_alloc(context, dwi->volumes, sizeof *kept);
    hot_status status = kept ? find_kept(context, dwi, kept, &count) : HOT_ERROR_MEMORY;
    *rest = NULL;
    if (status == HOT_OK && count < dwi->volumes)
        status = hot_dwi_select(context, dwi, count, kept, rest);
    hot_context_free(context, kept);
    return status;
}

/* Up to `most` voxels spread over the mask in a slice. Returns how many. */
static size_t spread(const uint8_t *inside, size_t first, size_t area, size_t most, size_t *voxel)
{
    size_t count = 0, seen = 0, taken = 0;
    for (size_t n = first; n < first + area; n++)
        count += inside[n] != 0;
    const size_t wanted = count < most ? count : most;
    for (size_t n = first; n < first + area && taken < wanted; n++) {
        if (!inside[n])
            continue;
        if (seen == (2 * taken + 1) * count / (2 * wanted))
            voxel[taken++] = n;
        seen++;
    }
    return taken;
}

/* The search for empty slices: arrays, and the number of empty slices, the slice of one of them. */
typedef struct slice_search {
    size_t *voxel, *slice, *names;
    float *signals;
    uint8_t *has_signal, *empty;
    size_t lost, example;
} slice_search;

/* Slices of which one voxel lacks a signal, into search->slice. */
static hot_status suspect_slices(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, slice_search *search,
                                 size_t *found)
{
    const size_t area = dwi->grid.size[0] * dwi->grid.size[1];
    size_t count = 0;
    *found = 0;
    for (size_t k = 0; k < dwi->grid.size[2]; k++)
        count += spread(mask->bytes, k * area, area, 1, search->voxel + count);
    hot_status status = hot_dwi_read_list(context, dwi, search->voxel, count, search->signals);
    for (size_t n = 0; n < count && status == HOT_OK; n++)
        if (mark(dwi->volumes, 1, search->signals + n * dwi->volumes, search->has_signal) &&
            memchr(search->has_signal, 0, dwi->volumes))
            search->slice[(*found)++] = search->voxel[n] / area;
    return status;
}

/* Marks in search->empty the volumes without signal in several voxels of a slice. */
static hot_status check_slice(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, size_t slice,
                              slice_search *search)
{
    const size_t area = dwi->grid.size[0] * dwi->grid.size[1];
    const size_t count = spread(mask->bytes, slice * area, area, OF_SLICE, search->voxel);
    hot_status status = hot_dwi_read_list(context, dwi, search->voxel, count, search->signals);
    if (status != HOT_OK || mark(dwi->volumes, count, search->signals, search->has_signal) < MIN_OF_SLICE)
        return status;
    for (size_t v = 0; v < dwi->volumes; v++) {
        search->lost += !search->has_signal[v];
        search->example = search->has_signal[v] ? search->example : slice;
        search->empty[v] |= !search->has_signal[v];
    }
    return HOT_OK;
}

hot_status hot_dwi_warn_empty_slices(hot_context *context, const hot_dwi *dwi, const hot_mask *mask)
{
    const size_t volumes = dwi->volumes, slices = dwi->grid.size[2], most = slices < OF_SLICE ? OF_SLICE : slices;
    size_t found = 0, named = 0;
    slice_search search = {
        .voxel = hot_context_alloc(context, 2 * most + volumes, sizeof *search.voxel),
        .signals = hot_context_alloc(context, most * volumes, sizeof *search.signals),
        .has_signal = hot_context_alloc(context, volumes, 1),
        .empty = hot_context_calloc(context, volumes, 1),
    };
    hot_status status =
        search.voxel && search.signals && search.has_signal && search.empty ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK) {
        search.slice = search.voxel + most;
        search.names = search.slice + most;
        status = suspect_slices(context, dwi, mask, &search, &found);
    }
    for (size_t n = 0; n < found && status == HOT_OK; n++)
        status = check_slice(context, dwi, mask, search.slice[n], &search);
    for (size_t v = 0; v < volumes && status == HOT_OK; v++)
        if (search.empty[v])
            search.names[named++] = v;
    if (status == HOT_OK && search.lost > 0) {
        char text[128];
        hot_dwi_name_volumes(search.names, named, text, sizeof text);
        hot_context_log(context, HOT_LOG_WARNING,
                        "%zu slice%s of zeros in volume%s %s of the %zu of '%s' (counted from 0; slice %zu for one), "
                        "where other volumes have signal: fibres there are wrong; leave these slices out with --mask, "
                        "or these volumes", search.lost, search.lost == 1 ? "" : "s", named == 1 ? "" : "s", text,
                        volumes, hot_dwi_name(dwi), search.example);
    }
    HOT_FREE(context, search.empty, search.has_signal, search.signals, search.voxel);
    return status;
}

hot_status hot_dwi_drop_undirected(hot_context *context, hot_dwi *dwi)
{
    const size_t volumes = dwi->volumes;
    size_t count = 0, directed = 0, lost = 0, *kept = hot_context_alloc(context, 2 * volumes, sizeof *kept);
    if (!kept)
        return HOT_ERROR_MEMORY;
    for (size_t v = 0; v < volumes; v++) {
        const double *g = dwi->gradients + 3 * v;
        const int weighted = dwi->b[v] > HOT_B0_ALONE, direction = g[0] != 0 || g[1] != 0 || g[2] != 0;
        directed += weighted && direction;
        *(weighted && !direction ? &kept[volumes + lost++] : &kept[count++]) = v;
    }
    hot_status status = HOT_OK;
    if (lost > 0 && directed > 0) {
        warn(context, dwi, kept + volumes, lost, (const char *const[]){"has a b-value and no direction: it is",
                                                                       "have b-values and no directions: they are"});
        status = hot_dwi_keep(context, dwi, count, kept);
    }
    hot_context_free(context, kept);
    return status;
}
