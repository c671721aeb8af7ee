/* The state of a run, shared by its steps. */
#pragma once

#include "core/fields.h"
#include "fibers/method.h"
#include "io/common/output.h"
#include "folder.h"
#include "store.h"

typedef enum hot_run_stage {
    HOT_STAGE_READING, HOT_STAGE_DENOISING, HOT_STAGE_MASK, HOT_STAGE_RESPONSE, HOT_STAGE_FITTING, HOT_STAGE_FINDING,
    HOT_STAGE_MAPS, HOT_STAGE_WRITING, HOT_RUN_STAGES
} hot_run_stage;

typedef struct hot_run_resume hot_run_resume;
typedef struct hot_run_view hot_run_view;

/* Inputs: the caller's options with their defaults filled in, the data, and values derived from these. */
typedef struct hot_run_inputs {
    hot_run_options options; /* points to the next three */
    hot_fit_options fit;
    hot_peaks_options peaks;
    hot_signal_find_options signal;
    const hot_peaks_method *method;
    int by_default; /* neither model nor method was given, nor an option that goes with only some of them */
    int order_by_default, order_before; /* of the tensors; the second: before the response lowered it, or 0 */
    uint64_t outputs; /* which files: hot_run_outputs of outputs.h */
    int without_tensors, without_maps; /* no output is made of them, and the method does without */
    hot_dwi *dwi;
    int borrowed; /* dwi is the caller's */
    hot_dwi *denoised; /* the method on signals takes directions from it; NULL = none */
    hot_dwi view; /* of a borrowed data set: its arrays, with the summary that the run makes */
    size_t volumes;     /* of the data as they came; empty ones are left out of dwi */
    uint64_t data_sum;  /* of the data as they came: hot_run_sum_data. 0 = not wanted */
    cJSON *description; /* the report's part on the input, made while the data are there */
} hot_run_inputs;

/* The model: learned from the whole volume before any fibre is found, or loaded from a file of hotfiber learn. */
typedef struct hot_run_learned {
    hot_mask *mask;
    hot_response *response;
    hot_response *tissues[HOT_TISSUES_MAX]; /* msmt: of the isotropic ones, behind white matter's */
    size_t tissue_count;
    size_t response_voxels; /* used for an estimated response; 0 = not estimated */
    const char *mask_from, *response_from; /* for the report: a file's name, or how */
    double sigma, snr;
    float *noise;    /* with denoising: the noise's standard deviation per voxel; else NULL */
    double restored; /* and the share of voxels whose shape was put back (dwi/denoise_shape.h) */
    cJSON *gradients; /* findings about the gradient table; NULL = not checked */
    hot_signal_learned signal; /* priors of the signal method */
    cJSON *file; /* of options.learned; NULL = learned here */
    cJSON *said; /* what steps of learning have logged, for a file */
} hot_run_learned;

/* Kinds of sampled voxels (run_tissue.c). */
enum { HOT_LIKE_OTHER, HOT_LIKE_CSF, HOT_LIKE_GREY };
typedef struct hot_run_tissues {
    size_t voxels, *voxel;
    uint8_t *kind; /* HOT_LIKE_... */
    double b;      /* the largest b-value that was used; 0: these data do not tell */
} hot_run_tissues;

/* Results. */
typedef struct hot_run_results {
    hot_tensor_field *tensors;
    hot_fiber_field *fibers;
    hot_signal_maps maps; /* of a method that works on signals */
    hot_tensor_field *diffusion_tensors; /* of FA and MD; NULL unless these are wanted */
    hot_fiber_field *peaks_fod; /* directions with amplitudes of an fODF; likewise */
    float *background; /* the picture's: mean b=0 image */
    hot_run_tissues tissues;
    hot_run_result counts;
} hot_run_results;

typedef struct hot_run_state {
    hot_context *context;
    hot_run_inputs inputs;
    hot_run_learned learned;
    hot_run_results results;
    hot_folder folder;
    hot_signal_part slabs;  /* hooks that save or load results */
    hot_run_store store;    /* the source of loaded results: a part, or an earlier run's */
    hot_mask *share;        /* of a part: the voxels to find in; NULL: the run is whole */
    hot_output part;        /* its file */
    int part_number, part_count; /* of a merge: the part that is open, and how many there are */
    size_t part_left;       /* rows of it that were not loaded yet */
    hot_run_resume *resume; /* NULL unless options.resume */
    hot_run_view *view;     /* NULL unless options.view */
    cJSON *log;   /* what the run has said, for the report */
    int log_lost; /* a line of that was lost for want of memory */
    hot_run_stage stage; /* the one that is at work */
    double seconds[HOT_RUN_STAGES]; /* of those that ended */
    double began, stage_began;
    int threads; /* the context's, while it has fewer; else 0 */
} hot_run_state;

/* The input of the data check (run_check.c), whose findings go into gradients. */
typedef struct hot_run_job {
    hot_context *context;
    hot_run_options options;
    const hot_dwi *dwi;
    const hot_mask *mask;
    size_t volumes;
    cJSON *gradients;
} hot_run_job;

/* The order of the tensors: what the directions determine, 6 at most; and, once it is known, what the response has. */
hot_status hot_run_choose_order(hot_run_state *run);
void hot_run_follow_response(hot_run_state *run);

/* The rules: whether the options, with fit, peaks and signal set, go together. given: tells which options were given
 * although their value does not show it; NULL = none. *method: the one that will find the fibres. Fails with
 * HOT_ERROR_ARGUMENT; hot_context_parameter names the option at fault. The second function only checks the options of
 * model and response. */
hot_status hot_run_check_options(hot_context *context, const hot_run_options *options, hot_option_given *given,
                                 const void *user, const hot_peaks_method **method);
hot_status hot_run_check_model(hot_context *context, const hot_run_options *options, hot_option_given *given,
                               const void *user);

/* Copies the caller's options into a zeroed run (but for its context), which must then stay where it is. Errors: those
 * of hot_run_check_options. */
hot_status hot_run_take_options(hot_run_state *run, const hot_run_options *options);

/* Steps of learning from run->inputs.dwi (run_learn.c): denoised data, in its place except for the method on signals;
 * one pass over the data for mask,
 * noise and picture; mask and noise; the response, or those of several tissues, unless the model has none. */
hot_status hot_run_denoise(hot_run_state *run);
hot_status hot_run_summarize(hot_run_state *run);
hot_status hot_run_make_mask(hot_run_state *run);
/* A mask that is given beside a model takes the place of the model's: where fibres are found. */
hot_status hot_run_restrict(hot_run_state *run);
/* Refuses (HOT_ERROR_DATA) a given mask that has the shape of the brain and lies elsewhere; warns of one that is much
 * smaller than the brain. */
hot_status hot_run_check_mask(hot_run_state *run);
hot_status hot_run_make_response(hot_run_state *run);

/* From run->inputs.dwi to tensors and fibres: mask and response (unless set), order, fit, directions, counts. */
hot_status hot_run_compute_state(hot_run_state *run);

/* Judges a sample of the voxels of run->inputs.dwi, for the report. Errors: HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
hot_status hot_run_judge_tissues(hot_run_state *run);
/* By kind: how many voxels, and how many of these have fibres, of grey matter two or more. */
void hot_run_count_tissues(const hot_run_state *run, size_t like[3], size_t some[3]);
/* A line about fibres where few are expected, a warning if there are more than in good scans. */
void hot_run_log_tissues(const hot_run_state *run);
void hot_run_tissues_free(hot_context *context, hot_run_tissues *tissues);

/* Frees the run. Removes the folder and its files unless they were committed. */
void hot_run_free(hot_run_state *run);

/* The stage has ended, and the next begins. Stages that a run does not have are passed over. */
void hot_run_end_stage(hot_run_state *run, hot_run_stage stage);

/* Seconds of a monotonic clock. */
double hot_run_now(void);

/* The report's part on the input: sizes, space, shells. NULL when memory is short. */
cJSON *hot_run_describe_input(const hot_run_state *run);

/* Compares table and volumes (job->gradients). Fails with HOT_ERROR_DATA if the rows do not belong to the volumes,
 * unless options.force_table. hot_run_warn prints other findings at the end. */
hot_status hot_run_check_data(hot_run_job *job);
void hot_run_warn(hot_run_job *job);

/* Writes report.json, which names every file written so far and itself. */
hot_status hot_run_write_report(hot_run_state *run);
/* The report with these names of files in it, to `path`. */
hot_status hot_run_save_report(hot_run_state *run, const char *const *files, size_t count, const char *path);
