#define _GNU_SOURCE /* pipe2 */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/context_internal.h"
#include "common/thread_start.h"
#include "fibers/fractions.h"
#include "io/common/program.h"
#include "io/field_stream.h"

enum { STEP = 50 /* ms between two looks at the viewer */, PATIENCE = 10000 /* ms without progress at the end */ };

struct hot_run_view {
    hot_grid grid;
    size_t plane;       /* voxels of a slice */
    float *background;  /* mean b=0 image, or zeros */
    float *peaks;       /* copy of the fibres found so far; NULL until the first */
    float *final;       /* all fibres again, where some of `peaks` are not results; NULL = none */
    size_t width;       /* floats of a voxel */
    size_t copied;      /* slices; of the run's thread */
    int to_viewer, errors; /* pipes: its standard input, and its error messages */
    pid_t pid;          /* of the process that tells whether the window is open; 0 once it has */
    pthread_t thread;
    int has_thread, has_warned;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t changed;
    size_t found, sent; /* slices */
    unsigned long steps; /* counts writes, to see whether there is progress */
    int has_failed;     /* no window was opened */
    int ended, gone, done; /* nothing follows; the window is closed or failed, or is given up; the thread has ended */
    char message[512];  /* first line of the viewer's errors */
};

/* ---- The viewer ---------------------------------------------------------------------------------------------- */

extern char **environ;

static int spawn(hot_run_view *view, char *path, const int input[2], const int errors[2])
{
    static char dash[] = "-", detach[] = "--detach";
    char *const arguments[] = {path, dash, detach, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    /* not the run's output and errors: whoever reads these waits for their end, and the window may stay for hours */
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int failed = posix_spawn(&view->pid, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Starts the viewer with both pipes. Returns an errno, or 0. */
static int start_viewer(hot_run_view *view, char *path)
{
    int input[2], errors[2];
    if (pipe2(input, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(errors, O_CLOEXEC) != 0) {
        const int reason = errno;
        close(input[0]);
        close(input[1]);
        return reason;
    }
    const int failed = spawn(view, path, input, errors);
    close(input[0]);
    close(errors[1]);
    view->to_viewer = input[1];
    view->errors = errors[0];
    fcntl(view->to_viewer, F_SETFL, O_NONBLOCK);
    fcntl(view->errors, F_SETFL, O_NONBLOCK);
    return failed;
}

/* Keeps the first line of the viewer's errors. */
static void hear(hot_run_view *view)
{
    static const char prefix[] = "hotfiber view: ";
    char text[sizeof view->message];
    const ssize_t got = read(view->errors, text, sizeof text - 1);
    if (got <= 0)
        return;
    text[got] = '\0';
    const char *line = strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + sizeof prefix - 1 : text;
    pthread_mutex_lock(&view->lock);
    if (!view->message[0])
        snprintf(view->message, sizeof view->message, "%.*s", (int)strcspn(line, "\n"), line);
    pthread_mutex_unlock(&view->lock);
}

/* Whether the window is still wanted: neither failed nor given up. */
static int is_there(hot_run_view *view)
{
    int status = 0;
    const pid_t ended = view->pid ? waitpid(view->pid, &status, WNOHANG) : 0;
    hear(view);
    pthread_mutex_lock(&view->lock);
    if (ended != 0)
        view->pid = 0;
    if (ended > 0 && status != 0)
        view->gone = view->has_failed = 1;
    const int there = !view->gone;
    pthread_mutex_unlock(&view->lock);
    return there;
}

/* ---- Its thread ---------------------------------------------------------------------------------------------- */

/* Returns 0 if the viewer takes nothing any more. */
static int send_bytes(hot_run_view *view, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0 && is_there(view)) {
        struct pollfd ready = {.fd = view->to_viewer, .events = POLLOUT};
        if (poll(&ready, 1, STEP) <= 0)
            continue;
        const ssize_t written = write(view->to_viewer, from, bytes);
        if (written < 0 && errno != EAGAIN && errno != EINTR)
            return 0;
        if (written <= 0)
            continue;
        from += written;
        bytes -= (size_t)written;
        pthread_mutex_lock(&view->lock);
        view->steps++;
        pthread_mutex_unlock(&view->lock);
    }
    return bytes == 0;
}

static int send_slices(hot_run_view *view, const float *values, size_t width, size_t first, size_t count, int is_peaks)
{
    char header[HOT_FIELD_HEADER];
    const int length = hot_field_stream_header(&view->grid, first, count, width, is_peaks, header);
    const size_t slice = view->plane * width;
    return send_bytes(view, header, (size_t)length) &&
           send_bytes(view, values + first * slice, count * slice * sizeof *values);
}

/* Waits for new slices. Returns how many there are; *ended: none will follow. */
static size_t wait_for_slices(hot_run_view *view, size_t *first, int *ended)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += STEP * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&view->lock);
    if (view->sent == view->found && !view->ended)
        pthread_cond_timedwait(&view->changed, &view->lock, &until);
    *first = view->sent;
    const size_t count = view->found - view->sent;
    view->sent = view->found;
    *ended = view->ended;
    pthread_mutex_unlock(&view->lock);
    return count;
}

static void *feed(void *user)
{
    hot_run_view *view = user;
    int ended = 0, there = send_slices(view, view->background, 1, 0, view->grid.size[2], 0);
    while (there) {
        size_t first;
        const size_t count = wait_for_slices(view, &first, &ended);
        there = count == 0 ? is_there(view) : send_slices(view, view->peaks, view->width, first, count, 1);
        if (count == 0 && ended)
            break;
    }
    if (there && view->final)
        there = send_slices(view, view->final, view->width, 0, view->grid.size[2], 1);
    close(view->to_viewer);
    while (is_there(view) && view->pid) /* until the window is open, or has failed */
        poll(NULL, 0, STEP);
    pthread_mutex_lock(&view->lock);
    view->done = 1;
    pthread_cond_broadcast(&view->changed);
    pthread_mutex_unlock(&view->lock);
    return NULL;
}

/* ---- The run's thread ---------------------------------------------------------------------------------------- */

static void warn(hot_run_state *run, const char *why)
{
    hot_context_log(run->context, HOT_LOG_WARNING, "no window (the run continues): %s", why);
}

/* Says once why there is no window. */
static void warn_of_viewer(hot_run_state *run)
{
    hot_run_view *view = run->view;
    char message[sizeof view->message] = "";
    pthread_mutex_lock(&view->lock);
    if (view->has_failed && !view->has_warned)
        snprintf(message, sizeof message, "%s", view->message[0] ? view->message : "hotfiber-view failed");
    view->has_warned |= view->has_failed;
    pthread_mutex_unlock(&view->lock);
    if (message[0])
        warn(run, message);
}

static hot_status fill(hot_run_state *run, hot_run_view *view)
{
    const hot_dwi *dwi = run->inputs.dwi;
    view->grid = *hot_dwi_grid(dwi);
    view->plane = view->grid.size[0] * view->grid.size[1];
    view->to_viewer = view->errors = -1;
    pthread_mutex_init(&view->lock, NULL);
    pthread_cond_init(&view->changed, NULL);
    view->background = hot_context_calloc(run->context, hot_grid_voxels(&view->grid), sizeof *view->background);
    if (!view->background)
        return HOT_ERROR_MEMORY;
    return hot_dwi_has_b0(dwi) ? hot_export_background(run->context, dwi, view->background) : HOT_OK;
}

void hot_run_view_begin(hot_run_state *run)
{
    char path[PATH_MAX];
    if (!run->inputs.options.view || run->inputs.options.learn)
        return;
    if (!hot_program_find("hotfiber-view", path)) {
        warn(run, "hotfiber-view is not installed (Debian: it is built with libepoxy-dev libegl-dev libglfw3-dev)");
        return;
    }
    run->view = hot_context_calloc(run->context, 1, sizeof *run->view);
    if (!run->view || fill(run, run->view) != HOT_OK) {
        warn(run, hot_context_message(run->context));
        return;
    }
    const int failed = start_viewer(run->view, path);
    if (failed)
        warn(run, strerror(failed));
    else
        /* signals are off in it, so that a closed pipe is an error */
        run->view->has_thread = hot_thread_start(&run->view->thread, feed, run->view);
}

/* Copies the fibres of slices up to `end`, and tells the thread. */
static void copy_slices(hot_run_state *run, const float *peaks, int max_fibers, size_t end, double typical)
{
    hot_run_view *view = run->view;
    const size_t width = 3 * (size_t)max_fibers, slice = view->plane * width, from = view->copied;
    if (!view->has_thread || end <= from)
        return;
    if (!view->peaks)
        view->peaks = hot_context_alloc(run->context, hot_grid_voxels(&view->grid), width * sizeof *peaks);
    if (!view->peaks) {
        warn(run, hot_context_message(run->context));
        view->copied = view->grid.size[2];
        return;
    }
    view->width = width;
    float *to = view->peaks + from * slice;
    memcpy(to, peaks + from * slice, (end - from) * slice * sizeof *peaks);
    if (typical > 0) {
        hot_fractions_of_typical(run->context, (end - from) * view->plane, max_fibers, typical, to);
        hot_fractions_bound(run->context, (end - from) * view->plane, max_fibers, to);
    }
    view->copied = end;
    pthread_mutex_lock(&view->lock);
    view->found = end;
    pthread_cond_broadcast(&view->changed);
    pthread_mutex_unlock(&view->lock);
    warn_of_viewer(run);
}

static void note_found(void *user, const hot_signal_output *found, size_t end)
{
    hot_run_state *run = user;
    copy_slices(run, found->peaks, found->max_fibers, end / run->view->plane, run->learned.response->typical);
}

void hot_run_view_hook(hot_run_state *run)
{
    if (run->view && run->learned.response)
        run->slabs.found = note_found;
}

/* Nothing more will be found. */
static void finish(hot_run_view *view, float *final)
{
    pthread_mutex_lock(&view->lock);
    view->final = final;
    view->ended = 1;
    pthread_cond_broadcast(&view->changed);
    pthread_mutex_unlock(&view->lock);
}

void hot_run_view_results(hot_run_state *run)
{
    const hot_run_options *o = &run->inputs.options;
    const hot_fiber_field *fibers = run->results.fibers;
    hot_run_view *view = run->view;
    if (!view || !view->has_thread)
        return;
    float *final = NULL;
    const size_t values = hot_grid_voxels(&view->grid) * 3 * (size_t)fibers->max_fibers;
    if (view->copied < view->grid.size[2]) { /* a method that finds all at once */
        copy_slices(run, fibers->peaks, fibers->max_fibers, view->grid.size[2], 0);
    } else if (o->min_probability > 0 || o->max_cone > 0) { /* fibres were left out since */
        final = hot_context_alloc(run->context, values, sizeof *final);
        if (final)
            memcpy(final, fibers->peaks, values * sizeof *final);
        else
            warn(run, hot_context_message(run->context));
    }
    finish(view, final);
}

/* Waits for the thread as long as it makes progress, if the run was complete; then ends it. */
static void join(hot_run_state *run, hot_run_view *view)
{
    int waited = 0;
    pthread_mutex_lock(&view->lock);
    for (unsigned long steps = 0; view->ended && !view->done && waited < PATIENCE; waited += STEP) {
        if (view->steps != steps)
            waited = 0;
        steps = view->steps;
        pthread_mutex_unlock(&view->lock);
        poll(NULL, 0, hot_context_cancelled(run->context) ? 0 : STEP);
        waited = hot_context_cancelled(run->context) ? PATIENCE : waited;
        pthread_mutex_lock(&view->lock);
    }
    const int stuck = view->ended && !view->done;
    view->gone |= !view->done;
    pthread_mutex_unlock(&view->lock);
    pthread_join(view->thread, NULL);
    warn_of_viewer(run);
    if (stuck && !hot_context_cancelled(run->context))
        warn(run, "hotfiber-view takes no data; its last slices may be missing");
}

void hot_run_view_end(hot_run_state *run)
{
    hot_run_view *view = run->view;
    if (!view)
        return;
    if (view->has_thread)
        join(run, view);
    else if (view->to_viewer >= 0)
        close(view->to_viewer);
    if (view->errors >= 0)
        close(view->errors);
    pthread_cond_destroy(&view->changed);
    pthread_mutex_destroy(&view->lock);
    HOT_FREE(run->context, view->final, view->peaks, view->background, view);
    run->view = NULL;
}
