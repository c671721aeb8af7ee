/* The rows of `hotfiber bench sshopm --dim N`. */
#pragma once

#include "bench.h"

hot_status bench_sshopm_dim(hot_context *context, const bench_options *options, bench_report *report);
