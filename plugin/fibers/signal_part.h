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

/* What is learned from the voxels of the whole mask before any is computed. */
typedef struct hot_signal_learned {
    int known;             /* 1: all of this was learned before, and nothing is */
    double bright;         /* mean b=0 signal */
    size_t used, *use;     /* volumes that repeat no other; context memory */
    hot_noise_model noise_model; /* where it was to be judged, by the share of samples that are not positive */
    double share;
    double sigma;          /* where it was not given: as found, */
    int from_residuals;    /* 0: in the b=0 volumes */
    double ceiling;        /* samples that reach it are clipped; infinite: none are */
    size_t sampled;        /* voxels that the population is of */
    hot_signal_population population;
} hot_signal_learned;
void hot_signal_learned_free(hot_context *context, hot_signal_learned *learned);

typedef struct hot_signal_part {
    const hot_mask *where; /* the voxels to find in, among those of the mask; NULL = all */
    hot_signal_learned *learned; /* filled unless it is known; the caller's. NULL = not wanted */
    int only_learn;        /* 1: nothing is found; of the maps, sigma is set */
    /* keep: gets what was found. recall: gives what was found before, and nothing is looked for. NULL = not so. */
    hot_status (*keep)(void *user, const hot_signal_found *found);
    hot_status (*recall)(void *user, hot_signal_found *found);
    /* Called for each slab: whether it was found before and is in the arrays again; what was found now. NULL = not so.
     * step: voxels of a slab; 0 = as many as are usual. */
    hot_status (*recall_slab)(void *user, const hot_signal_found *found, size_t first, size_t count, int *known);
    hot_status (*keep_slab)(void *user, const hot_signal_found *found, size_t first, size_t count);
    size_t step;
    /* Called when all voxels before `end` are computed: nothing reads their signals any more. NULL = not wanted. */
    void (*used)(void *user, size_t end);
    void *user;
} hot_signal_part;

#endif
