/* How long a cancelled call takes to return. Runs the whole pipeline on a phantom and finds the longest time of the
 * calling thread between two checks for cancellation (hot_context_options.stop): that, and the cleaning up, is the
 * longest wait. It is time of the thread, so that a busy machine does not disturb; on a GPU, where the thread waits,
 * say `clock`. Then cancels runs at random moments, and takes the time by the clock until each returns.
 *
 *   bench_stop_latency [SIZE [STOPS [clock]]]   SIZE: voxels along each axis (96); STOPS: cancelled runs (20) */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "common/compare.h"
#include "io/common/temporary.h"

enum { WORST = 6 };

typedef struct gap {
    double seconds;
    char after[48], before[48];
} gap;

static struct {
    pthread_t caller;
    double last;
    char stage[48];
    unsigned long polls;
    gap worst[WORST];
    atomic_int stop;
} meter;

static clockid_t meter_clock = CLOCK_THREAD_CPUTIME_ID;

static double read_clock(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return read_clock(CLOCK_MONOTONIC); }

static void seen(const char *stage)
{
    if (!pthread_equal(pthread_self(), meter.caller))
        return;
    const double t = read_clock(meter_clock), seconds = t - meter.last;
    meter.polls++;
    int at = WORST;
    while (at > 0 && seconds > meter.worst[at - 1].seconds)
        at--;
    if (at < WORST) {
        memmove(meter.worst + at + 1, meter.worst + at, (size_t)(WORST - 1 - at) * sizeof(gap));
        meter.worst[at].seconds = seconds;
        snprintf(meter.worst[at].after, sizeof meter.worst[at].after, "%s", meter.stage);
        snprintf(meter.worst[at].before, sizeof meter.worst[at].before, "%s", stage ? stage : meter.stage);
    }
    if (stage)
        snprintf(meter.stage, sizeof meter.stage, "%s", stage);
    meter.last = read_clock(meter_clock);
}

static int on_stop(void *user)
{
    (void)user;
    seen(NULL);
    return atomic_load(&meter.stop);
}

static int on_progress(void *user, const char *stage, double fraction)
{
    (void)user;
    char text[48];
    snprintf(text, sizeof text, "%.30s %.3f", stage, fraction);
    seen(text);
    return 0;
}

static void start(void)
{
    memset(&meter, 0, sizeof meter);
    meter.caller = pthread_self();
    snprintf(meter.stage, sizeof meter.stage, "the start");
    meter.last = read_clock(meter_clock);
}

static hot_context *context_new(int watched)
{
    hot_context *context = NULL;
    hot_context_options options = {.size = sizeof options, .seed = 1};
    if (watched)
        options.stop = on_stop, options.progress = on_progress;
    if (hot_context_create(&options, &context) != HOT_OK)
        exit(1);
    return context;
}

static void table(const char *what, double seconds)
{
    printf("%-34s %8.2f s  %9lu looks  longest %7.1f ms\n", what, seconds, meter.polls, 1e3 * meter.worst[0].seconds);
    for (int i = 0; i < WORST && meter.worst[i].seconds > 0.02; i++)
        printf("      %7.1f ms  after '%s', before '%s'\n", 1e3 * meter.worst[i].seconds, meter.worst[i].after,
               meter.worst[i].before);
    fflush(stdout);
}

static char folder[] = "/tmp/hotfiber-latency-XXXXXX";

static hot_status run(const char *input, const char *method, size_t starts, const char *model, int watched,
                      char *message)
{
    char output[128];
    hot_context *context = context_new(watched);
    snprintf(output, sizeof output, "%s/out", folder);
    const hot_fit_options fit = {.size = sizeof fit, .model = model, .positive = strcmp(model, "adc") == 0};
    const hot_peaks_options peaks = {.size = sizeof peaks, .method = method, .starts = starts};
    const hot_run_options options = {.size = sizeof options, .input = input, .output = output, .force = 1, .fit = &fit,
                                     .peaks = &peaks};
    hot_status status = hot_run(context, &options, NULL);
    if (message)
        snprintf(message, 256, "%s", hot_context_message(context));
    hot_context_destroy(&context);
    hot_temporary_folder_remove(output);
    return status;
}

/* Every export format, every way of saving, the score and the phantom itself. */
static void exports(const char *input)
{
    char path[160], name[64];
    hot_context *context = context_new(1);
    hot_dwi *dwi = NULL;
    hot_run_fields fields = {0};
    const hot_peaks_options peaks = {.size = sizeof peaks, .method = "lowrank"};
    const hot_run_options options = {.size = sizeof options, .peaks = &peaks};
    start();
    if (hot_dwi_load(context, input, NULL, NULL, &dwi) != HOT_OK ||
        hot_run_compute(context, dwi, &options, &fields, NULL) != HOT_OK) {
        printf("%s\n", hot_context_message(context));
        goto cleanup;
    }
    size_t count;
    const hot_export_format *const *formats = hot_export_formats(&count);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s%.*s", folder, formats[i]->name, (int)strcspn(formats[i]->suffix, "|"),
                 formats[i]->suffix);
        start();
        const double begin = now();
        hot_status status = formats[i]->write ? formats[i]->write(context, fields.fibers, path)
                                              : formats[i]->write_tensors(context, fields.tensors, path);
        seen("the end");
        snprintf(name, sizeof name, "export %s%s", formats[i]->name, status == HOT_OK ? "" : ", failed");
        table(name, now() - begin);
    }
    static const char *const saves[] = {"again.nrrd", "again.nhdr", "again.nii", "again.nii.gz"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, saves[i]);
        start();
        const double begin = now();
        hot_status status = hot_dwi_save(context, dwi, path);
        seen("the end");
        snprintf(name, sizeof name, "data to %s%s", saves[i], status == HOT_OK ? "" : ", failed");
        table(name, now() - begin);
    }
    hot_score *score = NULL;
    start();
    const double begin = now();
    hot_score_create(context, fields.fibers, fields.fibers, NULL, &score);
    seen("the end");
    table("score", now() - begin);
    hot_score_destroy(&score);
cleanup:
    hot_run_fields_free(&fields);
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&context);
}

static void *stopper(void *wait)
{
    struct timespec t = {(time_t) * (double *)wait, 0};
    t.tv_nsec = (long)(1e9 * (*(double *)wait - (double)t.tv_sec));
    nanosleep(&t, NULL);
    *(double *)wait = now();
    atomic_store(&meter.stop, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    const size_t size = argc > 1 ? (size_t)atol(argv[1]) : 96;
    const int stops = argc > 2 ? atoi(argv[2]) : 20;
    if (argc > 3 && strcmp(argv[3], "clock") == 0)
        meter_clock = CLOCK_MONOTONIC;
    static const struct { const char *name, *file, *model, *method; size_t starts; } jobs[] = {
        {"signal, from NRRD", "dwi.nrrd", "fod", "signal", 0},
        {"maxima, from NIfTI.gz", "dwi.nii.gz", "fod", "maxima", 0},
        {"sshopm, 200 starts", "dwi.nrrd", "fod", "sshopm", 200},
        {"lowrank", "dwi.nrrd", "fod", "lowrank", 0},
        {"adc, positive", "dwi.nrrd", "adc", "maxima", 0},
    };
    char path[5][64], message[256];
    double took[5];
    if (!mkdtemp(folder))
        return 1;
    hot_context *context = context_new(0);
    hot_phantom *phantom = NULL;
    hot_phantom_options shape = {.size = sizeof shape, .layout = HOT_PHANTOM_BUNDLES, .volume = {size, size, size}};
    if (hot_phantom_create(context, &shape, &phantom) != HOT_OK)
        return 1;
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", folder, jobs[i].file);
        if (hot_phantom_save(context, phantom, NULL, path[i]) != HOT_OK)
            return 1;
    }
    for (int i = 2; i < 5; i++)
        memcpy(path[i], path[0], sizeof path[i]);
    hot_phantom_destroy(&phantom);
    printf("phantom of %zu x %zu x %zu voxels, %d threads\n", size, size, size, hot_context_threads(context));
    hot_context_destroy(&context);
    for (int i = 0; i < 5; i++) {
        start();
        const double begin = now();
        hot_status status = run(path[i], jobs[i].method, jobs[i].starts, jobs[i].model, 1, message);
        seen("the end");
        took[i] = now() - begin;
        table(jobs[i].name, took[i]);
        if (status != HOT_OK)
            printf("      %s\n", message);
    }
    exports(path[0]);
    double *waits = malloc(sizeof *waits * (size_t)(stops > 0 ? stops : 1));
    srand48(7);
    for (int i = 0; i < 5; i++) {
        int stopped = 0;
        for (int n = 0; n < stops; n++) {
            double wait = drand48() * took[i];
            pthread_t thread;
            start();
            pthread_create(&thread, NULL, stopper, &wait);
            hot_status status = run(path[i], jobs[i].method, jobs[i].starts, jobs[i].model, 1, NULL);
            const double back = now();
            pthread_join(thread, NULL);
            if (status == HOT_ERROR_CANCELLED)
                waits[stopped++] = back - wait;
        }
        if (!stopped)
            continue;
        qsort(waits, (size_t)stopped, sizeof *waits, hot_ascending_f64);
        printf("%-34s stopped %3d times: median %6.1f ms, longest %6.1f ms\n", jobs[i].name, stopped,
               1e3 * waits[stopped / 2], 1e3 * waits[stopped - 1]);
        fflush(stdout);
    }
    free(waits);
    hot_temporary_folder_remove(folder);
    return 0;
}
