/* What the steps of a run share. */
#ifndef HOT_RUN_RUN_H
#define HOT_RUN_RUN_H

#include "core/fields.h"
#include "fibers/method.h"
#include "fibers/signal_part.h"
#include "io/common/report.h"
#include "folder.h"

enum { HOT_RUN_STAGES = 12 };

typedef struct hot_run_resume hot_run_resume;

typedef struct hot_run_job {
    hot_context *context;
    hot_run_options options; /* a copy, with the defaults filled in; it points to the three below */
    hot_fit_options fit;
    hot_peaks_options peaks;
    hot_signal_find_options signal;
    const hot_peaks_method *method;
    int by_default; /* neither model nor method was given, nor an option that goes with only some of them */
    hot_folder folder;
    hot_dwi *dwi;
    int borrowed; /* dwi is the caller's */
    hot_dwi view; /* of a borrowed data set: its arrays, with the summary that the run makes */
    hot_mask *mask;
    hot_response *response;
    hot_response *tissues[HOT_TISSUES_MAX]; /* msmt, from files: of the isotropic ones, behind white matter's */
    size_t tissue_count;
    int order_by_default, order_before; /* of the tensors; the second: before the response lowered it, or 0 */
    size_t response_voxels; /* used for an estimated response; 0 = not estimated */
    hot_tensor_field *tensors;
    hot_fiber_field *fibers;
    hot_signal_maps maps; /* of a method that works on signals */
    uint64_t outputs;     /* which files: hot_run_outputs of outputs.h */
    int without_tensors, without_maps; /* no output is made of them, and the method does without */
    hot_tensor_field *diffusion_tensors; /* of FA and MD; NULL unless these are wanted */
    hot_fiber_field *peaks_fod;          /* directions with amplitudes of an fODF; likewise */
    float *background; /* the picture's: mean b=0 image */
    float *noise;      /* with denoising: the noise's standard deviation per voxel; else NULL */
    double restored;   /* and the share of voxels whose shape was put back (dwi/denoise_shape.h) */
    double sigma, snr;
    hot_run_result result;
    struct { const char *name; double seconds; } stage[HOT_RUN_STAGES];
    int stages;
    double began, stage_began;
    int threads; /* the context's, while it has fewer; else 0 */
    const char *mask_from, *response_from; /* for the report: a file's name, or how */
    cJSON *input;                          /* the report's part on the input, made while the data are there */
    hot_mask *share;       /* of a part: the voxels to find in; NULL: the run is whole */
    hot_signal_part part;
    float *part_rows;      /* what it has found: share->inside rows of part_width */
    size_t part_width;
    char *parts_of;        /* merge: what the parts were made of */
    cJSON *learned;        /* the file of options.learned; NULL = learned here */
    cJSON *said;           /* what steps of learning have said, for options.learn */
    hot_signal_learned signal_learned;
    hot_run_resume *resume; /* NULL unless options.resume */
    uint64_t data_sum;     /* of the data as they came: hot_run_sum_data. 0 = not wanted */
    cJSON *log;                            /* what the run has said, for the report */
    int unheard;                           /* a line of that was lost for want of memory */
    size_t volumes;                        /* of the data as they came; empty ones are left out of job->dwi */
    cJSON *gradients;                      /* what was found of the gradient table; NULL = not looked at */
} hot_run_job;

/* The order of the tensors: what the directions determine, 6 at most; and, once it is known, what the response has. */
hot_status hot_run_choose_order(hot_run_job *job);
void hot_run_follow_response(hot_run_job *job);

/* The rules: whether the options, whose fit, peaks and signal are there, go together. given: tells which options were
 * given although their value does not show it; NULL = none. *method: the one that will find the fibres. Fails with
 * HOT_ERROR_ARGUMENT; hot_context_parameter names the option at fault. The second looks at the options of model and
 * response alone. */
hot_status hot_run_check(hot_context *context, const hot_run_options *options, hot_option_given *given,
                         const void *user, const hot_peaks_method **method);
hot_status hot_run_check_model(hot_context *context, const hot_run_options *options, hot_option_given *given,
                               const void *user);

/* Copies the caller's options into a zeroed job (but for its context), which must then stay where it is. Errors: those
 * of hot_run_check. */
hot_status hot_run_take_options(hot_run_job *job, const hot_run_options *options);

/* From job->dwi to tensors and fibres: mask (unless it is there), order, response (unless it is there), fit,
 * directions, counts. */
hot_status hot_run_compute_job(hot_run_job *job);

/* Frees what the job owns. The folder and what was written into it are removed unless they were committed. */
void hot_run_free(hot_run_job *job);

/* Seconds of a monotonic clock. */
double hot_run_now(void);

/* Fills data_sum where the job has a use for it: to go on, to be compared with parts or with what was learned. Errors:
 * those of reading. */
hot_status hot_run_sum_data(hot_run_job *job);

/* The report's part on the input: sizes, space, shells. NULL when memory is short. */
cJSON *hot_run_describe_input(const hot_run_job *job);

/* What decides the directions: data, options, mask, response, noise, priors. Runs that agree in it find the same. */
cJSON *hot_run_describe_work(const hot_run_job *job);
/* Compares table and volumes (job->gradients). Fails with HOT_ERROR_DATA where the rows are not those of the volumes,
 * unless options.force_table. Other findings are said by hot_run_warn, when all is done. */
hot_status hot_run_check_data(hot_run_job *job);
void hot_run_warn(hot_run_job *job);

/* Writes report.json, which names every file written so far and itself. */
hot_status hot_run_write_report(hot_run_job *job);
/* The report with these names of files in it, to `path`. */
hot_status hot_run_save_report(hot_run_job *job, const char *const *files, size_t count, const char *path);

#endif
