/* Householder's reduction of what fits in registers: a block per matrix, DOWN x ACROSS threads, each with ROWS x
 * COLUMNS elements, DOWN and ACROSS apart. Both halves of the matrix are held, so that a row of A x is the sum of one
 * row of threads. Every warp computes everything but the products with the matrix redundantly: between two reflectors
 * the block synchronises only twice. */
#pragma once

#include "heev_reduce_common.cuh"

/* Numbers of shared memory: two pairs of columns, A x, and v and w of every warp. */
template <int DOWN, int ACROSS, int ROWS> static constexpr int heev_small_numbers()
{
    return DOWN * ROWS * (5 + 2 * (DOWN * ACROSS / 32));
}

/* Reduces the leading part, `size` <= DOWN * ROWS, of the panels' result in plan.reflectors, or of the matrices
 * themselves (`matrices`, then size = n), whose lower half passes through plan.reflectors. */
template <bool C, int DOWN, int ACROSS, int ROWS, int COLUMNS>
__global__ void __launch_bounds__(DOWN *ACROSS)
    heev_small(const __grid_constant__ heev_plan plan, const void *matrices, int size)
{
    typedef number<C> num;
    constexpr int MOST = DOWN * ROWS, LANES = 32;
    static_assert(MOST == ACROSS * COLUMNS, "a square");
    extern __shared__ double2 heev_memory[];
    const int n = plan.n, ld = plan.ld, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int across = threadIdx.x % ACROSS, down = threadIdx.x / ACROSS;
    const size_t matrix = blockIdx.x;
    num *both = reinterpret_cast<num *>(heev_memory), *product = both + 4 * MOST;
    num *v = product + MOST + (size_t)warp * 2 * MOST, *w = v + MOST;
    num *rows = (num *)plan.reflectors + matrix * ld * ld, *tau = (num *)plan.tau + matrix * ld;
    const num zero = num::make(0, 0);
    if (matrices) {
        if (!heev_load<C>(plan, matrices, reinterpret_cast<double *>(heev_memory),
                          [=](int row) { return rows + (size_t)row * ld; }))
            return;
        __syncthreads();
    } else if (plan.state[matrix] != HEEV_FINE)
        return;
    num a[ROWS][COLUMNS];
#pragma unroll
    for (int p = 0; p < ROWS; p++)
#pragma unroll
        for (int q = 0; q < COLUMNS; q++) {
            const int r = down + DOWN * p, c = across + ACROSS * q;
            num element = r < size && c < size ? rows[(size_t)max(r, c) * ld + min(r, c)] : zero; /* A(min, max) */
            if (r == c && !matrices) /* the panels keep half of the diagonal */
                element = plus(element, element);
            if (C && r > c)
                element = num::make(element.re, -element.im());
            a[p][q] = element;
        }
    __syncthreads(); /* rows are reflectors from here on */
    for (int k = lane; k < MOST; k += LANES)
        v[k] = w[k] = zero;
    __syncwarp();
    for (int i = size - 1;; i--) {
        /* A -= v w^H + w v^H; columns i and i - 1 to everybody, while some may still read those of the step before */
        num *x = both + i % 2 * 2 * MOST, *after = x + MOST;
        num vc[COLUMNS], wc[COLUMNS];
#pragma unroll
        for (int q = 0; q < COLUMNS; q++)
            vc[q] = v[across + ACROSS * q], wc[q] = w[across + ACROSS * q];
#pragma unroll
        for (int p = 0; p < ROWS; p++) {
            if (DOWN * p > i)
                continue;
            const num vr = v[down + DOWN * p], wr = w[down + DOWN * p];
#pragma unroll
            for (int q = 0; q < COLUMNS; q++)
                if (ACROSS * q <= i) {
                    a[p][q] = minus_conj(minus_conj(a[p][q], vr, wc[q]), wr, vc[q]);
                    if (across + ACROSS * q == i)
                        x[down + DOWN * p] = a[p][q];
                    if (across + ACROSS * q == i - 1)
                        after[down + DOWN * p] = a[p][q];
                }
        }
        __syncthreads();
        if (threadIdx.x == 0)
            plan.d[matrix * n + i] = x[i].re;
        if (i == 0)
            break;
        /* A x, and the reflection */
        num sum[ROWS], xc[COLUMNS];
#pragma unroll
        for (int q = 0; q < COLUMNS; q++) {
            const int c = across + ACROSS * q;
            xc[q] = c < i ? x[c] : zero;
        }
#pragma unroll
        for (int p = 0; p < ROWS; p++) {
            sum[p] = zero;
            if (DOWN * p < i)
#pragma unroll
                for (int q = 0; q < COLUMNS; q++)
                    if (ACROSS * q < i)
                        sum[p] = add(sum[p], a[p][q], xc[q]);
        }
        const num mine = heev_sum_across<C, ACROSS, ROWS>(sum);
        if (across % (ACROSS / ROWS) == 0)
            product[down + DOWN * (across / (ACROSS / ROWS))] = mine;
        double rest = 0;
        for (int k = lane; k < i - 1; k += LANES)
            rest += x[k].re * x[k].re + x[k].im() * x[k].im();
        rest = warp_sum(rest);
        const num alpha = x[i - 1];
        double beta;
        num t, scale;
        heev_reflection(rest, alpha, &beta, &t, &scale);
        __syncthreads();
        /* u = (x - beta) scale; w = tau A u - tau / 2 (w^H u) u with w^H u = conj(tau) times the real u^H A u */
        double real = 0;
        num u[MOST / LANES], y[MOST / LANES];
#pragma unroll
        for (int m = 0; m < MOST / LANES; m++) {
            const int k = lane + LANES * m;
            u[m] = k < i - 1 ? times(x[k], scale) : k == i - 1 ? num::make(1, 0) : zero;
            y[m] = zero;
            if (k < i) {
                const num s = product[k], b = after[k];
                y[m] = times(num::make(s.re - beta * b.re, s.im() - beta * b.im()), scale);
                real += add_conj(zero, y[m], u[m]).re;
            }
        }
        real = warp_sum(real);
        const num half = num::make(-0.5 * (t.re * t.re + t.im() * t.im()) * real, 0);
#pragma unroll
        for (int m = 0; m < MOST / LANES; m++) {
            const int k = lane + LANES * m;
            v[k] = u[m];
            w[k] = add(times(t, y[m]), half, u[m]);
            if (warp == 0 && plan.vectors && k < ld)
                rows[(size_t)i * ld + k] = u[m];
        }
        if (warp == 0 && plan.vectors)
            for (int k = MOST + lane; k < ld; k += LANES)
                rows[(size_t)i * ld + k] = zero;
        if (threadIdx.x == 0) {
            plan.e[matrix * n + i] = beta;
            tau[i] = t;
        }
        __syncwarp();
    }
    if (threadIdx.x == 0)
        plan.e[matrix * n] = 0;
    if (plan.vectors)
        heev_pad(plan, rows, tau);
}
