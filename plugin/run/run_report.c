/* report.json: what went in, how it was done, what came out. */
#include "run.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/fingerprint.h"
#include "io/libraries.h"
#include "learned.h"
#include "option_table.h"

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

cJSON *hot_run_describe_input(const hot_run_job *job)
{
    const hot_grid *grid = hot_dwi_grid(job->dwi);
    cJSON *input = cJSON_CreateObject();
    whole = 1;
    add_text(input, "file", job->options.input);
    if (job->options.bval)
        add_text(input, "bval", job->options.bval);
    if (job->options.bvec)
        add_text(input, "bvec", job->options.bvec);
    cJSON *size = cJSON_AddArrayToObject(input, "size");
    for (int axis = 0; axis < 3; axis++)
        ADD(cJSON_AddItemToArray(size, cJSON_CreateNumber((double)grid->size[axis])));
    ADD(cJSON_AddStringToObject(input, "space", space_name(grid->space)));
    cJSON *matrix = cJSON_AddArrayToObject(input, "to_world");
    for (int row = 0; row < 3; row++)
        ADD(cJSON_AddItemToArray(matrix, cJSON_CreateDoubleArray(grid->to_world[row], 4)));
    ADD(cJSON_AddNumberToObject(input, "volumes", (double)hot_dwi_volumes(job->dwi)));
    const double *b;
    const int *shell_of;
    size_t shells = hot_dwi_shells(job->dwi, &b, &shell_of);
    cJSON *list = cJSON_AddArrayToObject(input, "shells");
    for (size_t shell = 0; shell < shells; shell++) {
        size_t volumes = 0;
        for (size_t v = 0; v < hot_dwi_volumes(job->dwi); v++)
            volumes += shell_of[v] == (int)shell;
        cJSON *item = cJSON_CreateObject();
        ADD(cJSON_AddNumberToObject(item, "b", b[shell]));
        ADD(cJSON_AddNumberToObject(item, "volumes", (double)volumes));
        ADD(cJSON_AddItemToArray(list, item));
    }
    return if_whole(input);
}

/* What was learned: mean and deviation of what varies between voxels. */
static void add_population(cJSON *settings, const hot_signal_population *p)
{
    const struct { const char *name; const double *values; int count; } rows[] = {
        {"width", p->width, 2}, {"isotropic", p->isotropic, 2}, {"water", p->water, 2},
        {"ln_diffusivity", p->ln_diffusivity, 2}, {"ln_diffusivity_none", p->ln_diffusivity_none, 2},
        {"share", p->share, 4}, {"near_two", p->near[0], HOT_SEPARATIONS}, {"near_three", p->near[1], HOT_SEPARATIONS},
    };
    cJSON *object = cJSON_AddObjectToObject(settings, "population");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ADD(cJSON_AddItemToObject(object, rows[i].name, cJSON_CreateDoubleArray(rows[i].values, rows[i].count)));
    ADD(cJSON_AddNumberToObject(object, "spread", p->spread));
    ADD(cJSON_AddItemToObject(object, "told", cJSON_CreateDoubleArray(p->told, 4)));
    ADD(cJSON_AddNumberToObject(object, "evidence_scale", p->evidence_scale));
    ADD(cJSON_AddItemToObject(object, "evidence_shift", cJSON_CreateDoubleArray(p->evidence_shift, 4)));
    ADD(cJSON_AddItemToObject(object, "cone_variance", cJSON_CreateDoubleArray(p->cone_variance, 4)));
    ADD(cJSON_AddItemToObject(object, "cone_growth", cJSON_CreateDoubleArray(p->cone_growth, 4)));
    ADD(cJSON_AddNumberToObject(object, "certainty", p->certainty));
    ADD(cJSON_AddNumberToObject(object, "fan", p->fan));
    ADD(cJSON_AddNumberToObject(object, "noise", p->noise));
    ADD(cJSON_AddNumberToObject(object, "noise_freedom", p->noise_freedom));
}

/* What an option was set to; NaN, which JSON has as null: nothing. */
static double meant(double option) { return option == 0 ? NAN : option == HOT_ZERO ? 0 : option; }

/* Whether a row of the table is shown of this job. */
static int is_shown(const hot_run_job *job, const hot_run_row *row)
{
    const int in_signals = job->method->find_in_signals != NULL;
    switch (row->shown) {
    case HOT_NOT_SHOWN: break;
    case HOT_SHOWN: return 1;
    case HOT_SHOWN_DIFFUSIVITIES: return job->options.axial_diffusivity > 0;
    case HOT_SHOWN_KNOWN: return *(const double *)hot_run_member(&job->options, row) != 0;
    case HOT_SHOWN_MSMT: return strcmp(job->options.fit->model, "msmt") == 0;
    case HOT_SHOWN_SIGNAL: return in_signals;
    case HOT_SHOWN_TENSORS: return !in_signals;
    case HOT_SHOWN_STARTS: return !in_signals && hot_peaks_names_hold(job->method->takes, "starts");
    }
    return 0;
}

/* What came of an option, where that says more than the option; 0: it is shown as it is. */
static int add_outcome(cJSON *settings, const hot_run_job *job, const hot_run_row *row, const void *at)
{
    const hot_run_options *o = &job->options;
    if (at == &o->mask)
        add_text(settings, row->name, job->mask_from);
    else if (at == &o->response)
        add_text(settings, row->name, job->response_from);
    else if (at == &o->peaks->max_fibers)
        ADD(cJSON_AddNumberToObject(settings, row->name, hot_fiber_field_max(job->fibers)));
    else if (at == &o->peaks->shift && o->peaks->shift == HOT_SHIFT_FIXED)
        ADD(cJSON_AddNumberToObject(settings, row->name, o->peaks->alpha));
    else if (at == &o->signal->noise_model) {
        add_text(settings, row->name, row->names[job->maps.noise_model == HOT_NOISE_GAUSSIAN ? HOT_NOISE_GAUSSIAN
                                                                                             : HOT_NOISE_RICIAN]);
        add_population(settings, &job->maps.population);
    } else
        return 0;
    return 1;
}

static void add_settings(cJSON *root, const hot_run_job *job)
{
    cJSON *settings = cJSON_AddObjectToObject(root, "settings");
    const hot_run_row *row;
    for (size_t i = 0; (row = hot_run_row_at(i)); i++) {
        const void *at = hot_run_member(&job->options, row);
        if (!is_shown(job, row) || add_outcome(settings, job, row, at))
            continue;
        const double number = row->type == HOT_IS_DOUBLE ? *(const double *)at
                              : row->type == HOT_IS_SIZE ? (double)*(const size_t *)at
                              : row->type == HOT_IS_TEXT ? NAN
                                                         : *(const int *)at;
        if (row->type == HOT_IS_TEXT)
            add_text(settings, row->name, *(const char *const *)at);
        else if (row->type == HOT_IS_NAME)
            add_text(settings, row->name, row->names[*(const int *)at]);
        else if (row->type == HOT_IS_FLAG)
            ADD(cJSON_AddBoolToObject(settings, row->name, number != 0));
        else /* null: the method's default */
            ADD(cJSON_AddNumberToObject(settings, row->name,
                                        row->shown == HOT_SHOWN_TENSORS || row->shown == HOT_SHOWN_KNOWN
                                            ? meant(number) : number));
    }
    ADD(cJSON_AddNumberToObject(settings, "seed", (double)hot_context_seed(job->context)));
}

static void add_machine(cJSON *root, const hot_run_job *job)
{
    static const char *const devices[] = {"auto", "cpu", "cuda", "reference"};
    cJSON *device = cJSON_AddObjectToObject(root, "device");
    add_text(device, "asked", devices[hot_context_device(job->context)]);
    add_text(device, "used", devices[hot_context_device_used(job->context)]);
    ADD(cJSON_AddNumberToObject(device, "threads", hot_context_threads(job->context)));
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

static void add_response(cJSON *root, const hot_run_job *job)
{
    const hot_response *response = job->tensors ? hot_tensor_field_response(job->tensors) : NULL;
    if (!response)
        response = job->response;
    if (!response) {
        ADD(cJSON_AddNullToObject(root, "response"));
        return;
    }
    cJSON *object = cJSON_AddObjectToObject(root, "response");
    add_text(object, "from", job->response_from);
    if (job->response_voxels)
        ADD(cJSON_AddNumberToObject(object, "voxels", (double)job->response_voxels));
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

cJSON *hot_run_describe_work(const hot_run_job *job)
{
    static const struct { const char *part, *name; } names[] = {
        {"input", "file"}, {"input", "bval"}, {"input", "bvec"}, {"settings", "mask"}, {"settings", "response"},
        {"response", "from"}}; /* of files, which may be written in several ways */
    cJSON *work = cJSON_CreateObject(), *input = hot_run_describe_input(job), *options;
    ADD(cJSON_AddItemToObject(work, "input", input));
    add_settings(work, job);
    add_response(work, job);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cJSON_DeleteItemFromObject(cJSON_GetObjectItem(work, names[i].part), names[i].name);
    hot_run_describe_options(job, HOT_LEARNS | HOT_FINDS, &options);
    ADD(cJSON_AddItemToObject(work, "options", options));
    ADD(cJSON_AddItemToObject(work, "data", hot_run_sum_text(job->data_sum)));
    ADD(cJSON_AddItemToObject(work, "mask", hot_run_sum_text(hot_fingerprint_bytes(
        0, hot_mask_bytes(job->mask), hot_grid_voxels(hot_dwi_grid(job->dwi))))));
    ADD(cJSON_AddItemToObject(work, "priors", hot_run_sum_text(hot_run_learned_sum(job))));
    ADD(cJSON_AddItemToObject(work, "sigma", hot_run_exact(job->sigma)));
    add_text(work, "version", hot_version());
    return if_whole(work);
}

static void add_counts(cJSON *root, const hot_run_job *job)
{
    const hot_run_result *result = &job->result;
    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    ADD(cJSON_AddNumberToObject(counts, "voxels", (double)result->voxels));
    ADD(cJSON_AddNumberToObject(counts, "fitted", (double)result->fitted));
    ADD(cJSON_AddNumberToObject(counts, "flagged", (double)result->flagged));
    static const char *const names[] = {"none", "one", "two", "three", "more"};
    cJSON *fibers = cJSON_AddObjectToObject(counts, "fibers");
    for (int i = 0; i < 5; i++)
        ADD(cJSON_AddNumberToObject(fibers, names[i], (double)result->fibers[i]));
}

static hot_status add_name(void *user, const char *name)
{
    ADD(cJSON_AddItemToArray(user, cJSON_CreateString(name)));
    return HOT_OK;
}

/* All but the names of the files. */
static cJSON *make_report(hot_run_job *job)
{
    cJSON *root = cJSON_CreateObject();
    whole = 1;
    add_text(root, "hotfiber", hot_version());
    ADD(cJSON_AddItemToObject(root, "input", job->input));
    job->input = NULL;
    add_settings(root, job);
    add_machine(root, job);
    add_response(root, job);
    if (job->sigma > 0) {
        cJSON *noise = cJSON_AddObjectToObject(root, "noise");
        ADD(cJSON_AddNumberToObject(noise, "sigma", job->sigma));
        ADD(cJSON_AddNumberToObject(noise, "snr", job->snr));
        if (job->options.denoise)
            ADD(cJSON_AddNumberToObject(noise, "shape_restored", job->restored));
    }
    if (job->gradients)
        ADD(cJSON_AddItemToObject(root, "gradients", job->gradients));
    if (job->log)
        ADD(cJSON_AddItemToObject(root, "log", job->log));
    ADD(!job->unheard);
    job->gradients = job->log = NULL;
    add_counts(root, job);
    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    for (int i = 0; i < job->stages; i++)
        ADD(cJSON_AddNumberToObject(seconds, job->stage[i].name, to_tenth_ms(job->stage[i].seconds)));
    job->result.seconds = hot_run_now() - job->began;
    ADD(cJSON_AddNumberToObject(seconds, "total", to_tenth_ms(job->result.seconds)));
    const size_t peak = hot_memory_peak(); /* of the whole process, in bytes */
    if (peak > 0)
        ADD(cJSON_AddNumberToObject(root, "peak_memory", (double)peak));
    return root;
}

hot_status hot_run_save_report(hot_run_job *job, const char *const *names, size_t count, const char *path)
{
    cJSON *root = make_report(job), *files = cJSON_AddArrayToObject(root, "files");
    for (size_t i = 0; i < count; i++)
        add_name(files, names[i]);
    root = if_whole(root);
    hot_status status = hot_report_save(job->context, root, path);
    cJSON_Delete(root);
    return status;
}

hot_status hot_run_write_report(hot_run_job *job)
{
    cJSON *root = make_report(job), *files = cJSON_AddArrayToObject(root, "files");
    hot_status status = hot_folder_walk(job->context, &job->folder, add_name, files);
    if (status == HOT_OK) {
        add_name(files, "report.json");
        if (job->options.report)
            add_name(files, "report.html");
    }
    root = if_whole(root);
    char *path = status == HOT_OK ? hot_folder_file(job->context, &job->folder, "report.json") : NULL;
    if (status == HOT_OK)
        status = path ? hot_report_save(job->context, root, path) : HOT_ERROR_MEMORY;
    hot_context_free(job->context, path);
    cJSON_Delete(root);
    return status;
}
