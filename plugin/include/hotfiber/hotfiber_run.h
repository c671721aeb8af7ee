/* The whole job. Included by hotfiber.h. */
#ifndef HOTFIBER_RUN_H
#define HOTFIBER_RUN_H

typedef struct hot_run_options {
    size_t size;          /* sizeof(hot_run_options) */
    const char *input;    /* DWI file */
    const char *bval, *bvec; /* for NIfTI; NULL = beside it */
    const char *mask;     /* mask file; NULL = estimated */
    const char *response; /* response file; NULL = estimated */
    double diffusivity_along, diffusivity_across; /* > 0: response from them (mm^2/s) */
    const char *output;   /* directory to make */
    int force;            /* replace what an earlier run left there */
    hot_fit_options fit;
    hot_peaks_options peaks; /* peaks.method: "signal" (rank-k in signal space), or one of hot_peaks_method_name; NULL =
                                "signal" with the model fod, else "maxima". peaks.mask is not used */
    hot_signal_find_options signal; /* method signal; its max_fibers is that of peaks */
} hot_run_options;

typedef struct hot_run_result {
    size_t voxels, fitted, flagged; /* in the mask; tensors fitted; voxels that could not be */
    size_t fibers[5];               /* voxels with 0, 1, 2, 3, more fibres */
    double seconds;
} hot_run_result;

/* Reads, fits, finds, writes all the files of a run directory. Nothing is left half written: the directory is made
 * beside its name and renamed at the end. result may be NULL. */
HOT_API hot_status hot_run(hot_context *context, const hot_run_options *options, hot_run_result *result);

#endif
