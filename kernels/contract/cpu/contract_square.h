/* Template: products of dense square items, everything but their number known when it is compiled, for one value
 * type and one width of vectors: SQUARE_T, SQUARE_PART(name) as PARTS in contract_lanes.h names it, SQUARE(name) a name
 * of this instance, SQUARE_FMA and SQUARE_BROADCAST the names of two instructions. */

/* Factors, and sum += factor * row in sum's own register: the compiler would gather neighbouring factors in vectors to
 * take them apart again, and move the sums of a loop from register to register. It would also keep a zero, alpha and
 * beta in registers that the sums need (ZERO, HERE), and copies of the sums for each branch behind the loop (STAY). */
#if defined(__AVX2__)
#define SQUARE_FACTOR(factor, at) __asm__(SQUARE_BROADCAST " %1, %0" : "=v"(factor) : "m"(at))
#define SQUARE_ADD(sum, factor, row) __asm__(SQUARE_FMA " %2, %1, %0" : "+v"(sum) : "v"(factor), "v"(row))
#define SQUARE_STAY(sum) __asm__("" : "+v"(sum))
#define SQUARE_HERE(pointer) __asm__ volatile("" : "+r"(pointer))
#if defined(__AVX512F__)
#define SQUARE_ZERO(sum) __asm__ volatile("vpxord %x0, %x0, %x0" : "=v"(sum))
#else
#define SQUARE_ZERO(sum) __asm__ volatile("vpxor %x0, %x0, %x0" : "=x"(sum))
#endif
#else
#define SQUARE_FACTOR(factor, at) (factor = (at) - (SQUARE_PART(vector)){0})
#define SQUARE_ADD(sum, factor, row) (sum += factor * row)
#define SQUARE_STAY(sum) ((void)0)
#define SQUARE_HERE(pointer) ((void)0)
#define SQUARE_ZERO(sum) (sum = (SQUARE_PART(vector)){0})
#endif

/* One row of B times a column of A, added to the sums. part: of the last vector, 0 = all. */
HOT_FN void SQUARE(add)(SQUARE_PART(vector) (*sum)[4], const SQUARE_T *a, const SQUARE_T *b, const int rows,
                        const int vectors, const int part, const int n)
{
    SQUARE_PART(vector) row[4], factor;
    HOT_UNROLL for (int v = 0; v < vectors; v++) {
        const SQUARE_T *from = b + v * SQUARE_PART(lanes);
        row[v] = part && v == vectors - 1 ? SQUARE_PART(load)(part, from) : *(const SQUARE_PART(vector) *)from;
    }
    HOT_UNROLL for (int r = 0; r < rows; r++) {
        if (vectors == 1) { /* a factor that is used once comes with the multiplication */
            sum[r][0] += a[r * n] * row[0];
            continue;
        }
        SQUARE_FACTOR(factor, a[r * n]);
        HOT_UNROLL for (int v = 0; v < vectors; v++)
            SQUARE_ADD(sum[r][v], factor, row[v]);
    }
}

/* The last vector of a row of C. Of two or three values one by one: whatever its mask, a store of four would hold up
 * the load of the next item's first row. */
HOT_FN SQUARE_PART(vector) SQUARE(read)(const SQUARE_T *p, const int part, const int n)
{
    if (n < 4 && SQUARE_PART(lanes) == 4) {
        SQUARE_PART(vector) v = {0};
        HOT_UNROLL for (int i = 0; i < n; i++)
            v[i] = p[i];
        return v;
    }
    return part ? SQUARE_PART(load)(part, p) : *(const SQUARE_PART(vector) *)p;
}

HOT_FN void SQUARE(write)(SQUARE_T *p, SQUARE_PART(vector) v, const int part, const int n)
{
    if (n < 4 && SQUARE_PART(lanes) == 4)
        HOT_UNROLL for (int i = 0; i < n; i++)
            p[i] = v[i];
    else if (part)
        SQUARE_PART(store)(part, p, v);
    else
        *(SQUARE_PART(vector) *)p = v;
}

/* The sums and beta times C. */
HOT_FN void SQUARE(add_c)(SQUARE_PART(vector) (*sum)[4], const SQUARE_T *c, const SQUARE_T beta, const int rows,
                          const int vectors, const int part, const int n)
{
    HOT_UNROLL for (int r = 0; r < rows; r++)
        HOT_UNROLL for (int v = 0; v < vectors; v++) {
            const SQUARE_T *from = c + r * n + v * SQUARE_PART(lanes);
            sum[r][v] += beta * SQUARE(read)(from, v == vectors - 1 ? part : 0, n);
        }
}

/* rows x columns of C. Rows of B are read in whole vectors, past the end of their columns, except for the last, whose
 * end may be that of the array: a mask would cost a slot among the multiplications. C is read last, or the first
 * multiplications would wait for it, and all of it before any is written: a masked store holds up the load of the row
 * behind it. Meanwhile the tile prefetches n lines of the next item, from the given line on. ones: alpha and beta are
 * 1; else these are the two factors. */
HOT_FN void SQUARE(tile)(const SQUARE_T *a, const SQUARE_T *b, SQUARE_T *c, const int rows, const int columns,
                         const int n, const int ones, const SQUARE_T *factors, const SQUARE_T *const *next,
                         const int asks, const int line)
{
    typedef SQUARE_PART(vector) vector;
    const int lanes = SQUARE_PART(lanes), vectors = (columns + lanes - 1) / lanes, part = columns % lanes;
    const int open = n - (vectors * lanes - columns + n - 1) / n;
    vector sum[16][4];
    HOT_UNROLL for (int r = 0; r < rows; r++)
        HOT_UNROLL for (int v = 0; v < vectors; v++)
            SQUARE_ZERO(sum[r][v]);
    for (int s = 0; s < open; s++) {
        if (asks)
            HOT_UNROLL for (int o = 0; o < 3; o++)
                __builtin_prefetch((const char *)next[o] + 64 * (line + s), 0);
        SQUARE(add)(sum, a + s, b + s * n, rows, vectors, 0, n);
    }
    HOT_UNROLL for (int s = open; s < n; s++)
        SQUARE(add)(sum, a + s, b + s * n, rows, vectors, part, n);
    if (n > SQUARE_ONES || !ones)
        HOT_UNROLL for (int r = 0; r < rows; r++)
            HOT_UNROLL for (int v = 0; v < vectors; v++)
                SQUARE_STAY(sum[r][v]);
    if (ones) {
        SQUARE(add_c)(sum, c, 1, rows, vectors, part, n);
    } else {
        SQUARE_HERE(factors);
        const SQUARE_T scale = factors[0], keep = factors[1];
        HOT_UNROLL for (int r = 0; r < rows; r++)
            HOT_UNROLL for (int v = 0; v < vectors; v++)
                sum[r][v] *= scale;
        if (keep != 0)
            SQUARE(add_c)(sum, c, keep, rows, vectors, part, n);
    }
    HOT_UNROLL for (int r = 0; r < rows; r++)
        HOT_UNROLL for (int v = 0; v < vectors; v++)
            SQUARE(write)(c + r * n + v * lanes, sum[r][v], v == vectors - 1 ? part : 0, n);
}

/* The tiles first ... last - 1 of a strip, of the same height, from this row on: one code for all of them. */
HOT_FN void SQUARE(tiles)(const SQUARE_T *a, const SQUARE_T *b, SQUARE_T *c, const int first, const int last,
                          const int row, const int rows, const int columns, const int n, const int ones,
                          const SQUARE_T *factors, const SQUARE_T *const *next, const int asks)
{
    a += row * n, c += row * n;
    for (int t = first; t < last; t++, a += rows * n, c += rows * n)
        SQUARE(tile)(a, b, c, rows, columns, n, ones, factors, next, asks, t * n);
}

/* `columns` of C over all rows, in tiles of two heights that are nearly the same. The first tiles prefetch the
 * lines. */
HOT_FN void SQUARE(strip)(const SQUARE_T *a, const SQUARE_T *b, SQUARE_T *c, const int columns, const int n,
                          const int ones, const SQUARE_T *factors, const SQUARE_T *const *next, const int asks)
{
    const int vectors = (columns + SQUARE_PART(lanes) - 1) / SQUARE_PART(lanes);
    const int most = HOT_SIMD_BYTES <= 32 ? (vectors == 1 ? 8 : vectors == 2 ? 6 : 4)
                                          : (vectors == 1 ? 16 : vectors == 2 ? 14 : vectors == 3 ? 9 : 6);
    const int tiles = (n + most - 1) / most, high = (n + tiles - 1) / tiles, highs = n - tiles * (high - 1);
    const int lines = asks ? (n * (int)sizeof(SQUARE_T) + 63) / 64 : 0, asking = lines < tiles ? lines : tiles;
    const int both = asking < highs ? asking : highs, either = asking + highs - both, low = high - 1;
    SQUARE(tiles)(a, b, c, 0, both, 0, high, columns, n, ones, factors, next, 1);
    SQUARE(tiles)(a, b, c, both, highs, both * high, high, columns, n, ones, factors, next, 0);
    SQUARE(tiles)(a, b, c, highs, either, highs * high, low, columns, n, ones, factors, next, 1);
    SQUARE(tiles)(a, b, c, either, tiles, either * low + highs, low, columns, n, ones, factors, next, 0);
}

HOT_FN void SQUARE(run)(const hot_tile *tile, const int n, const int ones, const SQUARE_T *factors)
{
    const int vectors = (n + SQUARE_PART(lanes) - 1) / SQUARE_PART(lanes), most = HOT_SIMD_BYTES <= 32 ? 3 : 4;
    const int strips = (vectors + most - 1) / most, wide = (vectors + strips - 1) / strips * SQUARE_PART(lanes);
    const SQUARE_T *a = tile->a, *b = tile->b;
    SQUARE_T *c = tile->c;
    for (size_t item = tile->items; item; item--) {
        const SQUARE_T *const next[3] = {a + tile->a_item, b + tile->b_item, c + tile->c_item};
        HOT_UNROLL for (int column = 0; column < n; column += wide)
            SQUARE(strip)(a, b + column, c + column, n - column < wide ? n - column : wide, n, ones, factors, next,
                          column == 0 && n > 8);
        a = next[0], b = next[1], c += tile->c_item;
    }
}

/* C += A B costs a multiplication less per value of C. Small items have separate code for it: there the test would cost
 * as much. */
HOT_FN void SQUARE(items)(const hot_tile *tile, const int n)
{
    const SQUARE_T factors[2] = {(SQUARE_T)tile->alpha, (SQUARE_T)tile->beta};
    const int ones = tile->alpha == 1 && tile->beta == 1;
    if (n > SQUARE_ONES)
        SQUARE(run)(tile, n, ones, factors);
    else if (ones)
        SQUARE(run)(tile, n, 1, factors);
    else
        SQUARE(run)(tile, n, 0, factors);
}
#undef SQUARE
#undef SQUARE_PART
#undef SQUARE_FACTOR
#undef SQUARE_ADD
#undef SQUARE_STAY
#undef SQUARE_HERE
#undef SQUARE_ZERO
