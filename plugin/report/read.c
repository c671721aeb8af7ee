/* Reads the results of a run. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/grid_match.h"
#include "core/image.h"
#include "common/foreign_text.h"
#include "dwi/summary.h"
#include "io/field_file.h"
#include "page.h"

const cJSON *hot_json_at(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

double hot_json_number(const cJSON *object, const char *name)
{
    const cJSON *item = hot_json_at(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

const char *hot_json_text(const cJSON *object, const char *name)
{
    const cJSON *item = hot_json_at(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

char *hot_page_path(const hot_page *page, const char *name)
{
    const size_t size = strlen(page->folder) + strlen(name) + 2;
    char *path = hot_context_alloc(page->context, size, 1);
    if (path)
        snprintf(path, size, "%s/%s", page->folder, name);
    return path;
}

hot_status hot_page_recover(hot_page *page, hot_status status)
{
    if (status == HOT_OK || status == HOT_ERROR_MEMORY || status == HOT_ERROR_CANCELLED)
        return status;
    cJSON_AddItemToArray(page->problems, cJSON_CreateString(hot_context_message(page->context)));
    return HOT_OK;
}

/* ---- Histograms ------------------------------------------------------------------------------------------------ */

static float quantile(float *values, size_t count, double share)
{
    return hot_sorted_at(values, count, (size_t)(share * (double)(count - 1)));
}

void hot_histogram_make(float *values, size_t count, double low, double high, hot_histogram *histogram)
{
    size_t n = 0;
    memset(histogram, 0, sizeof *histogram);
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            values[n++] = values[i];
    if (n == 0)
        return;
    histogram->count = (double)n;
    histogram->median = hot_sorted_at(values, n, n / 2);
    histogram->p5 = quantile(values, n, .05);
    histogram->p95 = quantile(values, n, .95);
    if (!(low < high)) {
        low = quantile(values, n, 0) >= 0 ? 0 : quantile(values, n, .005);
        high = quantile(values, n, .995);
        if (!(low < high))
            high = low + fmax(1e-12, fabs(low));
    }
    histogram->low = low;
    histogram->high = high;
    for (size_t i = 0; i < n; i++) {
        const double at = HOT_PAGE_BINS * (values[i] - low) / (high - low);
        histogram->bins[at > 0 ? at < HOT_PAGE_BINS ? (int)at : HOT_PAGE_BINS - 1 : 0]++;
    }
}

/* ---- Files ----------------------------------------------------------------------------------------------------- */

hot_status hot_page_values(hot_page *page, const char *path, int largest, float **values)
{
    enum { CHUNK = 4096 };
    hot_context *context = page->context;
    hot_image image;
    size_t *index = NULL;
    float *read = NULL, *all = NULL, *chunk = NULL;
    const size_t voxels = hot_grid_voxels(&page->grid);
    *values = NULL;
    hot_status status = hot_image_load_all(context, path, &image);
    const size_t own = status == HOT_OK ? hot_grid_voxels(&image.grid) : 0;
    if (status == HOT_OK)
        status = hot_grid_match(context, "image", path, &image.grid, "the run", &page->grid, &index);
    if (status == HOT_OK) {
        read = hot_context_alloc(context, own, sizeof *read);
        all = index ? hot_context_alloc(context, voxels, sizeof *all) : read;
        chunk = hot_context_alloc(context, CHUNK, image.values * sizeof *chunk);
        status = read && all && chunk ? HOT_OK : HOT_ERROR_MEMORY;
    }
    for (size_t first = 0; first < own && status == HOT_OK; first += CHUNK) {
        const size_t count = own - first < CHUNK ? own - first : CHUNK;
        status = hot_image_values(&image, first, count, chunk);
        for (size_t v = 0; v < count && status == HOT_OK; v++) {
            const float *row = chunk + v * image.values;
            float value = row[0];
            for (size_t n = 1; largest && n < image.values; n++)
                value = row[n] > value ? row[n] : value;
            read[first + v] = value;
        }
    }
    for (size_t v = 0; index && v < voxels && status == HOT_OK; v++)
        all[v] = index[v] == HOT_OUTSIDE ? NAN : read[index[v]];
    if (all != read)
        hot_context_free(context, read);
    if (status == HOT_OK)
        *values = all;
    else
        hot_context_free(context, all);
    HOT_FREE(context, chunk, index);
    hot_image_close(&image);
    return status;
}

/* Limits of the page: members of an object or list, bytes of a text, lines of the log of each level and bytes of these
 * together. With the pictures a page stays below 5 MB. */
enum { MAX_MEMBERS = 100, MAX_TEXT = 1000, MAX_LINES = 100, MAX_LOG = 20000 };

static void cut_text(cJSON *item)
{
    char end[80];
    const size_t length = strlen(item->valuestring);
    if (length <= MAX_TEXT)
        return;
    size_t at = 0;
    for (size_t bytes; at < MAX_TEXT - sizeof end; at += bytes ? bytes : 1)
        bytes = hot_utf8_character((const unsigned char *)item->valuestring + at);
    const int count = snprintf(end, sizeof end, " ... (%zu bytes; report.json has them all)", length);
    memcpy(item->valuestring + at, end, (size_t)count + 1);
}

/* Lines of one level of the log; omitted lines are counted. */
static void cut_log(cJSON *log, const char *level)
{
    char text[100];
    size_t lines = 0, bytes = 0, left = 0;
    for (cJSON *line = log->child, *next; line; line = next) {
        next = line->next;
        if (strcmp(hot_json_text(line, "level"), level) != 0)
            continue;
        bytes += strlen(hot_json_text(line, "text"));
        if (++lines <= MAX_LINES && bytes <= MAX_LOG)
            continue;
        left++;
        cJSON_Delete(cJSON_DetachItemViaPointer(log, line));
    }
    if (left == 0)
        return;
    snprintf(text, sizeof text, "and %zu more %ss, which report.json has", left, level);
    cJSON *last = cJSON_CreateObject();
    cJSON_AddStringToObject(last, "level", level);
    cJSON_AddStringToObject(last, "text", text);
    cJSON_AddItemToArray(log, last);
}

static void cut(cJSON *object)
{
    char text[80];
    size_t members = 0, left = 0;
    const int texts = cJSON_IsArray(object) && cJSON_IsString(object->child);
    for (cJSON *item = object->child, *next; item; item = next) {
        next = item->next;
        if (item->string && strlen(item->string) > MAX_TEXT)
            item->string[MAX_TEXT] = '\0';
        if (cJSON_IsString(item))
            cut_text(item);
        if (item->string && strcmp(item->string, "log") == 0 && cJSON_IsArray(item)) {
            cJSON *line;
            cJSON_ArrayForEach(line, item)
                cut(line);
            cut_log(item, "warning");
            cut_log(item, "note");
        } else
            cut(item);
        if (++members > MAX_MEMBERS) {
            left++;
            cJSON_Delete(cJSON_DetachItemViaPointer(object, item));
        }
    }
    snprintf(text, sizeof text, "and %zu more, which report.json has", left);
    if (texts && left > 0)
        cJSON_AddItemToArray(object, cJSON_CreateString(text));
}

static hot_status read_json(hot_page *page)
{
    char *path = hot_page_path(page, "report.json");
    if (!path)
        return HOT_ERROR_MEMORY;
    hot_status status = access(path, F_OK) == 0 ? hot_report_load(page->context, path, &page->json)
        : hot_context_fail(page->context, HOT_ERROR_FILE,
                           "'%s' is not the result of a run: it has no report.json; `hotfiber run -o DIR` makes one",
                           page->folder);
    if (status == HOT_OK && hot_json_text(page->json, "hotfiber")[0] == '\0')
        status = hot_context_fail(page->context, HOT_ERROR_FORMAT, "'%s' is not a report.json of hotfiber", path);
    if (status == HOT_OK)
        cut(page->json);
    hot_context_free(page->context, path);
    return status;
}

static hot_status read_fibers(hot_page *page)
{
    static const char *const names[] = {"peaks.nrrd", "peaks.nii.gz"};
    hot_status status = HOT_OK;
    for (int i = 0; i < 2 && !page->fibers && status == HOT_OK; i++) {
        char *path = hot_page_path(page, names[i]);
        if (!path)
            return HOT_ERROR_MEMORY;
        if (access(path, F_OK) == 0)
            status = hot_page_recover(page, hot_fiber_field_load(page->context, path, &page->fibers));
        hot_context_free(page->context, path);
    }
    if (status == HOT_OK && page->fibers)
        status = hot_page_recover(page, hot_run_folder_certainty(page->context, page->folder, page->fibers));
    if (page->fibers)
        page->grid = page->fibers->grid;
    return status;
}

/* Where there are no fibres, the mask or the first image says how voxels lie. */
static hot_status read_grid(hot_page *page)
{
    static const char *const names[] = {"mask.nii.gz", "nfibers.nii.gz", "fa.nii.gz", "b0.nii.gz"};
    hot_status status = HOT_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && page->grid.size[0] == 0 && status == HOT_OK; i++) {
        hot_image image;
        char *path = hot_page_path(page, names[i]);
        if (!path)
            return HOT_ERROR_MEMORY;
        if (access(path, F_OK) == 0) {
            status = hot_image_open(page->context, path, &image);
            if (status == HOT_OK)
                page->grid = image.grid;
            hot_image_close(&image);
            status = hot_page_recover(page, status);
        }
        hot_context_free(page->context, path);
    }
    return status;
}

/* The run's mask; without it the voxels with fibres, or all. */
static hot_status read_mask(hot_page *page)
{
    const size_t voxels = hot_grid_voxels(&page->grid);
    float *mask = NULL;
    char *path = hot_page_path(page, "mask.nii.gz");
    page->inside = hot_context_alloc(page->context, voxels, 1);
    hot_status status = path && page->inside ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK && access(path, F_OK) == 0)
        status = hot_page_recover(page, hot_page_values(page, path, 0, &mask));
    for (size_t v = 0; v < voxels && status == HOT_OK; v++)
        page->inside[v] = mask ? mask[v] > 0 : page->fibers ? page->fibers->counts[v] > 0 : 1;
    page->inside_is = mask ? "in the mask" : page->fibers ? "with a fibre" : "of the volume";
    HOT_FREE(page->context, mask, path);
    return status;
}

/* Lengths of the fibres, the angle between the first two, how many there are. */
static hot_status count_fibers(hot_page *page)
{
    const hot_fiber_field *fibers = page->fibers;
    const size_t voxels = hot_grid_voxels(&page->grid), row = 3 * (size_t)fibers->max_fibers;
    float *values = hot_context_alloc(page->context, voxels, (HOT_PAGE_SERIES + 1) * sizeof *values);
    size_t count[HOT_PAGE_SERIES + 1] = {0};
    if (!values)
        return HOT_ERROR_MEMORY;
    for (size_t v = 0; v < voxels; v++) {
        const float *first = fibers->peaks + v * row;
        const int found = fibers->counts[v];
        if (page->inside[v])
            page->fibers_of[found < 4 ? found : 4]++;
        double length[HOT_PAGE_SERIES] = {0}, dot = 0;
        for (int n = 0; n < found && n < HOT_PAGE_SERIES; n++) {
            const float *p = first + 3 * n;
            length[n] = sqrt((double)p[0] * p[0] + (double)p[1] * p[1] + (double)p[2] * p[2]);
            values[(size_t)n * voxels + count[n]++] = (float)length[n];
        }
        for (int d = 0; d < 3 && found > 1; d++)
            dot += (double)first[d] * first[3 + d] / (length[0] * length[1]);
        if (found > 1)
            values[HOT_PAGE_SERIES * voxels + count[HOT_PAGE_SERIES]++] =
                (float)(57.29577951308232 * acos(fmin(1, fabs(dot))));
    }
    double high = 0; /* one axis for all of them */
    for (int n = 0; n < HOT_PAGE_SERIES; n++) {
        hot_histogram_make(values + (size_t)n * voxels, count[n], 0, high, &page->lengths[n]);
        high = fmax(high, page->lengths[n].high);
    }
    hot_histogram_make(values + HOT_PAGE_SERIES * voxels, count[HOT_PAGE_SERIES], 0, 90, &page->angles);
    hot_context_free(page->context, values);
    return hot_context_check(page->context, "counting fibres");
}

hot_status hot_page_read(hot_page *page, const char *background)
{
    hot_context *context = page->context;
    page->problems = cJSON_CreateArray();
    hot_status status = page->problems ? read_json(page) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_context_progress(context, "reading the run", 0);
    if (status == HOT_OK)
        status = read_fibers(page);
    if (status == HOT_OK)
        status = read_grid(page);
    if (status != HOT_OK || page->grid.size[0] == 0)
        return status;
    if ((status = read_mask(page)) != HOT_OK)
        return status;
    hot_picture_lay_out(&page->grid, page->inside, &page->layout);
    if (page->fibers)
        status = count_fibers(page);
    if (status == HOT_OK)
        status = hot_page_read_maps(page);
    if (status == HOT_OK)
        status = hot_page_draw(page, background);
    return status == HOT_OK ? hot_context_progress(context, "reading the run", 1) : status;
}

void hot_page_free(hot_page *page)
{
    for (int p = 0; p < HOT_PAGE_PLANES; p++) {
        hot_png_free(&page->sticks[p]);
        hot_png_free(&page->colors[p]);
        hot_png_free(&page->numbers[p]);
        hot_png_free(&page->glyphs[p]);
        for (int m = 0; m < page->map_count; m++)
            hot_png_free(&page->maps[m].plane[p]);
    }
    hot_context_free(page->context, page->inside);
    hot_fiber_field_destroy(&page->fibers);
    cJSON_Delete(page->json);
    cJSON_Delete(page->problems);
}
