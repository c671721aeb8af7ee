#define _DEFAULT_SOURCE /* posix_fadvise, posix_fallocate */
#include "paged.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/spill.h"

/* SEEK_COST: a sample that is read alone costs as much as so many bytes in a row. */
enum { PORTION = 1 << 22, AHEAD = 1 << 18, SEEK_COST = 4096 };

struct hot_dwi_paged {
    const hot_dwi *owner;
    hot_dwi_pages pages;
    size_t begin, end;     /* slices in memory; none: equal */
    const size_t *of;      /* of the volumes at these positions */
    unsigned char *data;
    size_t capacity, *position;
};

/* ---- What was unpacked ----------------------------------------------------------------------------------------- */

typedef struct scratch {
    hot_context *context;
    int handle;
} scratch;

static hot_status read_scratch(void *from, size_t at, void *to, size_t bytes)
{
    const scratch *file = from;
    unsigned char *data = to;
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = pread(file->handle, data + done, bytes - done, (off_t)(at + done));
        if (got <= 0 && errno != EINTR)
            return hot_context_fail(file->context, HOT_ERROR_FILE, "the unpacked samples cannot be read again: %s",
                                    got < 0 ? strerror(errno) : "their file has become shorter");
        done += got > 0 ? (size_t)got : 0;
    }
    if (bytes >= AHEAD) /* what is likely wanted next is read while these are worked on */
        posix_fadvise(file->handle, (off_t)(at + bytes), (off_t)bytes, POSIX_FADV_WILLNEED);
    return hot_context_check(file->context, "reading");
}

static void close_scratch(hot_context *context, void *from)
{
    const scratch *file = from;
    if (file->handle >= 0)
        close(file->handle);
    hot_context_free(context, from);
}

/* Unpacks all samples, in one pass, to where they can be read from any place. */
static hot_status unpack(hot_context *context, hot_dwi_pages *pages)
{
    unsigned char *portion = hot_context_alloc(context, PORTION, 1);
    scratch *file = portion ? hot_context_calloc(context, 1, sizeof *file) : NULL;
    hot_status status = file ? HOT_OK : HOT_ERROR_MEMORY;
    if (file) {
        file->context = context;
        file->handle = hot_unnamed_file(pages->scratch);
        if (file->handle < 0 || posix_fallocate(file->handle, 0, (off_t)pages->bytes) == ENOSPC)
            status = hot_context_fail(context, HOT_ERROR_FILE, "no place for %.3g GB of unpacked samples in '%s': %s",
                                      1e-9 * (double)pages->bytes, pages->scratch,
                                      strerror(file->handle < 0 ? errno : ENOSPC));
    }
    for (size_t at = 0; at < pages->bytes && status == HOT_OK; at += PORTION) {
        const size_t count = pages->bytes - at < PORTION ? pages->bytes - at : PORTION;
        status = pages->span(pages->from, at, portion, count);
        for (size_t done = 0; done < count && status == HOT_OK;) {
            const ssize_t put = pwrite(file->handle, portion + done, count - done, (off_t)(at + done));
            if (put < 0 && errno != EINTR)
                status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write unpacked samples to '%s': %s",
                                          pages->scratch, strerror(errno));
            done += put > 0 ? (size_t)put : 0;
        }
        if (status == HOT_OK)
            status = hot_context_progress(context, "reading", (double)(at + count) / (double)pages->bytes);
    }
    hot_context_free(context, portion);
    if (status != HOT_OK) {
        if (file)
            close_scratch(context, file);
        return status;
    }
    pages->release(context, pages->from);
    pages->from = file;
    pages->span = read_scratch;
    pages->release = close_scratch;
    return HOT_OK;
}

/* ---- Slices ---------------------------------------------------------------------------------------------------- */

/* Whether the volumes of a slice lie together; else those of a volume do. */
static int lies_together(const hot_dwi *dwi) { return dwi->volumes < 2 || dwi->position[1] < dwi->stride[2]; }

int hot_dwi_can_page(const hot_dwi *dwi)
{
    size_t highest = 0, step = SIZE_MAX;
    for (size_t v = 0; v < dwi->volumes; v++) {
        highest = dwi->position[v] > highest ? dwi->position[v] : highest;
        if (v > 0 && dwi->position[v] - dwi->position[v - 1] < step)
            step = dwi->position[v] - dwi->position[v - 1];
    }
    return dwi->stride[0] < dwi->stride[2] && dwi->stride[1] < dwi->stride[2] &&
           (highest < dwi->stride[2] || step >= dwi->stride[2] * dwi->grid.size[2]);
}

hot_status hot_dwi_page(hot_context *context, hot_dwi *dwi, const hot_dwi_pages *pages)
{
    hot_dwi_paged *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made) {
        pages->release(context, pages->from);
        return HOT_ERROR_MEMORY;
    }
    made->owner = dwi;
    made->pages = *pages;
    dwi->paged = made;
    hot_status status = HOT_OK;
    if (pages->forward) {
        status = unpack(context, &made->pages);
    } else { /* a file that ends too early is noticed now */
        unsigned char last[8];
        const size_t one = hot_sample_bytes(dwi->sample);
        status = pages->span(pages->from, pages->bytes - one, last, one);
    }
    made->pages.scratch = NULL; /* the caller's */
    return status;
}

void hot_dwi_paged_free(hot_context *context, hot_dwi *dwi)
{
    hot_dwi_paged *gone = dwi->paged;
    if (!gone || gone->owner != dwi)
        return;
    gone->pages.release(context, gone->pages.from);
    HOT_FREE(context, gone->data, gone->position, gone);
    dwi->paged = NULL;
}

static void swap(unsigned char *data, size_t count, size_t one)
{
    for (size_t n = 0; n < count; n++, data += one)
        for (size_t low = 0; low < one / 2; low++) {
            const unsigned char kept = data[low];
            data[low] = data[one - 1 - low];
            data[one - 1 - low] = kept;
        }
}

/* Reads the slices from `begin` on that fit the window. */
static hot_status load(hot_context *context, const hot_dwi *dwi, size_t begin)
{
    hot_dwi_paged *p = dwi->paged;
    const int together = lies_together(dwi);
    const size_t one = hot_sample_bytes(dwi->sample), spans = together ? 1 : dwi->volumes, slices = dwi->grid.size[2];
    const size_t slice = spans * dwi->stride[2] * one, most = p->pages.window / slice;
    const size_t held = most < 1 ? 1 : most < slices ? most : slices;
    const size_t end = begin + held < slices ? begin + held : slices;
    hot_status status = HOT_OK;
    p->begin = p->end = 0;
    p->of = NULL;
    if (p->capacity < held * slice) {
        hot_context_free(context, p->data);
        p->capacity = 0;
        p->data = hot_context_alloc(context, held, slice);
        if (!p->data)
            return HOT_ERROR_MEMORY;
        p->capacity = held * slice;
    }
    hot_context_free(context, p->position);
    p->position = hot_context_alloc(context, dwi->volumes, sizeof *p->position);
    if (!p->position)
        return HOT_ERROR_MEMORY;
    for (size_t v = 0; v < dwi->volumes; v++)
        p->position[v] = together ? dwi->position[v] : v * (end - begin) * dwi->stride[2];
    for (size_t span = 0; span < spans && status == HOT_OK; span++)
        status = p->pages.span(p->pages.from, (begin * dwi->stride[2] + (together ? 0 : dwi->position[span])) * one,
                               p->data + (together ? 0 : p->position[span]) * one,
                               (end - begin) * dwi->stride[2] * one);
    if (status == HOT_OK && p->pages.swapped)
        swap(p->data, (end - begin) * spans * dwi->stride[2], one);
    if (status == HOT_OK) {
        p->begin = begin;
        p->end = end;
        p->of = dwi->position;
    }
    return status;
}

hot_status hot_dwi_map(hot_context *context, const hot_dwi *dwi, size_t first, hot_dwi_mapped *held)
{
    const size_t plane = dwi->grid.size[0] * dwi->grid.size[1], slice = first / plane;
    hot_dwi_paged *p = dwi->paged;
    *held = (hot_dwi_mapped){.view = *dwi, .count = hot_grid_voxels(&dwi->grid) - first};
    if (!p)
        return HOT_OK;
    if (p->of != dwi->position || slice < p->begin || slice >= p->end) {
        HOT_TRY(load(context, dwi, slice));
    }
    held->view.paged = NULL;
    held->view.data = p->data;
    held->view.position = p->position;
    held->view.grid.size[2] = p->end - p->begin;
    held->origin = p->begin * plane;
    held->count = p->end * plane - first;
    return HOT_OK;
}

hot_status hot_dwi_read_selected(hot_context *context, const hot_dwi *dwi, const size_t *voxel, size_t count,
                                 hot_dwi **some)
{
    const hot_dwi_paged *p = dwi->paged;
    const size_t one = hot_sample_bytes(dwi->sample), volumes = dwi->volumes, nx = dwi->grid.size[0];
    const size_t ny = dwi->grid.size[1], low = dwi->position[0], length = dwi->position[volumes - 1] - low + 1;
    const int together = lies_together(dwi) && length <= 4 * volumes;
    *some = NULL;
    if (count * (together ? 1 : volumes) > p->pages.bytes / SEEK_COST)
        return HOT_OK;
    hot_dwi *made = hot_context_calloc(context, 1, sizeof *made + volumes * sizeof *made->position +
                                                       (count * volumes + (together ? length : 0)) * one);
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = (hot_dwi){.context = context, .grid = {.size = {count, 1, 1}}, .volumes = volumes, .sample = dwi->sample,
                      .slope = dwi->slope, .intercept = dwi->intercept, .stride = {volumes, 0, 0}};
    made->position = (size_t *)(void *)(made + 1);
    unsigned char *data = (unsigned char *)(made->position + volumes), *row = data + count * volumes * one;
    made->data = data;
    hot_status status = HOT_OK;
    for (size_t v = 0; v < volumes; v++)
        made->position[v] = v;
    for (size_t n = 0; n < count && status == HOT_OK; n++, data += volumes * one) {
        const size_t line = voxel[n] / nx;
        const size_t at = voxel[n] % nx * dwi->stride[0] + line % ny * dwi->stride[1] + line / ny * dwi->stride[2];
        if (together)
            status = p->pages.span(p->pages.from, (at + low) * one, row, length * one);
        for (size_t v = 0; v < volumes && status == HOT_OK; v++)
            if (together)
                memcpy(data + v * one, row + (dwi->position[v] - low) * one, one);
            else
                status = p->pages.span(p->pages.from, (at + dwi->position[v]) * one, data + v * one, one);
    }
    if (status == HOT_OK && p->pages.swapped)
        swap(made->data, count * volumes, one);
    if (status == HOT_OK)
        *some = made;
    else
        hot_context_free(context, made);
    return status;
}
