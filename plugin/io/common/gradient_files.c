/* Gradient tables as people have them: numbers separated by white space, commas or semicolons. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/flow.h"
#include "file_open.h"
#include "gradient_files.h"

enum { LONGEST_NUMBER = 40 };
#define BLANKS " \t\r\v\f"

/* A word like 0,7071 in a line of several words: a number with a decimal comma. Where commas separate numbers, words
 * hold many of them, or end in one. */
static const char *decimal_comma(const char *line, const char *end)
{
    const char *found = NULL;
    size_t words = 0;
    while (line < end) {
        line += strspn(line, BLANKS ";");
        if (line >= end || *line == '#')
            break;
        const size_t length = strcspn(line, BLANKS ";\n#");
        const char *comma = memchr(line, ',', length);
        words++;
        if (length >= LONGEST_NUMBER)
            return NULL;
        if (comma && (memchr(line, '.', length) || memchr(comma + 1, ',', length - (size_t)(comma + 1 - line))))
            return NULL;
        if (comma && comma > line && isdigit((unsigned char)comma[-1]) && isdigit((unsigned char)comma[1]) && !found)
            found = line;
        else if (comma && !found)
            return NULL;
        line += length;
    }
    return words > 1 ? found : NULL;
}

static hot_status refuse_comma(hot_context *context, const char *name, size_t number, const char *at)
{
    char value[LONGEST_NUMBER];
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, BLANKS ";\n#"), at);
    char *comma = strchr(value, ',');
    *comma = '\0';
    return hot_context_fail(context, HOT_ERROR_FORMAT,
                            "'%s', line %zu: '%s,%s' has a decimal comma; numbers have a decimal point, %s.%s", name,
                            number, value, comma + 1, value, comma + 1);
}

/* One line of text: its numbers appended to `numbers` (which may be NULL, to count). Returns how many; -1 and *at when
 * something is no number, or the context is cancelled. */
static long line_numbers(hot_context *context, const char *line, const char *end, double *numbers, const char **at)
{
    long count = 0;
    for (;;) {
        if ((count & 0x3fff) == 0x3fff && hot_context_cancelled(context)) {
            *at = line;
            return -1;
        }
        while (line < end &&
               (*line == ' ' || *line == '\t' || *line == ',' || *line == ';' || *line == '\r' || *line == '\v' ||
                *line == '\f'))
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
            const char *end = line + strcspn(line, "\n"), *at = decimal_comma(line, end);
            if ((number & 0x3fff) == 0 && hot_context_cancelled(context))
                return hot_context_check(context, "reading");
            if (at)
                return refuse_comma(context, name, number, at);
            long count = line_numbers(context, line, end, fill ? *values + used : NULL, &at);
            if (count < 0 && hot_context_cancelled(context))
                return hot_context_check(context, "reading");
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
        const char *word = text + strspn(text, BLANKS "\n");
        const size_t length = strcspn(word, BLANKS ";\n#"); /* none: the text begins with a comment */
        const char *comma = memchr(word, ',', length);
        if (columns == 2 && length < LONGEST_NUMBER && comma && !memchr(word, '.', length) && comma + 1 < word + length)
            return refuse_comma(context, name, 1, word);
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' has %zu lines of %zu numbers; b-values are one line or one column", name, rows,
                                columns);
    }
    *count = rows * columns;
    return status;
}

/* Whether all vectors have length 1 or 0: component d of volume v at table[v * volume + d * axis]. */
static int unit_vectors(const double *table, size_t volumes, size_t volume, size_t axis)
{
    size_t unit = 0;
    for (size_t v = 0; v < volumes; v++) {
        double squared = 0;
        for (size_t d = 0; d < 3; d++)
            squared += table[v * volume + d * axis] * table[v * volume + d * axis];
        if (!(squared < 1e-6) && !(fabs(squared - 1) < 0.02))
            return 0;
        unit += squared > 0.5;
    }
    return unit > 0;
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
    if ((rows == 1 || columns == 1) && rows * columns % 3 == 0 && rows * columns > 3) {
        /* all in one line: x of all volumes, y, z, or the volumes one after the other, as vectors of length 1 tell */
        const size_t volumes = rows * columns / 3;
        const int by_axis = unit_vectors(table, volumes, 1, volumes), by_volume = unit_vectors(table, volumes, 3, 1);
        if (by_axis != by_volume) {
            rows = by_axis ? 3 : volumes;
            columns = by_axis ? volumes : 3;
        }
    }
    if (rows == 3 && columns == 3 && !unit_vectors(table, 3, 1, 3) && unit_vectors(table, 3, 3, 1))
        rows = 0; /* three volumes, a line each */
    if (rows == 0) {
        *vectors = table;
        *count = 3;
        return HOT_OK;
    }
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
    enum { LARGEST = 16 << 20 };
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf}; /* what some editors put in front of UTF-8 */
    char *all;
    size_t used;
    *text = NULL;
    HOT_TRY(hot_file_load(context, path, HOT_FILE_GIVEN, "a table of numbers", LARGEST, &all, &used));
    if (used >= sizeof mark && memcmp(all, mark, sizeof mark) == 0)
        memset(all, ' ', sizeof mark);
    for (size_t i = 0; i < used; i++) /* line ends of other systems */
        if (all[i] == '\r')
            all[i] = all[i + 1] == '\n' ? ' ' : '\n';
    if (memchr(all, '\0', used)) {
        hot_context_free(context, all);
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not a text file", path);
    }
    *text = all;
    return HOT_OK;
}
