#include "sample.h"

#include <string.h>

#include "dwi_private.h"

enum { PER_SHELL = 8 };

/* The sampled part: volumes by number, a box of rows, slices by number. */
typedef struct choice {
    const hot_dwi *whole;
    size_t *volume, volumes;
    size_t low[2], size[2]; /* of the box: i, j */
    size_t slices;
    int spread;             /* over all slices; else they are the first ones */
    int together;           /* the volumes of a row are contiguous: one span holds all of them */
} choice;

/* At most PER_SHELL volumes of each shell, spread over it; from the beginning of the file: the first volumes. */
static void choose_volumes(choice *c, size_t first)
{
    const hot_dwi *whole = c->whole;
    c->volumes = 0;
    for (size_t shell = 0; shell < whole->shells; shell++) {
        size_t members = 0, seen = 0, taken = 0;
        for (size_t v = 0; v < first; v++)
            members += whole->shell_of[v] == (int)shell;
        for (size_t v = 0; v < first; v++) {
            if (whole->shell_of[v] != (int)shell)
                continue;
            if (seen++ * PER_SHELL >= taken * members && taken < PER_SHELL) {
                c->volume[c->volumes++] = v;
                taken++;
            }
        }
    }
    for (size_t n = 1; n < c->volumes; n++) /* in the order of the file */
        for (size_t m = n; m > 0 && c->volume[m] < c->volume[m - 1]; m--) {
            const size_t kept = c->volume[m];
            c->volume[m] = c->volume[m - 1];
            c->volume[m - 1] = kept;
        }
}

static size_t slice_of(const choice *c, size_t n)
{
    return c->spread ? ((2 * n + 1) * c->whole->grid.size[2]) / (2 * c->slices) : n;
}

/* Where the samples of a slice of the sample begin and how many there are to the last: of one volume, or of all. */
static void find_span(const choice *c, size_t slice, size_t volume, size_t *first, size_t *count)
{
    const hot_dwi *w = c->whole;
    const size_t least = c->together ? c->volume[0] : volume, last = c->together ? c->volume[c->volumes - 1] : volume;
    *first = c->low[0] * w->stride[0] + c->low[1] * w->stride[1] + slice * w->stride[2] + w->position[least];
    *count = (c->size[0] - 1) * w->stride[0] + (c->size[1] - 1) * w->stride[1] + w->position[last] -
        w->position[least] + 1;
}

/* Samples that are read for one slice. */
static size_t cost(const choice *c)
{
    size_t first, count;
    find_span(c, 0, c->volume[0], &first, &count);
    return c->together ? count : count * c->volumes;
}

/* So many rows about the middle, or so much of a row, that one slice is within the bound. */
static int choose_box(choice *c, size_t most)
{
    for (int axis = 1; axis >= 0 && cost(c) > most; axis--) {
        const size_t all = c->size[axis];
        const double share = (double)most / (double)cost(c);
        c->size[axis] = share * (double)all >= 1 ? (size_t)(share * (double)all) : 1;
        c->low[axis] = (all - c->size[axis]) / 2;
        while (c->size[axis] > 1 && cost(c) > most)
            c->size[axis] = (c->size[axis] + 1) / 2;
    }
    return cost(c) <= most;
}

/* The part that can be read from the beginning of the file: its first volumes, or the first slices. */
static int choose_beginning(choice *c, size_t most)
{
    const hot_dwi *w = c->whole;
    const size_t nz = w->grid.size[2];
    size_t volumes = w->volumes, slices = nz;
    if (!c->together) {
        const size_t one = w->position[w->volumes > 1] - w->position[0];
        volumes = one > 0 ? most / one : 1;
        volumes = volumes < 1 ? 1 : volumes > w->volumes ? w->volumes : volumes;
    }
    if (c->together || volumes == 1)
        slices = most / w->stride[2];
    choose_volumes(c, volumes);
    c->slices = slices < nz ? slices : nz;
    return c->slices > 0 && c->volumes > 0;
}

/* The slices of the sample, volume after volume. */
static hot_status read_slices(hot_context *context, const choice *c, int swapped, hot_dwi_span *span, void *from,
                              hot_dwi *made)
{
    const hot_dwi *w = c->whole;
    const size_t one = hot_sample_bytes(w->sample), ni = c->size[0], nj = c->size[1];
    size_t first, count;
    find_span(c, 0, c->volume[0], &first, &count);
    unsigned char *row = hot_context_alloc(context, count, one), *to = made->data;
    hot_status status = row ? HOT_OK : HOT_ERROR_MEMORY;
    /* slice by slice where a span has all volumes, else volume by volume: always forward */
    const size_t outer = c->together ? c->slices : c->volumes, inner = c->together ? 1 : c->slices;
    for (size_t o = 0; o < outer && status == HOT_OK; o++)
        for (size_t n = 0; n < inner && status == HOT_OK; n++) {
            const size_t slice = c->together ? o : n;
            find_span(c, slice_of(c, slice), c->volume[c->together ? 0 : o], &first, &count);
            status = span(from, first * one, row, count * one);
            if (status == HOT_OK && swapped)
                status = hot_context_check(context, "reading");
            for (size_t v = c->together ? 0 : o; v < (c->together ? c->volumes : o + 1) && status == HOT_OK; v++)
                for (size_t j = 0; j < nj; j++)
                    for (size_t i = 0; i < ni; i++) {
                        const size_t at = i * w->stride[0] + j * w->stride[1] + w->position[c->volume[v]] -
                            w->position[c->volume[c->together ? 0 : v]];
                        unsigned char *sample = to + one * (i + ni * (j + nj * (slice + c->slices * v)));
                        for (size_t b = 0; b < one; b++)
                            sample[b] = row[at * one + (swapped ? one - 1 - b : b)];
                    }
        }
    hot_context_free(context, row);
    return status;
}

/* A file that ends too early is noticed although its end is not looked at. */
static hot_status read_last(const hot_dwi *w, hot_dwi_span *span, void *from)
{
    const size_t one = hot_sample_bytes(w->sample);
    unsigned char scrap[8];
    size_t at = 0;
    for (int axis = 0; axis < 3; axis++)
        at += (w->grid.size[axis] - 1) * w->stride[axis];
    return span(from, (at + w->position[w->volumes - 1]) * one, scrap, one);
}

/* The data set that the choice makes, without samples yet. */
static hot_status begin(hot_context *context, const choice *c, hot_dwi **dwi)
{
    const hot_dwi *w = c->whole;
    hot_grid grid = w->grid;
    const double step = c->spread ? (double)w->grid.size[2] / (double)c->slices : 1;
    for (int axis = 0; axis < 2; axis++)
        grid.size[axis] = c->size[axis];
    grid.size[2] = c->slices;
    for (int r = 0; r < 3; r++) {
        grid.to_world[r][3] += (double)c->low[0] * w->grid.to_world[r][0] + (double)c->low[1] * w->grid.to_world[r][1];
        grid.to_world[r][2] *= step;
    }
    HOT_TRY(hot_dwi_begin(context, &grid, c->volumes, hot_grid_voxels(&grid), w->source, dwi));
    hot_dwi *made = *dwi;
    made->sample = w->sample;
    made->slope = w->slope;
    made->intercept = w->intercept;
    made->stride[0] = 1;
    made->stride[1] = grid.size[0];
    made->stride[2] = grid.size[0] * grid.size[1];
    made->release_data = hot_dwi_free_data;
    for (size_t n = 0; n < c->volumes; n++) {
        made->b[n] = w->b[c->volume[n]];
        memcpy(made->gradients + 3 * n, w->gradients + 3 * c->volume[n], sizeof(double[3]));
    }
    made->data = hot_context_alloc(context, hot_grid_voxels(&grid) * c->volumes, hot_sample_bytes(w->sample));
    return made->data ? hot_dwi_find_shells(context, made) : HOT_ERROR_MEMORY;
}

hot_status hot_dwi_sample_take(hot_context *context, const hot_dwi *whole, int forward, int swapped,
                               hot_dwi_span *span, void *from, hot_dwi_sample *sample)
{
    const size_t *size = whole->grid.size, most = sample->most / hot_sample_bytes(whole->sample);
    hot_dwi *made = NULL;
    choice c = {.whole = whole, .size = {size[0], size[1]}};
    sample->partial = 1;
    sample->forward = forward;
    c.together = whole->volumes > 1 && whole->position[1] - whole->position[0] < whole->stride[2];
    c.volume = hot_context_alloc(context, whole->volumes, sizeof *c.volume);
    if (!c.volume)
        return HOT_ERROR_MEMORY;
    int some;
    if (forward) {
        some = choose_beginning(&c, most);
    } else {
        choose_volumes(&c, whole->volumes);
        some = choose_box(&c, most);
        c.slices = some ? most / cost(&c) : 0;
        c.slices = c.slices < size[2] ? c.slices : size[2];
        c.spread = 1;
    }
    hot_status status = some ? begin(context, &c, &made) : HOT_OK;
    if (status == HOT_OK && some)
        status = read_slices(context, &c, swapped, span, from, made);
    if (status == HOT_OK && !forward)
        status = read_last(whole, span, from);
    hot_context_free(context, c.volume);
    if (status == HOT_OK)
        sample->dwi = made;
    else
        hot_dwi_destroy(&made);
    return status;
}
