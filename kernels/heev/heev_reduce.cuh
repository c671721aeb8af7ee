/* Householder's reduction to a real tridiagonal matrix: a block per matrix, which lies in shared memory when it fits.
 *
 * One pass over the triangle per step: the update that the step before left over and the product with the new reflector. A
 * warp takes four rows at a time, eight lanes a row; a lane keeps the products for its eight of 64 columns in registers. */
#ifndef HOT_HEEV_REDUCE_CUH
#define HOT_HEEV_REDUCE_CUH

#include "heev_number.cuh"
#include "heev_plan.cuh"

enum { HEEV_COLUMNS = 64 };

/* Bytes of shared memory beside the triangle. */
static inline size_t heev_reduce_room(int n, int threads, size_t number_bytes)
{
    return ((size_t)n * (4 + (size_t)threads / 32)) * number_bytes + 32 * sizeof(double);
}

/* Scales and packs the lower triangle of a matrix; false (and the state set) when it holds NaN or Inf. */
template <typename IN, bool C>
__device__ bool heev_load(const heev_plan &plan, const IN *matrix, number<C> *a, double *room)
{
    const int n = plan.n, parts = C ? 2 : 1;
    double largest = 0;
    for (int at = threadIdx.x; at < n * n; at += blockDim.x) {
        const int row = at % n, column = at / n;
        if (row < column)
            continue;
        const double x = fabs((double)matrix[(size_t)at * parts]);
        const double y = C && row > column ? fabs((double)matrix[(size_t)at * parts + 1]) : 0;
        largest = isfinite(x) && isfinite(y) ? fmax(largest, fmax(x, y)) : INFINITY;
    }
    largest = block_max(largest, room);
    int exponent = 0;
    if (isfinite(largest) && largest > 0)
        frexp(largest, &exponent);
    if (threadIdx.x == 0) {
        plan.exponent[blockIdx.x] = exponent;
        plan.state[blockIdx.x] = isfinite(largest) ? HEEV_FINE : HEEV_BAD;
        plan.apart[blockIdx.x] = 0;
    }
    if (!isfinite(largest))
        return false;
    const double scale = ldexp(1.0, -exponent / 2), rest = ldexp(1.0, -exponent - -exponent / 2);
    for (int at = threadIdx.x; at < n * n; at += blockDim.x) {
        const int row = at % n, column = at / n;
        if (row < column)
            continue;
        const double x = (double)matrix[(size_t)at * parts] * scale * rest;
        const double y = C && row > column ? -(double)matrix[(size_t)at * parts + 1] * scale * rest : 0;
        a[packed(row) + column] = number<C>::make(x, y); /* A(column, row), the conjugate */
    }
    return true;
}

template <typename IN, bool C, bool SHARED>
__global__ void heev_reduce(const __grid_constant__ heev_plan plan, const IN *matrices)
{
    typedef number<C> num;
    extern __shared__ double2 heev_memory[];
    const int n = plan.n, warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t matrix = blockIdx.x;
    num *vectors = reinterpret_cast<num *>(heev_memory);
    num *u = vectors, *v = u + n, *w = v + n, *rows = w + n, *part = rows + n; /* part: warps x n */
    double *room = reinterpret_cast<double *>(part + (size_t)warps * n);
    num *global = (num *)plan.reflectors + matrix * packed(n), *tau = (num *)plan.tau + matrix * n;
    num *a = SHARED ? reinterpret_cast<num *>(room + 32) : global;
    const num zero = num::make(0, 0);
    if (!heev_load<IN, C>(plan, matrices + matrix * (size_t)n * n * (C ? 2 : 1), a, room))
        return;
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        v[k] = w[k] = zero;
    __syncthreads();
    for (int i = n - 1; i >= 0; i--) {
        /* the column to be reflected, brought up to date */
        num *x = a + packed(i);
        double rest = 0;
        const num vi = v[i], wi = w[i];
        for (int k = threadIdx.x; k <= i; k += blockDim.x) {
            num y = minus_conj(minus_conj(x[k], v[k], wi), w[k], vi);
            u[k] = y;
            if (k == i)
                plan.d[matrix * n + i] = y.re;
            if (k + 1 < i)
                rest += y.re * y.re + y.im() * y.im();
        }
        if (i == 0)
            break;
        rest = block_sum(rest, room);
        const num alpha = u[i - 1];
        const double size = rest + alpha.re * alpha.re + alpha.im() * alpha.im();
        num t = zero, scale = zero;
        double beta = alpha.re;
        if (size < 1e-270) { /* nothing beside a norm near 1, and squares vanish */
            beta = 0;
        } else if (rest > 0 || alpha.im() != 0) {
            beta = -copysign(sqrt(size), alpha.re);
            t = num::make((beta - alpha.re) / beta, -alpha.im() / beta);
            const double re = alpha.re - beta, im = alpha.im(), square = re * re + im * im;
            scale = num::make(re / square, -im / square);
        }
        if (threadIdx.x == 0) {
            plan.e[matrix * n + i] = beta;
            tau[i] = t;
        }
        __syncthreads(); /* all have read alpha */
        for (int k = threadIdx.x; k < i; k += blockDim.x) {
            num y = k == i - 1 ? num::make(1, 0) : times(u[k], scale);
            u[k] = y;
            x[k] = y;
            rows[k] = zero;
        }
        for (int k = threadIdx.x; k < warps * n; k += blockDim.x)
            part[k] = zero;
        __syncthreads();
        /* A -= v w^H + w v^H, and A u */
        const int group = lane / 8, first = lane % 8;
        for (int c0 = 0; c0 < i; c0 += HEEV_COLUMNS) {
            num sum[HEEV_COLUMNS / 8];
#pragma unroll
            for (int c = 0; c < HEEV_COLUMNS / 8; c++)
                sum[c] = zero;
            for (int j0 = c0 / 4 * 4 + 4 * warp; j0 < i; j0 += 4 * warps) {
                const int j = j0 + group;
                const bool here = j < i && j >= c0;
                const int row = here ? j : 0;
                const num vj = v[row], wj = w[row], uj = u[row];
                num *aj = a + packed(row), dot = zero;
#pragma unroll
                for (int c = 0; c < HEEV_COLUMNS / 8; c++) {
                    const int k = c0 + first + 8 * c;
                    if (here && k <= j) {
                        num y = minus_conj(minus_conj(aj[k], v[k], wj), w[k], vj);
                        aj[k] = y;
                        sum[c] = add(sum[c], y, uj);
                        if (k < j)
                            dot = add_conj(dot, y, u[k]);
                    }
                }
                for (int offset = 4; offset; offset >>= 1)
                    dot = plus(dot, shuffled(dot, offset));
                if (here && first == 0)
                    rows[j] = plus(rows[j], dot);
            }
#pragma unroll
            for (int c = 0; c < HEEV_COLUMNS / 8; c++) {
                sum[c] = plus(sum[c], shuffled(sum[c], 8));
                sum[c] = plus(sum[c], shuffled(sum[c], 16));
                const int k = c0 + first + 8 * c;
                if (group == 0 && k < i)
                    part[warp * n + k] = sum[c];
            }
        }
        __syncthreads();
        /* w = tau A u - tau / 2 (w^H u) u */
        double re = 0, im = 0;
        for (int k = threadIdx.x; k < i; k += blockDim.x) {
            num y = rows[k];
            for (int from = 0; from < warps; from++)
                y = plus(y, part[from * n + k]);
            y = times(t, y);
            rows[k] = y;
            const num product = add_conj(zero, y, u[k]);
            re += product.re;
            im += product.im();
        }
        re = block_sum(re, room);
        if (C)
            im = block_sum(im, room);
        const num half = times(num::make(-0.5 * t.re, -0.5 * t.im()), num::make(re, im));
        for (int k = threadIdx.x; k < i; k += blockDim.x) {
            v[k] = u[k];
            w[k] = add(rows[k], half, u[k]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        plan.e[matrix * n] = 0;
    if (SHARED && plan.vectors)
        for (size_t k = threadIdx.x; k < packed(n); k += blockDim.x)
            global[k] = a[k];
}

#endif
