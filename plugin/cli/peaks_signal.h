/* hotfiber peaks --method signal: what it needs beside the other methods. */
#ifndef HOT_CLI_PEAKS_SIGNAL_H
#define HOT_CLI_PEAKS_SIGNAL_H

#include <hotfiber/hotfiber.h>

enum { CLI_SIGNAL_MAPS = 5 };

typedef struct cli_peaks_signal_options {
    const char *dwi, *bval, *bvec, *response, *mask, *tensors, *output; /* paths; NULL = not given */
    const char *sigma;                /* a number or a path */
    const char *select;               /* "map" or "averaged" */
    const char *map[CLI_SIGNAL_MAPS]; /* where probability, margin, residual, width, flags go; NULL = nowhere */
    int order, max_fibers;
} cli_peaks_signal_options;

/* Reads, finds, writes. */
hot_status cli_peaks_signal(hot_context *context, const cli_peaks_signal_options *options);

#endif
