/* The file is JSON. Numbers that decide results have 17 digits: cJSON's own may lose the last bit. */
#include "learned.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "core/fingerprint.h"
#include "model/model.h"
#include "option_table.h"

enum { FORMAT = 1, MAX_COUNT = 1 << 30 };

/* Numbers of a struct, by the names of the file. */
typedef struct field {
    const char *name;
    size_t offset, count;
    int optional; /* files written before P(k) was tempered lack it */
} field;

#define LEARNED(name, member) {name, offsetof(hot_signal_learned, member), 1, 0}
static const field numbers_learned[] = {LEARNED("b0", bright), LEARNED("not_positive", share), LEARNED("sigma", sigma),
                                        LEARNED("ceiling", ceiling)};
#define PRIOR(member) {#member, offsetof(hot_signal_priors, member), \
                       sizeof((hot_signal_priors *)0)->member / sizeof(double), 0}
#define LATER(member) {#member, offsetof(hot_signal_priors, member), \
                       sizeof((hot_signal_priors *)0)->member / sizeof(double), 1}
static const field priors[] = {
    PRIOR(width), PRIOR(isotropic), PRIOR(water), PRIOR(ln_diffusivity), PRIOR(ln_diffusivity_none), PRIOR(share),
    PRIOR(near), PRIOR(told), PRIOR(evidence_scale), PRIOR(evidence_shift), PRIOR(spread), PRIOR(noise),
    PRIOR(noise_freedom), PRIOR(cone_variance), PRIOR(recovered), PRIOR(fan), LATER(certainty), LATER(cone_growth)};
enum { NUMBERS = sizeof numbers_learned / sizeof *numbers_learned, PRIORS = sizeof priors / sizeof *priors };

static double *number_at(const void *object, const field *f)
{
    return (double *)(uintptr_t)((const char *)object + f->offset);
}

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

/* NaN if missing. */
static double number(const cJSON *object, const char *name)
{
    const cJSON *item = get(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* A count of at most `max`; larger than that if missing. */
static size_t whole(const cJSON *object, const char *name, size_t max)
{
    const double value = number(object, name);
    return value >= 0 && value <= (double)max ? (size_t)value : max + 1;
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

static hot_status damaged(const hot_run_state *run, const char *what)
{
    return hot_context_fail(run->context, HOT_ERROR_FORMAT, "'%s' is damaged: %s; make it again with hotfiber learn",
                            run->inputs.options.learned, what);
}

/* The option that it came by. */
static const char *given_by(const hot_run_state *run) { return run->resume ? "resume" : "learned"; }

/* ---- Steps ----------------------------------------------------------------------------------------------------- */

hot_status hot_run_learned_open(hot_run_state *run)
{
    hot_run_learned *learned = &run->learned;
    const hot_run_options *options = &run->inputs.options;
    if (!options->learned)
        return HOT_OK;
    if (options->response || options->fit->response)
        return hot_context_fail_parameter(run->context, HOT_ERROR_ARGUMENT, "response", "it is in '%s' already: give "
                                          "it to hotfiber learn, and leave it out here", options->learned);
    hot_status status = hot_report_load(run->context, options->learned, &learned->file);
    if (status == HOT_OK && number(learned->file, "hotfiber_model") != FORMAT)
        status = hot_context_fail(run->context, HOT_ERROR_FORMAT, "'%s' is nothing that this version's hotfiber learn "
                                  "has written", options->learned);
    const char *from = word(get(learned->file, "response"), "from");
    if (from && strcmp(from, "estimated") != 0)
        run->inputs.by_default = 0; /* as with an explicit option */
    return status;
}

hot_status hot_run_learned_step(hot_run_state *run, const char *name, hot_run_step *learn, hot_run_step *load)
{
    hot_run_learned *learned = &run->learned;
    const cJSON *line;
    if (learned->file) {
        cJSON_ArrayForEach(line, get(get(learned->file, "log"), name)) {
            const char *level = word(line, "level"), *text = word(line, "text");
            if (level && text)
                hot_context_log(run->context, strcmp(level, "warning") == 0 ? HOT_LOG_WARNING : HOT_LOG_NOTE, "%s",
                                text);
        }
        return load(run);
    }
    const int before = cJSON_GetArraySize(run->log);
    hot_status status = learn(run);
    if (status == HOT_OK && (run->inputs.options.learn || run->inputs.options.resume)) {
        if (!learned->said)
            learned->said = cJSON_CreateObject();
        cJSON *lines = cJSON_AddArrayToObject(learned->said, name);
        for (int n = before; n < cJSON_GetArraySize(run->log); n++)
            cJSON_AddItemToArray(lines, cJSON_Duplicate(cJSON_GetArrayItem(run->log, n), 1));
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
    for (size_t v = 0, length = 0; text && v < voxels; v += length) {
        const int inside = mask->bytes[v] != 0;
        if (v == 0 && inside)
            used += (size_t)snprintf(text, 3, "0 ");
        for (length = 1; v + length < voxels && (mask->bytes[v + length] != 0) == inside; length++) {}
        used += (size_t)snprintf(text + used, 22, "%s%zu", v > 0 ? " " : "", length);
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

hot_status hot_run_load_mask(hot_run_state *run)
{
    const cJSON *mask = get(run->learned.file, "mask"), *noise = get(run->learned.file, "noise");
    const hot_grid *grid = hot_dwi_grid(run->inputs.dwi);
    const char *runs = word(mask, "runs");
    double size[3];
    run->learned.mask_from = word(mask, "from");
    if (!run->learned.mask_from || !runs || !numbers(mask, "size", 3, size))
        return damaged(run, "it has no mask");
    for (int axis = 0; axis < 3; axis++)
        if (size[axis] != (double)grid->size[axis])
            return hot_context_fail_parameter(run->context, HOT_ERROR_DATA, given_by(run),
                                              "'%s' was learned from data of %.0f x %.0f x %.0f voxels, and these "
                                              "have %zu x %zu x %zu",
                                              run->inputs.options.learned, size[0], size[1], size[2], grid->size[0],
                                              grid->size[1], grid->size[2]);
    hot_status status = hot_mask_full(run->context, grid, &run->learned.mask);
    if (status == HOT_OK)
        run->learned.mask->inside = 0;
    if (status == HOT_OK &&
        (!read_runs(runs, hot_grid_voxels(grid), run->learned.mask) || run->learned.mask->inside == 0))
        status = damaged(run, "its mask is not one of this size");
    if (status != HOT_OK)
        return status;
    run->results.counts.voxels = run->learned.mask->inside;
    run->learned.sigma = number(noise, "sigma");
    run->learned.snr = number(noise, "snr");
    return HOT_OK;
}

hot_status hot_run_load_gradients(hot_run_state *run)
{
    const cJSON *found = get(run->learned.file, "gradients");
    if (found)
        run->learned.gradients = cJSON_Duplicate(found, 1);
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

static hot_status read_response(const hot_run_state *run, const cJSON *object, hot_response **response)
{
    const size_t shells = (size_t)cJSON_GetArraySize(get(object, "b")), lmax = whole(object, "lmax", 64);
    if (shells == 0 || lmax > 64 || lmax % 2)
        return damaged(run, "a response is none");
    hot_status status = hot_response_make(run->context, shells, (int)lmax, response);
    if (status == HOT_OK && (!numbers(object, "b", shells, (*response)->b) ||
                             !numbers(object, "coefficients", shells * (lmax / 2 + 1), (*response)->rows)))
        status = damaged(run, "a response is none");
    if (status == HOT_OK) {
        const double typical = number(object, "typical");
        (*response)->typical = typical > 0 && typical <= 1 ? typical : 1; /* NaN: the file is older */
        const double noise = number(object, "noise");
        (*response)->noise = noise > 0 && noise < 1 ? noise : 0;
    }
    return status;
}

hot_status hot_run_load_response(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_learned *learned = &run->learned;
    const cJSON *kept = get(learned->file, "response"), *item;
    size_t count = 0;
    hot_status status = HOT_OK;
    const hot_model *model = hot_model_find(in->fit.model);
    if (!kept) /* a name that is none's is refused by the fit */
        return model && model->needs_response ? damaged(run, "it has no response") : HOT_OK;
    learned->response_from = word(kept, "from");
    const size_t voxels = whole(kept, "voxels", SIZE_MAX >> 12);
    learned->response_voxels = voxels <= SIZE_MAX >> 12 ? voxels : 0;
    cJSON_ArrayForEach(item, get(kept, "tissues")) {
        if (count > HOT_TISSUES_MAX - 1)
            return damaged(run, "it has too many tissues");
        status = read_response(run, item, count == 0 ? &learned->response : &learned->tissues[learned->tissue_count]);
        learned->tissue_count += count > 0 && learned->tissues[learned->tissue_count];
        count++;
        if (status != HOT_OK)
            return status;
    }
    if (!learned->response_from || count == 0)
        return damaged(run, "it has no response");
    in->fit.tissues = count > 1 ? (const hot_response *const *)learned->tissues : NULL;
    in->fit.tissue_count = learned->tissue_count;
    return HOT_OK;
}

/* ---- The signal method ----------------------------------------------------------------------------------------- */

void hot_run_add_population(cJSON *object, const hot_signal_priors *population, int plain)
{
    for (size_t i = 0; i < PRIORS; i++) {
        const double *values = number_at(population, &priors[i]);
        if (plain && priors[i].count == 1)
            cJSON_AddNumberToObject(object, priors[i].name, *values);
        else if (plain)
            cJSON_AddItemToObject(object, priors[i].name, cJSON_CreateDoubleArray(values, (int)priors[i].count));
        else
            add_all(object, priors[i].name, values, priors[i].count);
    }
}

static cJSON *write_signal(const hot_signal_learned *learned)
{
    cJSON *object = cJSON_CreateObject(), *use = cJSON_AddArrayToObject(object, "volumes");
    for (size_t i = 0; i < NUMBERS; i++)
        add(object, numbers_learned[i].name, *number_at(learned, &numbers_learned[i]));
    for (size_t i = 0; i < learned->used; i++)
        cJSON_AddItemToArray(use, cJSON_CreateNumber((double)learned->use[i]));
    cJSON_AddNumberToObject(object, "noise_model", learned->noise_model);
    cJSON_AddBoolToObject(object, "from_residuals", learned->from_residuals);
    cJSON_AddNumberToObject(object, "sampled", (double)learned->sampled);
    cJSON *population = cJSON_AddObjectToObject(object, "population");
    cJSON_AddBoolToObject(population, "there", learned->population.size != 0);
    hot_run_add_population(population, &learned->population, 0);
    return object;
}

/* Whether the priors are numbers. */
static int read_population(const cJSON *from, hot_signal_priors *population)
{
    int fine = 1;
    hot_signal_priors_default(population);
    for (size_t i = 0; i < PRIORS && fine; i++) {
        double *values = number_at(population, &priors[i]);
        if (priors[i].optional && !get(from, priors[i].name))
            continue;
        fine = numbers(from, priors[i].name, priors[i].count, values);
        for (size_t n = 0; n < priors[i].count && fine; n++)
            fine = isfinite(values[n]);
    }
    population->size = cJSON_IsTrue(get(from, "there")) ? sizeof *population : 0;
    return fine;
}

hot_status hot_run_load_signal(hot_run_state *run)
{
    const size_t volumes = hot_dwi_volumes(run->inputs.dwi);
    hot_signal_learned *mine = &run->learned.signal;
    const cJSON *kept = get(run->learned.file, "signal"), *item;
    if (!kept || !get(kept, "population"))
        return damaged(run, "it has nothing for the signal method");
    for (size_t i = 0; i < NUMBERS; i++)
        *number_at(mine, &numbers_learned[i]) = number(kept, numbers_learned[i].name);
    mine->noise_model = (hot_noise_model)whole(kept, "noise_model", HOT_NOISE_GAUSSIAN);
    mine->from_residuals = cJSON_IsTrue(get(kept, "from_residuals"));
    if (mine->from_residuals && isnan(mine->sigma))
        mine->sigma = INFINITY; /* the residuals told none */
    mine->sampled = whole(kept, "sampled", MAX_COUNT);
    mine->use = hot_context_alloc(run->context, volumes, sizeof *mine->use);
    if (!mine->use)
        return HOT_ERROR_MEMORY;
    cJSON_ArrayForEach(item, get(kept, "volumes")) {
        const double v = cJSON_IsNumber(item) ? item->valuedouble : -1;
        const double min = mine->used > 0 ? (double)mine->use[mine->used - 1] + 1 : 0;
        if (!(v >= min && v < (double)volumes))
            return damaged(run, "its list of volumes is none of these data");
        mine->use[mine->used++] = (size_t)v;
    }
    mine->known = 1;
    return mine->used > 0 && isfinite(mine->bright) && mine->noise_model <= HOT_NOISE_GAUSSIAN &&
                   read_population(get(kept, "population"), &mine->population)
               ? HOT_OK : damaged(run, "a number of the signal method's is none");
}

/* ---- The whole ------------------------------------------------------------------------------------------------- */

uint64_t hot_run_learned_sum(const hot_run_state *run)
{
    if (!run->inputs.method->find_in_signals)
        return 0;
    cJSON *signal = write_signal(&run->learned.signal);
    char *text = hot_report_line(signal);
    const uint64_t sum = text ? hot_fingerprint_bytes(0, text, strlen(text)) : 0;
    cJSON_free(text);
    cJSON_Delete(signal);
    return sum;
}

/* The data and options of the model. */
static hot_status describe(const hot_run_state *run, cJSON **made_of)
{
    hot_status status = hot_run_describe(run, HOT_LEARNS, made_of);
    if (status == HOT_OK && run->inputs.order_before)
        cJSON_ReplaceItemInObject(*made_of, "order", cJSON_CreateNumber(run->inputs.order_before));
    return status;
}

hot_status hot_run_learned_check(hot_run_state *run)
{
    char how[256];
    cJSON *made_of = NULL;
    if (!run->learned.file)
        return HOT_OK;
    hot_status status = describe(run, &made_of);
    if (status == HOT_OK && hot_run_differ(made_of, get(run->learned.file, "made_of"), how, sizeof how))
        status = hot_context_fail_parameter(run->context, HOT_ERROR_DATA, given_by(run),
                                            "'%s' was learned from other data or with other options: %s",
                                            run->inputs.options.learned, how);
    cJSON_Delete(made_of);
    return status;
}

hot_status hot_run_learned_save(hot_run_state *run, const char *path)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_learned *learned = &run->learned;
    cJSON *root = cJSON_CreateObject(), *made_of = NULL;
    const hot_grid *grid = &learned->mask->grid;
    char *runs = write_runs(run->context, learned->mask);
    hot_status status = runs ? describe(run, &made_of) : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    cJSON_AddNumberToObject(root, "hotfiber_model", FORMAT);
    if (in->options.record)
        cJSON_AddStringToObject(root, "record", in->options.record);
    cJSON_AddItemToObject(root, "made_of", made_of);
    cJSON *noise = cJSON_AddObjectToObject(root, "noise"), *mask = cJSON_AddObjectToObject(root, "mask");
    add(noise, "sigma", learned->sigma);
    add(noise, "snr", learned->snr);
    if (learned->gradients)
        cJSON_AddItemToObject(root, "gradients", cJSON_Duplicate(learned->gradients, 1));
    if (learned->response) {
        cJSON *response = cJSON_AddObjectToObject(root, "response");
        cJSON_AddStringToObject(response, "from", learned->response_from);
        cJSON_AddNumberToObject(response, "voxels", (double)learned->response_voxels);
        cJSON *tissues = cJSON_AddArrayToObject(response, "tissues");
        cJSON_AddItemToArray(tissues, write_response(learned->response));
        for (size_t t = 0; t < learned->tissue_count; t++)
            cJSON_AddItemToArray(tissues, write_response(learned->tissues[t]));
    }
    if (in->method->find_in_signals)
        cJSON_AddItemToObject(root, "signal", write_signal(&learned->signal));
    if (learned->said)
        cJSON_AddItemToObject(root, "log", cJSON_Duplicate(learned->said, 1));
    cJSON_AddStringToObject(mask, "from", learned->mask_from);
    add_all(mask, "size", (double[]){(double)grid->size[0], (double)grid->size[1], (double)grid->size[2]}, 3);
    cJSON_AddStringToObject(mask, "runs", runs);
    status = hot_report_save(run->context, root, path);
cleanup:
    cJSON_Delete(root);
    hot_context_free(run->context, runs);
    return status;
}

hot_status hot_run_learned_record(hot_context *context, const char *path, char **record)
{
    HOT_ENTRY(context);
    HOT_CLEAR(record);
    HOT_NEED(context, path, record);
    hot_run_state run = {.context = context, .inputs.options.learned = path};
    run.inputs.options.fit = &run.inputs.fit;
    hot_status status = hot_run_learned_open(&run);
    if (status == HOT_OK) {
        const char *text = word(run.learned.file, "record");
        *record = hot_string_copy(context, text ? text : "");
        status = *record ? HOT_OK : HOT_ERROR_MEMORY;
    }
    cJSON_Delete(run.learned.file);
    return status;
}
