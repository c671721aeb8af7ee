#include "progress.h"

#include <math.h>
#include <string.h>

#include "io/common/report.h"

enum { MAX_BAR = 40, MIN_BAR = 10, NAME = 28 };

cli_form cli_form_of(const char *name, int terminal)
{
    static const char *const names[] = {"none", "bar", "lines", "json"};
    for (int form = 0; form < 4; form++)
        if (strcmp(name, names[form]) == 0)
            return (cli_form)form;
    return terminal ? CLI_FORM_BAR : CLI_FORM_LINES;
}

void cli_meter_start(cli_meter *meter, cli_form form, FILE *file, int columns, double now)
{
    *meter = (cli_meter){.form = form, .file = file, .columns = columns, .began = now, .said = now, .percent = -1};
}

void cli_meter_leave(cli_meter *meter)
{
    if (meter->open)
        fputc('\n', meter->file);
    meter->open = 0;
    meter->stage[0] = '\0';
}

/* "40 s", "5 min", "2 h 5 min". */
static const char *duration(double seconds, char text[32])
{
    const long all = lround(fmin(fmax(seconds, 0), 1e8)), minutes = (all + 30) / 60;
    if (all < 100)
        snprintf(text, 32, "%ld s", all);
    else if (minutes < 100)
        snprintf(text, 32, "%ld min", minutes);
    else
        snprintf(text, 32, "%ld h %ld min", minutes / 60, minutes % 60);
    return text;
}

static void put_json(cli_meter *meter, cJSON *object, double now)
{
    cJSON_AddNumberToObject(object, "elapsed", round(1e3 * (now - meter->began)) / 1e3);
    char *line = hot_report_line(object);
    if (line) /* without memory a line is missing */
        fprintf(meter->file, "%s\n", line);
    fflush(meter->file);
    cJSON_free(line);
    cJSON_Delete(object);
}

static cJSON *event(const char *kind)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "event", kind);
    return object;
}

static void put_bar(cli_meter *meter, const char *stage, int percent)
{
    const int room = meter->columns - NAME - 10; /* for the texts around the bar */
    const int size = room > MAX_BAR ? MAX_BAR : room < MIN_BAR ? MIN_BAR : room;
    const int full = percent * size / 100;
    char bar[MAX_BAR + 1];
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(size - full));
    bar[size] = '\0';
    fprintf(meter->file, "\r%-*.*s [%s] %3d %%", NAME, NAME, stage, bar, percent);
    fflush(meter->file);
    meter->open = 1;
}

static void put_line(cli_meter *meter, const char *stage, int percent, double fraction, double now)
{
    char so_far[32], left[32];
    const double spent = now - meter->stage_began;
    fprintf(meter->file, "%s: %d %%, %s so far", stage, percent, duration(now - meter->began, so_far));
    if (fraction > .01 && fraction < 1) /* as fast as until now */
        fprintf(meter->file, ", about %s left in this stage", duration(spent * (1 - fraction) / fraction, left));
    fputc('\n', meter->file);
    fflush(meter->file);
    meter->said = now;
}

void cli_meter_show(cli_meter *meter, const char *stage, double fraction, double now)
{
    if (meter->form == CLI_FORM_NONE)
        return;
    fraction = fraction >= 1 ? 1 : fraction > 0 ? fraction : 0; /* NaN is 0 */
    const int percent = (int)(100 * fraction), same = strncmp(meter->stage, stage, CLI_METER_STAGE - 1) == 0;
    if (!same) {
        cli_meter_leave(meter);
        meter->stage_began = now;
    }
    const int moved = !same || percent != meter->percent;
    snprintf(meter->stage, sizeof meter->stage, "%s", stage);
    meter->percent = percent;
    if (meter->form == CLI_FORM_LINES) {
        if (now - meter->said >= CLI_METER_INTERVAL)
            put_line(meter, stage, percent, fraction, now);
    } else if (moved && meter->form == CLI_FORM_BAR) {
        put_bar(meter, stage, percent);
        if (percent == 100)
            cli_meter_leave(meter);
    } else if (moved) {
        cJSON *object = event("progress");
        cJSON_AddStringToObject(object, "stage", stage);
        cJSON_AddNumberToObject(object, "fraction", round(1e4 * fraction) / 1e4);
        put_json(meter, object, now);
    }
}

void cli_meter_say(cli_meter *meter, const char *kind, const char *lead, const char *text, double now)
{
    if (meter->form == CLI_FORM_JSON) {
        cJSON *object = event(kind);
        cJSON_AddStringToObject(object, "text", text);
        put_json(meter, object, now);
        return;
    }
    if (meter->form == CLI_FORM_BAR)
        cli_meter_leave(meter);
    fprintf(meter->file, "%s%s\n", lead, text);
}

void cli_meter_end(cli_meter *meter, int status, double now)
{
    cli_meter_leave(meter);
    if (meter->form != CLI_FORM_JSON)
        return;
    cJSON *object = event("end");
    cJSON_AddNumberToObject(object, "status", status);
    put_json(meter, object, now);
}
