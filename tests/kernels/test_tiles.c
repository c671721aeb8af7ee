/* Register tiles of small products alone, in C and in assembly, for every instruction set of this machine: numbers of
 * rows and columns around the vectors' lengths against a loop over all indices, and no byte touched past the end of an
 * operand. So the tiles of lesser machines are tested too. */
#include "check.h"
#include "walls.h"

#include "common/context_internal.h"
#include "common/cpu.h"
#include "contract/cpu/contract_variant.h"

enum { MAX_ROWS = 27, MAX_COLUMNS = 70, MAX_SUMS = 18, ITEMS = 3 };

typedef struct operand {
    double wide[ITEMS * MAX_ROWS * MAX_COLUMNS + ITEMS * MAX_SUMS * MAX_COLUMNS];
    float narrow[ITEMS * MAX_ROWS * MAX_COLUMNS + ITEMS * MAX_SUMS * MAX_COLUMNS];
} operand;

static operand a, b, c;
static uint64_t seed = 1;

static void fill(operand *o, size_t count, int f64, int nothing)
{
    for (size_t i = 0; i < count; i++) {
        o->narrow[i] = nothing ? NAN : (float)check_random_normal(&seed);
        o->wide[i] = f64 && !nothing ? check_random_normal(&seed) : o->narrow[i];
    }
}

static void *values(operand *o, int f64) { return f64 ? (void *)o->wide : (void *)o->narrow; }

/* gap: values between the rows of each operand. */
static void one(const hot_contract_variant *variant, int f64, int plain, size_t rows, size_t columns, size_t sums,
                double alpha, double beta, size_t gap)
{
    const size_t bytes = f64 ? sizeof(double) : sizeof(float), a_row = sums + gap, b_row = columns + gap,
                 count[3] = {ITEMS * rows * a_row, ITEMS * sums * b_row, ITEMS * rows * b_row};
    const double eps = f64 ? 0x1p-53 : 0x1p-24;
    fill(&a, count[0], f64, 0);
    fill(&b, count[1], f64, 0);
    fill(&c, count[2], f64, beta == 0);
    walled at[3] = {wall_up(values(&a, f64), count[0] * bytes), wall_up(values(&b, f64), count[1] * bytes),
                    wall_up(values(&c, f64), count[2] * bytes)};
    const hot_tile tile = {.rows = rows, .columns = columns, .sums = sums, .items = ITEMS, .a = at[0].values,
                           .b = at[1].values, .c = at[2].values, .a_row = a_row, .a_sum = 1, .b_sum = b_row,
                           .c_row = b_row, .a_item = rows * a_row, .b_item = sums * b_row, .c_item = rows * b_row,
                           .alpha = alpha, .beta = beta, .plain = plain};
    (f64 ? variant->tile_f64 : variant->tile_f32)(&tile);
    size_t wrong = 0;
    for (size_t i = 0; i < count[2]; i++) {
        const size_t row = i / b_row % rows, item = i / b_row / rows, column = i % b_row;
        const double got = f64 ? ((const double *)(void *)at[2].values)[i] : (double)((float *)(void *)at[2].values)[i];
        if (column >= columns) {
            wrong += memcmp(at[2].values + i * bytes, (char *)values(&c, f64) + i * bytes, bytes) != 0;
            continue;
        }
        long double sum = 0, magnitude = 0;
        for (size_t s = 0; s < sums; s++) {
            const long double term = (long double)alpha * a.wide[(item * rows + row) * a_row + s] *
                b.wide[(item * sums + s) * b_row + column];
            sum += term;
            magnitude += fabsl(term);
        }
        if (beta != 0) {
            sum += (long double)beta * c.wide[i];
            magnitude += fabsl((long double)beta * c.wide[i]);
        }
        wrong += !(fabs(got - (double)sum) <= ((double)sums + 4) * eps * (double)magnitude);
    }
    CHECK(wrong == 0, "%d lanes, %s, f%d, %zu x %zu x %zu, alpha %g beta %g, gap %zu: %zu values", variant->lanes_f32,
          plain ? "C" : "as chosen", f64 ? 64 : 32, rows, columns, sums, alpha, beta, gap, wrong);
    for (int o = 0; o < 3; o++)
        munmap(at[o].pages, at[o].length);
}

int main(void)
{
    static const double factors[][2] = {{1, 1}, {1, 0}, {-.75, 1.25}, {.5, 0}};
    hot_context_options settings = {.size = sizeof settings, .threads = 1, .device = HOT_DEVICE_CPU};
    hot_context *context = NULL;
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "a context");
    for (int level = 0; level <= (int)hot_cpu_best(); level++) {
        hot_context_set_cpu_limit(context, level);
        const hot_contract_variant *variant = hot_contract_variant_choose(context);
        for (int f64 = 0; f64 < 2; f64++)
            for (int plain = 0; plain < 2; plain++)
                for (size_t rows = 1; rows <= MAX_ROWS; rows += rows < 15 ? 1 : 4)
                    for (size_t columns = 1; columns <= 66; columns += columns < 34 ? 1 : 5) {
                        const size_t number = rows * 7 + columns;
                        one(variant, f64, plain, rows, columns, 1 + number % MAX_SUMS, 1, 1, 0);
                        one(variant, f64, plain, rows, columns, 1 + number * 5 % MAX_SUMS, factors[number % 4][0],
                            factors[number % 4][1], number % 3);
                    }
    }
    hot_context_destroy(&context);
    HOT_TEST_END();
}
