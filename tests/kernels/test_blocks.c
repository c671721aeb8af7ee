/* The GPU's arithmetic by blocks (kernels/symtensor/block_product.cuh, block_table.c), on the CPU: for every order from
 * 3 to 8 and dimension from 2 to 16 the sums of the tiles are A x^(m-1) and the trace and squares of A x^(m-2), by the
 * walk through index classes; each point's to the last bit, however many points are done together. And forms A x^p by
 * the tables of forms_cuda.cu. */
#include "check.h"

#include <float.h>
#include <hotfiber/context.h>
#include <hotfiber/symtensor.h>
#include "sshopm/gpu/block_table.h"
#include "symtensor/gpu/forms_table.h"

enum { POINTS = 4 };

/* block_arithmetic.cc */
void block_test_f32(const hot_sshopm_cut *cut, int number, int together, const float *u, const uint64_t *prefix,
                    const float *x, int points, float *to);
void block_test_f64(const hot_sshopm_cut *cut, int number, int together, const double *u, const uint64_t *prefix,
                    const double *x, int points, double *to);

static uint64_t seed = 41;

static double random_value(void) { return 2 * check_random(&seed) - 1; }

/* The sums of one tile at all points, `together` at a time. */
static void tile_sums(const hot_sshopm_cut *cut, int f64, int t, int together, const double *u, const uint64_t *prefix,
                      const double *x, double *to)
{
    const size_t rows = (size_t)hot_sshopm_tile_rows(cut, t) * (size_t)cut->columns,
                 values = (size_t)(cut->block * cut->blocks) * POINTS;
    const int sums = (2 * cut->block + 2) * POINTS;
    _Alignas(64) float narrow_x[20 * POINTS], narrow_to[20 * POINTS];
    _Alignas(64) double aligned_x[20 * POINTS], aligned_to[20 * POINTS];
    float *narrow_u;
    double *aligned_u;
    if (posix_memalign((void **)&narrow_u, 64, (rows + 1) * sizeof *narrow_u) != 0 ||
        posix_memalign((void **)&aligned_u, 64, (rows + 1) * sizeof *aligned_u) != 0)
        exit(1);
    for (size_t i = 0; i < rows; i++)
        narrow_u[i] = (float)u[i], aligned_u[i] = u[i];
    for (size_t i = 0; i < values; i++)
        narrow_x[i] = (float)x[i], aligned_x[i] = x[i];
    for (int i = 0; i < sums; i++)
        narrow_to[i] = 0, aligned_to[i] = 0;
    for (int p = 0; p < POINTS; p += together) {
        if (f64)
            block_test_f64(cut, t, together, aligned_u, prefix, aligned_x + p, POINTS, aligned_to + p);
        else
            block_test_f32(cut, t, together, narrow_u, prefix, narrow_x + p, POINTS, narrow_to + p);
    }
    for (int i = 0; i < sums; i++)
        to[i] = f64 ? aligned_to[i] : (double)narrow_to[i];
    FREE(narrow_u, aligned_u);
}

/* Column 0 to dim - 1: A x^(m-1); then squares and trace. */
static void gather(const hot_sshopm_cut *cut, int f64, int together, const double *u, const uint64_t *prefix,
                   const double *x, double result[][18])
{
    memset(result, 0, POINTS * sizeof *result);
    for (int t = 0; t < cut->tiles; t++) {
        const int b = cut->block, k = cut->k[t] * b, l = cut->l[t] * b;
        double to[20 * POINTS];
        tile_sums(cut, f64, t, together, u, prefix, x, to);
        u += (size_t)hot_sshopm_tile_rows(cut, t) * (size_t)cut->columns;
        for (int p = 0; p < POINTS; p++) {
            for (int i = 0; i < b; i++) {
                if (k + i < cut->dim)
                    result[p][k + i] += to[i * POINTS + p];
                if (l != k && l + i < cut->dim)
                    result[p][l + i] += to[(b + i) * POINTS + p];
            }
            result[p][16] += to[2 * b * POINTS + p];
            result[p][17] += to[(2 * b + 1) * POINTS + p];
        }
    }
}

static void compare(int order, int dim, int f64, const double *tensor, const double *x, double result[][18],
                    double size)
{
    const double slack = 8 * order * sqrt(dim) * (f64 ? DBL_EPSILON : FLT_EPSILON);
    for (int p = 0; p < POINTS; p++) {
        double point[16], h[256], squares = 0, trace = 0;
        for (int d = 0; d < dim; d++)
            point[d] = x[d * POINTS + p];
        hot_symtensor_hessian_f64(order, dim, tensor, point, h);
        for (int k = 0; k < dim; k++) {
            double g = 0;
            for (int l = 0; l < dim; l++)
                g += h[k * dim + l] * point[l], squares += h[k * dim + l] * h[k * dim + l];
            trace += h[k * dim + k];
            CHECK(fabs(result[p][k] - g) <= slack * size, "order %d, dimension %d, f%d: A x^(m-1)[%d] %g, not %g",
                  order, dim, f64 ? 64 : 32, k, result[p][k], g);
        }
        CHECK(fabs(result[p][16] - squares) <= slack * size * size, "order %d, dimension %d: squares %g, not %g", order,
              dim, result[p][16], squares);
        CHECK(fabs(result[p][17] - trace) <= slack * size * dim, "order %d, dimension %d: trace %g, not %g", order, dim,
              result[p][17], trace);
    }
}

static void check_shape(hot_context *context, int order, int dim)
{
    hot_sshopm_cut cut;
    CHECK(hot_sshopm_cut_make(order, dim, &cut), "order %d, dimension %d is not cut", order, dim);
    const size_t values = hot_sshopm_cut_values(&cut), unique = hot_symtensor_count(order, dim);
    uint32_t *code = malloc(values * sizeof *code);
    uint64_t *prefix = malloc((size_t)cut.prefixes * sizeof *prefix);
    double *u = malloc(values * sizeof *u), *tensor = malloc(unique * sizeof *tensor);
    double x[16 * POINTS + 4 * POINTS] = {0}, size = 0, result[POINTS][18], other[POINTS][18];
    CHECK(hot_sshopm_cut_fill(context, &cut, code, prefix) == HOT_OK, "the table");
    for (size_t i = 0; i < unique; i++)
        tensor[i] = (float)random_value();
    for (int p = 0; p < POINTS; p++) {
        double norm = 0, sum = 0;
        for (int d = 0; d < dim; d++) {
            x[d * POINTS + p] = random_value();
            norm += x[d * POINTS + p] * x[d * POINTS + p];
        }
        for (int d = 0; d < dim; d++) {
            x[d * POINTS + p] = (float)(x[d * POINTS + p] / sqrt(norm));
            sum += fabs(x[d * POINTS + p]);
        }
        size = fmax(size, pow(sum, order - 2) * dim); /* of A x^(m-2): values are at most 1 */
    }
    for (size_t i = 0; i < values; i++)
        u[i] = tensor[code[i] & ((1u << HOT_BLOCK_PLACE_BITS) - 1)] * (double)(code[i] >> HOT_BLOCK_PLACE_BITS);
    for (int f64 = 0; f64 < 2; f64++) {
        gather(&cut, f64, f64 ? 2 : 4, u, prefix, x, result);
        compare(order, dim, f64, tensor, x, result, size);
        for (int together = 1; together < (f64 ? 2 : 4); together *= 2) {
            gather(&cut, f64, together, u, prefix, x, other);
            CHECK(memcmp(result, other, sizeof result) == 0, "order %d, dimension %d, f%d: %d points together have "
                  "other sums", order, dim, f64 ? 64 : 32, together);
        }
    }
    FREE(code, prefix, u, tensor);
}

void form_test(const hot_forms_table *table, const double *u, const uint64_t *prefix, int prefixes, const double *x,
               double *sum);

/* A x^p by the tables of forms_cuda.cu, part by part, as the CPU's. */
static void check_forms(hot_context *context, int order, int dim, int times)
{
    hot_forms_table table;
    const size_t unique = hot_symtensor_count(order, dim);
    CHECK(hot_forms_table_create(context, order, dim, times, &table) == HOT_OK, "the table");
    double *tensor = malloc(unique * sizeof *tensor), *expected = malloc((size_t)table.rows * sizeof *expected);
    double x[16], size = 0, *u;
    if (posix_memalign((void **)&u, 64, HOT_FORMS_COLUMNS * 16 * sizeof *u) != 0)
        exit(1);
    for (size_t i = 0; i < unique; i++)
        tensor[i] = random_value();
    for (int d = 0; d < dim; d++)
        x[d] = random_value(), size += fabs(x[d]);
    CHECK(hot_symtensor_contract_f64(context, order, dim, times, 1, tensor, unique, 1, x, expected) == HOT_OK, "call");
    for (int tile = 0; tile < table.tiles; tile++) {
        double sum[16] = {0};
        for (int part = 0; part < table.parts; part++) {
            const int *range = table.part + 2 * part, columns = range[3] - range[1];
            const uint32_t *place = table.place + (size_t)(tile * table.columns + range[1]) * (size_t)table.tile;
            CHECK(columns > 0 && columns <= HOT_FORMS_COLUMNS, "%d columns of a part", columns);
            for (int i = 0; i < columns * table.tile; i++)
                u[i] = tensor[place[i]] * table.weight[range[1] + i / table.tile];
            form_test(&table, u, table.prefix + range[0], range[2] - range[0], x, sum);
        }
        for (int r = 0; r < table.tile && tile * table.tile + r < table.rows; r++)
            CHECK_NEAR(sum[r], expected[tile * table.tile + r], 1e-14 * (times + dim) * pow(size, times),
                       "order %d, dimension %d, p %d: row %d is %g, not %g", order, dim, times, tile * table.tile + r,
                       sum[r], expected[tile * table.tile + r]);
    }
    hot_forms_table_free(context, &table);
    free(tensor), free(expected), free(u);
}

int main(void)
{
    hot_context *context = NULL;
    hot_sshopm_cut cut;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    for (int order = 3; order <= 8; order++)
        for (int dim = 2; dim <= 16; dim++)
            if (hot_symtensor_count(order, dim) <= 20000)
                check_shape(context, order, dim);
    check_shape(context, 8, 10); /* an index of every length; larger ones differ in nothing */
    hot_forms_table table;
    for (int order = 1; order <= 8; order++)
        for (int dim = 1; dim <= 16; dim++)
            for (int times = 1; times <= order && hot_symtensor_count(order, dim) <= 4000; times++)
                check_forms(context, order, dim, times);
    check_forms(context, 16, 3, 13);
    CHECK(hot_forms_table_create(context, 16, 16, 8, &table) == HOT_ERROR_DEVICE, "a table of 2^37 places");
    hot_forms_table_free(context, &table);
    CHECK(!hot_sshopm_cut_make(2, 4, &cut) && !hot_sshopm_cut_make(9, 3, &cut) && !hot_sshopm_cut_make(4, 1, &cut),
          "shapes beyond the bounds are cut");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
