/* The module's job, between its arguments and its outputs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teem/air.h>

#include "common/entry.h"
#include "io/common/output.h"
#include "module.h"
#include "run/option_table.h"

typedef struct job {
    const hot_module_values *values;
    const hot_module_watch *watch;
    hot_context *context;
    hot_module_outputs outputs;
    hot_run_state run;
    hot_fit_options fit; /* these three: what the values say */
    hot_peaks_options peaks;
    hot_signal_find_options signal;
    double progress; /* of all; never goes back */
    char warning[256];
} job;

/* From where to where in all of it each stage of a run is. */
static const double parts[HOT_RUN_STAGES][2] = {
    [HOT_STAGE_READING] = {0, 0.05}, [HOT_STAGE_DENOISING] = {0.05, 0.1}, [HOT_STAGE_MASK] = {0.1, 0.15},
    [HOT_STAGE_RESPONSE] = {0.15, 0.25}, [HOT_STAGE_FITTING] = {0.25, 0.4}, [HOT_STAGE_FINDING] = {0.4, 0.9},
    [HOT_STAGE_MAPS] = {0.9, 0.9}, [HOT_STAGE_WRITING] = {0.9, 1}};

static int on_progress(void *user, const char *name, double fraction)
{
    job *j = user;
    const double *part = parts[j->run.stage];
    j->progress = fmax(j->progress, part[0] + (part[1] - part[0]) * fmin(fraction, 1));
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
    const char *const inputs[] = {v->dwi, v->mask, v->bval, v->bvec, v->grad, v->response, v->gm_response,
                                  v->csf_response};
    hot_status status = HOT_OK;
    for (size_t o = 0; o < j->outputs.count && status == HOT_OK; o++) {
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs && status == HOT_OK; i++)
            status = hot_output_check_distinct(j->context, inputs[i], j->outputs.item[o].path);
        if (status == HOT_OK && j->run.inputs.dwi) /* a detached header draws in its data */
            status = hot_dwi_check_distinct(j->context, j->run.inputs.dwi, j->outputs.item[o].path);
        hot_context_set_parameter(j->context, status, j->outputs.item[o].name);
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

/* The responses of isotropic tissues, if given. */
static hot_status read_tissues(job *j)
{
    const struct { const char *path, *name; } others[] = {{given(j->values->gm_response), "gm_response"},
                                                          {given(j->values->csf_response), "csf_response"}};
    for (int t = 0; t < 2; t++) {
        if (!others[t].path)
            continue;
        if (strcmp(j->values->model, "msmt") != 0 || !j->run.learned.response)
            return hot_context_fail_parameter(j->context, HOT_ERROR_ARGUMENT, others[t].name,
                                              "it goes with the model msmt and the response of white matter");
        const hot_status status = hot_response_load(j->context, others[t].path,
                                                    &j->run.learned.tissues[j->run.learned.tissue_count]);
        if (status != HOT_OK)
            return hot_context_set_parameter(j->context, status, others[t].name);
        j->run.learned.tissue_count++;
    }
    j->run.inputs.fit.tissues = (const hot_response *const *)j->run.learned.tissues;
    j->run.inputs.fit.tissue_count = j->run.learned.tissue_count;
    return HOT_OK;
}

static hot_status read_inputs(job *j)
{
    const hot_module_values *v = j->values;
    hot_context *context = j->context;
    hot_status status = hot_dwi_load(context, v->dwi, j->run.inputs.options.bval, j->run.inputs.options.bvec,
                                     &j->run.inputs.dwi);
    hot_run_end_stage(&j->run, HOT_STAGE_READING);
    if (status != HOT_OK)
        return hot_context_set_parameter(context, status, "dwi");
    status = check_outputs(j);
    if (status == HOT_OK && !hot_dwi_has_b0(j->run.inputs.dwi) && strcmp(v->model, "fod") == 0)
        status = hot_context_fail_parameter(context, HOT_ERROR_DATA, "dwi",
                                            "'%s' has no b=0 volume (b of at most 50 s/mm^2)", v->dwi);
    const int highest = status == HOT_OK ? hot_dwi_highest_order(context, j->run.inputs.dwi, -1) : 0;
    if (highest < 0)
        return hot_context_cancelled(context) ? HOT_ERROR_CANCELLED : HOT_ERROR_MEMORY;
    if (status == HOT_OK && strcmp(v->order, "auto") != 0 && highest > 0 && atoi(v->order) > highest)
        status = hot_context_fail_parameter(context, HOT_ERROR_DATA, "order",
                                            "the directions of '%s' determine tensors of order %d at most, not %s",
                                            v->dwi, highest, v->order);
    if (status == HOT_OK && given(v->mask))
        status = hot_context_set_parameter(context, hot_mask_load(context, v->mask, hot_dwi_grid(j->run.inputs.dwi),
                                                          &j->run.learned.mask),
                                   "mask");
    if (status == HOT_OK && given(v->response))
        status = hot_context_set_parameter(context, hot_response_load(context, v->response, &j->run.learned.response),
                                   "response");
    return status == HOT_OK ? read_tissues(j) : status;
}

/* The value of a parameter that the user, or the host, has set to something else than its default. */
static int is_set(const job *j, const hot_module_parameter *p, const char **word, double numbers[2])
{
    const void *at = (const char *)j->values + p->offset;
    switch (p->kind) {
    case MODULE_INPUT:
        *word = given(*(const char *const *)at);
        return *word != NULL;
    case MODULE_CHOICE: case MODULE_WORD: /* hosts show the default as chosen */
        *word = *(const char *const *)at;
        return strcmp(*word, p->preset) != 0;
    case MODULE_INTEGER:
        numbers[0] = *(const int *)at;
        return numbers[0] > 0;
    case MODULE_NUMBER:
        numbers[0] = *(const double *)at;
        return numbers[0] >= 0;
    case MODULE_PAIR:
        memcpy(numbers, at, 2 * sizeof *numbers);
        return numbers[0] > 0 || numbers[1] > 0;
    case MODULE_SWITCH:
        return *(const int *)at;
    case MODULE_OUTPUT:
        break;
    }
    return 0;
}

static hot_status fill_options(job *j, hot_run_options *options)
{
    size_t count;
    const hot_module_parameter *parameters = hot_module_parameters(&count);
    const hot_run_row *row;
    j->fit.size = sizeof j->fit, j->peaks.size = sizeof j->peaks, j->signal.size = sizeof j->signal;
    *options = (hot_run_options){.size = sizeof *options, .input = j->values->dwi, .fit = &j->fit, .peaks = &j->peaks,
                                 .signal = &j->signal};
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; (row = hot_run_row_at(i)); i++) {
            const char *word = NULL;
            double numbers[2] = {0};
            if (row->help && strcmp(row->option, parameters[p].name) == 0 &&
                is_set(j, &parameters[p], &word, numbers) && !hot_run_option_set(options, row, word, numbers))
                return hot_context_fail_parameter(j->context, HOT_ERROR_ARGUMENT, row->option,
                                                  "'%s' is not adaptive, none or a number", word);
        }
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
    return exporter->write(j->context, j->run.results.fibers, path);
}

static hot_status write_outputs(job *j)
{
    static const char *const formats[][2] = {
        {"fibers", "vtp"}, {"dec", "dec"}, {"peaks", "peaks"}, {"nfibers", "nfibers"}};
    const char *names[MODULE_OUTPUTS], *path;
    hot_status status = HOT_OK;
    j->run.inputs.description = hot_run_describe_input(&j->run); /* for the report; the data are freed before writing */
    hot_dwi_destroy(&j->run.inputs.dwi);
    j->run.stage = HOT_STAGE_WRITING;
    for (size_t i = 0; i < 4 && status == HOT_OK; i++) {
        status = hot_context_progress(j->context, "writing", (double)i / 6);
        if (status == HOT_OK)
            status = hot_context_set_parameter(j->context, export_as(j, formats[i][0], formats[i][1]), formats[i][0]);
    }
    if (status == HOT_OK && (path = hot_module_outputs_file(&j->outputs, "tissues")))
        status = hot_context_set_parameter(j->context, hot_tensor_field_save_tissues(j->context,
                                                                                     j->run.results.tensors, path),
                                   "tissues");
    if (status == HOT_OK && (path = hot_module_outputs_file(&j->outputs, "tensors")))
        status = hot_context_set_parameter(j->context, hot_tensor_field_save(j->context, j->run.results.tensors, path),
                                   "tensors");
    for (size_t i = 0; i < j->outputs.count; i++)
        names[i] = j->outputs.item[i].path;
    if (status == HOT_OK && (path = hot_module_outputs_file(&j->outputs, "report")))
        status = hot_context_set_parameter(j->context, hot_run_save_report(&j->run, names, j->outputs.count, path),
                                   "report");
    if (status == HOT_OK)
        status = hot_context_check(j->context, "writing");
    return status == HOT_OK ? hot_module_outputs_commit(&j->outputs) : status;
}

static void describe(const job *j, char message[MODULE_MESSAGE])
{
    const hot_run_result *r = &j->run.results.counts;
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
        status = hot_run_compute_state(&j.run);
    if (status == HOT_ERROR_DEVICE)
        status = hot_context_set_parameter(j.context, status, "device");
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
