/* hot_context: see hotfiber/context.h. */
#include "arguments.h"
#include "context_internal.h"
#include "entry.h"
#include "foreign_text.h"
#include "spill.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MESSAGE_SIZE = 2048, PARAMETER_SIZE = 32, ONCE_NO_SPILL = 8 /* beside HOT_ONCE_NO_CUDA ... */ };

struct hot_context {
    hot_context_options options;
    atomic_int cancelled;
    unsigned said; /* bits of hot_context_once */
    int cpu_limit;
    int pretended_gpus;
    int confined; /* data files must be in their header's folder */
    hot_memory memory; /* of the arrays of its calls */
    hot_spill *spill;  /* NULL: memory has no bound */
    void *stream;
    struct {
        void *what;
        void (*release)(hot_context *context, void *kept);
    } kept[HOT_KEPT];
    void (*hear)(void *user, hot_log_level level, const char *line);
    void *hear_user;
    char message[MESSAGE_SIZE];
    char parameter[PARAMETER_SIZE]; /* at fault; "" = none */
};

const char *hot_status_text(hot_status status)
{
    switch (status) {
    case HOT_OK: return "done";
    case HOT_ERROR_MEMORY: return "out of memory";
    case HOT_ERROR_ARGUMENT: return "bad argument";
    case HOT_ERROR_FILE: return "file error";
    case HOT_ERROR_FORMAT: return "wrong format";
    case HOT_ERROR_DATA: return "unsuitable data";
    case HOT_ERROR_DEVICE: return "GPU error";
    case HOT_ERROR_CANCELLED: return "cancelled";
    }
    return "unknown status";
}

static void *default_allocate(void *user, size_t bytes)
{
    (void)user;
    return malloc(bytes);
}

static void default_release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

hot_status hot_context_create(const hot_context_options *options, hot_context **context)
{
    if (!context)
        return HOT_ERROR_ARGUMENT;
    *context = NULL;
    hot_context_options settings = HOT_CONTEXT_OPTIONS_INIT;
    if (options && options->size != sizeof *options) /* hot_options_read's rule, without a context for the message */
        return HOT_ERROR_ARGUMENT;
    if (options)
        settings = *options;
    if (settings.threads < 0 || settings.device < HOT_DEVICE_AUTO || settings.device > HOT_DEVICE_REFERENCE ||
        settings.device_number < HOT_ALL_GPUS || !settings.allocate != !settings.release)
        return HOT_ERROR_ARGUMENT;
    if (!settings.allocate) {
        settings.allocate = default_allocate;
        settings.release = default_release;
    }
    if (settings.threads == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        settings.threads = online > 0 ? (int)online : 1;
    }
    hot_context *made = settings.allocate(settings.allocator_user, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    made->options = settings;
    atomic_init(&made->cancelled, 0);
    made->said = 0;
    made->cpu_limit = INT_MAX;
    made->pretended_gpus = -1;
    made->confined = 0;
    made->memory = HOT_MEMORY_HOST;
    made->spill = NULL;
    made->stream = NULL;
    made->hear = NULL;
    memset(made->kept, 0, sizeof made->kept);
    made->message[0] = made->parameter[0] = '\0';
    *context = made;
    return HOT_OK;
}

void hot_context_destroy(hot_context **context)
{
    if (!context || !*context)
        return;
    hot_context *gone = *context;
    *context = NULL;
    for (int i = 0; i < HOT_KEPT; i++)
        if (gone->kept[i].what)
            gone->kept[i].release(gone, gone->kept[i].what);
    hot_spill_destroy(gone->spill);
    gone->options.release(gone->options.allocator_user, gone);
}

const char *hot_context_message(const hot_context *context) { return context ? context->message : ""; }
const char *hot_context_parameter(const hot_context *context) { return context ? context->parameter : ""; }
int hot_context_threads(const hot_context *context) { return context ? context->options.threads : 1; }
void hot_context_set_threads(hot_context *context, int threads) { context->options.threads = threads; }
hot_device hot_context_device(const hot_context *context)
{
    return context ? context->options.device : HOT_DEVICE_AUTO;
}
int hot_context_device_number(const hot_context *context) { return context ? context->options.device_number : 0; }
uint64_t hot_context_seed(const hot_context *context) { return context ? context->options.seed : 0; }

void hot_context_cancel(hot_context *context)
{
    if (context)
        atomic_store(&context->cancelled, 1);
}

void hot_context_resume(hot_context *context)
{
    if (context)
        atomic_store(&context->cancelled, 0);
}

int hot_context_once(hot_context *context, unsigned what)
{
    int first = !(context->said & what);
    context->said |= what;
    return first;
}

hot_device hot_context_device_used(const hot_context *context)
{
    if (!context)
        return HOT_DEVICE_CPU;
    if (context->said & HOT_ONCE_CUDA_USED)
        return HOT_DEVICE_CUDA;
    return context->options.device == HOT_DEVICE_REFERENCE ? HOT_DEVICE_REFERENCE : HOT_DEVICE_CPU;
}

int hot_context_cpu_limit(const hot_context *context) { return context->cpu_limit; }
void hot_context_set_cpu_limit(hot_context *context, int level) { context->cpu_limit = level; }

/* Declared in hotfiber_dwi.h, with the files it is about. */
HOT_API void hot_context_confine(hot_context *context, int confined);
HOT_API int hot_context_confined(const hot_context *context);
void hot_context_confine(hot_context *context, int confined) 
{
    if (context)
        context->confined = confined != 0;
}
int hot_context_confined(const hot_context *context) { return context && context->confined; }

int hot_context_overridden_gpu_count(const hot_context *context) { return context->pretended_gpus; }
void hot_context_override_gpu_count(hot_context *context, int count) { context->pretended_gpus = count; }

void *hot_context_kept(const hot_context *context, hot_kept which) { return context->kept[which].what; }

void hot_context_keep(hot_context *context, hot_kept which, void *kept,
                      void (*release)(hot_context *context, void *kept))
{
    context->kept[which].what = kept;
    context->kept[which].release = release;
}

hot_memory hot_context_memory(const hot_context *context, void **stream)
{
    if (stream)
        *stream = context ? context->stream : NULL;
    return context ? context->memory : HOT_MEMORY_HOST;
}

void hot_context_note_memory(hot_context *context, hot_memory memory, void *stream)
{
    context->memory = memory;
    context->stream = stream;
}

int hot_context_cancelled(const hot_context *context)
{
    hot_context *mine = (hot_context *)(uintptr_t)context; /* the flag is the one thing that may change at any time */
    if (!mine)
        return 0;
    if (mine->spill)
        hot_spill_evict(mine->spill);
    if (atomic_load_explicit(&mine->cancelled, memory_order_relaxed))
        return 1;
    if (!mine->options.stop || !mine->options.stop(mine->options.stop_user))
        return 0;
    hot_context_cancel(mine); /* stays so, whatever the callback says later */
    return 1;
}

int hot_entry_cancelled(void) { return hot_context_cancelled(hot_entry_context()); }

void hot_context_bound(hot_context *context, size_t bytes, const char *folder)
{
    if (context->options.allocate != default_allocate)
        return; /* the caller's business */
    if (context->spill && hot_spill_bound(context->spill, bytes, folder))
        return;
    if (!context->spill)
        context->spill = hot_spill_create(bytes, folder);
}

int hot_context_bounded(const hot_context *context) { return context->spill != NULL; }

/* An array in a file if the memory budget is exhausted; else NULL. *full: the disk is full too, which is reported. */
static void *take_spilled(hot_context *context, size_t bytes, int *full)
{
    void *memory = NULL;
    const int error = context->spill ? hot_spill_alloc(context->spill, bytes, &memory) : 0;
    const char *folder = context->spill ? hot_spill_folder(context->spill) : "";
    *full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    if (*full)
        hot_context_fail(context, HOT_ERROR_MEMORY, "%.3g GB are more than the memory that may be taken, and '%s' "
                         "has no room for a file of them: %s", 1e-9 * (double)bytes, folder, strerror(error));
    else if (error && hot_context_once(context, ONCE_NO_SPILL))
        hot_context_log(context, HOT_LOG_WARNING, "what is too large for the memory that may be taken stays in memory: "
                        "'%s' takes no files for it: %s", folder, strerror(error));
    return memory;
}

/* Arrays that all of a run goes through come in large pages where the system has them for the asking: of small ones a
 * gigabyte is a quarter of a million faults, which threads wait for one behind the other. */
static void advise_large_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    enum { PAGE = 2 << 20, LEAST = 4 * PAGE };
    const size_t before = (PAGE - (uintptr_t)memory % PAGE) % PAGE;
    if (memory && bytes >= LEAST)
        madvise((char *)memory + before, (bytes - before) / PAGE * PAGE, MADV_HUGEPAGE); /* if not, small ones */
#else
    (void)memory, (void)bytes;
#endif
}

static void *take(hot_context *context, size_t count, size_t item_size, int zeroed)
{
    if (!context)
        return NULL;
    if (item_size != 0 && count > SIZE_MAX / 2 / item_size) {
        hot_context_fail(context, HOT_ERROR_MEMORY, "%zu items of %zu bytes are more than memory can hold", count,
                         item_size);
        return NULL;
    }
    const size_t bytes = count * item_size;
    int full;
    void *memory = take_spilled(context, bytes, &full);
    if (memory || full)
        return memory;
    /* calloc's large arrays are pages that cost nothing until they are written to */
    const int blank = zeroed && context->options.allocate == default_allocate;
    memory = blank ? calloc(bytes ? bytes : 1, 1)
                   : context->options.allocate(context->options.allocator_user, bytes ? bytes : 1);
    if (context->options.allocate == default_allocate)
        advise_large_pages(memory, bytes);
    if (memory && context->spill && !hot_spill_account(context->spill, memory, bytes)) {
        context->options.release(context->options.allocator_user, memory);
        memory = NULL;
    }
    if (!memory)
        hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory: %zu bytes could not be allocated", bytes);
    else if (zeroed && !blank)
        memset(memory, 0, bytes);
    return memory;
}

void *hot_context_alloc(hot_context *context, size_t count, size_t item_size)
{
    return take(context, count, item_size, 0);
}

void *hot_context_calloc(hot_context *context, size_t count, size_t item_size)
{
    return take(context, count, item_size, 1);
}

void hot_context_free(hot_context *context, void *memory)
{
    if (context && memory && !(context->spill && hot_spill_free(context->spill, memory)))
        context->options.release(context->options.allocator_user, memory);
}

/* Outputs have a hidden name, ".part-PROCESS-NUMBER-NAME", until they are complete; messages show NAME. */
static void use_final_names(char *text)
{
    static const char hidden[] = ".part-";
    for (char *at = text; (at = strstr(at, hidden)); at++) {
        const char *end = at + strlen(hidden);
        int numbers = 0;
        while (numbers < 2 && *end >= '0' && *end <= '9') {
            end += strspn(end, "0123456789");
            if (*end++ != '-')
                break;
            numbers++;
        }
        if (numbers == 2 && (at == text || at[-1] == '/' || at[-1] == '\''))
            memmove(at, end, strlen(end) + 1);
    }
}

/* A message's text, printed and made fit for one line of a terminal: what it quotes may come from anywhere. */
static void put_text(char *to, size_t capacity, const char *format, va_list arguments)
{
    char raw[MESSAGE_SIZE];
    vsnprintf(raw, sizeof raw, format, arguments);
    use_final_names(raw);
    hot_text_escape(to, capacity, raw);
}

hot_status hot_context_fail(hot_context *context, hot_status status, const char *format, ...)
{
    HOT_ENTRY(context);
    if (!context || !format) /* nobody to tell, or nothing */
        return status;
    va_list arguments;
    va_start(arguments, format);
    put_text(context->message, MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    context->parameter[0] = '\0';
    return status;
}

hot_status hot_context_fail_parameter(hot_context *context, hot_status status, const char *parameter,
                                      const char *format, ...)
{
    HOT_ENTRY(context);
    if (!context || !parameter || !format)
        return status;
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format); /* may quote the previous message */
    put_text(text, sizeof text, format, arguments);
    va_end(arguments);
    const int lead = snprintf(context->message, MESSAGE_SIZE, "%s: ", parameter);
    if (lead > 0 && lead < MESSAGE_SIZE)
        hot_text_escape(context->message + lead, MESSAGE_SIZE - (size_t)lead, text);
    snprintf(context->parameter, PARAMETER_SIZE, "%s", parameter);
    return status;
}

hot_status hot_context_set_parameter(hot_context *context, hot_status status, const char *parameter)
{
    HOT_ENTRY(context);
    if (!context || !parameter || status == HOT_OK || status == HOT_ERROR_CANCELLED || context->parameter[0])
        return status;
    return hot_context_fail_parameter(context, status, parameter, "%s", context->message);
}

hot_status hot_context_add(hot_context *context, hot_status status, const char *format, ...)
{
    HOT_ENTRY(context);
    if (!context || !format)
        return status;
    size_t used = strlen(context->message);
    int lead = snprintf(context->message + used, MESSAGE_SIZE - used, used ? "; " : "");
    used += lead > 0 ? (size_t)lead : 0;
    if (used >= MESSAGE_SIZE)
        return status;
    va_list arguments;
    va_start(arguments, format);
    put_text(context->message + used, MESSAGE_SIZE - used, format, arguments);
    va_end(arguments);
    return status;
}

void hot_context_log(hot_context *context, hot_log_level level, const char *format, ...)
{
    HOT_ENTRY(context);
    if (!context || !format || (!context->options.log && !context->hear))
        return;
    char line[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    put_text(line, sizeof line, format, arguments);
    va_end(arguments);
    if (context->hear)
        context->hear(context->hear_user, level, line);
    if (!context->options.log)
        return;
    hot_entry kept;
    hot_entry_suspend(&kept);
    context->options.log(context->options.log_user, level, line);
    hot_entry_resume(&kept);
}

void hot_context_add_log_sink(hot_context *context, void (*hear)(void *user, hot_log_level level, const char *line),
                        void *user)
{
    context->hear = hear;
    context->hear_user = user;
}

hot_status hot_context_progress(hot_context *context, const char *stage, double fraction)
{
    HOT_NEED(context, stage);
    if (context->options.progress) {
        hot_entry kept;
        hot_entry_suspend(&kept);
        const int stop = context->options.progress(context->options.progress_user, stage, fraction);
        hot_entry_resume(&kept);
        if (stop)
            hot_context_cancel(context);
    }
    return hot_context_check(context, stage);
}

hot_status hot_context_check(hot_context *context, const char *doing)
{
    HOT_NEED(context, doing);
    if (hot_context_cancelled(context))
        return hot_context_fail(context, HOT_ERROR_CANCELLED, "cancelled while %s", doing);
    return HOT_OK;
}
