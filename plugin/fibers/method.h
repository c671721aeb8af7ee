/* How fibre directions are found: one const struct per method, listed in methods.c. Command, module and library take
 * names, help, defaults and limits from here, and the rules of which option goes with which method. */
#pragma once

#include "core/fields.h"

/* The input of a method that works on tensors: all voxels, rows of 1 + unique values, with the tensor from index 1 on;
 * voxels with mask[i] = 0 are skipped. The kernel processes them in chunks that bound its memory, and reports progress.
 * It writes 3 * max_fibers floats per voxel: vectors of length amplitude, absent ones 0. hot_fiber_field_adopt sorts
 * them and flips them into one half sphere. */
typedef struct hot_peaks_args {
    const char *model; /* of the tensors */
    int order;
    size_t count, stride; /* stride = 1 + unique values */
    const float *rows;
    const uint8_t *mask;
    float *peaks;
} hot_peaks_args;

typedef struct hot_peaks_method {
    const char *name;
    const char *help;  /* one line */
    const char *about; /* a paragraph for `hotfiber peaks --help` */
    /* The names of the options that it takes beside those that all take (max_fibers, mask), with a blank after each.
     * An option that some method names here is refused with those that do not. */
    const char *takes;
    const char *model;           /* the only model that it goes with; NULL = any */
    const char *default_of;      /* models whose default it is, with a blank after each; NULL = none */
    int max_fibers;              /* the most fibres per voxel */
    int order_min, order_max;    /* of tensors; 0 = any */
    double threshold, min_angle; /* defaults: fraction of the largest; degrees */
    size_t starts;               /* default */
    int weights;                 /* lengths are shares in a sum of fibres, not heights of a form */
    size_t directions;           /* of find_in_signals: with fewer gradient directions at most one fibre is found */
    /* One of the two: */
    hot_status (*find_in_tensors)(hot_context *context, const hot_peaks_options *options, const hot_peaks_args *args);
    hot_status (*find_in_signals)(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                  const hot_response *response, const hot_signal_find_options *options,
                                  hot_signal_maps *maps, hot_fiber_field **fibers);
} hot_peaks_method;

extern const hot_peaks_method hot_peaks_signal, hot_peaks_sshopm, hot_peaks_maxima, hot_peaks_lowrank;

/* All of them. */
const hot_peaks_method *const *hot_peaks_methods(size_t *count);
/* The method of this name, or NULL. */
const hot_peaks_method *hot_peaks_method_find(const char *name);
/* The method that a model's fibres are found with when none is named. */
const hot_peaks_method *hot_peaks_method_default(const char *model);
/* Whether a list of names with a blank after each holds this one. */
int hot_peaks_names_hold(const char *names, const char *name);

/* Warns if the method finds the right number of fibres in too few of the field's simulated voxels, unless the field has
 * warned of its maxima, which all methods but those with weights find. */
hot_status hot_peaks_judge(hot_context *context, const hot_tensor_field *tensors, const hot_peaks_options *options);

/* ---- The rules of method_rules.c -------------------------------------------------------------------------- */

/* Which options were given although their value does not show it (a default spelled out). NULL = none. */
typedef int hot_option_given(const void *user, const char *name);

/* The input of the rules. NULL pointers: unknown. */
typedef struct hot_peaks_choice {
    const hot_peaks_options *peaks; /* its method must be set */
    const hot_signal_find_options *signal;
    const char *model;
    int order; /* of the tensors; 0 = not known */
    hot_option_given *given;
    const void *user;
} hot_peaks_choice;

/* Whether the method is known and takes the model, the order and every option that was given. Fails with
 * HOT_ERROR_ARGUMENT, naming the parameter at fault (hot_context_parameter): method, max_fibers, starts, sigma ... */
hot_status hot_peaks_check(hot_context *context, const hot_peaks_choice *choice, const hot_peaks_method **method);

/* The refusal of an option that other methods name and this one does not; HOT_OK for all others. */
hot_status hot_peaks_check_takes(hot_context *context, const hot_peaks_choice *choice, const hot_peaks_method *method,
                                 const char *name);

/* "adaptive", "none" or a number. Returns 0 when the text is none of them. */
int hot_shift_parse(const char *text, hot_shift *shift, double *alpha);
