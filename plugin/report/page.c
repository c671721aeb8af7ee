/* The page as a whole, and its sections of words and tables. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/arguments.h"
#include "io/common/output.h"
#include "common/entry.h"
#include "page.h"

/* ---- The head -------------------------------------------------------------------------------------------------- */

static void put_card(FILE *file, const char *what, const char *format, ...) HOT_PRINTF(3, 4);
static void put_card(FILE *file, const char *what, const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs("<li><b>", file);
    hot_html_text(file, text);
    fputs("</b><span>", file);
    hot_html_text(file, what);
    fputs("</span></li>\n", file);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void put_cards(FILE *file, const hot_page *page)
{
    const cJSON *counts = hot_json_at(page->json, "counts"), *fibers = hot_json_at(counts, "fibers");
    const double voxels = hot_json_number(counts, "voxels"), flagged = hot_json_number(counts, "flagged");
    const double snr = hot_json_number(hot_json_at(page->json, "noise"), "snr");
    const double seconds = hot_json_number(hot_json_at(page->json, "seconds"), "total");
    static const char *const names[][2] = {{"one", "of them with one fibre"}, {"two", "with two"},
                                           {"three", "with three"}};
    char number[HOT_HTML_COUNT];
    fputs("<ul class=\"cards\">\n", file);
    if (isfinite(voxels))
        put_card(file, "voxels in the mask", "%s", hot_html_count(number, voxels));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const double share = 100 * hot_json_number(fibers, names[i][0]) / voxels;
        if (isfinite(share))
            put_card(file, names[i][1], "%.1f %%", share);
    }
    if (isfinite(snr))
        put_card(file, "SNR at b=0", "%.1f", snr);
    if (isfinite(flagged))
        put_card(file, "voxels that are not usable", "%s", hot_html_count(number, flagged));
    if (isfinite(seconds))
        put_card(file, "time", seconds < 100 ? "%.1f s" : "%.0f s", seconds);
    fputs("</ul>\n", file);
}

static int count_warnings(const hot_page *page)
{
    int count = cJSON_GetArraySize(page->problems);
    const cJSON *said;
    cJSON_ArrayForEach(said, hot_json_at(page->json, "log"))
        count += strcmp(hot_json_text(said, "level"), "warning") == 0;
    return count + (strcmp(hot_json_text(hot_json_at(page->json, "gradients"), "verdict"), "wrong") == 0);
}

static void put_said(FILE *file, const hot_page *page, const char *level)
{
    const cJSON *said;
    cJSON_ArrayForEach(said, hot_json_at(page->json, "log"))
        if (strcmp(hot_json_text(said, "level"), level) == 0) {
            fputs("<li>", file);
            hot_html_text(file, hot_json_text(said, "text"));
            fputs("</li>\n", file);
        }
}

static void put_warnings(FILE *file, const hot_page *page)
{
    const cJSON *problem;
    const int warnings = count_warnings(page), logged = cJSON_IsArray(hot_json_at(page->json, "log"));
    fprintf(file, "<section id=\"warnings\"%s><h2>Warnings</h2>\n", warnings ? " class=\"warning\"" : "");
    if (warnings) {
        fputs("<ul class=\"said\">\n", file);
        put_said(file, page, "warning");
        cJSON_ArrayForEach(problem, page->problems) {
            fputs("<li>This page lacks something: ", file);
            hot_html_text(file, cJSON_IsString(problem) ? problem->valuestring : NULL);
            fputs("</li>\n", file);
        }
        if (strcmp(hot_json_text(hot_json_at(page->json, "gradients"), "verdict"), "wrong") == 0)
            fputs("<li>See the gradient table under <a href=\"#quality\">quality</a> before any direction is "
                  "trusted.</li>\n", file);
        fputs("</ul>\n", file);
    } else {
        fprintf(file, "<p class=\"%s\">%s</p>\n", logged ? "fine" : "soft",
                logged ? "None." : "This run kept no log.");
    }
    fputs("</section>\n", file);
}

/* ---- Quality --------------------------------------------------------------------------------------------------- */

static void put_gradient_check(FILE *file, const hot_page *page)
{
    const cJSON *check = hot_json_at(page->json, "gradients");
    const char *verdict = hot_json_text(check, "verdict");
    fputs("<tr><th scope=\"row\">gradient table</th><td>", file);
    if (strcmp(verdict, "likeliest") == 0) {
        fputs("<span class=\"fine\">the given table is the most likely</span> of all flips and permutations", file);
    } else if (strcmp(verdict, "possible") == 0) {
        fputs("<span class=\"odd\">not settled</span>: no other is more likely, and these data cannot tell the given "
              "table from ", file);
        hot_html_text(file, hot_json_text(check, "alike"));
    } else if (strcmp(verdict, "wrong") == 0) {
        fputs("<span class=\"odd\">probably wrong</span>: more likely is ", file);
        hot_html_text(file, hot_json_text(check, "likeliest"));
        hot_html_format(file, " (by %.1f standard errors)", hot_json_number(check, "z"));
    } else if (strcmp(verdict, "unsure") == 0) {
        fputs("these data do not decide: ", file);
        hot_html_text(file, hot_json_text(check, "reason"));
    } else {
        fputs("was not looked at; <code>hotfiber check</code> does so", file);
    }
    fputs("</td></tr>\n", file);
}

static void put_quality(FILE *file, const hot_page *page)
{
    const cJSON *noise = hot_json_at(page->json, "noise"), *counts = hot_json_at(page->json, "counts");
    const double flagged = hot_json_number(counts, "flagged"), voxels = hot_json_number(counts, "voxels");
    char number[HOT_HTML_COUNT], all[HOT_HTML_COUNT];
    fputs("<section id=\"quality\"><h2>Quality</h2>\n<div class=\"pair\"><table>\n", file);
    if (isfinite(hot_json_number(noise, "snr")))
        hot_html_row(file, "SNR", "%.1f for a b=0 volume", hot_json_number(noise, "snr"));
    else
        hot_html_row(file, "SNR", "not known: it takes repeated b=0 volumes, or a noise level that is given");
    const int circular = cJSON_IsTrue(hot_json_at(noise, "from_residuals"));
    if (isfinite(hot_json_number(noise, "sigma")))
        hot_html_row(file, "noise", "%.4g (standard deviation, in the signal's unit)%s",
                     hot_json_number(noise, "sigma"), circular ? ", from the residuals of the fits" : "");
    const double residual = hot_json_number(hot_json_at(hot_json_at(page->json, "settings"), "population"), "noise");
    if (circular)
        hot_html_row(file, "residual", "cannot be judged: the noise is estimated from it; two b=0 volumes would do");
    else if (isfinite(residual))
        hot_html_row(file, "residual", "%.2f times the noise of the b=0 volumes; about 1 where the fibres explain all "
                     "but noise", residual);
    put_gradient_check(file, page);
    if (isfinite(flagged) && voxels > 0)
        hot_html_row(file, "voxels that are not usable", "%s of %s (%.2f %%): NaN, clipped, or a b=0 signal not above "
                     "0", hot_html_count(number, flagged), hot_html_count(all, voxels), 100 * flagged / voxels);
    const cJSON *response = hot_json_at(page->json, "response");
    if (isfinite(hot_json_number(response, "voxels")))
        hot_html_row(file, "response", "from %s voxels of one fibre",
                     hot_html_count(number, hot_json_number(response, "voxels")));
    fputs("</table>\n", file);
    hot_chart_response(file, response);
    fputs("</div>\n", file);
    int notes = 0;
    const cJSON *said;
    cJSON_ArrayForEach(said, hot_json_at(page->json, "log"))
        notes += strcmp(hot_json_text(said, "level"), "note") == 0;
    if (notes) {
        fputs("<h3>Notes of the run</h3>\n<ul class=\"said\">\n", file);
        put_said(file, page, "note");
        fputs("</ul>\n", file);
    }
    fputs("</section>\n", file);
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

/* A row for each number, text and yes or no of an object. */
static void put_members(FILE *file, const cJSON *object, const char *const *spared)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        int show = item->string != NULL;
        for (const char *const *name = spared; name && *name && show; name++)
            show = strcmp(item->string, *name) != 0;
        if (!show)
            continue;
        char name[80];
        snprintf(name, sizeof name, "%s", item->string);
        for (char *at = name; *at; at++)
            if (*at == '_')
                *at = ' ';
        if (cJSON_IsString(item))
            hot_html_row(file, name, "%.400s", item->valuestring);
        else if (cJSON_IsNumber(item))
            hot_html_row(file, name, "%.6g", item->valuedouble);
        else if (cJSON_IsBool(item))
            hot_html_row(file, name, "%s", cJSON_IsTrue(item) ? "yes" : "no");
        else if (cJSON_IsNull(item))
            hot_html_row(file, name, "default, or not known");
    }
}

static void put_input(FILE *file, const hot_page *page)
{
    const cJSON *input = hot_json_at(page->json, "input"), *size = hot_json_at(input, "size"), *shell;
    const cJSON *matrix = hot_json_at(input, "to_world");
    double voxel[3] = {0};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const cJSON *entry = cJSON_GetArrayItem(cJSON_GetArrayItem(matrix, r), c);
            voxel[c] += cJSON_IsNumber(entry) ? entry->valuedouble * entry->valuedouble : 0;
        }
    fputs("<section id=\"input\"><h2>Input</h2>\n<div class=\"tables\"><table>\n", file);
    static const char *const shown[] = {"file", "bval", "bvec"};
    for (int i = 0; i < 3; i++)
        if (hot_json_text(input, shown[i])[0])
            hot_html_row(file, shown[i], "%s", hot_json_text(input, shown[i]));
    if (cJSON_GetArraySize(size) == 3)
        hot_html_row(file, "voxels", "%.0f \xc3\x97 %.0f \xc3\x97 %.0f", cJSON_GetArrayItem(size, 0)->valuedouble,
                     cJSON_GetArrayItem(size, 1)->valuedouble, cJSON_GetArrayItem(size, 2)->valuedouble);
    if (voxel[0] > 0)
        hot_html_row(file, "voxel size", "%.4g \xc3\x97 %.4g \xc3\x97 %.4g mm", sqrt(voxel[0]), sqrt(voxel[1]),
                     sqrt(voxel[2]));
    if (hot_json_text(input, "space")[0])
        hot_html_row(file, "space", "%s", hot_json_text(input, "space"));
    fputs("</table><table>\n", file);
    hot_html_row(file, "volumes", "%.0f", hot_json_number(input, "volumes"));
    cJSON_ArrayForEach(shell, hot_json_at(input, "shells")) {
        char name[48];
        snprintf(name, sizeof name, "b = %.0f s/mm\xc2\xb2", hot_json_number(shell, "b"));
        hot_html_row(file, name, "%.0f", hot_json_number(shell, "volumes"));
    }
    fputs("</table></div></section>\n", file);
}

static void put_settings(FILE *file, const hot_page *page)
{
    const cJSON *file_name, *device = hot_json_at(page->json, "device");
    const double memory = hot_json_number(page->json, "peak_memory");
    fputs("<section id=\"settings\"><h2>Settings</h2>\n<div class=\"tables\">\n"
          "<table><caption>Settings</caption>\n", file);
    put_members(file, hot_json_at(page->json, "settings"), NULL);
    fputs("</table>\n<div><table><caption>Machine</caption>\n", file);
    put_members(file, device, NULL);
    if (isfinite(memory))
        hot_html_row(file, "memory at most", "%.0f MB", memory / 1e6);
    fputs("</table>\n<table><caption>Versions</caption>\n", file);
    put_members(file, hot_json_at(page->json, "versions"), NULL);
    fputs("</table></div>\n<table><caption>Seconds</caption>\n", file);
    put_members(file, hot_json_at(page->json, "seconds"), NULL);
    fputs("</table></div>\n<details><summary>Files of the run</summary><ul>\n", file);
    cJSON_ArrayForEach(file_name, hot_json_at(page->json, "files")) {
        fputs("<li><code>", file);
        hot_html_text(file, cJSON_IsString(file_name) ? file_name->valuestring : NULL);
        fputs("</code></li>\n", file);
    }
    fputs("</ul></details></section>\n", file);
}

/* ---- The whole ------------------------------------------------------------------------------------------------- */

static const struct { const char *id, *name; } sections[] = {
    {"warnings", "Warnings"}, {"fibres", "Fibres"},         {"quality", "Quality"}, {"maps", "Maps"},
    {"input", "Input"}, {"settings", "Settings"}, {"methods", "For a paper"}};

static void put_head(FILE *file, const hot_page *page)
{
    const char *input = hot_json_text(hot_json_at(page->json, "input"), "file");
    const int warnings = count_warnings(page);
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"generator\" content=\"hotfiber\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>", file);
    hot_html_format(file, "%s - fibre directions", base_name(input));
    fputs("</title>\n<style>\n", file);
    fputs(hot_page_style, file);
    fputs("</style></head>\n<body>\n<header><h1>", file);
    hot_html_text(file, strcmp(input, "-") == 0 ? "standard input" : base_name(input));
    fputs("</h1>\n<p class=\"soft\">Fibre directions from diffusion MRI, by hotfiber ", file);
    hot_html_text(file, hot_json_text(page->json, "hotfiber"));
    fputs(" \xc2\xb7 ", file);
    if (warnings)
        fprintf(file, "<a class=\"odd\" href=\"#warnings\">%d warning%s</a>", warnings, warnings == 1 ? "" : "s");
    else
        fputs("<span class=\"fine\">no warnings</span>", file);
    fputs("</p>\n<nav aria-label=\"Sections\">", file);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        fprintf(file, "<a href=\"#%s\">%s</a>\n", sections[i].id, sections[i].name);
    fputs("</nav></header>\n<main>\n", file);
}

hot_status hot_page_write(hot_context *context, FILE *file, const void *what)
{
    const hot_page *page = what;
    (void)context; /* what could not be written shows when the file is finished */
    put_head(file, page);
    put_cards(file, page);
    put_warnings(file, page);
    hot_page_write_fibers(file, page);
    put_quality(file, page);
    hot_page_write_maps(file, page);
    put_input(file, page);
    put_settings(file, page);
    hot_page_write_methods(file, page);
    fputs("</main>\n<footer><p>Made by hotfiber ", file);
    hot_html_text(file, hot_version());
    fputs(". Not for diagnosis.</p></footer>\n</body></html>\n", file);
    return HOT_OK;
}

hot_status hot_run_report(hot_context *context, const char *folder, const char *background, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, folder, path);
    if (!folder || !path)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "hot_run_report: no folder, or no place for the page");
    hot_page page = {.context = context, .folder = folder};
    hot_status status = hot_page_read(&page, background);
    if (status == HOT_OK)
        status = hot_output_write(context, path, hot_page_write, &page);
    hot_page_free(&page);
    return status;
}
