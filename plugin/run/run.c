/* The whole job: reads, fits, finds, writes. */
#define _DEFAULT_SOURCE
#include "run.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "core/memory.h"
#include "dwi/dwi_private.h"
#include "dwi/empty.h"
#include "dwi/summary.h"
#include "fibers/certainty.h"
#include "io/dwi_load.h"
#include "learned.h"
#include "model/model.h"
#include "outputs.h"
#include "parts.h"
#include "resume.h"
#include "view.h"

/* Voxels of a mask in which cones are found for the sake of pictures. They take fits from a GPU's memory, which in
 * large data costs more than all else; on a CPU it is 2 % (28 November 2026). */
enum { MAX_FADED = 400000 };

static int makes_folder(const hot_run_options *options) { return options->parts == 0 && !options->learn; }

/* Each of the names in a list with commas. */
static hot_status check_responses(const hot_run_state *run)
{
    hot_status status = HOT_OK;
    for (const char *at = run->inputs.options.response; at && status == HOT_OK;) {
        const size_t length = strcspn(at, ",");
        char *path = hot_context_alloc(run->context, length + 1, 1);
        if (!path)
            return HOT_ERROR_MEMORY;
        memcpy(path, at, length);
        path[length] = '\0';
        status = hot_folder_check_input(run->context, &run->folder, path);
        hot_context_free(run->context, path);
        at = at[length] ? at + length + 1 : NULL;
    }
    return status;
}

static hot_status check_inputs(const hot_run_state *run)
{
    const hot_run_inputs *in = &run->inputs;
    const char *const inputs[] = {in->options.input, in->options.bval, in->options.bvec, in->options.mask,
                                  in->options.response, in->options.learned};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        HOT_TRY(hot_folder_check_input(run->context, &run->folder, inputs[i]));
    }
    return check_responses(run);
}

/* The tensors, where something is made of them; else only whether they could be: an order that the data do not support
 * is refused with any outputs. */
static hot_status fit(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_learned *learned = &run->learned;
    hot_run_results *results = &run->results;
    hot_status status;
    in->fit.response = learned->response;
    if (in->options.learn || (in->without_tensors && in->method->find_in_signals)) {
        hot_plan *plan = NULL;
        status = hot_plan_make(run->context, in->dwi, &in->fit, learned->response, 1, &plan);
        hot_plan_free(&plan);
        return status;
    }
    status = hot_tensor_field_fit(run->context, in->denoised ? in->denoised : in->dwi, learned->mask, &in->fit,
                                  &results->tensors);
    if (status == HOT_OK)
        hot_tensor_field_counts(results->tensors, &results->counts.fitted, &results->counts.flagged);
    return status;
}

/* Called when all voxels before `end` have their fibres: frees their signals. */
static void forget_signals(void *user, size_t end)
{
    const hot_run_state *run = user;
    hot_dwi_release_pages(run->inputs.dwi, end);
}

static hot_status find_in_signals(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_results *results = &run->results;
    hot_run_learned *learned = &run->learned;
    hot_signal_maps *maps = &results->maps;
    in->signal.keep_maps = !in->without_maps || run->share;
    run->slabs.fades = in->signal.keep_maps && !run->slabs.only_learn && learned->mask->inside <= MAX_FADED;
    run->slabs.only_probability = !in->borrowed && !run->share; /* files have no others */
    in->signal.part = &run->slabs;
    run->slabs.denoised = in->denoised;
    if (!in->borrowed && !in->denoised && in->dwi->summary && !(hot_run_outputs_use(in->outputs) & HOT_USES_SIGNALS))
        run->slabs.used = forget_signals;
    HOT_TRY(learned->file ? hot_run_load_signal(run) : HOT_OK);
    HOT_TRY(in->method->find_in_signals(run->context, in->dwi, learned->mask, learned->response, &in->signal, maps,
                                        &results->fibers));
    if (maps->sigma > 0) { /* estimated better than from the b=0 images alone, or given: one noise, one SNR */
        learned->snr *= learned->sigma / maps->sigma;
        learned->sigma = maps->sigma;
    }
    results->counts.flagged = maps->flagged; /* the signal method's, not the tensors' */
    if (!results->tensors)
        results->counts.fitted = results->counts.voxels - maps->flagged;
    return HOT_OK;
}

static hot_status find_in_tensors(hot_run_state *run)
{
    hot_run_results *results = &run->results;
    const hot_run_result *counts = &results->counts;
    if (counts->flagged > 0)
        hot_context_log(run->context, HOT_LOG_NOTE,
                        "%zu of %zu voxels are not usable and have no fibre (NaN, or b=0 signal not above 0)",
                        counts->flagged, counts->voxels);
    if (run->slabs.load || run->slabs.save)
        return hot_run_find_in_slabs(run);
    return hot_fiber_field_find(run->context, results->tensors, &run->inputs.peaks, &results->fibers);
}

/* A method on signals also runs where it only learns from them. */
static hot_status find(hot_run_state *run)
{
    HOT_TRY(hot_run_part_choose(run));
    run->slabs = (hot_signal_part){.where = run->share, .learned = &run->learned.signal,
                                   .only_learn = run->inputs.options.learn != NULL, .user = run};
    hot_run_part_hook(run);
    hot_run_resume_hook(run);
    hot_run_view_hook(run);
    return run->inputs.method->find_in_signals ? find_in_signals(run)
           : run->slabs.only_learn             ? HOT_OK
                                               : find_in_tensors(run);
}

/* The certainty of each fibre by probabilities and cones; uncertain fibres are left out. */
static hot_status judge_fibers(hot_run_state *run)
{
    const hot_run_options *options = &run->inputs.options;
    hot_run_results *results = &run->results;
    hot_status status = results->maps.probability
        ? hot_fiber_field_judge(run->context, results->fibers, &results->maps) : HOT_OK;
    if (status == HOT_OK && (hot_run_outputs_use(run->inputs.outputs) & HOT_USES_DOUBT))
        status = hot_fiber_field_keep_doubt(results->fibers, &results->maps);
    if (status == HOT_OK)
        hot_fiber_field_filter(run->context, results->fibers, &results->maps, options->min_probability,
                               options->max_cone);
    if (!options->signal->keep_cones) { /* those were for the certainty alone */
        hot_context_free(run->context, results->maps.cone);
        results->maps.cone = NULL;
    }
    return status;
}

static void count_fibers(hot_run_state *run)
{
    hot_run_results *results = &run->results;
    const uint8_t *found = hot_fiber_field_counts(results->fibers);
    const uint8_t *inside = hot_mask_bytes(run->share ? run->share : run->learned.mask);
    const size_t voxels = hot_grid_voxels(hot_fiber_field_grid(results->fibers));
    size_t counts[5] = {0};
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(run->context))) reduction(+ : counts)
    for (size_t voxel = 0; voxel < voxels; voxel++)
        if (inside[voxel])
            counts[found[voxel] < 4 ? found[voxel] : 4]++;
    memcpy(results->counts.fibers, counts, sizeof counts);
}

/* While the GPU's driver starts, its threads displace ours, and a loop with a thread on every processor waits for the
 * displaced ones (docs/decisions/022-run-on-gpu.md). */
static void reserve_driver_threads(hot_run_state *run)
{
    enum { LEFT = 3, OF = 5 };
    const int all = hot_context_threads(run->context), left = all / OF < LEFT ? all / OF : LEFT;
    if (left > 0 && all >= omp_get_num_procs() && hot_backend_starting(run->context)) {
        run->threads = all;
        hot_context_set_threads(run->context, all - left);
    }
}

static void restore_threads(hot_run_state *run)
{
    if (run->threads > 0)
        hot_context_set_threads(run->context, run->threads);
    run->threads = 0;
}

/* A borrowed data set is not changed. */
static hot_status drop_empty(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_dwi *rest = NULL;
    in->volumes = hot_dwi_volumes(in->dwi);
    if (!in->borrowed)
        return hot_dwi_drop_empty(run->context, in->dwi);
    hot_status status = hot_dwi_without_empty(run->context, in->dwi, &rest);
    if (rest) {
        in->dwi = rest;
        in->borrowed = 0;
    }
    return status;
}

static hot_status check_data(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_job job = {.context = run->context, .options = in->options, .dwi = in->dwi,
                       .mask = run->learned.mask, .volumes = in->volumes};
    const hot_status status = hot_run_check_data(&job);
    run->learned.gradients = job.gradients;
    return status;
}

static void warn(const hot_run_state *run)
{
    hot_run_warn(&(hot_run_job){.context = run->context, .gradients = run->learned.gradients});
}

hot_status hot_run_compute_state(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_status status;
    if ((status = hot_run_sum_data(run)) != HOT_OK || (status = drop_empty(run)) != HOT_OK)
        return status;
    if (in->options.denoise) {
        if ((status = hot_run_denoise(run)) != HOT_OK)
            return status;
        hot_run_end_stage(run, HOT_STAGE_DENOISING);
    }
    if (!run->learned.file || !in->options.parts) /* a part does not use it */
        status = hot_run_summarize(run);
    if (status != HOT_OK ||
        (status = hot_run_learned_step(run, "mask", hot_run_make_mask, hot_run_load_mask)) != HOT_OK ||
        (status = hot_run_learned_step(run, "gradients", check_data, hot_run_load_gradients)) != HOT_OK)
        return status;
    hot_run_end_stage(run, HOT_STAGE_MASK);
    if ((status = hot_run_choose_order(run)) != HOT_OK || (status = hot_run_learned_check(run)) != HOT_OK ||
        (status = hot_run_restrict(run)) != HOT_OK)
        return status;
    hot_run_view_begin(run);
    status = hot_run_learned_step(run, "response", hot_run_make_response, hot_run_load_response);
    if (status != HOT_OK)
        return status;
    hot_run_follow_response(run);
    hot_memory_trim();
    restore_threads(run);
    hot_run_end_stage(run, HOT_STAGE_RESPONSE);

    if ((status = fit(run)) != HOT_OK)
        return status;
    if (makes_folder(&in->options) && !in->borrowed && (status = hot_run_judge_tissues(run)) != HOT_OK)
        return status;
    hot_run_end_stage(run, HOT_STAGE_FITTING);

    if ((status = find(run)) != HOT_OK || in->options.learn)
        return status;
    if (!in->options.parts && (status = judge_fibers(run)) != HOT_OK)
        return status;
    hot_run_view_results(run);
    count_fibers(run);
    hot_run_end_stage(run, HOT_STAGE_FINDING);
    run->results.counts.seconds = hot_run_now() - run->began;
    return HOT_OK;
}

void hot_run_free(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_learned *learned = &run->learned;
    hot_run_results *results = &run->results;
    hot_run_view_end(run);
    hot_folder_discard(run->context, &run->folder);
    hot_run_part_free(run);
    cJSON_Delete(in->description);
    cJSON_Delete(run->log);
    cJSON_Delete(learned->gradients);
    cJSON_Delete(learned->file);
    cJSON_Delete(learned->said);
    in->description = run->log = learned->gradients = learned->file = learned->said = NULL;
    hot_signal_learned_free(run->context, &learned->signal);
    hot_run_resume_free(run);
    hot_context_free(run->context, results->background);
    results->background = NULL;
    hot_context_free(run->context, learned->noise);
    learned->noise = NULL;
    hot_run_tissues_free(run->context, &results->tissues);
    hot_signal_maps_free(&results->maps);
    hot_fiber_field_destroy(&results->fibers);
    hot_fiber_field_destroy(&results->peaks_fod);
    hot_tensor_field_destroy(&results->tensors);
    hot_tensor_field_destroy(&results->diffusion_tensors);
    hot_response_destroy(&learned->response);
    for (size_t t = 0; t < learned->tissue_count; t++)
        hot_response_destroy(&learned->tissues[t]);
    hot_mask_destroy(&learned->mask);
    hot_dwi_destroy(&in->denoised);
    if (in->dwi == &in->view)
        hot_dwi_summary_free(&in->view.summary);
    if (in->borrowed)
        in->dwi = NULL;
    hot_dwi_destroy(&in->dwi);
}

/* Keeps the messages for the report. */
static void hear(void *user, hot_log_level level, const char *line)
{
    hot_run_state *run = user;
    cJSON *said = cJSON_CreateObject();
    if (cJSON_AddStringToObject(said, "level", level == HOT_LOG_WARNING ? "warning" : "note") &&
        cJSON_AddStringToObject(said, "text", line) && cJSON_AddItemToArray(run->log, said))
        return;
    cJSON_Delete(said);
    run->log_lost = 1;
}

/* Makes report.html from the files of the folder. */
static hot_status write_page(hot_run_state *run)
{
    char *path = hot_folder_file(run->context, &run->folder, "report.html");
    hot_status status = path ? hot_run_report(run->context, run->folder.temporary, NULL, path) : HOT_ERROR_MEMORY;
    hot_context_free(run->context, path);
    return status;
}

/* All that is refused before anything is read, and the folder. */
static hot_status begin(hot_run_state *run, const hot_run_options *options)
{
    hot_run_inputs *inputs = &run->inputs;
    hot_run_options *mine = &inputs->options;
    hot_status status = hot_run_take_options(run, options);
    if (status == HOT_OK)
        status = hot_run_outputs_choose(run->context, mine, inputs->method, &inputs->outputs);
    if (status == HOT_OK)
        status = hot_run_parts_check(run->context, mine);
    const unsigned used = hot_run_outputs_use(inputs->outputs);
    inputs->without_tensors = !makes_folder(mine) || !(used & HOT_USES_TENSORS);
    inputs->without_maps = !(used & HOT_USES_MAPS) && !(mine->min_probability > 0);
    inputs->signal.keep_cones |= (used & HOT_USES_CONES) != 0;
    if (status == HOT_OK && !mine->input)
        status = hot_context_fail(run->context, HOT_ERROR_ARGUMENT, "a run needs an input");
    if (status == HOT_OK)
        status = hot_run_resume_begin(run);
    if (status == HOT_OK)
        status = hot_run_learned_open(run);
    if (status == HOT_OK && makes_folder(mine))
        status = hot_folder_begin(run->context, mine->output, mine->force, &run->folder);
    return status == HOT_OK ? check_inputs(run) : status;
}

static hot_status read_data(hot_run_state *run)
{
    const hot_run_options *o = &run->inputs.options;
    hot_status status = hot_dwi_load_within(run->context, o->input, o->bval, o->bvec, o->memory,
                                            o->learn ? o->learn : o->output, &run->inputs.dwi);
    const hot_dwi *dwi = run->inputs.dwi;
    for (size_t i = 0; status == HOT_OK && i < dwi->input_count; i++) /* a detached header draws in its data */
        status = hot_folder_check_input(run->context, &run->folder, dwi->inputs[i]);
    hot_run_end_stage(run, HOT_STAGE_READING);
    return status;
}

/* Signal and msmt have different strengths; users of one should know of the other. */
static void name_msmt(const hot_run_state *run)
{
    const hot_run_inputs *in = &run->inputs;
    if (in->method->find_in_signals && hot_dwi_shells(in->dwi, NULL, NULL) > 2) /* of which one is b=0 */
        hot_context_log(run->context, HOT_LOG_NOTE, "several shells: --model msmt also gives amounts of tissues, and "
                        "more three-way crossings; where the number of fibres matters, run both (hotfiber score "
                        "compares them)");
}

/* The outputs and the report, and the folder appears. */
static hot_status write_folder(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_status status = hot_run_outputs_prepare(run);
    if (status != HOT_OK)
        return status;
    hot_run_end_stage(run, HOT_STAGE_MAPS);
    name_msmt(run);
    hot_run_log_tissues(run);
    /* Once they are described the data are freed: writing needs memory, too. */
    in->description = hot_run_describe_input(run);
    hot_dwi_destroy(&in->denoised);
    hot_dwi_destroy(&in->dwi);
    if ((status = hot_run_outputs_write(run)) != HOT_OK)
        return status;
    hot_run_end_stage(run, HOT_STAGE_WRITING);
    warn(run);
    status = hot_run_write_report(run);
    if (status == HOT_OK && in->options.report)
        status = write_page(run);
    if (status == HOT_OK)
        status = hot_run_resume_complete(run);
    if (status == HOT_OK)
        status = hot_folder_commit(run->context, &run->folder);
    if (status == HOT_OK)
        hot_run_resume_remove(run);
    return status;
}

hot_status hot_run(hot_context *context, const hot_run_options *options, hot_run_result *result)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    hot_run_state run = {.context = context, .log = cJSON_CreateArray()};
    hot_context_add_log_sink(context, hear, &run);
    hot_status status = begin(&run, options);
    const int prepared = status == HOT_OK;
    const hot_run_options *mine = &run.inputs.options;
    if (prepared) {
        hot_backend_init_async(context); /* while the CPU reads and makes the mask */
        reserve_driver_threads(&run);
        status = read_data(&run);
    }
    if (status == HOT_OK)
        status = hot_run_compute_state(&run);
    if (status == HOT_OK && mine->learn) {
        warn(&run);
        status = hot_run_learned_save(&run, mine->learn);
    } else if (status == HOT_OK) {
        status = mine->parts ? hot_run_part_save(&run) : write_folder(&run);
    }
    if (status == HOT_OK && result)
        *result = run.results.counts;
    restore_threads(&run);
    hot_context_add_log_sink(context, NULL, NULL);
    hot_run_free(&run);
    if (prepared)
        hot_backend_init_wait(context);
    return status;
}

hot_status hot_run_compute(hot_context *context, const hot_dwi *dwi, const hot_run_options *options,
                           hot_run_fields *fields, hot_run_result *result)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, fields);
    const hot_run_options none = {.size = sizeof none};
    hot_run_state run = {.context = context};
    if (!dwi || !fields)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "hot_run_compute: no data, or no place for the fields");
    memset(fields, 0, sizeof *fields);
    hot_status status = hot_run_take_options(&run, options ? options : &none);
    run.inputs.dwi = (hot_dwi *)(uintptr_t)dwi; /* read only, and taken out again below */
    run.inputs.borrowed = 1;
    if (status == HOT_OK)
        status = hot_run_learned_open(&run);
    if (status == HOT_OK)
        status = hot_run_compute_state(&run);
    if (status == HOT_OK) {
        warn(&run);
        *fields = (hot_run_fields){run.learned.mask, run.learned.response, run.results.tensors, run.results.fibers,
                                   run.results.maps};
        run.learned.mask = NULL, run.learned.response = NULL, run.results.tensors = NULL, run.results.fibers = NULL;
        memset(&run.results.maps, 0, sizeof run.results.maps);
        if (result)
            *result = run.results.counts;
    }
    hot_run_free(&run);
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
