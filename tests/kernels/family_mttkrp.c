/* Products of a tensor with two factors (MTTKRP) against loops in long double: made at once, and from a tensor that is
 * kept: in any order of modes and ranks, by several threads, after the caller's array is gone. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "values.h"

#include "bench/kernels/cpd_measure.h"
#include <hotfiber/cpd.h>

/* A tensor and its factors, in the precision of the calls. */
typedef struct problem {
    int f64;
    hot_cpd_arithmetic arithmetic;
    size_t n[3], rank;
    const void *x, *f[3];
} problem;

static size_t size_of(const problem *p) { return p->f64 ? sizeof(double) : sizeof(float); }

static void *random_values(check_run *run, int f64, size_t count, double scale)
{
    double *wide = normals(run, count);
    for (size_t i = 0; i < count; i++)
        wide[i] *= scale;
    void *values = narrow(wide, count, f64);
    free(wide);
    return values;
}

static const void *random_input(check_run *run, int f64, size_t count, double scale)
{
    void *values = random_values(run, f64, count, scale);
    const void *input = check_input(run, values, count * (f64 ? sizeof(double) : sizeof(float)));
    free(values);
    return input;
}

static problem make_problem(check_run *run, int f64, hot_cpd_arithmetic arithmetic, const size_t n[3], size_t rank,
                            double scale)
{
    problem p = {.f64 = f64, .arithmetic = arithmetic, .n = {n[0], n[1], n[2]}, .rank = rank};
    for (int m = 0; m < 3; m++)
        p.f[m] = random_input(run, f64, n[m] * rank, 1);
    p.x = random_input(run, f64, n[0] * n[1] * n[2], scale);
    return p;
}

/* Judges a part of the product's values, spread over all of it. floor: added to the bound. */
static void judge(check_run *run, const problem *p, int mode, const void *out, double floor)
{
    const size_t *n = p->n, size = size_of(p), count = n[mode] * p->rank;
    const int one = mode == 0 ? 1 : 0, other = mode == 2 ? 1 : 2;
    const size_t step[3] = {1, n[0], n[0] * n[1]};
    const double work = (double)(n[0] * n[1] * n[2]) / (double)n[mode];
    const size_t looks = work > 15000 ? 24 : work < 1300 ? 300 : (size_t)(400000 / work), look = count / looks + 1;
    /* TF32 rounds factors and tensor to 11 bits; a split product and float itself do not. */
    const double eps = p->f64 ? 0x1p-53 : p->arithmetic == HOT_CPD_TF32 && run->cuda ? 0x1p-10 : 0x1p-24;
    CHECK_ITEM(run, 0, check_unwritten(out, count, size) == 0, "values were not written");
    for (size_t e = 0; e < count; e += look) {
        const size_t row = e % n[mode], r = e / n[mode];
        long double sum = 0, magnitude = 0;
        for (size_t i = 0; i < n[one]; i++)
            for (size_t j = 0; j < n[other]; j++) {
                const long double term =
                    (long double)get(p->f64, p->x, row * step[mode] + i * step[one] + j * step[other]) *
                    get(p->f64, p->f[one], i + n[one] * r) * get(p->f64, p->f[other], j + n[other] * r);
                sum += term;
                magnitude += fabsl(term);
            }
        /* On a GPU a split product has two parts of 11 bits of both operands: each loses 2^-22, and so does the product
         * of the small parts, which is left out; 2^-22 is 4 eps. */
        const int parts = p->arithmetic == HOT_CPD_SPLIT && run->cuda;
        const double terms =
            p->arithmetic == HOT_CPD_TF32 ? 4 : (double)(n[one] + n[other] + 8 + (parts ? 12 : 0));
        const double bound = terms * eps * (double)magnitude + floor;
        CHECK_ITEM(run, e, fabs(get(p->f64, out, e) - (double)sum) <= bound,
                   "mode %d, rank %zu: %.9g, not %.9Lg (of %.3Lg)", mode + 1, p->rank, get(p->f64, out, e), sum,
                   magnitude);
    }
}

static void check_once(check_run *run, int f64, hot_cpd_arithmetic arithmetic, const size_t n[3], size_t rank)
{
    char name[100];
    snprintf(name, sizeof name, "mttkrp %zu x %zu x %zu, rank %zu, f%d, arithmetic %d", n[0], n[1], n[2], rank,
             f64 ? 64 : 32, arithmetic);
    if (!check_wanted(run, name))
        return;
    for (int mode = 0; mode < 3; mode++) {
        check_case_begin(run, name, (size_t)mode + 1);
        problem p = make_problem(run, f64, arithmetic, n, rank, 1);
        void *out = check_output(run, n[mode] * rank * size_of(&p));
        p.f[mode] = NULL;
        const hot_status status = f64 ? hot_mttkrp_f64(run->context, mode + 1, n[0], n[1], n[2], rank, p.x, p.f[0],
                                                       p.f[1], p.f[2], out)
                                      : hot_mttkrp_f32(run->context, arithmetic, mode + 1, n[0], n[1], n[2], rank, p.x,
                                                       p.f[0], p.f[1], p.f[2], out);
        if (check_call(run, status))
            judge(run, &p, mode, out, 0);
        check_case_end(run);
    }
}

/* ---- Kept tensors ------------------------------------------------------------------------------------------------ */

static hot_status keep(hot_context *context, const problem *p, const void *x, hot_mttkrp_tensor **tensor)
{
    return p->f64 ? hot_mttkrp_tensor_create_f64(context, p->n[0], p->n[1], p->n[2], x, tensor)
                  : hot_mttkrp_tensor_create_f32(context, p->arithmetic, p->n[0], p->n[1], p->n[2], x, tensor);
}

static hot_status multiply(hot_context *context, hot_mttkrp_tensor *tensor, const problem *p, int mode, void *out)
{
    const void *f[3] = {p->f[0], p->f[1], p->f[2]};
    f[mode] = NULL;
    return p->f64 ? hot_mttkrp_tensor_product_f64(context, tensor, mode + 1, p->rank, f[0], f[1], f[2], out)
                  : hot_mttkrp_tensor_product_f32(context, tensor, mode + 1, p->rank, f[0], f[1], f[2], out);
}

/* One tensor, all modes and ranks, the first of them once more; the array that it was made of is overwritten. scale: of
 * its values. */
static void check_kept(check_run *run, int f64, hot_cpd_arithmetic arithmetic, const size_t n[3], const size_t *ranks,
                       size_t count, double scale)
{
    char name[100];
    const size_t total = n[0] * n[1] * n[2];
    snprintf(name, sizeof name, "kept %zu x %zu x %zu, values of %g, f%d, arithmetic %d", n[0], n[1], n[2], scale,
             f64 ? 64 : 32, arithmetic);
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, total);
    problem p = make_problem(run, f64, arithmetic, n, 1, scale);
    hot_mttkrp_tensor *tensor = NULL;
    void *gone = malloc(total * size_of(&p));
    memcpy(gone, p.x, total * size_of(&p));
    const int kept = check_call(run, keep(run->context, &p, gone, &tensor));
    memset(gone, 0xff, total * size_of(&p)); /* NaN */
    free(gone);
    for (size_t r = 0; r <= count && kept; r++) {
        p.rank = ranks[r % count];
        for (int m = 0; m < 3; m++)
            p.f[m] = random_input(run, f64, n[m] * p.rank, 1);
        for (int turn = 0; turn < 3; turn++) {
            const int mode = (turn + (int)r) % 3;
            void *out = check_output(run, n[mode] * p.rank * size_of(&p));
            if (check_call(run, multiply(run->context, tensor, &p, mode, out)))
                judge(run, &p, mode, out, 0);
        }
    }
    hot_mttkrp_tensor_destroy(&tensor);
    CHECK_ITEM(run, 0, tensor == NULL, "the pointer still points somewhere");
    check_case_end(run);
}

/* Everything in the GPU's memory. */
static void check_lent(check_run *run, int f64, hot_cpd_arithmetic arithmetic)
{
    char name[100];
    const size_t n[3] = {60, 52, 49}, rank = 130, total = n[0] * n[1] * n[2];
    snprintf(name, sizeof name, "kept, of the GPU's memory, f%d, arithmetic %d", f64 ? 64 : 32, arithmetic);
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, total);
    problem p = make_problem(run, f64, arithmetic, n, rank, 1), there = p;
    const size_t size = size_of(&p);
    hot_mttkrp_tensor *tensor = NULL;
    void *lent[5] = {0}, *spare = malloc(total * size);
    int ready = check_call(run, hot_cpd_bench_lend(run->context, p.x, total * size, &lent[3]));
    for (int m = 0; m < 3; m++) {
        ready &= check_call(run, hot_cpd_bench_lend(run->context, p.f[m], n[m] * rank * size, &lent[m]));
        there.f[m] = lent[m];
    }
    ready = ready && check_call(run, keep(run->context, &p, lent[3], &tensor));
    for (int mode = 0; mode < 3 && ready; mode++) {
        const size_t bytes = n[mode] * rank * size;
        void *out = check_output(run, bytes);
        if (check_call(run, hot_cpd_bench_lend(run->context, out, bytes, &lent[4])) &&
            check_call(run, multiply(run->context, tensor, &there, mode, lent[4])) &&
            check_call(run, hot_cpd_bench_return(run->context, lent[4], bytes, out)))
            judge(run, &p, mode, out, 0);
    }
    for (int l = 0; l < 4; l++)
        if (lent[l])
            hot_cpd_bench_return(run->context, lent[l], size, spare);
    free(spare);
    hot_mttkrp_tensor_destroy(&tensor);
    check_case_end(run);
}

/* Zeros; one large value among small ones; what is no tensor, and what is no product. */
static void check_strange(check_run *run, int f64, hot_cpd_arithmetic arithmetic)
{
    char name[100];
    const size_t n[3] = {50, 52, 54}, total = n[0] * n[1] * n[2], rank = 9;
    snprintf(name, sizeof name, "kept, strange values, f%d, arithmetic %d", f64 ? 64 : 32, arithmetic);
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, total);
    problem p = make_problem(run, f64, arithmetic, n, rank, 1);
    const size_t size = size_of(&p);
    void *x = calloc(total, size);
    hot_mttkrp_tensor *tensor = NULL;
    if (check_call(run, keep(run->context, &p, x, &tensor)))
        for (int mode = 0; mode < 3; mode++) {
            void *out = check_output(run, n[mode] * rank * size);
            if (check_call(run, multiply(run->context, tensor, &p, mode, out)))
                for (size_t i = 0; i < n[mode] * rank; i++)
                    CHECK_ITEM(run, i, get(f64, out, i) == 0, "zeros times factors are %g", get(f64, out, i));
        }
    hot_mttkrp_tensor_destroy(&tensor);
    memcpy(x, p.x, total * size);
    if (f64)
        ((double *)x)[1234] = 1e30;
    else
        ((float *)x)[1234] = 1e30f;
    problem large = p;
    large.x = x;
    if (check_call(run, keep(run->context, &large, x, &tensor)))
        for (int mode = 0; mode < 3; mode++) {
            void *out = check_output(run, n[mode] * rank * size);
            if (check_call(run, multiply(run->context, tensor, &large, mode, out)))
                judge(run, &large, mode, out, (f64 ? 1e-15 : 1e-8) * 1e30);
        }
    hot_mttkrp_tensor_destroy(&tensor);
    for (int which = 0; which < 3; which++) { /* NaN, Inf and -Inf, in the middle, first and last */
        const double strange = which == 0 ? NAN : which == 1 ? INFINITY : -INFINITY;
        const size_t at = which == 0 ? total / 2 : which == 1 ? 0 : total - 1;
        memcpy(x, p.x, total * size);
        if (f64)
            ((double *)x)[at] = strange;
        else
            ((float *)x)[at] = (float)strange;
        tensor = (hot_mttkrp_tensor *)x;
        CHECK_ITEM(run, at, keep(run->context, &p, x, &tensor) == HOT_ERROR_DATA && !tensor, "%g was taken", strange);
    }
    free(x);
    check_case_end(run);
}

static int stop_at_once(void *user)
{
    (void)user;
    return 1;
}

static void check_arguments(check_run *run)
{
    check_case_begin(run, "kept, arguments", 1);
    const size_t n[3] = {128, 96, 100}, rank = 3;
    problem p = make_problem(run, 0, HOT_CPD_FULL, n, rank, 1);
    const float *const a = p.f[0], *const b = p.f[1], *const c = p.f[2];
    float *const out = check_output(run, 128 * rank * sizeof *out);
    hot_mttkrp_tensor *t = (hot_mttkrp_tensor *)out;
    hot_context *const context = run->context;
    CHECK_ITEM(run, 0, hot_mttkrp_tensor_create_f32(context, HOT_CPD_FULL, 0, 1, 1, p.x, &t) == HOT_ERROR_ARGUMENT &&
                           !t, "an empty tensor");
    CHECK_ITEM(run, 0, hot_mttkrp_tensor_create_f32(context, HOT_CPD_FULL, SIZE_MAX / 4, 9, 9, p.x, &t) ==
                           HOT_ERROR_MEMORY && !t, "overflow");
    CHECK_ITEM(run, 0, hot_mttkrp_tensor_create_f32(context, HOT_CPD_FULL, 1, 1, 1, NULL, &t) == HOT_ERROR_ARGUMENT,
               "no tensor");
    CHECK_ITEM(run, 0, hot_mttkrp_tensor_create_f32(context, HOT_CPD_FULL, 1, 1, 1, p.x, NULL) == HOT_ERROR_ARGUMENT,
               "no place");
    CHECK_ITEM(run, 0, hot_mttkrp_tensor_create_f32(context, (hot_cpd_arithmetic)3, 1, 1, 1, p.x, &t) ==
                           HOT_ERROR_ARGUMENT, "arithmetic 3");
    CHECK_ITEM(run, 0, hot_mttkrp_tensor_product_f32(context, NULL, 1, rank, a, b, c, out) == HOT_ERROR_ARGUMENT,
               "a product of nothing");
    hot_mttkrp_tensor_destroy(&t);
    hot_mttkrp_tensor_destroy(NULL);
    if (check_call(run, keep(context, &p, p.x, &t))) {
        CHECK_ITEM(run, 0, hot_mttkrp_tensor_product_f32(context, t, 0, rank, a, b, c, out) == HOT_ERROR_ARGUMENT,
                   "mode 0");
        CHECK_ITEM(run, 0, hot_mttkrp_tensor_product_f32(context, t, 4, rank, a, b, c, out) == HOT_ERROR_ARGUMENT,
                   "mode 4");
        CHECK_ITEM(run, 0, hot_mttkrp_tensor_product_f32(context, t, 1, 0, a, b, c, out) == HOT_ERROR_ARGUMENT,
                   "rank 0");
        CHECK_ITEM(run, 0, hot_mttkrp_tensor_product_f32(context, t, 1, SIZE_MAX / 8, a, b, c, out) == HOT_ERROR_MEMORY,
                   "a rank beyond memory");
        CHECK_ITEM(run, 0, hot_mttkrp_tensor_product_f32(context, t, 1, rank, a, NULL, c, out) == HOT_ERROR_ARGUMENT,
                   "no factor");
        CHECK_ITEM(run, 0, hot_mttkrp_tensor_product_f32(context, t, 1, rank, a, b, c, NULL) == HOT_ERROR_ARGUMENT,
                   "no result");
        CHECK_ITEM(run, 0, hot_mttkrp_tensor_product_f64(context, t, 1, rank, p.x, p.x, p.x, (double *)p.x) ==
                               HOT_ERROR_ARGUMENT, "factors of doubles");
        CHECK_ITEM(run, 0, strstr(hot_context_message(context), "float") != NULL, "said: %s",
                   hot_context_message(context));
        if (check_call(run, multiply(context, t, &p, 0, out)))
            judge(run, &p, 0, out, 0);
    }
    hot_mttkrp_tensor_destroy(&t);
    hot_context_options options = {.size = sizeof options,
                                   .device = run->cuda ? HOT_DEVICE_CUDA : HOT_DEVICE_CPU,
                                   .stop = stop_at_once};
    hot_context *stopped = NULL;
    CHECK_ITEM(run, 0, hot_context_create(&options, &stopped) == HOT_OK, "context");
    CHECK_ITEM(run, 0, keep(stopped, &p, p.x, &t) == HOT_ERROR_CANCELLED && !t, "not cancelled");
    hot_context_destroy(&stopped);
    check_case_end(run);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, RANKS = 3, ROUNDS = 3 };

typedef struct job {
    hot_context *context;
    hot_mttkrp_tensor *tensor[2];
    const problem *problems[2]; /* of each tensor, RANKS of them */
    void *out[2][RANKS][3];
    int first;
    hot_status status;
} job;

static void *work(void *pointer)
{
    job *const j = pointer;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2 * RANKS * 3 && j->status == HOT_OK; i++) {
            const int at = (i * 5 + j->first) % (2 * RANKS * 3), t = at % 2, r = at / 2 % RANKS, mode = at / 2 / RANKS;
            j->status = multiply(j->context, j->tensor[t], &j->problems[t][r], mode, j->out[t][r][mode]);
        }
    return NULL;
}

/* Two tensors, each used by all threads: every result is, to the last bit, what one thread gets. */
static void check_threads(check_run *run, int f64, hot_cpd_arithmetic arithmetic)
{
    static const size_t ranks[RANKS] = {3, 17, 130};
    if (!check_begin(run, THREADS, "kept, two tensors and %d threads, f%d, arithmetic %d", THREADS, f64 ? 64 : 32,
                     arithmetic))
        return;
    const size_t n[2][3] = {{49, 64, 70}, {30, 20, 41}};
    problem problems[2][RANKS];
    hot_mttkrp_tensor *tensor[2] = {NULL, NULL};
    job jobs[THREADS + 1] = {0};
    int ready = 1;
    for (int t = 0; t < 2; t++) {
        const void *x = random_input(run, f64, n[t][0] * n[t][1] * n[t][2], 1);
        for (int r = 0; r < RANKS; r++) {
            problems[t][r] = make_problem(run, f64, arithmetic, n[t], ranks[r], 1);
            problems[t][r].x = x;
        }
        ready &= check_call(run, keep(run->context, &problems[t][0], x, &tensor[t]));
    }
    for (int j = 0; j <= THREADS && ready; j++) { /* the last one alone */
        hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = 1};
        if (hot_context_create(&options, &jobs[j].context) != HOT_OK)
            exit(2);
        jobs[j].first = j;
        for (int t = 0; t < 2; t++) {
            jobs[j].tensor[t] = tensor[t], jobs[j].problems[t] = problems[t];
            for (int r = 0; r < RANKS; r++)
                for (int m = 0; m < 3; m++)
                    jobs[j].out[t][r][m] = check_output(run, n[t][m] * ranks[r] * size_of(&problems[t][r]));
        }
    }
    if (ready) {
        pthread_t threads[THREADS];
        for (int j = 0; j < THREADS; j++)
            if (pthread_create(&threads[j], NULL, work, &jobs[j]) != 0)
                exit(2);
        for (int j = 0; j < THREADS; j++)
            pthread_join(threads[j], NULL);
        work(&jobs[THREADS]);
    }
    for (int j = 0; j <= THREADS && ready; j++) {
        CHECK_ITEM(run, (size_t)j, jobs[j].status == HOT_OK, "thread %d: %s", j, hot_context_message(jobs[j].context));
        for (int at = 0; at < 2 * RANKS * 3 && jobs[j].status == HOT_OK; at++) {
            const int t = at % 2, r = at / 2 % RANKS, m = at / 2 / RANKS;
            const size_t bytes = n[t][m] * ranks[r] * size_of(&problems[t][r]);
            if (j == THREADS)
                judge(run, &problems[t][r], m, jobs[j].out[t][r][m], 0);
            CHECK_ITEM(run, (size_t)at, memcmp(jobs[j].out[t][r][m], jobs[THREADS].out[t][r][m], bytes) == 0,
                       "thread %d: rank %zu, mode %d is not what one thread gets", j, ranks[r], m + 1);
        }
        hot_context_destroy(&jobs[j].context);
    }
    for (int t = 0; t < 2; t++)
        hot_mttkrp_tensor_destroy(&tensor[t]);
    check_case_end(run);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void check(check_run *run)
{
    static const size_t shapes[][4] = {{1, 1, 1, 1},     {2, 3, 4, 2},      {7, 1, 5, 3},     {1, 9, 1, 4},
                                       {33, 31, 35, 7},  {64, 64, 64, 16},  {100, 3, 50, 10}, {5, 130, 6, 40},
                                       {17, 19, 257, 1}, {128, 40, 72, 33}, {520, 6, 9, 5},   {3, 4, 5, 70},
                                       {36, 45, 7, 20},  {200, 256, 9, 24}, {96, 257, 33, 40}, {4, 5, 6, 9},
                                       {192, 130, 66, 100}, {190, 181, 37, 50}};
    static const size_t kept[][3] = {{33, 31, 35}, {1, 1, 1},    {7, 1, 5},     {1, 9, 1},     {1, 90, 70},
                                     {64, 64, 64}, {60, 52, 49}, {100, 100, 100}, {49, 130, 66}, {200, 71, 50},
                                     {520, 6, 9},  {3, 50, 300}, {190, 181, 37}, {130, 257, 129}, {70, 65, 511}};
    static const size_t ranks[] = {1, 8, 33, 120, 121, 250}, few[] = {1, 24, 50};
    const char *said = getenv("HOT_TEST_BRIEF"); /* for the sanitizers' tools, which take 100 times as long */
    const int brief = said && said[0] == '1';
    for (int which = 0; which < 4; which++) { /* f64, f32, and the two others of float */
        const hot_cpd_arithmetic arithmetic =
            which < 2 ? HOT_CPD_FULL : which == 2 ? HOT_CPD_TF32 : HOT_CPD_SPLIT;
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            if ((which < 2 || run->cuda) && (!brief || s == 4 || s == 9))
                check_once(run, which == 0, arithmetic, shapes[s], shapes[s][3]);
        for (size_t s = 0; s < sizeof kept / sizeof kept[0]; s++) {
            const int all = !brief && s < (run->cuda ? 10 : 7);
            if (brief ? s == 0 || s == 6 : run->cuda || (s < 10 && (which < 2 || s == 0)))
                check_kept(run, which == 0, arithmetic, kept[s], all ? ranks : few,
                           all ? sizeof ranks / sizeof ranks[0] : 3, 1);
        }
        if (brief || (which > 1 && !run->cuda))
            continue;
        check_kept(run, which == 0, arithmetic, kept[6], few, 3, 1e25);
        check_kept(run, which == 0, arithmetic, kept[6], few, 3, 1e-25);
        check_kept(run, which == 0, arithmetic, kept[2], few, 3, 1e-30);
        check_strange(run, which == 0, arithmetic);
        if (run->cuda && !run->device) /* all calls are of that kind there */
            check_lent(run, which == 0, arithmetic);
        check_threads(run, which == 0, arithmetic);
    }
    if (check_wanted(run, "kept, arguments"))
        check_arguments(run);
}

const check_family family_mttkrp = {"mttkrp", 0, 1, check, NULL};
