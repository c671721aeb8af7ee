/* hotfiber bench: runs the chosen benchmarks and prints a table or JSON. */
#include "bench.h"
#include "cli/cli.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BENCH_EXTERN(NAME) extern const bench_entry bench_##NAME;
BENCHES(BENCH_EXTERN)
#undef BENCH_EXTERN

#define BENCH_ADDRESS(NAME) &bench_##NAME,
static const bench_entry *const benches[] = {BENCHES(BENCH_ADDRESS) NULL};
#undef BENCH_ADDRESS

enum { ROWS_MAX = 256 };

struct bench_report {
    int rows;
    bench_row row[ROWS_MAX];
    bench_row spare;
};

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : .5 * (values[count / 2 - 1] + values[count / 2]);
}

bench_row *bench_add(bench_report *report, const char *name, const char *backend)
{
    bench_row *row = report->rows < ROWS_MAX ? &report->row[report->rows++] : &report->spare;
    memset(row, 0, sizeof *row);
    snprintf(row->name, sizeof row->name, "%s", name);
    snprintf(row->backend, sizeof row->backend, "%s", backend);
    return row;
}

void bench_note(bench_row *row, const char *name, double value)
{
    if (row->notes == BENCH_NOTES)
        return;
    snprintf(row->note[row->notes].name, sizeof row->note[0].name, "%s", name);
    row->note[row->notes++].value = value;
}

hot_status bench_check_peer(hot_context *context, const bench_options *options, const char *known)
{
    if (!options->peer || strcmp(options->peer, known) == 0)
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--peer %s is not known here: %s is", options->peer, known);
}

hot_status bench_gpu_or_cpu(hot_context *context, const bench_options *options, bench_report *report, bench_rows gpu,
                            bench_rows cpu)
{
    const hot_device device = hot_context_device(context);
    hot_status status = bench_check_peer(context, options, "cublas");
    if (status == HOT_OK && (device == HOT_DEVICE_CUDA || device == HOT_DEVICE_AUTO)) {
        status = gpu(context, options, report);
        if (device == HOT_DEVICE_CUDA || status != HOT_ERROR_DEVICE || options->peer)
            return status;
        status = HOT_OK;
    }
    return status == HOT_OK ? cpu(context, options, report) : status;
}

hot_status bench_measure(hot_context *context, const bench_options *options, bench_body body, void *user,
                         bench_row *row)
{
    enum { REPEATS_MAX = 1000, REPEATS_MIN = 3 };
    double times[REPEATS_MAX];
    double limit = options->seconds > 0 ? options->seconds : 1;
    hot_status status = body(context, user);
    size_t count = 0;
    double begin = bench_now(), now = begin;
    while (status == HOT_OK && count < REPEATS_MAX && (count < REPEATS_MIN || now - begin < limit)) {
        double before = now;
        status = body(context, user);
        now = bench_now();
        times[count++] = now - before;
        if (hot_context_cancelled(context))
            return hot_context_fail(context, HOT_ERROR_CANCELLED, "cancelled while measuring '%s'", row->name);
    }
    if (status != HOT_OK)
        return hot_context_add(context, status, "while measuring '%s'", row->name);
    row->seconds = bench_median(times, count);
    row->fastest = times[0];
    row->slowest = times[count - 1];
    row->repeats = (int)count;
    return HOT_OK;
}

hot_status bench_measure_row(hot_context *context, const bench_options *options, bench_report *report,
                             const char *name, const char *backend, double items, const char *item, bench_body body,
                             void *user, bench_row **row)
{
    bench_row *added = bench_add(report, name, backend);
    added->items = items;
    added->item = item;
    if (row)
        *row = added;
    return bench_measure(context, options, body, user, added);
}

bench_row *bench_add_measured(bench_report *report, const char *name, const char *backend, double median,
                              double fastest, int repeats, double items, const char *item)
{
    bench_row *row = bench_add(report, name, backend);
    row->seconds = median;
    row->fastest = row->slowest = fastest;
    row->repeats = repeats;
    row->items = items;
    row->item = item;
    return row;
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

void *bench_alloc(hot_context *context, bench_memory *memory, size_t count, size_t size)
{
    const int full = memory->count == sizeof memory->array / sizeof memory->array[0];
    void *array = full ? NULL : hot_context_alloc(context, count, size);
    if (array)
        memory->array[memory->count++] = array;
    else
        memory->failed = 1;
    return array;
}

static double value_at(size_t i) { return .1 + .7 * (double)(i * 2654435761u % 1000003u) / 1000003.; }

double *bench_alloc_f64(hot_context *context, bench_memory *memory, size_t count)
{
    double *values = bench_alloc(context, memory, count, sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = value_at(i);
    return values;
}

float *bench_alloc_f32(hot_context *context, bench_memory *memory, size_t count)
{
    float *values = bench_alloc(context, memory, count, sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = (float)value_at(i);
    return values;
}

void bench_free(hot_context *context, bench_memory *memory)
{
    for (int i = 0; i < memory->count; i++)
        hot_context_free(context, memory->array[i]);
    memory->count = 0;
}

/* ---- The table and JSON ------------------------------------------------------------------------------------------ */

/* A duration with three digits and the unit that suits it. */
static const char *duration(double seconds, char text[16])
{
    const char *unit = "s";
    double value = seconds;
    if (seconds < 1e-3)
        value = 1e6 * seconds, unit = "us";
    else if (seconds < 1)
        value = 1e3 * seconds, unit = "ms";
    snprintf(text, 16, "%.*f %s", value < 10 ? 3 : value < 100 ? 2 : 1, value, unit);
    return text;
}

static void show_row(const bench_row *row)
{
    char text[16];
    printf("  %-44s %-12s", row->name, row->backend);
    if (row->seconds > 0) {
        printf(" %12s", duration(row->seconds, text));
        if (row->items > 0)
            printf("  %10.4g %s/s", row->items / row->seconds, row->item ? row->item : "items");
        if (row->flops > 0)
            printf("  %8.1f GFLOP/s", 1e-9 * row->flops / row->seconds);
        if (row->flops > 0 && row->peak > 0)
            printf(" (%.0f %% of peak)", 100 * row->flops / row->seconds / row->peak);
        if (row->floor > 0)
            printf("  floor %s (%.1f x)", duration(row->floor, text), row->seconds / row->floor);
    }
    for (int i = 0; i < row->notes; i++)
        printf("%s%s %.6g", i || row->seconds > 0 ? "  " : " ", row->note[i].name, row->note[i].value);
    putchar('\n');
}

static cJSON *row_json(const bench_entry *bench, const bench_row *row)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "benchmark", bench->name);
    cJSON_AddStringToObject(object, "name", row->name);
    cJSON_AddStringToObject(object, "backend", row->backend);
    if (row->seconds > 0) {
        cJSON_AddNumberToObject(object, "seconds", row->seconds);
        if (row->repeats > 0) {
            cJSON_AddNumberToObject(object, "fastest", row->fastest);
            cJSON_AddNumberToObject(object, "slowest", row->slowest);
            cJSON_AddNumberToObject(object, "repeats", row->repeats);
        }
        if (row->items > 0) {
            cJSON_AddNumberToObject(object, "items", row->items);
            cJSON_AddStringToObject(object, "item", row->item ? row->item : "items");
            cJSON_AddNumberToObject(object, "items_per_second", row->items / row->seconds);
        }
        if (row->flops > 0)
            cJSON_AddNumberToObject(object, "flops_per_second", row->flops / row->seconds);
        if (row->flops > 0 && row->peak > 0)
            cJSON_AddNumberToObject(object, "fraction_of_peak", row->flops / row->seconds / row->peak);
        if (row->floor > 0)
            cJSON_AddNumberToObject(object, "floor_seconds", row->floor);
    }
    for (int i = 0; i < row->notes; i++)
        cJSON_AddNumberToObject(object, row->note[i].name, row->note[i].value);
    return object;
}

static int show_json(hot_context *context, cJSON *rows, int threads)
{
    cJSON *root = cJSON_CreateObject();
    cJSON *machine = cJSON_AddObjectToObject(root, "machine");
    cJSON_AddStringToObject(machine, "processor", bench_processor());
    cJSON_AddNumberToObject(machine, "cores", (double)sysconf(_SC_NPROCESSORS_ONLN));
    cJSON_AddNumberToObject(machine, "threads", threads);
    cJSON_AddStringToObject(root, "version", hot_version());
    cJSON_AddItemToObject(root, "rows", rows);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for the report");
    printf("%s\n", text);
    cJSON_free(text);
    return HOT_OK;
}

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
         "sshopm on a GPU: only this one of paper, gnomonic, general", 0, 0},
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
    cJSON *rows = json ? cJSON_CreateArray() : NULL;
    bench_report *report = malloc(sizeof *report);
    if (!report)
        status = hot_context_fail(common.context, HOT_ERROR_MEMORY, "out of memory for the report");
    if (!json && status == HOT_OK)
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
                cJSON_AddItemToArray(rows, row_json(benches[i], &report->row[row]));
            else
                show_row(&report->row[row]);
        }
        fflush(stdout);
    }
    free(report);
    if (json && status == HOT_OK)
        status = show_json(common.context, rows, threads);
    else
        cJSON_Delete(rows);
    return cli_finish(&cli_bench_command, &common, status);
}
