/* The rows of `hotfiber bench sshopm --dim N`. */
#ifndef HOT_BENCH_SSHOPM_DIM_H
#define HOT_BENCH_SSHOPM_DIM_H

#include "bench.h"

hot_status bench_sshopm_dim(hot_context *context, const bench_options *options, bench_report *report);

#endif
