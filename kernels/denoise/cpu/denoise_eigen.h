/* The largest eigenpairs of many symmetric matrices, one per lane of a vector: part of the template denoise_row.h.
 *
 * Householder's reduction on packed lower triangles (row i holds columns 0 ... i), eigenvalues one after the other from
 * the largest on by bisection with division-free Sturm counts, eigenvectors of the tridiagonal matrix by twisted
 * factorisations (Fernando 1997), and back. All lanes do the same work; they part only in how many vectors they
 * need. */
#include "common/simd.h"

enum { LANES = HOT_LANES_F64 };

HOT_FN vd *row_of(vd *a, size_t i) { return a + i * (i + 1) / 2; }

/* One step of the reduction: the update A -= v w^T + w v^T that the step before left over, rows 0 ... m - 1, and in the
 * same pass p = A u. */
static void update_and_multiply(size_t m, vd *restrict a, const vd *restrict v, const vd *restrict w,
                                const vd *restrict u, vd *restrict p)
{
    for (size_t k = 0; k < m; k++)
        p[k] = vsetd(0);
    size_t j = 0;
    for (; j + 4 <= m; j += 4) {
        vd *restrict a0 = row_of(a, j), *restrict a1 = row_of(a, j + 1), *restrict a2 = row_of(a, j + 2),
            *restrict a3 = row_of(a, j + 3);
        const vd v0 = v[j], v1 = v[j + 1], v2 = v[j + 2], v3 = v[j + 3];
        const vd w0 = w[j], w1 = w[j + 1], w2 = w[j + 2], w3 = w[j + 3];
        const vd u0 = u[j], u1 = u[j + 1], u2 = u[j + 2], u3 = u[j + 3];
        vd s0 = vsetd(0), s1 = s0, s2 = s0, s3 = s0;
        for (size_t k = 0; k < j; k++) {
            const vd vk = v[k], wk = w[k], uk = u[k];
            vd x0 = a0[k] - v0 * wk - w0 * vk, x1 = a1[k] - v1 * wk - w1 * vk;
            vd x2 = a2[k] - v2 * wk - w2 * vk, x3 = a3[k] - v3 * wk - w3 * vk;
            a0[k] = x0, a1[k] = x1, a2[k] = x2, a3[k] = x3;
            s0 += x0 * uk, s1 += x1 * uk, s2 += x2 * uk, s3 += x3 * uk;
            p[k] += x0 * u0 + x1 * u1 + x2 * u2 + x3 * u3;
        }
        p[j] += s0, p[j + 1] += s1, p[j + 2] += s2, p[j + 3] += s3;
        for (size_t r = j; r < j + 4; r++)
            for (size_t k = j; k <= r; k++) {
                vd x = row_of(a, r)[k] - v[r] * w[k] - w[r] * v[k];
                row_of(a, r)[k] = x;
                p[r] += x * u[k];
                if (k < r)
                    p[k] += x * u[r];
            }
    }
    for (; j < m; j++)
        for (size_t k = 0; k <= j; k++) {
            vd x = row_of(a, j)[k] - v[j] * w[k] - w[j] * v[k];
            row_of(a, j)[k] = x;
            p[j] += x * u[k];
            if (k < j)
                p[k] += x * u[j];
        }
}

/* A becomes its reflectors: row i, columns 0 ... i - 1, is the vector whose last element is 1, with tau[i]. d:
 * diagonal; e[i] couples i - 1 and i, e[0] = 0. workspace: 4 n. */
static void reduce(const hot_context *context, size_t n, vd *a, vd *d, vd *e, vd *tau, vd *workspace)
{
    vd *w = workspace, *p = workspace + n, *none = workspace + 2 * n;
    const vd *v = none;
    for (size_t k = 0; k < n; k++)
        none[k] = w[k] = vsetd(0);
    for (size_t i = n; i-- > 0;) {
        if (i % 32 == 31 && hot_context_cancelled(context))
            break;
        vd *x = row_of(a, i), rest = vsetd(0);
        for (size_t k = 0; k <= i; k++)
            x[k] = x[k] - v[i] * w[k] - w[i] * v[k];
        d[i] = x[i];
        if (i == 0)
            break;
        for (size_t k = 0; k + 1 < i; k++)
            rest += x[k] * x[k];
        const vd alpha = x[i - 1], norm = vsqrt(alpha * alpha + rest);
        const vl done = ~(rest > 0); /* nothing to reflect */
        vd beta = vsel(alpha > 0, -norm, norm);
        const vd scale = vsel(done, vsetd(0), 1 / vsel(done, vsetd(1), alpha - beta));
        tau[i] = vsel(done, vsetd(0), (beta - alpha) / vsel(done, vsetd(1), beta));
        e[i] = vsel(done, alpha, beta);
        for (size_t k = 0; k + 1 < i; k++)
            x[k] = x[k] * scale;
        x[i - 1] = vsetd(1);
        update_and_multiply(i, a, v, w, x, p);
        vd dot = vsetd(0);
        for (size_t k = 0; k < i; k++) {
            p[k] = p[k] * tau[i];
            dot += p[k] * x[k];
        }
        dot = dot * tau[i] * 0.5;
        for (size_t k = 0; k < i; k++)
            w[k] = p[k] - dot * x[k];
        v = x;
    }
    e[0] = vsetd(0);
}

/* d, e scaled to a norm of 1 by 1 / *norm (1 for a zero matrix); squares of the off-diagonals, lifted to where the
 * recurrence below cannot vanish between two scalings; the interval of all eigenvalues. */
static void scale_tridiagonal(size_t n, vd *d, vd *e, vd *e2, vd *norm, vd *low, vd *high)
{
    vd largest = vsetd(0);
    for (size_t i = 0; i < n; i++) {
        vd sum = vabs(d[i]) + vabs(e[i]);
        if (i + 1 < n)
            sum += vabs(e[i + 1]);
        largest = vmax(largest, sum);
    }
    *norm = vsel(largest > 0, largest, vsetd(1));
    const vd scale = 1 / *norm;
    for (size_t i = 0; i < n; i++) {
        d[i] = d[i] * scale;
        e[i] = e[i] * scale;
        e2[i] = vmax(e[i] * e[i], vsetd(0x1p-110));
    }
    *low = vsetd(-1 - 0x1p-40);
    *high = vsetd(1 + 0x1p-40);
}

/* How many eigenvalues are below each of four shifts: sign changes of p_i = (d_i - x) p_(i-1) - e_i^2 p_(i-2). */
static void count_below(size_t n, const vd *restrict d, const vd *restrict e2, const vd x[4], vul below[4])
{
    vd p[4], q[4];
    for (int c = 0; c < 4; c++) {
        p[c] = vsetd(1);
        q[c] = vsetd(0);
        below[c] = (vul){0};
    }
    for (size_t i0 = 0; i0 < n; i0 += 16) {
        const size_t end = i0 + 16 < n ? i0 + 16 : n;
        for (size_t i = i0; i < end; i++) {
            HOT_UNROLL
            for (int c = 0; c < 4; c++) {
                const vd next = (d[i] - x[c]) * p[c] - e2[i] * q[c];
                q[c] = p[c];
                p[c] = next;
                below[c] += ((vul)p[c] ^ (vul)q[c]) >> 63;
            }
        }
        for (int c = 0; c < 4; c++) { /* the larger of the two to [1, 2) */
            const vd size = vmax(vabs(p[c]), vabs(q[c]));
            const vd scale = (vd)(((vul){0} + (2046ull << 52)) - ((vul)size & (0x7ffull << 52)));
            p[c] *= scale;
            q[c] *= scale;
        }
    }
}

/* Four eigenvalues, by how many are smaller, in bisections of [low, high]. */
static void bisect(size_t n, const vd *d, const vd *e2, vd low, vd high, const uint64_t index[4], vd values[4])
{
    vd from[4], to[4], x[4];
    vul below[4];
    for (int c = 0; c < 4; c++)
        from[c] = low, to[c] = high;
    for (int step = 0; step < 52; step++) {
        for (int c = 0; c < 4; c++)
            x[c] = 0.5 * (from[c] + to[c]);
        count_below(n, d, e2, x, below);
        for (int c = 0; c < 4; c++) {
            const vl above = (vl)(below[c] > index[c]);
            to[c] = vsel(above, x[c], to[c]);
            from[c] = vsel(above, from[c], x[c]);
        }
    }
    for (int c = 0; c < 4; c++)
        values[c] = 0.5 * (from[c] + to[c]);
}

/* The eigenvector z (unit) of the tridiagonal matrix: pivots from the top and from the bottom, joined where the
 * eigenvector is large. up, down: n. */
static void twisted_vector(size_t n, const vd *d, const vd *e, vd lambda, vd *restrict up, vd *restrict down,
                           vd *restrict z)
{
    const vd tiny = vsetd(0x1p-120);
    vd best = vsetd(INFINITY), norm = vsetd(0);
    vul at = {0};
    for (size_t i = 0; i < n; i++) { /* up and down: 1 / pivot */
        const size_t j = n - 1 - i;
        vd from_top = d[i] - lambda, from_bottom = d[j] - lambda;
        if (i > 0) {
            from_top -= e[i] * e[i] * up[i - 1];
            from_bottom -= e[j + 1] * e[j + 1] * down[j + 1];
        }
        up[i] = 1 / vsel(vabs(from_top) < tiny, tiny, from_top);
        down[j] = 1 / vsel(vabs(from_bottom) < tiny, tiny, from_bottom);
    }
    for (size_t i = 0; i < n; i++) {
        const vd gamma = vabs(1 / up[i] + 1 / down[i] - (d[i] - lambda));
        const vl better = gamma < best;
        best = vsel(better, gamma, best);
        at = (vul)(((vl)at & ~better) | ((vl)((vul){0} + (uint64_t)i) & better));
    }
    for (size_t i = 0; i < n; i++)
        z[i] = vsel((vl)(at == (uint64_t)i), vsetd(1), vsetd(0));
    for (size_t i = n - 1; i-- > 0;)
        z[i] = vsel((vl)(at > (uint64_t)i), -e[i + 1] * up[i] * z[i + 1], z[i]);
    for (size_t i = 1; i < n; i++)
        z[i] = vsel((vl)(at < (uint64_t)i), -e[i] * down[i] * z[i - 1], z[i]);
    for (size_t i = 0; i < n; i++)
        norm += z[i] * z[i];
    norm = 1 / vsqrt(norm);
    for (size_t i = 0; i < n; i++)
        z[i] *= norm;
}

/* Takes the `before` vectors out of z and makes it unit again. Lanes where less than half of it is left: their vul
 * are set. */
static vl orthogonalise(size_t n, const vd *vectors, size_t before, vd *z)
{
    vd norm = vsetd(0);
    for (size_t k = 0; k < before; k++) {
        const vd *y = vectors + k * n;
        vd dot = vsetd(0);
        for (size_t i = 0; i < n; i++)
            dot += y[i] * z[i];
        for (size_t i = 0; i < n; i++)
            z[i] -= dot * y[i];
    }
    for (size_t i = 0; i < n; i++)
        norm += z[i] * z[i];
    const vl lost = ~(norm > 0.5);
    norm = 1 / vsqrt(norm);
    for (size_t i = 0; i < n; i++)
        z[i] *= norm;
    return lost;
}

/* x <- H_(n-1) ... H_1 x for `count` vectors. */
static void back_transform(size_t n, const vd *a, const vd *tau, size_t count, vd *vectors)
{
    for (size_t i = 1; i < n; i++) {
        const vd *restrict v = a + i * (i + 1) / 2;
        size_t k = 0;
        for (; k + 4 <= count; k += 4) {
            vd *restrict z0 = vectors + k * n, *restrict z1 = z0 + n, *restrict z2 = z1 + n, *restrict z3 = z2 + n;
            vd s0 = vsetd(0), s1 = s0, s2 = s0, s3 = s0;
            for (size_t r = 0; r < i; r++)
                s0 += v[r] * z0[r], s1 += v[r] * z1[r], s2 += v[r] * z2[r], s3 += v[r] * z3[r];
            s0 *= tau[i], s1 *= tau[i], s2 *= tau[i], s3 *= tau[i];
            for (size_t r = 0; r < i; r++)
                z0[r] -= s0 * v[r], z1[r] -= s1 * v[r], z2[r] -= s2 * v[r], z3[r] -= s3 * v[r];
        }
        for (; k < count; k++) {
            vd *restrict z = vectors + k * n, s = vsetd(0);
            for (size_t r = 0; r < i; r++)
                s += v[r] * z[r];
            s *= tau[i];
            for (size_t r = 0; r < i; r++)
                z[r] -= s * v[r];
        }
    }
}
