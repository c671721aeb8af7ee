/* hotfiber-bench paper for a build of the kernels alone, without the command (bench/paper_gpu.sh):
 *
 *     bench_paper [cpu|cuda] [SECONDS] [PEER] [PAPER]
 *
 * prints the JSON of `hotfiber bench paper --json --device ... --seconds ... --peer ... --algorithm ...`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kernels/gpu_machine.h"
#include "common/entry.h"
#include "report.h"

extern const bench_entry bench_paper;

int main(int argc, char **argv)
{
    HOT_ENTRY(NULL);
    const int gpu = argc > 1 && strcmp(argv[1], "cuda") == 0;
    const bench_options options = {.seconds = argc > 2 && atof(argv[2]) > 0 ? atof(argv[2]) : 1,
                                   .peer = argc > 3 ? argv[3] : NULL, .algorithm = argc > 4 ? argv[4] : NULL};
    const hot_context_options how = {.size = sizeof how, .device = gpu ? HOT_DEVICE_CUDA : HOT_DEVICE_CPU};
    hot_context *context = NULL;
    bench_report *report = calloc(1, sizeof *report);
    hot_status status = report ? hot_context_create(&how, &context) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = bench_paper.run(context, &options, report);
    if (status == HOT_OK || (report && report->rows)) { /* rows before a failure are printed, too */
        bench_json_begin(hot_context_threads(context), gpu ? hot_gpu_name() : NULL);
        for (int row = 0; row < report->rows; row++)
            bench_json_row("paper", &report->row[row], row == 0);
        bench_json_end();
    }
    if (status != HOT_OK)
        fprintf(stderr, "bench_paper: %s\n", context ? hot_context_message(context) : "no context");
    hot_context_destroy(&context);
    free(report);
    return status != HOT_OK;
}
