/* MRtrix's text format of responses: a row of zonal coefficients per shell, # before comments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "io/common/file_open.h"
#include "io/common/output.h"
#include "common/entry.h"
#include "model/model.h"

enum { FILE_MAX = 1 << 20, ROWS_MAX = 256, COLUMNS_MAX = 9 };

/* The comment with the strength of the data's typical single fibre relative to the response. */
static const char typical_fiber[] = "Typical fibre:";
/* The one that says how noisy the voxels were that the response is the mean of. */
static const char noise_share[] = "Noise over b=0:";

typedef struct parsed {
    size_t rows, columns, b_count;
    double b[ROWS_MAX], typical, noise;
    double values[ROWS_MAX][COLUMNS_MAX];
} parsed;

/* The whole of a small text file in the context's memory, NUL-terminated. */
static hot_status read_text(hot_context *context, const char *path, char **text)
{
    size_t length;
    hot_status status = hot_file_load(context, path, HOT_FILE_GIVEN, "a response", FILE_MAX, text, &length);
    if (status == HOT_OK && memchr(*text, '\0', length)) {
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not a response: not a short text file", path);
        hot_context_free(context, *text);
        *text = NULL;
    }
    return status;
}

/* "# Shells: 0,1000,3000", "# Typical fibre: 0.9", "# Noise over b=0: 0.05" */
static void parse_comment(const char *line, parsed *out)
{
    line += strspn(line, "# \t");
    if (strncmp(line, typical_fiber, strlen(typical_fiber)) == 0) {
        const double typical = strtod(line + strlen(typical_fiber), NULL);
        out->typical = typical > 0 && typical <= 1 ? typical : 1;
    }
    if (strncmp(line, noise_share, strlen(noise_share)) == 0) {
        const double noise = strtod(line + strlen(noise_share), NULL);
        out->noise = noise > 0 && noise < 1 ? noise : 0;
    }
    if (strncmp(line, "Shells:", 7) != 0 && strncmp(line, "shells:", 7) != 0)
        return;
    line += 7;
    out->b_count = 0;
    for (;;) {
        char *end;
        line += strspn(line, ", \t");
        const double b = strtod(line, &end);
        if (end == line || !(b >= 0) || isinf(b) || out->b_count == ROWS_MAX)
            return;
        out->b[out->b_count++] = b;
        line = end;
    }
}

static hot_status parse_row(hot_context *context, const char *path, size_t number, const char *line, parsed *out)
{
    size_t columns = 0;
    if (out->rows == ROWS_MAX)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has more than %d rows; a response has one per shell",
                                path, ROWS_MAX);
    for (;;) {
        char *end;
        line += strspn(line, ", \t");
        if (*line == '\0' || *line == '#')
            break;
        const double value = strtod(line, &end);
        if (end == line || !isfinite(value))
            return hot_context_fail(context, HOT_ERROR_FORMAT,
                                    "'%s', line %zu: '%.20s' is not a number; a response is rows of zonal harmonic "
                                    "coefficients", path, number, line);
        if (columns == COLUMNS_MAX)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s', line %zu: more than %d coefficients (lmax %d)",
                                    path, number, COLUMNS_MAX, 2 * (COLUMNS_MAX - 1));
        out->values[out->rows][columns++] = value;
        line = end;
    }
    if (columns == 0)
        return HOT_OK;
    if (out->rows > 0 && columns != out->columns)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s', line %zu: %zu coefficients, the rows above have %zu", path, number, columns,
                                out->columns);
    out->columns = columns;
    out->rows++;
    return HOT_OK;
}

hot_status hot_response_load(hot_context *context, const char *path, hot_response **response)
{
    HOT_ENTRY(context);
    HOT_CLEAR(response);
    HOT_NEED(context, path, response);
    if (!path || !response)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "hot_response_load needs a path and a place for the response");
    char *text = NULL;
    parsed *out = NULL;
    hot_status status = read_text(context, path, &text);
    if (status != HOT_OK)
        return status;
    out = hot_context_calloc(context, 1, sizeof *out);
    if (!out) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    size_t number = 0;
    out->typical = 1;
    for (char *line = text; *line && status == HOT_OK;) {
        const size_t length = strcspn(line, "\r\n");
        const int last = line[length] == '\0';
        line[length] = '\0';
        number++;
        if (line[strspn(line, " \t")] == '#')
            parse_comment(line, out);
        else
            status = parse_row(context, path, number, line, out);
        line += length + !last;
    }
    if (status == HOT_OK && out->rows == 0)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has no row of numbers; a response has one per shell",
                                  path);
    if (status == HOT_OK)
        status = hot_response_make(context, out->rows, 2 * (int)(out->columns - 1), response);
    if (status != HOT_OK)
        goto cleanup;
    (*response)->typical = out->typical;
    (*response)->noise = out->noise;
    for (size_t r = 0; r < out->rows; r++) {
        if (out->b_count == out->rows)
            (*response)->b[r] = out->b[r];
        memcpy((*response)->rows + r * out->columns, out->values[r], out->columns * sizeof(double));
    }
cleanup:
    HOT_FREE(context, out, text);
    return status;
}

hot_status hot_response_load_tissues(hot_context *context, const char *paths,
                                     hot_response *responses[HOT_TISSUES_MAX], size_t *count)
{
    HOT_ENTRY(context);
    HOT_NEED(context, paths, responses, count);
    hot_status status = HOT_OK;
    size_t made = 0;
    for (const char *at = paths; status == HOT_OK;) {
        const size_t length = strcspn(at, ",");
        char *path = made < HOT_TISSUES_MAX ? hot_context_alloc(context, length + 1, 1) : NULL;
        if (made == HOT_TISSUES_MAX) {
            status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "'%s' names more than %d responses", paths,
                                      HOT_TISSUES_MAX);
        } else if (!path) {
            status = HOT_ERROR_MEMORY;
        } else {
            memcpy(path, at, length);
            path[length] = '\0';
            status = hot_response_load(context, path, &responses[made]);
            made += status == HOT_OK;
        }
        hot_context_free(context, path);
        if (!at[length])
            break;
        at += length + 1;
    }
    while (status != HOT_OK && made > 0)
        hot_response_destroy(&responses[--made]);
    *count = made;
    return status;
}

static hot_status put_response(hot_context *context, FILE *file, const void *what)
{
    const hot_response *response = what;
    int known = 1;
    (void)context;
    for (size_t s = 0; s < response->shells; s++)
        known &= !isnan(response->b[s]);
    fprintf(file, response->lmax > 0
                      ? "# hotfiber %s: single-fibre response, zonal harmonics l = 0, 2, ... of each shell\n"
                      : "# hotfiber %s: response of an isotropic tissue, harmonic of degree 0 of each shell\n",
            hot_version());
    if (known) {
        fputs("# Shells: ", file);
        for (size_t s = 0; s < response->shells; s++)
            fprintf(file, "%s%.10g", s ? "," : "", response->b[s]);
        fputc('\n', file);
    }
    if (response->typical < 1)
        fprintf(file, "# %s %.17g\n", typical_fiber, response->typical);
    if (response->noise > 0)
        fprintf(file, "# %s %.17g\n", noise_share, response->noise);
    for (size_t s = 0; s < response->shells; s++) {
        const double *row = hot_response_row(response, s, NULL);
        for (int l = 0; l <= response->lmax; l += 2)
            fprintf(file, "%s%.12g", l ? " " : "", row[l / 2]);
        fputc('\n', file);
    }
    return HOT_OK;
}

hot_status hot_response_save(hot_context *context, const hot_response *response, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, response, path);
    if (!response || !path)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "hot_response_save needs a response and a path");
    return hot_output_write(context, path, put_response, response);
}
