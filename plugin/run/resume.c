/* The folder holds `found`, model.json (what was learned), and at the end `complete`. `found` is a line of JSON with
 * what decides the result, one with the sum of the data, then a record for each slab: a head and a row for each voxel
 * that was computed. A record that was not written to its end is told by its check sum and written again. */
#define _GNU_SOURCE
#include "resume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/common/file_open.h"
#include "io/common/parents.h"
#include "learned.h"
#include "model/model.h"
#include "option_table.h"
#include "rows.h"

/* Slabs of a run, and voxels of one at least: short enough to be lost, long enough for a GPU. */
enum { SLABS = 128, SLAB_LEAST = 1024 };

typedef struct record {
    uint64_t first, count, rows, width, sum; /* voxels of the grid; of them computed; floats in a row */
} record;

struct hot_run_resume {
    char *folder, *model, *found, *complete;
    int lock;
    FILE *file;      /* found */
    int fresh;       /* this run has made it, */
    size_t added;    /* and these slabs have come to it */
    int learned;     /* model.json is there */
    size_t kept;     /* slabs that were there */
};

static uint64_t add_up(const record *head, const float *rows) /* FNV-1a of words */
{
    const uint64_t of_head[] = {head->first, head->count, head->rows, head->width};
    const uint32_t *words = (const void *)rows;
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < 4; i++)
        sum = (sum ^ of_head[i]) * 1099511628211u;
    for (size_t i = 0; i < head->rows * head->width; i++)
        sum = (sum ^ words[i]) * 1099511628211u;
    return sum;
}

static hot_status fail(const hot_run_job *job, const char *what, const char *path)
{
    return hot_context_fail(job->context, HOT_ERROR_FILE, "%s '%s': %s", what, path, strerror(errno));
}

/* ---- The folder ------------------------------------------------------------------------------------------------ */

static char *join(hot_context *context, const char *first, const char *second)
{
    const size_t size = strlen(first) + strlen(second) + 1;
    char *text = hot_context_alloc(context, size, 1);
    if (text)
        snprintf(text, size, "%s%s", first, second);
    return text;
}

/* All that decides what is found, but the data: options, and the contents of files. */
static hot_status describe(const hot_run_job *job, char **line)
{
    cJSON *key;
    hot_status status = hot_run_describe_options(job, HOT_LEARNS | HOT_FINDS | HOT_RESUMES, &key);
    if (key && cJSON_AddStringToObject(key, "version", hot_version()) &&
        cJSON_AddBoolToObject(key, "maps", !job->without_maps) &&
        cJSON_AddBoolToObject(key, "tensors", !job->without_tensors) &&
        cJSON_AddNumberToObject(key, "device", hot_context_device(job->context)) &&
        cJSON_AddNumberToObject(key, "seed", (double)hot_context_seed(job->context)))
        *line = hot_report_line(key);
    cJSON_Delete(key);
    if (status == HOT_OK && !*line)
        status = hot_context_fail(job->context, HOT_ERROR_MEMORY, "out of memory for '%s'", job->resume->found);
    return status;
}

static hot_status other_run(const hot_run_job *job, const char *how)
{
    return hot_context_fail_parameter(job->context, HOT_ERROR_DATA, "resume",
                                      "'%s' was left by a run of other data or with other options: %s; remove it, or "
                                      "leave --resume out", job->resume->folder, how);
}

/* One line at the head of `found`: it is this one, or it is written where there is none. *known: it was there. */
static hot_status check_line(const hot_run_job *job, const char *line, int *known)
{
    hot_run_resume *mine = job->resume;
    char how[256] = "it is damaged", *was = NULL;
    size_t capacity = 0;
    const long at = ftell(mine->file);
    const ssize_t length = getline(&was, &capacity, mine->file);
    hot_status status = HOT_OK;
    *known = length > 0 && was[length - 1] == '\n';
    if (*known) {
        was[length - 1] = '\0';
        if (strcmp(was, line) != 0) {
            cJSON *here = cJSON_Parse(line), *there = cJSON_Parse(was);
            if (cJSON_IsObject(there))
                hot_run_differ(here, there, how, sizeof how);
            status = other_run(job, how);
            cJSON_Delete(here);
            cJSON_Delete(there);
        }
    } else if (at < 0 || fseek(mine->file, at, SEEK_SET) != 0 || ftruncate(fileno(mine->file), at) != 0 ||
               fprintf(mine->file, "%s\n", line) < 0 || fflush(mine->file) != 0)
        status = fail(job, "cannot write", mine->found);
    free(was);
    return status;
}

/* Opens the file of what was found and checks whose it is. Where it is new, whatever was learned is not of this run. */
static hot_status open_found(hot_run_job *job)
{
    hot_run_resume *mine = job->resume;
    int known = 0;
    char *line = NULL;
    hot_status status = describe(job, &line);
    const int handle = line ? open(mine->found, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666) : -1;
    mine->file = handle < 0 ? NULL : fdopen(handle, "r+b");
    if (line && !mine->file)
        status = fail(job, "cannot write", mine->found);
    if (handle >= 0 && !mine->file)
        close(handle);
    if (status == HOT_OK)
        status = check_line(job, line, &known);
    mine->fresh = status == HOT_OK && !known;
    if (mine->fresh)
        remove(mine->model);
    cJSON_free(line);
    return status;
}

hot_status hot_run_resume_check(hot_run_job *job)
{
    char line[40];
    int known;
    if (!job->resume)
        return HOT_OK;
    snprintf(line, sizeof line, "{\"data\":\"%016" PRIx64 "\"}", job->data_sum);
    return check_line(job, line, &known);
}

/* The folder of the output is there, and is the one that an earlier run had completed when it was killed. */
static int was_completed(const hot_run_job *job)
{
    struct stat about;
    uintmax_t device = 0, number = 0;
    FILE *file = NULL;
    int fine = access(job->resume->complete, F_OK) == 0 &&
        hot_file_open(job->context, job->resume->complete, HOT_FILE_FOUND, &file) == HOT_OK &&
        fscanf(file, "%ju %ju", &device, &number) == 2;
    if (file)
        fclose(file);
    return fine && stat(job->options.output, &about) == 0 && about.st_dev == device && about.st_ino == number;
}

hot_status hot_run_resume_begin(hot_run_job *job)
{
    hot_run_options *o = &job->options;
    hot_context *context = job->context;
    struct stat about;
    int made;
    if (!o->resume)
        return HOT_OK;
    if (o->parts || o->merge || o->learn)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "resume", "it goes with whole runs; what is "
                                          "shorter is made again: a part, a merge, a file of what was learned");
    if (o->input && strcmp(o->input, "-") == 0)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "resume",
                                          "the data are read again: give a file, not standard input");
    if (!o->output || !o->output[0])
        return HOT_OK; /* refused by the folder */
    hot_run_resume *mine = job->resume = hot_context_calloc(context, 1, sizeof *mine);
    if (!mine)
        return HOT_ERROR_MEMORY;
    char *output = join(context, o->output, "");
    for (size_t n = output ? strlen(output) : 0; n > 1 && output[n - 1] == '/'; n--)
        output[n - 1] = '\0';
    mine->folder = output ? join(context, output, ".resume") : NULL;
    hot_context_free(context, output);
    mine->model = mine->folder ? join(context, mine->folder, "/model.json") : NULL;
    mine->found = mine->model ? join(context, mine->folder, "/found") : NULL;
    mine->complete = mine->found ? join(context, mine->folder, "/complete") : NULL;
    if (!mine->complete)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_parents_make(context, mine->folder, &made);
    if (status != HOT_OK)
        return status;
    if (mkdir(mine->folder, 0777) != 0 && errno != EEXIST)
        return fail(job, "cannot make", mine->folder);
    mine->lock = open(mine->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mine->lock < 0)
        return fail(job, "cannot read", mine->folder);
    if (flock(mine->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return hot_context_fail(context, HOT_ERROR_FILE, "'%s' is used by a run that is at work", mine->folder);
    if ((status = open_found(job)) != HOT_OK)
        return status;
    if (was_completed(job))
        o->force = 1; /* only the end of it is done again */
    if (!o->learned && !o->mask_in_memory && !o->fit->response && stat(mine->model, &about) == 0) {
        o->learned = mine->model;
        o->mask = o->response = NULL; /* in the model */
        mine->learned = 1;
    }
    return HOT_OK;
}

/* ---- Records --------------------------------------------------------------------------------------------------- */

/* Slabs come in the order in which they were kept: the next record is that of this slab, or there is none. */
static hot_status recall_slab(void *user, const hot_signal_found *found, size_t first, size_t count, int *known)
{
    hot_run_job *job = user;
    hot_run_resume *mine = job->resume;
    hot_run_column columns[HOT_RUN_COLUMNS];
    const size_t width = hot_run_columns(found, columns);
    record head;
    size_t rows = 0, row = 0;
    float *values = NULL;
    *known = 0;
    hot_status status = HOT_OK;
    if (!job->learned && !mine->learned) {
        status = hot_run_learned_save(job, mine->model);
        mine->learned = status == HOT_OK;
    }
    if (status != HOT_OK)
        return status;
    for (size_t v = first; v < first + count; v++)
        rows += job->mask->bytes[v] != 0;
    const long at = ftell(mine->file);
    if (fread(&head, sizeof head, 1, mine->file) == 1 && head.first == first && head.count == count &&
        head.rows == rows && head.width == width) {
        values = hot_context_alloc(job->context, rows, width * sizeof *values);
        if (!values)
            return HOT_ERROR_MEMORY;
        *known = fread(values, sizeof *values, rows * width, mine->file) == rows * width &&
                 add_up(&head, values) == head.sum;
    }
    for (size_t v = first; v < first + count && *known; v++)
        if (job->mask->bytes[v])
            hot_run_give_row(columns, v, values + width * row++);
    mine->kept += (size_t)*known;
    hot_context_free(job->context, values);
    if (!*known && (at < 0 || fseek(mine->file, at, SEEK_SET) != 0 || ftruncate(fileno(mine->file), at) != 0))
        return fail(job, "cannot write", mine->found);
    return HOT_OK;
}

static hot_status keep_slab(void *user, const hot_signal_found *found, size_t first, size_t count)
{
    hot_run_job *job = user;
    hot_run_resume *mine = job->resume;
    hot_run_column columns[HOT_RUN_COLUMNS];
    record head = {.first = first, .count = count, .width = hot_run_columns(found, columns)};
    size_t row = 0;
    for (size_t v = first; v < first + count; v++)
        head.rows += job->mask->bytes[v] != 0;
    float *values = hot_context_alloc(job->context, head.rows, head.width * sizeof *values);
    if (!values)
        return HOT_ERROR_MEMORY;
    for (size_t v = first; v < first + count; v++)
        if (job->mask->bytes[v])
            hot_run_take_row(columns, v, values + head.width * row++);
    head.sum = add_up(&head, values);
    const int fine = fwrite(&head, sizeof head, 1, mine->file) == 1 &&
        fwrite(values, sizeof *values, head.rows * head.width, mine->file) == head.rows * head.width &&
        fflush(mine->file) == 0;
    hot_context_free(job->context, values);
    mine->added += (size_t)fine;
    return fine ? HOT_OK : fail(job, "cannot write", mine->found);
}

/* ---- The run --------------------------------------------------------------------------------------------------- */

static size_t slab_of(const hot_run_job *job)
{
    const size_t slab = hot_grid_voxels(&job->mask->grid) / SLABS + 1;
    return slab < SLAB_LEAST ? SLAB_LEAST : slab;
}

void hot_run_resume_hook(hot_run_job *job)
{
    if (!job->resume)
        return;
    job->part.step = slab_of(job);
    job->part.recall_slab = recall_slab;
    job->part.keep_slab = keep_slab;
}

hot_status hot_run_resume_find(hot_run_job *job)
{
    const size_t voxels = hot_grid_voxels(&job->mask->grid), step = 8 * slab_of(job); /* each costs a whole field */
    const int most = job->peaks.max_fibers;
    const size_t row = 3 * (size_t)most;
    hot_mask *share = NULL;
    float *peaks = hot_context_calloc(job->context, voxels, row * sizeof *peaks);
    hot_status status = peaks ? hot_mask_copy(job->context, job->mask, &job->mask->grid, &share) : HOT_ERROR_MEMORY;
    const hot_signal_found found = {.max_fibers = most, .peaks = peaks};
    job->peaks.mask = share;
    for (size_t first = 0; first < voxels && status == HOT_OK; first += step) {
        const size_t count = voxels - first < step ? voxels - first : step;
        int known = 0;
        if (!memchr(job->mask->bytes + first, 1, count))
            continue;
        status = recall_slab(job, &found, first, count, &known);
        if (status != HOT_OK || known)
            continue;
        memset(share->bytes, 0, voxels);
        memcpy(share->bytes + first, job->mask->bytes + first, count);
        hot_fiber_field *some = NULL;
        status = hot_fiber_field_find(job->context, job->tensors, &job->peaks, &some);
        if (status == HOT_OK) {
            memcpy(peaks + first * row, some->peaks + first * row, count * row * sizeof *peaks);
            status = keep_slab(job, &found, first, count);
        }
        hot_fiber_field_destroy(&some);
    }
    job->peaks.mask = NULL;
    hot_mask_destroy(&share);
    if (status == HOT_OK)
        status = hot_fiber_field_adopt(job->context, &job->mask->grid, most, &peaks, &job->fibers);
    if (status == HOT_OK)
        status = hot_fiber_field_keep_response(job->fibers, job->tensors->response, 0);
    hot_context_free(job->context, peaks);
    return status;
}

hot_status hot_run_resume_complete(hot_run_job *job)
{
    struct stat about;
    if (!job->resume)
        return HOT_OK;
    if (stat(job->folder.temporary, &about) != 0)
        return fail(job, "cannot read", job->folder.temporary);
    FILE *file = fopen(job->resume->complete, "wb");
    int fine = file && fprintf(file, "%ju %ju\n", (uintmax_t)about.st_dev, (uintmax_t)about.st_ino) > 0;
    fine = file && fclose(file) == 0 && fine;
    return fine ? HOT_OK : fail(job, "cannot write", job->resume->complete);
}

void hot_run_resume_remove(hot_run_job *job)
{
    hot_run_resume *mine = job->resume;
    if (!mine)
        return;
    if (mine->kept > 0)
        hot_context_log(job->context, HOT_LOG_NOTE, "%zu slabs were there already, of an earlier run", mine->kept);
    remove(mine->model);
    remove(mine->found);
    remove(mine->complete);
    rmdir(mine->folder); /* unless there is something of the user's in it */
}

void hot_run_resume_free(hot_run_job *job)
{
    hot_run_resume *mine = job->resume;
    if (!mine)
        return;
    if (mine->file)
        fclose(mine->file);
    if (mine->fresh && mine->added == 0 && !mine->learned)
        remove(mine->found);
    if (mine->lock > 0) {
        close(mine->lock);
        rmdir(mine->folder); /* where nothing was kept */
    }
    hot_context_free(job->context, mine->folder);
    hot_context_free(job->context, mine->model);
    hot_context_free(job->context, mine->found);
    hot_context_free(job->context, mine->complete);
    hot_context_free(job->context, mine);
    job->resume = NULL;
}
