/* The checker: one program that walks the list of kernel families (families.h) and compares every backend with the
 * reference, on buffers that are poisoned and fenced. A family is one file, family_NAME.c, and one line in the list.
 *
 * A family's check is called once per backend (run->backend says which; run->context computes there, run->reference is
 * the slow implementation). It makes its inputs and outputs with check_input and check_output, calls, compares item by
 * item with CHECK_ITEM, and ends each case with check_case_end, which looks at fences and inputs and frees both. */
#pragma once

#include "check.h"

#include <hotfiber/context.h>

#if defined(HOT_TESTS_DEVICE)
#include "device_calls.h"
#else
static inline hot_status check_use_device(hot_context *context) { return (void)context, HOT_ERROR_DEVICE; }
#endif

typedef struct check_run {
    const char *family, *backend; /* backend: "cpu baseline", "cpu avx2", "cpu avx512", "cuda", and
                                     "cuda device": arrays in the GPU's memory */
    hot_context *context, *reference;
    int cuda;             /* whether the backend is the GPU */
    int device;           /* whether arrays are in its memory: calls go through device_calls.h */
    uint64_t first_seed;  /* what --seed says */
    uint64_t seed;        /* state of the random numbers: check_random(&run->seed) */
    const char *case_name;
    char text[128];       /* of check_begin: what case_name is */
    size_t size;          /* of this case, for messages */
    long cases, failures;
    double seconds;       /* --bench: how long a measurement may take */
    const char *only; /* --only: benchmarks, and cases where a family asks, whose name holds this text; NULL = all */
    struct check_buffer *buffers;
} check_run;

typedef struct check_family {
    const char *name;
    int plain;  /* 1: the family has no backends, its check runs once */
    int gpu;    /* 1: it has a CUDA backend, and takes arrays in a GPU's memory */
    void (*check)(check_run *run);
    void (*bench)(check_run *run); /* NULL = none; called only when everything passed */
} check_family;

/* Sizes around vectors, warps, blocks and more than one grid row: a family takes all or a part of them. */
static const size_t check_sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 4099};
enum { CHECK_SIZES = sizeof check_sizes / sizeof check_sizes[0] };
/* How many of them a backend takes: the last, for rows of a grid and for many threads, on the GPU and with the
 * instructions that this machine uses, of which the others are compiled from the same code; HOT_TEST_FULL=1: all. */
size_t check_size_count(const check_run *run);

/* Begins a case: a name and a size for messages; the random numbers depend on --seed, family, name and size alone. */
void check_case_begin(check_run *run, const char *name, size_t size);
/* Begins a case whose name is printed so, if --only wants it; whether it does. */
int check_begin(check_run *run, size_t size, const char *format, ...) HOT_PRINTF(3, 4);
/* The seed of such a case: for cases that share their random numbers. */
uint64_t check_case_seed(const check_run *run, const char *name, size_t size);
/* A copy of `bytes` bytes of data, fenced; check_case_end sees that nobody wrote to it. */
void *check_input(check_run *run, const void *data, size_t bytes);
/* An output, fenced, every byte poisoned (as float or double: a finite value that no computation here makes). */
void *check_output(check_run *run, size_t bytes);
/* Memory for what the reference says to this case, which begins alike for every backend: kept from the first of them to
 * the last. *known: whether it has been filled. what: which of a case's. */
void *check_remembered(check_run *run, const char *what, size_t bytes, int *known);
/* How many whole values of `size` bytes are still poison. */
size_t check_unwritten(const void *output, size_t count, size_t size);
/* The call's status: a failed call fails the case and prints the message. */
int check_call(check_run *run, hot_status status);
/* Looks at fences and inputs, frees the buffers. */
void check_case_end(check_run *run);
/* A context on the CPU, limited to an instruction set (hot_cpu_level): destroyed by the caller. */
hot_context *check_cpu_context(int cpu_limit);
/* Counts a failure and says where; printed for the first few. */
void check_fail(check_run *run, size_t item, const char *format, ...) HOT_PRINTF(3, 4);

#define CHECK_ITEM(run, item, condition, ...)         \
    do {                                              \
        if (!(condition))                             \
            check_fail((run), (item), __VA_ARGS__);   \
    } while (0)

/* Whether a benchmark of this name is wanted. */
int check_wanted(const check_run *run, const char *what);
/* Seconds of a monotonic clock, and a line of the benchmark's table (rate in items per second; note may be ""). */
double check_now(void);
void check_report(check_run *run, const char *what, double seconds, double items, const char *note);
