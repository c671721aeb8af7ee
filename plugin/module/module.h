/* The loadable module for hosts of the Slicer execution model (3D Slicer, CTK, MITK, NiftyView, medInria): the
 * executable HotFiber and the shared object libHotFiberLib.so, from the same sources.
 *
 * In-process, nothing here prints, exits or keeps state between calls; messages go into the host's process
 * information. */
#pragma once

#include <stddef.h>

#include <hotfiber/hotfiber.h>

/* How host and module talk while the module runs: made and owned by the host, at the address that comes with
 * --processinformationaddress. The layout is the hosts' (1,064 bytes on x86-64), the names of its fields as well. */
typedef struct hot_module_process {
    unsigned char Abort;        /* set by the host from another thread: stop */
    float Progress;             /* 0 to 1, of all */
    float StageProgress;        /* 0 to 1, of this stage */
    char ProgressMessage[1024]; /* what is being done; after a failure, why */
    void (*ProgressCallbackFunction)(void *);
    void *ProgressCallbackClientData;
    double ElapsedTime;         /* seconds */
} hot_module_process;

_Static_assert(sizeof(void *) != 8 || sizeof(hot_module_process) == 1064,
               "the hosts' process information has 1,064 bytes");
_Static_assert(offsetof(hot_module_process, ProgressMessage) == 12, "layout of the hosts' process information");

typedef enum hot_module_kind {
    MODULE_INPUT, MODULE_OUTPUT, /* const char *: a path; NULL or "" = none */
    MODULE_CHOICE,               /* const char *: one of `words` */
    MODULE_WORD,                 /* const char *: any text */
    MODULE_INTEGER,              /* int */
    MODULE_NUMBER,               /* double */
    MODULE_PAIR,                 /* double[2] */
    MODULE_SWITCH                /* int */
} hot_module_kind;

/* The arguments, by the names of parameters.inc. */
typedef struct hot_module_values {
    const char *dwi, *mask, *bval, *bvec, *grad, *response, *gm_response, *csf_response;
    const char *fibers, *dec, *peaks, *nfibers, *tissues, *tensors, *report;
    const char *model, *constraint, *kernel, *known_b0, *weights, *order, *method, *shift, *noise_model, *device;
    int view, denoise, force_table, positive, normalise, max_fibers, starts, threads, AllowInMemoryTransfer;
    double regularise, threshold, min_angle, min_amplitude, min_probability, max_cone, sigma, diffusivities[2];
} hot_module_values;

typedef struct hot_module_parameter {
    const char *name;
    hot_module_kind kind;
    size_t offset;       /* in hot_module_values */
    const char *words;   /* MODULE_CHOICE: "a|b|"; files: the suffixes, ".nrrd,.nii"; MODULE_SWITCH:
                            "hidden" or NULL */
    const char *preset;  /* the default, as text; NULL = none */
    double low, high;
    const char *about;   /* what hosts show as its explanation */
} hot_module_parameter;

/* The table, count of them in *count; static storage. The first is the argument without a flag. */
const hot_module_parameter *hot_module_parameters(size_t *count);

/* Further options of the arguments. */
typedef struct hot_module_request {
    int xml, version, help;
    char unknown[64]; /* the first flag that is not known, "" = none */
    hot_module_process *process; /* NULL = none */
} hot_module_request;

enum { MODULE_MESSAGE = 1024 };

/* Reads the arguments (argv[0] is skipped). Flags and arguments that are not known are passed over. own_process: the
 * process information is in our own memory and may be used. Returns 0, or 1 with a message that names the parameter. */
int hot_module_parse(int argc, char *const *argv, int own_process, hot_module_values *values,
                     hot_module_request *request, char message[MODULE_MESSAGE]);

/* How a run reports and is stopped. */
typedef struct hot_module_watch {
    int (*progress)(void *user, const char *stage, double all, double of_stage);
    int (*stop)(void *user);
    void (*warn)(void *user, const char *line);
    void *user;
} hot_module_watch;

/* The job: reads, fits, finds, writes the requested outputs; either all appear, when they are complete, or none.
 * Returns 0 or, on failure, 1. message: a summary, or the error. */
int hot_module_run(const hot_module_values *values, const hot_module_watch *watch, char message[MODULE_MESSAGE]);

/* ---- Outputs that appear together -------------------------------------------------------------------------------- */

enum { MODULE_OUTPUTS = 7 };

typedef struct hot_module_outputs {
    hot_context *context;
    struct hot_module_moved *moved; /* files that have their names, the last first */
    size_t count;
    struct {
        const char *name;           /* of the parameter */
        const char *path;           /* where it belongs */
        char *target;               /* the same, links followed */
        char *folder, *file;        /* the temporary folder next to the target, and the file in it */
        int lock;                   /* a handle on the folder: others see that it is not abandoned; 0 = none */
        int made;                   /* how many folders above it were made */
    } item[MODULE_OUTPUTS];
} hot_module_outputs;

/* One more output, by parameter name; path NULL or "" is none. A path that is a symbolic link is written to where the
 * link leads. Folders above it are made. Errors: HOT_ERROR_FILE when its folder cannot be written. */
hot_status hot_module_outputs_add(hot_module_outputs *outputs, const char *name, const char *path);
/* The temporary path of the output with this name; NULL if it was not requested. */
const char *hot_module_outputs_file(const hot_module_outputs *outputs, const char *name);
/* Renames all outputs to their final paths; after a failure the previous files are restored. */
hot_status hot_module_outputs_commit(hot_module_outputs *outputs);
/* Removes the temporary files; safe after commit. */
void hot_module_outputs_discard(hot_module_outputs *outputs);
