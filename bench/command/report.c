/* The rows of a benchmark: measuring, the arrays, the table and the JSON. Needs the kernels only. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/compare.h"

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_median(double *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, hot_ascending_f64);
    return count % 2 ? values[count / 2] : .5 * (values[count / 2 - 1] + values[count / 2]);
}

bench_row *bench_add(bench_report *report, const char *name, const char *backend)
{
    bench_row *row = report->rows < BENCH_ROWS_MAX ? &report->row[report->rows++] : &report->spare;
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

void bench_group_by_name(bench_report *report)
{
    for (int i = 1; i < report->rows; i++) {
        int place = i;
        for (int before = 0; before < i; before++)
            if (strcmp(report->row[before].name, report->row[i].name) == 0)
                place = before + 1;
        const bench_row row = report->row[i];
        memmove(&report->row[place + 1], &report->row[place], (size_t)(i - place) * sizeof row);
        report->row[place] = row;
    }
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

void bench_show_row(const bench_row *row)
{
    char text[16];
    printf("  %-52s %-16s", row->name, row->backend);
    if (row->missing[0])
        printf(" not measured: %s", row->missing);
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
        if (row->paper_seconds > 0)
            printf("  paper %s (%.4g x, %s)", duration(row->paper_seconds, text), row->paper_seconds / row->seconds,
                   row->paper_card);
    }
    for (int i = 0; i < row->notes; i++)
        printf("%s%s %.6g", i || row->seconds > 0 ? "  " : " ", row->note[i].name, row->note[i].value);
    putchar('\n');
}

/* Names are our own; only a processor's name may hold a quote. */
static void json_text(const char *name, const char *text, const char *end)
{
    printf("\"%s\": \"", name);
    for (; *text; text++)
        if ((unsigned char)*text >= ' ')
            printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    printf("\"%s", end);
}

static void json_number(const char *name, double value) { printf(", \"%s\": %.9g", name, value); }

void bench_json_begin(int threads, const char *gpu)
{
    printf("{\n  \"machine\": {");
    json_text("processor", bench_processor(), ", ");
    if (gpu)
        json_text("gpu", gpu, ", ");
    printf("\"cores\": %ld, \"threads\": %d},\n  ", sysconf(_SC_NPROCESSORS_ONLN), threads);
    const time_t now = time(NULL);
    char date[16] = "";
    struct tm day;
    if (gmtime_r(&now, &day))
        strftime(date, sizeof date, "%Y-%m-%d", &day);
    json_text("date", date, ",\n  ");
    json_text("version", HOTFIBER_VERSION_STRING, ",\n  \"rows\": [");
}

void bench_json_row(const char *benchmark, const bench_row *row, int first)
{
    printf("%s\n    {", first ? "" : ",");
    json_text("benchmark", benchmark, ", ");
    json_text("name", row->name, ", ");
    json_text("backend", row->backend, "");
    if (row->missing[0]) {
        printf(", ");
        json_text("missing", row->missing, "");
    }
    if (row->seconds > 0) {
        json_number("seconds", row->seconds);
        if (row->repeats > 0) {
            json_number("fastest", row->fastest);
            json_number("slowest", row->slowest);
            json_number("repeats", row->repeats);
        }
        if (row->items > 0) {
            json_number("items", row->items);
            printf(", ");
            json_text("item", row->item ? row->item : "items", "");
            json_number("items_per_second", row->items / row->seconds);
        }
        if (row->flops > 0)
            json_number("flops_per_second", row->flops / row->seconds);
        if (row->flops > 0 && row->peak > 0)
            json_number("fraction_of_peak", row->flops / row->seconds / row->peak);
        if (row->floor > 0)
            json_number("floor_seconds", row->floor);
        if (row->paper_seconds > 0) {
            json_number("paper_seconds", row->paper_seconds);
            printf(", ");
            json_text("paper_card", row->paper_card, "");
        }
    }
    for (int i = 0; i < row->notes; i++)
        json_number(row->note[i].name, row->note[i].value);
    printf("}");
}

void bench_json_end(void) { printf("\n  ]\n}\n"); }
