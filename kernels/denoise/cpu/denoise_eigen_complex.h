/* Hermitian matrices, one per lane: what differs from the real ones of denoise_eigen.h. Part of the template
 * denoise_row.h.
 *
 * Complex numbers are two vectors, (re, im), side by side. Row i of a packed triangle holds A(k, i), k <= i: a
 * column of the upper triangle. The reduction is LAPACK's zhetd2; its off-diagonals are real, and the tridiagonal
 * matrix with all that is done to it is that of the real case. */

/* sum += a b; sum += conj(a) b */
#define ADD_PRODUCT(sr, si, ar, ai, br, bi) (sr += (ar) * (br) - (ai) * (bi), si += (ar) * (bi) + (ai) * (br))
#define ADD_CONJ_PRODUCT(sr, si, ar, ai, br, bi) (sr += (ar) * (br) + (ai) * (bi), si += (ar) * (bi) - (ai) * (br))

/* x = A(k, j) brought up to date: x - v_k conj(w_j) - w_k conj(v_j) */
#define UPDATE(xr, xi, k, vjr, vji, wjr, wji)                                                                          \
    do {                                                                                                               \
        const vd vkr_ = v[2 * (k)], vki_ = v[2 * (k) + 1], wkr_ = w[2 * (k)], wki_ = w[2 * (k) + 1];                  \
        xr -= vkr_ * (wjr) + vki_ * (wji) + wkr_ * (vjr) + wki_ * (vji);                                               \
        xi -= vki_ * (wjr) - vkr_ * (wji) + wki_ * (vjr) - wkr_ * (vji);                                               \
    } while (0)

/* A -= v w^H + w v^H, rows 0 ... m - 1, and in the same pass p = A u. */
static void update_and_multiply_complex(size_t m, vd *restrict a, const vd *restrict v, const vd *restrict w,
                                        const vd *restrict u, vd *restrict p)
{
    for (size_t k = 0; k < 2 * m; k++)
        p[k] = vsetd(0);
    for (size_t j = 0; j < m; j += 2) {
        const size_t other = j + 1 < m ? j + 1 : j; /* of an odd number the last row is done alone */
        vd *restrict a0 = row_of(a, j) + j * (j + 1) / 2, *restrict a1 = row_of(a, other) + other * (other + 1) / 2;
        const vd v0r = v[2 * j], v0i = v[2 * j + 1], w0r = w[2 * j], w0i = w[2 * j + 1], u0r = u[2 * j],
                  u0i = u[2 * j + 1];
        const vd v1r = v[2 * other], v1i = v[2 * other + 1], w1r = w[2 * other], w1i = w[2 * other + 1];
        const vd u1r = u[2 * other], u1i = u[2 * other + 1];
        vd s0r = vsetd(0), s0i = s0r, s1r = s0r, s1i = s0r;
        if (other > j)
            for (size_t k = 0; k < j; k++) {
                const vd ur = u[2 * k], ui = u[2 * k + 1];
                vd xr = a0[2 * k], xi = a0[2 * k + 1], yr = a1[2 * k], yi = a1[2 * k + 1], pr = p[2 * k],
                    pi = p[2 * k + 1];
                UPDATE(xr, xi, k, v0r, v0i, w0r, w0i);
                UPDATE(yr, yi, k, v1r, v1i, w1r, w1i);
                a0[2 * k] = xr, a0[2 * k + 1] = xi, a1[2 * k] = yr, a1[2 * k + 1] = yi;
                ADD_CONJ_PRODUCT(s0r, s0i, xr, xi, ur, ui);
                ADD_CONJ_PRODUCT(s1r, s1i, yr, yi, ur, ui);
                ADD_PRODUCT(pr, pi, xr, xi, u0r, u0i);
                ADD_PRODUCT(pr, pi, yr, yi, u1r, u1i);
                p[2 * k] = pr, p[2 * k + 1] = pi;
            }
        p[2 * j] += s0r, p[2 * j + 1] += s0i;
        if (other > j)
            p[2 * other] += s1r, p[2 * other + 1] += s1i;
        for (size_t r = j; r <= other; r++)
            for (size_t k = other > j ? j : 0; k <= r; k++) {
                vd *x = row_of(a, r) + r * (r + 1) / 2 + 2 * k, xr = x[0], xi = x[1];
                UPDATE(xr, xi, k, v[2 * r], v[2 * r + 1], w[2 * r], w[2 * r + 1]);
                xi = k == r ? vsetd(0) : xi;
                x[0] = xr, x[1] = xi;
                ADD_PRODUCT(p[2 * k], p[2 * k + 1], xr, xi, u[2 * r], u[2 * r + 1]);
                if (k < r)
                    ADD_CONJ_PRODUCT(p[2 * r], p[2 * r + 1], xr, xi, u[2 * k], u[2 * k + 1]);
            }
    }
}

/* As reduce; tau: n complex numbers, workspace: 6 n. */
static void reduce_complex(const hot_context *context, size_t n, vd *a, vd *d, vd *e, vd *tau, vd *workspace)
{
    vd *w = workspace, *p = workspace + 2 * n, *none = workspace + 4 * n;
    const vd *v = none;
    for (size_t k = 0; k < 2 * n; k++)
        none[k] = w[k] = vsetd(0);
    for (size_t i = n; i-- > 0;) {
        if (i % 32 == 31 && hot_context_cancelled(context))
            break;
        vd *x = row_of(a, i) + i * (i + 1) / 2, rest = vsetd(0);
        for (size_t k = 0; k <= i; k++)
            UPDATE(x[2 * k], x[2 * k + 1], k, v[2 * i], v[2 * i + 1], w[2 * i], w[2 * i + 1]);
        d[i] = x[2 * i];
        if (i == 0)
            break;
        for (size_t k = 0; k < 2 * (i - 1); k++)
            rest += x[k] * x[k];
        const vd ar = x[2 * i - 2], ai = x[2 * i - 1], size = ar * ar + ai * ai + rest, norm = vsqrt(size);
        const vl done = ~((rest > 0) | (ai != 0)); /* nothing to reflect */
        const vd beta = vsel(done, vsetd(1), vsel(ar > 0, -norm, norm));
        const vd re = ar - beta, square = vsel(done, vsetd(1), re * re + ai * ai);
        const vd scale_re = vsel(done, vsetd(0), re / square),
                  scale_im = vsel(done, vsetd(0), -ai / square);
        const vd tr = vsel(done, vsetd(0), -re / beta), ti = vsel(done, vsetd(0), -ai / beta);
        tau[2 * i] = tr, tau[2 * i + 1] = ti;
        e[i] = vsel(done, ar, beta);
        for (size_t k = 0; k + 1 < i; k++) {
            const vd xr = x[2 * k], xi = x[2 * k + 1];
            x[2 * k] = xr * scale_re - xi * scale_im;
            x[2 * k + 1] = xr * scale_im + xi * scale_re;
        }
        x[2 * i - 2] = vsetd(1), x[2 * i - 1] = vsetd(0);
        update_and_multiply_complex(i, a, v, w, x, p);
        vd dot_re = vsetd(0), dot_im = dot_re;
        for (size_t k = 0; k < i; k++) {
            const vd pr = p[2 * k], pi = p[2 * k + 1];
            p[2 * k] = pr * tr - pi * ti;
            p[2 * k + 1] = pr * ti + pi * tr;
            ADD_CONJ_PRODUCT(dot_re, dot_im, p[2 * k], p[2 * k + 1], x[2 * k], x[2 * k + 1]);
        }
        const vd half_re = -0.5 * (tr * dot_re - ti * dot_im), half_im = -0.5 * (tr * dot_im + ti * dot_re);
        for (size_t k = 0; k < i; k++) {
            w[2 * k] = p[2 * k] + half_re * x[2 * k] - half_im * x[2 * k + 1];
            w[2 * k + 1] = p[2 * k + 1] + half_re * x[2 * k + 1] + half_im * x[2 * k];
        }
        v = x;
    }
    e[0] = vsetd(0);
}

/* As back_transform; the vectors come in real, n after n, and leave complex, 2 n after 2 n. */
static void back_transform_complex(size_t n, const vd *a, const vd *tau, size_t count, vd *vectors)
{
    for (size_t k = count; k-- > 0;)
        for (size_t r = n; r-- > 0;) {
            vectors[(k * n + r) * 2] = vectors[k * n + r];
            vectors[(k * n + r) * 2 + 1] = vsetd(0);
        }
    for (size_t i = 1; i < n; i++) {
        const vd *restrict v = a + i * (i + 1), tr = tau[2 * i], ti = tau[2 * i + 1];
        for (size_t k = 0; k < count; k += 2) {
            const size_t other = k + 1 < count ? k + 1 : k;
            vd *restrict y = vectors + 2 * k * n, *restrict z = vectors + 2 * other * n;
            vd yr = vsetd(0), yi = yr, zr = yr, zi = yr;
            for (size_t r = 0; r < i; r++) {
                ADD_CONJ_PRODUCT(yr, yi, v[2 * r], v[2 * r + 1], y[2 * r], y[2 * r + 1]);
                ADD_CONJ_PRODUCT(zr, zi, v[2 * r], v[2 * r + 1], z[2 * r], z[2 * r + 1]);
            }
            const vd fr = ti * yi - tr * yr, fi = -(tr * yi + ti * yr), gr = ti * zi - tr * zr,
                      gi = -(tr * zi + ti * zr);
            for (size_t r = 0; r < i; r++)
                ADD_PRODUCT(y[2 * r], y[2 * r + 1], fr, fi, v[2 * r], v[2 * r + 1]);
            for (size_t r = 0; r < i && other > k; r++)
                ADD_PRODUCT(z[2 * r], z[2 * r + 1], gr, gi, v[2 * r], v[2 * r + 1]);
        }
    }
}

#undef ADD_PRODUCT
#undef ADD_CONJ_PRODUCT
#undef UPDATE
