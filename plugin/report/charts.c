/* Charts as SVG within the page: they take its colours, light or dark, and are sharp at any size. */
#include <math.h>

#include "page.h"

enum { WIDTH = 360, HEIGHT = 190, LEFT = 40, RIGHT = 350, TOP = 12, BOTTOM = 150 };

/* 1, 2 or 5 times a power of ten: about `steps` of them make up the range. */
static double nice_step(double range, int steps)
{
    const double raw = range / steps, power = pow(10, floor(log10(raw))), lead = raw / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static double to_x(const hot_histogram *h, double value)
{
    return LEFT + (RIGHT - LEFT) * fmin(1, fmax(0, (value - h->low) / (h->high - h->low)));
}

static void put_axes(FILE *file, const hot_histogram *axes, const char *axis, double most)
{
    char number[HOT_HTML_COUNT];
    const double step = nice_step(axes->high - axes->low, 5), up = nice_step(most, 3);
    for (double share = 0; share <= most * 1.0001; share += up) {
        const double y = BOTTOM - (BOTTOM - TOP) * share / most;
        fprintf(file, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                      "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g %%</text>\n",
                LEFT, RIGHT, y, y, LEFT - 5, y + 3.5, 100 * share);
    }
    for (double value = step * ceil(axes->low / step - 1e-9); value <= axes->high + 1e-9 * step; value += step)
        fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", to_x(axes, value), BOTTOM + 16,
                hot_html_number(number, fabs(value) < 1e-9 * step ? 0 : value));
    fprintf(file, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + RIGHT) / 2, BOTTOM + 34);
    hot_html_text(file, axis);
    fputs("</text>\n", file);
}

void hot_chart_histogram(FILE *file, const char *title, const char *axis, const hot_histogram *const *series,
                         const char *const *names, int count)
{
    double most = 0;
    char median[HOT_HTML_COUNT];
    for (int s = 0; s < count; s++)
        for (int b = 0; b < HOT_PAGE_BINS && series[s]->count > 0; b++)
            most = fmax(most, series[s]->bins[b] / series[s]->count);
    if (most == 0)
        return;
    fprintf(file, "<figure class=\"chart\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Histogram: ", WIDTH,
            HEIGHT);
    hot_html_text(file, title);
    for (int s = 0; s < count; s++)
        if (series[s]->count > 0)
            hot_html_format(file, "; %s%smedian %s", names ? names[s] : "", names ? ", " : "",
                            hot_html_number(median, series[s]->median));
    fputs("\">\n", file);
    put_axes(file, series[0], axis, most);
    for (int s = 0; s < count; s++) {
        if (!(series[s]->count > 0))
            continue;
        fprintf(file, "<path class=\"series s%d\" d=\"M%d %d", s, LEFT, BOTTOM);
        for (int b = 0; b < HOT_PAGE_BINS; b++) {
            const double width = (double)(RIGHT - LEFT) / HOT_PAGE_BINS;
            fprintf(file, "V%.1fH%.1f", BOTTOM - (BOTTOM - TOP) * series[s]->bins[b] / series[s]->count / most,
                    LEFT + (b + 1) * width);
        }
        fprintf(file, "V%dZ\"/>\n<line class=\"median s%d\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", BOTTOM, s,
                to_x(series[s], series[s]->median), to_x(series[s], series[s]->median), TOP, BOTTOM);
    }
    fputs("</svg>\n<figcaption><b>", file);
    hot_html_text(file, title);
    fputs("</b>", file);
    for (int s = 0; s < count; s++)
        if (series[s]->count > 0) {
            char number[4][HOT_HTML_COUNT];
            fprintf(file, "<br><span class=\"key s%d\"></span>", s);
            hot_html_format(file, "%s%smedian %s, 90 %% within %s to %s, %s voxels", names ? names[s] : "",
                            names ? ": " : "", hot_html_number(number[0], series[s]->median),
                            hot_html_number(number[1], series[s]->p5), hot_html_number(number[2], series[s]->p95),
                            hot_html_count(number[3], series[s]->count));
        }
    fputs("</figcaption></figure>\n", file);
}

/* ---- The response ---------------------------------------------------------------------------------------------- */

/* Sum of zonal harmonics at cos(angle) = x: Y_l0 = sqrt((2l + 1) / 4 pi) P_l. */
static double zonal(const cJSON *coefficients, double x)
{
    double before = 0, now = 1, sum = 0;
    int l = 0;
    const cJSON *c;
    cJSON_ArrayForEach(c, coefficients) {
        sum += (cJSON_IsNumber(c) ? c->valuedouble : 0) * sqrt((2 * l + 1) / 12.566370614359172) * now;
        for (int step = 0; step < 2; step++, l++) { /* Bonnet's recursion */
            const double next = ((2 * l + 1) * x * now - l * before) / (l + 1);
            before = now;
            now = next;
        }
    }
    return sum;
}

void hot_chart_response(FILE *file, const cJSON *response)
{
    const cJSON *shells = hot_json_at(response, "shells"), *shell;
    double most = 0;
    cJSON_ArrayForEach(shell, shells)
        for (int a = 0; a <= 45; a++)
            most = fmax(most, zonal(hot_json_at(shell, "coefficients"), cos(a * 0.034906585039886591)));
    if (!(most > 0) || !isfinite(most))
        return;
    fputs("<figure class=\"chart polar\"><svg viewBox=\"-110 -110 220 220\" role=\"img\" aria-label=\"The signal of a "
          "single fibre around it, a line per shell; the fibre runs from top to bottom\">\n"
          "<line class=\"fibre\" x1=\"0\" x2=\"0\" y1=\"-106\" y2=\"106\"/>\n", file);
    for (int ring = 1; ring <= 4; ring++)
        fprintf(file, "<circle class=\"grid\" r=\"%d\"/>\n", 25 * ring);
    int s = 0;
    cJSON_ArrayForEach(shell, shells) {
        fprintf(file, "<path class=\"line s%d\" d=\"", s++ % 4);
        for (int a = 0; a < 180; a++) {
            const double angle = a * 0.034906585039886591;
            const double r = 100 * fmax(0, zonal(hot_json_at(shell, "coefficients"), cos(angle))) / most;
            fprintf(file, "%c%.1f %.1f", a ? 'L' : 'M', r * sin(angle), -r * cos(angle));
        }
        fputs("Z\"/>\n", file);
    }
    fputs("</svg>\n<figcaption><b>Response</b><br>The signal of a single fibre by direction; the fibre is the upright "
          "line.", file);
    s = 0;
    cJSON_ArrayForEach(shell, shells) {
        fprintf(file, "<br><span class=\"key s%d\"></span>", s++ % 4);
        const cJSON *c = hot_json_at(shell, "coefficients");
        const double along = zonal(c, 1), across = zonal(c, 0);
        if (isfinite(hot_json_number(shell, "b")))
            hot_html_format(file, "b = %.0f: ", hot_json_number(shell, "b"));
        char number[2][HOT_HTML_COUNT];
        hot_html_format(file, "%s along, %s across", hot_html_number(number[0], along),
                        hot_html_number(number[1], across));
    }
    fputs("</figcaption></figure>\n", file);
}
