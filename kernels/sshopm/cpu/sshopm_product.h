/* A x^(m-1) and A x^(m-2) as products with the unfolded tensor (sshopm_unfold.h): part of sshopm_lanes.h when HOT_DIM
 * is 0. `group` vectors of starts are done together, so that a value of U that is loaded is used as often. */

/* x^c for all monomials of degree order - 2, in lexicographic order, `group` vectors each: those that begin with i are
 * x_i times the end of the list of the degree below. Returns where they are, which is one of two buffers. */
HOT_FN const HOT_REAL *HOT_RUN(monomials)(const hot_sshopm_unfolding *unfolding, int group, HOT_REAL x[][HOT_N_MAX],
                                          HOT_REAL *list, HOT_REAL *other)
{
    for (int b = 0; b < group; b++)
        list[b] = (HOT_REAL){0} + 1;
    for (int degree = 1; degree <= unfolding->order - 2; degree++) {
        HOT_REAL *to = other;
        for (int i = 0; i < unfolding->dim; i++) {
            const size_t tail = unfolding->tail[degree - 1][i];
            const HOT_REAL *from = list + (unfolding->tail[degree - 1][0] - tail) * (size_t)group;
            for (size_t c = 0; c < tail; c++)
                for (int b = 0; b < group; b++)
                    *to++ = *from++ * x[b][i];
        }
        HOT_REAL *made = other;
        other = list;
        list = made;
    }
    return list;
}

/* sum[r][b] = U[r, c] w[c][b], summed over c. */
HOT_FN void HOT_RUN(tile_product)(int rows, int group, const HOT_SCALAR *u, const HOT_REAL *w, size_t columns,
                                  HOT_REAL *sum)
{
    HOT_REAL total[HOT_TILE_ROWS][HOT_GROUP];
    HOT_UNROLL
    for (int r = 0; r < rows; r++) {
        HOT_UNROLL
        for (int b = 0; b < group; b++)
            total[r][b] = (HOT_REAL){0};
    }
    for (size_t c = 0; c < columns; c++, u += rows, w += group) {
        HOT_UNROLL
        for (int r = 0; r < rows; r++) {
            HOT_UNROLL
            for (int b = 0; b < group; b++)
                total[r][b] += w[b] * u[r];
        }
    }
    HOT_UNROLL
    for (int r = 0; r < rows; r++) {
        HOT_UNROLL
        for (int b = 0; b < group; b++)
            sum[r * group + b] = total[r][b];
    }
}

/* The same with the numbers of rows and vectors known to the compiler. */
static void HOT_RUN(product)(int rows, int group, const HOT_SCALAR *u, const HOT_REAL *w, size_t columns, HOT_REAL *sum)
{
#define HOT_CASE(R)                                                        \
    case 2 * (R) - 1:                                                      \
        HOT_RUN(tile_product)(R, 1, u, w, columns, sum);                   \
        break;                                                             \
    case 2 * (R):                                                          \
        HOT_RUN(tile_product)(R, HOT_GROUP, u, w, columns, sum);           \
        break;
    switch (2 * (rows - 1) + group) {
        HOT_CASE(1)
        HOT_CASE(2)
        HOT_CASE(3)
        HOT_CASE(4)
        HOT_CASE(5)
        HOT_CASE(6)
#if HOT_TILE_ROWS > 6
        HOT_CASE(7)
        HOT_CASE(8)
        HOT_CASE(9)
        HOT_CASE(10)
        HOT_CASE(11)
        HOT_CASE(12)
#endif
    }
#undef HOT_CASE
}

/* A x^(m-1) of each vector of starts into g; if the Hessian is unfolded, its upper triangle row by row into h. */
static void HOT_RUN(products)(const hot_sshopm_item *item, int group, HOT_REAL x[][HOT_N_MAX],
                              HOT_REAL g[][HOT_N_MAX], HOT_REAL h[][HOT_PAIRS_MAX])
{
    const hot_sshopm_unfolding *unfolding = item->unfolding;
    const size_t values = unfolding->monomials * (size_t)group;
    const int tile = unfolding->tile, dim = unfolding->dim;
    HOT_REAL *lists = item->monomials;
    const HOT_REAL *w = group == 1 ? HOT_RUN(monomials)(unfolding, 1, x, lists, lists + values)
                                   : HOT_RUN(monomials)(unfolding, HOT_GROUP, x, lists, lists + values);
    const HOT_SCALAR *u = item->matrix;
    for (int row = 0; row < unfolding->rows; row += tile) {
        HOT_REAL sum[HOT_TILE_ROWS * HOT_GROUP];
        const int rows = row + tile < unfolding->rows ? tile : unfolding->rows - row;
        if (hot_poll_after(item->poll, unfolding->columns * (size_t)tile / 256))
            return;
        for (int i = 0; i < (unfolding->hessian ? 1 : dim); i++) {
            const size_t columns = unfolding->tail[unfolding->order - 2][i];
            HOT_RUN(product)(tile, group, u, w + values - columns * (size_t)group, columns, sum);
            u += columns * (size_t)tile;
            for (int r = 0; r < rows; r++)
                for (int b = 0; b < group; b++) {
                    const HOT_REAL value = sum[r * group + b];
                    if (unfolding->hessian)
                        h[b][row + r] = value;
                    else
                        g[b][row + r] = i == 0 ? value * x[b][0] : g[b][row + r] + value * x[b][i];
                }
        }
    }
    for (int b = 0; b < group && unfolding->hessian; b++)
        HOT_RUN(general_apply)(dim, h[b], x[b], g[b]);
}

/* A x^(m-1) of each vector of starts and, with the adaptive shift, the Hessians. */
static void HOT_RUN(evaluate)(const hot_sshopm_args *args, const hot_sshopm_item *item, int group,
                              HOT_REAL x[][HOT_N_MAX], HOT_REAL g[][HOT_N_MAX], HOT_REAL h[][HOT_PAIRS_MAX])
{
    if (item->matrix) {
        HOT_RUN(products)(item, group, x, g, h);
        return;
    }
    for (int b = 0; b < group; b++) {
        if (args->shift == HOT_SHIFT_ADAPTIVE)
            HOT_RUN(general_derivatives)(args, item->poll, item->values, x[b], g[b], h[b]);
        else
            HOT_RUN(general_gradient)(args, item->poll, item->values, x[b], g[b]);
    }
}
