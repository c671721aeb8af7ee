/* LAPACK's zheevd, stage by stage: included once for each kind of number, with NAME, REAL, PARTS and the names of
 * LAPACK's functions set. No include guard: a template. */

/* a becomes the eigenvectors (where they are wanted), w the eigenvalues. memory: what hot_heev_workspace gives; it
 * ends with the integers. 1: done; 0: LAPACK failed; -1: cancelled. */
static int NAME(const hot_context *context, const hot_lapack *lapack, size_t size, int vectors, REAL *a, REAL *w,
                double *memory, int *integers)
{
    const int n = (int)size, width = HEEV_STAGE_PANEL, lreal = 2 * n * n + 5 * n + 2, lint = 5 * n + 3;
    const int lwork = 64 * n + HEEV_STAGE_T;
    REAL *z = (REAL *)(void *)memory, *more = z + PARTS * size * size, *tau = more + lreal, *e = tau + PARTS * size;
    REAL *work = e + size;
    int info = 0, done = 0;
    for (; n - done > HEEV_STAGE_LAST; done += width) { /* LAPACK's zhetrd */
        const int rows = n - done, rest = rows - width;
        REAL *corner = a + PARTS * ((size_t)done * size + (size_t)done);
        const REAL minus[2] = {-1, 0}, one = 1;
        if (hot_context_cancelled(context))
            return -1;
        hot_lapack_enter();
        lapack->LATRD("L", &rows, &width, corner, &n, e + done, tau + PARTS * done, work, &n);
        lapack->RANK2K("L", "N", &rest, &width, minus, corner + PARTS * width, &n, work + PARTS * width, &n, &one,
               corner + PARTS * ((size_t)width * size + (size_t)width), &n);
        hot_lapack_leave();
        for (int j = 0; j < width; j++) {
            REAL *diagonal = corner + PARTS * ((size_t)j * size + (size_t)j);
            diagonal[PARTS] = e[done + j];
            if (PARTS > 1)
                diagonal[2 * PARTS - 1] = 0;
            w[done + j] = diagonal[0];
        }
    }
    const int rows = n - done;
    hot_lapack_enter();
    lapack->TD2("L", &rows, a + PARTS * ((size_t)done * size + (size_t)done), &n, w + done, e + done,
                tau + PARTS * done, &info);
    if (info == 0 && !vectors)
        lapack->STERF(&n, w, e, &info);
    else if (info == 0)
        info = STEDC(lapack, n, w, e, z, work, more, lreal, integers, lint);
    hot_lapack_leave();
    for (int column = 0; vectors && info == 0 && column < n; column += HEEV_STAGE_COLUMNS) {
        const int here = n - column < HEEV_STAGE_COLUMNS ? n - column : HEEV_STAGE_COLUMNS;
        if (hot_context_cancelled(context))
            return -1;
        hot_lapack_enter();
        lapack->UNMTR("L", "L", "N", &n, &here, a, &n, tau, z + PARTS * (size_t)column * size, &n, work, &lwork,
                      &info);
        hot_lapack_leave();
    }
    if (vectors && info == 0)
        memcpy(a, z, PARTS * size * size * sizeof *a);
    return info == 0;
}

#undef NAME
#undef REAL
#undef PARTS
#undef LATRD
#undef RANK2K
#undef TD2
#undef STERF
#undef STEDC
#undef UNMTR
