/* One large Hermitian matrix: included once for each kind of number, with REAL, PARTS, OF(name), KIND(name) and the
 * names of LAPACK's functions set. No include guard: a template. */

/* Householder's reduction by panels, as LAPACK's zhetrd. 1: done; 0: LAPACK failed; -1: cancelled. */
static int KIND(reduce)(const heev_large *self, REAL *a, REAL *d, REAL *e, REAL *tau, REAL *work)
{
    const size_t size = self->n;
    const hot_lapack_int n = (hot_lapack_int)size;
    const REAL minus[2] = {-1, 0}, one = 1;
    hot_lapack_int info = 0, done = 0;
    while (n - done > LARGE_LAST) {
        const hot_lapack_int rows = n - done, width = panel_width((size_t)rows, PARTS * sizeof *a), rest = rows - width;
        REAL *corner = a + PARTS * (size_t)done * (size + 1);
        if (hot_context_cancelled(self->context))
            return -1;
        hot_lapack_enter();
        self->lapack->LATRD("L", &rows, &width, corner, &n, e + done, tau + PARTS * done, work, &n);
        if (!hot_context_cancelled(self->context))
            self->lapack->RANK2K("L", "N", &rest, &width, minus, corner + PARTS * width, &n, work + PARTS * width, &n,
                                 &one, corner + PARTS * (size_t)width * (size + 1), &n);
        hot_lapack_leave();
        for (hot_lapack_int j = 0; j < width; j++) {
            REAL *diagonal = corner + PARTS * (size_t)j * (size + 1);
            diagonal[PARTS] = e[done + j];
            if (PARTS > 1)
                diagonal[2 * PARTS - 1] = 0;
            d[done + j] = diagonal[0];
        }
        done += width;
    }
    const hot_lapack_int rows = n - done;
    hot_lapack_enter();
    self->lapack->TD2("L", &rows, a + PARTS * (size_t)done * (size + 1), &n, d + done, e + done, tau + PARTS * done,
                      &info);
    hot_lapack_leave();
    return info == 0;
}

/* The `kept` last columns of q, in its order, as numbers of the result. */
static void KIND(convert)(const heev_large *self, const REAL *q, const int *order, REAL *vectors)
{
    const size_t n = self->n;
    for (size_t k = 0; k < self->kept; k++) {
        const REAL *from = q + n * (size_t)(order[n - self->kept + k] - 1);
        REAL *to = vectors + PARTS * n * k;
        for (size_t r = 0; r < PARTS * n; r++)
            to[r] = r % PARTS == 0 ? from[r / PARTS] : 0;
    }
}

/* Applies the reflections to the vectors, panel by panel from the last one on. 0: cancelled. */
static int KIND(transform)(const heev_large *self, const REAL *a, const REAL *tau, REAL *vectors, REAL *t, REAL *work)
{
    const size_t size = self->n;
    const hot_lapack_int n = (hot_lapack_int)size, all = n - 1, columns = (hot_lapack_int)self->kept;
    const hot_lapack_int ld = LARGE_REFLECTORS;
    const hot_lapack_int panel = LARGE_REFLECTORS;
    for (hot_lapack_int first = (all - 1) / panel * panel; first >= 0; first -= panel) {
        const hot_lapack_int rows = all - first, count = rows < panel ? rows : panel;
        const REAL *panel = a + PARTS * ((size_t)first * size + (size_t)first + 1);
        hot_lapack_enter();
        self->lapack->LARFT("F", "C", &rows, &count, panel, &n, tau + PARTS * first, t, &ld);
        hot_lapack_leave();
#pragma omp parallel for schedule(dynamic) num_threads(hot_team(self->threads))
        for (hot_lapack_int begin = 0; begin < columns; begin += LARGE_COLUMNS) {
            const hot_lapack_int width = columns - begin < LARGE_COLUMNS ? columns - begin : LARGE_COLUMNS;
            REAL *mine = work + PARTS * (size_t)omp_get_thread_num() * LARGE_COLUMNS * LARGE_REFLECTORS;
            if (hot_context_cancelled(self->context))
                continue;
            hot_lapack_enter();
            self->lapack->LARFB("L", "N", "F", "C", &rows, &width, &count, panel, &n, t, &ld,
                                vectors + PARTS * ((size_t)begin * size + (size_t)first + 1), &n, mine, &width);
            hot_lapack_leave();
        }
        if (hot_context_cancelled(self->context))
            return 0;
    }
    return 1;
}

/* The pairs of the tridiagonal matrix (values, e), and the reflections. 1: done; 0: LAPACK failed; -1: cancelled. */
static int KIND(pairs)(const heev_large *self, const OF(divide) *divide, const REAL *a, const REAL *tau, REAL *t,
                       REAL *block, REAL *vectors)
{
    const size_t n = self->n;
    memset(divide->q, 0, n * n * sizeof(REAL));
    const int solved = OF(divide_solve)(divide, 0, divide->n);
    if (!solved || hot_context_cancelled(self->context))
        return solved ? -1 : 0;
    for (size_t k = 0; k < n; k++)
        divide->z[k] = divide->d[divide->order[k] - 1];
    memcpy(divide->d, divide->z, n * sizeof(REAL));
    KIND(convert)(self, divide->q, divide->order, vectors);
    return KIND(transform)(self, a, tau, vectors, t, block) ? 1 : -1;
}

/* matrix: the lower triangle; lost. values: n. vectors: kept x n, or NULL. 1: done; 0: LAPACK failed; -1: cancelled.
 * Where the arena has no memory it is counted, and nothing else is done. */
static int KIND(solve)(const heev_large *self, hot_arena *arena, void *matrix, void *values, void *vectors)
{
    const size_t n = self->n, square = vectors ? n * n : 0, threads = vectors ? (size_t)self->threads : 0;
    REAL *work = hot_arena_alloc(arena, PARTS * n * LARGE_PANEL * sizeof(REAL));
    REAL *tau = hot_arena_alloc(arena, PARTS * n * sizeof(REAL)), *e = hot_arena_alloc(arena, n * sizeof(REAL));
    REAL *t = hot_arena_alloc(arena, PARTS * LARGE_REFLECTORS * LARGE_REFLECTORS * sizeof(REAL));
    REAL *block = hot_arena_alloc(arena, threads * PARTS * LARGE_REFLECTORS * LARGE_COLUMNS * sizeof(REAL));
    OF(divide) divide = {self->context, self->lapack, (hot_lapack_int)n, self->threads, .d = values, .e = e};
    divide.q = hot_arena_alloc(arena, square * sizeof(REAL));
    divide.kept = hot_arena_alloc(arena, square * sizeof(REAL));
    divide.columns = hot_arena_alloc(arena, threads * DIVIDE_COLUMNS * n * sizeof(REAL));
    REAL **rows[] = {&divide.z, &divide.poles, &divide.weights, &divide.s};
    for (int k = 0; k < 4; k++)
        *rows[k] = hot_arena_alloc(arena, n * sizeof(REAL));
    for (int k = 0; k < 5; k++)
        divide.indices[k] = hot_arena_alloc(arena, n * sizeof(int64_t));
    divide.order = hot_arena_alloc(arena, n * sizeof(int));
    if (!arena->base)
        return 1;
    hot_lapack_int info = 0;
    const int reduced = KIND(reduce)(self, matrix, values, e, tau, work);
    if (reduced != 1 || vectors)
        return reduced != 1 ? reduced : KIND(pairs)(self, &divide, matrix, tau, t, block, vectors);
    self->lapack->STERF(&divide.n, values, e, &info);
    return info == 0;
}

#undef KIND
#undef REAL
#undef PARTS
#undef OF
#undef LATRD
#undef RANK2K
#undef TD2
#undef STERF
#undef LARFT
#undef LARFB
