/* The whole job: reads, fits, finds, writes. */
#define _DEFAULT_SOURCE
#include "run.h"

#include <math.h>
#include <omp.h>
#include <string.h>
#include <time.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "core/memory.h"
#include "dwi/denoise_shape.h"
#include "dwi/dwi_private.h"
#include "dwi/empty.h"
#include "dwi/summary.h"
#include "io/dwi_load.h"
#include "learned.h"
#include "model/model.h"
#include "outputs.h"
#include "parts.h"
#include "resume.h"

double hot_run_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Ends the stage that ran until now. */
static void end_stage(hot_run_job *job, const char *name)
{
    double now = hot_run_now();
    if (job->stages < HOT_RUN_STAGES) {
        job->stage[job->stages].name = name;
        job->stage[job->stages++].seconds = now - job->stage_began;
    }
    job->stage_began = now;
}

/* Each of the names in a list with commas. */
static hot_status check_responses(const hot_run_job *job)
{
    hot_status status = HOT_OK;
    for (const char *at = job->options.response; at && status == HOT_OK;) {
        const size_t length = strcspn(at, ",");
        char *path = hot_context_alloc(job->context, length + 1, 1);
        if (!path)
            return HOT_ERROR_MEMORY;
        memcpy(path, at, length);
        path[length] = '\0';
        status = hot_folder_check_input(job->context, &job->folder, path);
        hot_context_free(job->context, path);
        at = at[length] ? at + length + 1 : NULL;
    }
    return status;
}

static hot_status check_inputs(const hot_run_job *job)
{
    const char *const inputs[] = {job->options.input, job->options.bval, job->options.bvec, job->options.mask,
                                  job->options.response, job->options.learned};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        hot_status status = hot_folder_check_input(job->context, &job->folder, inputs[i]);
        if (status != HOT_OK)
            return status;
    }
    return check_responses(job);
}

/* The mean of a noise map where it is known; where it is not, the map gets it. NaN when it is known nowhere. */
static double complete_noise(float *noise, size_t voxels)
{
    double sum = 0;
    size_t known = 0;
    for (size_t v = 0; v < voxels; v++)
        if (noise[v] > 0) {
            sum += noise[v];
            known++;
        }
    const double mean = known ? sum / (double)known : NAN;
    for (size_t v = 0; v < voxels; v++)
        if (!(noise[v] > 0))
            noise[v] = (float)mean;
    return mean;
}

/* If denoising removes shape in more of the voxels than this share, data are used as they are. */
static const double mostly = 0.5;

/* Denoises the data; the map of the noise is one more file. The number of fibres is still chosen with this noise: what
 * remains of it lies in the subspace of the signals, where fibres are distinguished, and hardly shows in the spread of
 * the denoised b=0 volumes. */
static hot_status denoise(hot_run_job *job)
{
    const size_t voxels = hot_grid_voxels(hot_dwi_grid(job->dwi));
    double usual = NAN;
    hot_dwi *denoised = NULL;
    job->noise = hot_context_alloc(job->context, voxels, sizeof *job->noise);
    hot_status status = job->noise ? hot_dwi_denoise(job->context, job->dwi, NULL, NULL, &denoised, job->noise)
                                   : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_dwi_restore_shape(job->context, job->dwi, denoised, &job->restored);
    if (status == HOT_OK)
        usual = complete_noise(job->noise, voxels);
    if (status != HOT_OK || job->restored > mostly) {
        hot_dwi_destroy(&denoised);
        if (status == HOT_OK)
            hot_context_log(job->context, HOT_LOG_WARNING,
                            "not denoised: neighbours have too little in common; in %.0f %% of the voxels more than "
                            "noise would be taken out of the signals", 100 * job->restored);
        return status;
    }
    if (!job->borrowed)
        hot_dwi_destroy(&job->dwi);
    job->borrowed = 0;
    job->dwi = denoised;
    job->sigma = usual;
    job->signal.denoised = 1;
    if (job->sigma > 0 && !(job->signal.sigma > 0) && !job->signal.sigma_map)
        job->signal.sigma_map = job->noise;
    return HOT_OK;
}

/* Mask, noise and picture come from one pass over the data. A borrowed data set is not written to: the summary goes
 * to a view of it, which shares its arrays. */
static hot_status summarize(hot_run_job *job)
{
    if (job->borrowed && !job->dwi->summary) {
        job->view = *job->dwi;
        job->dwi = &job->view;
    }
    return hot_dwi_keep_summary(job->context, job->dwi);
}

static hot_status make_mask(hot_run_job *job)
{
    const hot_mask *given = job->options.mask_in_memory;
    hot_status status = HOT_OK;
    job->mask_from = job->options.mask ? job->options.mask : job->mask || given ? "given" : "estimated";
    if (job->mask)
        status = HOT_OK; /* read before */
    else if (given)
        status = hot_mask_copy(job->context, given, hot_dwi_grid(job->dwi), &job->mask);
    else if (job->options.mask)
        status = hot_mask_load(job->context, job->options.mask, hot_dwi_grid(job->dwi), &job->mask);
    else
        status = hot_mask_estimate(job->context, job->dwi, &job->mask);
    if (status != HOT_OK)
        return status;
    if (!job->borrowed || job->dwi == &job->view) /* else it is not ours */
        hot_dwi_summary_masked(job->dwi->summary);
    job->result.voxels = hot_mask_count(job->mask);
    if (job->result.voxels == 0)
        return hot_context_fail(job->context, HOT_ERROR_DATA, "the mask (%s) is empty: there is nothing to compute",
                                job->mask_from);
    if ((status = hot_dwi_tell_empty_slices(job->context, job->dwi, job->mask)) != HOT_OK)
        return status;
    const double before = job->sigma;
    size_t repeats;
    status = hot_dwi_noise(job->context, job->dwi, job->mask, &job->sigma, &job->snr, &repeats);
    if (before > 0) { /* known from denoising: that of the data as they came */
        job->snr *= job->sigma / before;
        job->sigma = before;
    }
    return status;
}

/* Responses of several tissues become the job's: white matter's is the response. */
static hot_status take_tissues(hot_run_job *job, hot_response **all, size_t count)
{
    job->response = all[0];
    job->tissue_count = count - 1;
    memcpy(job->tissues, all + 1, job->tissue_count * sizeof *all);
    job->fit.tissues = (const hot_response *const *)job->tissues;
    job->fit.tissue_count = job->tissue_count;
    return HOT_OK;
}

static hot_status load_tissues(hot_run_job *job)
{
    hot_response *all[HOT_TISSUES_MAX];
    size_t count;
    hot_status status = hot_response_load_tissues(job->context, job->options.response, all, &count);
    if (status != HOT_OK)
        return status;
    take_tissues(job, all, count);
    job->response_from = job->options.response;
    return hot_response_check(job->context, job->response, NULL);
}

static hot_status make_response(hot_run_job *job)
{
    const hot_run_options *options = &job->options;
    const hot_model *model = hot_model_find(options->fit->model);
    if (!model || !model->needs_response) /* a name that is none's is refused by the fit */
        return HOT_OK;
    if (options->response && !job->response && strcmp(options->fit->model, "msmt") == 0)
        return load_tissues(job);
    const int lmax = 0; /* what the data and the order need is known to the response's makers */
    if (options->response || options->fit->response || job->response) {
        job->response_from = options->response ? options->response : "given";
        hot_status status = HOT_OK;
        if (!job->response) /* else it was read before */
            status = options->fit->response ? hot_response_copy(job->context, options->fit->response, &job->response)
                                           : hot_response_load(job->context, options->response, &job->response);
        return status == HOT_OK ? hot_response_check(job->context, job->response, NULL) : status;
    }
    if (options->axial_diffusivity > 0) {
        job->response_from = "diffusivities";
        return hot_response_tensor(job->context, job->dwi, options->axial_diffusivity, options->radial_diffusivity, 1,
                                   lmax, &job->response);
    }
    job->response_from = "estimated";
    if (hot_response_wants_tissues(model, job->dwi)) {
        hot_response *all[3];
        size_t voxels[3];
        hot_status status = hot_response_estimate_tissues(job->context, job->dwi, job->mask, lmax, 0, all, voxels);
        return status == HOT_OK ? take_tissues(job, all, 3) : status;
    }
    return hot_response_estimate(job->context, job->dwi, job->mask, lmax, &job->response, &job->response_voxels);
}

/* The tensors, where something is made of them; else only whether they could be: an order that the data do not support
 * is refused with any outputs. */
static hot_status fit(hot_run_job *job)
{
    hot_status status;
    job->fit.response = job->response;
    if (job->options.learn || (job->without_tensors && job->method->find_in_signals)) {
        hot_plan *plan = NULL;
        status = hot_plan_make(job->context, job->dwi, &job->fit, job->response, 1, &plan);
        hot_plan_free(&plan);
        return status;
    }
    status = hot_tensor_field_fit(job->context, job->dwi, job->mask, &job->fit, &job->tensors);
    if (status == HOT_OK)
        hot_tensor_field_counts(job->tensors, &job->result.fitted, &job->result.flagged);
    return status;
}

/* Voxels before `end` have their fibres: room for those of others. */
static void forget_signals(void *user, size_t end)
{
    const hot_run_job *job = user;
    hot_dwi_forget(job->dwi, end);
}

static hot_status find_in_signals(hot_run_job *job)
{
    hot_signal_maps *maps = &job->maps;
    job->signal.keep_maps = !job->without_maps || job->share;
    hot_run_part_hook(job);
    if (!job->borrowed && job->dwi->summary && hot_run_outputs_spare_signals(job->outputs))
        job->part.used = forget_signals;
    hot_status status = job->learned ? hot_run_learned_signal(job) : HOT_OK;
    if (status == HOT_OK)
        status = job->method->find_in_signals(job->context, job->dwi, job->mask, job->response,
                                                     &job->signal, maps, &job->fibers);
    if (status == HOT_OK && maps->sigma > 0) { /* estimated better than from the b=0 images alone, or given */
        job->snr *= job->sigma / maps->sigma;  /* one noise, one SNR */
        job->sigma = maps->sigma;
    }
    if (status != HOT_OK)
        return status;
    job->result.flagged = maps->flagged; /* what it has just said: the fibres are what a user asks for */
    if (!job->tensors)
        job->result.fitted = job->result.voxels - maps->flagged;
    return HOT_OK;
}

static hot_status find(hot_run_job *job)
{
    if (job->method->find_in_signals)
        return find_in_signals(job); /* which reports itself how many voxels it could not use */
    if (job->result.flagged > 0)
        hot_context_log(job->context, HOT_LOG_NOTE,
                        "%zu of %zu voxels are not usable and have no fibre (NaN, or b=0 signal not above 0)",
                        job->result.flagged, job->result.voxels);
    if (job->options.merge)
        return hot_run_parts_recall_fibers(job);
    if (job->resume)
        return hot_run_resume_find(job);
    job->peaks.mask = job->share;
    hot_status status = hot_fiber_field_find(job->context, job->tensors, &job->peaks, &job->fibers);
    return status == HOT_OK && job->share ? hot_run_part_keep_fibers(job) : status;
}

static void count_fibers(hot_run_job *job)
{
    const uint8_t *found = hot_fiber_field_counts(job->fibers);
    const uint8_t *inside = hot_mask_bytes(job->share ? job->share : job->mask);
    const size_t voxels = hot_grid_voxels(hot_fiber_field_grid(job->fibers));
    size_t counts[5] = {0};
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(job->context))) reduction(+ : counts)
    for (size_t voxel = 0; voxel < voxels; voxel++)
        if (inside[voxel])
            counts[found[voxel] < 4 ? found[voxel] : 4]++;
    memcpy(job->result.fibers, counts, sizeof counts);
}

/* While the driver of the GPU starts it has threads of its own; loops with one on every processor wait for those that
 * are displaced (docs/decisions/022-run-on-gpu.md). */
static void leave_processors(hot_run_job *job)
{
    enum { LEFT = 3, OF = 5 };
    const int all = hot_context_threads(job->context), left = all / OF < LEFT ? all / OF : LEFT;
    if (left > 0 && all >= omp_get_num_procs() && hot_backend_starting(job->context)) {
        job->threads = all;
        hot_context_set_threads(job->context, all - left);
    }
}

static void take_processors(hot_run_job *job)
{
    if (job->threads > 0)
        hot_context_set_threads(job->context, job->threads);
    job->threads = 0;
}

/* A borrowed data set is not changed. */
static hot_status drop_empty(hot_run_job *job)
{
    hot_dwi *rest = NULL;
    job->volumes = hot_dwi_volumes(job->dwi);
    if (!job->borrowed)
        return hot_dwi_drop_empty(job->context, job->dwi);
    hot_status status = hot_dwi_without_empty(job->context, job->dwi, &rest);
    if (rest) {
        job->dwi = rest;
        job->borrowed = 0;
    }
    return status;
}

hot_status hot_run_compute_job(hot_run_job *job)
{
    hot_status status;
    if ((status = hot_run_sum_data(job)) != HOT_OK || (status = drop_empty(job)) != HOT_OK)
        return status;
    if (job->options.denoise) {
        if ((status = denoise(job)) != HOT_OK)
            return status;
        end_stage(job, "denoising");
    }
    if (!job->learned || !job->options.parts) /* a part makes nothing of it */
        status = summarize(job);
    if (status != HOT_OK ||
        (status = hot_run_learned_step(job, "mask", make_mask, hot_run_learned_mask)) != HOT_OK ||
        (status = hot_run_learned_step(job, "gradients", hot_run_check_data, hot_run_learned_gradients)) != HOT_OK)
        return status;
    end_stage(job, "mask");

    if ((status = hot_run_choose_order(job)) != HOT_OK || (status = hot_run_learned_check(job)) != HOT_OK ||
        (status = hot_run_learned_step(job, "response", make_response, hot_run_learned_response)) != HOT_OK)
        return status;
    hot_run_follow_response(job);
    hot_memory_trim();
    take_processors(job);
    end_stage(job, "response");

    if ((status = fit(job)) != HOT_OK)
        return status;
    end_stage(job, "fitting");

    if ((status = hot_run_part_choose(job)) != HOT_OK)
        return status;
    if (job->options.learn)
        return job->method->find_in_signals ? find_in_signals(job) : HOT_OK;
    if ((status = find(job)) != HOT_OK)
        return status;
    if (job->options.merge && (status = hot_run_parts_compare(job)) != HOT_OK)
        return status;
    count_fibers(job);
    end_stage(job, "finding");
    job->result.seconds = hot_run_now() - job->began;
    return HOT_OK;
}

void hot_run_free(hot_run_job *job)
{
    hot_folder_discard(job->context, &job->folder);
    hot_run_part_free(job);
    cJSON_Delete(job->input);
    cJSON_Delete(job->log);
    cJSON_Delete(job->gradients);
    cJSON_Delete(job->learned);
    cJSON_Delete(job->said);
    job->input = job->log = job->gradients = job->learned = job->said = NULL;
    hot_signal_learned_free(job->context, &job->signal_learned);
    hot_run_resume_free(job);
    hot_context_free(job->context, job->background);
    job->background = NULL;
    hot_context_free(job->context, job->noise);
    job->noise = NULL;
    hot_signal_maps_free(&job->maps);
    hot_fiber_field_destroy(&job->fibers);
    hot_fiber_field_destroy(&job->peaks_fod);
    hot_tensor_field_destroy(&job->tensors);
    hot_tensor_field_destroy(&job->diffusion_tensors);
    hot_response_destroy(&job->response);
    for (size_t t = 0; t < job->tissue_count; t++)
        hot_response_destroy(&job->tissues[t]);
    hot_mask_destroy(&job->mask);
    if (job->dwi == &job->view)
        hot_dwi_summary_free(&job->view.summary);
    if (job->borrowed)
        job->dwi = NULL;
    hot_dwi_destroy(&job->dwi);
}

/* Keeps what is said for the report. */
static void hear(void *user, hot_log_level level, const char *line)
{
    hot_run_job *job = user;
    cJSON *said = cJSON_CreateObject();
    if (cJSON_AddStringToObject(said, "level", level == HOT_LOG_WARNING ? "warning" : "note") &&
        cJSON_AddStringToObject(said, "text", line) && cJSON_AddItemToArray(job->log, said))
        return;
    cJSON_Delete(said);
    job->unheard = 1;
}

/* report.html into the folder, from what is in it. */
static hot_status write_page(hot_run_job *job)
{
    char *path = hot_folder_file(job->context, &job->folder, "report.html");
    hot_status status = path ? hot_run_report(job->context, job->folder.temporary, NULL, path) : HOT_ERROR_MEMORY;
    hot_context_free(job->context, path);
    return status;
}

hot_status hot_run(hot_context *context, const hot_run_options *options, hot_run_result *result)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    hot_run_job job = {.context = context, .log = cJSON_CreateArray()};
    hot_context_listen(context, hear, &job);
    hot_status status = hot_run_take_options(&job, options);
    if (status == HOT_OK)
        status = hot_run_outputs_choose(context, &job.options, job.method, &job.outputs);
    if (status == HOT_OK)
        status = hot_run_parts_check(context, &job.options);
    const int is_part = job.options.parts > 0, is_folder = !is_part && !job.options.learn;
    job.without_tensors = !is_folder || hot_run_outputs_spare_tensors(job.outputs);
    job.without_maps = hot_run_outputs_spare_maps(job.outputs);
    job.signal.keep_cones |= hot_run_outputs_want_cones(job.outputs);
    if (status == HOT_OK && !job.options.input)
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "a run needs an input");
    if (status == HOT_OK)
        status = hot_run_resume_begin(&job);
    if (status == HOT_OK)
        status = hot_run_learned_open(&job);
    if (status == HOT_OK && is_folder)
        status = hot_folder_begin(context, job.options.output, job.options.force, &job.folder);
    if (status == HOT_OK)
        status = check_inputs(&job);
    const int prepared = status == HOT_OK;
    if (prepared) {
        hot_backend_prepare(context); /* while the CPU reads and makes the mask */
        leave_processors(&job);
        status = hot_dwi_load_within(context, job.options.input, job.options.bval, job.options.bvec,
                                     job.options.memory, job.options.learn ? job.options.learn : job.options.output,
                                     &job.dwi);
    }
    if (status != HOT_OK)
        goto cleanup;
    for (size_t i = 0; i < job.dwi->input_count && status == HOT_OK; i++) /* a detached header draws in its data */
        status = hot_folder_check_input(context, &job.folder, job.dwi->inputs[i]);
    if (status != HOT_OK)
        goto cleanup;
    end_stage(&job, "reading");
    if ((status = hot_run_compute_job(&job)) != HOT_OK)
        goto cleanup;
    if (!is_folder) {
        if (!is_part)
            hot_run_warn(&job);
        status = is_part ? hot_run_part_save(&job) : hot_run_learned_save(&job, job.options.learn);
        if (status == HOT_OK && result)
            *result = job.result;
        goto cleanup;
    }
    if ((status = hot_run_outputs_prepare(&job)) != HOT_OK)
        goto cleanup;
    end_stage(&job, "maps");

    /* Once they are described the data are freed: writing needs memory, too. */
    job.input = hot_run_describe_input(&job);
    hot_dwi_destroy(&job.dwi);
    if ((status = hot_run_outputs_write(&job)) != HOT_OK)
        goto cleanup;
    end_stage(&job, "writing");
    hot_run_warn(&job);
    status = hot_run_write_report(&job);
    if (status == HOT_OK && job.options.report)
        status = write_page(&job);
    if (status == HOT_OK)
        status = hot_run_resume_complete(&job);
    if (status == HOT_OK)
        status = hot_folder_commit(context, &job.folder);
    if (status == HOT_OK)
        hot_run_resume_remove(&job);
    if (status == HOT_OK && result)
        *result = job.result;
cleanup:
    take_processors(&job);
    hot_context_listen(context, NULL, NULL);
    hot_run_free(&job);
    if (prepared)
        hot_backend_prepared(context);
    return status;
}

hot_status hot_run_compute(hot_context *context, const hot_dwi *dwi, const hot_run_options *options,
                           hot_run_fields *fields, hot_run_result *result)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, fields);
    const hot_run_options none = {.size = sizeof none};
    hot_run_job job = {.context = context};
    if (!dwi || !fields)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "hot_run_compute: no data, or no place for the fields");
    memset(fields, 0, sizeof *fields);
    hot_status status = hot_run_take_options(&job, options ? options : &none);
    job.dwi = (hot_dwi *)(uintptr_t)dwi; /* read only, and taken out again below */
    job.borrowed = 1;
    if (status == HOT_OK)
        status = hot_run_learned_open(&job);
    if (status == HOT_OK)
        status = hot_run_compute_job(&job);
    if (status == HOT_OK) {
        hot_run_warn(&job);
        *fields = (hot_run_fields){job.mask, job.response, job.tensors, job.fibers, job.maps};
        job.mask = NULL, job.response = NULL, job.tensors = NULL, job.fibers = NULL;
        memset(&job.maps, 0, sizeof job.maps);
        if (result)
            *result = job.result;
    }
    hot_run_free(&job);
    return status;
}

void hot_run_fields_free(hot_run_fields *fields)
{
    if (!fields)
        return;
    hot_mask_destroy(&fields->mask);
    hot_response_destroy(&fields->response);
    hot_tensor_field_destroy(&fields->tensors);
    hot_fiber_field_destroy(&fields->fibers);
    hot_signal_maps_free(&fields->maps);
}
