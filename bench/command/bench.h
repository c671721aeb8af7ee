/* Benchmarks of the command: `hotfiber bench NAME ...`.
 *
 * To add one: a file bench_NAME.c that defines
 *     const bench_entry bench_NAME = {"NAME", "what it measures", function};
 * and one line in BENCHES below. The function measures (bench_measure) and adds rows (bench_add); the table and the
 * JSON are made here. */
#pragma once

#include <hotfiber/hotfiber.h>

/* In the order in which they are listed and run. */
#define BENCHES(X) \
    X(machine) \
    X(paper) \
    X(sshopm) \
    X(directions) \
    X(fit) \
    X(denoise) \
    X(heev) \
    X(tridiag) \
    X(contract) \
    X(cpd) \
    X(run)

/* The user's options; 0 or NULL = the benchmark's default. */
typedef struct bench_options {
    double seconds;     /* --seconds: about how long each row may take */
    const char *peer;   /* --peer: another program or library to time as well; a name the benchmark knows */
    const char *algorithm; /* --algorithm: only this one; a name the benchmark knows */
    int order;          /* --order: only this one */
    int dim;            /* --dim: sshopm for tensors of any order in so many dimensions */
    size_t count;       /* --count: how many tensors, voxels, matrices */
    size_t starts;      /* --starts */
} bench_options;

enum { BENCH_NOTES = 10 };

/* One line of the table. Fields that a benchmark does not know stay 0. */
typedef struct bench_row {
    char name[80];         /* "order 4, 128 starts, exact" */
    char backend[48];      /* "cpu", "cpu avx512", "cuda", or the name of another program */
    double seconds;        /* median of `repeats` */
    double fastest, slowest;
    int repeats;
    double items;          /* per measured call; items / seconds is shown */
    const char *item;      /* "tensors", "voxels" */
    double flops;          /* floating-point operations per measured call; GFLOP/s is shown */
    double peak;           /* flop/s of the machine at this (bench_peak_*): percent of peak is shown */
    double floor;          /* seconds that no implementation can beat on this machine, by bandwidth or arithmetic */
    /* Further figures: agreement, residual, ratio to the peer ... */
    double paper_seconds;  /* what a paper states for the same, and what it measured with */
    const char *paper_card;
    char missing[120];     /* why there is no figure: "no module named cupy" */
    int notes;
    struct { char name[40]; double value; } note[BENCH_NOTES];
} bench_row;

typedef struct bench_report bench_report;

/* The code to be timed. A status other than HOT_OK ends the benchmark. */
typedef hot_status (*bench_body)(hot_context *context, void *user);

/* A new row of the report, zeroed, with its name and backend set; valid until the next bench_add. Never NULL: when
 * the report is full a spare row is given that is not shown. */
bench_row *bench_add(bench_report *report, const char *name, const char *backend);
/* One further figure of a row. */
void bench_note(bench_row *row, const char *name, double value);

/* Runs body once to warm up, then repeatedly for about options->seconds (at least 3 times, at most 1000), and puts
 * median, fastest, slowest and repeats into the row. The body must do the whole work each time. */
hot_status bench_measure(hot_context *context, const bench_options *options, bench_body body, void *user,
                         bench_row *row);

/* Adds a row and measures body for it: the usual case. items per call may be 0; *row, if not NULL, for further figures.
 */
hot_status bench_measure_row(hot_context *context, const bench_options *options, bench_report *report,
                             const char *name, const char *backend, double items, const char *item, bench_body body,
                             void *user, bench_row **row);
/* Adds a row for times that were measured elsewhere: `repeats` runs, their median and the fastest. */
bench_row *bench_add_measured(bench_report *report, const char *name, const char *backend, double median,
                              double fastest, int repeats, double items, const char *item);

/* The arrays of a benchmark, which are freed together. `failed` is set when memory is short: check it after the
 * last bench_alloc. */
typedef struct bench_memory {
    int count, failed;
    void *array[16];
} bench_memory;
void *bench_alloc(hot_context *context, bench_memory *memory, size_t count, size_t size);
/* Doubles or floats from .1 to .8 that are no powers of two. */
double *bench_alloc_f64(hot_context *context, bench_memory *memory, size_t count);
float *bench_alloc_f32(hot_context *context, bench_memory *memory, size_t count);
void bench_free(hot_context *context, bench_memory *memory);

/* Seconds of a monotonic clock. */
double bench_now(void);
/* The median of count values (which it sorts); the mean of the middle two for an even count. */
double bench_median(double *values, size_t count);

/* The machine, measured once per process and kept: FMA throughput of `threads` threads together (flop/s, an FMA counts
 * two; the widest vectors the CPU has), and memory bandwidth of a large copy (bytes/s, read + write). */
double bench_peak_f32(int threads);
double bench_peak_f64(int threads);
double bench_copy_bandwidth(int threads);
/* The processor's name as the system gives it. */
const char *bench_processor(void);

/* HOT_ERROR_ARGUMENT when --peer is given and is not the one that this benchmark knows. */
hot_status bench_check_peer(hot_context *context, const bench_options *options, const char *known);

typedef hot_status (*bench_rows)(hot_context *context, const bench_options *options, bench_report *report);

/* The GPU's rows if there is a GPU, else the CPU's, or those of --device; with cuBLAS as the peer, the GPU's only. */
hot_status bench_gpu_or_cpu(hot_context *context, const bench_options *options, bench_report *report, bench_rows gpu,
                            bench_rows cpu);

typedef struct bench_entry {
    const char *name;
    const char *about; /* one line */
    bench_rows run;
} bench_entry;
