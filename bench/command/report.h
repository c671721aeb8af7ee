/* The rows of a report, and how they are printed: for the programs that run benchmarks. */
#pragma once

#include "bench.h"

enum { BENCH_ROWS_MAX = 512 };

struct bench_report {
    int rows;
    bench_row row[BENCH_ROWS_MAX];
    bench_row spare;
};

/* Rows of one name stand together, where the first of them was. */
void bench_group_by_name(bench_report *report);

void bench_show_row(const bench_row *row);

/* JSON on standard output: begin, each row, end. gpu: its name, or NULL. */
void bench_json_begin(int threads, const char *gpu);
void bench_json_row(const char *benchmark, const bench_row *row, int first);
void bench_json_end(void);
