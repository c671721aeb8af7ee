/* The cases of the five papers' tables and figures: what bench_paper.c and paper_gpu.c measure. */
#pragma once

#include "bench.h"

typedef enum paper_kind {
    PAPER_SSHOPM,   /* count tensors of order 4, dimension 3, 128 starts; argument: steps, 0 = to the stop */
    PAPER_HEEV,     /* count complex double matrices n x n, values and vectors */
    PAPER_TRIDIAG,  /* values of one matrix of n floats; argument: digits of the absolute error */
    PAPER_PRODUCTS, /* C = A B + C / 2, count double matrices n x n */
    PAPER_ACTION,   /* mass operators of elements of order n, argument: dimension */
    PAPER_ASSEMBLY,
    PAPER_MTTKRP,   /* a cube of side n, rank n / 10; argument: mode */
    PAPER_CP        /* the same, argument: iterations */
} paper_kind;

typedef struct paper_case {
    paper_kind kind;
    size_t n, count;
    int argument;
    int on;             /* PAPER_CPU, PAPER_GPU or both */
    const char *name;   /* paper, table or figure: sizes */
    const char *card;   /* what the paper measured with; NULL: it states no figure */
    double seconds;     /* the paper's; 0: none */
    double one_core, cores;  /* its CPU: one core, eight cores */
} paper_case;

enum { PAPER_CPU = 1, PAPER_GPU = 2, PAPER_BOTH = 3 };

/* bench/programs/paper_peers.py, as CMake embeds it. */
extern const unsigned char bench_paper_script[];
extern const size_t bench_paper_script_size;

extern const paper_case paper_cases[];
extern const size_t paper_case_count;

/* Flops of a step of one start at order 4, in slots of multiply-adds: 27 of them, a reciprocal and two products, with x
 * in a plane (kernels/sshopm/gpu/gnomonic_step.cuh); the least that we know. */
enum { PAPER_STEP_SLOTS = 60 };

/* Whether the peer is wanted: --peer NAME, or all of them without it. */
int paper_wants(const bench_options *options, const char *peer);
/* A new row of a case with the paper's figure. */
bench_row *paper_row(bench_report *report, const paper_case *c, const char *backend, double seconds, double fastest,
                     int repeats);

/* The rows of a case on the GPU, with data in its memory: ours and those of C libraries. */
hot_status paper_gpu_rows(hot_context *context, const bench_options *options, bench_report *report,
                          const paper_case *c);
