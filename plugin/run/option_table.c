#include "option_table.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fingerprint.h"
#include "core/image.h"
#include "io/common/file_open.h"
#include "learned.h"

enum { BOTH = HOT_PART_KEEPS | HOT_MODEL_KEEPS, LEARNS = HOT_LEARNS | BOTH, FINDS = HOT_FINDS | BOTH,
       LEARN = HOT_LEARN_TAKES, COMMON = HOT_COMMON };

#define ROW(GROUP, member, option, type, use, shown) \
    #member, option, HOT_OF_##GROUP, offsetof(struct_of_##GROUP, member), type, use, shown
typedef hot_run_options struct_of_RUN;
typedef hot_fit_options struct_of_FIT;
typedef hot_peaks_options struct_of_PEAKS;
typedef hot_signal_find_options struct_of_SIGNAL;
#define F(word) #word
#define E(word) "|" #word
#define FLAG(GROUP, member, option, use, shown, label, help) \
    {ROW(GROUP, member, #option, HOT_IS_FLAG, use, shown), NULL, NULL, 0, 0, help, 0, TOPIC},
#define CHOICE(GROUP, member, option, type, use, shown, preset, label, help, words) \
    {ROW(GROUP, member, #option, type, use, shown), words, words, 0, 0, help, 0, TOPIC},
#define NUMBER(GROUP, member, option, use, shown, value, low, high, step, label, help) \
    {ROW(GROUP, member, #option, HOT_IS_DOUBLE, use, shown), NULL, value, low, high, help, 0, TOPIC},
#define COUNT(GROUP, member, option, type, use, shown, low, high, label, help) \
    {ROW(GROUP, member, #option, type, use, shown), NULL, "N", low, high, help, 0, TOPIC},
#define WORD(GROUP, member, option, type, use, shown, value, preset, label, help) \
    {ROW(GROUP, member, #option, type, use, shown), "adaptive|fixed|none", value, 0, 0, help, 0, TOPIC},
#define PAIR(GROUP, member, second, option, use, shown, value, low, high, step, label, help) \
    {ROW(GROUP, member, #option, HOT_IS_DOUBLE, use, shown), NULL, value, low, high, help, \
     offsetof(struct_of_##GROUP, second), TOPIC}, \
    {ROW(GROUP, second, #option, HOT_IS_DOUBLE, use, shown), NULL, value, low, high, NULL, 0, TOPIC},
#define FILE_OPTION(GROUP, member, option, type, use, shown, value, suffixes, label, help) \
    {ROW(GROUP, member, #option, type, use, shown), NULL, value, 0, 0, help, 0, TOPIC},
#define IMAGE_OPTION FILE_OPTION
#define COMMAND(GROUP, member, option, type, use, shown, value, low, high, help) \
    {ROW(GROUP, member, option, type, use, shown), NULL, value, low, high, help, 0, TOPIC},
#define MEMBER(GROUP, member, type, use, shown) \
    {ROW(GROUP, member, "", type, use, shown), NULL, NULL, 0, 0, NULL, 0, TOPIC},
static const hot_run_row table[] = {
#define HOT_OPTIONS_FILES
#define TOPIC "parts, resuming, memory"
#include "options.inc"
#undef HOT_OPTIONS_FILES
#undef TOPIC
#define HOT_OPTIONS_GRADIENTS
#define TOPIC "gradient table"
#include "options.inc"
#undef HOT_OPTIONS_GRADIENTS
#undef TOPIC
#define HOT_OPTIONS_MASK
#define TOPIC "gradient table"
#include "options.inc"
#undef HOT_OPTIONS_MASK
#undef TOPIC
#define HOT_OPTIONS_MODEL
#define TOPIC "model and method"
#include "options.inc"
#undef HOT_OPTIONS_MODEL
#undef TOPIC
#define HOT_OPTIONS_DIRECTIONS
#define TOPIC "directions"
#include "options.inc"
#undef HOT_OPTIONS_DIRECTIONS
#undef TOPIC
#define HOT_OPTIONS_RESPONSE
#define TOPIC "response and noise"
#include "options.inc"
#undef HOT_OPTIONS_RESPONSE
#undef TOPIC
#define HOT_OPTIONS_REST
#define TOPIC "directions"
#include "options.inc"
#undef HOT_OPTIONS_REST
#undef TOPIC
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
        if (strcmp(table[i].option, option) == 0)
            return table[i].use;
    return 0;
}

/* Which of "a|b|c" it is, from 0 on; -1 = none. */
static int find_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (int i = 0; *words; i++, words += strcspn(words, "|"), words += *words == '|')
        if (strcspn(words, "|") == length && strncmp(words, word, length) == 0)
            return i;
    return -1;
}

/* Options that set more than a member. Returns -1 for others. */
static int set_several(hot_run_options *run, hot_peaks_options *peaks, const void *at, const char *word)
{
    int end = 0;
    if (at == &run->part)
        return sscanf(word, "%9d/%9d%n", &run->part, &run->parts, &end) == 2 && word[end] == '\0' && run->part >= 1 &&
               run->part <= run->parts;
    if (at == &peaks->shift)
        return hot_shift_parse(word, &peaks->shift, &peaks->alpha) && peaks->alpha >= 0;
    return -1;
}

int hot_run_option_set(const hot_run_options *options, const hot_run_row *row, const char *word,
                       const double *numbers)
{
    char *const at = (char *)(uintptr_t)hot_run_member(options, row);
    hot_run_options *run = (hot_run_options *)(uintptr_t)options;
    const int which = row->words && word ? find_word(row->words, word) : -1;
    const int set = set_several(run, (hot_peaks_options *)(uintptr_t)options->peaks, at, word);
    if (set >= 0)
        return set;
    switch (row->type) {
    case HOT_IS_FLAG: *(int *)at = strncmp(row->option, "no_", 3) != 0; break;
    case HOT_IS_INT: *(int *)at = row->words ? atoi(word) : (int)numbers[0]; break; /* auto: 0 */
    case HOT_IS_SIZE: *(size_t *)at = (size_t)numbers[0]; break;
    case HOT_IS_DOUBLE:
        *(double *)at = numbers[0] == 0 && !row->second ? HOT_ZERO : numbers[0];
        if (row->second)
            *(double *)(at - row->offset + row->second) = numbers[1];
        break;
    case HOT_IS_NAME: /* plain least squares are an explicit 0 */
        *(int *)at = at != (char *)(uintptr_t)&options->fit->weighted ? which : which == 0 ? 1 : HOT_ZERO;
        break;
    case HOT_IS_TEXT: case HOT_IS_IMAGE: case HOT_IS_FILES:
        *(const char **)at = row->words && strcmp(word, "auto") == 0 ? NULL : word;
        break;
    case HOT_IS_MEMORY: return 0;
    }
    return !row->words || which >= 0;
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

/* Adds a file's content to the checksum; nothing if it does not exist. */
static hot_status sum_file(hot_context *context, const char *name, const char *path, uint64_t *sum)
{
    enum { PORTION = 1 << 20 };
    struct stat about;
    FILE *file = NULL;
    if (strcmp(path, "-") == 0 || (stat(path, &about) == 0 && !S_ISREG(about.st_mode)))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, name,
                                          "'%s' cannot be read again by a resumed run; give a file", path);
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

/* The checksum of the data at a pointer of the options; 0 for NULL. */
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

/* ---- Values ---------------------------------------------------------------------------------------------------- */

static hot_status value_of(const hot_run_state *run, const hot_run_row *row, cJSON **value)
{
    const hot_run_options *o = &run->inputs.options;
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
            status = row->type == HOT_IS_IMAGE ? sum_image(run->context, row->name, text, &sum)
                                               : sum_files(run->context, row->name, text, &sum);
        *value = text ? hot_run_sum_text(sum) : cJSON_CreateString("");
    }
    return status;
}

/* Beside the options. Returns whether there was memory for all. */
static int add_rest(const hot_run_state *run, unsigned use, cJSON *object)
{
    const hot_mask *mask = run->learned.mask;
    int fine = cJSON_AddStringToObject(object, "version", hot_version()) &&
               cJSON_AddNumberToObject(object, "seed", (double)hot_context_seed(run->context));
    if (use & HOT_RESUMES)
        return fine && cJSON_AddBoolToObject(object, "maps", !run->inputs.without_maps) &&
               cJSON_AddBoolToObject(object, "tensors", !run->inputs.without_tensors) &&
               cJSON_AddNumberToObject(object, "device", hot_context_device(run->context));
    if (mask)
        fine &= cJSON_AddItemToObject(object, "mask_sum", hot_run_sum_text(hot_fingerprint_bytes(
            0, mask->bytes, hot_grid_voxels(&mask->grid))));
    if ((use & HOT_FINDS) && run->inputs.method)
        fine &= cJSON_AddItemToObject(object, "priors", hot_run_sum_text(hot_run_learned_sum(run))) &&
                cJSON_AddItemToObject(object, "noise", hot_run_exact(run->learned.sigma));
    return fine;
}

hot_status hot_run_describe(const hot_run_state *run, unsigned use, cJSON **object)
{
    static const char *const groups[] = {"run_", "fit_", "peaks_", "signal_"}; /* which share some names */
    hot_status status = HOT_OK;
    *object = cJSON_CreateObject();
    if (run->inputs.data_sum && !(use & HOT_RESUMES) && /* first: other differences may follow from it */
        !cJSON_AddItemToObject(*object, "data", hot_run_sum_text(run->inputs.data_sum)))
        status = hot_context_fail(run->context, HOT_ERROR_MEMORY, "out of memory for options");
    for (size_t i = 0; i < ROWS && status == HOT_OK; i++) {
        char name[64];
        cJSON *value = NULL;
        if (!(table[i].use & use & (HOT_LEARNS | HOT_FINDS | HOT_RESUMES)))
            continue;
        snprintf(name, sizeof name, "%s%s", cJSON_HasObjectItem(*object, table[i].name) ? groups[table[i].group] : "",
                 table[i].name);
        status = value_of(run, &table[i], &value);
        if (!cJSON_AddItemToObject(*object, name, value)) {
            cJSON_Delete(value);
            status = status == HOT_OK ? hot_context_fail(run->context, HOT_ERROR_MEMORY, "out of memory for options")
                                      : status;
        }
    }
    if (status == HOT_OK && !add_rest(run, use, *object))
        status = hot_context_fail(run->context, HOT_ERROR_MEMORY, "out of memory for options");
    if (status != HOT_OK) {
        cJSON_Delete(*object);
        *object = NULL;
    }
    return status;
}

static int items_differ(const cJSON *here, const cJSON *there, char *text, size_t size)
{
    const cJSON *item;
    int differ = 0;
    cJSON_ArrayForEach(item, here) {
        char *now = hot_report_line(item);
        char *before = hot_report_line(cJSON_GetObjectItemCaseSensitive(there, item->string));
        differ = !now || strcmp(now, before ? before : "") != 0;
        if (differ)
            snprintf(text, size, "%s is %s here and was %s", item->string, now ? now : "not known",
                     before ? before : "not noted");
        cJSON_free(now);
        cJSON_free(before);
        if (differ)
            break;
    }
    return differ;
}

int hot_run_differ(const cJSON *here, const cJSON *there, char *text, size_t size)
{
    char *line = hot_report_line(here); /* numbers print otherwise before they are read */
    cJSON *read = line ? cJSON_Parse(line) : NULL;
    const int differ = read ? items_differ(read, there, text, size) : 1;
    if (!read)
        snprintf(text, size, "out of memory");
    cJSON_Delete(read);
    cJSON_free(line);
    return differ;
}
