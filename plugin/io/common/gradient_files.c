/* FSL's bval and bvec files: numbers separated by white space or commas, one volume per column (or per line). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gradient_files.h"

/* One line of text: its numbers appended to `numbers` (which may be NULL, to count). Returns how many; -1 and *at when
 * something is no number. */
static long line_numbers(const char *line, const char *end, double *numbers, const char **at)
{
    long count = 0;
    for (;;) {
        while (line < end &&
               (*line == ' ' || *line == '\t' || *line == ',' || *line == '\r' || *line == '\v' || *line == '\f'))
            line++;
        if (line == end || *line == '#')
            return count;
        char *after;
        double value = strtod(line, &after);
        if (after == line || after > end) {
            *at = line;
            return -1;
        }
        if (numbers)
            numbers[count] = value;
        count++;
        line = after;
    }
}

hot_status hot_table_parse(hot_context *context, const char *name, const char *text, double **values, size_t *rows,
                           size_t *columns)
{
    size_t total = 0;
    *values = NULL;
    *rows = *columns = 0;
    for (int fill = 0; fill < 2; fill++) {
        size_t row = 0, number = 1, used = 0;
        for (const char *line = text; *line; number++) {
            const char *end = line + strcspn(line, "\n"), *at = NULL;
            long count = line_numbers(line, end, fill ? *values + used : NULL, &at);
            if (count < 0)
                return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s', line %zu: '%.*s' is not a number", name,
                                        number, (int)strcspn(at, " \t\r\n,") < 40 ? (int)strcspn(at, " \t\r\n,") : 40,
                                        at);
            if (count > 0) {
                if (row && (size_t)count != *columns)
                    return hot_context_fail(context, HOT_ERROR_FORMAT,
                                            "'%s', line %zu has %ld numbers, the lines before it %zu", name, number,
                                            count, *columns);
                *columns = (size_t)count;
                row++;
                used += (size_t)count;
            }
            line = *end ? end + 1 : end;
        }
        *rows = row;
        total = used;
        if (!fill) {
            if (total == 0)
                return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds no numbers", name);
            *values = hot_context_alloc(context, total, sizeof **values);
            if (!*values)
                return HOT_ERROR_MEMORY;
        }
    }
    return HOT_OK;
}

hot_status hot_bval_parse(hot_context *context, const char *name, const char *text, double **b, size_t *count)
{
    size_t rows, columns;
    hot_status status = hot_table_parse(context, name, text, b, &rows, &columns);
    if (status == HOT_OK && rows != 1 && columns != 1) {
        hot_context_free(context, *b);
        *b = NULL;
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' has %zu lines of %zu numbers; b-values are one line or one column", name, rows,
                                columns);
    }
    *count = rows * columns;
    return status;
}

hot_status hot_bvec_parse(hot_context *context, const char *name, const char *text, double **vectors, size_t *count)
{
    size_t rows, columns;
    double *table = NULL;
    *vectors = NULL;
    *count = 0;
    hot_status status = hot_table_parse(context, name, text, &table, &rows, &columns);
    if (status != HOT_OK)
        return status;
    if (rows != 3 && columns != 3) {
        status = hot_context_fail(
            context, HOT_ERROR_FORMAT,
            "'%s' has %zu lines of %zu numbers; vectors are 3 lines (x, y, z), or lines of 3 numbers", name, rows,
            columns);
        hot_context_free(context, table);
        return status;
    }
    if (rows == 3) { /* FSL's layout, also when there are just three volumes */
        double *turned = hot_context_alloc(context, columns, 3 * sizeof *turned);
        if (!turned) {
            hot_context_free(context, table);
            return HOT_ERROR_MEMORY;
        }
        for (size_t v = 0; v < columns; v++)
            for (size_t d = 0; d < 3; d++)
                turned[3 * v + d] = table[d * columns + v];
        hot_context_free(context, table);
        *vectors = turned;
        *count = columns;
    } else {
        *vectors = table;
        *count = rows;
    }
    return HOT_OK;
}

hot_status hot_text_load(hot_context *context, const char *path, char **text)
{
    enum { LIMIT = 64 << 20 };
    *text = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot open '%s': %s", path, strerror(errno));
    hot_status status = HOT_OK;
    char *all = NULL;
    size_t used = 0, capacity = 0;
    for (;;) {
        if (capacity - used < 2) {
            size_t larger = capacity ? 2 * capacity : 8192;
            char *grown = larger > LIMIT ? NULL : hot_context_alloc(context, larger, 1);
            if (!grown) {
                status = larger > LIMIT
                    ? hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is too large for a gradient table", path)
                    : HOT_ERROR_MEMORY;
                break;
            }
            if (used)
                memcpy(grown, all, used);
            hot_context_free(context, all);
            all = grown;
            capacity = larger;
        }
        size_t got = fread(all + used, 1, capacity - used - 1, file);
        used += got;
        if (got == 0) {
            if (ferror(file))
                status = hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));
            break;
        }
    }
    fclose(file);
    if (status == HOT_OK) {
        all[used] = '\0';
        if (memchr(all, '\0', used))
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not a text file", path);
    }
    if (status == HOT_OK)
        *text = all;
    else
        hot_context_free(context, all);
    return status;
}
