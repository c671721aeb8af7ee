/* A set of directions as text: lines of azimuth and inclination in radians, as MRtrix's dirgen writes them, or lines of
 * x y z. */
#include <math.h>

#include "common/arguments.h"
#include "io/common/gradient_files.h"
#include "common/entry.h"
#include "common/free.h"

hot_status hot_directions_table_load(hot_context *context, const char *path, double **directions, size_t *count)
{
    HOT_ENTRY(context);
    HOT_CLEAR(directions);
    HOT_NEED(context, path, directions, count);
    char *text = NULL;
    double *values = NULL, *made = NULL;
    size_t rows = 0, columns = 0;
    *count = 0;
    hot_status status = hot_text_load(context, path, &text);
    if (status == HOT_OK)
        status = hot_table_parse(context, path, text, &values, &rows, &columns);
    if (status == HOT_OK && columns != 2 && columns != 3)
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' has %zu numbers a line; directions are x y z, or azimuth and inclination in "
                                  "radians", path, columns);
    if (status == HOT_OK && !(made = hot_context_alloc(context, rows + 1, 3 * sizeof *made)))
        status = HOT_ERROR_MEMORY;
    for (size_t i = 0; i < rows && status == HOT_OK; i++) {
        const double *in = values + i * columns, flat = columns == 2 ? sin(in[1]) : 0;
        made[3 * i] = columns == 2 ? flat * cos(in[0]) : in[0];
        made[3 * i + 1] = columns == 2 ? flat * sin(in[0]) : in[1];
        made[3 * i + 2] = columns == 2 ? cos(in[1]) : in[2];
    }
    if (status == HOT_OK) {
        *directions = made;
        *count = rows;
    } else {
        hot_context_free(context, made);
    }
    HOT_FREE(context, values, text);
    return status;
}
