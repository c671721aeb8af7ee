/* hotfiber bench denoise: voxels per second, from memory to memory; --peer dwidenoise times MRtrix's on the CPU's
 * data and the same threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/backend.h"
#include "core/random.h"
#include "bench.h"

enum { VOLUMES = 64, SIDE = 40, SLICES = 16, VOXELS = SIDE * SIDE * SLICES };

typedef struct denoise_args {
    hot_denoise_options options;
    size_t size[3];
    float *signals, *denoised, *noise;
} denoise_args;

static hot_status body(hot_context *context, void *user)
{
    denoise_args *job = user;
    return hot_denoise_f32(context, &job->options, job->size, VOLUMES, job->signals, NULL, job->denoised, job->noise);
}

/* Six tissues mixed smoothly, signal-to-noise 30; complex: with a phase that varies smoothly. */
static void make_signals(uint64_t seed, const denoise_args *job)
{
    enum { TISSUES = 6 };
    const size_t ni = job->size[0], nj = job->size[1], voxels = ni * nj * job->size[2],
                 parts = job->options.is_complex ? 2 : 1;
    hot_random random = hot_random_start(seed, 0, 0);
    double tissue[TISSUES][VOLUMES], wave[TISSUES][3], noise[2];
    for (int t = 0; t < TISSUES; t++) {
        for (int v = 0; v < VOLUMES; v++)
            tissue[t][v] = exp(-2.5 * hot_random_uniform(&random));
        for (int d = 0; d < 3; d++)
            wave[t][d] = .4 * (hot_random_uniform(&random) - .5);
    }
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        const double x = (double)(voxel % ni), y = (double)(voxel / ni % nj), z = (double)(voxel / ni / nj);
        const double phase = parts == 2 ? .1 * x - .07 * y + .02 * z : 0;
        double weight[TISSUES], sum = 0;
        for (int t = 0; t < TISSUES; t++)
            sum += weight[t] = 1.01 + sin(wave[t][0] * x + wave[t][1] * y + wave[t][2] * z + t);
        for (int v = 0; v < VOLUMES; v++) {
            double signal = 0;
            for (int t = 0; t < TISSUES; t++)
                signal += 1000 * weight[t] / sum * tissue[t][v];
            hot_random_normals(&random, &noise[0], &noise[1]);
            float *to = job->signals + (voxel * VOLUMES + (size_t)v) * parts;
            to[0] = (float)(signal * cos(phase) + 1000 / 30. * noise[0]);
            if (parts == 2)
                to[1] = (float)(signal * sin(phase) + 1000 / 30. * noise[1]);
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
        const double median = bench_median(times, 3); /* sorts them */
        bench_add_measured(report, name, "dwidenoise", median, times[0], 3, VOXELS, "voxels")->slowest = times[2];
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

static void free_job(hot_context *context, denoise_args *job)
{
    hot_context_free(context, job->signals);
    hot_context_free(context, job->denoised);
    hot_context_free(context, job->noise);
}

static hot_status make_job(hot_context *context, size_t side, size_t slices, int is_complex, denoise_args *job)
{
    *job = (denoise_args){.options = {.size = sizeof job->options, .is_complex = is_complex},
                          .size = {side, side, slices}};
    const size_t voxels = side * side * slices, width = VOLUMES * (is_complex ? 2 : 1);
    job->signals = hot_context_alloc(context, voxels * width, sizeof *job->signals);
    job->denoised = hot_context_alloc(context, voxels * width, sizeof *job->denoised);
    job->noise = hot_context_alloc(context, voxels, sizeof *job->noise);
    if (!job->signals || !job->denoised || !job->noise) {
        free_job(context, job);
        return HOT_ERROR_MEMORY;
    }
    make_signals(hot_context_seed(context), job);
    return HOT_OK;
}

/* Windows at every second voxel, and at every one. */
static hot_status measure_steps(hot_context *context, const bench_options *options, bench_report *report,
                                denoise_args *job, const char *backend)
{
    hot_status status = HOT_OK;
    for (size_t step = 2; step > 0 && status == HOT_OK; step--) {
        char name[64];
        for (int d = 0; d < 3; d++)
            job->options.step[d] = step;
        snprintf(name, sizeof name, "%s%zux%zux%zux%d, window 5, step %zu", job->options.is_complex ? "complex " : "",
                 job->size[0], job->size[1], job->size[2], VOLUMES, step);
        status = bench_measure_row(context, options, report, name, backend,
                                   (double)(job->size[0] * job->size[1] * job->size[2]), "voxels", body, job, NULL);
    }
    return status;
}

/* On a device and no other: a context that may choose would take the CPU where the GPU fails. */
static hot_status measure_on(hot_context *context, hot_device device, const bench_options *options,
                             bench_report *report)
{
    const int gpu = device == HOT_DEVICE_CUDA;
    hot_context_options how = {.size = sizeof how,
                               .device = device,
                               .device_number = hot_context_device_number(context),
                               .threads = hot_context_threads(context)};
    hot_context *own = NULL;
    hot_status status = HOT_OK;
    if (hot_context_create(&how, &own) != HOT_OK)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "no memory for a context");
    for (int is_complex = 0; is_complex < 2 && status == HOT_OK; is_complex++) {
        denoise_args job;
        status = make_job(context, gpu ? 100 : SIDE, gpu ? 60 : SLICES, is_complex, &job);
        if (status != HOT_OK)
            break;
        status = measure_steps(own, options, report, &job, gpu ? "cuda" : "cpu");
        if (status != HOT_OK)
            hot_context_fail(context, status, "%s", hot_context_message(own));
        else if (!gpu && !is_complex && options->peer)
            status = time_dwidenoise(context, job.signals, report, "40x40x16x64, window 5, every voxel");
        free_job(context, &job);
    }
    hot_context_destroy(&own);
    return status;
}

static hot_status run_denoise(hot_context *context, const bench_options *options, bench_report *report)
{
    const hot_device device = hot_context_device(context);
    hot_status status = bench_check_peer(context, options, "dwidenoise");
    if (status == HOT_OK && device != HOT_DEVICE_CUDA)
        status = measure_on(context, HOT_DEVICE_CPU, options, report);
    if (status == HOT_OK && (device == HOT_DEVICE_CUDA || (device == HOT_DEVICE_AUTO && hot_cuda_count() > 0)))
        status = measure_on(context, HOT_DEVICE_CUDA, options, report);
    return status;
}

const bench_entry bench_denoise = {
    "denoise", "Marchenko-Pastur denoising in memory; --peer dwidenoise (MRtrix)", run_denoise};
