/* The whole job. Included by hotfiber.h. */
/* First of all, so that this header, too, can be included alone. */
#include <hotfiber/hotfiber.h>

#ifndef HOTFIBER_RUN_H
#define HOTFIBER_RUN_H

typedef struct hot_run_options {
    size_t size;          /* sizeof(hot_run_options) */
    const char *input;    /* DWI file; hot_run_compute does not use it */
    const char *bval, *bvec; /* for NIfTI; NULL = next to it */
    const char *mask;     /* mask file; NULL = estimated */
    const char *response; /* response file; NULL = estimated */
    double axial_diffusivity, radial_diffusivity; /* fod, > 0: response from them, mm^2/s; the axial one is larger */
    const char *output;   /* directory to make */
    int force;            /* replace the result of an earlier run */
    /* Options of the steps; NULL = defaults. Read only during the call. A response in memory goes into
     * fit->response; it is copied. peaks->method: one of hot_peaks_method_name; NULL = "signal" with the model fod,
     * else "maxima". peaks->mask is not used. signal: of the method signal; its max_fibers is that of peaks */
    const hot_fit_options *fit;
    const hot_peaks_options *peaks;
    const hot_signal_find_options *signal;
    /* instead of a file; copied */
    const hot_mask *mask_in_memory;
    /* 1: the data are denoised first (hot_dwi_denoise, all voxels), and noise.nii.gz is written too. If that removes
     * more than noise from a voxel, its angular shape is restored; if in most voxels, the original data are used, with
     * a warning. The method signal takes only directions from the denoised data; numbers of fibres, fractions,
     * probabilities and cones are those of the original data */
    int denoise;
    /* Which files the run leaves, beside report.json: names of hot_run_output_name separated by commas, or the sets
     * "default" (NULL: these), "maps" (scalar maps, mask and response) and "all" (both,
     * and probability, tensors, fixels, vtp, fiber) */
    const char *outputs;
    /* A run in parts: part 1 ... parts finds the fibres in that share of the mask's voxels and leaves the file
     * part-<part>-of-<parts>.nrrd in the folder `output`. With merge (the folder of all parts) and the same options a
     * run loads them, and its files are byte by byte those of a whole run. Each part learns from all data, unless
     * `learned` is given; with denoise each part denoises all data. */
    int part, parts;
    const char *merge;
    const char *record; /* a text that is kept in the part: hot_run_parts_record; NULL = none */
    int report; /* 1: report.html is made, too (hot_run_report), and b0.nii.gz, which it draws on */
    /* learn: a file to write the model of a run with these options to (mask, noise, check of the gradients, responses,
     * priors); nothing else is done, and output is not used. learned: such a file, of the same data and options except
     * mask and response, which it contains: the run, or the part, does not learn, and its results are byte by byte the
     * same. With a mask, fibres are found there instead. Refused with other data or options (HOT_ERROR_DATA). */
    const char *learn, *learned;
    /* 1: the model and finished results are kept in the folder <output>.resume until the output is complete, so that
     * after a kill the same call continues from there. Tensors are fitted again. Refused if the folder is of a run with
     * other data or options (HOT_ERROR_DATA). Not for parts or merges. */
    int resume;
    /* Memory limit of the run in bytes; 0 = 60 % of the free memory. Larger data are processed out of core: they stay
     * in their file (compressed ones in an unlinked file of their unpacked samples in the output's folder), and some
     * slices are in memory at a time. Results are the same. Values kept for each voxel of the grid are in memory. */
    size_t memory;
    /* 1: a table whose rows are in another order than the volumes, or whose directions explain nothing
     * (hot_check_volume_rows), is used with a warning; 0: such a run fails (HOT_ERROR_DATA), and hot_context_parameter
     * names this option. Other contradictions between table and volumes are warnings */
    int force_table;
    /* With the method signal: a voxel's k-th longest fibre is left out of the outputs where the probability of k fibres
     * or more is below min_probability (0 to 1), or where its cone (hot_signal_maps.cone) is wider than max_cone
     * degrees; 0 = none is. Samples of the posterior and the probabilities that are written stay. */
    double min_probability, max_cone;
    /* 1: starts the program hotfiber-view, which shows the mean b=0 image, and the fibres of each slice once they are
     * found (method signal; those of other methods when all are found). Its window stays after the call. Results are
     * the same, and closing the window changes nothing. Without the program or a display a warning is logged, and the
     * call continues. Folders of the program: that of the running one, bin/ near the library, and those of PATH */
    int view;
} hot_run_options;
#define HOT_RUN_OPTIONS_INIT HOT_SIZED(hot_run_options)

/* The files that a run can leave. Returns the name of output `index` (0, 1, ...) for hot_run_options.outputs, NULL
 * after the last, its file's name and its one-line help (both may be NULL). Static storage. */
HOT_API const char *hot_run_output_name(size_t index, const char **file, const char **help);

typedef struct hot_run_result {
    size_t voxels, fitted, flagged; /* in the mask; tensors fitted; voxels that the method could not use */
    size_t fibers[5];               /* voxels with 0, 1, 2, 3, more fibres */
    double seconds;
} hot_run_result;

/* Reads, fits, finds, writes all the files of a run directory. It never leaves an incomplete directory: it writes under
 * a temporary name and renames at the end. result may be NULL. Errors: those of hot_run_compute, and HOT_ERROR_FILE. If
 * options do not go together, hot_context_parameter names the one at fault: method, max_fibers, threshold, min_angle,
 * min_amplitude, starts, shift, sigma, noise_model, response, diffusivities, known_b0, positive, outputs. */
HOT_API hot_status hot_run(hot_context *context, const hot_run_options *options, hot_run_result *result);

/* The text that was given as `record` to the part that is first in a folder of all parts; "" = none. Free *record with
 * hot_context_free. Errors: HOT_ERROR_FILE (parts are missing), HOT_ERROR_FORMAT, HOT_ERROR_MEMORY. */
HOT_API hot_status hot_run_parts_record(hot_context *context, const char *folder, char **record);

/* The same of a file of hot_run_options.learn. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_MEMORY. */
HOT_API hot_status hot_run_learned_record(hot_context *context, const char *path, char **record);

/* One HTML page, of 5 MB at most, about a finished run: inputs, settings, pictures of the fibres and maps,
 * histograms, warnings, a paragraph for a paper. It needs neither network nor scripts nor other files.
 * folder: that of the run, which is only read; missing files are left out and listed. background: an
 * image below the fibres; NULL = the folder's b0.nii.gz or fa.nii.gz, or the lengths of the fibres. path: the page.
 * Errors: HOT_ERROR_FILE (no report.json; a background that cannot be read; the page cannot be written),
 * HOT_ERROR_FORMAT, HOT_ERROR_DATA (the background is elsewhere), HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_run_report(hot_context *context, const char *folder, const char *background, const char *path);

/* The results of a run, in memory. */
typedef struct hot_run_fields {
    hot_mask *mask;            /* where it was computed */
    hot_response *response;    /* models fod and msmt; else NULL */
    hot_tensor_field *tensors;
    hot_fiber_field *fibers;
    hot_signal_maps maps;      /* method signal: probabilities and more; else all NULL */
} hot_run_fields;

/* A run on data in memory: mask, response, fit, directions, with the defaults of hot_run. It reads only the files that
 * the options name, and writes none. To run on arrays, make a hot_dwi with hot_dwi_create, call this, and get the
 * results with hot_fiber_field_peaks, hot_fiber_field_counts, hot_tensor_field_values and hot_mask_bytes. dwi: not
 * changed; volumes without a signal (zeros or NaN in all of the head) are left out, with a warning. options: input,
 * bval, bvec, output and force are not used, and of outputs only the names are checked; NULL = defaults. fields:
 * filled, the caller's until hot_run_fields_free; all NULL after a failure. result: may be NULL. Errors:
 * HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (no b=0 volume, too few directions, an empty mask, no voxel of one fibre),
 * HOT_ERROR_FILE and HOT_ERROR_FORMAT (a mask or response file), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE,
 * HOT_ERROR_CANCELLED (hot_context_options.stop, .progress, hot_context_cancel). Several threads at once, each with its
 * own context; they may share a hot_dwi. */
HOT_API hot_status hot_run_compute(hot_context *context, const hot_dwi *dwi, const hot_run_options *options,
                                   hot_run_fields *fields, hot_run_result *result);
HOT_API void hot_run_fields_free(hot_run_fields *fields);

#endif
