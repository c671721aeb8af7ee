/* The file is JSON. Numbers that decide results have 17 digits: cJSON's own may lose the last bit. */
#include "learned.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "core/fingerprint.h"
#include "dwi/gather.h"
#include "fibers/signal_samples.h"
#include "model/model.h"
#include "option_table.h"

enum { FORMAT = 1, HASHED = 64, ARRAYS = 18, ARRAYS_BEFORE = 16 /* of files written before P(k) was tempered */ };

/* ---- Numbers and texts ----------------------------------------------------------------------------------------- */

static void add(cJSON *object, const char *name, double value)
{
    cJSON_AddItemToObject(object, name, hot_run_exact(value));
}

static void add_all(cJSON *object, const char *name, const double *values, size_t count)
{
    cJSON *list = cJSON_AddArrayToObject(object, name);
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(list, hot_run_exact(values[i]));
}

static const cJSON *get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* NaN where there is none. */
static double number(const cJSON *object, const char *name)
{
    const cJSON *item = get(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* A number of things, `most` at most; more than that where there is none. */
static size_t whole(const cJSON *object, const char *name, size_t most)
{
    const double value = number(object, name);
    return value >= 0 && value <= (double)most ? (size_t)value : most + 1;
}

static const char *word(const cJSON *object, const char *name)
{
    const cJSON *item = get(object, name);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

/* Exactly `count` numbers. */
static int numbers(const cJSON *object, const char *name, size_t count, double *values)
{
    const cJSON *list = get(object, name), *item;
    size_t n = 0;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != (int)count)
        return 0;
    cJSON_ArrayForEach(item, list)
        values[n++] = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    return 1;
}

static hot_status damaged(const hot_run_job *job, const char *what)
{
    return hot_context_fail(job->context, HOT_ERROR_FORMAT, "'%s' is damaged: %s; make it again with hotfiber learn",
                            job->options.learned, what);
}

/* The option that it came by. */
static const char *asked(const hot_run_job *job) { return job->resume ? "resume" : "learned"; }

/* ---- Steps ----------------------------------------------------------------------------------------------------- */

hot_status hot_run_learned_open(hot_run_job *job)
{
    const hot_run_options *options = &job->options;
    if (!options->learned)
        return HOT_OK;
    const char *twice = options->mask || options->mask_in_memory      ? "mask"
                        : options->response || options->fit->response ? "response"
                                                                      : NULL;
    if (twice)
        return hot_context_fail_parameter(job->context, HOT_ERROR_ARGUMENT, twice, "it is in '%s' already: give it to "
                                          "hotfiber learn, and leave it out here", options->learned);
    hot_status status = hot_report_load(job->context, options->learned, &job->learned);
    if (status == HOT_OK && number(job->learned, "hotfiber_model") != FORMAT)
        status = hot_context_fail(job->context, HOT_ERROR_FORMAT, "'%s' is nothing that this version's hotfiber learn "
                                  "has written", options->learned);
    const char *from = word(get(job->learned, "response"), "from");
    if (from && strcmp(from, "estimated") != 0)
        job->by_default = 0; /* as it is with an option for it */
    return status;
}

hot_status hot_run_learned_step(hot_run_job *job, const char *name, hot_run_step *learn, hot_run_step *take)
{
    const cJSON *line;
    if (job->learned) {
        cJSON_ArrayForEach(line, get(get(job->learned, "log"), name)) {
            const char *level = word(line, "level"), *text = word(line, "text");
            if (level && text)
                hot_context_log(job->context, strcmp(level, "warning") == 0 ? HOT_LOG_WARNING : HOT_LOG_NOTE, "%s",
                                text);
        }
        return take(job);
    }
    const int before = cJSON_GetArraySize(job->log);
    hot_status status = learn(job);
    if (status == HOT_OK && (job->options.learn || job->options.resume)) {
        if (!job->said)
            job->said = cJSON_CreateObject();
        cJSON *lines = cJSON_AddArrayToObject(job->said, name);
        for (int n = before; n < cJSON_GetArraySize(job->log); n++)
            cJSON_AddItemToArray(lines, cJSON_Duplicate(cJSON_GetArrayItem(job->log, n), 1));
    }
    return status;
}

/* Voxels outside and inside by turns, how many of each: "1520 3 61 7 ...". */
static char *write_runs(hot_context *context, const hot_mask *mask)
{
    const size_t voxels = hot_grid_voxels(&mask->grid);
    size_t changes = 2, used = 0;
    for (size_t v = 1; v < voxels; v++)
        changes += mask->bytes[v] != mask->bytes[v - 1];
    char *text = hot_context_alloc(context, changes, 21);
    for (size_t v = 0, run = 0; text && v < voxels; v += run) {
        const int inside = mask->bytes[v] != 0;
        if (v == 0 && inside)
            used += (size_t)snprintf(text, 3, "0 ");
        for (run = 1; v + run < voxels && (mask->bytes[v + run] != 0) == inside; run++) {}
        used += (size_t)snprintf(text + used, 22, "%s%zu", v > 0 ? " " : "", run);
    }
    return text;
}

static int read_runs(const char *text, size_t voxels, hot_mask *mask)
{
    size_t at = 0;
    char *end = (char *)(uintptr_t)text;
    for (int inside = 0; *end; inside = !inside) {
        const char *from = end;
        const uintmax_t run = strtoumax(from, &end, 10);
        if (end == from || (*end && *end != ' ') || run > voxels - at)
            return 0;
        memset(mask->bytes + at, inside, run);
        mask->inside += inside ? run : 0;
        at += run;
    }
    return at == voxels;
}

hot_status hot_run_learned_mask(hot_run_job *job)
{
    const cJSON *mask = get(job->learned, "mask"), *noise = get(job->learned, "noise");
    const hot_grid *grid = hot_dwi_grid(job->dwi);
    const char *runs = word(mask, "runs");
    double size[3];
    job->mask_from = word(mask, "from");
    if (!job->mask_from || !runs || !numbers(mask, "size", 3, size))
        return damaged(job, "it has no mask");
    for (int axis = 0; axis < 3; axis++)
        if (size[axis] != (double)grid->size[axis])
            return hot_context_fail_parameter(job->context, HOT_ERROR_DATA, asked(job), "'%s' was learned from data of "
                                              "%.0f x %.0f x %.0f voxels, and these have %zu x %zu x %zu",
                                              job->options.learned, size[0], size[1], size[2], grid->size[0],
                                              grid->size[1], grid->size[2]);
    hot_status status = hot_mask_full(job->context, grid, &job->mask);
    if (status == HOT_OK)
        job->mask->inside = 0;
    if (status == HOT_OK && (!read_runs(runs, hot_grid_voxels(grid), job->mask) || job->mask->inside == 0))
        status = damaged(job, "its mask is not one of this size");
    if (status != HOT_OK)
        return status;
    job->result.voxels = job->mask->inside;
    job->sigma = number(noise, "sigma");
    job->snr = number(noise, "snr");
    return HOT_OK;
}

hot_status hot_run_learned_gradients(hot_run_job *job)
{
    const cJSON *found = get(job->learned, "gradients");
    if (found)
        job->gradients = cJSON_Duplicate(found, 1);
    return HOT_OK;
}

static cJSON *write_response(const hot_response *response)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "lmax", response->lmax);
    add(object, "typical", response->typical);
    add(object, "noise", response->noise);
    add_all(object, "b", response->b, response->shells);
    add_all(object, "coefficients", response->rows, response->shells * (size_t)(response->lmax / 2 + 1));
    return object;
}

static hot_status read_response(const hot_run_job *job, const cJSON *object, hot_response **response)
{
    const size_t shells = (size_t)cJSON_GetArraySize(get(object, "b")), lmax = whole(object, "lmax", 64);
    if (shells == 0 || lmax > 64 || lmax % 2)
        return damaged(job, "a response is none");
    hot_status status = hot_response_make(job->context, shells, (int)lmax, response);
    if (status == HOT_OK && (!numbers(object, "b", shells, (*response)->b) ||
                             !numbers(object, "coefficients", shells * (lmax / 2 + 1), (*response)->rows)))
        status = damaged(job, "a response is none");
    if (status == HOT_OK) {
        const double typical = number(object, "typical");
        (*response)->typical = typical > 0 && typical <= 1 ? typical : 1; /* NaN: the file is older */
        const double noise = number(object, "noise");
        (*response)->noise = noise > 0 && noise < 1 ? noise : 0;
    }
    return status;
}

hot_status hot_run_learned_response(hot_run_job *job)
{
    const cJSON *kept = get(job->learned, "response"), *item;
    size_t count = 0;
    hot_status status = HOT_OK;
    const hot_model *model = hot_model_find(job->fit.model);
    if (!kept) /* a name that is none's is refused by the fit */
        return model && model->needs_response ? damaged(job, "it has no response") : HOT_OK;
    job->response_from = word(kept, "from");
    const size_t voxels = whole(kept, "voxels", SIZE_MAX >> 12);
    job->response_voxels = voxels <= SIZE_MAX >> 12 ? voxels : 0;
    cJSON_ArrayForEach(item, get(kept, "tissues")) {
        if (count > HOT_TISSUES_MAX - 1)
            return damaged(job, "it has too many tissues");
        status = read_response(job, item, count == 0 ? &job->response : &job->tissues[job->tissue_count]);
        job->tissue_count += count > 0 && job->tissues[job->tissue_count];
        count++;
        if (status != HOT_OK)
            return status;
    }
    if (!job->response_from || count == 0)
        return damaged(job, "it has no response");
    job->fit.tissues = count > 1 ? (const hot_response *const *)job->tissues : NULL;
    job->fit.tissue_count = job->tissue_count;
    return HOT_OK;
}

/* ---- The signal method ----------------------------------------------------------------------------------------- */

/* The numbers of a population; the names are the file's. */
static size_t list_population(hot_signal_population *p, const char *names[ARRAYS], double *values[ARRAYS],
                              size_t counts[ARRAYS])
{
    const struct { const char *name; double *values; size_t count; } rows[] = {
        {"width", p->width, 2}, {"isotropic", p->isotropic, 2}, {"water", p->water, 2},
        {"ln_diffusivity", p->ln_diffusivity, 2}, {"ln_diffusivity_none", p->ln_diffusivity_none, 2},
        {"share", p->share, 4}, {"near", p->near[0], sizeof p->near / sizeof(double)}, {"told", p->told, 4},
        {"evidence_scale", &p->evidence_scale, 1}, {"evidence_shift", p->evidence_shift, 4},
        {"spread", &p->spread, 1}, {"noise", &p->noise, 1}, {"noise_freedom", &p->noise_freedom, 1},
        {"cone_variance", p->cone_variance, 4}, {"recovered", &p->recovered, 1},
        {"fan", &p->fan, 1}, {"certainty", &p->certainty, 1}, {"cone_growth", p->cone_growth, 4}};
    const size_t most = sizeof rows / sizeof *rows;
    _Static_assert(sizeof rows / sizeof *rows == ARRAYS, "callers have room for ARRAYS of them");
    for (size_t i = 0; i < most; i++)
        names[i] = rows[i].name, values[i] = rows[i].values, counts[i] = rows[i].count;
    return most;
}

static cJSON *write_signal(const hot_signal_learned *learned)
{
    const char *names[ARRAYS];
    double *values[ARRAYS];
    size_t counts[ARRAYS];
    hot_signal_population p = learned->population;
    cJSON *object = cJSON_CreateObject(), *use = cJSON_AddArrayToObject(object, "volumes");
    add(object, "b0", learned->bright);
    for (size_t i = 0; i < learned->used; i++)
        cJSON_AddItemToArray(use, cJSON_CreateNumber((double)learned->use[i]));
    cJSON_AddNumberToObject(object, "noise_model", learned->noise_model);
    add(object, "not_positive", learned->share);
    add(object, "sigma", learned->sigma);
    cJSON_AddBoolToObject(object, "from_residuals", learned->from_residuals);
    add(object, "ceiling", learned->ceiling);
    cJSON_AddNumberToObject(object, "sampled", (double)learned->sampled);
    cJSON *population = cJSON_AddObjectToObject(object, "population");
    cJSON_AddBoolToObject(population, "there", p.size != 0);
    for (size_t i = 0, most = list_population(&p, names, values, counts); i < most; i++)
        add_all(population, names[i], values[i], counts[i]);
    return object;
}

hot_status hot_run_learned_signal(hot_run_job *job)
{
    const char *names[ARRAYS];
    double *values[ARRAYS];
    size_t counts[ARRAYS];
    const size_t volumes = hot_dwi_volumes(job->dwi);
    hot_signal_learned *mine = &job->signal_learned;
    const cJSON *kept = get(job->learned, "signal"), *use = get(kept, "volumes"), *item;
    const cJSON *population = get(kept, "population");
    if (!kept || !population)
        return damaged(job, "it has nothing for the signal method");
    mine->bright = number(kept, "b0");
    mine->noise_model = (hot_noise_model)whole(kept, "noise_model", HOT_NOISE_GAUSSIAN);
    mine->share = number(kept, "not_positive");
    mine->sigma = number(kept, "sigma");
    mine->from_residuals = cJSON_IsTrue(get(kept, "from_residuals"));
    if (mine->from_residuals && isnan(mine->sigma))
        mine->sigma = INFINITY; /* the residuals told none */
    mine->ceiling = number(kept, "ceiling"); /* NaN: no sample is clipped */
    mine->sampled = whole(kept, "sampled", 1 << 30);
    mine->use = hot_context_alloc(job->context, volumes, sizeof *mine->use);
    if (!mine->use)
        return HOT_ERROR_MEMORY;
    cJSON_ArrayForEach(item, use) {
        const double v = cJSON_IsNumber(item) ? item->valuedouble : -1;
        const double least = mine->used > 0 ? (double)mine->use[mine->used - 1] + 1 : 0;
        if (!(v >= least && v < (double)volumes))
            return damaged(job, "its list of volumes is none of these data");
        mine->use[mine->used++] = (size_t)v;
    }
    int fine = mine->used > 0 && isfinite(mine->bright) && mine->noise_model <= HOT_NOISE_GAUSSIAN;
    hot_signal_population_usual(&mine->population);
    for (size_t i = 0, most = list_population(&mine->population, names, values, counts); i < most && fine; i++) {
        if (i >= ARRAYS_BEFORE && !get(population, names[i]))
            continue;
        fine = numbers(population, names[i], counts[i], values[i]);
        for (size_t n = 0; n < counts[i] && fine; n++)
            fine = isfinite(values[i][n]);
    }
    mine->population.size = cJSON_IsTrue(get(population, "there")) ? sizeof mine->population : 0;
    mine->known = 1;
    return fine ? HOT_OK : damaged(job, "a number of the signal method's is none");
}

/* ---- The whole ------------------------------------------------------------------------------------------------- */

uint64_t hot_run_learned_sum(const hot_run_job *job)
{
    if (!job->method->find_in_signals)
        return 0;
    cJSON *signal = write_signal(&job->signal_learned);
    char *text = hot_report_line(signal);
    const uint64_t sum = text ? hot_fingerprint_bytes(0, text, strlen(text)) : 0;
    cJSON_free(text);
    cJSON_Delete(signal);
    return sum;
}

/* What it is learned from and by: data, some samples of them in the mask, and the options that decide what is
 * learned. */
static hot_status describe(const hot_run_job *job, cJSON **made_of)
{
    const size_t volumes = hot_dwi_volumes(job->dwi);
    size_t voxel[HASHED];
    const size_t count = hot_mask_sample(job->mask, HASHED, voxel);
    float *samples = hot_context_alloc(job->context, count * volumes, sizeof *samples);
    hot_status status = samples ? hot_dwi_gather(job->context, job->dwi, voxel, count, samples) : HOT_ERROR_MEMORY;
    if (status == HOT_OK) {
        cJSON *object = *made_of = cJSON_CreateObject(), *input = hot_run_describe_input(job), *item;
        cJSON *options;
        status = hot_run_describe_options(job, HOT_LEARNS, &options);
        if (!input)
            status = HOT_ERROR_MEMORY;
        cJSON_AddStringToObject(object, "version", hot_version());
        cJSON_AddItemToObject(object, "size", cJSON_DetachItemFromObject(input, "size"));
        cJSON_AddItemToObject(object, "volumes", cJSON_DetachItemFromObject(input, "volumes"));
        cJSON_Delete(input);
        cJSON_AddItemToObject(object, "samples", hot_run_sum_text(hot_fingerprint_bytes(
            0, samples, count * volumes * sizeof *samples)));
        cJSON_AddItemToObject(object, "data", hot_run_sum_text(job->data_sum));
        if (job->order_before)
            cJSON_ReplaceItemInObject(options, "order", cJSON_CreateNumber(job->order_before));
        while (options && (item = cJSON_DetachItemFromArray(options, 0)))
            cJSON_AddItemToObject(object, item->string, item);
        cJSON_Delete(options);
        cJSON_AddNumberToObject(object, "seed", (double)hot_context_seed(job->context));
    }
    hot_context_free(job->context, samples);
    return status;
}

hot_status hot_run_learned_check(hot_run_job *job)
{
    char how[256];
    cJSON *made_of = NULL;
    if (!job->learned)
        return HOT_OK;
    hot_status status = describe(job, &made_of);
    char *text = status == HOT_OK ? hot_report_line(made_of) : NULL; /* as it is when it was read */
    cJSON_Delete(made_of);
    made_of = cJSON_Parse(text);
    cJSON_free(text);
    if (status == HOT_OK && !made_of)
        status = hot_context_fail(job->context, HOT_ERROR_MEMORY, "out of memory for '%s'", job->options.learned);
    if (status == HOT_OK && hot_run_differ(made_of, get(job->learned, "made_of"), how, sizeof how))
        status = hot_context_fail_parameter(job->context, HOT_ERROR_DATA, asked(job),
                                            "'%s' was learned from other data or with other options: %s",
                                            job->options.learned, how);
    cJSON_Delete(made_of);
    return status;
}

hot_status hot_run_learned_save(hot_run_job *job, const char *path)
{
    cJSON *root = cJSON_CreateObject(), *made_of = NULL;
    const hot_grid *grid = &job->mask->grid;
    char *runs = write_runs(job->context, job->mask);
    hot_status status = runs ? describe(job, &made_of) : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    cJSON_AddNumberToObject(root, "hotfiber_model", FORMAT);
    if (job->options.record)
        cJSON_AddStringToObject(root, "record", job->options.record);
    cJSON_AddItemToObject(root, "made_of", made_of);
    cJSON *noise = cJSON_AddObjectToObject(root, "noise"), *mask = cJSON_AddObjectToObject(root, "mask");
    add(noise, "sigma", job->sigma);
    add(noise, "snr", job->snr);
    if (job->gradients)
        cJSON_AddItemToObject(root, "gradients", cJSON_Duplicate(job->gradients, 1));
    if (job->response) {
        cJSON *response = cJSON_AddObjectToObject(root, "response");
        cJSON_AddStringToObject(response, "from", job->response_from);
        cJSON_AddNumberToObject(response, "voxels", (double)job->response_voxels);
        cJSON *tissues = cJSON_AddArrayToObject(response, "tissues");
        cJSON_AddItemToArray(tissues, write_response(job->response));
        for (size_t t = 0; t < job->tissue_count; t++)
            cJSON_AddItemToArray(tissues, write_response(job->tissues[t]));
    }
    if (job->method->find_in_signals)
        cJSON_AddItemToObject(root, "signal", write_signal(&job->signal_learned));
    if (job->said)
        cJSON_AddItemToObject(root, "log", cJSON_Duplicate(job->said, 1));
    cJSON_AddStringToObject(mask, "from", job->mask_from);
    add_all(mask, "size", (double[]){(double)grid->size[0], (double)grid->size[1], (double)grid->size[2]}, 3);
    cJSON_AddStringToObject(mask, "runs", runs);
    status = hot_report_save(job->context, root, path);
cleanup:
    cJSON_Delete(root);
    hot_context_free(job->context, runs);
    return status;
}

hot_status hot_run_learned_record(hot_context *context, const char *path, char **record)
{
    HOT_ENTRY(context);
    if (record)
        *record = NULL;
    HOT_NEED(context, path, record);
    hot_run_job job = {.context = context, .options = {.learned = path}};
    job.options.fit = &job.fit, job.options.peaks = &job.peaks, job.options.signal = &job.signal;
    hot_status status = hot_run_learned_open(&job);
    if (status == HOT_OK) {
        const char *text = word(job.learned, "record");
        *record = hot_string_copy(context, text ? text : "");
        status = *record ? HOT_OK : HOT_ERROR_MEMORY;
    }
    cJSON_Delete(job.learned);
    return status;
}
