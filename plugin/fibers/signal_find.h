/* Finding fibres with the signal method, once everything that it depends on is known. */
#ifndef HOT_FIBERS_SIGNAL_FIND_H
#define HOT_FIBERS_SIGNAL_FIND_H

#include <hotfiber/signal.h>

#include "core/fields.h"
#include "signal_part.h"

enum { HOT_SIGNAL_LMAX = 16 };

/* What a call of the method works with. */
typedef struct hot_signal_finder {
    hot_context *context;
    const hot_dwi *dwi;
    const hot_mask *mask, *where;    /* what is learned from, and what is found in */
    const hot_response *response;
    size_t voxels, volumes;          /* of the data */
    size_t used, *use;               /* volumes that enter, in the data's order */
    double *b, *gradients;           /* of those */
    double shell_b[HOT_SIGNAL_LMAX + 1], rows[HOT_SIGNAL_LMAX * (HOT_SIGNAL_LMAX / 2 + 1)];
    hot_signal_scheme scheme;
    hot_signal_options how;
    hot_signal_learned *learned;     /* from the data, here or before */
    size_t chunk, first;             /* voxels of a chunk; where the first chunk begins: where the mask does */
    float *signals;                  /* chunk x volumes */
} hot_signal_finder;

/* Of signals of all volumes, leaves those of the used ones, side by side. */
void hot_signal_keep_used(const hot_signal_finder *f, size_t count, float *signals);

/* All voxels from f->first on; what was learned just now left the first chunk in f->signals. */
hot_status hot_signal_find(hot_signal_finder *f, const hot_signal_find_options *options, const hot_signal_found *found);

#endif
