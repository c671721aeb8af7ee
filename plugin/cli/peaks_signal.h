/* hotfiber peaks --method signal: what it needs beside the other methods. */
#ifndef HOT_CLI_PEAKS_SIGNAL_H
#define HOT_CLI_PEAKS_SIGNAL_H

#include <hotfiber/hotfiber.h>

enum { CLI_SIGNAL_MAPS = 5 };

typedef struct cli_peaks_signal_options {
    const char *dwi, *bval, *bvec, *response, *mask, *tensors, *output; /* paths; NULL = not given */
    const char *sigma;                /* a number or a path */
    const char *select;               /* "map" or "averaged" */
    const char *contrast;             /* "auto", "alike", "dispersed" or "varied" */
    const char *map[CLI_SIGNAL_MAPS]; /* where probability, margin, residual, width, flags go; NULL = nowhere */
    int order, max_fibers;
} cli_peaks_signal_options;

/* --contrast of run and peaks: its choices and its help. */
#define CLI_CONTRAST_CHOICES "auto|alike|dispersed|varied"
#define CLI_CONTRAST_HELP                                                                                              \
    "signal: how single fibres differ from voxel to voxel: alike (a simulation), dispersed (in width) or varied (in "  \
    "contrast, with more or less of water or cells beside them, as in people); default: auto, judged from a sample "   \
    "of voxels"
hot_contrast cli_contrast(const char *name);

/* Reads, finds, writes. */
hot_status cli_peaks_signal(hot_context *context, const cli_peaks_signal_options *options);

#endif
