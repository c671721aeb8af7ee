/* Small matrices on the CPU, one in each lane of a vector: a template, included once per kind of number with
 *
 *   #define NAME(name)                       the names made
 *   #define SCALAR double, REAL vd, MASK vl, EPSILON, SMALL, PARTS (1 real, 2 complex), F64
 *
 * Householder reduction to real tridiagonal form, then implicit QL (heev_ql.h) with all lanes at the same eigenvalue;
 * lanes that are done wait. A lane's result does not depend on the others. Matrices are scaled to a largest entry near
 * 1; what is below SMALL then, far below the rounding, counts as zero, so that no square underflows. */

enum { NAME(LANES) = HOT_SIMD_BYTES / sizeof(SCALAR) };

/* sum += conj(a) b, or a b without the bar. */
HOT_FN void NAME(add_product)(int bar, const REAL *a, const REAL *b, REAL *sum)
{
    sum[0] += a[0] * b[0];
#if PARTS == 2
    const REAL im = bar ? -a[1] : a[1];
    sum[0] -= im * b[1];
    sum[1] += a[0] * b[1] + im * b[0];
#else
    (void)bar;
#endif
}

/* The reflector I - tau v v^H that takes column k of the matrix below its diagonal to -u e[k] times a unit vector; v
 * replaces the column. */
static void NAME(reflector)(size_t rows, REAL *v, REAL *e, REAL *tau, REAL *u)
{
    REAL sum = {0}, lead = {0};
    for (size_t i = 0; i < rows * PARTS; i++)
        sum += v[i] * v[i];
    const MASK some = sum > (SCALAR)(SMALL * SMALL);
    const REAL one = (REAL){0} + 1, norm = vsqrt(vsel(some, sum, one)), inverse = 1 / norm;
    for (size_t i = 0; i < rows * PARTS; i++)
        v[i] *= inverse;
    for (int part = 0; part < PARTS; part++)
        lead += v[part] * v[part];
    const MASK leads = some & (lead > (SCALAR)(SMALL * SMALL));
    const REAL length = vsqrt(vsel(leads, lead, one));
    for (int part = 0; part < PARTS; part++) {
        u[part] = vsel(leads, v[part] / length, part == 0 ? one : (REAL){0});
        v[part] += u[part];
    }
    *tau = vsel(some, 1 / (1 + vsel(leads, length, (REAL){0})), (REAL){0});
    *e = vsel(some, norm, (REAL){0});
    if (rows == 1) { /* a phase is enough, and adds no rounding */
        for (int part = 0; part < PARTS; part++)
            u[part] = -u[part];
        *tau = (REAL){0};
    }
}

/* a: n x n columns, lower triangle, becomes the reflectors; diagonal d, off-diagonal e. phase: n, the diagonal unitary
 * matrix that makes e real and positive. w: n, for intermediate results. */
static void NAME(tridiagonalise)(size_t n, REAL *a, REAL *d, REAL *e, REAL *tau, REAL *phase, REAL *w)
{
    for (int part = 0; part < PARTS; part++)
        phase[part] = (REAL){0} + (SCALAR)(part == 0);
    for (size_t k = 0; k < n; k++) {
        d[k] = a[k * (n + 1) * PARTS];
        e[k] = (REAL){0};
        if (k + 1 == n)
            break;
        const size_t rows = n - 1 - k;
        REAL *v = a + (k * (n + 1) + 1) * PARTS, *rest = v + n * PARTS, u[PARTS], along[PARTS] = {{0}};
        NAME(reflector)(rows, v, &e[k], &tau[k], u);
        for (int part = 0; part < PARTS; part++)
            u[part] = -u[part], phase[(k + 1) * PARTS + (size_t)part] = (REAL){0};
        NAME(add_product)(0, phase + k * PARTS, u, phase + (k + 1) * PARTS);
        /* w = tau A v, from the lower triangle */
        for (size_t i = 0; i < rows * PARTS; i++)
            w[i] = (REAL){0};
        for (size_t j = 0; j < rows; j++) {
            const REAL *column = rest + j * n * PARTS;
            for (int part = 0; part < PARTS; part++)
                w[j * PARTS + (size_t)part] += column[j * PARTS] * v[j * PARTS + (size_t)part];
            for (size_t i = j + 1; i < rows; i++) {
                NAME(add_product)(0, column + i * PARTS, v + j * PARTS, w + i * PARTS);
                NAME(add_product)(1, column + i * PARTS, v + i * PARTS, w + j * PARTS);
            }
        }
        for (size_t i = 0; i < rows * PARTS; i++)
            w[i] *= tau[k];
        for (size_t i = 0; i < rows; i++)
            NAME(add_product)(1, v + i * PARTS, w + i * PARTS, along);
        const REAL half = tau[k] * along[0] * (SCALAR)0.5;
        for (size_t i = 0; i < rows * PARTS; i++)
            w[i] -= half * v[i];
        /* A -= v w^H + w v^H */
        for (size_t j = 0; j < rows; j++)
            for (size_t i = j; i < rows; i++) {
                REAL sum[PARTS] = {{0}};
                NAME(add_product)(1, w + j * PARTS, v + i * PARTS, sum);
                NAME(add_product)(1, v + j * PARTS, w + i * PARTS, sum);
                for (int part = 0; part < PARTS; part++)
                    rest[(j * n + i) * PARTS + (size_t)part] -= sum[part];
            }
    }
}

/* The product of the reflectors and the phases into q, n x n columns. */
static void NAME(accumulate)(size_t n, const REAL *a, const REAL *tau, const REAL *phase, REAL *q)
{
    for (size_t i = 0; i < n * n * PARTS; i++)
        q[i] = (REAL){0} + (SCALAR)(i % ((n + 1) * PARTS) == 0);
    for (size_t k = n - 1; k-- > 0;) {
        const REAL *v = a + (k * (n + 1) + 1) * PARTS;
        const size_t rows = n - 1 - k;
        for (size_t j = k + 1; j < n; j++) {
            REAL *column = q + (j * n + k + 1) * PARTS, sum[PARTS] = {{0}};
            for (size_t i = 0; i < rows; i++)
                NAME(add_product)(1, v + i * PARTS, column + i * PARTS, sum);
            for (int part = 0; part < PARTS; part++)
                sum[part] = -sum[part] * tau[k];
            for (size_t i = 0; i < rows; i++)
                NAME(add_product)(0, v + i * PARTS, sum, column + i * PARTS);
        }
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            REAL *entry = q + (j * n + i) * PARTS, product[PARTS] = {{0}};
            NAME(add_product)(0, phase + j * PARTS, entry, product);
            for (int part = 0; part < PARTS; part++)
                entry[part] = product[part];
        }
}

/* Rotations first <= i < end, from the last to the first, to columns i and i + 1 of q, which have `rows` numbers: to
 * so many rows at once. */
HOT_FN void NAME(rotate_rows)(int count, size_t rows, size_t first, size_t end, const REAL *cosine, const REAL *sine,
                              REAL *q)
{
    REAL x[4], *at = q + end * rows;
    for (int t = 0; t < count; t++)
        x[t] = at[t];
    for (size_t i = end; i-- > first;) {
        REAL *to = at;
        at -= rows;
        HOT_UNROLL
        for (int t = 0; t < count; t++) {
            const REAL y = at[t];
            to[t] = sine[i] * y + cosine[i] * x[t];
            x[t] = cosine[i] * y - sine[i] * x[t];
        }
    }
    for (int t = 0; t < count; t++)
        at[t] = x[t];
}

static void NAME(rotate)(size_t rows, size_t first, size_t end, const REAL *cosine, const REAL *sine, REAL *q)
{
    size_t r = 0;
    for (; r + 4 <= rows; r += 4)
        NAME(rotate_rows)(4, rows, first, end, cosine, sine, q + r);
    for (; r < rows; r++)
        NAME(rotate_rows)(1, rows, first, end, cosine, sine, q + r);
}

/* Which lanes still iterate for eigenvalue l, up to where (`*split`, with the diagonal there), and the largest such
 * index. */
static size_t NAME(find_blocks)(size_t n, size_t l, const REAL *d, const REAL *e, MASK *split, REAL *bottom)
{
    const SCALAR none = (SCALAR)(SMALL * SMALL);
    MASK end = (MASK){0} + (int)(n - 1);
    REAL there = d[n - 1];
    size_t top = l;
    for (size_t i = n - 1; i-- > l;) {
        const MASK small = vabs(e[i]) <= (vabs(d[i]) + vabs(d[i + 1])) * (SCALAR)EPSILON + none;
        end = (small & (int)i) | (end & ~small);
        there = vsel(small, d[i], there);
    }
    for (int lane = 0; lane < NAME(LANES); lane++)
        top = (size_t)end[lane] > top ? (size_t)end[lane] : top;
    *split = end;
    *bottom = there;
    return top;
}

/* QL sweeps until every lane's d holds eigenvalues; q is rotated along (NULL: none). Returns the lanes that fail. */
static MASK NAME(ql)(size_t n, REAL *d, REAL *e, REAL *cosine, REAL *sine, size_t rows, REAL *q)
{
    enum { MAX_SWEEPS = 80 };
    const REAL zero = {0}, one = zero + 1;
    MASK failed = {0};
    for (size_t l = 0; l + 1 < n; l++)
        for (int sweep = 0;; sweep++) {
            MASK end, broken = {0};
            REAL bottom, p = zero, s = one, c = one;
            const size_t top = NAME(find_blocks)(n, l, d, e, &end, &bottom);
            if (top == l)
                break;
            const MASK active = end > (int)l;
            if (sweep == MAX_SWEEPS) {
                failed |= active;
                for (size_t i = l; i + 1 < n; i++)
                    e[i] = vsel(active, zero, e[i]);
                break;
            }
            const REAL slope = (d[l + 1] - d[l]) / (2 * e[l]), root = vsqrt(slope * slope + 1);
            const REAL first = bottom - d[l] + e[l] / (slope + vsel(slope < 0, -root, root));
            REAL g = first;
            for (size_t i = top; i-- > l;) {
                const MASK begins = end == (int)(i + 1), on = active & (end > (int)i) & ~broken;
                g = vsel(begins, first, g);
                const REAL f = s * e[i], b = c * e[i], square = f * f + g * g;
                const MASK fine = square > (SCALAR)(SMALL * SMALL), go = on & fine, stops = on & ~fine;
                const REAL r = vsqrt(vsel(fine, square, one)), sn = f / r, cs = g / r;
                const REAL lower = d[i + 1] - p, t = (d[i] - lower) * sn + 2 * cs * b;
                e[i + 1] = vsel(on, vsel(begins | stops, zero, r), e[i + 1]);
                d[i + 1] = vsel(go, lower + sn * t, vsel(stops, lower, d[i + 1]));
                p = vsel(go, sn * t, p);
                g = vsel(go, cs * t - b, g);
                s = vsel(go, sn, s);
                c = vsel(go, cs, c);
                cosine[i] = vsel(go, cs, one);
                sine[i] = vsel(go, sn, zero);
                broken |= stops;
            }
            const MASK whole = active & ~broken;
            d[l] = vsel(whole, d[l] - p, d[l]);
            e[l] = vsel(whole, g, e[l]);
            if (q)
                NAME(rotate)(rows, l, top, cosine, sine, q);
        }
    return failed;
}

/* The largest |entry| of the triangle of a matrix, as a power of two; *finite: whether there is neither NaN nor Inf.
 * down, across: from row to row and from column to column. */
static int NAME(exponent)(size_t n, const SCALAR *matrix, size_t down, size_t across, int *finite)
{
    SCALAR largest = 0, none = 0; /* none: 0 times every entry */
    int exponent = 0;
    for (size_t j = 0; j < n; j++) {
        const SCALAR *number = matrix + j * (down + across);
        for (size_t i = j; i < n; i++, number += down)
            for (size_t part = 0; part < (i == j ? 1 : PARTS); part++) {
                const SCALAR size = fabs(number[part]);
                largest = size > largest ? size : largest;
                none += size * 0;
            }
    }
    *finite = none == 0;
    if (*finite && largest > 0)
        exponent = exponent_of((double)largest);
    return exponent;
}

/* Matrices first ... of the call, as many as a vector has lanes. failed: one byte for each, 1 where the iteration did
 * not converge, 2 where the matrix is not finite. memory: hot_heev_lanes_vectors(n, PARTS) vectors. */
static void NAME(solve)(const hot_heev_args *args, size_t first, void *memory, uint8_t *failed)
{
    const size_t n = args->n, numbers = n * n * PARTS, kept = args->kept;
    REAL *a = memory, *q = a + numbers, *d = q + numbers, *e = d + n, *tau = e + n, *cosine = tau + n;
    REAL *sine = cosine + n, *phase = sine + n, *w = phase + 2 * n;
    int exponent[NAME(LANES)], finite[NAME(LANES)], order[HEEV_LANES_MANY_ROWS];
    const size_t down = (args->upper ? n : 1) * PARTS, across = (args->upper ? 1 : n) * PARTS;
    for (size_t lane = 0; lane < NAME(LANES); lane++) {
        const size_t at = first + lane < args->count ? first + lane : args->count - 1;
        const SCALAR *matrix = (const SCALAR *)args->matrices + at * numbers;
        exponent[lane] = NAME(exponent)(n, matrix, down, across, &finite[lane]);
        const double half = power_of_two(-exponent[lane] / 2);
        const double other = power_of_two(-exponent[lane] - -exponent[lane] / 2), turned = args->upper ? -half : half;
        for (size_t j = 0; j < n; j++) {
            const SCALAR *number = matrix + j * (down + across);
            SCALAR *to = (SCALAR *)&a[j * (n + 1) * PARTS] + lane;
            for (size_t i = j; i < n; i++, number += down)
                for (size_t part = 0; part < PARTS; part++, to += NAME(LANES))
                    *to = finite[lane] ? (SCALAR)((double)number[part] * (part ? turned : half) * other) : 0;
        }
    }
    NAME(tridiagonalise)(n, a, d, e, tau, phase, w);
    if (args->vectors)
        NAME(accumulate)(n, a, tau, phase, q);
    const MASK unsolved = NAME(ql)(n, d, e, cosine, sine, n * PARTS, args->vectors ? q : NULL);
    for (size_t lane = 0; lane < NAME(LANES) && first + lane < args->count; lane++) {
        const size_t at = first + lane;
        double value[HEEV_LANES_MANY_ROWS];
        SCALAR *values = (SCALAR *)args->values + at * kept;
        SCALAR *vectors = args->vectors ? (SCALAR *)args->vectors + at * kept * n * PARTS : NULL;
        failed[lane] = finite[lane] ? unsolved[lane] != 0 : 2;
        for (size_t k = 0; k < n; k++)
            value[k] = (double)d[k][lane];
        heev_order((int)n, value, order);
        const double half = power_of_two(exponent[lane] / 2);
        const double other = power_of_two(exponent[lane] - exponent[lane] / 2);
        for (size_t k = 0; k < kept; k++) {
            const size_t from = (size_t)order[n - kept + k];
            values[k] = (SCALAR)(value[from] * half * other);
            /* + 0: while others iterate, rotations by 0 turn -0 into 0 */
            for (size_t i = 0; vectors && i < n * PARTS; i++)
                vectors[k * n * PARTS + i] = ((const SCALAR *)&q[from * n * PARTS + i])[lane] + 0;
        }
    }
}

#undef NAME
#undef SCALAR
#undef REAL
#undef MASK
#undef EPSILON
#undef SMALL
#undef PARTS
