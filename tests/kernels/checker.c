/* The checker's main program: see checker.h.
 *
 * usage: test_kernels_checker [--family=NAME] [--backend=START] [--seed=N] [--require=cuda]
 *                             [--bench|--bench=only] [--seconds=S] [--only=TEXT] */
#include "checker.h"
#include "families.h"

#include "common/backend.h"
#include "common/context_internal.h"
#include "common/cpu.h"
#include <stdarg.h>
#include <time.h>

#define DECLARE(NAME) extern const check_family family_##NAME;
CHECK_FAMILIES(DECLARE)
#define ADDRESS(NAME) &family_##NAME,
static const check_family *const families[] = {CHECK_FAMILIES(ADDRESS) NULL};

enum { FENCE = 256, POISON = 0xfb }; /* 0xfbfb...: a finite value far from any result; unlikely as an integer too */

#if defined(HOT_TESTS_DEVICE)
enum { HAVE_DEVICE = 1 };
#else
enum { HAVE_DEVICE = 0 };
#endif

typedef struct check_buffer {
    struct check_buffer *next;
    unsigned char *memory; /* fence, data, fence */
    unsigned char *copy;   /* of an input; NULL for an output */
    size_t bytes;
} check_buffer;

double check_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void check_fail(check_run *run, size_t item, const char *format, ...)
{
    if (run->failures++ >= 8)
        return;
    printf("FAILED %s on %s, %s, seed %llu, size %zu, item %zu: ", run->family, run->backend, run->case_name,
           (unsigned long long)run->first_seed, run->size, item);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static void *add_buffer(check_run *run, const void *data, size_t bytes)
{
    check_buffer *buffer = calloc(1, sizeof *buffer);
    buffer->bytes = bytes;
    buffer->memory = malloc(bytes + 2 * FENCE);
    memset(buffer->memory, POISON, bytes + 2 * FENCE);
    if (data) {
        buffer->copy = malloc(bytes + 1);
        memcpy(buffer->copy, data, bytes);
        memcpy(buffer->memory + FENCE, data, bytes);
    }
    buffer->next = run->buffers;
    run->buffers = buffer;
    return buffer->memory + FENCE;
}

void *check_input(check_run *run, const void *data, size_t bytes) { return add_buffer(run, data ? data : "", bytes); }
void *check_output(check_run *run, size_t bytes) { return add_buffer(run, NULL, bytes); }

typedef struct check_memory {
    char name[200];
    void *values;
    struct check_memory *next;
} check_memory;
static check_memory *kept;

void *check_remembered(check_run *run, const char *what, size_t bytes, int *known)
{
    char name[sizeof kept->name];
    snprintf(name, sizeof name, "%s, %s, %zu, %zu bytes: %s", run->family, run->case_name, run->size, bytes, what);
    for (check_memory *one = kept; one; one = one->next)
        if (strcmp(one->name, name) == 0) {
            *known = 1;
            return one->values;
        }
    check_memory *made = malloc(sizeof *made);
    *made = (check_memory){.values = calloc(bytes + 1, 1), .next = kept};
    memcpy(made->name, name, sizeof name);
    kept = made;
    *known = 0;
    return made->values;
}

size_t check_unwritten(const void *output, size_t count, size_t size)
{
    const unsigned char *at = output;
    size_t unwritten = 0;
    for (size_t i = 0; i < count; i++, at += size) {
        size_t same = 0;
        while (same < size && at[same] == POISON)
            same++;
        unwritten += same == size;
    }
    return unwritten;
}

size_t check_size_count(const check_run *run)
{
    const int best = run->cuda || strcmp(run->backend + 4, hot_cpu_level_name(hot_cpu_best())) == 0;
    return best || getenv("HOT_TEST_FULL") ? CHECK_SIZES : CHECK_SIZES - 1;
}

uint64_t check_case_seed(const check_run *run, const char *name, size_t size)
{
    uint64_t seed = run->first_seed + 1000003 * size;
    for (const char *c = run->family; *c; c++)
        seed = seed * 31 + (unsigned char)*c;
    for (const char *c = name; *c; c++)
        seed = seed * 31 + (unsigned char)*c;
    return seed;
}

void check_case_begin(check_run *run, const char *name, size_t size)
{
    run->case_name = name;
    run->size = size;
    run->cases++;
    run->seed = check_case_seed(run, name, size);
}

int check_begin(check_run *run, size_t size, const char *format, ...)
{
    char name[sizeof run->text];
    va_list values;
    va_start(values, format);
    vsnprintf(name, sizeof name, format, values);
    va_end(values);
    if (!check_wanted(run, name))
        return 0;
    check_case_begin(run, strcpy(run->text, name), size);
    return 1;
}

int check_call(check_run *run, hot_status status)
{
    if (status != HOT_OK)
        check_fail(run, 0, "the call failed: %s", hot_context_message(run->context));
    return status == HOT_OK;
}

void check_case_end(check_run *run)
{
    while (run->buffers) {
        check_buffer *buffer = run->buffers;
        run->buffers = buffer->next;
        for (size_t i = 0; i < FENCE; i++) {
            if (buffer->memory[i] != POISON || buffer->memory[FENCE + buffer->bytes + i] != POISON) {
                check_fail(run, i, "a byte was written %s of a buffer of %zu",
                           buffer->memory[i] != POISON ? "before the start" : "beyond the end", buffer->bytes);
                break;
            }
        }
        if (buffer->copy && memcmp(buffer->copy, buffer->memory + FENCE, buffer->bytes) != 0)
            check_fail(run, 0, "an input of %zu bytes was changed", buffer->bytes);
        FREE(buffer->copy, buffer->memory, buffer);
    }
}

int check_wanted(const check_run *run, const char *what) { return !run->only || strstr(what, run->only) != NULL; }

void check_report(check_run *run, const char *what, double seconds, double items, const char *note)
{
    printf("  %-12s %-12s %-52s %10.4f ms %12.0f /s  %s\n", run->family, run->backend, what, 1e3 * seconds,
           seconds > 0 ? items / seconds : 0, note);
    fflush(stdout);
}

static void print_warning(void *user, hot_log_level level, const char *line)
{
    (void)user;
    if (level == HOT_LOG_WARNING)
        printf("warning: %s\n", line);
}

static hot_context *context_for(hot_device device, int number, int cpu_limit)
{
    hot_context_options options = {.size = sizeof options, .device = device, .device_number = number, .seed = 1,
                                   .log = print_warning};
    hot_context *context = NULL;
    if (hot_context_create(&options, &context) != HOT_OK)
        exit(2);
    hot_context_set_cpu_limit(context, cpu_limit);
    return context;
}

hot_context *check_cpu_context(int cpu_limit) { return context_for(HOT_DEVICE_CPU, -1, cpu_limit); }

int main(int argc, char **argv)
{
    const char *only_family = NULL, *only_backend = NULL, *only = NULL;
    uint64_t seed = 1;
    int require_cuda = 0, bench = 0;
    double seconds = 0.5;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--family=", 9) == 0)
            only_family = argv[i] + 9;
        else if (strncmp(argv[i], "--backend=", 10) == 0)
            only_backend = argv[i] + 10;
        else if (strncmp(argv[i], "--seed=", 7) == 0)
            seed = strtoull(argv[i] + 7, NULL, 10);
        else if (strncmp(argv[i], "--seconds=", 10) == 0)
            seconds = atof(argv[i] + 10);
        else if (strcmp(argv[i], "--require=cuda") == 0)
            require_cuda = 1;
        else if (strncmp(argv[i], "--only=", 7) == 0)
            only = argv[i] + 7;
        else if (strcmp(argv[i], "--bench") == 0)
            bench = 1;
        else if (strcmp(argv[i], "--bench=only") == 0)
            bench = 2; /* of what has passed before: nothing is checked */
        else {
            fprintf(stderr,
                    "there is no option '%s': --family= --backend= --seed= --require=cuda --bench --bench=only "
                    "--seconds= --only=\n",
                    argv[i]);
            return 2;
        }
    }
    long failures = 0, cases = 0;
    int known = 0; /* there is such a family */
    int devices = hot_cuda_count(), gpu_runs = 0;
    hot_context *reference = context_for(HOT_DEVICE_REFERENCE, -1, HOT_CPU_BASELINE);
    for (const check_family *const *family = families; *family; family++) {
        if (only_family && strcmp(only_family, (*family)->name) != 0)
            continue;
        known = 1;
        for (int backend = HOT_CPU_BASELINE; backend <= HOT_CPU_AVX512 + 2; backend++) {
            const int cuda = backend > HOT_CPU_AVX512, device = backend > HOT_CPU_AVX512 + 1;
            char name[32];
            snprintf(name, sizeof name, "%s", device ? "cuda device" : "cuda");
            if (!cuda)
                snprintf(name, sizeof name, "cpu %s", hot_cpu_level_name((hot_cpu_level)backend));
            if ((*family)->plain && backend != HOT_CPU_BASELINE)
                continue;
            if (cuda ? devices == 0 : backend > (int)hot_cpu_best())
                continue;
            if ((cuda && !(*family)->gpu) || (device && !HAVE_DEVICE))
                continue;
            if (only_backend && strncmp(only_backend, name, strlen(only_backend)) != 0)
                continue;
            check_run run = {.family = (*family)->name, .backend = name, .reference = reference, .cuda = cuda,
                             .device = device, .first_seed = seed, .seed = seed,
                             .seconds = seconds, .only = only, .case_name = ""};
            run.context = context_for(cuda ? HOT_DEVICE_CUDA : HOT_DEVICE_CPU, device ? 0 : -1, backend);
            if (device && check_use_device(run.context) != HOT_OK) {
                printf("FAILED: %s\n", hot_context_message(run.context));
                return 1;
            }
            double begin = check_now();
            if (bench != 2)
                (*family)->check(&run);
            printf("%-12s %-12s %4ld cases, %ld failures, %.2f s\n", run.family, name, run.cases, run.failures,
                   check_now() - begin);
            fflush(stdout);
            gpu_runs += cuda;
            failures += run.failures;
            cases += run.cases;
            if (bench && run.failures == 0 && (*family)->bench && !device)
                (*family)->bench(&run);
            hot_context_destroy(&run.context);
        }
    }
    hot_context_destroy(&reference);
    while (kept) {
        check_memory *next = kept->next;
        FREE(kept->values, kept);
        kept = next;
    }
    printf("%ld cases, %ld failures%s\n", cases, failures, gpu_runs ? "" : "; CUDA skipped: no GPU here");
    if (!known) {
        printf("FAILED: there is no family '%s'\n", only_family);
        return 1;
    }
    if (require_cuda && gpu_runs == 0) {
        printf("FAILED: --require=cuda, and no backend ran on a GPU\n");
        return 1;
    }
    return failures || (cases == 0 && bench != 2) ? 1 : 0;
}
