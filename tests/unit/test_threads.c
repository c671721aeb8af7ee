/* A process that may have few threads, or was forked: calls compute with the threads that they get, and return. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hotfiber/cpd.h>
#include <hotfiber/hotfiber.h>
#include <hotfiber/tridiag.h>

#include "common/spill.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
enum { WATCHED = 1 }; /* threads that are made behind the thread sanitizer's back end it */
#else
enum { WATCHED = 0 };
#endif

enum { N = 60, COUNT = 300, RESULTS = N * COUNT };

/* ---- A system that allows `room` threads besides the first one; the library's and libgomp's calls come here. */
static atomic_int alive, room = 1000;

#ifndef __SANITIZE_THREAD__
typedef struct wrapped {
    void *(*run)(void *given);
    void *given;
} wrapped;

static void *run_wrapped(void *given)
{
    const wrapped mine = *(wrapped *)given;
    free(given);
    void *result = mine.run(mine.given);
    atomic_fetch_sub(&alive, 1);
    return result;
}

__attribute__((visibility("default")))
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *given)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    if (atomic_fetch_add(&alive, 1) >= atomic_load(&room)) {
        atomic_fetch_sub(&alive, 1);
        return EAGAIN;
    }
    wrapped *mine = malloc(sizeof *mine);
    *mine = (wrapped){run, given};
    const int error = real(thread, attributes, run_wrapped, mine);
    if (error)
        atomic_fetch_sub(&alive, 1);
    return error;
}
#endif

/* By default the thread sanitizer ends forked processes that start threads. */
const char *__tsan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void) { return "die_after_fork=0"; }

static double x[2 * RESULTS], expected[RESULTS], y[RESULTS];
static char notes[4000];

static void log_line(void *user, hot_log_level level, const char *line)
{
    (void)user, (void)level;
    const size_t used = strlen(notes);
    snprintf(notes + used, sizeof notes - used, "%s\n", line);
}

static hot_context *context_of(int threads, int (*stop)(void *))
{
    hot_context *context = NULL;
    const hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = threads,
                                         .log = log_line, .stop = stop};
    CHECK(hot_context_create(&options, &context) == HOT_OK, "context");
    return context;
}

static hot_status eigenvalues(hot_context *context, double *values)
{
    /* by number: without LAPACK, whose threads are its own */
    const hot_tridiag_options options = {.size = sizeof options, .range = HOT_TRIDIAG_INDEX, .last = N - 1};
    return hot_tridiag_f64(context, &options, N, COUNT, x, x + RESULTS, N, values, N, NULL);
}

static void compute(hot_context *context, const char *what)
{
    memset(y, 0, sizeof y);
    CHECK(eigenvalues(context, y) == HOT_OK, "%s: %s", what, hot_context_message(context));
    CHECK(memcmp(y, expected, sizeof y) == 0, "%s: other results", what);
}

/* A whole job, with regions of several sizes. */
static void simulate(hot_context *context, const char *what)
{
    hot_phantom *phantom = NULL;
    hot_mask *mask = NULL;
    hot_tensor_field *tensors = NULL;
    const hot_phantom_options shape = {.size = sizeof shape, .layout = HOT_PHANTOM_BUNDLES, .volume = {8, 8, 3},
                                       .directions = 30, .b0 = 3};
    hot_fit_options fit = {.size = sizeof fit, .model = "adc", .order = 2};
    hot_status status = hot_phantom_create(context, &shape, &phantom);
    if (status == HOT_OK)
        status = hot_mask_estimate(context, hot_phantom_dwi(phantom), &mask);
    if (status == HOT_OK)
        status = hot_tensor_field_fit(context, hot_phantom_dwi(phantom), mask, &fit, &tensors);
    CHECK(status == HOT_OK, "%s: %s", what, hot_context_message(context));
    hot_tensor_field_destroy(&tensors);
    hot_mask_destroy(&mask);
    hot_phantom_destroy(&phantom);
}

static int failures(void)
{
    fflush(stdout);
    return check_failures ? 1 : 0;
}

/* Waits for a child, which alarm() ends if it hangs. */
static void expect(pid_t child, const char *what)
{
    int state = 0;
    CHECK(child > 0 && waitpid(child, &state, 0) == child, "%s: fork", what);
    CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0, "%s: the child ended with %#x", what, (unsigned)state);
}

static pid_t fork_child(void)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(200);
        check_failures = 0;
    }
    return child;
}

static void test_few_threads(void)
{
    static const int rooms[] = {1000, 5, 1, 0, 9, 3};
    for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++) {
        char what[40];
        snprintf(what, sizeof what, "room for %d threads", rooms[r]);
        const pid_t child = fork_child(); /* each with no threads yet */
        if (child == 0) {
            atomic_store(&alive, 0);
            atomic_store(&room, rooms[r]);
            hot_context *context = context_of(64, NULL);
            notes[0] = '\0';
            for (int n = 0; n < 3; n++) {
                compute(context, what);
                simulate(context, what);
            }
            const char *note = strstr(notes, "threads can be started");
            CHECK(!note == (rooms[r] > 64) && (!note || !strstr(note + 1, "threads can be started")), "%s: '%s'", what,
                  notes);
            CHECK(hot_context_threads(context) == 64, "the requested number");
            hot_context_destroy(&context);
            _exit(failures());
        }
        expect(child, what);
    }
}

/* The system's own limits. Those of processes do not bind root. */
static void test_limits(void)
{
    if (geteuid() == 0) {
        const pid_t child = fork_child();
        if (child == 0) {
            const struct rlimit few = {12, 12};
            if (setrlimit(RLIMIT_NPROC, &few) != 0 || setresuid(54321, 54321, 54321) != 0)
                _exit(0);
            hot_context *context = context_of(64, NULL);
            compute(context, "ulimit -u 12");
            simulate(context, "ulimit -u 12");
            hot_context_destroy(&context);
            _exit(failures());
        }
        expect(child, "ulimit -u 12");
    }
    const char *sanitized = getenv("HOT_SANITIZED"); /* a sanitizer takes all addresses */
    if (sanitized && *sanitized && strcmp(sanitized, "OFF") != 0)
        return;
    const pid_t child = fork_child();
    if (child == 0) {
        const struct rlimit little = {400 << 20, 400 << 20};
        hot_context *context = context_of(200, NULL); /* 8 MiB of stack each */
        if (setrlimit(RLIMIT_AS, &little) != 0)
            _exit(0);
        const hot_status status = eigenvalues(context, y);
        CHECK(status == HOT_ERROR_MEMORY || (status == HOT_OK && memcmp(y, expected, sizeof y) == 0), "%s",
              hot_context_message(context));
        hot_context_destroy(&context);
        _exit(failures());
    }
    expect(child, "ulimit -v");
}

static atomic_int forked_inside;

/* The stop callback, inside a parallel region, forks a process that continues with another context. */
static int fork_in_stop(void *user)
{
    (void)user;
    if (atomic_exchange(&forked_inside, 1) == 0) {
        const pid_t child = fork_child();
        if (child == 0) {
            hot_context *context = context_of(4, NULL);
            compute(context, "forked from inside a region");
            _exit(failures());
        }
        expect(child, "forked from inside a region");
    }
    return 0;
}

static void test_forks(void)
{
    hot_context *context = context_of(4, NULL);
    for (int host = 0; host < 2; host++) { /* after the library's threads, and after the host's */
        const char *what = host ? "forked after a region of the host's" : "forked after a call";
        if (host) {
#pragma omp parallel num_threads(3)
            CHECK(omp_get_thread_num() < 3, "threads");
        } else {
            compute(context, what);
        }
        const pid_t child = fork_child();
        if (child == 0) {
            compute(context, what); /* the parent's context */
            hot_context *own = context_of(4, NULL);
            simulate(own, what);
            const pid_t grandchild = fork_child();
            if (grandchild == 0) {
                compute(own, "a child of the child");
                _exit(failures());
            }
            expect(grandchild, "a child of the child");
            hot_context_destroy(&own);
            hot_context_destroy(&context);
            _exit(failures());
        }
        expect(child, what);
        compute(context, "the parent continues");
    }
    hot_context_destroy(&context);

    hot_context *watched = context_of(3, fork_in_stop);
    compute(watched, "with a fork inside");
    CHECK(atomic_load(&forked_inside), "the callback was called");
    hot_context_destroy(&watched);

    /* arrays in files are watched by a thread that the child has not */
    hot_context *bounded = context_of(2, NULL);
    hot_context_bound(bounded, 1 << 20, "/tmp");
    double *large = hot_context_alloc(bounded, 16 << 20, 1);
    CHECK(large != NULL, "%s", hot_context_message(bounded));
    const pid_t child = fork_child();
    if (child == 0) {
        hot_context_free(bounded, large);
        large = hot_context_alloc(bounded, 16 << 20, 1);
        compute(bounded, "bounded memory");
        hot_context_free(bounded, large);
        hot_context_destroy(&bounded);
        _exit(failures());
    }
    expect(child, "bounded memory");
    hot_context_free(bounded, large);
    hot_context_destroy(&bounded);
}

int main(void)
{
    uint64_t seed = 5;
    for (size_t i = 0; i < 2 * RESULTS; i++)
        x[i] = check_random(&seed) - .5;
    hot_context *alone = context_of(1, NULL);
    CHECK(eigenvalues(alone, expected) == HOT_OK, "%s", hot_context_message(alone));
    hot_context_destroy(&alone);
    if (!WATCHED)
        test_few_threads();
    test_limits();
    test_forks();
    HOT_TEST_END();
}
