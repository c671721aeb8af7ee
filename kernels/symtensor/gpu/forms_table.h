/* The tables of forms_cuda.cu, made on the host: A x^p as a product of a matrix with the monomials of degree p. Its
 * rows are the index classes of order m - p, in tiles; its values are A's times the multiplicity of the monomial. */
#pragma once

#include "symtensor/classes.h"

HOT_C_BEGIN

enum { HOT_FORMS_COLUMNS = 64 }; /* columns of a part that is in shared memory at a time, at most */

typedef struct hot_forms_table {
    int order, dim, times;
    int rows, tile, tiles; /* rows; of a tile; tiles x tile >= rows */
    int columns, prefixes, parts;
    uint32_t *place;       /* tiles x columns x tile: in the packed tensor; 0 in rows that are padding */
    double *weight;        /* columns */
    uint64_t *prefix;      /* hot_class_prefixes */
    int *part;             /* (parts + 1) x 2: the first prefix of a part and its first column */
} hot_forms_table;

/* times >= 1. HOT_ERROR_DEVICE where the matrix would be too large, HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
hot_status hot_forms_table_create(hot_context *context, int order, int dim, int times, hot_forms_table *table);
void hot_forms_table_free(hot_context *context, hot_forms_table *table);

HOT_C_END
