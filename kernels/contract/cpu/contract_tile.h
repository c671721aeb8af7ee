/* Template: register tiles of C for one value type and the vectors that the including file is compiled for.
 * TILE_T value type, TILE_V its vector, TILE_LANES values per vector, TILE_PART(name) as PARTS in contract_lanes.h
 * names it, TILE(name) a name of this instance. */

HOT_FN TILE_V TILE(load)(const TILE_T *p)
{
    TILE_V v;
    memcpy(&v, p, sizeof v);
    return v;
}

HOT_FN void TILE(store)(TILE_T *p, TILE_V v) { memcpy(p, &v, sizeof v); }

/* Items one after another, of each tiles below one another. part: columns in the last vector, 0 = all. */
typedef struct TILE(block) {
    const TILE_T *a, *b;
    TILE_T *c;
    size_t a_row, a_sum, b_sum, c_row, sums, items, a_item, b_item, c_item, tiles;
    TILE_T alpha, beta;
    int part;
} TILE(block);

/* One tile; the shape and whatever else the caller knows when it is compiled are constants in here. */
HOT_FN void TILE(one)(const TILE_T *a, const TILE_T *b, TILE_T *c, const int rows, const int vectors, const int part,
                      const size_t sums, const size_t a_row, const size_t a_sum, const size_t b_sum, const size_t c_row,
                      const TILE_T alpha, const TILE_T beta)
{
    TILE_V sum[14][4];
    HOT_UNROLL for (int r = 0; r < rows; r++)
        HOT_UNROLL for (int v = 0; v < vectors; v++)
            sum[r][v] = (TILE_V){0};
    const TILE_T *third[5]; /* every third row: the two behind it are at multiples of one stride */
    HOT_UNROLL for (int r = 0; r < rows; r += 3) {
        third[r / 3] = a + (size_t)r * a_row;
        __asm__("" : "+r"(third[r / 3])); /* and the compiler is not to undo that */
    }
    for (size_t s = 0; s < sums; s++) {
        TILE_V row[4];
        HOT_UNROLL for (int v = 0; v < vectors; v++) row[v] = part && v == vectors - 1
            ? (TILE_V)TILE_PART(load)(part, b + v * TILE_LANES)
            : TILE(load)(b + v * TILE_LANES);
        HOT_UNROLL for (int r = 0; r < rows; r++) {
            const TILE_V factor = third[r / 3][(size_t)(r % 3) * a_row] - (TILE_V){0};
            HOT_UNROLL for (int v = 0; v < vectors; v++)
                sum[r][v] += factor * row[v];
        }
        HOT_UNROLL for (int r = 0; r < rows; r += 3)
            third[r / 3] += a_sum;
        b += b_sum;
    }
    /* All of C is read before any of it is written: a masked store would hold up the load of the row behind it. */
    HOT_UNROLL for (int r = 0; r < rows; r++)
        HOT_UNROLL for (int v = 0; v < vectors; v++) {
            const TILE_T *old = c + (size_t)r * c_row + v * TILE_LANES;
            sum[r][v] *= alpha;
            if (beta != 0)
                sum[r][v] += beta * (part && v == vectors - 1 ? (TILE_V)TILE_PART(load)(part, old) : TILE(load)(old));
        }
    HOT_UNROLL for (int r = 0; r < rows; r++)
        HOT_UNROLL for (int v = 0; v < vectors; v++) {
            TILE_T *to = c + (size_t)r * c_row + v * TILE_LANES;
            if (part && v == vectors - 1)
                TILE_PART(store)(part, to, sum[r][v]);
            else
                TILE(store)(to, sum[r][v]);
        }
}

HOT_FN void TILE(work)(const TILE(block) *block, const int rows, const int vectors, const int whole)
{
    const size_t sums = block->sums, a_row = block->a_row, a_sum = block->a_sum, b_sum = block->b_sum,
                 c_row = block->c_row;
    const TILE_T alpha = block->alpha, beta = block->beta;
    const int part = whole ? 0 : block->part;
    const size_t a_item = block->a_item - block->tiles * rows * a_row, b_item = block->b_item,
                 c_item = block->c_item - block->tiles * rows * c_row, tiles = block->tiles;
    const TILE_T *a = block->a, *b = block->b;
    TILE_T *c = block->c;
    for (size_t item = block->items; item; item--, a += a_item, b += b_item, c += c_item)
        for (size_t t = tiles; t; t--, a += rows * a_row, c += rows * c_row)
            TILE(one)(a, b, c, rows, vectors, part, sums, a_row, a_sum, b_sum, c_row, alpha, beta);
}

/* Dense square items, with the narrowest vectors that hold a row, or the widest. */
#define TILE_SQUARE(N)                                                                                                 \
    static void TILE(square_##N)(const hot_tile *tile)                                                                 \
    {                                                                                                                  \
        const int bytes = N * (int)sizeof(TILE_T);                                                                     \
        if (bytes <= 16)                                                                       \
            TILE(in_16_items)(tile, N);                                                     \
        else if (bytes <= 32)                                                                  \
            UP_TO_32(TILE(), _items)(tile, N);                                                     \
        else                                                                                                           \
            UP_TO_64(TILE(), _items)(tile, N);                                                     \
    }
SQUARE_SIZES(TILE_SQUARE)
#undef TILE_SQUARE
#define TILE_SQUARE(N) TILE(square_##N),
static void (*const TILE(squares)[])(const hot_tile *) = {SQUARE_SIZES(TILE_SQUARE)};
#undef TILE_SQUARE

#define TILE_FUNCTIONS(R, V) \
    static void TILE(whole_##R##_##V)(const TILE(block) *block) { TILE(work)(block, R, V, 1); } \
    static void TILE(part_##R##_##V)(const TILE(block) *block) { TILE(work)(block, R, V, 0); }
#define TILE_ENTRY(R, V) {TILE(whole_##R##_##V), TILE(part_##R##_##V)}
TILE_SHAPES(TILE_FUNCTIONS)

static void (*const TILE(functions)[TILE_ROWS][TILE_VECTORS][2])(const TILE(block) *) = {TILE_TABLE(TILE_ENTRY)};

/* Items of one value each, as products of whole arrays. */
static void TILE(singles)(const hot_tile *tile)
{
    const TILE_T *a = tile->a, *b = tile->b, alpha = (TILE_T)tile->alpha, beta = (TILE_T)tile->beta;
    TILE_T *c = tile->c;
    if (beta == 0)
        for (size_t i = 0; i < tile->items; i++)
            c[i] = alpha * a[i] * b[i];
    else
        for (size_t i = 0; i < tile->items; i++)
            c[i] = alpha * a[i] * b[i] + beta * c[i];
}

static int TILE(is_single)(const hot_tile *tile)
{
    return tile->rows == 1 && tile->columns == 1 && tile->sums == 1 && tile->a_item == 1 && tile->b_item == 1 &&
           tile->c_item == 1;
}

static int TILE(is_square)(const hot_tile *tile)
{
    const size_t n = tile->columns;
    return n >= 2 && n <= SQUARE_LAST && tile->rows == n && tile->sums == n && tile->a_row == n && tile->a_sum == 1 &&
           tile->b_sum == n && tile->c_row == n && !tile->a_panel && !tile->b_panel;
}

/* How the rows and columns of an item are divided into register tiles. */
typedef struct TILE(division) {
    size_t max_rows, max_columns; /* of a tile */
    size_t b_panel;
    size_t down, high, highs;     /* tiles in a column, the first `highs` of `high` rows, others one less */
    size_t group;                 /* items processed together */
} TILE(division);

static TILE(division) TILE(divide)(const hot_tile *tile)
{
    TILE(division) d;
    d.max_rows = tile->tile_rows > 0 && tile->tile_rows < TILE_ROWS ? (size_t)tile->tile_rows : TILE_ROWS;
    size_t max_vectors = tile->tile_vectors > 0 && tile->tile_vectors < TILE_VECTORS ? (size_t)tile->tile_vectors
                                                                                      : TILE_VECTORS;
    if (!tile->b_panel) { /* tiles of equal width: four vectors are two and two rather than three and one */
        const size_t vectors = (tile->columns + TILE_LANES - 1) / TILE_LANES,
                     across = (vectors + max_vectors - 1) / max_vectors;
        max_vectors = across ? (vectors + across - 1) / across : 1;
    }
    d.max_columns = max_vectors * TILE_LANES;
    d.b_panel = tile->b_panel ? tile->b_panel : d.max_columns;
    /* Tiles of two nearly equal heights: ten rows are five and five rather than eight and two. */
    d.down = (tile->rows + d.max_rows - 1) / d.max_rows;
    d.high = d.down ? (tile->rows + d.down - 1) / d.down : 0;
    d.highs = tile->rows - d.down * (d.high - (d.down > 0));
    /* Items that take several calls are processed in small groups, which the first-level cache keeps. */
    const size_t values = tile->rows * tile->sums + tile->sums * tile->columns + tile->rows * tile->columns;
    d.group = d.highs == d.down && tile->columns <= d.max_columns ? tile->items : TILE_GROUP / (values + 1) + 1;
    return d;
}

/* The columns from `column` on of the block's items. */
static void TILE(run_columns)(const hot_tile *tile, const TILE(division) *d, size_t item, size_t column,
                              TILE(block) *block)
{
    const size_t columns = tile->columns - column < d->max_columns ? tile->columns - column : d->max_columns;
    const size_t vectors = (columns + TILE_LANES - 1) / TILE_LANES;
    block->part = (int)(columns % TILE_LANES);
    block->b = (const TILE_T *)tile->b + item * tile->b_item + column / d->max_columns * d->b_panel;
    for (size_t row = 0, rows; row < tile->rows; row += rows * block->tiles) {
        const size_t left = tile->rows - row;
        rows = tile->a_panel ? left < d->max_rows ? left : d->max_rows : row == 0 ? d->high : d->high - 1;
        block->tiles = tile->a_panel ? 1 : row == 0 ? d->highs : d->down - d->highs;
        block->a = (const TILE_T *)tile->a + item * tile->a_item +
            (tile->a_panel ? row / d->max_rows * tile->a_panel : row * tile->a_row);
        block->c = (TILE_T *)tile->c + item * tile->c_item + row * tile->c_row + column;
        TILE(functions)[rows - 1][vectors - 1][block->part != 0](block);
    }
}

static void TILE(run)(const hot_tile *tile)
{
    if (TILE(is_single)(tile)) {
        TILE(singles)(tile);
        return;
    }
    if (TILE(is_square)(tile)) {
        TILE(squares)[tile->columns - 2](tile);
        return;
    }
#if defined(HOT_CONTRACT_DENSE)
    if (!tile->plain && hot_dense_tiles(tile, sizeof(TILE_T) == 8, HOT_SIMD_BYTES,
                                        tile->tile_rows < TILE_ROWS ? tile->tile_rows : 0,
                                        tile->tile_vectors < TILE_VECTORS ? tile->tile_vectors : 0))
        return;
#endif
    const TILE(division) d = TILE(divide)(tile);
    TILE(block) block = {.a_row = tile->a_row, .a_sum = tile->a_sum, .b_sum = tile->b_sum, .c_row = tile->c_row,
                         .sums = tile->sums, .a_item = tile->a_item, .b_item = tile->b_item, .c_item = tile->c_item,
                         .alpha = (TILE_T)tile->alpha, .beta = (TILE_T)tile->beta};
    for (size_t item = 0; item < tile->items && d.down; item += block.items) {
        block.items = tile->a_panel ? 1 : tile->items - item < d.group ? tile->items - item : d.group;
        for (size_t column = 0; column < tile->columns; column += d.max_columns)
            TILE(run_columns)(tile, &d, item, column, &block);
    }
}
#undef TILE_FUNCTIONS
#undef TILE_ENTRY
