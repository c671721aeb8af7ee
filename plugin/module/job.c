/* What the module does between its arguments and its outputs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teem/air.h>

#include "common/entry.h"
#include "io/common/output.h"
#include "module.h"
#include "run/run.h"

typedef struct job {
    const hot_module_values *values;
    const hot_module_watch *watch;
    hot_context *context;
    hot_module_outputs outputs;
    hot_run_job run;
    hot_fit_options fit; /* these three: what the values say */
    hot_peaks_options peaks;
    hot_signal_find_options signal;
    double progress; /* of all; never goes back */
    char warning[256];
} job;

/* Which part of all a stage of the library is; others (ordering, ...) are short. */
static const struct stage { const char *begins; double from, to; } stages[] = {
    {"reading", 0, 0.05},           {"denoising", 0.05, 0.1},             {"averaging volumes", 0.05, 0.1},
    {"estimating the resp", 0.1, 0.25}, {"fitting", 0.25, 0.4},          {"finding", 0.4, 0.9},
};

static int on_progress(void *user, const char *name, double fraction)
{
    job *j = user;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (strncmp(name, stages[i].begins, strlen(stages[i].begins)) == 0)
            j->progress = fmax(j->progress, stages[i].from + (stages[i].to - stages[i].from) * fmin(fraction, 1));
    return j->watch->progress ? j->watch->progress(j->watch->user, name, j->progress, fmin(fraction, 1)) : 0;
}

static void on_log(void *user, hot_log_level level, const char *line)
{
    job *j = user;
    if (level != HOT_LOG_WARNING)
        return;
    if (!j->warning[0])
        snprintf(j->warning, sizeof j->warning, "%s", line);
    if (j->watch->warn)
        j->watch->warn(j->watch->user, line);
}

static const char *given(const char *path) { return path && path[0] ? path : NULL; }

/* No output may be an input, by whatever name. */
static hot_status check_outputs(const job *j)
{
    const hot_module_values *v = j->values;
    const char *const inputs[] = {v->dwi, v->mask, v->bval, v->bvec, v->response, v->gm_response, v->csf_response};
    hot_status status = HOT_OK;
    for (size_t o = 0; o < j->outputs.count && status == HOT_OK; o++) {
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs && status == HOT_OK; i++)
            status = hot_output_check_distinct(j->context, inputs[i], j->outputs.item[o].path);
        if (status == HOT_OK && j->run.dwi) /* a detached header draws in its data */
            status = hot_dwi_check_distinct(j->context, j->run.dwi, j->outputs.item[o].path);
        hot_context_blame(j->context, status, j->outputs.item[o].name);
    }
    return status;
}

static hot_status prepare_outputs(job *j)
{
    if (given(j->values->tissues) && strcmp(j->values->model, "msmt") != 0)
        return hot_context_fail_parameter(j->context, HOT_ERROR_ARGUMENT, "tissues", "it goes with the model msmt");
    size_t count;
    const hot_module_parameter *parameters = hot_module_parameters(&count);
    hot_status status = HOT_OK;
    j->outputs.context = j->context;
    for (size_t i = 0; i < count && status == HOT_OK; i++)
        if (parameters[i].kind == MODULE_OUTPUT)
            status = hot_module_outputs_add(&j->outputs, parameters[i].name,
                                            *(char *const *)((const char *)j->values + parameters[i].offset));
    return status == HOT_OK ? check_outputs(j) : status;
}

/* The responses of isotropic tissues, where there are. */
static hot_status read_tissues(job *j)
{
    const struct { const char *path, *name; } others[] = {{given(j->values->gm_response), "gm_response"},
                                                          {given(j->values->csf_response), "csf_response"}};
    for (int t = 0; t < 2; t++) {
        if (!others[t].path)
            continue;
        if (strcmp(j->values->model, "msmt") != 0 || !j->run.response)
            return hot_context_fail_parameter(j->context, HOT_ERROR_ARGUMENT, others[t].name,
                                              "it goes with the model msmt and the response of white matter");
        const hot_status status = hot_response_load(j->context, others[t].path,
                                                    &j->run.tissues[j->run.tissue_count]);
        if (status != HOT_OK)
            return hot_context_blame(j->context, status, others[t].name);
        j->run.tissue_count++;
    }
    j->run.fit.tissues = (const hot_response *const *)j->run.tissues;
    j->run.fit.tissue_count = j->run.tissue_count;
    return HOT_OK;
}

static hot_status read_inputs(job *j)
{
    const hot_module_values *v = j->values;
    hot_context *context = j->context;
    hot_status status = hot_dwi_load(context, v->dwi, given(v->bval), given(v->bvec), &j->run.dwi);
    if (status != HOT_OK)
        return hot_context_blame(context, status, "dwi");
    status = check_outputs(j);
    if (status == HOT_OK && !hot_dwi_has_b0(j->run.dwi) && strcmp(v->model, "fod") == 0)
        status = hot_context_fail_parameter(context, HOT_ERROR_DATA, "dwi",
                                            "'%s' has no b=0 volume (b of at most 50 s/mm^2)", v->dwi);
    const int highest = status == HOT_OK ? hot_dwi_highest_order(context, j->run.dwi, -1) : 0;
    if (highest < 0)
        return hot_context_cancelled(context) ? HOT_ERROR_CANCELLED : HOT_ERROR_MEMORY;
    if (status == HOT_OK && strcmp(v->order, "auto") != 0 && highest > 0 && atoi(v->order) > highest)
        status = hot_context_fail_parameter(context, HOT_ERROR_DATA, "order",
                                            "the directions of '%s' determine tensors of order %d at most, not %s",
                                            v->dwi, highest, v->order);
    if (status == HOT_OK && given(v->mask))
        status = hot_context_blame(context, hot_mask_load(context, v->mask, hot_dwi_grid(j->run.dwi), &j->run.mask),
                                   "mask");
    if (status == HOT_OK && given(v->response))
        status = hot_context_blame(context, hot_response_load(context, v->response, &j->run.response), "response");
    return status == HOT_OK ? read_tissues(j) : status;
}

/* The library's option for a number of the module, of which -1 is the default. */
static double option_of(double value) { return value < 0 ? 0 : value == 0 ? HOT_ZERO : value; }

static hot_status fill_options(job *j, hot_run_options *options)
{
    const hot_module_values *v = j->values;
    *options = (hot_run_options){.size = sizeof *options, .input = v->dwi, .bval = given(v->bval),
                                 .bvec = given(v->bvec), .mask = given(v->mask), .response = given(v->response),
                                 .denoise = v->denoise, .force_table = v->force_table,
                                 .fit = &j->fit, .peaks = &j->peaks, .signal = &j->signal,
                                 .axial_diffusivity = v->diffusivities[0], .radial_diffusivity = v->diffusivities[1]};
    j->fit = (hot_fit_options){.size = sizeof j->fit, .model = v->model,
                               .constraint = strcmp(v->constraint, "hpsd") == 0   ? HOT_CONSTRAINT_HPSD
                                             : strcmp(v->constraint, "none") == 0 ? HOT_CONSTRAINT_NONE
                                                                                  : HOT_CONSTRAINT_NONNEGATIVE,
                               .order = strcmp(v->order, "auto") == 0 ? 0 : atoi(v->order)};
    j->peaks = (hot_peaks_options){.size = sizeof j->peaks, .max_fibers = v->max_fibers,
                                   .method = strcmp(v->method, "auto") == 0 ? NULL : v->method,
                                   .threshold = option_of(v->threshold), .min_angle = option_of(v->min_angle),
                                   .min_amplitude = option_of(v->min_amplitude), .starts = (size_t)v->starts};
    /* hosts show these two as chosen where the user has chosen nothing */
    if (strcmp(v->model, "fod") == 0 && strcmp(v->method, "auto") == 0)
        j->fit.model = NULL;
    j->signal = (hot_signal_find_options){.size = sizeof j->signal, .sigma = v->sigma,
                                          .noise_model = strcmp(v->noise_model, "gaussian") == 0 ? HOT_NOISE_GAUSSIAN
                                                         : strcmp(v->noise_model, "rician") == 0 ? HOT_NOISE_RICIAN
                                                                                                 : HOT_NOISE_AUTO};
    if (!hot_shift_parse(v->shift, &j->peaks.shift, &j->peaks.alpha))
        return hot_context_fail_parameter(j->context, HOT_ERROR_ARGUMENT, "shift",
                                          "'%s' is not adaptive, none or a number", v->shift);
    return HOT_OK;
}

static hot_status export_as(const job *j, const char *name, const char *format)
{
    const char *path = hot_module_outputs_file(&j->outputs, name);
    const hot_export_format *exporter = path ? hot_export_format_find(format, NULL) : NULL;
    if (!path)
        return HOT_OK;
    if (!exporter || !exporter->write)
        return hot_context_fail(j->context, HOT_ERROR_ARGUMENT, "this build cannot write %s", format);
    return exporter->write(j->context, j->run.fibers, path);
}

static hot_status write_outputs(job *j)
{
    static const char *const formats[][2] = {
        {"fibers", "vtp"}, {"dec", "dec"}, {"peaks", "peaks"}, {"nfibers", "nfibers"}};
    const char *names[MODULE_OUTPUTS], *path;
    hot_status status = HOT_OK;
    j->run.input = hot_run_describe_input(&j->run); /* for the report; the data are freed before writing */
    hot_dwi_destroy(&j->run.dwi);
    for (size_t i = 0; i < 4 && status == HOT_OK; i++) {
        j->progress = 0.9 + 0.02 * (double)i;
        status = hot_context_progress(j->context, "writing", (double)i / 6);
        if (status == HOT_OK)
            status = hot_context_blame(j->context, export_as(j, formats[i][0], formats[i][1]), formats[i][0]);
    }
    if (status == HOT_OK && (path = hot_module_outputs_file(&j->outputs, "tissues")))
        status = hot_context_blame(j->context, hot_tensor_field_save_tissues(j->context, j->run.tensors, path),
                                   "tissues");
    if (status == HOT_OK && (path = hot_module_outputs_file(&j->outputs, "tensors")))
        status = hot_context_blame(j->context, hot_tensor_field_save(j->context, j->run.tensors, path), "tensors");
    for (size_t i = 0; i < j->outputs.count; i++)
        names[i] = j->outputs.item[i].path;
    if (status == HOT_OK && (path = hot_module_outputs_file(&j->outputs, "report")))
        status = hot_context_blame(j->context, hot_run_save_report(&j->run, names, j->outputs.count, path),
                                   "report");
    if (status == HOT_OK)
        status = hot_context_check(j->context, "writing");
    return status == HOT_OK ? hot_module_outputs_commit(&j->outputs) : status;
}

static void describe(const job *j, char message[MODULE_MESSAGE])
{
    const hot_run_result *r = &j->run.result;
    const double of = r->voxels ? 100.0 / (double)r->voxels : 0;
    snprintf(message, MODULE_MESSAGE, "%zu voxels: %.1f %% with one fibre, %.1f %% with two, %.1f %% with more%s%s",
             r->voxels, of * (double)r->fibers[1], of * (double)r->fibers[2],
             of * (double)(r->fibers[3] + r->fibers[4]), j->warning[0] ? "; " : "", j->warning);
}

int hot_module_run(const hot_module_values *values, const hot_module_watch *watch, char message[MODULE_MESSAGE])
{
    HOT_ENTRY(NULL);
    job j = {.values = values, .watch = watch};
    hot_run_options options;
    const hot_context_options settings = {
        .size = sizeof settings, .threads = values->threads, .seed = 1, .log = on_log, .log_user = &j,
        .device = strcmp(values->device, "cpu") == 0    ? HOT_DEVICE_CPU
                  : strcmp(values->device, "cuda") == 0 ? HOT_DEVICE_CUDA
                                                        : HOT_DEVICE_AUTO,
        .progress = on_progress, .progress_user = &j, .stop = watch->stop, .stop_user = watch->user};
    if (strcmp(airTeemVersion, TEEM_VERSION_STRING) != 0) { /* what we find in a host's memory goes first */
        snprintf(message, MODULE_MESSAGE,
                 "this host carries Teem %s and HotFiber was built with %s, whose structs may differ: use the "
                 "executable HotFiber instead",
                 airTeemVersion, TEEM_VERSION_STRING);
        return 1;
    }
    hot_status status = hot_context_create(&settings, &j.context);
    if (status != HOT_OK) {
        snprintf(message, MODULE_MESSAGE, "%s", hot_status_text(status));
        return 1;
    }
    j.run.context = j.context;
    status = hot_context_check(j.context, "starting");
    if (status == HOT_OK)
        status = fill_options(&j, &options);
    if (status == HOT_OK)
        status = hot_run_take_options(&j.run, &options);
    if (status == HOT_OK)
        status = prepare_outputs(&j);
    if (status == HOT_OK)
        status = read_inputs(&j);
    if (status == HOT_OK)
        status = hot_run_compute_job(&j.run);
    if (status == HOT_ERROR_DEVICE)
        status = hot_context_blame(j.context, status, "device");
    if (status == HOT_OK)
        status = write_outputs(&j);
    if (status == HOT_OK)
        describe(&j, message);
    else
        snprintf(message, MODULE_MESSAGE, "%s", hot_context_message(j.context));
    hot_module_outputs_discard(&j.outputs);
    hot_run_free(&j.run);
    hot_context_destroy(&j.context);
    return status != HOT_OK;
}
