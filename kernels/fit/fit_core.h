/* The inner loops, once per instruction set: included by fit_core.c with NAME(x), TARGET and WIDTH (doubles per
 * vector) set. GCC's vector types become that instruction set's registers. No include guard: a template. */

typedef double NAME(vector) __attribute__((vector_size(WIDTH * 8), aligned(8), may_alias));

/* Two vectors of rows times four voxels: eight sums in flight hide the latency of the additions; per column two loads
 * of the matrix and four broadcasts feed sixteen operations. */
TARGET void NAME(hot_fit_core)(size_t packed_rows, size_t columns, const double *packed, const double *x, double *out)
{
    typedef NAME(vector) vector;
    for (size_t row = 0; row < packed_rows; row += 2 * WIDTH) {
        const double *m = packed + row * columns;
        vector a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0}, c0 = {0}, c1 = {0}, d0 = {0}, d1 = {0};
        for (size_t c = 0; c < columns; c++, m += 2 * WIDTH) {
            const vector m0 = *(const vector *)m, m1 = *(const vector *)(m + WIDTH);
            const double *v = x + 4 * c;
            a0 += m0 * v[0], a1 += m1 * v[0];
            b0 += m0 * v[1], b1 += m1 * v[1];
            c0 += m0 * v[2], c1 += m1 * v[2];
            d0 += m0 * v[3], d1 += m1 * v[3];
        }
        double *o = out + row;
        *(vector *)o = a0, *(vector *)(o + WIDTH) = a1;
        o += packed_rows;
        *(vector *)o = b0, *(vector *)(o + WIDTH) = b1;
        o += packed_rows;
        *(vector *)o = c0, *(vector *)(o + WIDTH) = c1;
        o += packed_rows;
        *(vector *)o = d0, *(vector *)(o + WIDTH) = d1;
    }
}

/* Eight Cholesky factorisations side by side, row by row (the entries of a row are contiguous in a packed lower
 * triangle), with the first triangular solve and the estimate of the condition; then the second. */
TARGET void NAME(hot_fit_cholesky)(size_t n, double tolerance, double *gram, double *right, double *z,
                                   unsigned char *bad)
{
    enum { L = HOT_FIT_LANES, PARTS = L / WIDTH };
    typedef NAME(vector) vector;
    double length[L] = {0};
    for (int lane = 0; lane < L; lane++)
        bad[lane] = 0;
    for (size_t i = 0; i < n; i++) {
        double *row_i = gram + i * (i + 1) / 2 * L, entry[L];
        for (size_t j = 0; j <= i; j++) {
            const double *row_j = gram + j * (j + 1) / 2 * L;
            double *at = row_i + j * L;
            double start[L];
            for (int lane = 0; lane < L; lane++)
                start[lane] = at[lane];
            vector sum[PARTS];
            for (int p = 0; p < PARTS; p++)
                sum[p] = *(vector *)(at + p * WIDTH);
            for (size_t k = 0; k < j; k++)
                for (int p = 0; p < PARTS; p++)
                    sum[p] -= *(vector *)(row_i + k * L + p * WIDTH) * *(const vector *)(row_j + k * L + p * WIDTH);
            if (j < i) {
                /* the diagonal holds 1 / pivot */
                for (int p = 0; p < PARTS; p++)
                    *(vector *)(at + p * WIDTH) = sum[p] * *(const vector *)(row_j + j * L + p * WIDTH);
            } else {
                for (int p = 0; p < PARTS; p++)
                    *(vector *)(at + p * WIDTH) = sum[p];
                for (int lane = 0; lane < L; lane++) {
                    const double pivot = at[lane];
                    entry[lane] = start[lane];
                    if (!(pivot > tolerance * start[lane]) || !(pivot > 0)) {
                        bad[lane] = 1;
                        at[lane] = 1;
                    } else {
                        at[lane] = 1 / sqrt(pivot);
                    }
                }
            }
        }
        /* while the row is in registers: the first triangular solve, and z's */
        for (int p = 0; p < PARTS; p++) {
            vector sum = *(vector *)(right + i * L + p * WIDTH), along = {0};
            for (size_t k = 0; k < i; k++) {
                const vector l = *(const vector *)(row_i + k * L + p * WIDTH);
                sum -= l * *(vector *)(right + k * L + p * WIDTH);
                along += l * *(const vector *)(z + k * L + p * WIDTH);
            }
            *(vector *)(right + i * L + p * WIDTH) = sum * *(const vector *)(row_i + i * L + p * WIDTH);
            *(vector *)(z + i * L + p * WIDTH) = along;
        }
        for (int lane = 0; lane < L; lane++) {
            const double along = z[i * L + lane], root = sqrt(entry[lane]);
            const double value = ((along > 0 ? -root : root) - along) * row_i[i * L + lane];
            z[i * L + lane] = value;
            length[lane] += value * value;
        }
    }
    for (int lane = 0; lane < L; lane++)
        bad[lane] |= !(length[lane] <= HOT_FIT_CONDITION);
    for (size_t i = n; i-- > 0;) {
        const double *row_i = gram + i * (i + 1) / 2 * L;
        for (int p = 0; p < PARTS; p++) {
            double *at = right + i * L + p * WIDTH;
            const vector x = *(vector *)at * *(const vector *)(row_i + i * L + p * WIDTH);
            *(vector *)at = x;
            for (size_t k = 0; k < i; k++)
                *(vector *)(right + k * L + p * WIDTH) -= *(const vector *)(row_i + k * L + p * WIDTH) * x;
        }
    }
}

#undef NAME
#undef TARGET
#undef WIDTH
