/* A template: a row of windows of one instruction set, a window per lane. Define HOT_VARIANT(name), then include.
 * Complex samples are twice as many real ones (`real` columns), in Gram matrices and in projections. */
#pragma GCC optimize("fp-contract=fast,no-trapping-math")
#include <string.h>

#include "denoise/denoise.h"
#include "denoise_eigen.h"
#include "denoise_eigen_complex.h"

/* Padded widths: of double rows to two vectors of any variant, of float rows to one. */
static size_t pad(size_t n) { return (n + 15) / 16 * 16; }

static size_t parts_of(const denoise_args *args) { return args->options.is_complex ? 2 : 1; }

/* A row's arrays, all in one allocation. */
typedef struct row_workspace {
    double *samples;  /* rows of a column of voxels (or of a window), padded */
    double *grams;    /* ring of window[0] Gram matrices, or one */
    vd *a; /* Gram matrices side by side, packed lower triangles (complex ones: see denoise_eigen_complex.h) */
    vd *d, *e, *e2, *up, *down, *tau, *more; /* n each; tau: n numbers; more: 6 n */
    vd *vectors;     /* n x n numbers */
    float *basis;     /* one window's eigenvectors, a complex one as two real ones: v and i v */
    float *weights;   /* of the basis' vectors in a voxel */
    float *part;      /* floats of a voxel or of a projection, padded */
    void *plain;      /* what hot_denoise_window_plain wants */
} row_workspace;

static char *take(char **at, size_t bytes)
{
    char *piece = *at;
    *at += (bytes + 63) / 64 * 64;
    return piece;
}

static void lay_out(const denoise_args *args, void *scratch, row_workspace *work)
{
    const size_t n = args->columns, parts = parts_of(args), real = n * parts, sample_rows = args->rows;
    char *at = (char *)(((uintptr_t)scratch + 63) / 64 * 64);
    work->samples = (double *)(void *)take(&at, sample_rows * pad(real) * sizeof(double));
    work->grams = (double *)(void *)take(&at, args->window[0] * pad(real) * pad(real) * sizeof(double));
    work->a = (vd *)(void *)take(&at, parts * n * (n + 1) / 2 * sizeof(vd));
    work->d = (vd *)(void *)take(&at, n * sizeof(vd));
    work->e = (vd *)(void *)take(&at, n * sizeof(vd));
    work->e2 = (vd *)(void *)take(&at, n * sizeof(vd));
    work->up = (vd *)(void *)take(&at, n * sizeof(vd));
    work->down = (vd *)(void *)take(&at, n * sizeof(vd));
    work->tau = (vd *)(void *)take(&at, real * sizeof(vd));
    work->more = (vd *)(void *)take(&at, 6 * n * sizeof(vd));
    work->vectors = (vd *)(void *)take(&at, real * n * sizeof(vd));
    work->basis = (float *)(void *)take(&at, (real + 4) * pad(real) * sizeof(float));
    work->weights = (float *)(void *)take(&at, (real + 4) * sizeof(float));
    work->part = (float *)(void *)take(&at, (real + 3) * pad(args->width) * sizeof(float));
    work->plain = at;
}

/* gram (n x padded n, lower triangle and a little more) = samples^T samples. */
static void multiply(size_t rows, size_t n, const double *restrict samples, double *restrict gram)
{
    const size_t width = pad(n);
    for (size_t i = 0; i < n; i += 4)
        for (size_t j = 0; j < i + 4 && j < width; j += 2 * LANES) {
            vd sum[4][2];
            for (int r = 0; r < 4; r++)
                sum[r][0] = sum[r][1] = vsetd(0);
            const double *x = samples + i, *y = samples + j;
            for (size_t row = 0; row < rows; row++, x += width, y += width) {
                const vd y0 = *(const vd *)(const void *)y, y1 = *(const vd *)(const void *)(y + LANES);
                HOT_UNROLL
                for (int r = 0; r < 4; r++) {
                    sum[r][0] += x[r] * y0;
                    sum[r][1] += x[r] * y1;
                }
            }
            for (int r = 0; r < 4; r++) {
                *(vd *)(void *)(gram + (i + (size_t)r) * width + j) = sum[r][0];
                *(vd *)(void *)(gram + (i + (size_t)r) * width + j + LANES) = sum[r][1];
            }
        }
}

static size_t voxel_at(const denoise_args *args, size_t i, size_t j, size_t k)
{
    return (k * args->size[1] + j) * args->size[0] + i;
}

/* The Gram matrix over volumes of one column of voxels: all of the window's j and k at one i. */
static void column_gram(const denoise_args *args, size_t i, const size_t corner[3], const row_workspace *work,
                        double *gram)
{
    const size_t real = args->columns * parts_of(args), width = pad(real);
    double *to = work->samples;
    for (size_t k = corner[2]; k < corner[2] + args->window[2]; k++)
        for (size_t j = corner[1]; j < corner[1] + args->window[1]; j++, to += width) {
            const size_t voxel = voxel_at(args, i, j, k);
            const float *from = args->signals + voxel * args->width;
            const int use = args->usable[voxel];
            for (size_t v = 0; v < real; v++)
                to[v] = use ? (double)from[v] : 0;
            for (size_t v = real; v < width; v++)
                to[v] = 0;
        }
    multiply(args->window[1] * args->window[2], real, work->samples, gram);
}

/* The Gram matrix over voxels of one window, for more volumes than voxels. */
static void window_gram(const denoise_args *args, const size_t corner[3], const row_workspace *work, double *gram)
{
    const size_t parts = parts_of(args), real = args->columns * parts, width = pad(real);
    memset(work->samples, 0, args->rows * width * sizeof(double));
    size_t at = 0;
    for (size_t k = corner[2]; k < corner[2] + args->window[2]; k++)
        for (size_t j = corner[1]; j < corner[1] + args->window[1]; j++)
            for (size_t i = corner[0]; i < corner[0] + args->window[0]; i++, at++) {
                const size_t voxel = voxel_at(args, i, j, k);
                const float *from = args->signals + voxel * args->width;
                for (size_t v = 0; v < args->width && args->usable[voxel]; v++)
                    work->samples[v / parts * width + at * parts + v % parts] = (double)from[v];
            }
    multiply(args->rows, real, work->samples, gram);
}

/* Sum of `count` Gram matrices of the ring into one lane of the packed triangles. */
static void into_lane(const denoise_args *args, const row_workspace *work, size_t count, int lane)
{
    const size_t n = args->columns, width = pad(n), apart = width * width;
    double *to = (double *)(void *)work->a + lane;
    for (size_t i = 0; i < n; i++) {
        const double *row = work->grams + i * width;
        for (size_t j = 0; j <= i; j += LANES) {
            vd sum = *(const vd *)(const void *)(row + j);
            for (size_t c = 1; c < count; c++)
                sum += *(const vd *)(const void *)(row + c * apart + j);
            for (size_t l = 0; l < LANES && j + l <= i; l++, to += LANES)
                *to = sum[l];
        }
    }
}

/* The same of complex matrices: of the products of real columns, A(j, i) = conj(x_i conj(x_j)). */
static void into_lane_complex(const denoise_args *args, const row_workspace *work, size_t count, int lane)
{
    const size_t n = args->columns, width = pad(2 * n), apart = width * width;
    double *to = (double *)(void *)work->a + lane;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++, to += 2 * LANES) {
            const double *row = work->grams + 2 * i * width + 2 * j;
            double re = 0, im = 0;
            for (size_t c = 0; c < count; c++, row += apart) {
                re += row[0] + row[width + 1];
                im += row[1] - row[width];
            }
            to[0] = re;
            to[LANES] = i == j ? 0 : im;
        }
}

/* How many of the largest eigenvalues are signal, per lane, and the noise's variance (NaN: it could not be determined).
 * values (n): the largest first, scaled, up to the number that the lane with most signal needs. */
static size_t find_signal(const denoise_args *args, const row_workspace *work, vd trace, vd norm, vd low, vd high,
                          int lanes, vd *values, size_t signal[LANES], double variance[LANES])
{
    const size_t n = args->columns;
    size_t known = 0, most = 0;
    double rest[LANES], least[LANES];
    int done[LANES];
    for (int lane = 0; lane < lanes; lane++)
        rest[lane] = trace[lane], signal[lane] = n, variance[lane] = NAN, done[lane] = 0;
    for (int open = 1, first = 1; open; first = 0) {
        /* the next four from the top; the first time three and the smallest */
        uint64_t index[4];
        vd found[4];
        const size_t fresh = first ? 3 : 4;
        for (size_t c = 0; c < 4; c++)
            index[c] = c < fresh && known + c < n ? n - 1 - (known + c) : 0;
        bisect(n, work->d, work->e2, low, high, index, found);
        for (size_t c = 0; c < fresh && known + c < n; c++)
            values[known + c] = found[c];
        const size_t until = known + fresh < n ? known + fresh : n;
        open = 0;
        for (int lane = 0; lane < lanes; lane++) {
            if (first)
                least[lane] = fmax(found[3][lane] * norm[lane], 0);
            for (size_t k = known; k < until && !done[lane]; k++) {
                const double next = fmax(values[k][lane] * norm[lane], 0);
                double noise;
                if (denoise_is_noise((int)args->columns, (int)args->rows, args->options.estimator == HOT_DENOISE_EXP1,
                                     (int)k, fmax(rest[lane], 0), next, least[lane], &noise)) {
                    done[lane] = 1;
                    signal[lane] = k;
                    variance[lane] = noise;
                } else {
                    rest[lane] -= next;
                }
            }
            open |= !done[lane] && until < n;
        }
        known = until;
    }
    for (int lane = 0; lane < lanes; lane++)
        if (done[lane] && signal[lane] > most)
            most = signal[lane];
    return most;
}

/* t_k = basis_k . x, k < signal: x and the rows of the basis padded to `width` floats. */
static void project(size_t signal, size_t width, const float *basis, const float *x, float *t)
{
    for (size_t k = 0; k < signal; k += 4) {
        vf sum[4];
        for (int r = 0; r < 4; r++)
            sum[r] = (vf){0};
        for (size_t v = 0; v < width; v += HOT_LANES_F32) {
            const vf xv = *(const vf *)(const void *)(x + v);
            HOT_UNROLL
            for (int r = 0; r < 4; r++)
                sum[r] += xv * *(const vf *)(const void *)(basis + (k + (size_t)r) * width + v);
        }
        for (int r = 0; r < 4; r++) {
            float total = 0;
            for (int lane = 0; lane < HOT_LANES_F32; lane++)
                total += sum[r][lane];
            t[k + (size_t)r] = total;
        }
    }
}

/* y (padded) = sum_k t_k row_k */
static void combine(size_t signal, size_t width, const float *rows, const float *t, float *y)
{
    for (size_t v = 0; v < width; v += HOT_LANES_F32) {
        vf sum = {0};
        for (size_t k = 0; k < signal; k++)
            sum += t[k] * *(const vf *)(const void *)(rows + k * width + v);
        *(vf *)(void *)(y + v) = sum;
    }
}

/* Over voxels: a voxel's part in the samples' products with each eigenvector, which for complex ones are two rows, t
 * and i t. */
static void add_to_rows(const denoise_args *args, const row_workspace *work, size_t at, size_t signal,
                        const float *from, float *restrict rows, size_t width)
{
    const size_t parts = parts_of(args), basis_width = parts * args->columns;
    for (size_t s = 0; s < signal; s++) {
        const float *f = work->basis + s * parts * basis_width + at * parts;
        float *restrict row = rows + s * parts * width;
        if (parts == 1) {
            for (size_t v = 0; v < args->width; v++)
                row[v] += f[0] * from[v];
        } else {
            for (size_t v = 0; v < args->width; v += 2) {
                const float re = f[0] * from[v] + f[1] * from[v + 1], im = f[0] * from[v + 1] - f[1] * from[v];
                row[v] += re, row[v + 1] += im;
                row[width + v] -= im, row[width + v + 1] += re;
            }
        }
    }
}

/* A lane's eigenvectors of the signal to work->basis, complex ones as two real ones. */
static void take_basis(const denoise_args *args, const row_workspace *work, int lane, size_t terms, size_t basis_width)
{
    const size_t n = args->columns, parts = parts_of(args);
    for (size_t k = 0; k < terms; k++) {
        float *to = work->basis + k * basis_width;
        for (size_t i = 0; i < n; i++) {
            const vd *v = work->vectors + (k / parts * n + i) * parts;
            if (parts == 1) {
                to[i] = (float)v[0][lane];
            } else {
                to[2 * i] = k % 2 == 0 ? (float)v[0][lane] : -(float)v[1][lane];
                to[2 * i + 1] = (float)v[1 - k % 2][lane];
            }
        }
        for (size_t i = parts * n; i < basis_width; i++)
            to[i] = 0;
    }
}

/* Over voxels: the window's samples times each eigenvector. */
static void make_rows(const denoise_args *args, const row_workspace *work, const size_t corner[3], size_t signal,
                      float *rows, size_t width)
{
    size_t at = 0;
    memset(rows, 0, parts_of(args) * signal * width * sizeof(float));
    for (size_t k = corner[2]; k < corner[2] + args->window[2]; k++)
        for (size_t j = corner[1]; j < corner[1] + args->window[1]; j++)
            for (size_t i = corner[0]; i < corner[0] + args->window[0]; i++, at++) {
                const size_t voxel = voxel_at(args, i, j, k);
                if (args->usable[voxel])
                    add_to_rows(args, work, at, signal, args->signals + voxel * args->width, rows, width);
            }
}

/* Adds one window's result to the sums of its voxels: its signals projected onto `signal` vectors of a lane, or its
 * unchanged signals if the noise could not be determined. */
static void add_window(const denoise_args *args, const row_workspace *work, const size_t corner[3], int lane,
                       size_t signal, double variance)
{
    const size_t n = args->columns, parts = parts_of(args), m = args->width, width = pad(m), terms = parts * signal;
    const size_t over_volumes = args->volumes <= args->voxels, basis_width = over_volumes ? width : parts * n,
                 whole = !(variance >= 0);
    const size_t above = args->options.begin - args->options.first, below = args->options.end - args->options.first;
    float *x = work->part, *y = x + width, *rows = y + width; /* rows: projections, when over voxels */
    float *t = work->weights;
    if (!whole)
        take_basis(args, work, lane, terms, basis_width);
    if (!whole && over_volumes) /* rows of zeros up to a multiple of four */
        for (size_t k = terms; k < (terms + 3) / 4 * 4; k++)
            memset(work->basis + k * basis_width, 0, width * sizeof(float));
    if (!whole && !over_volumes)
        make_rows(args, work, corner, signal, rows, width);
    memset(x, 0, width * sizeof(float));
    size_t at = 0;
    for (size_t k = corner[2]; k < corner[2] + args->window[2]; k++)
        for (size_t j = corner[1]; j < corner[1] + args->window[1]; j++)
            for (size_t i = corner[0]; i < corner[0] + args->window[0]; i++, at++) {
                const size_t voxel = voxel_at(args, i, j, k);
                if (k < above || k >= below || !args->usable[voxel] || (args->mask && !args->mask[voxel]))
                    continue;
                const size_t to = voxel - above * args->size[0] * args->size[1];
                memcpy(x, args->signals + voxel * args->width, m * sizeof(float));
                const float *result = x;
                if (!whole) {
                    if (over_volumes) {
                        project(terms, width, work->basis, x, t);
                    } else { /* this voxel's element of each vector */
                        for (size_t s = 0; s < terms; s++)
                            t[s] = work->basis[s / parts * parts * basis_width + at * parts + s % parts];
                    }
                    combine(terms, width, over_volumes ? work->basis : rows, t, y);
                    result = y;
                    args->variance[to] += variance / (double)parts;
                    args->variances[to] += 1;
                }
                float *restrict out = args->denoised + to * args->width;
                for (size_t v = 0; v < m; v++)
                    out[v] += result[v];
                args->windows[to] += 1;
            }
}

/* The windows of up to LANES corners, whose Gram matrices are in place. */
static void do_batch(const denoise_args *args, const row_workspace *work, size_t corners[LANES][3], int lanes)
{
    const size_t n = args->columns;
    size_t signal[LANES];
    double variance[LANES];
    vd trace = vsetd(0), norm, low, high, *values = work->more;
    vl lost = {0};
    const int is_complex = args->options.is_complex;
    if (is_complex)
        reduce_complex(args->context, n, work->a, work->d, work->e, work->tau, work->more);
    else
        reduce(args->context, n, work->a, work->d, work->e, work->tau, work->more);
    if (hot_context_cancelled(args->context))
        return;
    for (size_t i = 0; i < n; i++)
        trace += work->d[i];
    scale_tridiagonal(n, work->d, work->e, work->e2, &norm, &low, &high);
    const size_t most = find_signal(args, work, trace, norm, low, high, lanes, values, signal, variance);
    for (size_t k = 0; k < most && !hot_context_cancelled(args->context); k++) {
        vd *z = work->vectors + k * n;
        twisted_vector(n, work->d, work->e, values[k], work->up, work->down, z);
        const vl now = orthogonalise(n, work->vectors, k, z);
        for (int lane = 0; lane < lanes; lane++)
            lost[lane] |= k < signal[lane] ? now[lane] : 0;
    }
    if (is_complex)
        back_transform_complex(n, work->a, work->tau, most, work->vectors);
    else
        back_transform(n, work->a, work->tau, most, work->vectors);
    for (int lane = 0; lane < lanes; lane++) {
        if (lost[lane]) /* eigenvalues too close for this way */
            hot_denoise_window_plain(args, corners[lane], work->plain);
        else
            add_window(args, work, corners[lane], lane, signal[lane], variance[lane]);
    }
}

void HOT_VARIANT(hot_denoise_row)(const denoise_args *args, size_t place_j, size_t place_k, void *scratch)
{
    const size_t n = args->columns, real = n * parts_of(args), gram = pad(real) * pad(real),
                 places = denoise_places(args->size[0], args->window[0], args->step[0]);
    const int over_volumes = args->volumes <= args->voxels;
    size_t corners[LANES][3], next = 0; /* next: the first column of voxels that is not in the ring */
    row_workspace work;
    int lanes = 0;
    lay_out(args, scratch, &work);
    for (size_t place = 0; place < places; place++) {
        size_t *corner = corners[lanes];
        corner[0] = denoise_place(place, args->size[0], args->window[0], args->step[0]);
        corner[1] = denoise_place(place_j, args->size[1], args->window[1], args->step[1]);
        corner[2] = denoise_place(place_k, args->options.slices, args->window[2], args->step[2]) - args->options.first;
        if (hot_denoise_wanted(args, corner)) {
            if (over_volumes) {
                next = next > corner[0] ? next : corner[0];
                for (; next < corner[0] + args->window[0] && !hot_context_cancelled(args->context); next++)
                    column_gram(args, next, corner, &work, work.grams + next % args->window[0] * gram);
            } else {
                window_gram(args, corner, &work, work.grams);
            }
            const size_t grams = over_volumes ? args->window[0] : 1;
            (args->options.is_complex ? into_lane_complex : into_lane)(args, &work, grams, lanes);
            lanes++;
        }
        if (lanes == LANES || (place + 1 == places && lanes > 0)) {
            for (int lane = lanes; lane < LANES; lane++) /* idle lanes repeat the last window */
                for (size_t k = 0; k < real * (n + 1) / 2; k++)
                    work.a[k][lane] = work.a[k][lanes - 1];
            do_batch(args, &work, corners, lanes);
            lanes = 0;
        }
    }
}
