/* Eigenvectors of tridiagonal matrices on the CPU, a matrix per thread: all of them by divide and conquer (LAPACK) or
 * implicit QL, few of a large matrix by inverse iteration. All in double precision. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/entry.h"
#include "common/lapack.h"
#include "heev/heev.h"
#include "heev/heev_ql.h"
#include "heev/heev_tridiagonal.h"
#include "tridiag/tridiag_bound.h"

enum {
    WHOLE = 64,          /* rows: of smaller matrices all vectors are computed */
    MAX_WHOLE = 1 << 15, /* rows: LAPACK's workspace is counted in an int */
};

size_t hot_tridiagonal_workspace(size_t n) { return n * n + 10 * n + 8; }

/* Implicit QL; the vectors are put in order by exchanging columns. memory: 3 n. */
static int by_ql(size_t n, double *d, double *e, double *z, double *memory)
{
    for (size_t k = 0; k < n * n; k++)
        z[k] = k % (n + 1) == 0;
    if (!hot_heev_ql(n, d, e, z, memory))
        return 0;
    for (size_t k = 0; k < n; k++) {
        size_t least = k;
        for (size_t j = k + 1; j < n; j++)
            least = d[j] < d[least] ? j : least;
        if (least == k)
            continue;
        const double value = d[k];
        d[k] = d[least], d[least] = value;
        memcpy(memory, z + k * n, n * sizeof *z);
        memcpy(z + k * n, z + least * n, n * sizeof *z);
        memcpy(z + least * n, memory, n * sizeof *z);
    }
    return 1;
}

int hot_tridiagonal_all(int with_lapack, size_t n, double *d, double *e, double *z, double *memory)
{
    const hot_lapack *lapack = with_lapack ? hot_lapack_get() : NULL;
    if (!lapack)
        return by_ql(n, d, e, z, memory);
    const hot_lapack_int size = (hot_lapack_int)n, lwork = (hot_lapack_int)(n * n + 4 * n + 1), liwork = 5 * size + 3;
    hot_lapack_int info = 0, *integers = (hot_lapack_int *)(void *)(memory + n * n + 4 * n + 4);
    hot_lapack_enter();
    lapack->dstedc("I", &size, d, e, z, &size, memory, &lwork, integers, &liwork, &info);
    hot_lapack_leave();
    return info == 0;
}

/* ---- Inverse iteration ------------------------------------------------------------------------------------------ */

/* P L U = T - shift, by rows exchanged where the pivot is the smaller one. u: three diagonals of U, step: the
 * multipliers; exchanged[i]: whether rows i and i + 1 were. A pivot is at least `least`. */
typedef struct factors {
    double *u[3], *step, *exchanged;
} factors;

static void factorise(size_t n, const double *d, const double *e, double shift, double least, const factors *f)
{
    double head = d[0] - shift, next = e[0];
    for (size_t i = 0; i < n; i++) {
        const double below = i + 1 < n ? e[i] : 0, corner = i + 1 < n ? d[i + 1] - shift : 0;
        const double after = i + 2 < n ? e[i + 1] : 0;
        const int exchange = fabs(below) > fabs(head);
        double pivot = exchange ? below : head;
        if (fabs(pivot) < least)
            pivot = copysign(least, pivot);
        f->exchanged[i] = exchange;
        f->u[0][i] = pivot;
        f->u[1][i] = exchange ? corner : next;
        f->u[2][i] = exchange ? after : 0;
        f->step[i] = (exchange ? head : below) / pivot;
        head = (exchange ? next : corner) - f->step[i] * f->u[1][i];
        next = exchange ? -f->step[i] * f->u[2][i] : after;
    }
}

/* x <- (T - shift)^-1 x */
static void divide(size_t n, const factors *f, double *x)
{
    for (size_t i = 0; i + 1 < n; i++) {
        if (f->exchanged[i] != 0) {
            const double upper = x[i];
            x[i] = x[i + 1];
            x[i + 1] = upper;
        }
        x[i + 1] -= f->step[i] * x[i];
    }
    for (size_t i = n; i-- > 0;)
        x[i] = (x[i] - (i + 1 < n ? f->u[1][i] * x[i + 1] : 0) - (i + 2 < n ? f->u[2][i] * x[i + 2] : 0)) / f->u[0][i];
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* To length 1, however large it is; 0 if it has no length. */
static int normalise(size_t n, double *x)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    if (!(largest > 0 && largest <= DBL_MAX))
        return 0;
    for (size_t i = 0; i < n; i++)
        x[i] /= largest;
    const double length = sqrt(dot(n, x, x));
    for (size_t i = 0; i < n; i++)
        x[i] /= length;
    return 1;
}

/* (T - lambda) x at i */
static double image(size_t n, const double *d, const double *e, double lambda, const double *x, size_t i)
{
    return (d[i] - lambda) * x[i] + (i > 0 ? e[i - 1] * x[i - 1] : 0) + (i + 1 < n ? e[i] * x[i + 1] : 0);
}

/* Whether x is an eigenvector to rounding, and its eigenvalue, the Rayleigh quotient, is lambda to the accuracy of the
 * counts. */
static int is_found(size_t n, const double *d, const double *e, double lambda, const double *x)
{
    const double enough = 16 * DBL_EPSILON;
    double off = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        off += x[i] * image(n, d, e, lambda, x, i);
    for (size_t i = 0; i < n; i++) {
        const double left = image(n, d, e, lambda + off, x, i);
        sum += left * left;
    }
    return sqrt(sum) <= enough && fabs(off) <= enough * (4 + sqrt((double)n));
}

static void fill_random(size_t n, uint64_t *state, double *x)
{
    for (size_t i = 0; i < n; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)(int64_t)*state;
    }
}

/* Takes what lies along the vectors before it out of x, if their eigenvalues are so near that inverse iteration does
 * not: an error of a rounding divided by the distance would be left. */
static void orthogonalise(size_t n, size_t many, const double *lambda, const double *vectors, double *x)
{
    const double near = .1;
    size_t first = many;
    while (first > 0 && lambda[many] - lambda[first - 1] <= near)
        first--;
    for (int twice = 0; twice < 2; twice++)
        for (size_t j = first; j < many; j++) {
            const double along = dot(n, vectors + j * n, x);
            for (size_t i = 0; i < n; i++)
                x[i] -= along * vectors[j * n + i];
        }
}

int hot_tridiagonal_inverse(const hot_context *context, size_t n, const double *d, const double *e, size_t many,
                            const double *lambda, double *vectors, double *memory)
{
    enum { MAX_STEPS = 12, FRESH = 4 /* steps, then another start */ };
    const factors f = {{memory, memory + n, memory + 2 * n}, memory + 3 * n, memory + 4 * n};
    uint64_t state = 1;
    for (size_t k = 0; k < many; k++) {
        double *x = vectors + k * n;
        int good = 0;
        if (hot_context_cancelled(context))
            return -1;
        factorise(n, d, e, lambda[k], DBL_EPSILON / 4, &f);
        for (int step = 0; step < MAX_STEPS && good < 2; step++) { /* one step more than is enough */
            if (step % FRESH == 0 && !good)
                fill_random(n, &state, x);
            int there = normalise(n, x);
            for (size_t i = 0; i < n; i++)
                x[i] *= 1e-150; /* tiny pivots in a row may let it grow that far */
            divide(n, &f, x);
            there = there && normalise(n, x);
            orthogonalise(n, k, lambda, vectors, x);
            there = there && normalise(n, x);
            good = there && is_found(n, d, e, lambda[k], x) ? good + 1 : 0;
        }
        if (!good)
            return 0;
    }
    return 1;
}

/* ---- The calls -------------------------------------------------------------------------------------------------- */

/* What a call's threads share. lambda: count x width, of the matrices as given and exact; NULL = by whole matrices. */
typedef struct vectors_call {
    const hot_tridiagonal_args *args;
    const double *lambda;
    size_t most; /* eigenvalues of a matrix */
} vectors_call;

static size_t doubles_of(const vectors_call *call)
{
    const size_t n = call->args->n;
    const size_t own = call->lambda ? call->most * n + 6 * n + call->most : n * n + hot_tridiagonal_workspace(n);
    return (own + 2 * n + 7) / 8 * 8; /* whole cache lines */
}

static void solve_one(const hot_context *context, const vectors_call *call, size_t i, double *d)
{
    const hot_tridiagonal_args *args = call->args;
    const size_t n = args->n, found = args->found[i] < 0 ? 0 : (size_t)args->found[i];
    double *e = d + n, *vectors = e + n;
    int done = args->found[i] >= 0;
    if (done) {
        const int exponent = hot_tridiagonal_values(args, i, d, e);
        if (call->lambda) {
            double *lambda = vectors + call->most * n;
            for (size_t k = 0; k < found; k++)
                lambda[k] = ldexp(call->lambda[i * args->width + k], -exponent);
            done = hot_tridiagonal_inverse(context, n, d, e, found, lambda, vectors, lambda + call->most);
        } else {
            done = hot_tridiagonal_all(1, n, d, e, vectors, vectors + n * n);
            vectors += hot_tridiagonal_first(args, i) * n;
        }
    }
    if (done == 0)
        hot_tridiagonal_refuse(args, i);
    if (done <= 0)
        return;
    hot_tridiagonal_store(args, i, 0, found, vectors);
    hot_tridiagonal_store(args, i, found, args->width, NULL);
}

/* The eigenvalues for inverse iteration: those that the caller gets, or, where these are rounded to single precision or
 * to a tolerance, others in *own. */
static hot_status find_exact(hot_context *context, const hot_tridiagonal_args *args, double **own,
                             const double **lambda)
{
    hot_tridiag_options options = HOT_TRIDIAG_OPTIONS_INIT;
    if (args->options)
        options = *args->options;
    *lambda = args->values;
    if (args->f64 && options.absolute == 0 && options.relative == 0)
        return HOT_OK;
    options.absolute = options.relative = 0;
    const size_t n = args->n, count = args->count;
    double *d = hot_context_alloc(context, count, 2 * n * sizeof *d);
    *lambda = *own = hot_context_alloc(context, count, args->width * sizeof **own);
    hot_status status = d && *own ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t i = 0; i < count && status == HOT_OK; i++)
        for (size_t k = 0; k < n; k++) {
            d[2 * i * n + k] = tridiag_value_at(args->diagonal, args->f64, i * args->stride + k);
            d[(2 * i + 1) * n + k] =
                k + 1 < n ? tridiag_value_at(args->off, args->f64, i * args->stride + k) : 0;
        }
    if (status == HOT_OK)
        status = hot_tridiag_f64(context, &options, n, count, d, d + n, 2 * n, *own, args->width, NULL);
    hot_context_free(context, d);
    return status;
}

hot_status hot_tridiagonal_cpu(hot_context *context, void *argument)
{
    const hot_tridiagonal_args *args = argument;
    const size_t n = args->n, limit = args->count < 1024 ? args->count : 1024;
    const int threads = hot_context_threads(context) < (int)limit ? hot_context_threads(context) : (int)limit;
    vectors_call call = {.args = args};
    double *exact = NULL;
    hot_status status = HOT_OK;
    for (size_t i = 0; i < args->count; i++)
        call.most = args->found[i] > (int64_t)call.most ? (size_t)args->found[i] : call.most;
    if (n > MAX_WHOLE || (n > WHOLE && 4 * call.most < n))
        status = find_exact(context, args, &exact, &call.lambda);
    const size_t each = doubles_of(&call), work = call.lambda ? call.most * n : n * n;
    double *memory = status == HOT_OK ? hot_context_alloc(context, (size_t)threads, each * sizeof *memory) : NULL;
    if (status == HOT_OK && !memory)
        status = HOT_ERROR_MEMORY;
    hot_lapack_single_begin();
    /* Between two calls of the progress callback: some tens of milliseconds of work. */
    const size_t step = (size_t)threads * (1 + 1000000 / (work + 1));
    for (size_t begin = 0; begin < args->count && status == HOT_OK; begin += step) {
        const size_t end = args->count - begin < step ? args->count : begin + step;
#pragma omp parallel for schedule(dynamic) num_threads(hot_team(threads))
        for (size_t i = begin; i < end; i++)
            if (!hot_context_cancelled(context))
                solve_one(context, &call, i, memory + each * (size_t)omp_get_thread_num());
        status = hot_context_progress(context, "finding eigenvectors", (double)end / (double)args->count);
    }
    hot_lapack_single_end();
    hot_context_free(context, memory);
    hot_context_free(context, exact);
    return status;
}
