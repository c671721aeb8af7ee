#define _DEFAULT_SOURCE
#include "callbacks.h"

#include <pthread.h>
#include <time.h>

#include "common/entry.h"
#include "common/lapack.h"

/* How often the calling thread looks for signals, seconds: taking the interpreter's lock costs some microseconds when
 * it is free, and more when other Python threads compute. */
#define SIGNALS_EVERY 0.02

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t self(void) { return (uint64_t)pthread_self(); }

/* Keeps the exception that is set in this thread, the first of a call, and ends the call. With the lock held. */
static void keep_exception(hot_python_call *call)
{
    void *type, *value, *trace;
    call->functions->fetch(&type, &value, &trace);
    if (!call->type) {
        call->type = type, call->value = value, call->trace = trace;
    } else {
        call->functions->decrease(type);
        call->functions->decrease(value);
        call->functions->decrease(trace);
    }
    __atomic_store_n(&call->stop, 1, __ATOMIC_RELEASE);
}

/* Handlers of signals run in Python's main thread alone; elsewhere nothing happens here. */
static void look_for_signals(hot_python_call *call)
{
    const int state = call->functions->ensure();
    if (call->functions->check_signals() != 0)
        keep_exception(call);
    call->functions->release(state);
}

static int stop(void *user)
{
    hot_python_call *call = user;
    if (__atomic_load_n(&call->stop, __ATOMIC_ACQUIRE))
        return 1;
    if (self() != call->thread) /* only the calling thread can run signal handlers */
        return 0;
    const double time = now();
    if (time < call->next)
        return 0;
    call->next = time + SIGNALS_EVERY;
    look_for_signals(call);
    return __atomic_load_n(&call->stop, __ATOMIC_ACQUIRE);
}

static int progress(void *user, const char *stage, double fraction)
{
    hot_python_call *call = user;
    if (!call->progress || __atomic_load_n(&call->stop, __ATOMIC_ACQUIRE))
        return stop(user);
    const int state = call->functions->ensure();
    void *result = call->functions->call(call->progress, "sd", stage, fraction);
    if (result)
        call->functions->decrease(result);
    else
        keep_exception(call);
    call->functions->release(state);
    return stop(user);
}

static void log_line(void *user, hot_log_level level, const char *line)
{
    hot_python_call *call = user;
    if (!call->log)
        return;
    const int state = call->functions->ensure();
    void *result = call->functions->call(call->log, "is", (int)level, line);
    if (result)
        call->functions->decrease(result);
    else
        keep_exception(call);
    call->functions->release(state);
}

hot_status hot_python_context(hot_python_call *call, int device, int device_number, int threads, uint64_t seed,
                              hot_context **context)
{
    const hot_context_options options = {
        .size = sizeof options, .device = (hot_device)device, .device_number = device_number, .threads = threads,
        .seed = seed, .log = log_line, .log_user = call, .progress = progress, .progress_user = call, .stop = stop,
        .stop_user = call};
    return hot_context_create(&options, context);
}

void hot_python_begin(hot_python_call *call)
{
    call->thread = self();
    call->next = now() + SIGNALS_EVERY;
    call->stop = 0;
}

void hot_python_before_fork(void) { hot_team_end(); }

void hot_python_offer_lapack(const char *path) { hot_lapack_offer(path); }

int hot_command_main(int argc, char **argv); /* main of plugin/cli, renamed (CMakeLists.txt) */

int hot_python_command(int argc, char **argv) { return hot_command_main(argc, argv); }
