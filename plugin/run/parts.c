/* See parts.h. Shares are of one size, in the order of the mask. */
#include "parts.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "io/common/file_open.h"
#include "io/common/paths.h"
#include "model/model.h"
#include "option_table.h"

enum { MAX_PARTS = 100000 };

/* Voxels of the mask from .. to - 1 belong to part number 1 ... parts. */
static void find_share(const hot_mask *mask, int part, int parts, size_t *from, size_t *to)
{
    *from = (size_t)((double)mask->inside * (part - 1) / parts);
    *to = part == parts ? mask->inside : (size_t)((double)mask->inside * part / parts);
}

/* parts/part-3-of-16.nrrd */
static char *file_name(hot_context *context, const char *folder, int part, int parts)
{
    char name[64];
    snprintf(name, sizeof name, "part-%d-of-%d.nrrd", part, parts);
    return hot_path_join(context, folder, name);
}

/* ---- One part -------------------------------------------------------------------------------------------------- */

hot_status hot_run_part_choose(hot_run_state *run)
{
    const hot_mask *mask = run->learned.mask;
    if (run->inputs.options.parts == 0)
        return HOT_OK;
    hot_status status = hot_mask_copy(run->context, mask, &mask->grid, &run->share);
    size_t from, to, n = 0;
    find_share(mask, run->inputs.options.part, run->inputs.options.parts, &from, &to);
    for (size_t v = 0; status == HOT_OK && v < hot_grid_voxels(&mask->grid); v++)
        if (mask->bytes[v]) {
            run->share->bytes[v] = n >= from && n < to;
            n++;
        }
    if (status == HOT_OK)
        run->results.counts.voxels = run->share->inside = to - from;
    return status;
}

static hot_status begin_part(hot_run_state *run, size_t width)
{
    const hot_run_options *o = &run->inputs.options;
    cJSON *about = cJSON_CreateObject(), *made_of = NULL;
    FILE *file = NULL;
    char *name = file_name(run->context, o->output, o->part, o->parts);
    hot_status status = name ? hot_run_describe(run, HOT_LEARNS | HOT_FINDS, &made_of) : HOT_ERROR_MEMORY;
    const int fine = cJSON_AddItemToObject(about, "made_of", made_of) &&
                     (!o->record || cJSON_AddStringToObject(about, "record", o->record));
    if (status == HOT_OK && !fine)
        status = hot_context_fail(run->context, HOT_ERROR_MEMORY, "out of memory for a part");
    if (status == HOT_OK)
        status = hot_output_begin(run->context, name, &run->part);
    if (status == HOT_OK)
        status = hot_output_file(run->context, &run->part, &file);
    if (status == HOT_OK)
        status = hot_run_store_begin(run->context, file, about, width, run->share->inside);
    cJSON_Delete(about);
    hot_context_free(run->context, name);
    return status;
}

static hot_status save_slab(void *user, const hot_signal_output *found, size_t first, size_t count)
{
    hot_run_state *run = user;
    hot_status status = run->part.file ? HOT_OK : begin_part(run, hot_run_row_width(found));
    return status == HOT_OK ? hot_run_store_save(run->context, run->part.file, found, run->share->bytes, first, count)
                            : status;
}

hot_status hot_run_part_save(hot_run_state *run)
{
    hot_status status = run->part.file ? HOT_OK : begin_part(run, 0); /* no voxel is left for it */
    return status == HOT_OK ? hot_output_commit(run->context, &run->part) : status;
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

static hot_status open_part(hot_context *context, const char *name, hot_run_store *store)
{
    FILE *file = NULL;
    hot_status status = hot_file_open(context, name, HOT_FILE_FOUND, &file);
    return status == HOT_OK ? hot_run_store_open(context, file, name, store) : status;
}

/* How many parts the files of a folder are of; 0 = there is none, negative = of several runs. */
static int count_parts(const char *folder)
{
    int parts = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        int part, of, end = 0;
        if (sscanf(entry->d_name, "part-%d-of-%d.nrrd%n", &part, &of, &end) == 2 && end > 0 && !entry->d_name[end] &&
            of > 0 && of <= MAX_PARTS)
            parts = parts == 0 || parts == of ? of : -1;
    }
    if (open)
        closedir(open);
    return parts;
}

/* Whether all parts exist; *parts: their number. */
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

/* Opens the next part that has voxels; it must be of this run. */
static hot_status open_next(hot_run_state *run, const hot_signal_output *found)
{
    hot_context *context = run->context;
    char how[256] = "its rows are others";
    size_t from = 0, to = 0;
    cJSON *made_of = NULL;
    hot_run_store_close(&run->store);
    while (from == to)
        find_share(run->learned.mask, ++run->part_number, run->part_count, &from, &to);
    char *name = file_name(context, run->inputs.options.merge, run->part_number, run->part_count);
    hot_status status = name ? open_part(context, name, &run->store) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_run_describe(run, HOT_LEARNS | HOT_FINDS, &made_of);
    if (status == HOT_OK &&
        (hot_run_differ(made_of, cJSON_GetObjectItemCaseSensitive(run->store.about, "made_of"), how, sizeof how) ||
         run->store.count != to - from || run->store.width != hot_run_row_width(found)))
        status = hot_context_fail(context, HOT_ERROR_DATA, "'%s' was made of other data, or with other options, than "
                                  "are here now: %s; make it again", name, how);
    run->part_left = to - from;
    cJSON_Delete(made_of);
    hot_context_free(context, name);
    return status == HOT_OK ? hot_context_progress(context, "merging", (double)run->part_number / run->part_count)
                            : status;
}

static hot_status load_slab(void *user, const hot_signal_output *found, size_t first, size_t count, int *known)
{
    hot_run_state *run = user;
    const uint8_t *inside = run->learned.mask->bytes;
    const size_t end = first + count;
    hot_status status = run->part_count > 0 ? HOT_OK
        : find_parts(run->context, run->inputs.options.merge, &run->part_count);
    for (size_t stop = first; first < end && status == HOT_OK; first = stop) {
        size_t rows = 0; /* of the part that is open */
        while (stop < end && (!inside[stop] || rows < run->part_left))
            rows += inside[stop++] != 0;
        if (rows > 0 && hot_run_store_load(&run->store, found, inside, first, stop - first) < rows)
            status = hot_context_fail(run->context, HOT_ERROR_FORMAT, "'%s/part-%d-of-%d.nrrd' is cut or damaged; make "
                                      "it again", run->inputs.options.merge, run->part_number, run->part_count);
        run->part_left -= rows;
        if (status == HOT_OK && stop < end)
            status = open_next(run, found);
    }
    *known = 1;
    return status;
}

void hot_run_part_hook(hot_run_state *run)
{
    if (run->inputs.options.merge)
        run->slabs.load = load_slab;
    else if (run->share)
        run->slabs.save = save_slab;
}

hot_status hot_run_find_in_slabs(hot_run_state *run)
{
    const hot_signal_part *slabs = &run->slabs;
    const hot_mask *where = run->share ? run->share : run->learned.mask;
    const size_t voxels = hot_grid_voxels(&where->grid), row = 3 * (size_t)run->inputs.peaks.max_fibers;
    const size_t step = slabs->step ? 8 * slabs->step : voxels; /* each slab costs a whole field */
    hot_mask *slab = NULL;
    float *peaks = hot_context_calloc(run->context, voxels, row * sizeof *peaks);
    hot_status status = peaks ? hot_mask_copy(run->context, where, &where->grid, &slab) : HOT_ERROR_MEMORY;
    const hot_signal_output found = {.max_fibers = run->inputs.peaks.max_fibers, .peaks = peaks};
    if (status == HOT_OK)
        status = hot_peaks_judge(run->context, run->results.tensors, &run->inputs.peaks);
    run->results.tensors->warned = 1; /* not again with each slab */
    run->inputs.peaks.mask = slab;
    for (size_t first = 0; first < voxels && status == HOT_OK; first += step) {
        const size_t count = voxels - first < step ? voxels - first : step;
        hot_fiber_field *some = NULL;
        int known = 0;
        if (!memchr(where->bytes + first, 1, count))
            continue;
        if (slabs->load)
            status = slabs->load(slabs->user, &found, first, count, &known);
        if (status != HOT_OK || known)
            continue;
        memset(slab->bytes, 0, voxels);
        memcpy(slab->bytes + first, where->bytes + first, count);
        status = hot_fiber_field_find(run->context, run->results.tensors, &run->inputs.peaks, &some);
        if (status == HOT_OK) {
            memcpy(peaks + first * row, some->peaks + first * row, count * row * sizeof *peaks);
            status = slabs->save(slabs->user, &found, first, count);
        }
        hot_fiber_field_destroy(&some);
    }
    run->inputs.peaks.mask = NULL;
    hot_mask_destroy(&slab);
    if (status == HOT_OK)
        status = hot_fiber_field_adopt(run->context, &where->grid, found.max_fibers, &peaks, &run->results.fibers);
    if (status == HOT_OK)
        status = hot_fiber_field_keep_response(run->results.fibers, run->results.tensors->response, 0);
    hot_context_free(run->context, peaks);
    return status;
}

/* ---- Around them ----------------------------------------------------------------------------------------------- */

hot_status hot_run_parts_check(hot_context *context, const hot_run_options *options)
{
    int parts;
    const char *which = options->parts ? "part" : "merge";
    if (options->learn && (options->parts || options->merge || options->learned))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, options->learned ? "learned" : which,
                                          "with it nothing is learned that could be written to a model");
    if (options->parts == 0 && !options->merge)
        return HOT_OK;
    if (options->parts && options->merge)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "part", "a run is a part, or merges parts");
    if (options->parts && (options->part < 1 || options->part > options->parts || options->parts > MAX_PARTS))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "part",
                                          "%d/%d: the number of the part, from 1 on, of how many there are, %d at most",
                                          options->part, options->parts, MAX_PARTS);
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
    HOT_CLEAR(record);
    HOT_NEED(context, folder, record);
    hot_run_store store = {0};
    int parts;
    hot_status status = find_parts(context, folder, &parts);
    char *name = status == HOT_OK ? file_name(context, folder, 1, parts) : NULL;
    if (status == HOT_OK)
        status = name ? open_part(context, name, &store) : HOT_ERROR_MEMORY;
    if (status == HOT_OK) {
        const cJSON *text = cJSON_GetObjectItemCaseSensitive(store.about, "record");
        *record = hot_string_copy(context, cJSON_IsString(text) ? text->valuestring : "");
        status = *record ? HOT_OK : HOT_ERROR_MEMORY;
    }
    hot_run_store_close(&store);
    hot_context_free(context, name);
    return status;
}

void hot_run_part_free(hot_run_state *run)
{
    hot_mask_destroy(&run->share);
    hot_output_discard(run->context, &run->part);
    hot_run_store_close(&run->store);
}
