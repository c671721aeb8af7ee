/* hotfiber report: a page about a finished run. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"

enum { MEMORY = 768 << 20 }; /* bytes: of maps of any size */

const cli_command cli_report_command = {
    "report", "one HTML page about a finished run: pictures, numbers, settings, text for a paper",
    "DIR [-o FILE] [options]",
    "Reads the folder of a `hotfiber run` and writes one self-contained HTML file: no network, no scripts, no other "
    "files. Missing files are left out and listed. `run --report` makes it together with the run, with the fibres over "
    "the mean b=0 image.\n\n"
    "  hotfiber report out\n"
    "  hotfiber report /archive/sub-01 -o sub-01.html --background t1.nii.gz",
    1};

int cli_report(int argc, char **argv)
{
    const char *output = NULL, *background = NULL;
    const cli_option options[] = {
        {"o", CLI_OUTPUT_ANY, &output, "FILE", "the page; default: report.html in the folder; - is standard output", 0,
         0},
        {"background", CLI_TEXT, &background, "FILE",
         "draw the fibres over this image; default: the run's mean b=0 image (b0.nii.gz) or FA", 0, 0},
        CLI_END};
    CLI_PARSE(report, options);
    if (common.argument_count == 0)
        return cli_refuse(&cli_report_command, &common, "the folder of a run is needed: hotfiber report DIR");
    const char *folder = common.arguments[0];
    const size_t size = strlen(folder) + sizeof "/report.html";
    char *path = hot_context_alloc(common.context, size, 1);
    hot_status status = path ? HOT_OK : HOT_ERROR_MEMORY;
    if (path) {
        size_t length = strlen(folder);
        while (length > 1 && folder[length - 1] == '/')
            length--;
        snprintf(path, size, "%.*s/report.html", (int)length, folder);
        hot_memory_bound(common.context, MEMORY, output ? output : path, NULL);
        status = hot_run_report(common.context, folder, background, output ? output : path);
        if (status == HOT_OK && !common.quiet && !(output && strcmp(output, "-") == 0)) {
            cli_terminal_newline();
            printf("report: %s\n", cli_shown(output ? output : path));
        }
        hot_context_free(common.context, path);
    }
    return cli_finish(&cli_report_command, &common, status);
}
