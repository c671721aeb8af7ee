/* The table behind sshopm_unfold.h. */
#include "sshopm_unfold.h"

#include <string.h>

#include "common/context_internal.h"
#include "symtensor/classes.h"

/* Values of U, beyond which it is not stored: 32 MB of places. Order 8 in 16 dimensions needs 7.4 million. */
enum { MAX_VALUES = 1 << 23 };

/* The places of U's column for a monomial. */
static void column_places(const hot_sshopm_unfolding *self, const int *monomial, uint32_t *places)
{
    if (!self->hessian) {
        hot_class_places(self->order, self->dim, monomial, 0, places);
        return;
    }
    for (int k = 0; k < self->dim; k++) {
        int tuple[HOT_ORDER_MAX], at = 0, given = self->order - 2;
        for (; at < given && monomial[at] <= k; at++)
            tuple[at] = monomial[at];
        tuple[at] = k;
        for (; at < given; at++)
            tuple[at + 1] = monomial[at];
        hot_class_places(self->order, self->dim, tuple, k, places);
        places += self->dim - k;
    }
}

static void fill(const hot_sshopm_unfolding *self, hot_poll *poll)
{
    const size_t tile = (size_t)self->tile, padded = (size_t)self->tiles * tile;
    uint32_t places[HOT_DIM_MAX * (HOT_DIM_MAX + 1) / 2 + HOT_DIM_MAX] = {0};
    hot_class class;
    hot_class_first(&class, self->order - (self->hessian ? 2 : 1), self->dim);
    for (size_t column = 0; column < self->columns && !hot_poll_after(poll, (size_t)self->rows / 8 + 1); column++) {
        column_places(self, class.index, places);
        self->weight[column] = hot_class_multiplicity(&class);
        for (size_t row = 0; row < padded; row += tile)
            memcpy(self->place + (row * self->columns + column * tile), places + row, tile * sizeof *places);
        hot_class_next(&class);
    }
}

hot_status hot_sshopm_unfolding_create(hot_context *context, hot_poll *poll, const hot_sshopm_args *args, int max_tile,
                                       hot_sshopm_unfolding *self)
{
    *self = (hot_sshopm_unfolding){.order = args->order, .dim = args->dim,
                                   .hessian = args->shift == HOT_SHIFT_ADAPTIVE};
    self->rows = self->hessian ? args->dim * (args->dim + 1) / 2 : args->dim;
    self->tiles = (self->rows + max_tile - 1) / max_tile;
    self->tile = (self->rows + self->tiles - 1) / self->tiles;
    self->monomials = hot_class_count(args->order - 2, args->dim);
    self->columns = self->hessian ? self->monomials : hot_class_count(args->order - 1, args->dim);
    if (self->columns > MAX_VALUES || hot_sshopm_unfolding_size(self) > MAX_VALUES)
        return HOT_OK;
    for (int k = 0; k < args->order; k++)
        for (int i = 0; i < args->dim; i++)
            self->tail[k][i] = hot_class_count(k, args->dim - i);
    self->place = hot_context_alloc(context, hot_sshopm_unfolding_size(self), sizeof *self->place);
    self->weight = hot_context_alloc(context, self->columns, sizeof *self->weight);
    if (!self->place || !self->weight)
        return HOT_ERROR_MEMORY;
    fill(self, poll);
    return HOT_OK;
}

void hot_sshopm_unfolding_free(hot_context *context, hot_sshopm_unfolding *self)
{
    hot_context_free(context, self->place);
    hot_context_free(context, self->weight);
}
