/* See block_table.h. */
#include "block_table.h"

#include "common/context_internal.h"
#include "symtensor/classes.h"

int hot_sshopm_cut_make(int order, int dim, hot_sshopm_cut *cut)
{
    /* single tiles up to 7 x 7; beyond, few tiles with little padding */
    static const unsigned char sizes[17] = {0, 0, 2, 3, 4, 5, 6, 7, 4, 5, 5, 4, 4, 5, 5, 5, 4};
    *cut = (hot_sshopm_cut){.order = order, .dim = dim};
    if (order < 3 || order > 8 || dim < 2 || dim > 16)
        return 0;
    cut->block = sizes[dim];
    cut->blocks = (dim + cut->block - 1) / cut->block;
    cut->columns = (int)hot_class_count(order - 2, dim);
    cut->prefixes = (int)hot_class_count(order - 3, dim);
    /* A warp works on a tile, and warps w, w + 4, ... share a scheduler: each gets some of the smaller ones, which are
     * on the diagonal. */
    int off_k = 0, off_l = 1, diagonal = 0;
    cut->tiles = cut->blocks * (cut->blocks + 1) / 2;
    for (int t = 0; t < cut->tiles && t < HOT_BLOCK_TILES; t++) {
        if (diagonal < cut->blocks && (t % 4 < 2 || off_k >= cut->blocks - 1)) {
            cut->k[t] = cut->l[t] = (unsigned char)diagonal++;
            continue;
        }
        cut->k[t] = (unsigned char)off_k, cut->l[t] = (unsigned char)off_l;
        if (++off_l == cut->blocks)
            off_l = ++off_k + 1;
    }
    return 1;
}

size_t hot_sshopm_cut_values(const hot_sshopm_cut *cut)
{
    size_t rows = 0;
    for (int t = 0; t < cut->tiles; t++)
        rows += (size_t)hot_sshopm_tile_rows(cut, t);
    return rows * (size_t)cut->columns;
}

/* The codes of a tile; `unfolding` has all rows in one tile of its own. */
static void fill_tile(const hot_sshopm_cut *cut, int tile, const hot_sshopm_unfolding *unfolding, uint32_t *code)
{
    const int n = cut->dim, block = cut->block, first_k = cut->k[tile] * block, first_l = cut->l[tile] * block;
    const int rows = hot_sshopm_tile_rows(cut, tile);
    for (int c = 0; c < cut->columns; c++, code += rows) {
        const uint32_t *places = unfolding->place + (size_t)c * (size_t)unfolding->rows;
        int row = 0;
        for (int k = first_k; k < first_k + block; k++)
            for (int l = first_k == first_l ? k : first_l; l < first_l + block; l++, row++)
                code[row] = k >= n || l >= n ? 0 : places[k * n - k * (k - 1) / 2 + l - k] |
                            (uint32_t)unfolding->weight[c] << HOT_BLOCK_PLACE_BITS;
        for (; row < rows; row++)
            code[row] = 0;
    }
}

hot_status hot_sshopm_cut_fill(hot_context *context, const hot_sshopm_cut *cut, uint32_t *code, uint64_t *prefix)
{
    hot_sshopm_unfolding unfolding;
    hot_poll poll = {.context = context};
    const hot_sshopm_args shape = {.order = cut->order, .dim = cut->dim, .shift = HOT_SHIFT_ADAPTIVE};
    hot_status status = hot_sshopm_unfolding_create(context, &poll, &shape, cut->dim * (cut->dim + 1) / 2, &unfolding);
    for (int t = 0; t < cut->tiles && status == HOT_OK; t++) {
        fill_tile(cut, t, &unfolding, code);
        code += (size_t)hot_sshopm_tile_rows(cut, t) * (size_t)cut->columns;
    }
    hot_class_prefixes(cut->order - 2, cut->dim, prefix);
    hot_sshopm_unfolding_free(context, &unfolding);
    return status == HOT_OK ? hot_context_check(context, "finding eigenpairs") : status;
}
