/* The folder contains model.json (the model), `found`, a store of finished rows, and at the end `complete`. The
 * checksum detects a row that was not written completely; its slab is computed again. */
#define _GNU_SOURCE
#include "resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fingerprint.h"
#include "dwi/fingerprint.h"
#include "io/common/file_open.h"
#include "io/common/parents.h"
#include "io/common/paths.h"
#include "learned.h"
#include "model/model.h"
#include "option_table.h"

/* Slabs of a run, and voxels of one at least: short enough to be lost, long enough for a GPU. */
enum { SLABS = 128, MIN_SLAB = 1024 };

struct hot_run_resume {
    char *folder, *model, *found, *complete;
    int lock;
    cJSON *made_of; /* everything that decides the results, except the data */
    size_t loaded;  /* slabs loaded from the store */
};

static hot_status fail(const hot_run_state *run, const char *what, const char *path)
{
    return hot_context_fail(run->context, HOT_ERROR_FILE, "%s '%s': %s", what, path, strerror(errno));
}

/* ---- The folder ------------------------------------------------------------------------------------------------ */

/* Refuses kept results whose fingerprint is not `here`. */
static hot_status compare(const hot_run_state *run, const cJSON *here, const char *name)
{
    char how[256] = "it is damaged";
    const cJSON *there = cJSON_GetObjectItemCaseSensitive(run->store.about, name);
    if (there && !hot_run_differ(here, there, how, sizeof how))
        return HOT_OK;
    return hot_context_fail_parameter(run->context, HOT_ERROR_DATA, "resume",
                                      "'%s' was left by a run of other data or with other options: %s; remove it, or "
                                      "leave --resume out", run->resume->folder, how);
}

/* Opens what an earlier run has found, if one has, and checks whose it is. Where nothing was found, whatever was
 * learned is not of this run. */
static hot_status open_found(hot_run_state *run)
{
    hot_run_resume *mine = run->resume;
    FILE *file = NULL;
    struct stat about;
    hot_status status = hot_run_describe(run, HOT_LEARNS | HOT_FINDS | HOT_RESUMES, &mine->made_of);
    if (status == HOT_OK && lstat(mine->found, &about) != 0) {
        remove(mine->model);
        return HOT_OK;
    }
    if (status == HOT_OK)
        status = hot_file_open_update(run->context, mine->found, &file);
    if (status != HOT_OK)
        return status;
    status = hot_run_store_open(run->context, file, mine->found, &run->store);
    return status == HOT_ERROR_MEMORY ? status : compare(run, mine->made_of, "made_of");
}

static cJSON *describe_data(const hot_run_state *run)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "data", hot_run_sum_text(run->inputs.data_sum));
    return object;
}

static hot_status check_data(hot_run_state *run)
{
    if (!run->store.file)
        return HOT_OK;
    cJSON *data = describe_data(run);
    const hot_status status = compare(run, data, "made_of_data");
    cJSON_Delete(data);
    return status;
}

hot_status hot_run_sum_data(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    const hot_run_options *o = &in->options;
    if (!o->resume && !o->learn && !run->learned.file && !o->parts && !o->merge)
        return HOT_OK;
    hot_status status = hot_dwi_fingerprint(run->context, in->dwi, &in->data_sum);
    if (status == HOT_OK && o->signal->sigma_map)
        in->data_sum = hot_fingerprint_bytes(in->data_sum, o->signal->sigma_map,
                                             hot_grid_voxels(hot_dwi_grid(in->dwi)) * sizeof *o->signal->sigma_map);
    return status == HOT_OK ? check_data(run) : status;
}

/* Creates the store, with its header, and writes the model. */
static hot_status begin_found(hot_run_state *run, size_t width)
{
    hot_run_resume *mine = run->resume;
    FILE *file = NULL;
    hot_output output = {0};
    cJSON *about = cJSON_CreateObject();
    hot_status status = cJSON_AddItemReferenceToObject(about, "made_of", mine->made_of) &&
                                cJSON_AddItemToObject(about, "made_of_data", describe_data(run))
                            ? HOT_OK : hot_context_fail(run->context, HOT_ERROR_MEMORY, "out of memory for '%s'",
                                                        mine->found);
    if (status == HOT_OK && !run->learned.file)
        status = hot_run_learned_save(run, mine->model);
    if (status == HOT_OK)
        status = hot_output_begin(run->context, mine->found, &output);
    if (status == HOT_OK)
        status = hot_output_file(run->context, &output, &file);
    if (status == HOT_OK)
        status = hot_run_store_begin(run->context, file, about, width, run->learned.mask->inside);
    status = hot_output_end(run->context, &output, status);
    cJSON_Delete(about);
    if (status == HOT_OK)
        status = hot_file_open_update(run->context, mine->found, &file);
    if (status == HOT_OK)
        status = hot_run_store_open(run->context, file, mine->found, &run->store);
    return status == HOT_OK && fseek(run->store.file, 0, SEEK_CUR) != 0 ? fail(run, "cannot write", mine->found)
                                                                        : status;
}

/* Whether the output folder exists and is the one that an earlier run had completed when it was killed. */
static int was_completed(const hot_run_state *run)
{
    struct stat about;
    uintmax_t device = 0, number = 0;
    FILE *file = NULL;
    int fine = access(run->resume->complete, F_OK) == 0 &&
        hot_file_open(run->context, run->resume->complete, HOT_FILE_FOUND, &file) == HOT_OK &&
        fscanf(file, "%ju %ju", &device, &number) == 2;
    if (file)
        fclose(file);
    return fine && stat(run->inputs.options.output, &about) == 0 && about.st_dev == device && about.st_ino == number;
}

/* Names, and the folder with its lock. */
static hot_status take_folder(hot_run_state *run)
{
    hot_context *context = run->context;
    hot_run_resume *mine = run->resume;
    int made;
    const char *output = run->inputs.options.output;
    size_t length = strlen(output);
    while (length > 1 && output[length - 1] == '/')
        length--;
    mine->folder = hot_context_alloc(context, length + sizeof ".resume", 1);
    if (!mine->folder)
        return HOT_ERROR_MEMORY;
    snprintf(mine->folder, length + sizeof ".resume", "%.*s.resume", (int)length, output);
    mine->model = hot_path_join(context, mine->folder, "model.json");
    mine->found = mine->model ? hot_path_join(context, mine->folder, "found") : NULL;
    mine->complete = mine->found ? hot_path_join(context, mine->folder, "complete") : NULL;
    HOT_TRY(mine->complete ? hot_parents_make(context, mine->folder, &made) : HOT_ERROR_MEMORY);
    if (mkdir(mine->folder, 0777) != 0 && errno != EEXIST)
        return fail(run, "cannot make", mine->folder);
    mine->lock = open(mine->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mine->lock < 0)
        return fail(run, "cannot read", mine->folder);
    if (flock(mine->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return hot_context_fail(context, HOT_ERROR_FILE, "'%s' is used by a run that is at work", mine->folder);
    return HOT_OK;
}

hot_status hot_run_resume_begin(hot_run_state *run)
{
    hot_run_options *o = &run->inputs.options;
    if (!o->resume)
        return HOT_OK;
    const char *why = o->parts || o->merge || o->learn
        ? "it is for whole runs; parts, merges and models are short enough to repeat"
        : o->input && strcmp(o->input, "-") == 0 ? "the data are read again: give a file, not standard input" : NULL;
    if (why)
        return hot_context_fail_parameter(run->context, HOT_ERROR_ARGUMENT, "resume", "%s", why);
    if (!o->output || !o->output[0])
        return HOT_OK; /* refused by the folder */
    run->resume = hot_context_calloc(run->context, 1, sizeof *run->resume);
    HOT_TRY(run->resume ? take_folder(run) : HOT_ERROR_MEMORY);
    HOT_TRY(open_found(run));
    if (was_completed(run))
        o->force = 1; /* only the end of it is done again */
    if (!o->learned && !o->mask_in_memory && !o->fit->response && access(run->resume->model, F_OK) == 0) {
        o->learned = run->resume->model;
        o->mask = o->response = NULL; /* in the model */
    }
    return HOT_OK;
}

/* ---- Slabs ----------------------------------------------------------------------------------------------------- */

/* Slabs come in the order in which they were kept: the rows that follow are those of this slab, or are cut off. */
static hot_status load_slab(void *user, const hot_signal_output *found, size_t first, size_t count, int *known)
{
    hot_run_state *run = user;
    hot_run_resume *mine = run->resume;
    const uint8_t *inside = run->learned.mask->bytes;
    size_t rows = 0;
    *known = 0;
    if (!run->store.file)
        return begin_found(run, hot_run_row_width(found));
    for (size_t voxel = first; voxel < first + count; voxel++)
        rows += inside[voxel] != 0;
    const long at = ftell(run->store.file);
    *known = hot_run_store_load(&run->store, found, inside, first, count) == rows;
    mine->loaded += *known && rows > 0;
    if (!*known && (at < 0 || fseek(run->store.file, at, SEEK_SET) != 0 ||
                    ftruncate(fileno(run->store.file), at) != 0))
        return fail(run, "cannot write", mine->found);
    return HOT_OK;
}

static hot_status save_slab(void *user, const hot_signal_output *found, size_t first, size_t count)
{
    hot_run_state *run = user;
    return hot_run_store_save(run->context, run->store.file, found, run->learned.mask->bytes, first, count);
}

void hot_run_resume_hook(hot_run_state *run)
{
    if (!run->resume)
        return;
    const size_t slab = hot_grid_voxels(&run->learned.mask->grid) / SLABS + 1;
    run->slabs.step = slab < MIN_SLAB ? MIN_SLAB : slab;
    run->slabs.load = load_slab;
    run->slabs.save = save_slab;
}

/* ---- The end --------------------------------------------------------------------------------------------------- */

hot_status hot_run_resume_complete(hot_run_state *run)
{
    struct stat about;
    if (!run->resume)
        return HOT_OK;
    if (stat(run->folder.temporary, &about) != 0)
        return fail(run, "cannot read", run->folder.temporary);
    FILE *file = fopen(run->resume->complete, "wb");
    int fine = file && fprintf(file, "%ju %ju\n", (uintmax_t)about.st_dev, (uintmax_t)about.st_ino) > 0;
    fine = file && fclose(file) == 0 && fine;
    return fine ? HOT_OK : fail(run, "cannot write", run->resume->complete);
}

void hot_run_resume_remove(hot_run_state *run)
{
    hot_run_resume *mine = run->resume;
    if (!mine)
        return;
    if (mine->loaded > 0)
        hot_context_log(run->context, HOT_LOG_NOTE, "%zu slabs were there already, of an earlier run", mine->loaded);
    remove(mine->model);
    remove(mine->found);
    remove(mine->complete);
    rmdir(mine->folder); /* unless there is something of the user's in it */
}

void hot_run_resume_free(hot_run_state *run)
{
    hot_run_resume *mine = run->resume;
    if (!mine)
        return;
    hot_run_store_close(&run->store);
    if (mine->lock > 0) {
        close(mine->lock);
        rmdir(mine->folder); /* where nothing was kept */
    }
    cJSON_Delete(mine->made_of);
    char *const names[] = {mine->folder, mine->model, mine->found, mine->complete};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        hot_context_free(run->context, names[i]);
    hot_context_free(run->context, mine);
    run->resume = NULL;
}
