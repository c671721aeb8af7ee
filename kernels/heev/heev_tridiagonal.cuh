/* Eigenpairs of the tridiagonal matrices: values by multisection, vectors by twisted factorisations, a thread each; where
 * eigenvalues are too close for that, implicit QL. */
#ifndef HOT_HEEV_TRIDIAGONAL_CUH
#define HOT_HEEV_TRIDIAGONAL_CUH

#include "heev_plan.cuh"
#include "tridiag/tridiag_counter.cuh"

/* A block per matrix, `lanes` threads per eigenvalue: each sweep counts at as many points of its bracket. */
static __global__ void heev_values(const __grid_constant__ heev_plan plan, int lanes)
{
    extern __shared__ double2 heev_memory[];
    __shared__ double room[32];
    const int n = plan.n, filled = (n + GROUP - 1) / GROUP * GROUP;
    const size_t matrix = blockIdx.x;
    entry<double> *entries = reinterpret_cast<entry<double> *>(heev_memory);
    double *sorted = reinterpret_cast<double *>(entries + filled);
    if (plan.state[matrix] != HEEV_FINE)
        return;
    double norm = 0;
    for (int i = threadIdx.x; i < filled; i += blockDim.x) {
        entry<double> x = {1e6, 0x1p-110}; /* beyond n: positive pivots whatever the shift */
        if (i < n) {
            const double a = plan.d[matrix * n + i], b = i ? plan.e[matrix * n + i] : 0;
            const double after = i + 1 < n ? plan.e[matrix * n + i + 1] : 0;
            norm = fmax(norm, fabs(a) + fabs(b) + fabs(after));
            x.a = a;
            x.b2 = fmax(b * b, 0x1p-110);
        }
        entries[i] = x;
    }
    norm = block_max(norm, room);
    const int index = min((int)threadIdx.x / lanes, n - 1), lane = threadIdx.x % lanes;
    const unsigned mask = (1u << lanes) - 1, shift = threadIdx.x % 32 / lanes * lanes;
    const double part = 1.0 / (lanes + 1), tolerance = 0x1p-54 * norm;
    double low = -norm * (1 + 1e-14) - 1e-300, high = -low;
    __syncthreads();
    for (;;) {
        const double middle = low + (high - low) / 2;
        const bool open = high - low > tolerance && middle > low && middle < high;
        if (!__syncthreads_or(open))
            break;
        counter<double, false> count;
        count.start(low + (high - low) * ((lane + 1) * part));
        for (int i = 0; i < filled; i += GROUP)
            count.steps(entries + i);
        int below = count.below;
        if (count.vanished()) {
            counter<double, true> slow;
            slow.start(low + (high - low) * ((lane + 1) * part));
            for (int i = 0; i < filled; i += GROUP)
                slow.steps(entries + i);
            below = slow.below;
        }
        const unsigned not_above = __ballot_sync(~0u, below <= index) >> shift & mask;
        const int first = __ffs(~not_above) - 1;
        const double from = low, length = high - low;
        if (open && first < lanes)
            high = from + length * ((first + 1) * part);
        if (open && first > 0)
            low = from + length * (first * part);
    }
    if (lane == 0 && (int)threadIdx.x / lanes < n)
        sorted[index] = low + (high - low) / 2;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 1; k < n; k++) /* neighbours may have met the tolerance in the wrong order */
            sorted[k] = fmax(sorted[k], sorted[k - 1]);
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        plan.lambda[matrix * n + k] = sorted[k];
}

/* A thread per vector: pivots from the top and from the bottom, joined where their sum is least; the vector's residual is
 * that least sum over its length (Fernando 1997; Parlett, Dhillon 2000). */
static __global__ void heev_twisted(const __grid_constant__ heev_plan plan)
{
    extern __shared__ double2 heev_memory[];
    const int n = plan.n, k = (int)(blockIdx.y * blockDim.x + threadIdx.x);
    const size_t matrix = blockIdx.x, at = matrix * (size_t)n * n + k;
    double *d = reinterpret_cast<double *>(heev_memory), *e = d + n;
    if (plan.state[matrix] != HEEV_FINE)
        return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        d[i] = plan.d[matrix * n + i];
        e[i] = plan.e[matrix * n + i];
    }
    __syncthreads();
    if (k >= n)
        return;
    double *up = plan.z[1] + at, *down = plan.gram + at, *z = plan.z[0] + at;
    const double lambda = plan.lambda[matrix * n + k], tiny = 1e-40;
    double inverse = 0;
    for (int i = 0; i < n; i++) {
        const double pivot = d[i] - lambda - e[i] * e[i] * inverse;
        inverse = 1 / (fabs(pivot) < tiny ? tiny : pivot);
        up[(size_t)i * n] = inverse;
    }
    double best = INFINITY, after = 0;
    int twist = 0;
    inverse = 0;
    for (int i = n - 1; i >= 0; i--) {
        const double pivot = d[i] - lambda - after * after * inverse;
        const double gamma = fabs(i ? pivot - e[i] * e[i] * up[(size_t)(i - 1) * n] : pivot);
        if (gamma < best)
            best = gamma, twist = i;
        inverse = 1 / (fabs(pivot) < tiny ? tiny : pivot);
        down[(size_t)i * n] = inverse;
        after = e[i];
    }
    double x = 1, norm = 1;
    z[(size_t)twist * n] = 1;
    for (int i = twist - 1; i >= 0; i--) {
        x *= -e[i + 1] * up[(size_t)i * n];
        z[(size_t)i * n] = x;
        norm += x * x;
    }
    x = 1;
    for (int i = twist + 1; i < n; i++) {
        x *= -e[i] * down[(size_t)i * n];
        z[(size_t)i * n] = x;
        norm += x * x;
    }
    norm = 1 / sqrt(norm);
    for (int i = 0; i < n; i++)
        z[(size_t)i * n] *= norm;
}

/* Implicit QL (after EISPACK's imtql2) for matrices whose vectors came out far from orthogonal. One thread turns the
 * tridiagonal matrix, a sweep at a time; all threads then turn the vectors, in plan.z[1] with vector k in row k. */
static __global__ void heev_ql(const __grid_constant__ heev_plan plan)
{
    extern __shared__ double2 heev_memory[];
    __shared__ int begin, end, done;
    const int n = plan.n;
    const size_t matrix = blockIdx.x;
    double *d = reinterpret_cast<double *>(heev_memory), *e = d + n + 1, *cosine = e + n + 1, *sine = cosine + n;
    double *z = plan.z[1] + matrix * (size_t)n * n;
    const double apart = __longlong_as_double((long long)plan.apart[matrix]);
    if (plan.state[matrix] != HEEV_FINE || apart <= HEEV_TWO_STEPS)
        return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        d[i] = plan.d[matrix * n + i];
        e[i] = i + 1 < n ? plan.e[matrix * n + i + 1] : 0; /* e[i] couples i and i + 1 here */
    }
    for (int i = threadIdx.x; i < n * n; i += blockDim.x)
        z[i] = i % (n + 1) == 0;
    int l = 0, tries = 0; /* of thread 0 */
    __syncthreads();
    for (;;) {
        if (threadIdx.x == 0) {
            done = 1;
            for (; l < n; l++, tries = 0) {
                int m = l;
                while (m + 1 < n && fabs(e[m]) > 2.2e-16 * fmax(sqrt(fabs(d[m])) * sqrt(fabs(d[m + 1])), .1))
                    m++;
                if (m == l)
                    continue;
                done = tries++ == 80 ? 2 : 0;
                double g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1.0);
                g = d[m] - d[l] + e[l] / (g + copysign(r, g));
                double s = 1, c = 1, p = 0;
                int i = m - 1;
                for (; i >= l; i--) {
                    const double f = s * e[i], b = c * e[i];
                    r = hypot(f, g);
                    e[i + 1] = r;
                    if (r == 0) {
                        d[i + 1] -= p;
                        e[m] = 0;
                        break;
                    }
                    s = f / r;
                    c = g / r;
                    g = d[i + 1] - p;
                    r = (d[i] - g) * s + 2 * c * b;
                    p = s * r;
                    d[i + 1] = g + p;
                    g = c * r - b;
                    cosine[i] = c;
                    sine[i] = s;
                }
                begin = i + 1;
                end = m;
                if (i < l) {
                    d[l] -= p;
                    e[l] = g;
                    e[m] = 0;
                }
                break;
            }
        }
        __syncthreads();
        if (done)
            break;
        for (int r = threadIdx.x; r < n; r += blockDim.x) {
            double y = z[(size_t)end * n + r];
            for (int i = end - 1; i >= begin; i--) {
                const double x = z[(size_t)i * n + r], c = cosine[i], s = sine[i];
                z[(size_t)(i + 1) * n + r] = s * x + c * y;
                y = c * x - s * y;
            }
            z[(size_t)begin * n + r] = y;
        }
        __syncthreads();
    }
    int *order = reinterpret_cast<int *>(sine);
    if (threadIdx.x == 0) {
        plan.state[matrix] = done == 2 ? HEEV_BAD : HEEV_BY_QL;
        for (int k = 0; k < n; k++) {
            int at = k;
            for (; at > 0 && d[order[at - 1]] > d[k]; at--)
                order[at] = order[at - 1];
            order[at] = k;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        plan.lambda[matrix * n + k] = d[order[k]];
    double *out = plan.z[0] + matrix * (size_t)n * n;
    for (int at = threadIdx.x; at < n * n; at += blockDim.x)
        out[at] = z[(size_t)order[at % n] * n + at / n];
}

#endif
