#include "option_table.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fingerprint.h"
#include "core/image.h"
#include "dwi/fingerprint.h"
#include "io/common/file_open.h"
#include "resume.h"

static const char *const constraints[] = {[HOT_CONSTRAINT_NONNEGATIVE] = "nonnegative", [HOT_CONSTRAINT_NONE] = "none",
                                          [HOT_CONSTRAINT_HPSD] = "hpsd"};
static const char *const kernels[] = {[HOT_KERNEL_RANK1] = "rank1", [HOT_KERNEL_DELTA] = "delta"};
static const char *const shifts[] = {[HOT_SHIFT_ADAPTIVE] = "adaptive", [HOT_SHIFT_FIXED] = "fixed",
                                     [HOT_SHIFT_NONE] = "none"};
static const char *const noises[] = {[HOT_NOISE_AUTO] = "auto", [HOT_NOISE_RICIAN] = "rician",
                                     [HOT_NOISE_GAUSSIAN] = "gaussian"};

#define RUN(member) #member, NULL, HOT_OF_RUN, offsetof(hot_run_options, member)
#define RUN_AS(member, option) #member, option, HOT_OF_RUN, offsetof(hot_run_options, member)
#define FIT(member) #member, NULL, HOT_OF_FIT, offsetof(hot_fit_options, member)
#define FIT_AS(member, option) #member, option, HOT_OF_FIT, offsetof(hot_fit_options, member)
#define PEAKS(member) #member, NULL, HOT_OF_PEAKS, offsetof(hot_peaks_options, member)
#define PEAKS_AS(member, option) #member, option, HOT_OF_PEAKS, offsetof(hot_peaks_options, member)
#define SIGNAL(member) #member, NULL, HOT_OF_SIGNAL, offsetof(hot_signal_find_options, member)
#define SIGNAL_AS(member, option) #member, option, HOT_OF_SIGNAL, offsetof(hot_signal_find_options, member)
enum { BOTH = HOT_PART_KEEPS | HOT_MODEL_KEEPS, LEARNS = HOT_LEARNS | BOTH, FINDS = HOT_FINDS | BOTH };

static const hot_run_row table[] = {
    {FIT(model), HOT_IS_TEXT, LEARNS, HOT_SHOWN, NULL},
    {FIT(order), HOT_IS_INT, LEARNS, HOT_SHOWN, NULL},
    {RUN(denoise), HOT_IS_FLAG, LEARNS, HOT_SHOWN, NULL},
    {RUN(mask), HOT_IS_IMAGE, HOT_RESUMES | HOT_PART_KEEPS, HOT_SHOWN, NULL},
    {RUN(response), HOT_IS_FILES, HOT_RESUMES | HOT_PART_KEEPS, HOT_SHOWN, NULL},
    {RUN_AS(axial_diffusivity, "diffusivities"), HOT_IS_DOUBLE, LEARNS, HOT_SHOWN_DIFFUSIVITIES, NULL},
    {RUN_AS(radial_diffusivity, "diffusivities"), HOT_IS_DOUBLE, LEARNS, HOT_SHOWN_DIFFUSIVITIES, NULL},
    {FIT(regularise), HOT_IS_DOUBLE, FINDS, HOT_SHOWN_KNOWN, NULL},
    {FIT(constraint), HOT_IS_NAME, FINDS, HOT_SHOWN_MSMT, constraints},
    {FIT(kernel), HOT_IS_NAME, FINDS, HOT_SHOWN_MSMT, kernels},
    {FIT(normalise), HOT_IS_FLAG, FINDS, HOT_SHOWN_MSMT, NULL},
    {PEAKS(method), HOT_IS_TEXT, LEARNS, HOT_SHOWN, NULL},
    {PEAKS(max_fibers), HOT_IS_INT, LEARNS, HOT_SHOWN, NULL},
    {SIGNAL(noise_model), HOT_IS_NAME, LEARNS, HOT_SHOWN_SIGNAL, noises},
    {PEAKS(threshold), HOT_IS_DOUBLE, FINDS, HOT_SHOWN_TENSORS, NULL},
    {PEAKS(min_angle), HOT_IS_DOUBLE, FINDS, HOT_SHOWN_TENSORS, NULL},
    {PEAKS(min_amplitude), HOT_IS_DOUBLE, FINDS, HOT_SHOWN_TENSORS, NULL},
    {PEAKS(starts), HOT_IS_SIZE, FINDS, HOT_SHOWN_STARTS, NULL},
    {PEAKS(shift), HOT_IS_NAME, FINDS, HOT_SHOWN_STARTS, shifts},
    {PEAKS_AS(alpha, ""), HOT_IS_DOUBLE, HOT_FINDS, HOT_NOT_SHOWN, NULL}, /* shown in the place of a fixed shift */

    {FIT(positive), HOT_IS_FLAG, FINDS, HOT_NOT_SHOWN, NULL},
    {FIT_AS(weighted, "weights"), HOT_IS_INT, FINDS, HOT_NOT_SHOWN, NULL},
    {FIT_AS(estimate_s0, "known_b0"), HOT_IS_FLAG, FINDS, HOT_NOT_SHOWN, NULL},
    {FIT_AS(directions, ""), HOT_IS_MEMORY, HOT_FINDS, HOT_NOT_SHOWN, NULL},
    {FIT_AS(direction_count, ""), HOT_IS_SIZE, HOT_FINDS, HOT_NOT_SHOWN, NULL},
    {SIGNAL(sigma), HOT_IS_DOUBLE, LEARNS, HOT_NOT_SHOWN, NULL},
    {SIGNAL_AS(order, ""), HOT_IS_INT, HOT_LEARNS, HOT_NOT_SHOWN, NULL},
    {SIGNAL_AS(clean_response, ""), HOT_IS_FLAG, HOT_LEARNS, HOT_NOT_SHOWN, NULL},
    {SIGNAL_AS(denoised, ""), HOT_IS_FLAG, HOT_LEARNS, HOT_NOT_SHOWN, NULL},
    {SIGNAL(samples), HOT_IS_INT, FINDS, HOT_NOT_SHOWN, NULL},
    {SIGNAL_AS(keep_cones, ""), HOT_IS_FLAG, HOT_RESUMES, HOT_NOT_SHOWN, NULL}, /* parts: the width of a row */
    {RUN_AS(mask_in_memory, ""), HOT_IS_MEMORY, HOT_RESUMES, HOT_NOT_SHOWN, NULL},
    {FIT_AS(response, ""), HOT_IS_MEMORY, HOT_FINDS, HOT_NOT_SHOWN, NULL},
    {FIT_AS(tissues, ""), HOT_IS_MEMORY, HOT_FINDS, HOT_NOT_SHOWN, NULL},
    {FIT_AS(tissue_count, ""), HOT_IS_SIZE, HOT_FINDS, HOT_NOT_SHOWN, NULL},
    {RUN(learned), HOT_IS_FILES, HOT_RESUMES | HOT_PART_KEEPS, HOT_NOT_SHOWN, NULL},

    /* In the sum of the data: their values, b-values and directions, or of the map where the data are known. */
    {RUN_AS(input, "i"), HOT_IS_TEXT, BOTH, HOT_NOT_SHOWN, NULL},
    {RUN(bval), HOT_IS_TEXT, BOTH, HOT_NOT_SHOWN, NULL},
    {RUN_AS(bval, "grad"), HOT_IS_TEXT, BOTH, HOT_NOT_SHOWN, NULL},
    {RUN(bvec), HOT_IS_TEXT, BOTH, HOT_NOT_SHOWN, NULL},
    {SIGNAL_AS(sigma_map, ""), HOT_IS_MEMORY, 0, HOT_NOT_SHOWN, NULL},
    /* Set by the run itself. */
    {SIGNAL_AS(max_fibers, ""), HOT_IS_INT, 0, HOT_NOT_SHOWN, NULL},
    {SIGNAL_AS(keep_maps, ""), HOT_IS_FLAG, 0, HOT_NOT_SHOWN, NULL},
    {SIGNAL_AS(part, ""), HOT_IS_MEMORY, 0, HOT_NOT_SHOWN, NULL},
    {PEAKS_AS(mask, ""), HOT_IS_MEMORY, 0, HOT_NOT_SHOWN, NULL},
    /* Where results go, and how much of them; what a run of parts does. Which outputs there are shows in what is kept
     * of a voxel, which resume.c has a look at. */
    {RUN_AS(output, "o"), HOT_IS_TEXT, 0, HOT_NOT_SHOWN, NULL},
    {RUN(force), HOT_IS_FLAG, 0, HOT_NOT_SHOWN, NULL},
    {RUN(outputs), HOT_IS_TEXT, HOT_PART_KEEPS, HOT_NOT_SHOWN, NULL},
    {RUN(report), HOT_IS_FLAG, HOT_PART_KEEPS, HOT_NOT_SHOWN, NULL},
    {RUN(part), HOT_IS_INT, 0, HOT_NOT_SHOWN, NULL},
    {RUN_AS(parts, ""), HOT_IS_INT, 0, HOT_NOT_SHOWN, NULL},
    {RUN(merge), HOT_IS_TEXT, 0, HOT_NOT_SHOWN, NULL},
    {RUN_AS(record, ""), HOT_IS_TEXT, 0, HOT_NOT_SHOWN, NULL},
    {RUN_AS(learn, ""), HOT_IS_TEXT, 0, HOT_NOT_SHOWN, NULL},
    {RUN(resume), HOT_IS_FLAG, 0, HOT_NOT_SHOWN, NULL},
    /* Results are the same with any. */
    {RUN(force_table), HOT_IS_FLAG, BOTH, HOT_NOT_SHOWN, NULL},
    {RUN(memory), HOT_IS_SIZE, HOT_PART_KEEPS, HOT_NOT_SHOWN, NULL},
};
enum { ROWS = sizeof table / sizeof *table };

const hot_run_row *hot_run_row_at(size_t index) { return index < ROWS ? &table[index] : NULL; }

const void *hot_run_member(const hot_run_options *options, const hot_run_row *row)
{
    const void *const structs[HOT_RUN_GROUPS] = {[HOT_OF_RUN] = options, [HOT_OF_FIT] = options->fit,
                                                 [HOT_OF_PEAKS] = options->peaks, [HOT_OF_SIGNAL] = options->signal};
    return (const char *)structs[row->group] + row->offset;
}

unsigned hot_run_option_use(const char *option)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(table[i].option ? table[i].option : table[i].name, option) == 0)
            return table[i].use;
    return 0;
}

/* ---- Contents -------------------------------------------------------------------------------------------------- */

cJSON *hot_run_exact(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return isfinite(value) ? cJSON_CreateRaw(text) : cJSON_CreateNull();
}

cJSON *hot_run_sum_text(uint64_t sum)
{
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    return cJSON_CreateString(text);
}

/* Adds a file's content to the sum; nothing where it is not there. */
static hot_status sum_file(hot_context *context, const char *name, const char *path, uint64_t *sum)
{
    enum { PORTION = 1 << 20 };
    struct stat about;
    FILE *file = NULL;
    if (strcmp(path, "-") == 0 || (stat(path, &about) == 0 && !S_ISREG(about.st_mode)))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, name,
                                          "'%s' cannot be read again by a run that goes on; give a file", path);
    if (access(path, R_OK) != 0)
        return HOT_OK;
    hot_status status = hot_file_open(context, path, HOT_FILE_GIVEN, &file);
    char *portion = status == HOT_OK ? hot_context_alloc(context, PORTION, 1) : NULL;
    if (status == HOT_OK && !portion)
        status = HOT_ERROR_MEMORY;
    for (size_t count = 1; status == HOT_OK && count > 0;) {
        count = fread(portion, 1, PORTION, file);
        *sum = hot_fingerprint_bytes(*sum, portion, count);
        status = hot_context_check(context, "comparing the inputs");
    }
    hot_context_free(context, portion);
    if (file)
        fclose(file);
    return status;
}

static hot_status sum_image(hot_context *context, const char *name, const char *path, uint64_t *sum)
{
    hot_image image = {0};
    hot_status status = sum_file(context, name, path, sum);
    if (status == HOT_OK && hot_image_open(context, path, &image) == HOT_OK)
        for (size_t i = 0; i < image.file_count && status == HOT_OK; i++) /* a header's data */
            status = sum_file(context, name, image.files[i], sum);
    hot_image_close(&image);
    return status;
}

static hot_status sum_files(hot_context *context, const char *name, const char *list, uint64_t *sum)
{
    hot_status status = HOT_OK;
    for (const char *at = list; at && status == HOT_OK;) {
        const size_t length = strcspn(at, ",");
        char *path = hot_context_calloc(context, length + 1, 1);
        status = path ? sum_file(context, name, memcpy(path, at, length), sum) : HOT_ERROR_MEMORY;
        *sum = hot_fingerprint_mix(*sum);
        hot_context_free(context, path);
        at = at[length] ? at + length + 1 : NULL;
    }
    return status;
}

static uint64_t sum_response(uint64_t sum, const hot_response *response)
{
    if (!response)
        return sum;
    const double about[] = {(double)response->shells, response->lmax, response->typical, response->noise};
    sum = hot_fingerprint_bytes(sum, about, sizeof about);
    sum = hot_fingerprint_bytes(sum, response->b, response->shells * sizeof *response->b);
    return hot_fingerprint_bytes(sum, response->rows, response->shells * (size_t)(response->lmax / 2 + 1) *
                                                          sizeof *response->rows);
}

/* What a pointer of the options leads to; 0 where there is nothing. */
static uint64_t sum_memory(const hot_run_options *o, const hot_run_row *row)
{
    uint64_t sum = 0;
    const void *at = hot_run_member(o, row);
    const hot_fit_options *fit = o->fit;
    if (at == &o->mask_in_memory && o->mask_in_memory)
        sum = hot_fingerprint_bytes(1, o->mask_in_memory->bytes, hot_grid_voxels(&o->mask_in_memory->grid));
    else if (at == &fit->response)
        sum = sum_response(0, fit->response);
    else if (at == &fit->tissues)
        for (size_t t = 0; fit->tissues && t < fit->tissue_count; t++)
            sum = sum_response(sum, fit->tissues[t]);
    else if (at == &fit->directions && fit->directions)
        sum = hot_fingerprint_bytes(1, fit->directions, 3 * fit->direction_count * sizeof *fit->directions);
    return sum;
}

hot_status hot_run_sum_data(hot_run_job *job)
{
    const hot_run_options *o = &job->options;
    if (!o->resume && !o->learn && !job->learned && !o->parts && !o->merge)
        return HOT_OK;
    hot_status status = hot_dwi_fingerprint(job->context, job->dwi, &job->data_sum);
    if (status == HOT_OK && o->signal->sigma_map)
        job->data_sum = hot_fingerprint_bytes(job->data_sum, o->signal->sigma_map,
                                              hot_grid_voxels(hot_dwi_grid(job->dwi)) * sizeof *o->signal->sigma_map);
    return status == HOT_OK ? hot_run_resume_check(job) : status;
}

/* ---- Values ---------------------------------------------------------------------------------------------------- */

static hot_status value_of(const hot_run_job *job, const hot_run_row *row, cJSON **value)
{
    const hot_run_options *o = &job->options;
    const void *at = hot_run_member(o, row);
    const char *const text = row->type >= HOT_IS_TEXT && row->type <= HOT_IS_FILES ? *(const char *const *)at : NULL;
    uint64_t sum = 0;
    hot_status status = HOT_OK;
    switch (row->type) {
    case HOT_IS_SIZE: *value = hot_run_exact((double)*(const size_t *)at); break;
    case HOT_IS_DOUBLE: *value = hot_run_exact(*(const double *)at); break;
    case HOT_IS_FLAG: *value = cJSON_CreateBool(*(const int *)at != 0); break;
    case HOT_IS_NAME:
    case HOT_IS_INT: *value = hot_run_exact(*(const int *)at); break;
    case HOT_IS_TEXT: *value = cJSON_CreateString(text ? text : ""); break;
    case HOT_IS_MEMORY: *value = hot_run_sum_text(sum_memory(o, row)); break;
    case HOT_IS_IMAGE:
    case HOT_IS_FILES:
        if (text)
            status = row->type == HOT_IS_IMAGE ? sum_image(job->context, row->name, text, &sum)
                                               : sum_files(job->context, row->name, text, &sum);
        *value = text ? hot_run_sum_text(sum) : cJSON_CreateString("");
    }
    return status;
}

hot_status hot_run_describe_options(const hot_run_job *job, unsigned use, cJSON **object)
{
    static const char *const groups[] = {"run_", "fit_", "peaks_", "signal_"}; /* which share some names */
    hot_status status = HOT_OK;
    *object = cJSON_CreateObject();
    for (size_t i = 0; i < ROWS && status == HOT_OK; i++) {
        char name[64];
        cJSON *value = NULL;
        if (!(table[i].use & use))
            continue;
        snprintf(name, sizeof name, "%s%s", cJSON_HasObjectItem(*object, table[i].name) ? groups[table[i].group] : "",
                 table[i].name);
        status = value_of(job, &table[i], &value);
        if (!cJSON_AddItemToObject(*object, name, value)) {
            cJSON_Delete(value);
            status = status == HOT_OK ? hot_context_fail(job->context, HOT_ERROR_MEMORY, "out of memory for options")
                                      : status;
        }
    }
    if (status != HOT_OK) {
        cJSON_Delete(*object);
        *object = NULL;
    }
    return status;
}

int hot_run_differ(const cJSON *here, const cJSON *there, char *text, size_t size)
{
    const cJSON *item;
    int differ = 0;
    cJSON_ArrayForEach(item, here) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(there, item->string);
        if (cJSON_IsObject(item) && cJSON_IsObject(other)) {
            if (hot_run_differ(item, other, text, size))
                return 1;
            continue;
        }
        char *now = hot_report_line(item), *before = hot_report_line(other);
        if (!now || strcmp(now, before ? before : "") != 0) {
            snprintf(text, size, "%s is %s here and was %s", item->string, now ? now : "not known",
                     before ? before : "not noted");
            differ = 1;
        }
        cJSON_free(now);
        cJSON_free(before);
        if (differ)
            break;
    }
    return differ;
}
