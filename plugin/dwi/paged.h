/* Out-of-core samples: they stay in their file, and some slices of all volumes are in memory at a time. hot_dwi_map,
 * hot_dwi_read and hot_dwi_read_list read them like any other data set. For one thread at a time. */
#pragma once

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

/* Whether a data set can be read in slices: the slice axis must be the slowest of the three axes, as in all files that
 * are not rotated. */
int hot_dwi_can_page(const hot_dwi *dwi);

/* Takes the samples of a data set without samples from there; `from` is the data set's then, also after a failure.
 * Errors: those of span, HOT_ERROR_FILE (scratch), HOT_ERROR_MEMORY. */
hot_status hot_dwi_page(hot_context *context, hot_dwi *dwi, const hot_dwi_pages *pages);

/* A view of voxels in memory: it begins at voxel `origin` of the data set and contains `count` voxels from the
 * requested one on. Valid until the next hold of the same data set. */
typedef struct hot_dwi_mapped {
    hot_dwi view;
    size_t origin, count;
} hot_dwi_mapped;
hot_status hot_dwi_map(hot_context *context, const hot_dwi *dwi, size_t first, hot_dwi_mapped *held);

/* Reads single voxels, in the file's type, as a data set of `count` x 1 x 1 voxels with contiguous volumes; NULL in
 * *some if holding all slices would be faster. One block of memory: hot_context_free(*some). */
hot_status hot_dwi_read_selected(hot_context *context, const hot_dwi *dwi, const size_t *voxel, size_t count,
                                 hot_dwi **some);

void hot_dwi_paged_free(hot_context *context, hot_dwi *dwi);
