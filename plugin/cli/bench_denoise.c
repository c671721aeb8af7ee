/* hotfiber bench denoise: voxels per second; --peer dwidenoise times MRtrix's on the same data and the same threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/random.h"
#include "bench.h"

enum { VOLUMES = 64, SIDE = 40, SLICES = 16, VOXELS = SIDE * SIDE * SLICES };

typedef struct denoise_job {
    hot_denoise_options options;
    const float *signals;
    float *denoised, *noise;
} denoise_job;

static const size_t size[3] = {SIDE, SIDE, SLICES};

static hot_status body(hot_context *context, void *user)
{
    denoise_job *job = user;
    return hot_denoise_f32(context, &job->options, size, VOLUMES, job->signals, NULL, job->denoised, job->noise);
}

/* Six tissues mixed smoothly, signal-to-noise 30. */
static void make_signals(uint64_t seed, float *signals)
{
    enum { TISSUES = 6 };
    hot_random random = hot_random_start(seed, 0, 0);
    double tissue[TISSUES][VOLUMES], wave[TISSUES][3], noise[2];
    for (int t = 0; t < TISSUES; t++) {
        for (int v = 0; v < VOLUMES; v++)
            tissue[t][v] = exp(-2.5 * hot_random_uniform(&random));
        for (int d = 0; d < 3; d++)
            wave[t][d] = .4 * (hot_random_uniform(&random) - .5);
    }
    for (size_t voxel = 0; voxel < VOXELS; voxel++) {
        const double x = (double)(voxel % SIDE), y = (double)(voxel / SIDE % SIDE), z = (double)(voxel / SIDE / SIDE);
        double weight[TISSUES], sum = 0;
        for (int t = 0; t < TISSUES; t++)
            sum += weight[t] = 1.01 + sin(wave[t][0] * x + wave[t][1] * y + wave[t][2] * z + t);
        for (int v = 0; v < VOLUMES; v++) {
            double signal = 0;
            for (int t = 0; t < TISSUES; t++)
                signal += 1000 * weight[t] / sum * tissue[t][v];
            hot_random_normals(&random, &noise[0], &noise[1]);
            signals[voxel * VOLUMES + (size_t)v] = (float)(signal + 1000 / 30. * noise[0]);
        }
    }
}

/* MRtrix's program on a file of the same data: its whole run. */
static hot_status time_dwidenoise(hot_context *context, const float *signals, bench_report *report, const char *name)
{
    char folder[] = "/tmp/hotfiber_bench_XXXXXX", path[64], command[256];
    const double identity[3][4] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    hot_grid grid = {.size = {SIDE, SIDE, SLICES}, .space = HOT_SPACE_RAS};
    double b[VOLUMES] = {0}, gradients[3 * VOLUMES] = {0};
    hot_dwi *dwi = NULL;
    float *volumes = hot_context_alloc(context, VOXELS * VOLUMES, sizeof *volumes);
    if (!volumes)
        return HOT_ERROR_MEMORY;
    memcpy(grid.to_world, identity, sizeof identity);
    for (size_t voxel = 0; voxel < VOXELS; voxel++)
        for (size_t v = 0; v < VOLUMES; v++)
            volumes[v * VOXELS + voxel] = signals[voxel * VOLUMES + v];
    hot_status status = hot_dwi_create(context, &grid, VOLUMES, b, gradients, volumes, &dwi);
    hot_context_free(context, volumes);
    if (status == HOT_OK && !mkdtemp(folder))
        status = hot_context_fail(context, HOT_ERROR_FILE, "cannot make a folder under /tmp");
    if (status != HOT_OK)
        goto cleanup;
    snprintf(path, sizeof path, "%s/dwi.nii", folder);
    status = hot_dwi_save(context, dwi, path);
    const int threads = hot_context_threads(context);
    snprintf(command, sizeof command,
             "dwidenoise -quiet -force -extent 5,5,5 -nthreads %d %s/dwi.nii %s/out.nii 2>/dev/null",
             threads > 1 ? threads : 0, folder, folder);
    double times[3];
    for (int i = 0; i < 3 && status == HOT_OK; i++) {
        const double begin = bench_now();
        if (system(command) != 0)
            status = hot_context_fail(context, HOT_ERROR_FILE, "dwidenoise is not here, or failed: %s", command);
        times[i] = bench_now() - begin;
    }
    if (status == HOT_OK) {
        bench_row *row = bench_add(report, name, "dwidenoise");
        row->seconds = bench_median(times, 3);
        row->fastest = times[0];
        row->slowest = times[2];
        row->repeats = 3;
        row->items = VOXELS;
        row->item = "voxels";
    }
    static const char *const files[] = {"dwi.nii", "dwi.bval", "dwi.bvec", "out.nii"};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
cleanup:
    hot_dwi_destroy(&dwi);
    return status;
}

static hot_status run_denoise(hot_context *context, const bench_options *options, bench_report *report)
{
    denoise_job job = {.options.size = sizeof job.options};
    hot_status status = HOT_OK;
    if (options->peer && strcmp(options->peer, "dwidenoise") != 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "denoise knows the peer dwidenoise, not '%s'",
                                options->peer);
    float *signals = hot_context_alloc(context, VOXELS * VOLUMES, sizeof *signals);
    job.signals = signals;
    job.denoised = hot_context_alloc(context, VOXELS * VOLUMES, sizeof *job.denoised);
    job.noise = hot_context_alloc(context, VOXELS, sizeof *job.noise);
    if (!signals || !job.denoised || !job.noise)
        status = HOT_ERROR_MEMORY;
    else
        make_signals(hot_context_seed(context), signals);
    for (size_t step = 2; step > 0 && status == HOT_OK; step--) {
        char name[64];
        for (int d = 0; d < 3; d++)
            job.options.step[d] = step;
        snprintf(name, sizeof name, "40x40x16x64, window 5, step %zu", step);
        bench_row *row = bench_add(report, name, "cpu");
        row->items = VOXELS;
        row->item = "voxels";
        status = bench_measure(context, options, body, &job, row);
    }
    if (status == HOT_OK && options->peer)
        status = time_dwidenoise(context, signals, report, "40x40x16x64, window 5, every voxel");
    hot_context_free(context, signals);
    hot_context_free(context, job.denoised);
    hot_context_free(context, job.noise);
    return status;
}

const bench_entry bench_denoise = {
    "denoise", "Marchenko-Pastur denoising in memory; --peer dwidenoise: MRtrix's program", run_denoise};
