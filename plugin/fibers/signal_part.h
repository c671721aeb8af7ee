/* The signal method for a part of the voxels: what is learned is learned from the whole mask, so that all parts learn
 * the same, and what was found is handed over as the kernel left it. */
#ifndef HOT_FIBERS_SIGNAL_PART_H
#define HOT_FIBERS_SIGNAL_PART_H

#include "core/fields.h"

/* Arrays over the whole grid, 0 where nothing was found; those that are not wanted are NULL. */
typedef struct hot_signal_found {
    int max_fibers;
    float *peaks, *residual; /* 3 max_fibers and 1 per voxel */
    uint8_t *flags;
    hot_signal_maps *maps;   /* its arrays */
} hot_signal_found;

typedef struct hot_signal_part {
    const hot_mask *where; /* the voxels to find in, among those of the mask; NULL = all */
    /* keep: gets what was found. recall: gives what was found before, and nothing is looked for. NULL = not so. */
    hot_status (*keep)(void *user, const hot_signal_found *found);
    hot_status (*recall)(void *user, hot_signal_found *found);
    void *user;
} hot_signal_part;

#endif
