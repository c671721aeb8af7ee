/* hotfiber bench run: a complete `hotfiber run` on a phantom, files included, with the seconds of each stage. With
 * --peer mrtrix MRtrix's commands for the same on the same data: response, fODFs, peaks. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/context_internal.h"
#include "common/flow.h"
#include "io/common/report.h"
#include "io/common/temporary.h"

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
    HOT_TRY(hot_report_load(context, path, &root));
    const cJSON *stage;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(root, "seconds"))
        if (strcmp(stage->string, "total") != 0)
            bench_note(row, stage->string, cJSON_GetNumberValue(stage));
    cJSON_Delete(root);
    return HOT_OK;
}

/* MRtrix's three commands, once each, on the phantom and in the mask of our run. */
static hot_status run_mrtrix(hot_context *context, const hot_phantom *phantom, const char *root, const char *mask,
                             bench_report *report)
{
    static const struct { const char *name, *format; } commands[] = {
        {"dwi2response", "dwi2response tournier dwi.nii wm.txt -fslgrad dwi.bvec dwi.bval -mask %s -scratch . "
                         "-nthreads %d -quiet"},
        {"dwi2fod", "dwi2fod csd dwi.nii wm.txt fod.nii -fslgrad dwi.bvec dwi.bval -mask %s -nthreads %d -quiet"},
        {"sh2peaks", "sh2peaks fod.nii peaks.nii -num 3 -mask %s -nthreads %d -quiet"}};
    char path[300], line[1024], command[600];
    double seconds[3], total = 0;
    if (system("command -v dwi2response dwi2fod >/dev/null && command -v sh2peaks >/dev/null"))
        return hot_context_fail(context, HOT_ERROR_FILE, "--peer mrtrix: dwi2response, dwi2fod and sh2peaks are not "
                                "installed (Debian: mrtrix3)");
    snprintf(path, sizeof path, "%s/dwi.nii", root);
    hot_status status = hot_phantom_save(context, phantom, NULL, path);
    for (int i = 0; i < 3 && status == HOT_OK; i++) {
        const double begin = bench_now();
        snprintf(command, sizeof command, commands[i].format, mask, hot_context_threads(context));
        snprintf(line, sizeof line, "cd '%s' && %s >/dev/null", root, command);
        if (system(line) != 0)
            status = hot_context_fail(context, HOT_ERROR_DATA, "'%s' failed", command);
        total += seconds[i] = bench_now() - begin;
        if (status == HOT_OK)
            status = hot_context_check(context, "running MRtrix");
    }
    if (status != HOT_OK)
        return status;
    bench_row *row = bench_add_measured(report, "response, csd fODFs, three peaks", "MRtrix", total, total, 1, 0,
                                        NULL);
    for (int i = 0; i < 3; i++)
        bench_note(row, commands[i].name, seconds[i]);
    return HOT_OK;
}

static hot_status run_run(hot_context *context, const bench_options *options, bench_report *report)
{
    const char *temporary = getenv("TMPDIR");
    char root[256], input[300], output[300], mask[320];
    HOT_TRY(bench_check_peer(context, options, "mrtrix"));
    snprintf(root, sizeof root, "%s/hotfiber-bench-XXXXXX", temporary && temporary[0] ? temporary : "/tmp");
    if (!mkdtemp(root))
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot make a folder like '%s'", root);
    snprintf(input, sizeof input, "%s/dwi.nrrd", root);
    snprintf(output, sizeof output, "%s/out", root);
    snprintf(mask, sizeof mask, "%s/mask.nii.gz", output);
    /* A box of bundles in the proportions of a head's. */
    double side = cbrt((double)(options->count ? options->count : 60 * 60 * 24) / .4);
    hot_phantom_options phantom_options = {.size = sizeof phantom_options, .layout = HOT_PHANTOM_BUNDLES,
                                           .volume = {(size_t)side, (size_t)side, (size_t)(.4 * side) + 1}};
    hot_phantom_save_options save = {.size = sizeof save, .integers = 1};
    hot_phantom *phantom = NULL;
    hot_status status = hot_phantom_create(context, &phantom_options, &phantom);
    if (status == HOT_OK)
        status = hot_phantom_save(context, phantom, &save, input);
    for (int order = 4; order <= 8 && status == HOT_OK; order += 2) {
        if (options->order && options->order != order)
            continue;
        const hot_fit_options fit = {.size = sizeof fit, .order = order};
        run_job job = {.options = {.size = sizeof job.options, .input = input, .output = output, .force = 1,
                                   .fit = &fit}};
        char name[64];
        snprintf(name, sizeof name, "order %d, %zu x %zu x %zu x 72", order, phantom_options.volume[0],
                 phantom_options.volume[1], phantom_options.volume[2]);
        bench_row *row = bench_add(report, name, "cpu");
        row->item = "voxels";
        status = bench_measure(context, options, run_once, &job, row);
        if (hot_context_device_used(context) == HOT_DEVICE_CUDA)
            snprintf(row->backend, sizeof row->backend, "cuda");
        row->items = (double)job.result.voxels; /* those in the mask: the others cost next to nothing */
        if (status == HOT_OK)
            status = add_stages(context, output, row);
    }
    if (status == HOT_OK && options->peer)
        status = run_mrtrix(context, phantom, root, mask, report);
    hot_phantom_destroy(&phantom);
    hot_temporary_folder_remove(root);
    return status;
}

const bench_entry bench_run = {
    "run", "a complete `hotfiber run`, files included, with seconds of each stage; --peer mrtrix", run_run};
