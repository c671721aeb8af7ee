/* Template: register tiles of C for one value type and the vectors that the including file is compiled for.
 * TILE_T value type, TILE_V its vector, TILE_LANES values per vector, TILE(name) a name of this instance. */

HOT_FN TILE_V TILE(load)(const TILE_T *p)
{
    TILE_V v;
    memcpy(&v, p, sizeof v);
    return v;
}

HOT_FN void TILE(store)(TILE_T *p, TILE_V v) { memcpy(p, &v, sizeof v); }

/* The first `count` values, the other lanes 0; nothing behind them is touched. */
HOT_FN TILE_V TILE(load_part)(const TILE_T *p, int count)
{
#if defined(__AVX512F__)
    return TILE_AVX512_LOAD(count, p);
#elif defined(__AVX2__)
    return TILE_AVX2_LOAD(count, p);
#else
    TILE_V v = {0};
    for (int i = 0; i < TILE_LANES - 1; i++)
        v[i] = i < count ? p[i] : 0;
    return v;
#endif
}

HOT_FN void TILE(store_part)(TILE_T *p, TILE_V v, int count)
{
#if defined(__AVX512F__)
    TILE_AVX512_STORE(count, p, v);
#elif defined(__AVX2__)
    TILE_AVX2_STORE(count, p, v);
#else
    for (int i = 0; i < TILE_LANES - 1; i++)
        if (i < count)
            p[i] = v[i];
#endif
}

/* One tile after another: `items` of them, each rows x columns of C. part: columns in the last vector, 0 = all. */
typedef struct TILE(block) {
    const TILE_T *a, *b;
    TILE_T *c;
    size_t a_row, a_sum, b_sum, c_row, sums, items, a_item, b_item, c_item;
    TILE_T alpha, beta;
    int part;
} TILE(block);

HOT_FN void TILE(work)(const TILE(block) *block, const int rows, const int vectors, const int whole)
{
    const TILE_T *a_item = block->a, *b_item = block->b;
    TILE_T *c_item = block->c;
    const size_t a_row = block->a_row, a_sum = block->a_sum, b_sum = block->b_sum, c_row = block->c_row;
    const TILE_T alpha = block->alpha, beta = block->beta;
    const int part = block->part;
    for (size_t item = block->items; item > 0; item--) {
        TILE_V sum[8][3];
        HOT_UNROLL for (int r = 0; r < rows; r++)
            HOT_UNROLL for (int v = 0; v < vectors; v++)
                sum[r][v] = (TILE_V){0};
        const TILE_T *a = a_item, *b = b_item;
        for (size_t s = block->sums; s > 0; s--) {
            TILE_V row[3];
            HOT_UNROLL for (int v = 0; v < vectors; v++)
                row[v] = !whole && v == vectors - 1 ? TILE(load_part)(b + v * TILE_LANES, part)
                                                    : TILE(load)(b + v * TILE_LANES);
            HOT_UNROLL for (int r = 0; r < rows; r++) {
                const TILE_V factor = a[(size_t)r * a_row] - (TILE_V){0};
                HOT_UNROLL for (int v = 0; v < vectors; v++)
                    sum[r][v] += factor * row[v];
            }
            a += a_sum;
            b += b_sum;
        }
        HOT_UNROLL for (int r = 0; r < rows; r++)
            HOT_UNROLL for (int v = 0; v < vectors; v++) {
                TILE_T *c = c_item + (size_t)r * c_row + v * TILE_LANES;
                TILE_V result = alpha * sum[r][v];
                if (!whole && v == vectors - 1) {
                    if (beta != 0)
                        result += beta * TILE(load_part)(c, part);
                    TILE(store_part)(c, result, part);
                } else {
                    if (beta != 0)
                        result += beta * TILE(load)(c);
                    TILE(store)(c, result);
                }
            }
        a_item += block->a_item;
        b_item += block->b_item;
        c_item += block->c_item;
    }
}

#define TILE_FUNCTIONS(R, V) \
    static void TILE(whole_##R##_##V)(const TILE(block) *block) { TILE(work)(block, R, V, 1); } \
    static void TILE(part_##R##_##V)(const TILE(block) *block) { TILE(work)(block, R, V, 0); }
#define TILE_ENTRY(R, V) {TILE(whole_##R##_##V), TILE(part_##R##_##V)}
TILE_SHAPES(TILE_FUNCTIONS)

static void (*const TILE(functions)[TILE_ROWS][TILE_VECTORS][2])(const TILE(block) *) = {TILE_TABLE(TILE_ENTRY)};

static void TILE(run)(const hot_tile *tile)
{
    const size_t most_rows = tile->tile_rows > 0 && tile->tile_rows < TILE_ROWS ? (size_t)tile->tile_rows : TILE_ROWS;
    const size_t most_columns =
        (tile->tile_vectors > 0 && tile->tile_vectors < TILE_VECTORS ? (size_t)tile->tile_vectors : TILE_VECTORS) * TILE_LANES;
    const size_t a_panel = tile->a_panel ? tile->a_panel : most_rows * tile->a_row;
    const size_t b_panel = tile->b_panel ? tile->b_panel : most_columns;
    const int alone = tile->rows <= most_rows && tile->columns <= most_columns;
    TILE(block) block = {.a_row = tile->a_row, .a_sum = tile->a_sum, .b_sum = tile->b_sum, .c_row = tile->c_row,
                         .sums = tile->sums, .items = alone ? tile->items : 1, .a_item = tile->a_item,
                         .b_item = tile->b_item, .c_item = tile->c_item, .alpha = (TILE_T)tile->alpha,
                         .beta = (TILE_T)tile->beta};
    for (size_t item = 0; item < tile->items; item += block.items)
        for (size_t column = 0; column < tile->columns; column += most_columns) {
            const size_t columns = tile->columns - column < most_columns ? tile->columns - column : most_columns;
            const size_t vectors = (columns + TILE_LANES - 1) / TILE_LANES;
            block.part = (int)(columns % TILE_LANES);
            for (size_t row = 0; row < tile->rows; row += most_rows) {
                const size_t rows = tile->rows - row < most_rows ? tile->rows - row : most_rows;
                block.a = (const TILE_T *)tile->a + item * tile->a_item + row / most_rows * a_panel;
                block.b = (const TILE_T *)tile->b + item * tile->b_item + column / most_columns * b_panel;
                block.c = (TILE_T *)tile->c + item * tile->c_item + row * tile->c_row + column;
                TILE(functions)[rows - 1][vectors - 1][block.part != 0](&block);
            }
        }
}
#undef TILE_FUNCTIONS
#undef TILE_ENTRY
