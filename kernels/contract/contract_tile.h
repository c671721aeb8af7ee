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

/* One tile; the shape and whatever else the caller knows when it is compiled are constants in here. */
HOT_FN void TILE(one)(const TILE_T *a, const TILE_T *b, TILE_T *c, const int rows, const int vectors, const int part,
                      const size_t sums, const size_t a_row, const size_t a_sum, const size_t b_sum, const size_t c_row,
                      const TILE_T alpha, const TILE_T beta, const int plain)
{
    TILE_V sum[14][4];
    HOT_UNROLL for (int r = 0; r < rows; r++)
        HOT_UNROLL for (int v = 0; v < vectors; v++) {
            const TILE_T *old = c + (size_t)r * c_row + v * TILE_LANES;
            sum[r][v] = !plain ? (TILE_V){0} : part && v == vectors - 1 ? TILE(load_part)(old, part) : TILE(load)(old);
        }
    for (size_t s = 0; s < sums; s++) {
        TILE_V row[4];
        HOT_UNROLL for (int v = 0; v < vectors; v++) row[v] = part && v == vectors - 1
            ? TILE(load_part)(b + v * TILE_LANES, part)
            : TILE(load)(b + v * TILE_LANES);
        HOT_UNROLL for (int r = 0; r < rows; r++) {
            const TILE_V factor = a[(size_t)r * a_row] - (TILE_V){0};
            HOT_UNROLL for (int v = 0; v < vectors; v++)
                sum[r][v] += factor * row[v];
        }
        a += a_sum;
        b += b_sum;
    }
    /* All of C is read before any of it is written: a masked store would hold up the load of the row behind it. */
    HOT_UNROLL for (int r = 0; r < rows && !plain; r++)
        HOT_UNROLL for (int v = 0; v < vectors; v++) {
            const TILE_T *old = c + (size_t)r * c_row + v * TILE_LANES;
            sum[r][v] *= alpha;
            if (beta != 0)
                sum[r][v] += beta * (part && v == vectors - 1 ? TILE(load_part)(old, part) : TILE(load)(old));
        }
    HOT_UNROLL for (int r = 0; r < rows; r++)
        HOT_UNROLL for (int v = 0; v < vectors; v++) {
            TILE_T *to = c + (size_t)r * c_row + v * TILE_LANES;
            if (part && v == vectors - 1)
                TILE(store_part)(to, sum[r][v], part);
            else
                TILE(store)(to, sum[r][v]);
        }
}

HOT_FN void TILE(work)(const TILE(block) *block, const int rows, const int vectors, const int whole)
{
    for (size_t item = 0; item < block->items; item++)
        TILE(one)
        (block->a + item * block->a_item, block->b + item * block->b_item, block->c + item * block->c_item, rows,
         vectors, whole ? 0 : block->part, block->sums, block->a_row, block->a_sum, block->b_sum, block->c_row,
         block->alpha, block->beta, 0);
}

/* Dense square items of a size known here: everything unrolled. */
HOT_FN void TILE(square_as)(const TILE(block) *block, const int n, const int plain)
{
    const int vectors = (n + TILE_LANES - 1) / TILE_LANES;
    const int most = HOT_LANE_BYTES <= 32 ? TILE_ROWS : vectors == 1 ? 8 : vectors == 2 ? 14 : vectors == 3 ? 9 : 6;
    const int down = (n + most - 1) / most, height = (n + down - 1) / down;
    const size_t size = (size_t)n;
    for (size_t item = 0; item < block->items; item++)
        HOT_UNROLL for (int row = 0; row < n; row += height)
            TILE(one)(block->a + item * block->a_item + row * n, block->b + item * block->b_item,
                      block->c + item * block->c_item + row * n, n - row < height ? n - row : height, vectors,
                      n % TILE_LANES, size, size, 1, size, size, block->alpha, block->beta, plain);
}
HOT_FN void TILE(square)(const TILE(block) *block, const int n)
{
    if (n % TILE_LANES == 0 && block->alpha == 1 &&
        block->beta == 1) /* products are added to C without a further multiplication */
        TILE(square_as)(block, n, 1);
    else
        TILE(square_as)(block, n, 0);
}

/* The smallest, whose rows are shorter than a vector: with vectors of exactly their length, so that no load waits for
 * the store of its neighbour. */
#define TILE_EXACT(N, ROW)                                                                                          \
    static void TILE(square_##N)(const TILE(block) *block)                                                         \
    {                                                                                                               \
        typedef TILE_T line __attribute__((vector_size((ROW) * sizeof(TILE_T)), aligned(sizeof(TILE_T)), may_alias)); \
        for (size_t item = 0; item < block->items; item++) {                                                       \
            const TILE_T *a = block->a + item * block->a_item, *b = block->b + item * block->b_item;               \
            TILE_T *c = block->c + item * block->c_item;                                                            \
            line sum[N][(N) / (ROW)];                                                                               \
            HOT_UNROLL for (int r = 0; r < N; r++)                                                                  \
                HOT_UNROLL for (int v = 0; v < (N) / (ROW); v++) {                                                  \
                    sum[r][v] = a[r * N] * *(const line *)(b + v * (ROW));                                          \
                    HOT_UNROLL for (int s = 1; s < N; s++)                                                          \
                        sum[r][v] += a[r * N + s] * *(const line *)(b + s * N + v * (ROW));                         \
                    sum[r][v] *= block->alpha;                                                                      \
                    if (block->beta != 0)                                                                           \
                        sum[r][v] += block->beta * *(const line *)(c + r * N + v * (ROW));                          \
                }                                                                                                   \
            HOT_UNROLL for (int r = 0; r < N; r++)                                                                  \
                HOT_UNROLL for (int v = 0; v < (N) / (ROW); v++)                                                    \
                    *(line *)(c + r * N + v * (ROW)) = sum[r][v];                                                   \
        }                                                                                                           \
    }
#define TILE_SQUARE(N) static void TILE(square_##N)(const TILE(block) *block) { TILE(square)(block, N); }
TILE_EXACT(1, 1)
TILE_EXACT(2, 2) TILE_EXACT(3, 1) TILE_EXACT(4, 4)
#if HOT_LANE_BYTES > 16
    TILE_SQUARE(5) TILE_SQUARE(6) TILE_SQUARE(7) TILE_SQUARE(8)
#endif
#if HOT_LANE_BYTES > 32
#define TILE_SQUARES 32
        TILE_SQUARE(9) TILE_SQUARE(10) TILE_SQUARE(11) TILE_SQUARE(12) TILE_SQUARE(13) TILE_SQUARE(14) TILE_SQUARE(15)
            TILE_SQUARE(16) TILE_SQUARE(17) TILE_SQUARE(18) TILE_SQUARE(19) TILE_SQUARE(20) TILE_SQUARE(21)
                TILE_SQUARE(22) TILE_SQUARE(23) TILE_SQUARE(24) TILE_SQUARE(25) TILE_SQUARE(26) TILE_SQUARE(27)
                    TILE_SQUARE(28) TILE_SQUARE(29) TILE_SQUARE(30) TILE_SQUARE(31) TILE_SQUARE(32)
#elif HOT_LANE_BYTES > 16
#define TILE_SQUARES 8
#else /* more than a tile of these has columns */
#define TILE_SQUARES 4
#endif
                        static void (*const TILE(squares)[TILE_SQUARES])(const TILE(block) *) = {
                            TILE(square_1),  TILE(square_2),  TILE(square_3),  TILE(square_4),
#if HOT_LANE_BYTES > 16
                            TILE(square_5),  TILE(square_6),  TILE(square_7),  TILE(square_8),
#endif
#if HOT_LANE_BYTES > 32
                            TILE(square_9),  TILE(square_10), TILE(square_11), TILE(square_12), TILE(square_13),
                            TILE(square_14), TILE(square_15), TILE(square_16), TILE(square_17), TILE(square_18),
                            TILE(square_19), TILE(square_20), TILE(square_21), TILE(square_22), TILE(square_23),
                            TILE(square_24), TILE(square_25), TILE(square_26), TILE(square_27), TILE(square_28),
                            TILE(square_29), TILE(square_30), TILE(square_31), TILE(square_32),
#endif
};
#undef TILE_SQUARE
#undef TILE_EXACT

#define TILE_FUNCTIONS(R, V) \
    static void TILE(whole_##R##_##V)(const TILE(block) *block) { TILE(work)(block, R, V, 1); } \
    static void TILE(part_##R##_##V)(const TILE(block) *block) { TILE(work)(block, R, V, 0); }
#define TILE_ENTRY(R, V) {TILE(whole_##R##_##V), TILE(part_##R##_##V)}
TILE_SHAPES(TILE_FUNCTIONS)

static void (*const TILE(functions)[TILE_ROWS][TILE_VECTORS][2])(const TILE(block) *) = {TILE_TABLE(TILE_ENTRY)};

static void TILE(run)(const hot_tile *tile)
{
    size_t most_rows = tile->tile_rows > 0 && tile->tile_rows < TILE_ROWS ? (size_t)tile->tile_rows : TILE_ROWS;
    if (!tile->a_panel) { /* tiles of equal height: ten rows are five and five rather than eight and two */
        const size_t down = (tile->rows + most_rows - 1) / most_rows;
        most_rows = down ? (tile->rows + down - 1) / down : 1;
    }
    size_t most_vectors = tile->tile_vectors > 0 && tile->tile_vectors < TILE_VECTORS ? (size_t)tile->tile_vectors
                                                                                      : TILE_VECTORS;
    if (!tile->b_panel) { /* tiles of equal width: four vectors are two and two rather than three and one */
        const size_t vectors = (tile->columns + TILE_LANES - 1) / TILE_LANES,
                     across = (vectors + most_vectors - 1) / most_vectors;
        most_vectors = across ? (vectors + across - 1) / across : 1;
    }
    const size_t most_columns = most_vectors * TILE_LANES;
    const size_t a_panel = tile->a_panel ? tile->a_panel : most_rows * tile->a_row;
    const size_t b_panel = tile->b_panel ? tile->b_panel : most_columns;
    const int alone = tile->rows <= most_rows && tile->columns <= most_columns;
    TILE(block) block = {.a_row = tile->a_row, .a_sum = tile->a_sum, .b_sum = tile->b_sum, .c_row = tile->c_row,
                         .sums = tile->sums, .items = alone ? tile->items : 1, .a_item = tile->a_item,
                         .b_item = tile->b_item, .c_item = tile->c_item, .alpha = (TILE_T)tile->alpha,
                         .beta = (TILE_T)tile->beta};
    const size_t n = tile->columns;
    if (n >= 1 && n <= TILE_SQUARES && tile->rows == n &&
        tile->sums == n && tile->a_row == n && tile->a_sum == 1 && tile->b_sum == n && tile->c_row == n &&
        !tile->a_panel && !tile->b_panel) {
        block.a = tile->a, block.b = tile->b, block.c = tile->c, block.items = tile->items;
        TILE(squares)[n - 1](&block);
        return;
    }
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
#undef TILE_SQUARES
