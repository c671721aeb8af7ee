/* See contract_dense.h. */
#include "contract_dense.h"

#if defined(HOT_CONTRACT_DENSE)
#include <stdint.h>

enum {
    MAX_STEPS = 96, /* a program's: larger items are better packed */
    PAIR_SUMS = 8,   /* up to so many a pair of vectors of half the width, which overlap, costs less than masks */
    SPLIT_SUMS = 8   /* from so many on two sums of each value are worth adding in the end */
};

/* Which lanes a tile's vectors have. */
enum { WHOLE, EIGHT_BYTES, MASKED, FOUR_BYTES };

/* contract_dense.S: the end of a program, then tiles by height, for each type (double first) and each width from 16
 * bytes on: those of one vector, whole, of 8 bytes, masked and of 4 bytes (wider ones: whole and masked; double in 16
 * bytes: whole and of 8); those of two vectors; of the widest also of three and four. Behind each the split ones, with
 * two sums of each value. */
typedef struct layout {
    const void *const *tiles;
    void (*run)(const hot_dense *args);
    unsigned char widths, vectors;
    unsigned char most[4], split[4]; /* rows of a tile by its vectors */
} layout;

extern const void *const hot_contract_dense_tiles_avx2[], *const hot_contract_dense_tiles_avx512[];
void hot_contract_dense_run_avx2(const hot_dense *args);
void hot_contract_dense_run_avx512(const hot_dense *args);

static const layout layouts[2] = {
    {hot_contract_dense_tiles_avx2, hot_contract_dense_run_avx2, 2, 3, {12, 6, 4, 2}, {6, 3, 2, 1}},
    {hot_contract_dense_tiles_avx512, hot_contract_dense_run_avx512, 3, 4, {12, 12, 9, 6}, {7, 3, 2, 1}},
};

/* Masks of n 4-byte lanes start n before the zeros. */
static const int32_t lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

static const void *tile_code(const layout *at, int f64, int width, int part, size_t rows, size_t vectors, int split)
{
    size_t each[4], index = 1;
    for (int v = 0; v < 4; v++)
        each[v] = (size_t)at->most[v] + at->split[v];
    const size_t wider = 2 * each[0] + each[1], kinds = width > 0 || f64 ? 2 : 4;
    if (!f64)
        index += at->widths * wider + each[2] + each[3];
    if (width > 0)
        index += (size_t)width * wider + (f64 ? 0 : 2 * each[0]);
    if (vectors > 1)
        index += kinds * each[0];
    else
        index += (size_t)(width > 0 && part == MASKED ? 1 : part) * each[0];
    for (size_t v = 1; v + 1 < vectors; v++)
        index += each[v];
    return at->tiles[index + (split ? at->most[vectors - 1] : 0) + rows - 1];
}

/* The program of a tile: strips of nearly equal width, each in tiles of two nearly equal heights. Returns its length,
 * 0: too long. */
static size_t plan(const layout *at, const hot_tile *tile, int f64, size_t max_tile_rows, size_t max_vectors,
                   hot_dense *args, hot_dense_step *program)
{
    const size_t bytes = f64 ? 8 : 4, per_vector = at == &layouts[0] ? 32 / bytes : 64 / bytes;
    const size_t total = (tile->columns + per_vector - 1) / per_vector,
                 widest = max_vectors && max_vectors < at->vectors ? max_vectors
                     : tile->rows <= at->most[3]                           ? 4
                                                                           : at->vectors,
                 across = (total + widest - 1) / widest;
    size_t count = 0, done = 0;
    for (size_t strip = 0; strip < across; strip++) {
        const size_t column = done * per_vector;
        size_t vectors = (total - done + across - strip - 1) / (across - strip);
        done += vectors;
        const size_t columns = strip + 1 < across ? vectors * per_vector : tile->columns - column;
        const size_t row_bytes = columns * bytes;
        int width = row_bytes <= 16 ? 0 : row_bytes <= 32 ? 1 : at->widths - 1, part = WHOLE;
        if (vectors == 1 && row_bytes != (size_t)16 << width) {
            if (row_bytes == 8)
                part = EIGHT_BYTES;
            else if (row_bytes == 4)
                part = FOUR_BYTES;
            else if (width > 0 && tile->sums <= PAIR_SUMS)
                vectors = 2, width--;
            else
                part = MASKED;
        }
        const size_t limit = at->most[vectors - 1],
            most = max_tile_rows && max_tile_rows < limit ? max_tile_rows : limit;
        const size_t down = (tile->rows + most - 1) / most;
        if (part == MASKED) {
            args->mask = ((size_t)1 << columns) - 1;
            args->lanes = lanes + 8 - row_bytes / 4;
        }
        if (down > MAX_STEPS - count)
            return 0;
        for (size_t t = 0, row = 0, rows; t < down; t++, row += rows) {
            rows = (tile->rows - row + down - t - 1) / (down - t);
            /* for now from the item's first value */
            program[count++] = (hot_dense_step){
                tile_code(at, f64, width, part, rows, vectors,
                          tile->sums >= SPLIT_SUMS && rows <= at->split[vectors - 1]),
                row * args->a_row, column * bytes, row * args->c_row + column * bytes,
                vectors > 1 ? row_bytes - ((size_t)16 << width) : 0};
        }
    }
    program[count] =
        (hot_dense_step){at->tiles[0], tile->a_item * bytes, tile->b_item * bytes, tile->c_item * bytes, 0};
    for (size_t i = 0; i < count; i++) {
        program[i].a = program[i + 1].a - program[i].a;
        program[i].b = program[i + 1].b - program[i].b;
        program[i].c = program[i + 1].c - program[i].c;
    }
    return count;
}

int hot_dense_tiles(const hot_tile *tile, int f64, int bytes, int max_tile_rows, int max_vectors)
{
    const layout *at = &layouts[bytes == 64];
    const size_t value = f64 ? sizeof(double) : sizeof(float);
    hot_dense_step program[MAX_STEPS + 1];
    const size_t other = tile->alpha == 1 && tile->beta == 1 ? 0
        : tile->beta != 0                                    ? HOT_DENSE_OTHER | HOT_DENSE_READS
                                                             : HOT_DENSE_OTHER;
    hot_dense args = {.fours = tile->sums / 4, .flags = tile->sums % 4 | other, .items = tile->items,
                     .program = program, .a = tile->a, .b = tile->b, .c = tile->c, .a_row = tile->a_row * value,
                     .b_row = tile->b_sum * value, .c_row = tile->c_row * value, .lanes = lanes};
    if (tile->a_panel || tile->b_panel || (tile->a_sum != 1 && tile->sums > 1))
        return 0;
    if (!tile->rows || !tile->columns || !tile->items)
        return 1;
    if (f64)
        args.alpha.f64 = tile->alpha, args.beta.f64 = tile->beta;
    else
        args.alpha.f32 = (float)tile->alpha, args.beta.f32 = (float)tile->beta;
    if (!plan(at, tile, f64, (size_t)max_tile_rows, (size_t)max_vectors, &args, program))
        return 0;
    at->run(&args);
    return 1;
}

_Static_assert(offsetof(hot_dense, flags) == 8 && offsetof(hot_dense, alpha) == 32 && offsetof(hot_dense, a) == 48 &&
                   offsetof(hot_dense, a_row) == 72 && offsetof(hot_dense, lanes) == 104 &&
                   offsetof(hot_dense_step, last) == 32 && sizeof(hot_dense_step) == 40,
               "contract_dense.S knows where these lie");
#else
typedef int hot_contract_has_no_dense_tiles; /* a file of C is not empty */
#endif
