/* hotfiber peaks with a method that works on the signals: its additional options. */
#pragma once

#include "fibers/method.h"

enum { CLI_SIGNAL_MAPS = 11, CLI_SIGNAL_CONES = 5 /* the first of those that need cones */ };

typedef struct cli_peaks_signal_options {
    const char *dwi, *bval, *bvec, *response, *mask, *tensors, *output; /* paths; NULL = not given */
    double axial, radial;             /* diffusivities of the response; 0 = not given */
    const char *sigma;                /* a number or a path */
    const char *map[CLI_SIGNAL_MAPS]; /* where probability, margin, residual, width, flags, cone, cone_axes,
                                         fraction_sd, isotropic, free_water and noise_sd go; NULL = nowhere */
    size_t memory;                    /* bytes that may be taken; 0 = not given */
    hot_signal_find_options find;     /* without the noise */
} cli_peaks_signal_options;

/* Reads, finds, writes. */
hot_status cli_peaks_signal(hot_context *context, const hot_peaks_method *method,
                            const cli_peaks_signal_options *options);
