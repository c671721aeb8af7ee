/* Contractions: every backend against a loop over all indices in long double with an independent parser of the spec. */
#include <complex.h>

#include "values.h"
#include "walls.h"

#include "common/context_internal.h"
#include <hotfiber/contract.h>

/* contract_lists.c */
void check_contract_lists(check_run *run, int f64);
void check_contract_three(check_run *run);

enum { MAX_LETTERS = 12 };

/* One problem: operands A, B and C with a letter, a size and a stride per axis. */
typedef struct problem {
    int f64;
    const char *spec;                    /* NULL: the matrix entry points, "ik,kj->ij" */
    const char *letters[3];
    hot_contract_layout layout[3];
    size_t batch, values[3];             /* values of each operand's memory, gaps included */
    double alpha, beta;
    int pairs, conjugate;                /* complex values: hot_contract_c128, _c64 */
    double alpha_im, beta_im;
    int walls;                           /* behind each operand lies a page that nobody may touch */
} problem;

static size_t size_of(const problem *p, char letter)
{
    for (int o = 0; o < 3; o++)
        for (int a = 0; a < p->layout[o].axes; a++)
            if (p->letters[o][a] == letter)
                return p->layout[o].size[a];
    return 0;
}

/* Strides of an operand: its axes in the order of `order` (a permutation's digits, fastest first), `gap` values left
 * out after each row, and the batch the slowest index, or with `inner` the fastest. */
static void lay_out(problem *p, int operand, const size_t *sizes, const char *letters, const char *order, size_t gap,
                    int inner)
{
    hot_contract_layout *layout = &p->layout[operand];
    size_t stride = inner ? p->batch : 1;
    memset(layout, 0, sizeof *layout);
    layout->axes = (int)strlen(letters);
    p->letters[operand] = letters;
    for (int at = 0; at < layout->axes; at++) {
        const int axis = order ? order[at] - '0' : at;
        layout->size[axis] = sizes[axis];
        layout->stride[axis] = stride;
        stride = stride * sizes[axis] + gap;
    }
    layout->batch = inner ? 1 : stride;
    p->values[operand] = inner ? stride : stride * p->batch;
}

/* How far apart an operand's values are along each of these letters; 0 where it has no such axis. */
static void steps_of(const problem *p, int operand, const char *names, size_t step[MAX_LETTERS])
{
    memset(step, 0, MAX_LETTERS * sizeof *step);
    for (int a = 0; a < p->layout[operand].axes; a++)
        step[strchr(names, p->letters[operand][a]) - names] += p->layout[operand].stride[a];
}

static size_t offset_of(size_t begin, int letters, const size_t *step, const size_t *index)
{
    for (int i = 0; i < letters; i++)
        begin += index[i] * step[i];
    return begin;
}

/* The next of all values of index[first] to index[last - 1], the first one fastest. */
static void count_up(size_t *index, const size_t *sizes, int first, int last)
{
    for (int i = first; i < last && ++index[i] == sizes[i]; i++)
        index[i] = 0;
}

static hot_status call(hot_context *context, const problem *p, const void *a, const void *b, void *c)
{
    const hot_contract_layout *l = p->layout;
    if (p->pairs && p->f64)
        return hot_contract_c128(context, NULL, p->spec, p->conjugate, p->batch, (double[]){p->alpha, p->alpha_im}, a,
                                 &l[0], b, &l[1], (double[]){p->beta, p->beta_im}, c, &l[2]);
    if (p->pairs)
        return hot_contract_c64(context, NULL, p->spec, p->conjugate, p->batch,
                                (float[]){(float)p->alpha, (float)p->alpha_im}, a, &l[0], b, &l[1],
                                (float[]){(float)p->beta, (float)p->beta_im}, c, &l[2]);
    if (p->spec && p->f64)
        return hot_contract_f64(context, NULL, p->spec, p->batch, p->alpha, a, &l[0], b, &l[1], p->beta, c, &l[2]);
    if (p->spec)
        return hot_contract_f32(context, NULL, p->spec, p->batch, (float)p->alpha, a, &l[0], b, &l[1], (float)p->beta,
                                c, &l[2]);
    const size_t strides[3][3] = {{l[0].stride[0], l[0].stride[1], l[0].batch},
                                  {l[1].stride[0], l[1].stride[1], l[1].batch},
                                  {l[2].stride[0], l[2].stride[1], l[2].batch}};
    const size_t m = l[0].size[0], k = l[0].size[1], n = l[1].size[1];
    if (p->f64)
        return hot_contract_matrices_f64(context, NULL, m, n, k, p->batch, p->alpha, a, strides[0], b, strides[1],
                                         p->beta, c, strides[2]);
    return hot_contract_matrices_f32(context, NULL, m, n, k, p->batch, (float)p->alpha, a, strides[0], b, strides[1],
                                     (float)p->beta, c, strides[2]);
}

/* A value of an operand, complex or not. */
static long double _Complex get_value(const problem *p, const void *array, size_t at, int conjugate)
{
    if (!p->pairs)
        return get(p->f64, array, at);
    const long double im = get(p->f64, array, 2 * at + 1);
    return get(p->f64, array, 2 * at) + (conjugate ? -im : im) * _Complex_I;
}

/* Every value of C of some items: the loop over all indices. written[] marks what C holds. */
static void compare(check_run *run, const problem *p, const void *a, const void *b, const void *before, const void *c,
                    unsigned char *written)
{
    char names[MAX_LETTERS + 1] = "";
    const double eps = p->f64 ? 0x1p-53 : 0x1p-24;
    size_t sizes[MAX_LETTERS], kept_total = 1, sum_total = 1;
    int kept = (int)strlen(p->letters[2]), all;
    memcpy(names, p->letters[2], (size_t)kept);
    for (const char *letter = p->letters[0]; *letter; letter++) /* summed letters: in A (and B) and not in C */
        if (!strchr(names, *letter))
            names[strlen(names)] = *letter;
    all = (int)strlen(names);
    for (int i = 0; i < all; i++) {
        sizes[i] = size_of(p, names[i]);
        *(i < kept ? &kept_total : &sum_total) *= sizes[i];
    }
    size_t step[3][MAX_LETTERS];
    for (int o = 0; o < 3; o++)
        steps_of(p, o, names, step[o]);
    for (size_t item = 0; item < p->batch; item++) {
        const int look = item < 3 || item + 3 > p->batch || item % 997 == 500;
        const size_t begin[3] = {item * p->layout[0].batch, item * p->layout[1].batch, item * p->layout[2].batch};
        size_t index[MAX_LETTERS] = {0};
        for (size_t e = 0; e < kept_total; e++, count_up(index, sizes, 0, kept)) {
            const size_t at = offset_of(begin[2], all, step[2], index);
            written[at] = 1;
            if (!look)
                continue;
            long double _Complex sum = 0;
            long double magnitude = 0;
            for (size_t s = 0; s < sum_total; s++, count_up(index, sizes, kept, all)) {
                const long double _Complex term =
                    (p->alpha + p->alpha_im * (long double _Complex)_Complex_I) *
                    get_value(p, a, offset_of(begin[0], all, step[0], index), p->conjugate & HOT_CONJUGATE_A) *
                    get_value(p, b, offset_of(begin[1], all, step[1], index), p->conjugate & HOT_CONJUGATE_B);
                sum += term;
                magnitude += cabsl(term);
            }
            if (p->beta != 0 || p->beta_im != 0) {
                const long double _Complex old =
                    (p->beta + p->beta_im * (long double _Complex)_Complex_I) * get_value(p, before, at, 0);
                sum += old;
                magnitude += cabsl(old);
            }
            /* a complex product has two real products and the factor alpha, each rounded: |x| + |y| <= 1.42 |z| */
            const double error = (double)cabsl(get_value(p, c, at, 0) - sum),
                         bound = (p->pairs ? 2 * (2 * (double)sum_total + 6) : (double)sum_total + 4) * eps;
            CHECK_ITEM(run, item, error <= bound * (double)magnitude,
                       "value %zu: %.17Lg %+.17Lg i, not %.17Lg %+.17Lg i", e, creall(get_value(p, c, at, 0)),
                       cimagl(get_value(p, c, at, 0)), creall(sum), cimagl(sum));
        }
    }
}

static void check_problem(check_run *run, const problem *p, const char *name)
{
    char text[160];
    snprintf(text, sizeof text, p->pairs ? "%s, c%d, alpha %g %+g i beta %g %+g i, conjugate %d, batch %zu"
                                           : "%s, f%d, alpha %g beta %g", name,
             p->pairs ? (p->f64 ? 128 : 64) : p->f64 ? 64 : 32, p->alpha, p->pairs ? p->alpha_im : p->beta, p->beta,
             p->beta_im, p->conjugate, p->batch);
    if (!check_wanted(run, text))
        return;
    check_case_begin(run, text, p->batch);
    const size_t bytes = (p->f64 ? 8 : 4) * (p->pairs ? 2 : 1);
    const int reads = p->alpha != 0 || p->alpha_im != 0, adds = p->beta != 0 || p->beta_im != 0;
    void *values[3];
    for (int o = 0; o < 3; o++) {
        values[o] = malloc((p->values[o] + 1) * bytes);
        for (size_t i = 0; i < p->values[o] * (p->pairs ? 2 : 1); i++)
            /* what must not be read is NaN: C when beta is 0, A and B when alpha is */
            put(p->f64, values[o], i, (o == 2 ? adds : reads) ? check_random_normal(&run->seed) : NAN);
    }
    const void *a, *b;
    void *c;
    walled walls[3];
    for (int o = 0; o < 3 && p->walls; o++)
        walls[o] = wall_up(values[o], p->values[o] * bytes);
    if (p->walls) {
        a = walls[0].values, b = walls[1].values, c = walls[2].values;
    } else {
        a = check_input(run, values[0], p->values[0] * bytes);
        b = check_input(run, values[1], p->values[1] * bytes);
        c = check_output(run, p->values[2] * bytes);
        memcpy(c, values[2], p->values[2] * bytes);
    }
    if (check_call(run, call(run->context, p, a, b, c))) {
        unsigned char *written = calloc(p->values[2] + 1, 1);
        problem q = *p;
        if (!reads) /* NaN times 0 is not in the sum */
            for (int o = 0; o < 2; o++)
                memset(values[o], 0, p->values[o] * bytes);
        compare(run, &q, values[0], values[1], values[2], c, written);
        for (size_t i = 0; i < p->values[2]; i++)
            CHECK_ITEM(run, i, written[i] || memcmp((char *)c + i * bytes, (char *)values[2] + i * bytes, bytes) == 0,
                       "a value between those of C was written");
        free(written);
    }
    check_case_end(run);
    for (int o = 0; o < 3; o++) {
        free(values[o]);
        if (p->walls)
            munmap(walls[o].pages, walls[o].length);
    }
}

/* Matrix products; which: bits 1 2 4 transpose A B C, 8 leaves gaps, 16 has the batch as the fastest index, 32 has the
 * page behind each operand forbidden. */
static void check_matrices(check_run *run, int f64, size_t m, size_t n, size_t k, size_t batch, double alpha,
                           double beta, int which)
{
    char name[100];
    const size_t sizes[3][2] = {{m, k}, {k, n}, {m, n}};
    static const char *const letters[3] = {"ik", "kj", "ij"};
    problem p = {.f64 = f64, .batch = batch, .alpha = alpha, .beta = beta, .walls = (which & 32) != 0};
    for (int o = 0; o < 3; o++)
        lay_out(&p, o, sizes[o], letters[o], which & (1 << o) ? "01" : "10", which & 8 ? 3 : 0, which & 16);
    snprintf(name, sizeof name, "%zu x %zu x %zu, layout %d", m, n, k, which);
    check_problem(run, &p, name);
}

static const double factors[][2] = {{1, 0}, {1, 1}, {0, 1}, {0, 0}, {-.7, 1.3}, {0, .5}};
enum { FACTORS = 6 };

static void check_all_matrices(check_run *run, int f64)
{
    /* Every square size of the compiled kernels and a little beyond, dense, and in layouts that change with the
     * size. */
    for (size_t n = 0; n <= 35; n++) {
        check_matrices(run, f64, n, n, n, 37, -.7, 1.3, 0);
        check_matrices(run, f64, n, n, n, 70, factors[n % FACTORS][0], factors[n % FACTORS][1], (int)(n * 5 % 32));
        check_matrices(run, f64, n, n, n, 2, factors[(n + 1) % FACTORS][0], factors[(n + 1) % FACTORS][1],
                       (int)(n % 8));
    }
    static const size_t shapes[][3] = {{1, 1, 1},   {1, 7, 3},    {7, 1, 3},    {5, 3, 1},   {3, 5, 0},
                                       {0, 4, 4},   {4, 0, 4},    {9, 17, 5},   {16, 4, 33}, {2, 64, 8},
                                       {65, 2, 31}, {40, 50, 60}, {33, 31, 129}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int which = 0; which < 32; which += s % 3 + 1)
            check_matrices(run, f64, shapes[s][0], shapes[s][1], shapes[s][2], 3, factors[which % FACTORS][0],
                           factors[which % FACTORS][1], which);
    for (size_t i = 0; i < check_size_count(run); i++) {
        check_matrices(run, f64, 3, 3, 3, check_sizes[i], 1.5, -.5, 0);
        check_matrices(run, f64, 4, 2, 5, check_sizes[i], 1, 0, (int)i);
        check_matrices(run, f64, 8, 8, 8, check_sizes[i], 1, i % 2, 8);
    }
    check_matrices(run, f64, 2, 2, 2, 70001, 1, 1, 0); /* more than a grid of 65535 */
    check_matrices(run, f64, 1, 3, 2, 70001, 1, 1, 5);
    /* Large ones, in several blocks of every kind. */
    check_matrices(run, f64, 150, 400, 270, 1, .5, 2, 0);
    check_matrices(run, f64, 301, 33, 520, 2, 1, 0, 3);
    check_matrices(run, f64, 145, 385, 257, 1, 1, 1, 24);
}

/* Rectangles around the edges of every register tile, and nothing read or written past the end of an operand. */
static void check_rectangles(check_run *run, int f64)
{
    static const size_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 18, 19, 25, 37},
                        columns[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13, 15, 16, 17,
                                     20, 23, 24, 25, 28, 31, 32, 33, 40, 47, 48, 49, 63, 64, 65},
                        sums[] = {1, 2, 3, 4, 7, 8, 9, 12, 18};
    enum { ROWS = sizeof rows / sizeof rows[0], COLUMNS = sizeof columns / sizeof columns[0],
           SUMS = sizeof sums / sizeof sums[0] };
    const int walls = run->cuda ? 0 : 32;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            const double *factor = factors[(2 * i + j) % FACTORS];
            check_matrices(run, f64, rows[i], columns[j], sums[(i + j) % SUMS], 1 + j % 3, 1, 1, walls);
            check_matrices(run, f64, rows[i], columns[j], sums[(3 * i + j + 4) % SUMS], 1 + i % 4, factor[0], factor[1],
                           walls | (i + j) % 2 * 8);
        }
    /* More tiles than one program of the CPU's holds. */
    check_matrices(run, f64, 2000, 5, 3, 2, 1, 1, walls);
    check_matrices(run, f64, 3, 3001, 4, 2, -.7, 1.3, walls);
}

static void check_specs(check_run *run, int f64)
{
    static const struct {
        const char *spec, *letters[3];
        size_t sizes[3][4];
        const char *order[3];
    } specs[] = {
        {"isj,ksl->ijkl", {"isj", "ksl", "ijkl"}, {{3, 5, 4}, {2, 5, 6}, {3, 4, 2, 6}}, {NULL, NULL, NULL}},
        {"isj,ksl->iklj", {"isj", "ksl", "iklj"}, {{3, 5, 4}, {2, 5, 6}, {3, 2, 6, 4}}, {"201", "120", "3102"}},
        {"si,ksl->kil", {"si", "ksl", "kil"}, {{9, 9}, {9, 9, 9}, {9, 9, 9}}, {NULL, NULL, NULL}},
        {"ab,cba->c", {"ab", "cba", "c"}, {{7, 11}, {13, 11, 7}, {13}}, {NULL, NULL, NULL}},
        {"i,j->ij", {"i", "j", "ij"}, {{31}, {33}, {31, 33}}, {NULL, NULL, "10"}},
        {"i,i->", {"i", "i", ""}, {{1000}, {1000}, {0}}, {NULL, NULL, NULL}},
        {"i,i->i", {"i", "i", "i"}, {{45}, {45}, {45}}, {NULL, NULL, NULL}},
        {"hik,hkj->hij", {"hik", "hkj", "hij"}, {{4, 3, 5}, {4, 5, 6}, {4, 3, 6}}, {"120", NULL, "201"}},
        {"x y z, z u -> x u y", {"xyz", "zu", "xuy"}, {{8, 9, 10}, {10, 5}, {8, 5, 9}}, {NULL, "10", NULL}},
    };
    for (size_t s = 0; s < sizeof specs / sizeof specs[0]; s++)
        for (int variant = 0; variant < 8; variant++) {
            problem p = {.f64 = f64, .spec = specs[s].spec, .batch = variant % 3 == 0 ? 1 : variant % 3 == 1 ? 5 : 300,
                         .alpha = factors[variant % FACTORS][0], .beta = factors[variant % FACTORS][1]};
            if (variant == 7)
                p.batch = 0;
            for (int o = 0; o < 3; o++)
                lay_out(&p, o, specs[s].sizes[o], specs[s].letters[o], variant % 2 ? specs[s].order[o] : NULL,
                        variant & 4 ? 2 : 0, variant == 5);
            check_problem(run, &p, specs[s].spec);
        }
    /* One B for the whole batch: a stride of 0. */
    problem p = {.f64 = f64, .batch = 200, .alpha = 1, .beta = 0};
    const size_t sizes[3][2] = {{6, 5}, {5, 7}, {6, 7}};
    static const char *const letters[3] = {"ik", "kj", "ij"};
    for (int o = 0; o < 3; o++)
        lay_out(&p, o, sizes[o], letters[o], "10", 0, 0);
    p.layout[1].batch = 0;
    p.values[1] = 35;
    check_problem(run, &p, "one B for all");
}

/* Complex operands: conjugates, complex factors, layouts, one B for all, products that the kernels know. */
static void check_complex(check_run *run, int f64)
{
    static const struct {
        const char *spec, *letters[3];
        size_t sizes[3][4];
        const char *order[3];
    } specs[] = {
        {"ik,kj->ij", {"ik", "kj", "ij"}, {{3, 4}, {4, 5}, {3, 5}}, {"10", "10", "10"}},
        {"ik,kj->ij", {"ik", "kj", "ij"}, {{16, 16}, {16, 16}, {16, 16}}, {"10", "01", "01"}},
        {"ik,kj->ij", {"ik", "kj", "ij"}, {{33, 7}, {7, 65}, {33, 65}}, {"01", "10", "10"}},
        {"isj,ksl->iklj", {"isj", "ksl", "iklj"}, {{3, 5, 4}, {2, 5, 6}, {3, 2, 6, 4}}, {"201", "120", "3102"}},
        {"ab,cba->c", {"ab", "cba", "c"}, {{7, 11}, {13, 11, 7}, {13}}, {NULL, NULL, NULL}},
        {"i,i->", {"i", "i", ""}, {{100}, {100}, {0}}, {NULL, NULL, NULL}},
        {"i,i->i", {"i", "i", "i"}, {{45}, {45}, {45}}, {NULL, NULL, NULL}},
        {"hik,hkj->hij", {"hik", "hkj", "hij"}, {{4, 3, 5}, {4, 5, 6}, {4, 3, 6}}, {"120", NULL, "201"}},
    };
    static const double alphas[][2] = {{1, 0}, {.6, -.8}, {0, 0}, {0, 1}}, betas[][2] = {{0, 0}, {-.5, 1.5}, {2, 0}};
    for (size_t s = 0; s < sizeof specs / sizeof specs[0]; s++)
        for (int variant = 0; variant < 12; variant++) {
            problem p = {.f64 = f64, .pairs = 1, .spec = specs[s].spec, .batch = variant % 4 == 3 ? 70 : variant % 3,
                         .conjugate = variant % 4, .alpha = alphas[(variant + 1) % 4][0],
                         .alpha_im = alphas[(variant + 1) % 4][1], .beta = betas[variant % 3][0],
                         .beta_im = betas[variant % 3][1]};
            for (int o = 0; o < 3; o++)
                lay_out(&p, o, specs[s].sizes[o], specs[s].letters[o], variant % 2 ? specs[s].order[o] : NULL,
                        variant & 4 ? 2 : 0, variant == 8);
            check_problem(run, &p, specs[s].spec);
        }
    for (int shared = 0; shared < 2; shared++) { /* A or B alike in every item */
        problem p = {.f64 = f64, .pairs = 1, .spec = "ik,kj->ij", .batch = 200, .alpha = 1, .alpha_im = .5};
        const size_t sizes[3][2] = {{6, 5}, {5, 7}, {6, 7}};
        static const char *const letters[3] = {"ik", "kj", "ij"};
        for (int o = 0; o < 3; o++)
            lay_out(&p, o, sizes[o], letters[o], "10", 0, 0);
        p.layout[shared].batch = 0;
        p.values[shared] = shared ? 35 : 30;
        check_problem(run, &p, shared ? "one complex B for all" : "one complex A for all");
    }
}

static void check_wrong(check_run *run)
{
    if (run->device) /* calls are refused before the arrays are read: tested with host arrays */
        return;
    check_case_begin(run, "wrong arguments", 1);
    const size_t sizes[2] = {2, 2}, other[2] = {2, 3};
    const hot_contract_layout square = hot_contract_dense(2, sizes), wide = hot_contract_dense(2, other);
    hot_contract_layout out = square;
    double v[20] = {0};
    static const char *const bad[] = {"",          "ij",        "ij,jk",    "ij,jk->",      "ij,jk->iq", "ii,ij->ij",
                                      "ij,kl->ij", "i1,jk->ik", "ij,jk>ik", "ij,jk->ik->k", "ijk,jk->i"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_ITEM(run, i, hot_contract_f64(run->context, NULL, bad[i], 1, 1, v, &square, v + 4, &square, 0, v, &out) ==
                   HOT_ERROR_ARGUMENT, "spec '%s' was taken", bad[i]);
        CHECK_ITEM(run, i, strlen(hot_context_message(run->context)) > 10, "spec '%s': no message", bad[i]);
        if (strchr(bad[i], 'q') || strchr(bad[i], 'l'))
            CHECK_ITEM(run, i, strstr(hot_context_message(run->context), "'k'") != NULL, "spec '%s': %s", bad[i],
                       hot_context_message(run->context));
    }
    CHECK_ITEM(run, 0, hot_contract_shape(run->context, "ij,kj->ik", &wide, &square, &out) == HOT_ERROR_ARGUMENT,
               "3 is not 2");
    out = wide;
    CHECK_ITEM(run, 0, hot_contract_f64(run->context, NULL, "ij,jk->ik", 1, 1, v, &wide, v + 6, &square, 0, v + 12,
                                        &square) == HOT_ERROR_ARGUMENT, "j is 3 and 2");
    CHECK_ITEM(run, 0, hot_contract_f64(run->context, NULL, "ij,jk->ik", 1, 1, v, &square, v + 6, &square, 0, v + 12,
                                        &out) == HOT_ERROR_ARGUMENT, "k is 2 and 3");
    CHECK_ITEM(run, 0,
               hot_contract_shape(run->context, "ij,ki->jk", &wide, &square, &out) == HOT_OK && out.size[0] == 3 &&
                   out.size[1] == 2 && out.stride[1] == 3 && out.batch == 6,
               "shape");
    const size_t zero[3] = {0, 1, 4}, row[3] = {2, 1, 4}, far[3] = {SIZE_MAX / 4, 1, 4};
    CHECK_ITEM(run, 0, hot_contract_matrices_f64(run->context, NULL, 2, 2, 2, 1, 1, v, row, v, row, 0, v, zero) ==
               HOT_ERROR_ARGUMENT, "C with a stride of 0");
    CHECK_ITEM(run, 0, hot_contract_matrices_f64(run->context, NULL, 9, 2, 2, 1, 1, v, far, v, row, 0, v, row) ==
               HOT_ERROR_MEMORY, "strides that overflow");
    CHECK_ITEM(run, 0, hot_contract_matrices_f64(run->context, NULL, 2, 2, 2, 1, 1, NULL, row, v, row, 0, v, row) ==
               HOT_ERROR_ARGUMENT, "no A");
    const double one[2] = {1, 0};
    out = square;
    CHECK_ITEM(run, 0, hot_contract_c128(run->context, NULL, "ij,jk->ik", 4, 1, one, v, &square, v + 8, &square, one, v,
                                         &out) == HOT_ERROR_ARGUMENT, "conjugate is 4");
    for (int o = 0; o < 3; o++) {
        const hot_status status = hot_contract_c128(run->context, NULL, "ij,jk->ik", 0, 1, one, o == 0 ? NULL : v,
                                                    &square, o == 1 ? NULL : v, &square, one, o == 2 ? NULL : v, &out);
        CHECK_ITEM(run, (size_t)o, status == HOT_ERROR_ARGUMENT &&
                   strchr(hot_context_message(run->context), 'A' + o), "NULL: %s", hot_context_message(run->context));
    }
    check_case_end(run);
}

static void check(check_run *run)
{
    for (int f64 = 0; f64 < 2; f64++) {
        check_all_matrices(run, f64);
        check_rectangles(run, f64);
        check_specs(run, f64);
        check_complex(run, f64);
        check_contract_lists(run, f64);
    }
    check_wrong(run);
    check_contract_three(run);
}

const check_family family_contract = {"contract", 0, 1, check, NULL};
