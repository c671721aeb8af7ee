/* The choice of a backend: see backend.h. */
#include "backend.h"

#include "arguments.h"
#include "context_internal.h"

#include <pthread.h>
#include <time.h>

#if !defined(HOT_HAVE_CUDA) || !HOT_HAVE_CUDA
int hot_cuda_has_driver(void) { return 0; }
int hot_cuda_count(void) { return 0; }
void hot_cuda_start(int number) { (void)number; }

hot_status hot_cuda_select(hot_context *context, int number)
{
    (void)number;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA; use the CPU");
}

hot_status hot_context_set_memory(hot_context *context, hot_memory memory, void *stream)
{
    HOT_NEED(context);
    (void)stream;
    return memory == HOT_MEMORY_HOST ? HOT_OK
                                     : hot_context_fail(context, HOT_ERROR_DEVICE,
                                                        "this build has no CUDA: arrays are in the host's memory");
}

hot_status hot_context_wait(hot_context *context) { return context ? HOT_OK : HOT_ERROR_ARGUMENT; }
#endif

hot_status hot_backend_need_host(hot_context *context, const char *family)
{
    if (hot_context_memory(context, NULL) == HOT_MEMORY_HOST)
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                            "%s takes arrays in the host's memory (hot_context_set_memory)", family);
}

/* Which GPUs have been started in this process: global state, because a GPU's driver has global state too. */
enum { WAKE_DEVICES = 17 }; /* GPU 0 to 15, and all of them */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    signed char begun[WAKE_DEVICES], done[WAKE_DEVICES];
    int forks; /* hot_entry_forks of the process whose lock this is */
} waking = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* In a forked process a thread that was starting a GPU is not there, and may have had the lock. */
static void lock_waking(void)
{
    if (waking.forks != hot_entry_forks()) {
        pthread_mutex_init(&waking.lock, NULL);
        pthread_cond_init(&waking.changed, NULL);
        for (int place = 0; place < WAKE_DEVICES; place++)
            waking.done[place] = waking.begun[place];
        waking.forks = hot_entry_forks();
    }
    pthread_mutex_lock(&waking.lock);
}

static void *start_device(void *done)
{
    const int place = (int)((signed char *)done - waking.done);
    hot_cuda_start(place == WAKE_DEVICES - 1 ? -1 : place);
    lock_waking();
    waking.done[place] = 1;
    pthread_cond_broadcast(&waking.changed);
    pthread_mutex_unlock(&waking.lock);
    return NULL;
}

/* Its index among the devices that are started; -1 if the number is too large, which hot_cuda_select reports. */
static int waking_place(int number)
{
    return number < 0 ? WAKE_DEVICES - 1 : number < WAKE_DEVICES - 1 ? number : -1;
}

/* The thread, if there was none yet. With the lock held. */
static void begin_waking(int place)
{
    pthread_t thread;
    if (waking.begun[place])
        return;
    waking.begun[place] = 1;
    if (pthread_create(&thread, NULL, start_device, &waking.done[place]) == 0)
        pthread_detach(thread);
    else
        waking.done[place] = 1; /* then the first call starts it */
}

hot_status hot_cuda_init(hot_context *context, int number)
{
    const int place = waking_place(number);
    hot_status status = HOT_OK;
    if (place < 0)
        return HOT_OK;
    lock_waking();
    begin_waking(place);
    while (!waking.done[place] && status == HOT_OK) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 10000000;
        if (until.tv_nsec >= 1000000000)
            until.tv_nsec -= 1000000000, until.tv_sec++;
        pthread_cond_timedwait(&waking.changed, &waking.lock, &until);
        status = hot_context_check(context, "starting the GPU");
    }
    pthread_mutex_unlock(&waking.lock);
    return status;
}

static int may_be_gpu(const hot_context *context)
{
    const hot_device device = hot_context_device(context);
    return (device == HOT_DEVICE_CUDA || device == HOT_DEVICE_AUTO) && hot_context_overridden_gpu_count(context) < 0;
}

void hot_backend_init_async(hot_context *context)
{
    const int place = waking_place(hot_context_device_number(context));
    if (place < 0 || !may_be_gpu(context))
        return;
    lock_waking();
    begin_waking(place);
    pthread_mutex_unlock(&waking.lock);
}

void hot_backend_init_wait(hot_context *context)
{
    if (may_be_gpu(context) && !hot_context_cancelled(context))
        (void)hot_cuda_init(context, hot_context_device_number(context));
}

int hot_backend_starting(const hot_context *context)
{
    const int place = waking_place(hot_context_device_number(context));
    int starting = 0;
    if (place < 0 || !may_be_gpu(context))
        return 0;
    lock_waking();
    starting = waking.begun[place] && !waking.done[place];
    pthread_mutex_unlock(&waking.lock);
    return starting;
}

static int gpus(const hot_context *context)
{
    const int pretended = hot_context_overridden_gpu_count(context);
    return pretended >= 0 ? pretended : hot_cuda_count();
}

static hot_status run_cuda(hot_context *context, const hot_backends *backends, void *args)
{
    if (!backends->cuda)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "%s has no CUDA backend in this build; use the CPU",
                                backends->family);
    if (gpus(context) == 0)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found; use the CPU");
    hot_status status = HOT_OK;
    if (hot_context_overridden_gpu_count(context) < 0)
        status = hot_cuda_select(context, hot_context_device_number(context));
    if (status == HOT_OK)
        status = backends->cuda(context, args);
    if (status == HOT_OK)
        hot_context_once(context, HOT_ONCE_CUDA_USED);
    return status;
}

hot_status hot_backend_run(hot_context *context, const hot_backends *backends, void *args)
{
    const hot_device device = hot_context_device(context);
    if (may_be_gpu(context)) {
        hot_status status = hot_cuda_init(context, hot_context_device_number(context));
        if (status != HOT_OK)
            return status;
    }
    if (hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE)
        return backends->device_arrays ? run_cuda(context, backends, args)
                                       : hot_backend_need_host(context, backends->family);
    switch (device) {
    case HOT_DEVICE_REFERENCE:
        if (backends->reference)
            return backends->reference(context, args);
        break;
    case HOT_DEVICE_CUDA:
        return run_cuda(context, backends, args);
    case HOT_DEVICE_AUTO:
        if (backends->cuda && gpus(context) > 0) {
            hot_status status = run_cuda(context, backends, args);
            if (status != HOT_ERROR_DEVICE && status != HOT_ERROR_MEMORY)
                return status;
            if (hot_context_once(context, HOT_ONCE_CUDA_FAILED))
                hot_context_log(context, HOT_LOG_WARNING, "the GPU could not do it, the CPU does: %s",
                                hot_context_message(context));
        } else if (hot_context_once(context, HOT_ONCE_NO_CUDA)) {
            hot_context_log(context, HOT_LOG_NOTE, "no GPU is used%s: computing on the CPU",
                            gpus(context) > 0 ? " for this" : ", as none was found");
        }
        break;
    case HOT_DEVICE_CPU:
        break;
    }
    return backends->cpu(context, args);
}
