/* The sections of the page that are seen: fibres, how many and how long, and the maps. */
#include <math.h>
#include <string.h>

#include "core/likeness.h"
#include "page.h"

static const double THIN = 1 / 12.; /* short over long side of a plane that is left out */

void hot_page_write_plane(FILE *file, const hot_panel *panel, const hot_png *png, double width, double height,
                          int large,
                        const char *what, const char *caption)
{
    static const char sides[4] = {'l', 'r', 't', 'u'};
    char alt[200], size[120];
    snprintf(alt, sizeof alt, "%s, %s slice; %s is to the left, %s at the top", what, panel->name, panel->letters[0],
             panel->letters[2]);
    snprintf(size, sizeof size, "style=\"aspect-ratio:%.4g/%.4g\" loading=\"lazy\"%s", width, height,
             large ? "" : " class=\"pixels\"");
    fprintf(file, "<figure class=\"plane\" style=\"max-width:%.0fpx;flex-grow:%.3g;--ratio:%.4g\">"
            "<div class=\"frame\">", 520 * fmin(1.6, width / height) + 40, width / height, width / height);
    hot_html_image(file, png, size, alt);
    for (int side = 0; side < 4; side++)
        fprintf(file, "<i class=\"%c\" aria-hidden=\"true\">%s</i>", sides[side], panel->letters[side]);
    fputs("</div><figcaption>", file);
    hot_html_format(file, "%s", caption);
    fputs("</figcaption></figure>\n", file);
}

int hot_page_is_thin(const hot_page *page, int plane)
{
    double most = 0, ratio[HOT_PAGE_PLANES];
    for (int p = 0; p < HOT_PAGE_PLANES; p++) {
        const hot_panel *panel = &page->layout.panels[p];
        ratio[p] = fmin(panel->width / panel->height, panel->height / panel->width);
        most = fmax(most, ratio[p]);
    }
    return ratio[plane] < THIN && most >= THIN;
}

void hot_page_write_planes(FILE *file, const hot_page *page, const hot_png *planes, int large,
                         const char *what)
{
    static const int order[HOT_PAGE_PLANES] = {2, 0, 1}; /* axial, coronal, sagittal */
    int shown = 0;
    for (int p = 0; p < HOT_PAGE_PLANES; p++)
        shown += planes[p].bytes && !hot_page_is_thin(page, p);
    fprintf(file, "<div class=\"planes%s\">\n", !large ? "" : shown == HOT_PAGE_PLANES ? " large" : " single");
    for (int i = 0; i < HOT_PAGE_PLANES; i++) {
        const hot_panel *panel = &page->layout.panels[order[i]];
        char caption[80];
        if (!planes[order[i]].bytes || hot_page_is_thin(page, order[i]))
            continue;
        snprintf(caption, sizeof caption, "%s, slice %zu of %zu", panel->name, panel->slice + 1,
                 page->grid.size[panel->through]);
        hot_page_write_plane(file, panel, &planes[order[i]], panel->width, panel->height, large, what, caption);
    }
    fputs("</div>\n", file);
}

static void put_shares(FILE *file, const hot_page *page)
{
    static const char *const names[] = {"no fibre", "one", "two", "three", "more"};
    double all = 0;
    for (int n = 0; n < 5; n++)
        all += page->fibers_of[n];
    if (all == 0)
        return;
    fputs("<h3>How many fibres</h3>\n<div class=\"share\" aria-hidden=\"true\">", file);
    for (int n = 0; n < 5; n++)
        fprintf(file, "<span style=\"width:%.4g%%;background:#%06x\"></span>", 100 * page->fibers_of[n] / all,
                (unsigned)hot_page_number_color(n));
    fputs("</div>\n<ul class=\"legend\">", file);
    for (int n = 0; n < 5; n++) {
        char number[HOT_HTML_COUNT];
        if (page->fibers_of[n] == 0 && n == 4)
            continue;
        fprintf(file, "<li><span class=\"key\" style=\"background:#%06x\"></span>%s: ",
                (unsigned)hot_page_number_color(n), names[n]);
        hot_html_format(file, "%s (%.1f %%)", hot_html_count(number, page->fibers_of[n]),
                        100 * page->fibers_of[n] / all);
        fputs("</li>", file);
    }
    fputs("</ul>\n", file);
    hot_page_write_planes(file, page, page->numbers, 0, "Number of fibres per voxel");
}

static void put_tissues(FILE *file, const hot_page *page)
{
    const cJSON *tissues = hot_json_at(hot_json_at(page->json, "counts"), "tissues");
    const double csf = hot_json_number(tissues, "csf"), grey = hot_json_number(tissues, "grey");
    const double in_csf = hot_json_number(tissues, "csf_with_fibers") / csf;
    const double two = hot_json_number(tissues, "grey_with_two") / grey;
    char number[HOT_HTML_COUNT];
    if (!(hot_json_number(tissues, "b") > 0)) {
        fputs("<p class=\"soft\">How many fibres are in CSF and grey matter is not known: that takes a tensor of b = "
              "1500 or below.</p>\n", file);
        return;
    }
    fputs("<p>Where few fibres are expected: ", file);
    if (csf > 0)
        hot_html_format(file, "%.1f %% of %s voxels like CSF (mean diffusivity above 0.002 mm\xc2\xb2/s) have a "
                        "fibre. ", 100 * in_csf, hot_html_count(number, csf));
    if (grey > 0)
        hot_html_format(file, "%.1f %% of %s voxels like grey matter (FA below 0.15) have two or more.", 100 * two,
                        hot_html_count(number, grey));
    fputs(csf > 0 || grey > 0 ? "</p>\n" : "no voxel is like CSF or grey matter.</p>\n", file);
    if ((csf >= HOT_MIN_LIKE && in_csf > HOT_MAX_IN_CSF) || (grey >= HOT_MIN_LIKE && two > HOT_MAX_TWO_IN_GREY))
        fputs("<p class=\"odd\">That is more than in good scans of people. The usual causes are data that were "
              "denoised, interpolated or smoothed before, low SNR, and motion.</p>\n", file);
}

void hot_page_write_fibers(FILE *file, const hot_page *page)
{
    static const char *const names[] = {"first", "second", "third"};
    const int anatomy = page->grid.space != HOT_SPACE_UNKNOWN;
    const cJSON *settings = hot_json_at(page->json, "settings");
    const char *method = hot_json_text(settings, "method");
    const int fractions = strcmp(method, "signal") == 0 || strcmp(method, "lowrank") == 0;
    fputs("<section id=\"fibres\"><h2>Fibres</h2>\n", file);
    if (!page->fibers) {
        fputs("<p class=\"soft\">No directions are in the folder: peaks.nrrd or peaks.nii.gz is what the pictures are "
              "made from.</p></section>\n", file);
        return;
    }
    if (page->sticks[0].bytes)
        hot_page_write_planes(file, page, page->sticks, 1, "Fibre directions as sticks");
    fprintf(file, "<p class=\"soft\">A stick per fibre, as long as the fibre's peak, over %s.%s %s</p>\n",
            page->drawn_on,
            page->fibers->certainty ? " Here and below fibres are fainter the less certain they are, in number or in "
                                      "direction." : "",
            anatomy ? "Red runs left-right, green front-back, blue up-down. The patient's right is on the left."
                    : "Red is x, green y, blue z of the file, which does not say where the patient lies.");
    if (hot_page_is_thin(page, 0) || hot_page_is_thin(page, 1) || hot_page_is_thin(page, 2))
        fputs("<p class=\"soft\">Only a few slices: views from the side are left out.</p>\n", file);
    hot_page_write_glyphs(file, page);
    fputs("<h3>Directions as colours</h3>\n", file);
    hot_page_write_planes(file, page, page->colors, 0, "Fibre directions as colours");
    put_shares(file, page);
    put_tissues(file, page);
    fputs("<h3>Lengths and angles</h3>\n<div class=\"charts\">\n", file);
    hot_chart_histogram(file, fractions ? "Volume fraction" : "Length of the fibres",
                        fractions ? "fraction of the voxel's signal" : "height of the tensor's form",
                        (const hot_histogram *const[]){&page->lengths[0], &page->lengths[1], &page->lengths[2]}, names,
                        HOT_PAGE_SERIES);
    hot_chart_histogram(file, "Angle between the first two fibres", "degrees",
                        (const hot_histogram *const[]){&page->angles}, NULL, 1);
    fputs("</div></section>\n", file);
}

static void put_ramp(FILE *file, const hot_page_map *map)
{
    char number[HOT_HTML_COUNT];
    fputs("<div class=\"ramp\"><span>", file);
    hot_html_format(file, "%s", hot_html_number(number, map->histogram.low));
    fputs("</span><i style=\"background:linear-gradient(90deg", file);
    for (int stop = 0; stop <= 5; stop++)
        fprintf(file, ",#%06x", (unsigned)hot_page_ramp(map->kind->gray, stop / 5.));
    fputs(")\"></i><span>", file);
    hot_html_format(file, "%s%s%s", hot_html_number(number, map->histogram.high),
                    map->kind->unit[0] ? " " : "", map->kind->unit);
    fputs("</span></div>\n", file);
}

void hot_page_write_maps(FILE *file, const hot_page *page)
{
    fputs("<section id=\"maps\"><h2>Maps</h2>\n", file);
    if (page->map_count == 0)
        fputs("<p class=\"soft\">No maps are in the folder; <code>run --outputs default,maps</code> leaves FA, MD and "
              "those of the fODF.</p>\n", file);
    for (int m = 0; m < page->map_count; m++) {
        const hot_page_map *map = &page->maps[m];
        const hot_histogram *const series[] = {&map->histogram};
        fputs("<div class=\"map\"><h3>", file);
        hot_html_format(file, "%s", map->kind->title);
        fputs("</h3>\n<p class=\"soft\">", file);
        hot_html_format(file, "%s: %s. Values are of voxels %s.", map->kind->file, map->kind->about, page->inside_is);
        fputs("</p>\n", file);
        if (!(map->histogram.count > 0)) {
            fputs("<p>No voxel has a value.</p></div>\n", file);
            continue;
        }
        fputs("<div class=\"pair\"><div>", file);
        if (map->plane[0].bytes) {
            hot_page_write_planes(file, page, map->plane, 0, map->kind->title);
            put_ramp(file, map);
        } else {
            fputs("<p class=\"soft\">Its picture is left out: the page would become too large.</p>\n", file);
        }
        fputs("</div>\n", file);
        hot_chart_histogram(file, map->kind->title, map->kind->unit[0] ? map->kind->unit : map->kind->title, series,
                            NULL, 1);
        fputs("</div></div>\n", file);
    }
    fputs("</section>\n", file);
}
