/* A part of a data set that is too large to be read to look at it: some slices, and some volumes of every shell, spread
 * over the whole. */
#pragma once

#include "core/fields.h"

/* Reads `bytes` bytes of the samples, from byte `at` on. Called with growing `at`. */
typedef hot_status hot_dwi_span(void *from, size_t at, void *to, size_t bytes);

typedef struct hot_dwi_sample {
    size_t small;     /* set by the caller: data of at most so many bytes are read as a whole */
    size_t most;      /* likewise: of others about so many bytes are read at most */
    hot_dwi *dwi;     /* the sampled data; NULL: the data set itself, or (partial) none */
    size_t window;    /* likewise: not 0: of large data nothing is left out; they stay in their file, and so many bytes
                         of them are in memory at a time (paged.h) */
    const char *scratch; /* with it: a folder that has room for what a packed file unpacks to */
    int partial;      /* the data set itself has no samples */
    int forward;      /* the file can only be read from its beginning: packed, or a pipe */
} hot_dwi_sample;

/* Makes sample->dwi of a data set without samples, whose type, strides and positions are known. forward: see above;
 * swapped: its bytes are reversed. The grid of the sample is that of the whole, thinned or cut. Errors: those of span,
 * HOT_ERROR_MEMORY. */
hot_status hot_dwi_sample_take(hot_context *context, const hot_dwi *whole, int forward, int swapped,
                               hot_dwi_span *span, void *from, hot_dwi_sample *sample);
