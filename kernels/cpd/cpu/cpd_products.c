/* See cpd_products.h. */
#include "cpd_products.h"

#include <limits.h>
#include <omp.h>
#include <string.h>

#include "common/entry.h"
#include "common/free.h"
#include "common/lapack.h"

#define CPD_T double
#define CPD(name) name##_f64
#include "cpd_reduce.h"
#undef CPD_T
#undef CPD
#define CPD_T float
#define CPD(name) name##_f32
#include "cpd_reduce.h"

enum {
    PIECE = 2048,     /* rows of a product that one thread makes at a time, */
    SMALL_PIECE = 512, SMALL = 1000000, /* and where that is up to so many multiplications: BLAS has code for those */
    PANEL = 64,       /* rows that are transposed at a time without a BLAS */
    SLAB = 1 << 22,   /* values of sums that are made at a time */
    ONCE = 1 << 20,   /* the same where none are kept: so many stay in a cache */
    MAX_KEPT = 1 << 26
};

static size_t bytes_of(const hot_cpd_tensor *t) { return t->f64 ? sizeof(double) : sizeof(float); }
static const void *at(const hot_cpd_tensor *t, const void *array, size_t i)
{
    return (const char *)array + i * bytes_of(t);
}
static void *to(const hot_cpd_tensor *t, void *array, size_t i) { return (char *)array + i * bytes_of(t); }

/* How many of `all` slices of sums, each of so many values, are made at a time. */
static size_t slab(size_t values, size_t each, size_t all)
{
    return values / each < 1 ? 1 : values / each < all ? values / each : all;
}

hot_status hot_cpd_tensor_create(hot_context *context, int f64, const size_t n[3], size_t rank, const void *x, int once,
                                 hot_cpd_tensor *tensor)
{
    const size_t most = n[0] * n[1] * n[2] > MAX_KEPT ? n[0] * n[1] * n[2] : MAX_KEPT;
    memset(tensor, 0, sizeof *tensor);
    tensor->context = context, tensor->f64 = f64, tensor->rank = rank, tensor->x = x;
    tensor->threads = hot_context_threads(context);
    memcpy(tensor->n, n, sizeof tensor->n);
    tensor->variant = hot_contract_variant_choose(context);
    tensor->kept = !once && rank <= most / n[0] / n[1];
    tensor->slab_j = slab(once ? ONCE : SLAB, n[0] * rank, n[1]);
    tensor->slab_k = slab(once ? ONCE : SLAB, n[1] * rank, n[2]);
    tensor->slab_j = tensor->kept ? n[1] : tensor->slab_j;
    const size_t first = n[0] * tensor->slab_j, second = n[1] * tensor->slab_k;
    tensor->sums = hot_context_alloc(context, first > second ? first : second, rank * bytes_of(tensor));
    /* A thread's: panels of turned rows, or a slice of the approximation and weighed factors. */
    const size_t longest = n[0] > n[1] ? (n[0] > n[2] ? n[0] : n[2]) : (n[1] > n[2] ? n[1] : n[2]);
    const size_t slice = n[0] * n[1] + n[1] * rank;
    tensor->scratch_each = (((slice > PANEL * longest ? slice : PANEL * longest) * bytes_of(tensor)) + 127) / 64 * 64;
    tensor->scratch = hot_context_alloc(context, (size_t)tensor->threads, tensor->scratch_each);
    return tensor->sums && tensor->scratch ? HOT_OK : HOT_ERROR_MEMORY;
}

void hot_cpd_tensor_destroy(hot_context *context, hot_cpd_tensor *tensor)
{
    HOT_FREE(context, tensor->sums, tensor->scratch);
    tensor->sums = NULL;
    tensor->scratch = NULL;
}

/* ---- One product of matrices, by one thread ---------------------------------------------------------------------- */

/* 0: there is no BLAS, or the numbers are larger than its. */
static int blas(const hot_cpd_tensor *t, int ta, int tb, const size_t size[3], const void *a, size_t lda, const void *b,
                size_t ldb, void *c, size_t ldc)
{
    const hot_lapack *lapack = hot_lapack_get();
    const hot_lapack_int m = (hot_lapack_int)size[0], n = (hot_lapack_int)size[1], k = (hot_lapack_int)size[2];
    const hot_lapack_int la = (hot_lapack_int)lda, lb = (hot_lapack_int)ldb, lc = (hot_lapack_int)ldc;
    if (!lapack || size[0] > INT_MAX || size[1] > INT_MAX || size[2] > INT_MAX ||
        lda > INT_MAX || ldb > INT_MAX || ldc > INT_MAX)
        return 0;
    hot_lapack_enter();
    if (t->f64) {
        const double one = 1, zero = 0;
        lapack->dgemm(ta ? "T" : "N", tb ? "T" : "N", &m, &n, &k, &one, a, &la, b, &lb, &zero, c, &lc);
    } else {
        const float one = 1, zero = 0;
        lapack->sgemm(ta ? "T" : "N", tb ? "T" : "N", &m, &n, &k, &one, a, &la, b, &lb, &zero, c, &lc);
    }
    hot_lapack_leave();
    return 1;
}

/* panel[s * rows + i] = a[s + lda i]: `rows` columns of a turned. */
static void turn(const hot_cpd_tensor *t, const void *a, size_t lda, size_t sums, size_t rows, void *panel)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t s = 0; s < sums; s++) {
            if (t->f64)
                ((double *)panel)[s * rows + i] = ((const double *)a)[s + lda * i];
            else
                ((float *)panel)[s * rows + i] = ((const float *)a)[s + lda * i];
        }
}

/* Column-major c (m x n) = op(a) b, or a b^T; size: m, n, k. scratch: PANEL x k values where a is transposed and there
 * is no BLAS (the longest k is then a dimension of the tensor). */
static void multiply(const hot_cpd_tensor *t, int ta, int tb, const size_t size[3], const void *a, size_t lda,
                     const void *b, size_t ldb, void *c, size_t ldc, void *scratch)
{
    if (blas(t, ta, tb, size, a, lda, b, ldb, c, ldc))
        return;
    /* The tiles' rows are the columns here: c^T = b^T a^T, and a^T must be row-major. */
    hot_tile tile = {.rows = size[1], .sums = size[2], .items = 1, .b_sum = lda, .c_row = ldc, .alpha = 1, .a = b,
                     .a_row = tb ? 1 : ldb, .a_sum = tb ? ldb : 1};
    for (size_t first = 0; first < size[0]; first += PANEL) {
        tile.columns = size[0] - first < PANEL ? size[0] - first : PANEL;
        tile.b = ta ? scratch : at(t, a, first);
        tile.c = to(t, c, first);
        if (ta) {
            turn(t, at(t, a, lda * first), lda, size[2], tile.columns, scratch);
            tile.b_sum = tile.columns;
        }
        if (t->f64)
            t->variant->tile_f64(&tile);
        else
            t->variant->tile_f32(&tile);
    }
}

/* The same, rows dealt out to threads. */
static void multiply_all(const hot_cpd_tensor *t, int ta, const size_t size[3], const void *a, size_t lda,
                         const void *b, size_t ldb, void *c, size_t ldc)
{
    const size_t each = !ta && size[1] <= SMALL / SMALL_PIECE / size[2] ? SMALL_PIECE : PIECE,
                 pieces = (size[0] + each - 1) / each;
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team(pieces > 1 ? t->threads : 1))
    for (size_t piece = 0; piece < pieces; piece++) {
        if (hot_context_cancelled(t->context))
            continue;
        const size_t first = piece * each,
                     part[3] = {size[0] - first < each ? size[0] - first : each, size[1], size[2]};
        multiply(t, ta, 0, part, at(t, a, ta ? lda * first : first), lda, b, ldb, to(t, c, first), ldc,
                 t->scratch + (size_t)omp_get_thread_num() * t->scratch_each);
    }
}

/* ---- Products with the tensor ------------------------------------------------------------------------------------ */

/* sums[i, j, r] = sum over k of x[i, first + j, k] f[k, r] for `count` j. */
static void sum_over_k(const hot_cpd_tensor *t, const void *f, size_t first, size_t count)
{
    const size_t size[3] = {t->n[0] * count, t->rank, t->n[2]};
    multiply_all(t, 0, size, at(t, t->x, t->n[0] * first), t->n[0] * t->n[1], f, t->n[2], t->sums, size[0]);
}

/* sums[j, k, r] = sum over i of x[i, j, first + k] f[i, r] for `count` k. */
static void sum_over_i(const hot_cpd_tensor *t, const void *f, size_t first, size_t count)
{
    const size_t size[3] = {t->n[1] * count, t->rank, t->n[0]};
    multiply_all(t, 1, size, at(t, t->x, t->n[0] * t->n[1] * first), t->n[0], f, t->n[0], t->sums, size[0]);
}

void hot_cpd_product(hot_cpd_tensor *t, int mode, const void *const factor[3], int fresh, double *out)
{
    const size_t *n = t->n, rank = t->rank;
    if (mode == 2) {
        for (size_t k = 0; k < n[2]; k += t->slab_k) {
            const size_t count = n[2] - k < t->slab_k ? n[2] - k : t->slab_k;
            sum_over_i(t, factor[0], k, count);
            /* sum over j of sums[j + J (k + count r)] b[j, r]: j is the first index here */
            if (t->f64)
                over_first_f64(t->sums, n[1], count, rank, factor[1], out, k, n[2], t->threads);
            else
                over_first_f32(t->sums, n[1], count, rank, factor[1], out, k, n[2], t->threads);
        }
        return;
    }
    if (mode == 0)
        memset(out, 0, n[0] * rank * sizeof *out);
    for (size_t j = 0; j < n[1]; j += t->slab_j) {
        const size_t count = n[1] - j < t->slab_j ? n[1] - j : t->slab_j;
        if (fresh || !t->kept)
            sum_over_k(t, factor[2], j, count);
        if (mode == 0 && t->f64)
            over_second_f64(t->sums, n[0], count, rank, (const double *)factor[1] + j, n[1], out, t->threads);
        else if (mode == 0)
            over_second_f32(t->sums, n[0], count, rank, (const float *)factor[1] + j, n[1], out, t->threads);
        else if (t->f64)
            over_first_f64(t->sums, n[0], count, rank, factor[0], out, j, n[1], t->threads);
        else
            over_first_f32(t->sums, n[0], count, rank, factor[0], out, j, n[1], t->threads);
    }
}

hot_status hot_cpd_unfold_twice(hot_context *context, hot_cpd_tensor *t, int mode, const void *f, double *out)
{
    const size_t *n = t->n, rank = t->rank;
    void *part = hot_context_alloc(context, n[mode], rank * bytes_of(t));
    if (!part)
        return HOT_ERROR_MEMORY;
    memset(out, 0, n[mode] * rank * sizeof *out);
    /* One slice of k (of j for the last mode) at a time: times f, then back. */
    for (size_t s = 0; s < (mode == 2 ? n[1] : n[2]) && !hot_context_cancelled(context); s++) {
        const void *slice = at(t, t->x, mode == 2 ? n[0] * s : n[0] * n[1] * s);
        const size_t ld = mode == 2 ? n[0] * n[1] : n[0];
        if (mode == 0) {
            const size_t there[3] = {n[1], rank, n[0]}, back[3] = {n[0], rank, n[1]};
            multiply_all(t, 1, there, slice, ld, f, n[0], t->sums, n[1]);
            multiply_all(t, 0, back, slice, ld, t->sums, n[1], part, n[0]);
        } else {
            const size_t columns = n[mode], there[3] = {n[0], rank, columns}, back[3] = {columns, rank, n[0]};
            multiply_all(t, 0, there, slice, ld, f, columns, t->sums, n[0]);
            multiply_all(t, 1, back, slice, ld, t->sums, n[0], part, columns);
        }
        if (t->f64)
            add_f64(part, n[mode] * rank, out);
        else
            add_f32(part, n[mode] * rank, out);
    }
    hot_context_free(context, part);
    return HOT_OK;
}

double hot_cpd_square(const hot_cpd_tensor *t, int *finite)
{
    const size_t each = t->n[0] * t->n[1];
    double sum = 0;
    *finite = 1;
    for (size_t k = 0; k < t->n[2] && !hot_context_cancelled(t->context); k++) {
        int here = 1;
        sum += t->f64 ? square_f64(at(t, t->x, each * k), each, &here) : square_f32(at(t, t->x, each * k), each, &here);
        *finite &= here;
    }
    return sum;
}

double hot_cpd_residual(const hot_cpd_tensor *t, const double *lambda, const void *const factor[3], double *per_k)
{
    const size_t *n = t->n, each = n[0] * n[1];
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team(each * t->rank > 1000 ? t->threads : 1))
    for (size_t k = 0; k < n[2]; k++) {
        per_k[k] = 0;
        if (hot_context_cancelled(t->context))
            continue;
        char *slice = t->scratch + (size_t)omp_get_thread_num() * t->scratch_each;
        void *weighed = to(t, slice, each);
        const size_t size[3] = {n[0], n[1], t->rank};
        if (t->f64)
            weigh_f64(factor[1], n[1], t->rank, lambda, (const double *)factor[2] + k, n[2], weighed);
        else
            weigh_f32(factor[1], n[1], t->rank, lambda, (const float *)factor[2] + k, n[2], weighed);
        multiply(t, 0, 1, size, factor[0], n[0], weighed, n[1], slice, n[0], NULL);
        per_k[k] = t->f64 ? distance_f64(at(t, t->x, each * k), (double *)(void *)slice, each)
                          : distance_f32(at(t, t->x, each * k), (float *)(void *)slice, each);
    }
    for (size_t k = 0; k < n[2]; k++)
        sum += per_k[k];
    return sum;
}
