/* How progress is shown, at times that are made up: bars at every percent, lines once a minute, JSON. */
#include "check.h"

#include <unistd.h>

#include "cli/progress.h"

static char shown[65536];

/* What `meter` has written so far; it begins anew. */
static const char *take(cli_meter *meter)
{
    fflush(meter->file);
    const long size = ftell(meter->file);
    rewind(meter->file);
    shown[fread(shown, 1, size < (long)sizeof shown ? (size_t)size : sizeof shown - 1, meter->file)] = '\0';
    rewind(meter->file);
    CHECK(ftruncate(fileno(meter->file), 0) == 0, "truncated");
    return shown;
}

static size_t count(const char *text, char letter)
{
    size_t found = 0;
    for (; *text; text++)
        found += *text == letter;
    return found;
}

static cli_meter start(cli_form form, int columns)
{
    cli_meter meter;
    cli_meter_start(&meter, form, tmpfile(), columns, 1000);
    CHECK(meter.file != NULL, "a file");
    return meter;
}

/* A stage of an hour, told every tenth of a second: 59 lines, a minute apart, and their forecast. */
static void test_lines(void)
{
    cli_meter meter = start(CLI_FORM_LINES, 80);
    for (int i = 0; i < 36000; i++)
        cli_meter_show(&meter, "finding fibres", i / 36000., 1000 + .1 * i);
    const char *text = take(&meter);
    CHECK(count(text, '\n') == 59 && count(text, '\r') == 0, "%zu lines: %s", count(text, '\n'), text);
    CHECK(strncmp(text, "finding fibres: 1 %, 60 s so far, about 59 min left in this stage\n", 66) == 0, "%s", text);
    CHECK(strstr(text, "finding fibres: 50 %, 30 min so far, about 30 min left in this stage\n"), "%s", text);
    cli_meter_show(&meter, "writing", 0, 4600); /* a minute has gone; of a stage that begins nothing is known */
    cli_meter_show(&meter, "writing", .5, 4659);
    CHECK(strcmp(take(&meter), "writing: 0 %, 60 min so far\n") == 0, "%s", shown);
    cli_meter_show(&meter, "writing", .25, 4720);
    CHECK(strcmp(take(&meter), "writing: 25 %, 62 min so far, about 6 min left in this stage\n") == 0, "%s", shown);
    cli_meter_show(&meter, "writing", NAN, 90000);
    CHECK(strcmp(take(&meter), "writing: 0 %, 24 h 43 min so far\n") == 0, "%s", shown);
    cli_meter_say(&meter, "note", "", "a note", 90000);
    cli_meter_end(&meter, 0, 90000);
    CHECK(strcmp(take(&meter), "a note\n") == 0, "%s", shown);
    fclose(meter.file);
}

static void test_bar(void)
{
    cli_meter meter = start(CLI_FORM_BAR, 80);
    for (int i = 0; i < 1000; i++)
        cli_meter_show(&meter, "finding fibres", i / 1000., 1000);
    const char *text = take(&meter);
    CHECK(count(text, '\r') == 100 && count(text, '\n') == 0, "a hundred bars on one line: %zu", count(text, '\r'));
    const char last[] = "\rfinding fibres               [#######################################.]  99 %";
    CHECK(strcmp(strrchr(text, '\r'), last) == 0, "'%s'", strrchr(text, '\r'));
    cli_meter_say(&meter, "warning", "warning: ", "odd", 1000);
    CHECK(strcmp(take(&meter), "\nwarning: odd\n") == 0, "a line of its own: '%s'", shown);
    cli_meter_show(&meter, "finding fibres", 1, 1000);
    cli_meter_show(&meter, "writing", 0, 1000);
    cli_meter_end(&meter, 0, 1000);
    text = take(&meter);
    CHECK(count(text, '\n') == 2 && text[strlen(text) - 1] == '\n', "each stage has a line: '%s'", text);
    fclose(meter.file);
    for (int columns = 1; columns < 200; columns += 7) {
        meter = start(CLI_FORM_BAR, columns);
        cli_meter_show(&meter, "a stage whose name is longer than what a bar leaves for it", .5, 1000);
        const size_t length = strlen(take(&meter)) - 1;
        CHECK(length < (size_t)(columns > 50 ? columns : 50) && length >= 47, "%d columns: %zu", columns, length);
        fclose(meter.file);
    }
}

static void test_json(void)
{
    cli_meter meter = start(CLI_FORM_JSON, 80);
    for (int i = 0; i <= 1000; i++)
        cli_meter_show(&meter, "finding \"fibres\"", i / 1000., 1000 + i * .25);
    const char *text = take(&meter);
    CHECK(count(text, '\n') == 101, "%zu lines", count(text, '\n'));
    const char first[] = "{\"event\":\"progress\",\"stage\":\"finding \\\"fibres\\\"\",\"fraction\":0,\"elapsed\":0}\n";
    CHECK(strncmp(text, first, strlen(first)) == 0, "%s", text);
    CHECK(strstr(text, "\"fraction\":0.25,\"elapsed\":62.5}\n"), "%s", text);
    cli_meter_say(&meter, "warning", "warning: ", "a\nb\xff", 1251);
    const char warning[] = "{\"event\":\"warning\",\"text\":\"a\\nb\xef\xbf\xbd\",\"elapsed\":251}\n";
    CHECK(strcmp(take(&meter), warning) == 0, "%s", shown);
    cli_meter_end(&meter, 1, 1251.0004);
    CHECK(strcmp(take(&meter), "{\"event\":\"end\",\"status\":1,\"elapsed\":251}\n") == 0, "%s", shown);
    fclose(meter.file);
}

int main(void)
{
    cli_meter meter = start(CLI_FORM_NONE, 80);
    cli_meter_show(&meter, "finding fibres", .5, 5000);
    cli_meter_end(&meter, 0, 5000);
    CHECK(take(&meter)[0] == '\0', "none: %s", shown);
    fclose(meter.file);
    CHECK(cli_form_of("auto", 1) == CLI_FORM_BAR && cli_form_of("auto", 0) == CLI_FORM_LINES, "auto");
    CHECK(cli_form_of("none", 1) == CLI_FORM_NONE && cli_form_of("bar", 0) == CLI_FORM_BAR &&
              cli_form_of("lines", 1) == CLI_FORM_LINES && cli_form_of("json", 1) == CLI_FORM_JSON, "as named");
    test_lines();
    test_bar();
    test_json();
    HOT_TEST_END();
}
