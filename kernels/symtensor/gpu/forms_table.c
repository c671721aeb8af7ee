/* See forms_table.h. */
#include "forms_table.h"

#include "common/context_internal.h"

/* Values of the matrix beyond which no table of their places is made: 64 MB. */
enum { MAX_VALUES = 1 << 24 };

/* The place of two sorted tuples together. after[p][i]: the classes after those that have index i at position p and
 * begin alike. */
static uint32_t merged_place(const hot_class *row, int rows, const hot_class *column, uint32_t after[][HOT_DIM_MAX],
                             uint32_t last)
{
    int r = 0, c = 0;
    for (int p = 0; p < rows + column->order; p++) {
        const int from_row = c == column->order || (r < rows && row->index[r] <= column->index[c]);
        last -= after[p][from_row ? row->index[r++] : column->index[c++]];
    }
    return last;
}

static void fill(hot_context *context, hot_forms_table *table)
{
    const int left = table->order - table->times, n = table->dim;
    uint32_t after[HOT_ORDER_MAX][HOT_DIM_MAX];
    hot_poll poll = {.context = context};
    hot_class row, column;
    for (int p = 0; p < table->order; p++)
        for (int i = 0; i < n; i++)
            after[p][i] = i == n - 1 ? 0 : (uint32_t)hot_class_count(table->order - p, n - 1 - i);
    hot_class_first(&row, left ? left : 1, n);
    for (int r = 0; r < table->rows; r++, left && hot_class_next(&row)) {
        uint32_t *to = table->place + (size_t)(r / table->tile) * (size_t)table->columns * (size_t)table->tile +
                       r % table->tile;
        hot_class_first(&column, table->times, n);
        for (int c = 0; c < table->columns && !hot_poll_after(&poll, 1); c++, to += table->tile) {
            *to = merged_place(&row, left, &column, after, (uint32_t)hot_symtensor_count(table->order, n) - 1);
            if (r == 0)
                table->weight[c] = hot_class_multiplicity(&column);
            hot_class_next(&column);
        }
    }
}

/* Whole prefixes together, as many as a part has room for. */
static void divide(hot_forms_table *table)
{
    int column = 0, part = 0;
    for (int q = 0; q < table->prefixes; q++) {
        const int columns = table->dim - (int)(table->prefix[q] & 15);
        if (q == 0 || column + columns - table->part[2 * (part - 1) + 1] > HOT_FORMS_COLUMNS) {
            table->part[2 * part] = q;
            table->part[2 * part + 1] = column;
            part++;
        }
        column += columns;
    }
    table->part[2 * part] = table->prefixes;
    table->part[2 * part + 1] = column;
    table->parts = part;
}

hot_status hot_forms_table_create(hot_context *context, int order, int dim, int times, hot_forms_table *table)
{
    const size_t rows = hot_class_count(order - times, dim), columns = hot_class_count(times, dim),
                 tile = rows > 4 ? 16 : 4, tiles = (rows + tile - 1) / tile;
    *table = (hot_forms_table){.order = order, .dim = dim, .times = times};
    if (rows > MAX_VALUES || columns > MAX_VALUES || tiles * tile > MAX_VALUES / columns)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "order %d, dimension %d and %d times are too large for the "
                                "GPU; use the CPU", order, dim, times);
    table->rows = (int)rows, table->tile = (int)tile, table->tiles = (int)tiles, table->columns = (int)columns;
    table->place = hot_context_calloc(context, tiles * columns * tile, sizeof *table->place);
    table->weight = hot_context_alloc(context, columns, sizeof *table->weight);
    table->prefix = hot_context_alloc(context, columns, sizeof *table->prefix);
    table->part = hot_context_alloc(context, 2 * (columns + 1), sizeof *table->part);
    if (!table->place || !table->weight || !table->prefix || !table->part)
        return HOT_ERROR_MEMORY;
    fill(context, table);
    table->prefixes = hot_class_prefixes(times, dim, table->prefix);
    divide(table);
    return hot_context_check(context, "contracting tensors");
}

void hot_forms_table_free(hot_context *context, hot_forms_table *table)
{
    hot_context_free(context, table->place);
    hot_context_free(context, table->weight);
    hot_context_free(context, table->prefix);
    hot_context_free(context, table->part);
}
