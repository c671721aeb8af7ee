/* Samples that stay in their file: some slices of all volumes are in memory at a time. What reads a data set by
 * hot_dwi_hold, hot_dwi_read or hot_dwi_gather reads these as any other. For one thread at a time. */
#ifndef HOT_DWI_PAGED_H
#define HOT_DWI_PAGED_H

#include "sample.h"

/* Where the samples are. */
typedef struct hot_dwi_pages {
    hot_dwi_span *span;    /* at any place, unless forward */
    void *from;
    void (*release)(hot_context *context, void *from);
    int forward, swapped;
    size_t bytes;          /* of all samples */
    size_t window;         /* bytes that may be in memory; a slice is held in any case */
    const char *scratch;   /* forward: a folder for a file without a name, of what all samples unpack to */
} hot_dwi_pages;

/* Whether the strides and positions of a data set let it be read in slices: its slices must be the slowest of the three
 * axes, as they are in all files that are not turned. */
int hot_dwi_can_page(const hot_dwi *dwi);

/* Takes the samples of a data set without samples from there; `from` is the data set's then, also after a failure.
 * Errors: those of span, HOT_ERROR_FILE (scratch), HOT_ERROR_MEMORY. */
hot_status hot_dwi_page(hot_context *context, hot_dwi *dwi, const hot_dwi_pages *pages);

/* Voxels that are in memory: voxel `origin` of the data set is the first one of the view, which has `count` voxels from
 * the one on that was asked for. Until the next hold of the same data set. */
typedef struct hot_dwi_held {
    hot_dwi view;
    size_t origin, count;
} hot_dwi_held;
hot_status hot_dwi_hold(hot_context *context, const hot_dwi *dwi, size_t first, hot_dwi_held *held);

/* Samples of single voxels as they are in the file, all volumes of each side by side, as a data set of `count` x 1 x 1
 * voxels; NULL in *some where holding all slices would be quicker. One block of memory: hot_context_free(*some). */
hot_status hot_dwi_pick(hot_context *context, const hot_dwi *dwi, const size_t *voxel, size_t count, hot_dwi **some);

void hot_dwi_paged_free(hot_context *context, hot_dwi *dwi);

#endif
