/* report.json: what went in, how it was done, what came out. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/memory.h"
#include "core/fingerprint.h"
#include "dwi/gather.h"
#include "io/libraries.h"
#include "learned.h"
#include "option_table.h"

double hot_run_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void hot_run_end_stage(hot_run_state *run, hot_run_stage stage)
{
    const double now = hot_run_now();
    run->seconds[stage] = now - run->stage_began;
    run->stage_began = now;
    run->stage = stage + 1;
}

/* Whether all was added since it was 1: a report that lacks what memory had no room for would look whole. */
static _Thread_local int whole;
#define ADD(added) (whole &= (added) != 0)

static cJSON *if_whole(cJSON *made)
{
    if (whole)
        return made;
    cJSON_Delete(made);
    return NULL;
}

static void add_text(cJSON *object, const char *name, const char *text)
{
    if (text)
        ADD(cJSON_AddStringToObject(object, name, text));
    else
        ADD(cJSON_AddNullToObject(object, name));
}

/* One of the row's words. */
static void add_word(cJSON *object, const hot_run_row *row, int which)
{
    char word[32];
    const char *at = row->words;
    while (which-- > 0)
        at += strcspn(at, "|") + 1;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
    add_text(object, row->name, word);
}

/* The clock is not more precise. */
static double to_tenth_ms(double seconds) { return round(1e4 * seconds) / 1e4; }

static const char *space_name(hot_space space)
{
    switch (space) {
    case HOT_SPACE_RAS: return "right-anterior-superior";
    case HOT_SPACE_LAS: return "left-anterior-superior";
    case HOT_SPACE_LPS: return "left-posterior-superior";
    case HOT_SPACE_UNKNOWN: break;
    }
    return "unknown";
}

cJSON *hot_run_describe_input(const hot_run_state *run)
{
    const hot_run_inputs *in = &run->inputs;
    const hot_grid *grid = hot_dwi_grid(in->dwi);
    cJSON *input = cJSON_CreateObject();
    whole = 1;
    add_text(input, "file", in->options.input);
    if (in->options.bval)
        add_text(input, "bval", in->options.bval);
    if (in->options.bvec)
        add_text(input, "bvec", in->options.bvec);
    cJSON *size = cJSON_AddArrayToObject(input, "size");
    for (int axis = 0; axis < 3; axis++)
        ADD(cJSON_AddItemToArray(size, cJSON_CreateNumber((double)grid->size[axis])));
    ADD(cJSON_AddStringToObject(input, "space", space_name(grid->space)));
    cJSON *matrix = cJSON_AddArrayToObject(input, "to_world");
    for (int row = 0; row < 3; row++)
        ADD(cJSON_AddItemToArray(matrix, cJSON_CreateDoubleArray(grid->to_world[row], 4)));
    ADD(cJSON_AddNumberToObject(input, "volumes", (double)hot_dwi_volumes(in->dwi)));
    const double *b;
    const int *shell_of;
    size_t shells = hot_dwi_shells(in->dwi, &b, &shell_of);
    cJSON *list = cJSON_AddArrayToObject(input, "shells");
    for (size_t shell = 0; shell < shells; shell++) {
        size_t volumes = 0;
        for (size_t v = 0; v < hot_dwi_volumes(in->dwi); v++)
            volumes += shell_of[v] == (int)shell;
        cJSON *item = cJSON_CreateObject();
        ADD(cJSON_AddNumberToObject(item, "b", b[shell]));
        ADD(cJSON_AddNumberToObject(item, "volumes", (double)volumes));
        ADD(cJSON_AddItemToArray(list, item));
    }
    return if_whole(input);
}

/* The value of an option; NaN, null in JSON, if not set. */
static double meant(double option) { return option == 0 ? NAN : option == HOT_ZERO ? 0 : option; }

/* Whether a row of the table is shown of this run. */
static int is_shown(const hot_run_state *run, const hot_run_row *row)
{
    const hot_run_inputs *in = &run->inputs;
    const int in_signals = in->method->find_in_signals != NULL;
    switch (row->shown) {
    case HOT_NOT_SHOWN: break;
    case HOT_SHOWN: return 1;
    case HOT_SHOWN_DIFFUSIVITIES: return in->options.axial_diffusivity > 0;
    case HOT_SHOWN_KNOWN: return *(const double *)hot_run_member(&in->options, row) != 0;
    case HOT_SHOWN_MSMT: return strcmp(in->options.fit->model, "msmt") == 0;
    case HOT_SHOWN_SIGNAL: return in_signals;
    case HOT_SHOWN_TENSORS: return !in_signals;
    case HOT_SHOWN_STARTS: return !in_signals && hot_peaks_names_hold(in->method->takes, "starts");
    }
    return 0;
}

/* The effect of an option, if it says more than its value; 0: show the value. */
static int add_outcome(cJSON *settings, const hot_run_state *run, const hot_run_row *row, const void *at)
{
    const hot_run_results *results = &run->results;
    const hot_run_options *o = &run->inputs.options;
    if (at == &o->mask)
        add_text(settings, row->name, run->learned.mask_from);
    else if (at == &o->response)
        add_text(settings, row->name, run->learned.response_from);
    else if (at == &o->peaks->max_fibers)
        ADD(cJSON_AddNumberToObject(settings, row->name, hot_fiber_field_max(results->fibers)));
    else if (at == &o->peaks->shift && o->peaks->shift == HOT_SHIFT_FIXED)
        ADD(cJSON_AddNumberToObject(settings, row->name, o->peaks->alpha));
    else if (at == &o->signal->noise_model) {
        add_word(settings, row, results->maps.noise_model == HOT_NOISE_GAUSSIAN ? HOT_NOISE_GAUSSIAN
                                                                                    : HOT_NOISE_RICIAN);
        hot_run_add_population(cJSON_AddObjectToObject(settings, "population"), &results->maps.population, 1);
    } else
        return 0;
    return 1;
}

static void add_settings(cJSON *root, const hot_run_state *run)
{
    cJSON *settings = cJSON_AddObjectToObject(root, "settings");
    const hot_run_row *row;
    for (size_t i = 0; (row = hot_run_row_at(i)); i++) {
        const void *at = hot_run_member(&run->inputs.options, row);
        if (!is_shown(run, row) || add_outcome(settings, run, row, at))
            continue;
        const double number = row->type == HOT_IS_DOUBLE ? *(const double *)at
                              : row->type == HOT_IS_SIZE ? (double)*(const size_t *)at
                              : row->type == HOT_IS_TEXT ? NAN
                                                         : *(const int *)at;
        if (row->type == HOT_IS_TEXT)
            add_text(settings, row->name, *(const char *const *)at);
        else if (row->type == HOT_IS_NAME)
            add_word(settings, row, *(const int *)at);
        else if (row->type == HOT_IS_FLAG)
            ADD(cJSON_AddBoolToObject(settings, row->name, number != 0));
        else /* null: the method's default */
            ADD(cJSON_AddNumberToObject(settings, row->name,
                                        row->shown == HOT_SHOWN_TENSORS || row->shown == HOT_SHOWN_KNOWN
                                            ? meant(number) : number));
    }
    ADD(cJSON_AddNumberToObject(settings, "seed", (double)hot_context_seed(run->context)));
}

static void add_machine(cJSON *root, const hot_run_state *run)
{
    static const char *const devices[] = {"auto", "cpu", "cuda", "reference"};
    cJSON *device = cJSON_AddObjectToObject(root, "device");
    add_text(device, "asked", devices[hot_context_device(run->context)]);
    add_text(device, "used", devices[hot_context_device_used(run->context)]);
    ADD(cJSON_AddNumberToObject(device, "threads", hot_context_threads(run->context)));
    cJSON *versions = cJSON_AddObjectToObject(root, "versions");
    add_text(versions, "hotfiber", hot_version());
    add_text(versions, "teem", hot_library_teem());
    add_text(versions, "zlib", hot_library_zlib());
    #if defined(__clang__)
    add_text(versions, "compiler", __VERSION__); /* names itself */
#else
    add_text(versions, "compiler", "gcc " __VERSION__);
#endif
}

static void add_response(cJSON *root, const hot_run_state *run)
{
    const hot_run_learned *learned = &run->learned;
    const hot_response *response = run->results.tensors ? hot_tensor_field_response(run->results.tensors) : NULL;
    if (!response)
        response = learned->response;
    if (!response) {
        ADD(cJSON_AddNullToObject(root, "response"));
        return;
    }
    cJSON *object = cJSON_AddObjectToObject(root, "response");
    add_text(object, "from", learned->response_from);
    if (learned->response_voxels)
        ADD(cJSON_AddNumberToObject(object, "voxels", (double)learned->response_voxels));
    ADD(cJSON_AddNumberToObject(object, "lmax", hot_response_lmax(response)));
    ADD(cJSON_AddNumberToObject(object, "typical", response->typical));
    ADD(cJSON_AddNumberToObject(object, "noise", response->noise));
    cJSON *shells = cJSON_AddArrayToObject(object, "shells");
    for (size_t shell = 0; shell < hot_response_shells(response); shell++) {
        double b;
        const double *row = hot_response_row(response, shell, &b);
        cJSON *item = cJSON_CreateObject();
        ADD(cJSON_AddNumberToObject(item, "b", b));
        ADD(cJSON_AddItemToObject(item, "coefficients",
                                  cJSON_CreateDoubleArray(row, hot_response_lmax(response) / 2 + 1)));
        ADD(cJSON_AddItemToArray(shells, item));
    }
}

/* Fibres where few are expected, among sampled voxels. */
static void add_tissues(cJSON *counts, const hot_run_state *run)
{
    const hot_run_tissues *tissues = &run->results.tissues;
    size_t like[3], some[3];
    if (!(tissues->b > 0)) {
        ADD(cJSON_AddNullToObject(counts, "tissues"));
        return;
    }
    hot_run_count_tissues(run, like, some);
    cJSON *object = cJSON_AddObjectToObject(counts, "tissues");
    const struct { const char *name; double value; } members[] = {
        {"voxels", (double)tissues->voxels}, {"b", tissues->b},
        {"csf", (double)like[HOT_LIKE_CSF]}, {"csf_with_fibers", (double)some[HOT_LIKE_CSF]},
        {"grey", (double)like[HOT_LIKE_GREY]}, {"grey_with_two", (double)some[HOT_LIKE_GREY]}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        ADD(cJSON_AddNumberToObject(object, members[i].name, members[i].value));
}

static void add_counts(cJSON *root, const hot_run_state *run)
{
    const hot_run_result *result = &run->results.counts;
    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    ADD(cJSON_AddNumberToObject(counts, "voxels", (double)result->voxels));
    ADD(cJSON_AddNumberToObject(counts, "fitted", (double)result->fitted));
    ADD(cJSON_AddNumberToObject(counts, "flagged", (double)result->flagged));
    size_t holes;
    ADD(hot_mask_count_holes(run->context, run->learned.mask, &holes) == HOT_OK);
    ADD(cJSON_AddNumberToObject(counts, "mask_holes", (double)holes));
    static const char *const names[] = {"none", "one", "two", "three", "more"};
    cJSON *fibers = cJSON_AddObjectToObject(counts, "fibers");
    for (int i = 0; i < 5; i++)
        ADD(cJSON_AddNumberToObject(fibers, names[i], (double)result->fibers[i]));
    add_tissues(counts, run);
}

static hot_status add_name(void *user, const char *name)
{
    ADD(cJSON_AddItemToArray(user, cJSON_CreateString(name)));
    return HOT_OK;
}

/* All but the names of the files. */
static cJSON *make_report(hot_run_state *run)
{
    static const char *const stages[HOT_RUN_STAGES] = {"reading", "denoising", "mask", "response", "fitting",
                                                       "finding", "maps", "writing"};
    hot_run_learned *learned = &run->learned;
    cJSON *root = cJSON_CreateObject();
    whole = 1;
    add_text(root, "hotfiber", hot_version());
    ADD(cJSON_AddItemToObject(root, "input", run->inputs.description));
    run->inputs.description = NULL;
    add_settings(root, run);
    add_machine(root, run);
    add_response(root, run);
    if (learned->sigma > 0) {
        cJSON *noise = cJSON_AddObjectToObject(root, "noise");
        ADD(cJSON_AddNumberToObject(noise, "sigma", learned->sigma));
        ADD(cJSON_AddNumberToObject(noise, "snr", learned->snr));
        if (run->inputs.method->find_in_signals)
            ADD(cJSON_AddBoolToObject(noise, "from_residuals", learned->signal.from_residuals));
        if (run->inputs.options.denoise)
            ADD(cJSON_AddNumberToObject(noise, "shape_restored", learned->restored));
    }
    if (learned->gradients)
        ADD(cJSON_AddItemToObject(root, "gradients", learned->gradients));
    if (run->log)
        ADD(cJSON_AddItemToObject(root, "log", run->log));
    ADD(!run->log_lost);
    learned->gradients = run->log = NULL;
    add_counts(root, run);
    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    for (int i = 0; i < HOT_RUN_STAGES; i++)
        if (run->seconds[i] > 0)
            ADD(cJSON_AddNumberToObject(seconds, stages[i], to_tenth_ms(run->seconds[i])));
    run->results.counts.seconds = hot_run_now() - run->began;
    ADD(cJSON_AddNumberToObject(seconds, "total", to_tenth_ms(run->results.counts.seconds)));
    const size_t peak = hot_memory_peak(); /* of the whole process, in bytes */
    if (peak > 0)
        ADD(cJSON_AddNumberToObject(root, "peak_memory", (double)peak));
    return root;
}

hot_status hot_run_save_report(hot_run_state *run, const char *const *names, size_t count, const char *path)
{
    cJSON *root = make_report(run), *files = cJSON_AddArrayToObject(root, "files");
    for (size_t i = 0; i < count; i++)
        add_name(files, names[i]);
    root = if_whole(root);
    hot_status status = hot_report_save(run->context, root, path);
    cJSON_Delete(root);
    return status;
}

hot_status hot_run_write_report(hot_run_state *run)
{
    cJSON *root = make_report(run), *files = cJSON_AddArrayToObject(root, "files");
    hot_status status = hot_folder_walk(run->context, &run->folder, add_name, files);
    if (status == HOT_OK) {
        add_name(files, "report.json");
        if (run->inputs.options.report)
            add_name(files, "report.html");
    }
    root = if_whole(root);
    char *path = status == HOT_OK ? hot_folder_file(run->context, &run->folder, "report.json") : NULL;
    if (status == HOT_OK)
        status = path ? hot_report_save(run->context, root, path) : HOT_ERROR_MEMORY;
    hot_context_free(run->context, path);
    cJSON_Delete(root);
    return status;
}
