/* Divide and conquer for a symmetric tridiagonal matrix (Cuppen 1981; Gu, Eisenstat 1995): included once for each kind
 * of number, with REAL, OF(name) and the names of LAPACK's functions set. No include guard: a template.
 *
 * LAPACK has all of it in one call, which takes many seconds for 4,096 rows and cannot be cancelled. Here only the
 * deflation and each root of the secular equation are LAPACK's. Columns are taken by fixed blocks: results do not
 * depend on the number of threads. */

typedef struct OF(divide) {
    const hot_context *context;
    const hot_lapack *lapack;
    hot_lapack_int n;
    int threads;
    REAL *d, *e, *q;                /* d becomes the eigenvalues; q (n x n): the vectors */
    REAL *kept;                     /* n x n: the vectors of the halves that a merge has not deflated */
    REAL *z, *poles, *weights, *s;  /* n each: of one merge */
    REAL *columns;                  /* threads x DIVIDE_COLUMNS x n */
    int *order;                     /* n: which of d and the columns of q are the first, second ... from 1 on */
    int *indices[5];                /* 2 n each: LAPACK's, narrowed where they are read */
} OF(divide);

/* The roots of the secular equation: column j of q becomes poles - root, d[j] the root. */
static int OF(divide_roots)(const OF(divide) *self, hot_lapack_int k, REAL rho, REAL *d, REAL *q)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 16) num_threads(hot_team(k >= DIVIDE_SHARED ? self->threads : 1)) \
    reduction(| : failed)
    for (hot_lapack_int j = 1; j <= k; j++) {
        hot_lapack_int info = 0;
        if (hot_context_cancelled(self->context))
            continue;
        self->lapack->LAED4(&k, &j, self->poles, self->weights, q + (size_t)(j - 1) * (size_t)self->n, &rho,
                            d + j - 1, &info);
        failed |= info != 0;
    }
    return !failed;
}

/* The vector z for which the roots found are exact, by Loewner's formula: their vectors are orthogonal then. */
static void OF(divide_refine)(const OF(divide) *self, int k, const REAL *q)
{
    const size_t ld = (size_t)self->n;
#pragma omp parallel for schedule(dynamic) num_threads(hot_team(k >= DIVIDE_SHARED ? self->threads : 1))
    for (int begin = 0; begin < k; begin += DIVIDE_COLUMNS) {
        const int end = k - begin < DIVIDE_COLUMNS ? k : begin + DIVIDE_COLUMNS;
        for (int i = begin; i < end; i++)
            self->s[i] = q[(size_t)i * ld + (size_t)i];
        for (int j = 0; j < k && !hot_context_cancelled(self->context); j++) {
            const REAL *column = q + (size_t)j * ld;
            for (int i = begin; i < end; i++)
                if (i != j)
                    self->s[i] *= column[i] / (self->poles[i] - self->poles[j]);
        }
        for (int i = begin; i < end; i++)
            self->s[i] = OF(divide_signed_root)(-self->s[i], self->weights[i]);
    }
}

/* The vectors of columns begin ... end - 1 in terms of those of the halves, grouped as LAPACK's deflation groups them:
 * k values each. */
static void OF(divide_expand)(const OF(divide) *self, int k, int begin, int end, const REAL *q, REAL *columns)
{
    const int *group = self->indices[1];
    for (int j = begin; j < end; j++, columns += k) {
        const REAL *column = q + (size_t)j * (size_t)self->n;
        REAL sum = 0;
        if (k <= 2) { /* they are vectors already */
            for (int r = 0; r < k; r++)
                columns[r] = column[group[r] - 1];
            continue;
        }
        for (int r = 0; r < k; r++) {
            columns[r] = self->s[group[r] - 1] / column[group[r] - 1];
            sum += columns[r] * columns[r];
        }
        const REAL norm = OF(divide_signed_root)(sum, 1);
        for (int r = 0; r < k; r++)
            columns[r] /= norm;
    }
}

/* rows x columns of q = kept (rows x inner) times coefficients (inner rows, k apart). */
static void OF(divide_multiply)(const OF(divide) *self, hot_lapack_int rows, hot_lapack_int columns,
                                hot_lapack_int inner, hot_lapack_int k, const REAL *kept, const REAL *coefficients,
                                REAL *q)
{
    const REAL one = 1, zero = 0;
    if (inner > 0) {
        hot_lapack_enter();
        self->lapack->GEMM("N", "N", &rows, &columns, &inner, &one, kept, &rows, coefficients, &k, &zero, q, &self->n);
        hot_lapack_leave();
        return;
    }
    for (hot_lapack_int j = 0; j < columns; j++)
        memset(q + (size_t)j * (size_t)self->n, 0, (size_t)rows * sizeof *q);
}

static void OF(divide_vectors)(const OF(divide) *self, int n, int upper, int k, REAL *q)
{
    const int *type = self->indices[3], lower = n - upper, first = type[0] + type[1], second = type[1] + type[2];
    const REAL *below = self->kept + (size_t)upper * (size_t)first;
#pragma omp parallel for schedule(dynamic) num_threads(hot_team(k >= DIVIDE_SHARED ? self->threads : 1))
    for (int begin = 0; begin < k; begin += DIVIDE_COLUMNS) {
        const int end = k - begin < DIVIDE_COLUMNS ? k : begin + DIVIDE_COLUMNS;
        REAL *mine = self->columns + (size_t)omp_get_thread_num() * DIVIDE_COLUMNS * (size_t)self->n;
        REAL *to = q + (size_t)begin * (size_t)self->n;
        if (hot_context_cancelled(self->context))
            continue;
        OF(divide_expand)(self, k, begin, end, q, mine);
        OF(divide_multiply)(self, lower, end - begin, second, k, below, mine + type[0], to + upper);
        OF(divide_multiply)(self, upper, end - begin, first, k, self->kept, mine, to);
    }
}

/* Two halves of n rows from `begin` on, the first of `upper` rows, coupled by rho. 1: done; 0: LAPACK failed. */
static int OF(divide_merge)(const OF(divide) *self, int begin, int n, int upper, REAL rho)
{
    const size_t ld = (size_t)self->n;
    REAL *d = self->d + begin, *q = self->q + (size_t)begin * (ld + 1);
    int *order = self->order + begin, *const *at = self->indices;
    void *const integers[] = {at[0], at[1], at[2], at[3], at[4]};
    hot_lapack_int k = 0, info = 0;
    const hot_lapack_int size = n, first = upper, forwards = 1, backwards = -1;
    for (int i = 0; i < n; i++)
        self->z[i] = q[(size_t)i * ld + (size_t)(i < upper ? upper - 1 : upper)];
    memcpy(at[4], order, (size_t)n * sizeof *order);
    hot_lapack_widen(self->lapack, (size_t)n, at[4]);
    hot_lapack_enter();
    self->lapack->LAED2(&k, &size, &first, d, q, &self->n, integers[4], &rho, self->z, self->poles, self->weights,
                        self->kept, integers[0], integers[1], integers[2], integers[3], &info);
    hot_lapack_leave();
    if (info != 0)
        return 0;
    hot_lapack_narrow(self->lapack, (size_t)n, at[1]);
    hot_lapack_narrow(self->lapack, 4, at[3]);
    for (int i = 0; i < n && k == 0; i++)
        order[i] = i + 1;
    if (k == 0)
        return 1;
    if (!OF(divide_roots)(self, k, rho, d, q))
        return 0;
    if (k > 2)
        OF(divide_refine)(self, (int)k, q);
    OF(divide_vectors)(self, n, upper, (int)k, q);
    const hot_lapack_int deflated = n - k; /* in descending order, but for rounding */
    self->lapack->LAMRG(&k, &deflated, d, &forwards, &backwards, integers[4]);
    hot_lapack_narrow(self->lapack, (size_t)n, at[4]);
    memcpy(order, at[4], (size_t)n * sizeof *order);
    for (int i = 1; i < n; i++) {
        const int moved = order[i];
        int to = i;
        for (; to > 0 && d[order[to - 1] - 1] > d[moved - 1]; to--)
            order[to] = order[to - 1];
        order[to] = moved;
    }
    return 1;
}

/* Rows begin ... begin + n - 1, whose part of q is zero. 1: done, or cancelled; 0: LAPACK failed. */
static int OF(divide_solve)(const OF(divide) *self, int begin, int n)
{
    REAL *d = self->d + begin, *e = self->e + begin;
    const int half = n / 2;
    hot_lapack_int size = n, info = 0;
    if (hot_context_cancelled(self->context))
        return 1;
    if (n <= DIVIDE_WHOLE) {
        hot_lapack_enter();
        self->lapack->STEQR("I", &size, d, e, self->q + (size_t)begin * ((size_t)self->n + 1), &self->n, self->z,
                            &info);
        hot_lapack_leave();
        for (int i = 0; i < n; i++)
            self->order[begin + i] = i + 1;
        return info == 0;
    }
    const REAL coupling = e[half - 1], cut = coupling < 0 ? -coupling : coupling;
    d[half - 1] -= cut;
    d[half] -= cut;
    return OF(divide_solve)(self, begin, half) && OF(divide_solve)(self, begin + half, n - half) &&
           (hot_context_cancelled(self->context) || OF(divide_merge)(self, begin, n, half, coupling));
}

#undef REAL
#undef OF
#undef LAED2
#undef LAED4
#undef LAMRG
#undef STEQR
#undef GEMM
