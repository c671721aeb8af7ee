#include "response_keys.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "nrrd_image.h"

hot_status hot_nrrd_find_key(hot_context *context, const Nrrd *nrrd, const char *key, char **text)
{
    *text = hot_nrrd_get_key(context, nrrd, key);
    char *there = *text ? NULL : nrrdKeyValueGet(nrrd, key); /* absent, or no memory to copy it? */
    hot_status status = there ? HOT_ERROR_MEMORY : HOT_OK;
    airFree(there);
    return status;
}

/* Numbers to text and back exactly; rows are separated by ';'. */
static hot_status set_number_key(hot_context *context, Nrrd *nrrd, const char *key, const double *numbers, size_t rows,
                                 size_t columns)
{
    enum { CAPACITY = 32 };
    char *text = hot_context_alloc(context, rows * columns + 1, CAPACITY);
    size_t at = 0;
    if (!text)
        return HOT_ERROR_MEMORY;
    text[0] = '\0';
    for (size_t i = 0; i < rows * columns; i++)
        at += (size_t)snprintf(text + at, CAPACITY, "%s%.17g", i == 0 ? "" : i % columns == 0 ? " ; " : " ",
                       numbers[i]);
    hot_status status = hot_nrrd_set_key(context, nrrd, key, text);
    hot_context_free(context, text);
    return status;
}

hot_status hot_nrrd_set_response(hot_context *context, Nrrd *nrrd, const hot_response *response)
{
    if (!response)
        return HOT_OK;
    hot_status status = set_number_key(context, nrrd, "hotfiber_response", response->rows, response->shells,
                                       (size_t)response->lmax / 2 + 1);
    if (status == HOT_OK)
        status = set_number_key(context, nrrd, "hotfiber_response_b", response->b, 1, response->shells);
    if (status == HOT_OK && response->typical < 1)
        status = set_number_key(context, nrrd, "hotfiber_response_typical", &response->typical, 1, 1);
    if (status == HOT_OK && response->noise > 0)
        status = set_number_key(context, nrrd, "hotfiber_response_noise", &response->noise, 1, 1);
    return status;
}

/* Reads numbers separated by spaces, rows by ';'. numbers NULL = only counts. 0 when the text is something else. */
static int read_rows(const char *text, size_t *rows, size_t *columns, double *numbers)
{
    size_t count = 0, in_row = 0;
    *rows = 1, *columns = 0;
    for (;;) {
        while (isspace((unsigned char)*text))
            text++;
        if (*text == ';' || !*text) {
            if (in_row == 0 || (*columns && in_row != *columns))
                return 0;
            *columns = in_row;
            if (!*text++)
                return 1;
            in_row = 0;
            ++*rows;
            continue;
        }
        char *end;
        double number = strtod(text, &end);
        if (end == text)
            return 0;
        if (numbers)
            numbers[count] = number;
        count++, in_row++;
        text = end;
    }
}

/* *value: the number of a key's text, `otherwise` without the key. noise: from 0 to below 1; else above 0 and up to
 * 1. */
static hot_status read_share(hot_context *context, const char *path, const char *text, int is_noise, double otherwise,
                             double *value)
{
    *value = text ? strtod(text, NULL) : otherwise;
    if (is_noise ? *value >= 0 && *value < 1 : *value > 0 && *value <= 1)
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_FORMAT,
                            is_noise ? "'%s': key hotfiber_response_noise is not a number from 0 to below 1"
                                   : "'%s': key hotfiber_response_typical is not a number above 0 and up to 1", path);
}

hot_status hot_nrrd_get_response(hot_context *context, const char *path, const Nrrd *nrrd, hot_response **response)
{
    hot_response *made = NULL;
    size_t rows, columns, b_rows, b_columns;
    double typical = 1, noise = 0;
    char *text = NULL, *b_text = NULL, *typical_text = NULL, *noise_text = NULL;
    hot_status status = hot_nrrd_find_key(context, nrrd, "hotfiber_response", &text);
    if (status == HOT_OK && text)
        status = hot_nrrd_find_key(context, nrrd, "hotfiber_response_b", &b_text);
    if (status == HOT_OK && text)
        status = hot_nrrd_find_key(context, nrrd, "hotfiber_response_typical", &typical_text);
    if (status == HOT_OK && text)
        status = hot_nrrd_find_key(context, nrrd, "hotfiber_response_noise", &noise_text);
    if (status != HOT_OK || !text)
        goto cleanup;
    if (!read_rows(text, &rows, &columns, NULL) || columns > 64 ||
        (b_text && (!read_rows(b_text, &b_rows, &b_columns, NULL) || b_rows != 1 || b_columns != rows))) {
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s': keys hotfiber_response and hotfiber_response_b do not hold a row of numbers "
                                  "and a b-value per shell", path);
        goto cleanup;
    }
    if ((status = read_share(context, path, typical_text, 0, 1, &typical)) != HOT_OK ||
        (status = read_share(context, path, noise_text, 1, 0, &noise)) != HOT_OK)
        goto cleanup;
    status = HOT_ERROR_MEMORY;
    made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        goto cleanup;
    *made = (hot_response){.context = context, .shells = rows, .typical = typical, .noise = noise,
                           .lmax = 2 * ((int)columns - 1)};
    made->rows = hot_context_alloc(context, rows * columns, sizeof *made->rows);
    made->b = hot_context_alloc(context, rows, sizeof *made->b);
    if (!made->rows || !made->b)
        goto cleanup;
    for (size_t shell = 0; shell < rows; shell++)
        made->b[shell] = NAN;
    read_rows(text, &rows, &columns, made->rows);
    if (b_text)
        read_rows(b_text, &b_rows, &b_columns, made->b);
    *response = made;
    made = NULL;
    status = HOT_OK;
cleanup:
    hot_response_destroy(&made);
    HOT_FREE(context, text, b_text, typical_text, noise_text);
    return status;
}
