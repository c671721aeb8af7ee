/* Matrices of at most HEEV_TINY rows: a few threads each, which have everything in their registers, from the matrix to
 * its eigenvectors. The method is that of the CPU's lanes (heev_lanes.h), Householder's reduction and implicit QL, and
 * as there single precision is computed in single precision.
 *
 * THREADS threads share a matrix of N rows and columns (zeros beyond n): thread t has rows t, t + THREADS, ..., both
 * triangles of them. All loops over rows and columns are unrolled, so that every index of a register is a constant.
 * Scalars are computed by each of the threads; d and e, whose indices are not constants, are copies of each thread in
 * shared memory, so that nobody waits for anybody. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { HEEV_TINY_BLOCK = 64, HEEV_TINY_SWEEPS = 80 };

template <typename T> struct heev_tiny_job {
    int n, kept;
    size_t count;
    bool upper; /* the triangle that is read */
    const T *matrices;
    T *values, *vectors; /* vectors, flags: or NULL */
    uint8_t *flags;
};

/* epsilon: where an off-diagonal number is negligible beside the diagonal. small: far below the rounding of numbers
 * near 1, and its square is a normal number. */
template <typename T> struct heev_tiny_limits;
template <> struct heev_tiny_limits<double> {
    static constexpr double epsilon = 1.1e-16, small = 1e-140;
};
template <> struct heev_tiny_limits<float> {
    static constexpr float epsilon = 6e-8f, small = 1e-15f;
};

__device__ __forceinline__ double heev_tiny_rsqrt(double x) { return rsqrt(x); }
__device__ __forceinline__ float heev_tiny_rsqrt(float x)
{
    const float r = rsqrtf(x); /* two units off, all to one side: 50 rotations would be seen */
    return r * fmaf(-.5f * x * r, r, 1.5f);
}

/* sum += a b, and conj(a) b */
template <int PARTS, typename T> __device__ __forceinline__ void heev_tiny_add(const T *a, const T *b, T *sum)
{
    sum[0] = fma(a[0], b[0], sum[0]);
    if constexpr (PARTS == 2) {
        sum[0] = fma(-a[1], b[1], sum[0]);
        sum[1] = fma(a[0], b[1], fma(a[1], b[0], sum[1]));
    }
}
template <int PARTS, typename T> __device__ __forceinline__ void heev_tiny_add_conj(const T *a, const T *b, T *sum)
{
    sum[0] = fma(a[0], b[0], sum[0]);
    if constexpr (PARTS == 2) {
        sum[0] = fma(a[1], b[1], sum[0]);
        sum[1] = fma(a[0], b[1], fma(-a[1], b[0], sum[1]));
    }
}

/* Of the threads of a matrix: the number of thread `from`, the sum, the largest. */
template <int THREADS, typename T> __device__ __forceinline__ T heev_tiny_from(T x, int from)
{
    return THREADS == 1 ? x : __shfl_sync(~0u, x, from, THREADS);
}
template <int THREADS, typename T> __device__ __forceinline__ T heev_tiny_sum(T x)
{
#pragma unroll
    for (int offset = THREADS / 2; offset; offset /= 2)
        x += __shfl_xor_sync(~0u, x, offset);
    return x;
}
template <int THREADS, typename T> __device__ __forceinline__ T heev_tiny_max(T x)
{
#pragma unroll
    for (int offset = THREADS / 2; offset; offset /= 2)
        x = fmax(x, __shfl_xor_sync(~0u, x, offset));
    return x;
}

template <typename T, int PARTS, int N, int THREADS> struct heev_tiny_matrix {
    static constexpr int ROWS = N / THREADS, STRIDE = HEEV_TINY_BLOCK;
    static_assert(ROWS * THREADS == N, "whole rows");
    T a[ROWS][N][PARTS]; /* the matrix, then the reflectors below its diagonal, then the vectors */
    T *d, *e;            /* at STRIDE; e[i] couples i and i + 1 */
    int n, thread, exponent;

    __device__ __forceinline__ int row(int p) const { return thread + THREADS * p; }

    /* The matrix scaled by 2^-exponent; zero, and false, when it holds NaN or Inf. */
    __device__ bool load(const heev_tiny_job<T> &job, size_t matrix)
    {
        const T *from = job.matrices + matrix * n * n * PARTS;
        T largest = 0, none = 0;
#pragma unroll
        for (int p = 0; p < ROWS; p++)
#pragma unroll
            for (int c = 0; c < N; c++) {
                const int r = row(p), low = max(r, c), high = min(r, c);
                const bool inside = low < n, turned = (r < c) != job.upper;
                const size_t at = (size_t)(job.upper ? low * n + high : high * n + low) * PARTS;
#pragma unroll
                for (int part = 0; part < PARTS; part++) {
                    const T x = inside && (part == 0 || r != c) ? from[at + part] : (T)0;
                    largest = fmax(largest, fabs(x));
                    none = fma(x, (T)0, none);
                    a[p][c][part] = part && turned ? -x : x;
                }
            }
        largest = heev_tiny_max<THREADS>(largest);
        const bool finite = heev_tiny_sum<THREADS>(none) == 0;
        exponent = 0;
        if (finite && largest > 0)
            frexp(largest, &exponent);
        const T half = ldexp((T)1, -exponent / 2), other = ldexp((T)1, -exponent - -exponent / 2);
#pragma unroll
        for (int p = 0; p < ROWS; p++)
#pragma unroll
            for (int c = 0; c < N; c++)
#pragma unroll
                for (int part = 0; part < PARTS; part++)
                    a[p][c][part] = finite ? a[p][c][part] * half * other : (T)0;
        return finite;
    }

    /* The reflector 1 - v v^H that takes column k below the diagonal, given in v, to -u norm times the first unit
     * vector. */
    __device__ __forceinline__ void reflector(int k, T v[N][PARTS], T u[PARTS], T *norm) const
    {
        constexpr T none = heev_tiny_limits<T>::small * heev_tiny_limits<T>::small;
        T sum = 0, lead = 0;
#pragma unroll
        for (int c = 0; c < N; c++)
            if (c > k)
                for (int part = 0; part < PARTS; part++)
                    sum = fma(v[c][part], v[c][part], sum);
        const bool some = sum > none;
        const T inverse = some ? heev_tiny_rsqrt(sum) : (T)0;
        *norm = sum * inverse;
        for (int part = 0; part < PARTS; part++) {
            const T first = v[k + 1][part] * inverse;
            lead = fma(first, first, lead);
        }
        const bool leads = lead > none;
        const T over = leads ? heev_tiny_rsqrt(lead) : (T)0, length = lead * over;
        const T scale = some ? heev_tiny_rsqrt(1 + length) : (T)0;
        for (int part = 0; part < PARTS; part++)
            u[part] = leads ? v[k + 1][part] * inverse * over : (T)(part == 0);
#pragma unroll
        for (int c = 0; c < N; c++)
            for (int part = 0; part < PARTS; part++)
                v[c][part] = c > k ? (v[c][part] * inverse + (c == k + 1 ? u[part] : (T)0)) * scale : (T)0;
    }

    /* Of a vector that every thread has, the rows that are mine. */
    __device__ __forceinline__ void mine(const T v[N][PARTS], T own[ROWS][PARTS]) const
    {
#pragma unroll
        for (int p = 0; p < ROWS; p++)
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                own[p][part] = v[THREADS * p][part];
#pragma unroll
                for (int t = 1; t < THREADS; t++)
                    own[p][part] = t == thread ? v[THREADS * p + t][part] : own[p][part];
            }
    }

    /* To d, e and reflectors; the diagonal of a keeps the phases that make e real. */
    __device__ void tridiagonalise()
    {
        T phase[PARTS] = {1};
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (k >= n)
                break;
            d[k * STRIDE] = heev_tiny_from<THREADS>(a[k / THREADS][k][0], k % THREADS);
            e[k * STRIDE] = 0;
            T own[ROWS][PARTS] = {}, v[N][PARTS], w[N][PARTS], u[PARTS], norm;
            if (k + 1 < N && k + 1 < n) {
#pragma unroll
                for (int c = 0; c < N; c++) /* the column is the row's conjugate */
                    for (int part = 0; part < PARTS; part++)
                        v[c][part] = c <= k ? (T)0 : (part ? -1 : 1) *
                                     heev_tiny_from<THREADS>(a[k / THREADS][c][part], k % THREADS);
                reflector(k, v, u, &norm);
                e[k * STRIDE] = PARTS == 1 ? -u[0] * norm : norm;
                mine(v, own);
                T product[ROWS][PARTS] = {}, along = 0;
#pragma unroll
                for (int p = 0; p < ROWS; p++) {
                    if (THREADS * p + THREADS - 1 <= k)
                        continue;
#pragma unroll
                    for (int c = 0; c < N; c++)
                        if (c > k)
                            heev_tiny_add<PARTS>(a[p][c], v[c], product[p]);
                    for (int part = 0; part < PARTS; part++)
                        along = fma(own[p][part], product[p][part], along);
                }
                along = heev_tiny_sum<THREADS>(along) / 2;
#pragma unroll
                for (int p = 0; p < ROWS; p++)
                    for (int part = 0; part < PARTS; part++)
                        product[p][part] = fma(-along, own[p][part], product[p][part]);
#pragma unroll
                for (int c = 0; c < N; c++)
                    for (int part = 0; part < PARTS; part++)
                        w[c][part] = c <= k ? (T)0 : heev_tiny_from<THREADS>(product[c / THREADS][part], c % THREADS);
                /* A -= v w^H + w v^H; above the diagonal of finished rows is rubbish from here on */
#pragma unroll
                for (int p = 0; p < ROWS; p++) {
                    if (THREADS * p + THREADS - 1 <= k)
                        continue;
#pragma unroll
                    for (int c = 0; c < N; c++)
                        if (c > k) {
                            T change[PARTS] = {};
                            heev_tiny_add_conj<PARTS>(w[c], own[p], change);
                            heev_tiny_add_conj<PARTS>(v[c], product[p], change);
                            for (int part = 0; part < PARTS; part++)
                                a[p][c][part] -= change[part];
                        }
                }
            }
#pragma unroll
            for (int p = 0; p < ROWS; p++)
                for (int part = 0; part < PARTS; part++)
                    a[p][k][part] = row(p) > k ? own[p][part] : row(p) == k ? phase[part] : (T)0;
            if constexpr (PARTS == 2)
                if (k + 1 < N && k + 1 < n) {
                    T next[PARTS] = {};
                    heev_tiny_add<PARTS>(phase, u, next);
                    phase[0] = -next[0], phase[1] = -next[1];
                }
        }
    }

    /* The product of reflectors and phases, in their place. */
    __device__ void accumulate()
    {
#pragma unroll
        for (int k = N - 1; k >= 0; k--) {
            if (k >= n)
                continue;
            /* column k becomes a unit vector, row k zero to its right */
            T own[ROWS][PARTS];
#pragma unroll
            for (int p = 0; p < ROWS; p++)
                for (int part = 0; part < PARTS; part++) {
                    own[p][part] = k > 0 && row(p) >= k ? a[p][k > 0 ? k - 1 : 0][part] : (T)0;
                    a[p][k][part] = row(p) == k ? a[p][k][part] : (T)0;
#pragma unroll
                    for (int j = 0; j < N; j++)
                        if (j > k)
                            a[p][j][part] = row(p) == k ? (T)0 : a[p][j][part];
                }
            if (k == 0)
                break;
#pragma unroll
            for (int j = 0; j < N; j++) {
                if (j < k)
                    continue;
                T sum[PARTS] = {};
#pragma unroll
                for (int p = 0; p < ROWS; p++)
                    if (THREADS * p + THREADS - 1 >= k)
                        heev_tiny_add_conj<PARTS>(own[p], a[p][j], sum);
                for (int part = 0; part < PARTS; part++)
                    sum[part] = -heev_tiny_sum<THREADS>(sum[part]);
#pragma unroll
                for (int p = 0; p < ROWS; p++)
                    if (THREADS * p + THREADS - 1 >= k)
                        heev_tiny_add<PARTS>(own[p], sum, a[p][j]);
            }
        }
    }

    /* Bit i: whether e[i] is negligible; set from n - 1 on. Whatever is at most `small` is: a rotation whose numbers
     * have squares of nothing would be left out, in every sweep of such a block. */
    __device__ __forceinline__ unsigned negligible() const
    {
        unsigned bits = ~0u << (n - 1);
#pragma unroll
        for (int i = 0; i + 1 < N; i++)
            if (i + 1 < n && fabs(e[i * STRIDE]) <= fma(fabs(d[i * STRIDE]) + fabs(d[(i + 1) * STRIDE]),
                                                        heev_tiny_limits<T>::epsilon, heev_tiny_limits<T>::small))
                bits |= 1u << i;
        return bits;
    }

    /* Sweeps until d holds the eigenvalues; false when one of them does not come out. Matrices of a warp are at
     * different eigenvalues; each sweep costs what the longest of them costs. */
    template <bool VECTORS> __device__ bool iterate()
    {
        constexpr T none = heev_tiny_limits<T>::small * heev_tiny_limits<T>::small;
        int l = 0, tries = 0;
        bool fine = true;
        for (;;) {
            const unsigned bits = negligible() >> l;
            const int done = __popc(bits & ~(bits + 1)); /* eigenvalues that have come out: the lowest set bits */
            l = min(l + done, n);
            tries = done ? 0 : tries + 1;
            if (tries == HEEV_TINY_SWEEPS) {
                fine = false;
                l = n;
            }
            bool on = l + 1 < n;
            if (!__any_sync(~0u, on))
                return fine;
            const int m = on ? l + __ffs(bits >> done) - 1 : l; /* the block that is iterated: l ... m */
            T g = 0, s = 1, c = 1, p = 0;
            if (on) {
                const T low = d[l * STRIDE], couple = e[l * STRIDE];
                const T slope = (d[(l + 1) * STRIDE] - low) / (2 * couple), root = sqrt(fma(slope, slope, (T)1));
                g = d[m * STRIDE] - low + couple / (slope + copysign(root, slope));
                e[m * STRIDE] = 0;
            }
#pragma unroll
            for (int i = N - 2; i >= 0; i--) {
                if (!on || i >= m || i < l)
                    continue;
                const T f = s * e[i * STRIDE], b = c * e[i * STRIDE], square = fma(f, f, g * g);
                const T lower = d[(i + 1) * STRIDE] - p;
                if (square > none) {
                    const T inverse = heev_tiny_rsqrt(square);
                    s = f * inverse;
                    c = g * inverse;
                    const T t = fma(d[i * STRIDE] - lower, s, 2 * c * b);
                    p = s * t;
                    g = fma(c, t, -b);
                    d[(i + 1) * STRIDE] = lower + p;
                    if (i + 1 < m)
                        e[(i + 1) * STRIDE] = square * inverse;
                    if (VECTORS)
#pragma unroll
                        for (int q = 0; q < ROWS; q++)
                            for (int part = 0; part < PARTS; part++) {
                                const T x = a[q][i][part], y = a[q][i + 1][part];
                                a[q][i + 1][part] = fma(s, x, c * y);
                                a[q][i][part] = fma(c, x, -s * y);
                            }
                } else {
                    d[(i + 1) * STRIDE] = lower;
                    if (i + 1 < m)
                        e[(i + 1) * STRIDE] = 0;
                    on = false;
                }
            }
            if (on) {
                d[l * STRIDE] -= p;
                e[l * STRIDE] = g;
            }
        }
    }

    /* The largest `kept`, ascending; NaN where the matrix was not finite or not solved. */
    template <bool VECTORS> __device__ void store(const heev_tiny_job<T> &job, size_t matrix, bool solved) const
    {
        int rank[N];
        T value[N];
#pragma unroll
        for (int k = 0; k < N; k++) {
            value[k] = k < n ? d[k * STRIDE] : (T)0;
            rank[k] = job.kept - n;
        }
#pragma unroll
        for (int k = 1; k < N; k++)
#pragma unroll
            for (int j = 0; j < k; j++) {
                const bool after = k < n && value[j] > value[k];
                rank[j] += after;
                rank[k] += !after;
            }
        const T half = ldexp((T)1, exponent / 2), other = ldexp((T)1, exponent - exponent / 2);
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (k >= n || rank[k] < 0)
                continue;
            const size_t to = matrix * job.kept + rank[k];
            if (k % THREADS == thread)
                job.values[to] = solved ? value[k] * half * other : (T)NAN;
            if (VECTORS && job.vectors)
#pragma unroll
                for (int p = 0; p < ROWS; p++)
                    if (row(p) < n)
                        for (int part = 0; part < PARTS; part++)
                            job.vectors[(to * n + row(p)) * PARTS + part] = solved ? a[p][k][part] : (T)NAN;
        }
        if (job.flags && thread == 0)
            job.flags[matrix] = !solved;
    }
};

/* Without VECTORS faster for values alone; with them, they may be absent all the same. */
template <typename T, int PARTS, int N, int THREADS, bool VECTORS>
__global__ void __launch_bounds__(HEEV_TINY_BLOCK) heev_tiny(const heev_tiny_job<T> job)
{
    __shared__ T shared[2 * N * HEEV_TINY_BLOCK];
    heev_tiny_matrix<T, PARTS, N, THREADS> self;
    const size_t group = (blockIdx.x * (size_t)HEEV_TINY_BLOCK + threadIdx.x) / THREADS;
    const size_t matrix = group < job.count ? group : job.count - 1; /* all threads take part in every exchange */
    self.n = job.n;
    self.thread = threadIdx.x % THREADS;
    self.d = shared + threadIdx.x;
    self.e = self.d + N * HEEV_TINY_BLOCK;
    const bool finite = self.load(job, matrix);
    self.tridiagonalise();
    if (VECTORS && job.vectors)
        self.accumulate();
    const bool solved = self.template iterate<VECTORS>();
    if (group < job.count)
        self.template store<VECTORS>(job, matrix, finite && solved);
}
