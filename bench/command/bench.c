/* hotfiber bench: runs the chosen benchmarks and prints a table or JSON. */
#include "report.h"
#include "bench/kernels/gpu_machine.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BENCH_EXTERN(NAME) extern const bench_entry bench_##NAME;
BENCHES(BENCH_EXTERN)
#undef BENCH_EXTERN

#define BENCH_ADDRESS(NAME) &bench_##NAME,
static const bench_entry *const benches[] = {BENCHES(BENCH_ADDRESS) NULL};
#undef BENCH_ADDRESS

static int wanted(const cli_common *common, const char *name)
{
    for (int i = 0; i < common->argument_count; i++)
        if (strcmp(common->arguments[i], name) == 0)
            return 1;
    return common->argument_count == 0;
}

/* The first plain argument that names no benchmark, or NULL. */
static const char *unknown(const cli_common *common)
{
    for (int i = 0; i < common->argument_count; i++) {
        int found = 0;
        for (int j = 0; benches[j]; j++)
            found |= strcmp(common->arguments[i], benches[j]->name) == 0;
        if (!found)
            return common->arguments[i];
    }
    return NULL;
}

const cli_command cli_bench_command = {
    "bench", "measure the speed of the kernels and of the pipeline", "[NAME ...] [options]",
    "Each figure is the median of several runs after one to warm up; each run does the whole work. Without a NAME all "
    "benchmarks are run; --list lists them.\n\n"
    "  hotfiber bench sshopm --order 4 --threads 1 --json",
    16};

int cli_bench(int argc, char **argv)
{
    int json = 0, list = 0;
    bench_options options = {.seconds = 1};
    const cli_option table[] = {
        {"list", CLI_FLAG, &list, NULL, "list the benchmarks", 0, 0},
        {"json", CLI_FLAG, &json, NULL, "print JSON instead of a table", 0, 0},
        {"seconds", CLI_DOUBLE, &options.seconds, "S", "measure each row for about so long; default 1", .01, 600},
        {"order", CLI_INT, &options.order, "N", "only tensors of this order", 2, 8},
        {"dim", CLI_INT, &options.dim, "N", "sshopm on the CPU: tensors of any order in so many dimensions", 2, 16},
        {"count", CLI_SIZE, &options.count, "N", "number of tensors, voxels or matrices; default: the benchmark's own",
         1, 1e9},
        {"starts", CLI_SIZE, &options.starts, "N", "number of starting vectors (sshopm, directions); default 128", 1,
         1e6},
        {"algorithm", CLI_TEXT, &options.algorithm, "NAME",
         "sshopm on a GPU: only this one of paper, gnomonic, general; paper: one paper, by its first author", 0, 0},
        {"peer", CLI_TEXT, &options.peer, "NAME", "another program or library to time as well (see --list)", 0, 0},
        CLI_END,
    };
    CLI_PARSE(bench, table);
    if (list) {
        for (int i = 0; benches[i]; i++)
            printf("%-12s %s\n", benches[i]->name, benches[i]->about);
        return cli_finish(&cli_bench_command, &common, HOT_OK);
    }
    const char *stranger = unknown(&common);
    if (stranger)
        return cli_refuse(&cli_bench_command, &common, "there is no benchmark '%s' (--list names them)", stranger);
    for (int i = 0; options.peer && benches[i]; i++)
        if (wanted(&common, benches[i]->name) && !strstr(benches[i]->about, "--peer"))
            return cli_refuse(&cli_bench_command, &common, "--peer: %s has none (--list names them)", benches[i]->name);
    cli_terminal_start(1, NULL); /* a progress bar would cost time and cover the table */
    int threads = hot_context_threads(common.context);
    hot_status status = HOT_OK;
    int first = 1; /* row of the JSON */
    bench_report *report = malloc(sizeof *report);
    if (!report)
        status = hot_context_fail(common.context, HOT_ERROR_MEMORY, "out of memory for the report");
    if (json && status == HOT_OK)
        bench_json_begin(threads,
                         hot_context_device(common.context) == HOT_DEVICE_CPU ? NULL : hot_gpu_name());
    else if (status == HOT_OK)
        printf("hotfiber %s on %s, %d thread%s\n", hot_version(), bench_processor(), threads, threads == 1 ? "" : "s");
    for (int i = 0; benches[i] && status == HOT_OK; i++) {
        if (!wanted(&common, benches[i]->name))
            continue;
        report->rows = 0;
        if (!json)
            printf("%s: %s\n", benches[i]->name, benches[i]->about);
        fflush(stdout);
        status = benches[i]->run(common.context, &options, report);
        for (int row = 0; row < report->rows; row++) {
            if (json)
                bench_json_row(benches[i]->name, &report->row[row], first);
            else
                bench_show_row(&report->row[row]);
            first = 0;
        }
        fflush(stdout);
    }
    if (json && report)
        bench_json_end();
    free(report);
    return cli_finish(&cli_bench_command, &common, status);
}
