/* hotfiber bench run: the whole of `hotfiber run` on a phantom, files included, with the seconds of each stage. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/common/report.h"
#include "run/folder.h"

typedef struct run_job {
    hot_run_options options;
    hot_run_result result;
} run_job;

static hot_status run_once(hot_context *context, void *user)
{
    run_job *job = user;
    return hot_run(context, &job->options, &job->result);
}

/* Where the time went in the last of the runs, from its own report. */
static hot_status add_stages(hot_context *context, const char *folder, bench_row *row)
{
    char path[512];
    cJSON *root;
    snprintf(path, sizeof path, "%s/report.json", folder);
    hot_status status = hot_report_load(context, path, &root);
    if (status != HOT_OK)
        return status;
    const cJSON *stage;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(root, "seconds"))
        if (strcmp(stage->string, "total") != 0)
            bench_note(row, stage->string, cJSON_GetNumberValue(stage));
    cJSON_Delete(root);
    return HOT_OK;
}

static hot_status run_run(hot_context *context, const bench_options *options, bench_report *report)
{
    const char *temporary = getenv("TMPDIR");
    char root[256], input[300], output[300];
    snprintf(root, sizeof root, "%s/hotfiber-bench-XXXXXX", temporary && temporary[0] ? temporary : "/tmp");
    if (!mkdtemp(root))
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot make a folder like '%s'", root);
    snprintf(input, sizeof input, "%s/dwi.nrrd", root);
    snprintf(output, sizeof output, "%s/out", root);
    /* A box of bundles in the proportions of a head's. */
    double side = cbrt((double)(options->count ? options->count : 60 * 60 * 24) / .4);
    hot_phantom_options phantom_options = {.size = sizeof phantom_options, .layout = HOT_PHANTOM_BUNDLES,
                                           .volume = {(size_t)side, (size_t)side, (size_t)(.4 * side) + 1}};
    hot_phantom_save_options save = {.size = sizeof save, .integers = 1};
    hot_phantom *phantom = NULL;
    hot_status status = hot_phantom_create(context, &phantom_options, &phantom);
    if (status == HOT_OK)
        status = hot_phantom_save(context, phantom, &save, input);
    hot_phantom_destroy(&phantom);
    for (int order = 4; order <= 8 && status == HOT_OK; order += 2) {
        if (options->order && options->order != order)
            continue;
        run_job job = {.options = {.size = sizeof job.options, .input = input, .output = output, .force = 1,
                                   .fit = {.size = sizeof job.options.fit, .order = order, .regularise = -1,
                                           .weighted = -1}}};
        char name[64];
        snprintf(name, sizeof name, "order %d, %zu x %zu x %zu x 72", order, phantom_options.volume[0],
                 phantom_options.volume[1], phantom_options.volume[2]);
        bench_row *row = bench_add(report, name, "cpu");
        row->item = "voxels";
        status = bench_measure(context, options, run_once, &job, row);
        row->items = (double)job.result.voxels; /* those in the mask: the others cost next to nothing */
        if (status == HOT_OK)
            status = add_stages(context, output, row);
    }
    hot_folder_remove_own(root);
    return status;
}

const bench_entry bench_run = {"run", "the whole of `hotfiber run`, files included, with seconds of each stage",
                               run_run};
