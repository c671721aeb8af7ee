/* The file of a part is an NRRD of a row of floats per voxel (directions, flags, residual and what else there is), with
 * its description as JSON in a key. */
#include "parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "io/common/file_open.h"
#include "io/common/output.h"
#include "model/model.h"
#include "option_table.h"
#include "resume.h"
#include "rows.h"

enum { PARTS_MOST = 100000, HEAD_MOST = 1 << 20, LINES_MOST = 20 };
static const char key[] = "hotfiber_part:=";

/* Voxels of the mask from .. to - 1 belong to part number 1 ... parts. */
static void find_share(const hot_mask *mask, int part, int parts, size_t *from, size_t *to)
{
    *from = (size_t)((double)mask->inside * (part - 1) / parts);
    *to = part == parts ? mask->inside : (size_t)((double)mask->inside * part / parts);
}

/* ---- One part -------------------------------------------------------------------------------------------------- */

static hot_status keep(void *user, const hot_signal_found *found)
{
    hot_run_job *job = user;
    hot_run_column columns[HOT_RUN_COLUMNS];
    size_t n = 0;
    job->part_width = hot_run_columns(found, columns);
    job->part_rows = hot_context_alloc(job->context, job->share->inside, job->part_width * sizeof *job->part_rows);
    for (size_t v = 0; job->part_rows && n < job->share->inside; v++)
        if (job->share->bytes[v])
            hot_run_take_row(columns, v, job->part_rows + job->part_width * n++);
    return job->part_rows ? HOT_OK : HOT_ERROR_MEMORY;
}

hot_status hot_run_part_keep_fibers(hot_run_job *job)
{
    return keep(job, &(hot_signal_found){.max_fibers = job->fibers->max_fibers, .peaks = job->fibers->peaks});
}

hot_status hot_run_part_choose(hot_run_job *job)
{
    if (job->options.parts == 0)
        return HOT_OK;
    hot_status status = hot_mask_copy(job->context, job->mask, &job->mask->grid, &job->share);
    size_t from, to, n = 0;
    find_share(job->mask, job->options.part, job->options.parts, &from, &to);
    for (size_t v = 0; status == HOT_OK && v < hot_grid_voxels(&job->mask->grid); v++)
        if (job->mask->bytes[v]) {
            job->share->bytes[v] = n >= from && n < to;
            n++;
        }
    if (status == HOT_OK)
        job->result.voxels = job->share->inside = to - from;
    return status;
}

/* parts/part-3-of-16.nrrd */
static char *file_name(hot_context *context, const char *folder, int part, int parts)
{
    const size_t size = strlen(folder) + 64;
    char *name = hot_context_alloc(context, size, 1);
    if (name)
        snprintf(name, size, "%s/part-%d-of-%d.nrrd", folder, part, parts);
    return name;
}

static int is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one;
}

static hot_status put_part(hot_context *context, FILE *file, const void *what)
{
    const hot_run_job *job = what;
    cJSON *about = cJSON_CreateObject();
    cJSON_AddNumberToObject(about, "part", job->options.part);
    cJSON_AddNumberToObject(about, "parts", job->options.parts);
    cJSON_AddNumberToObject(about, "flagged", (double)job->result.flagged);
    cJSON *work = hot_run_describe_work(job);
    cJSON_AddItemToObject(about, "made_of", work);
    if (job->options.record)
        cJSON_AddStringToObject(about, "record", job->options.record);
    char *text = work ? hot_report_line(about) : NULL;
    cJSON_Delete(about);
    if (!text)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for a part");
    fprintf(file, "NRRD0004\ntype: float\ndimension: 2\nsizes: %zu %zu\nendian: %s\nencoding: raw\n%s",
            job->part_width, job->share->inside, is_little() ? "little" : "big", key);
    for (const char *at = text; *at; at++) /* a key's value has backslashes escaped */
        fputs(*at == '\\' ? "\\\\" : (const char[]){*at, '\0'}, file);
    fputs("\n\n", file);
    fwrite(job->part_rows, sizeof *job->part_rows, job->share->inside * job->part_width, file);
    cJSON_free(text);
    return HOT_OK;
}

hot_status hot_run_part_save(hot_run_job *job)
{
    char *name = file_name(job->context, job->options.output, job->options.part, job->options.parts);
    hot_status status = name ? hot_output_write(job->context, name, put_part, job) : HOT_ERROR_MEMORY;
    hot_context_free(job->context, name);
    return status;
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

typedef struct part_file {
    FILE *file;
    cJSON *about;
    size_t width, count;
} part_file;

static void close_part(part_file *part)
{
    if (part->file)
        fclose(part->file);
    cJSON_Delete(part->about);
    memset(part, 0, sizeof *part);
}

/* The head of a part's file; what follows are its rows. */
static hot_status open_part(hot_context *context, const char *name, part_file *part)
{
    size_t length = 0, fields = 0, lines = 0;
    memset(part, 0, sizeof *part);
    hot_status status = hot_file_open(context, name, HOT_FILE_FOUND, &part->file);
    if (status != HOT_OK)
        return status;
    char *line = hot_context_alloc(context, HEAD_MOST, 1);
    if (!line) {
        close_part(part);
        return HOT_ERROR_MEMORY;
    }
    while (lines++ < LINES_MOST && (length = hot_file_line(part->file, line, HEAD_MOST)) > 1) {
        fields += strcmp(line, "NRRD0004") == 0 || strcmp(line, "type: float") == 0 ||
            strcmp(line, is_little() ? "endian: little" : "endian: big") == 0;
        if (strncmp(line, "sizes: ", 7) == 0)
            fields += sscanf(line + 7, "%zu %zu", &part->width, &part->count) == 2;
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        char *to = line + strlen(key);
        for (const char *at = to; *at; at++) {
            at += at[0] == '\\' && at[1] == '\\';
            *to++ = *at;
        }
        *to = '\0';
        cJSON_Delete(part->about); /* a file that is not ours may say it twice */
        part->about = hot_report_parse(line + strlen(key), strlen(line + strlen(key)));
    }
    hot_context_free(context, line);
    if (fields == 4 && length == 1 && cJSON_IsObject(part->about))
        return HOT_OK;
    close_part(part);
    return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not a part of a run on this kind of machine", name);
}

/* How many parts the files of a folder are of; 0 = there is none, negative = of several runs. */
static int count_parts(const char *folder)
{
    int parts = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        int part, of, end = 0;
        if (sscanf(entry->d_name, "part-%d-of-%d.nrrd%n", &part, &of, &end) == 2 && end > 0 && !entry->d_name[end] &&
            of > 0 && of <= PARTS_MOST)
            parts = parts == 0 || parts == of ? of : -1;
    }
    if (open)
        closedir(open);
    return parts;
}

/* Whether all parts are there; *parts: how many. */
static hot_status find_parts(hot_context *context, const char *folder, int *parts)
{
    char missing[200] = "";
    size_t used = 0, count = 0;
    *parts = count_parts(folder);
    if (*parts <= 0)
        return hot_context_fail_parameter(context, HOT_ERROR_FILE, "merge", "'%s' holds %s; `hotfiber run --part 1/4 "
                                          "-o PARTS` and so on make them", folder,
                                          *parts ? "parts of several runs" : "no part of a run");
    for (int part = 1; part <= *parts; part++) {
        char *name = file_name(context, folder, part, *parts);
        const int there = name && access(name, R_OK) == 0;
        hot_context_free(context, name);
        if (!name)
            return HOT_ERROR_MEMORY;
        count += !there;
        if (!there && used + 16 < sizeof missing)
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%d", used ? ", " : "", part);
    }
    if (count > 0)
        return hot_context_fail_parameter(context, HOT_ERROR_FILE, "merge", "'%s' lacks %zu of %d parts: %s", folder,
                                          count, *parts, missing);
    return HOT_OK;
}

/* The rows of one part to their voxels, from voxel *at on, which is moved behind them. */
static hot_status recall_part(hot_run_job *job, int part, int parts, const hot_run_column columns[HOT_RUN_COLUMNS],
                              size_t width, size_t *at)
{
    hot_context *context = job->context;
    size_t from, to, done = 0;
    part_file open;
    char *made_of = NULL, *name = file_name(context, job->options.merge, part, parts);
    float *row = hot_context_alloc(context, width, sizeof *row);
    find_share(job->mask, part, parts, &from, &to);
    hot_status status = name && row ? open_part(context, name, &open) : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    made_of = hot_report_line(cJSON_GetObjectItemCaseSensitive(open.about, "made_of"));
    const char *first = job->parts_of ? job->parts_of : made_of;
    if (open.width != width || open.count != to - from || !made_of || strcmp(first, made_of) != 0)
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "'%s' is of another run than the other parts, or of other data; make it again", name);
    if (!job->parts_of) {
        job->parts_of = made_of;
        made_of = NULL;
    }
    for (; status == HOT_OK && done < open.count; ++*at) {
        if (!job->mask->bytes[*at])
            continue;
        if (fread(row, sizeof *row, width, open.file) != width)
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' ends after %zu of %zu voxels; make it again",
                                      name, done, open.count);
        else
            hot_run_give_row(columns, *at, row);
        done++;
    }
    close_part(&open);
cleanup:
    cJSON_free(made_of);
    hot_context_free(context, row);
    hot_context_free(context, name);
    return status == HOT_OK ? hot_context_progress(context, "merging", (double)part / parts) : status;
}

static hot_status recall(void *user, hot_signal_found *found)
{
    hot_run_job *job = user;
    hot_run_column columns[HOT_RUN_COLUMNS];
    size_t width = hot_run_columns(found, columns), at = 0;
    int parts;
    hot_status status = find_parts(job->context, job->options.merge, &parts);
    for (int part = 1; status == HOT_OK && part <= parts; part++)
        status = recall_part(job, part, parts, columns, width, &at);
    return status;
}

hot_status hot_run_parts_recall_fibers(hot_run_job *job)
{
    const int most = job->peaks.max_fibers;
    const size_t voxels = hot_grid_voxels(&job->mask->grid);
    float *peaks = hot_context_calloc(job->context, voxels, 3 * (size_t)most * sizeof *peaks);
    hot_status status = peaks ? recall(job, &(hot_signal_found){.max_fibers = most, .peaks = peaks}) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_fiber_field_adopt(job->context, &job->mask->grid, most, &peaks, &job->fibers);
    if (status == HOT_OK)
        status = hot_fiber_field_keep_response(job->fibers, job->tensors->response, 0);
    hot_context_free(job->context, peaks);
    return status;
}

void hot_run_part_hook(hot_run_job *job)
{
    job->part = (hot_signal_part){.where = job->share, .learned = &job->signal_learned,
                                  .only_learn = job->options.learn != NULL, .user = job};
    if (job->options.merge)
        job->part.recall = recall;
    else if (job->share)
        job->part.keep = keep;
    hot_run_resume_hook(job);
    job->signal.part = &job->part;
}

hot_status hot_run_parts_compare(hot_run_job *job)
{
    char how[256];
    cJSON *work = hot_run_describe_work(job), *parts = cJSON_Parse(job->parts_of ? job->parts_of : "{}");
    char *text = hot_report_line(work); /* as it is when it was read */
    cJSON_Delete(work);
    work = cJSON_Parse(text);
    hot_status status = work && parts ? HOT_OK
        : hot_context_fail(job->context, HOT_ERROR_MEMORY, "out of memory for a merge");
    if (status == HOT_OK && hot_run_differ(work, parts, how, sizeof how))
        status = hot_context_fail(job->context, HOT_ERROR_DATA,
                                  "the parts in '%s' were made of other data, or with other options, than are here "
                                  "now: %s", job->options.merge, how);
    cJSON_free(text);
    cJSON_Delete(work);
    cJSON_Delete(parts);
    return status;
}

/* ---- Around them ----------------------------------------------------------------------------------------------- */

hot_status hot_run_parts_check(hot_context *context, const hot_run_options *options)
{
    int parts;
    const char *which = options->parts ? "part" : "merge";
    if (options->learn && (options->parts || options->merge || options->learned))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, options->learned ? "learned" : which,
                                          "it learns nothing, so there is nothing for a file of what was learned");
    if (options->parts == 0 && !options->merge)
        return HOT_OK;
    if (options->parts && options->merge)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "part", "a run is a part, or merges parts");
    if (options->parts && (options->part < 1 || options->part > options->parts || options->parts > PARTS_MOST))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "part",
                                          "%d/%d: the number of the part, from 1 on, of how many there are, %d at most",
                                          options->part, options->parts, PARTS_MOST);
    if (options->parts && !options->output)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a part needs a folder to be written to");
    if (options->input && strcmp(options->input, "-") == 0)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, which, "the data are read again by every part "
                                          "and by the merge: give a file, not standard input");
    if (options->merge)
        return find_parts(context, options->merge, &parts);
    if (options->force)
        return HOT_OK;
    char *name = file_name(context, options->output, options->part, options->parts);
    hot_status status = name ? HOT_OK : HOT_ERROR_MEMORY;
    if (name && access(name, F_OK) == 0)
        status = hot_context_fail(context, HOT_ERROR_FILE, "'%s' exists; --force makes it again", name);
    hot_context_free(context, name);
    return status;
}

hot_status hot_run_parts_record(hot_context *context, const char *folder, char **record)
{
    HOT_ENTRY(context);
    if (record)
        *record = NULL;
    HOT_NEED(context, folder, record);
    part_file open;
    int parts;
    hot_status status = find_parts(context, folder, &parts);
    char *name = status == HOT_OK ? file_name(context, folder, 1, parts) : NULL;
    if (status == HOT_OK)
        status = name ? open_part(context, name, &open) : HOT_ERROR_MEMORY;
    if (status == HOT_OK) {
        const cJSON *text = cJSON_GetObjectItemCaseSensitive(open.about, "record");
        *record = hot_string_copy(context, cJSON_IsString(text) ? text->valuestring : "");
        status = *record ? HOT_OK : HOT_ERROR_MEMORY;
        close_part(&open);
    }
    hot_context_free(context, name);
    return status;
}

void hot_run_part_free(hot_run_job *job)
{
    hot_mask_destroy(&job->share);
    hot_context_free(job->context, job->part_rows);
    job->part_rows = NULL;
    cJSON_free(job->parts_of);
    job->parts_of = NULL;
}
